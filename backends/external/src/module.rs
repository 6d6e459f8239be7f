//! A loaded image of an external library, and its kernels.

use crate::abi::{self, Handle, RtlKernelProperties};
use crate::opened::Opened;
use crate::status::{Doing, check};
use gangway_backend::{
    ArgumentForm, CallingConvention, DevicePtr, Error, ExecutionMode, GroupMemory, HostCallLink, Kernel,
    KernelHandle, KernelLimits, KernelResources, Module, Parameter, Parameters, Result, SEPARATE_SLOTS,
};
use std::ffi::CString;
use std::num::NonZeroU32;
use std::ptr;
use std::sync::Arc;

/// Slots of a back end's own that a kernel can have: the 4 KiB of parameters that a GPU's
/// kernel can. A library that asks for more is damaged, and each launch would need the
/// memory.
const MOST_OWN_SLOTS: usize = 512;

/// A loaded image.
pub(crate) struct ExternalModule {
    device: Arc<Opened>,
    module: Handle,
}

impl ExternalModule {
    /// Takes over a module that has just been loaded.
    pub fn new(device: Arc<Opened>, module: Handle) -> Self {
        Self { device, module }
    }

    /// The kernels that a function of the library lists.
    fn listed(
        &self,
        function: Option<unsafe extern "C" fn(Handle, Handle, *mut Handle, usize) -> usize>,
    ) -> Vec<Kernel> {
        let Some(function) = function else { return Vec::new() };
        let mut kernels: Vec<Handle> = Vec::new();
        // Once for the number, once for the kernels.
        for _ in 0..2 {
            // SAFETY: device and module are live; the vector has that many places.
            let count =
                unsafe { function(self.device.handle, self.module, kernels.as_mut_ptr(), kernels.len()) };
            if count <= kernels.len() {
                kernels.truncate(count);
                break;
            }
            kernels.resize(count, ptr::null_mut());
        }
        let kernel = |kernel: Handle| Kernel::new(KernelHandle(kernel.expose_provenance()));
        kernels.into_iter().map(kernel).collect()
    }

    /// A kernel of the library's with what it says about it.
    fn describe(&self, name: &str, kernel: Handle) -> Result<Kernel> {
        let known = Kernel::new(KernelHandle(kernel.expose_provenance()));
        let Some(describe) = self.device.functions.describe_kernel else { return Ok(known) };
        let mut properties = RtlKernelProperties::UNSAID;
        check(Doing::Symbol(name), |error| {
            // SAFETY: device, module and kernel are live.
            unsafe { describe(self.device.handle, self.module, kernel, &mut properties, error) }
        })?;
        let convention = convention(&properties).map_err(|wrong| Error::InvalidImage {
            reason: format!("the back end describes the kernel `{name}` with {wrong}"),
        })?;
        Ok(Kernel {
            convention,
            mode: mode(properties.mode),
            environment: (properties.has_environment != 0)
                .then_some(DevicePtr(properties.environment as usize)),
            limits: KernelLimits {
                threads: NonZeroU32::new(properties.max_threads),
                // A library that names no limit says nothing of such memory.
                group_memory: match properties.max_dynamic_group_memory {
                    u32::MAX => GroupMemory::Absent,
                    _ => GroupMemory::Present,
                },
                static_group_memory: properties.static_group_memory,
                dynamic_group_memory: Some(properties.max_dynamic_group_memory)
                    .filter(|&most| most != u32::MAX),
            },
            resources: KernelResources {
                registers: None,
                // Zero is what a library says that knows nothing of it.
                group_memory: Some(properties.static_group_memory).filter(|&bytes| bytes != 0),
            },
            ..known
        })
    }
}

fn convention(properties: &RtlKernelProperties) -> std::result::Result<CallingConvention, String> {
    let form = match properties.convention {
        abi::ARGUMENTS_SLOTS => ArgumentForm::Slots,
        abi::ARGUMENTS_DEVICE_TABLE => ArgumentForm::DeviceTable,
        abi::ARGUMENTS_PACKED => {
            let listed = if properties.parameters.is_null() || properties.parameter_count == 0 {
                &[]
            } else {
                // SAFETY: the library says that so many are there.
                unsafe {
                    std::slice::from_raw_parts(properties.parameters, properties.parameter_count as usize)
                }
            };
            let list = listed.iter().map(|&abi::RtlParameter { offset, size }| Parameter { offset, size });
            let parameters = Parameters::new(list.collect::<Vec<_>>());
            ArgumentForm::Packed(parameters.ok_or("parameters that overlap or are out of place")?)
        }
        other => return Err(format!("the calling convention {other}, which is not known")),
    };
    let leading = usize::try_from(properties.leading_slots).ok();
    let besides = leading.unwrap_or(0) + properties.trailing_slots as usize;
    if besides > MOST_OWN_SLOTS {
        return Err(format!(
            "{besides} slots besides the program's arguments ({} before them, {} behind them), of at most \
             {MOST_OWN_SLOTS}",
            leading.unwrap_or(0),
            properties.trailing_slots
        ));
    }
    if form == ArgumentForm::DeviceTable && besides >= SEPARATE_SLOTS {
        return Err(format!(
            "{besides} slots besides the address of a table, of at most {}",
            SEPARATE_SLOTS - 1
        ));
    }
    Ok(CallingConvention { form, leading, trailing: properties.trailing_slots as usize })
}

fn mode(number: i32) -> Option<ExecutionMode> {
    match number {
        abi::MODE_GENERIC => Some(ExecutionMode::Generic),
        abi::MODE_SPMD => Some(ExecutionMode::Spmd),
        abi::MODE_GENERIC_SPMD => Some(ExecutionMode::GenericSpmd),
        abi::MODE_BARE => Some(ExecutionMode::Bare),
        _ => None,
    }
}

// SAFETY: the header lets any thread call any function.
unsafe impl Send for ExternalModule {}
// SAFETY: as above.
unsafe impl Sync for ExternalModule {}

impl Module for ExternalModule {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        let spelled = symbol_name(name)?;
        let mut kernel = ptr::null_mut();
        check(Doing::Symbol(name), |error| {
            let function = self.device.functions.kernel_named;
            // SAFETY: device and module are live, the name ends in a zero byte.
            unsafe { function(self.device.handle, self.module, spelled.as_ptr(), &mut kernel, error) }
        })?;
        self.describe(name, kernel)
    }

    fn global(&self, name: &str, size: usize) -> Result<DevicePtr> {
        let spelled = symbol_name(name)?;
        let mut address = 0;
        check(Doing::Symbol(name), |error| {
            let function = self.device.functions.global_named;
            // SAFETY: as for `kernel`.
            unsafe { function(self.device.handle, self.module, spelled.as_ptr(), size, &mut address, error) }
        })?;
        Ok(DevicePtr(address as usize))
    }

    fn indirect_calls(&self, pairs: &[(usize, DevicePtr)]) -> Result<()> {
        let Some(function) = self.device.functions.indirect_calls else { return Ok(()) };
        let pair = |&(host, device): &(usize, DevicePtr)| abi::RtlIndirectCall {
            host: host as u64,
            device: device.0 as u64,
        };
        let pairs: Vec<_> = pairs.iter().map(pair).collect();
        check(Doing::Operation("indirect calls"), |error| {
            // SAFETY: device and module are live, and so many pairs are there.
            unsafe { function(self.device.handle, self.module, pairs.as_ptr(), pairs.len(), error) }
        })
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        Ok(self.listed(self.device.functions.constructors))
    }

    fn destructors(&self) -> Result<Vec<Kernel>> {
        Ok(self.listed(self.device.functions.destructors))
    }

    fn host_calls(&self) -> Result<HostCallLink> {
        let Some(function) = self.device.functions.host_call_link else { return Ok(HostCallLink::Unused) };
        let (mut link, mut global) = (abi::LINK_UNUSED, 0);
        check(Doing::Operation("host calls"), |error| {
            // SAFETY: device and module are live.
            unsafe { function(self.device.handle, self.module, &mut link, &mut global, error) }
        })?;
        match link {
            abi::LINK_UNUSED => Ok(HostCallLink::Unused),
            abi::LINK_OWN => Ok(HostCallLink::Linked),
            abi::LINK_GLOBAL => Ok(HostCallLink::Global(DevicePtr(global as usize))),
            other => {
                let reason = format!("its kernels call the host by the link {other}, which is not known");
                Err(Error::InvalidImage { reason })
            }
        }
    }
}

impl Drop for ExternalModule {
    fn drop(&mut self) {
        // SAFETY: device and module are live, and nobody uses the module any more.
        unsafe { (self.device.functions.unload)(self.device.handle, self.module) };
    }
}

/// A symbol's name for C; one with a zero byte inside names nothing.
fn symbol_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::NoSuchSymbol { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_slots(leading_slots: i32, trailing_slots: u32) -> RtlKernelProperties {
        RtlKernelProperties { leading_slots, trailing_slots, ..RtlKernelProperties::UNSAID }
    }

    #[test]
    fn slots_of_the_back_end_are_bounded() {
        for (leading, trailing) in [(-1, 512), (512, 0), (500, 12), (i32::MIN, 512)] {
            let convention = convention(&with_slots(leading, trailing)).unwrap();
            assert_eq!(convention.leading, usize::try_from(leading).ok());
            assert_eq!(convention.trailing, trailing as usize);
        }
        for (leading, trailing) in [(513, 0), (-1, 513), (i32::MAX, u32::MAX)] {
            let wrong = convention(&with_slots(leading, trailing)).unwrap_err();
            assert!(wrong.ends_with("of at most 512"), "{wrong}");
        }
        assert_eq!(
            convention(&with_slots(600, 7)).unwrap_err(),
            "607 slots besides the program's arguments (600 before them, 7 behind them), of at most 512"
        );
    }
}
