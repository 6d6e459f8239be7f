//! A kernel of a loaded module: its handle, and what its image says about it.
//!
//! [`Module::kernel`](crate::Module::kernel) makes one when a program first runs the
//! kernel; the runtime keeps it and passes a reference with every launch. The calling
//! convention decides the form of the [`ArgumentTable`](crate::ArgumentTable), the
//! limits what the runtime asks of a launch.

use crate::handles::{DevicePtr, KernelHandle};
use std::num::NonZeroU32;

/// A kernel. Valid while its module is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// What the back end knows it by.
    pub handle: KernelHandle,
    /// How it takes its arguments.
    pub convention: CallingConvention,
    /// How its threads begin, where the image says it.
    pub mode: Option<ExecutionMode>,
    /// Where on the device the kernel's environment stands, where the image has one
    /// (LLVM's `<kernel>_kernel_environment`).
    pub environment: Option<DevicePtr>,
    /// What a launch of it may ask for.
    pub limits: KernelLimits,
    /// What it takes of the device, for reports.
    pub resources: KernelResources,
}

impl Kernel {
    /// A kernel of which nothing more is known: one slot per argument, no limits.
    #[must_use]
    pub const fn new(handle: KernelHandle) -> Self {
        Self {
            handle,
            convention: CallingConvention::SLOTS,
            mode: None,
            environment: None,
            limits: KernelLimits {
                threads: None,
                group_memory: GroupMemory::Absent,
                static_group_memory: 0,
                dynamic_group_memory: None,
            },
            resources: KernelResources { registers: None, group_memory: None },
        }
    }

    /// The same kernel with another calling convention.
    #[must_use]
    pub fn with_convention(self, convention: CallingConvention) -> Self {
        Self { convention, ..self }
    }
}

/// How a kernel takes its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingConvention {
    /// The form of the program's arguments.
    pub form: ArgumentForm,
    /// Slots before the program's arguments, which the back end writes (a launch
    /// environment). `None`: the image does not say, so the compiler's call does.
    pub leading: Option<usize>,
    /// Slots behind the program's arguments, which the back end writes (GCC's soft
    /// stacks).
    pub trailing: usize,
}

impl CallingConvention {
    /// One slot per argument.
    pub const SLOTS: Self = Self { form: ArgumentForm::Slots, leading: None, trailing: 0 };

    /// One pointer to a table in device memory.
    pub const DEVICE_TABLE: Self = Self { form: ArgumentForm::DeviceTable, leading: None, trailing: 0 };

    /// One packed buffer whose parameters stand where `parameters` says.
    #[must_use]
    pub const fn packed(parameters: Parameters) -> Self {
        Self { form: ArgumentForm::Packed(parameters), leading: None, trailing: 0 }
    }
}

/// The form in which a kernel takes the program's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentForm {
    /// A 64-bit slot for each argument, as clang's kernels have it: registers and
    /// stack slots of a CPU, or a buffer of parameters that all have 8 bytes.
    Slots,
    /// One buffer in which each parameter has its own place and size
    /// (`CU_LAUNCH_PARAM_BUFFER_POINTER`). Leading and trailing slots are among the
    /// parameters.
    Packed(Parameters),
    /// One slot with the device address of a table of slots in device memory, as GCC's
    /// kernels have it: [`SEPARATE_SLOTS`](crate::SEPARATE_SLOTS) with leading and
    /// trailing ones, at most. The runtime puts the table there, unless the back end builds it
    /// in memory that the device sees
    /// ([`Session::visible_table_at`](crate::Session::visible_table_at)).
    DeviceTable,
}

/// Where a parameter stands in a packed buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes from the buffer's beginning.
    pub offset: u32,
    /// Bytes: 1 to 8. A narrower parameter gets the low bytes of its argument.
    pub size: u32,
}

/// The parameters of a packed buffer: in order, without overlapping, each at or before
/// the place it would have if all of them had 8 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters(Box<[Parameter]>);

impl Parameters {
    /// Checks a list; `None` if it is not as said above.
    #[must_use]
    pub fn new(list: impl Into<Box<[Parameter]>>) -> Option<Self> {
        let list = list.into();
        let mut end = 0;
        let fits = |(index, parameter): (usize, &Parameter)| {
            let before = std::mem::replace(&mut end, parameter.end());
            (1..=8).contains(&parameter.size)
                && before <= parameter.offset as usize
                && parameter.offset as usize <= index * size_of::<u64>()
        };
        list.iter().enumerate().all(fits).then_some(Self(list))
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of the buffer.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.last().map_or(0, Parameter::end)
    }

    /// Them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Parameter> {
        self.0.iter()
    }
}

impl Parameter {
    const fn end(&self) -> usize {
        self.offset as usize + self.size as usize
    }
}

/// How a kernel's threads begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionMode {
    /// One thread begins, the others wait for parallel regions.
    Generic,
    /// All threads begin.
    Spmd,
    /// Written as generic, made to begin with all threads by an optimisation.
    GenericSpmd,
    /// All threads begin and there is no OpenMP on the device (`ompx_bare`).
    Bare,
}

/// What a launch of a kernel may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelLimits {
    /// Most threads that a team can have.
    pub threads: Option<NonZeroU32>,
    /// What becomes of group memory that a launch asks for.
    pub group_memory: GroupMemory,
    /// Bytes of group memory that each team has without asking.
    pub static_group_memory: u32,
    /// Most bytes of group memory that a launch can ask for besides those.
    pub dynamic_group_memory: Option<u32>,
}

/// What group memory a device has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupMemory {
    /// None, as on a CPU.
    Absent,
    /// As much as the limits say.
    Present,
    /// As much as the limits say, and the back end gives each team other memory in its place where a launch
    /// [asks for that](crate::Launch::replaced_group_memory).
    Replaceable,
}

impl KernelLimits {
    /// The upper bounds of threads per dimension that a launch gets which asks for
    /// `wanted`; 0 leaves a dimension to the device. Later dimensions give way first.
    #[must_use]
    #[inline]
    pub fn bound(&self, wanted: [u32; 3]) -> [u32; 3] {
        match self.threads {
            None => wanted,
            Some(most) => bound(most.get(), wanted),
        }
    }
}

/// What a kernel takes of a device, where the device has such a thing and says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelResources {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of group memory that each team has without asking.
    pub group_memory: Option<u32>,
}

/// The launch of a kernel that keeps a device busiest, and what of the device follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Teams that the device runs at the same time, of so many threads each.
    pub teams: u32,
    /// Threads of a team.
    pub threads: u32,
    /// Threads that run in step.
    pub warp: u32,
}

fn bound(most: u32, wanted: [u32; 3]) -> [u32; 3] {
    let mut left = most;
    wanted.map(|threads| {
        let bounded = threads.min(left);
        // A division is what most launches would wait for here.
        if bounded > 1 {
            left = (left / bounded).max(1);
        }
        bounded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_order_and_apart() {
        let list = |places: &[(u32, u32)]| {
            Parameters::new(
                places.iter().map(|&(offset, size)| Parameter { offset, size }).collect::<Vec<_>>(),
            )
        };
        assert_eq!(list(&[]).unwrap().bytes(), 0);
        assert_eq!(list(&[(0, 4), (4, 4), (8, 1)]).unwrap().bytes(), 9);
        for wrong in [
            &[(8, 8)][..],
            &[(0, 8), (4, 8)],
            &[(0, 8), (12, 4)],
            &[(0, 0), (8, 8)],
            &[(0, 9)],
            &[(0, 8), (8, u32::MAX)],
        ] {
            assert_eq!(list(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_team_never_gets_more_threads_than_the_kernel_can_have() {
        let limits = |threads| KernelLimits {
            threads: NonZeroU32::new(threads),
            group_memory: GroupMemory::Absent,
            static_group_memory: 0,
            dynamic_group_memory: None,
        };
        assert_eq!(limits(0).bound([4096, 7, 0]), [4096, 7, 0]);
        assert_eq!(limits(1024).bound([0, 0, 0]), [0, 0, 0]);
        assert_eq!(limits(1024).bound([4096, 1, 1]), [1024, 1, 1]);
        assert_eq!(limits(1024).bound([32, 64, 4]), [32, 32, 1]);
        assert_eq!(limits(1024).bound([256, 0, 8]), [256, 0, 4]);
        assert_eq!(limits(1).bound([9, 9, 9]), [1, 1, 1]);
    }
}
