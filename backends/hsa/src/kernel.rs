//! A kernel of a loaded image: what its descriptor says, and what GCC's code wants.

use crate::agent::Agent;
use crate::driver::types::{Handle, SUCCESS, SymbolInfo};
use crate::memory;
use gangway_backend::{
    CallingConvention, Error, GroupMemory, Kernel, KernelHandle, KernelLimits, KernelResources, Result,
};
use gangway_device_code::gcc::WaveBounds;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Bytes of the arguments that GCC declares: a pointer. What it reads besides it does not declare.
const DECLARED: u32 = 8;
/// Where the number of vector registers stands in a kernel's descriptor (AMDGPU back-end guide, "Kernel Descriptor":
/// `compute_pgm_rsrc1`), which has 64 bytes.
const REGISTERS: usize = 48;
const DESCRIPTOR: usize = 64;

/// A kernel.
pub(crate) struct LoadedKernel {
    pub name: Arc<str>,
    /// The address of its descriptor.
    pub object: u64,
    pub group_segment: u32,
    pub private_segment: u32,
    pub bounds: WaveBounds,
    /// It is OpenACC's: the launch says its shape.
    pub is_openacc: bool,
    /// The heap of its image.
    pub heap: u64,
}

impl LoadedKernel {
    /// The kernel of a symbol.
    ///
    /// # Errors
    /// It takes other arguments than GCC's kernels, or what the library says.
    pub fn new(agent: &Agent, symbol: Handle, name: &str, is_openacc: bool, heap: u64) -> Result<Box<Self>> {
        let declared: u32 = symbol_value(agent, symbol, SymbolInfo::KernelArgumentsSize)?;
        if declared > DECLARED {
            let reason = format!(
                "kernel `{name}` has {declared} bytes of arguments, expected {DECLARED} at most: it is not GCC's"
            );
            return Err(Error::InvalidImage { reason });
        }
        let object = symbol_value(agent, symbol, SymbolInfo::KernelObject)?;
        Ok(Box::new(Self {
            name: name.into(),
            object,
            group_segment: symbol_value(agent, symbol, SymbolInfo::KernelGroupSize)?,
            private_segment: symbol_value(agent, symbol, SymbolInfo::KernelPrivateSize)?,
            bounds: WaveBounds::new(registers(agent, object)?, &agent.properties.processor),
            is_openacc,
            heap,
        }))
    }

    /// What the runtime is told of it.
    pub fn told(&self, agent: &Agent) -> Kernel {
        let handle = KernelHandle(std::ptr::from_ref(self).expose_provenance());
        let room = (agent.properties.group_memory as u32).saturating_sub(self.group_segment);
        let limits = KernelLimits {
            threads: NonZeroU32::new(self.bounds.most_lanes()),
            group_memory: GroupMemory::Present,
            static_group_memory: self.group_segment,
            dynamic_group_memory: Some(room),
        };
        let resources = KernelResources {
            registers: Some(self.bounds.registers()),
            group_memory: Some(self.group_segment),
        };
        Kernel { limits, resources, ..Kernel::new(handle) }.with_convention(CallingConvention::DEVICE_TABLE)
    }

    /// The kernel of a handle.
    ///
    /// # Safety
    /// The handle's module is loaded.
    #[inline]
    pub unsafe fn of<'a>(handle: KernelHandle) -> &'a Self {
        // SAFETY: the caller's promise.
        unsafe { &*std::ptr::with_exposed_provenance::<Self>(handle.0) }
    }
}

/// What the library says of a symbol.
pub(crate) fn symbol_value<T: Copy + Default>(
    agent: &Agent,
    symbol: Handle,
    attribute: SymbolInfo,
) -> Result<T> {
    let mut value = T::default();
    // SAFETY: the attribute's value has the caller's type, see `hsa.h`.
    let code =
        unsafe { (agent.driver.api.symbol_get_info)(symbol, attribute as u32, (&raw mut value).cast()) };
    if code == SUCCESS { Ok(value) } else { Err(agent.failure(code, "hsa_executable_symbol_get_info")) }
}

/// Vector registers of a lane, from a kernel's descriptor.
fn registers(agent: &Agent, object: u64) -> Result<u32> {
    let mut descriptor = [0_u8; DESCRIPTOR];
    let from = std::ptr::with_exposed_provenance(object as usize);
    // SAFETY: the descriptor has so many bytes.
    unsafe { memory::copy(agent, descriptor.as_mut_ptr(), from, DESCRIPTOR) }?;
    let granules = u32::from(descriptor[REGISTERS] & 0x3f) + 1;
    let granule = if agent.properties.processor.starts_with("gfx90a") { 8 } else { 4 };
    Ok(granules * granule)
}
