//! A kernel of a loaded image: what its descriptor says, and what its compiler's code wants.

use crate::agent::Agent;
use crate::driver::types::{Handle, SUCCESS, SymbolInfo};
use crate::memory;
use gangway_backend::{
    CallingConvention, DevicePtr, Error, GroupMemory, Kernel, KernelHandle, KernelLimits, KernelResources,
    Result,
};
use gangway_code_object::KernelMetadata;
use gangway_device_code::DeviceLimits;
use gangway_device_code::gcc::WaveBounds;
use gangway_device_code::llvm::{Configuration, KernelBounds, Reduction};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Bytes of the arguments that GCC declares: a pointer. What it reads besides it does not declare.
const DECLARED_BY_GCC: u32 = 8;
/// Where the number of vector registers stands in a kernel's descriptor (AMDGPU back-end guide, "Kernel Descriptor":
/// `compute_pgm_rsrc1`), which has 64 bytes.
const REGISTERS: usize = 48;
const DESCRIPTOR: usize = 64;
/// The largest grid has so many work-items along a dimension, and a work-group 1024 of them.
const MOST_TEAMS: u32 = u32::MAX / 1024;

/// A kernel.
pub(crate) struct LoadedKernel {
    pub name: Arc<str>,
    /// The address of its descriptor.
    pub object: u64,
    pub group_segment: u32,
    /// Bytes of private memory of a work-item.
    pub private_segment: u32,
    pub code: Code,
}

/// Whose code it is.
pub(crate) enum Code {
    Gcc(GccKernel),
    Llvm(LlvmKernel),
}

/// What GCC's code wants.
pub(crate) struct GccKernel {
    pub bounds: WaveBounds,
    /// It is OpenACC's: the launch says its shape.
    pub is_openacc: bool,
    /// The heap of its image.
    pub heap: u64,
}

/// What LLVM's code wants.
pub(crate) struct LlvmKernel {
    pub bounds: KernelBounds,
    configuration: Configuration,
    environment: Option<DevicePtr>,
    pub reduction: Option<Reduction>,
    /// Bytes of its arguments before the implicit ones.
    pub explicit: u32,
    /// Lanes of a wave.
    pub wave: u32,
    /// Vector registers of a lane.
    registers: u32,
}

impl LoadedKernel {
    /// GCC's kernel of a symbol.
    ///
    /// # Errors
    /// It takes other arguments than GCC's kernels, or what the library says.
    pub fn of_gcc(
        agent: &Agent,
        symbol: Handle,
        name: &str,
        is_openacc: bool,
        heap: u64,
    ) -> Result<Box<Self>> {
        let declared: u32 = symbol_value(agent, symbol, SymbolInfo::KernelArgumentsSize)?;
        if declared > DECLARED_BY_GCC {
            let reason = format!(
                "kernel `{name}` has {declared} bytes of arguments, expected {DECLARED_BY_GCC} at most: it is not \
                 GCC's"
            );
            return Err(Error::InvalidImage { reason });
        }
        let code = |object| {
            let bounds = WaveBounds::new(registers(agent, object)?, &agent.properties.processor);
            Ok(Code::Gcc(GccKernel { bounds, is_openacc, heap }))
        };
        Ok(Box::new(Self::new(agent, symbol, name, code)?))
    }

    /// LLVM's kernel of a symbol, of which its image says this. Where code calls functions of which nobody knows
    /// how much private memory they need, each work-item has `stack` bytes.
    ///
    /// # Errors
    /// What the library says.
    pub fn of_llvm(
        agent: &Agent,
        symbol: Handle,
        said: &KernelMetadata,
        (environment, configuration): (Option<DevicePtr>, Configuration),
        stack: u32,
    ) -> Result<Box<Self>> {
        let device = DeviceLimits {
            warp: said.wavefront_size,
            threads: agent.properties.group_size,
            teams: MOST_TEAMS,
            multiprocessors: agent.properties.compute_units,
            threads_at_once: match agent.driver.virtual_gpu {
                // A worker of the virtual GPU is a compute unit, which runs one wavefront after the other.
                Some(_) => said.wavefront_size,
                // A card's has four of a width for wavefronts, some of which wait for memory.
                None => 128,
            },
        };
        let code = LlvmKernel {
            bounds: KernelBounds::new(&configuration, said.max_flat_workgroup_size, &device),
            configuration,
            environment,
            reduction: configuration.reduction(),
            explicit: explicit(said),
            wave: said.wavefront_size,
            registers: said.vgpr_count,
        };
        let mut kernel = Self::new(agent, symbol, &said.name, |_| Ok(Code::Llvm(code)))?;
        if said.uses_dynamic_stack {
            kernel.private_segment = kernel.private_segment.max(stack);
        }
        Ok(Box::new(kernel))
    }

    /// `code` finds out about the kernel whose descriptor is at an address.
    fn new(
        agent: &Agent,
        symbol: Handle,
        name: &str,
        code: impl FnOnce(u64) -> Result<Code>,
    ) -> Result<Self> {
        let object = symbol_value(agent, symbol, SymbolInfo::KernelObject)?;
        Ok(Self {
            name: name.into(),
            object,
            group_segment: symbol_value(agent, symbol, SymbolInfo::KernelGroupSize)?,
            private_segment: symbol_value(agent, symbol, SymbolInfo::KernelPrivateSize)?,
            code: code(object)?,
        })
    }

    /// What the runtime is told of it.
    pub fn told(&self, agent: &Agent) -> Kernel {
        let handle = KernelHandle(std::ptr::from_ref(self).expose_provenance());
        let room = (agent.properties.group_memory as u32).saturating_sub(self.group_segment);
        let (threads, registers) = match &self.code {
            Code::Gcc(gcc) => (gcc.bounds.most_lanes(), gcc.bounds.registers()),
            Code::Llvm(llvm) => (llvm.bounds.max_threads(), llvm.registers),
        };
        let limits = KernelLimits {
            threads: NonZeroU32::new(threads),
            group_memory: match self.code {
                Code::Gcc(_) => GroupMemory::Present,
                Code::Llvm(_) => GroupMemory::Replaceable,
            },
            static_group_memory: self.group_segment,
            dynamic_group_memory: Some(room),
        };
        let resources =
            KernelResources { registers: Some(registers), group_memory: Some(self.group_segment) };
        let told = Kernel { limits, resources, ..Kernel::new(handle) };
        match &self.code {
            Code::Gcc(_) => told.with_convention(CallingConvention::DEVICE_TABLE),
            Code::Llvm(llvm) => {
                Kernel { mode: Some(llvm.configuration.mode), environment: llvm.environment, ..told }
            }
        }
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

    /// Teams of so many threads that the device runs at the same time, with so much group memory besides.
    pub fn teams_at_once(&self, agent: &Agent, llvm: &LlvmKernel, threads: u32, group_memory: u32) -> u32 {
        let properties = &agent.properties;
        let waves = properties.waves_at_once(llvm.registers) / threads.div_ceil(llvm.wave).max(1);
        let group_memory = self.group_segment.saturating_add(group_memory).max(1);
        let groups = properties.group_memory as u32 / group_memory;
        waves.min(groups).max(1).saturating_mul(properties.compute_units)
    }
}

/// Bytes of a kernel's arguments before the implicit ones, which need not be there.
fn explicit(said: &KernelMetadata) -> u32 {
    let implicit = said.arguments.iter().filter(|argument| argument.kind.is_hidden());
    implicit.map(|argument| argument.offset).min().unwrap_or(said.kernarg_segment_size)
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
    let granule = if agent.properties.has_unified_registers() { 8 } else { 4 };
    Ok(granules * granule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_code_object::{Argument, ValueKind};

    #[test]
    fn implicit_arguments_begin_where_the_image_says() {
        let argument = |offset, kind| Argument {
            name: None,
            type_name: None,
            offset,
            size: 8,
            kind,
            pointee_align: None,
            address_space: None,
            access: None,
        };
        let mut said = KernelMetadata { kernarg_segment_size: 272, ..KernelMetadata::default() };
        said.arguments = vec![argument(0, ValueKind::GlobalBuffer), argument(8, ValueKind::GlobalBuffer)];
        assert_eq!(explicit(&said), 272);
        said.arguments.push(argument(16, ValueKind::HiddenBlockCountX));
        assert_eq!(explicit(&said), 16);
    }
}
