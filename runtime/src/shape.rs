//! How large a launch is to be.

use gangway_backend::{Kernel, Launch, OwnSlots, SourceText};

/// What a front end says about a launch besides its arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Teams in each dimension; 0 leaves it to the device.
    pub teams: [u32; 3],
    /// Threads per team in each dimension; 0 leaves it to the device.
    pub thread_limit: [u32; 3],
    /// Iterations of the associated loop; 0 if unknown.
    pub trip_count: u64,
    /// Bytes of dynamic group memory per team.
    pub dynamic_group_memory: u32,
    /// What is to be where the device cannot give as much.
    pub group_memory_fallback: GroupMemoryFallback,
    /// Slots besides the program's arguments that the compiler's kernels expect the back end
    /// to fill, unless the image says it.
    pub own_slots: OwnSlots,
    /// See [`Launch::by_address`].
    pub by_address: bool,
    /// All sizes are the program's own: a kernel that cannot have them fails. Otherwise they are upper
    /// bounds.
    pub is_exact: bool,
}

/// What a launch is to do without the group memory that it asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupMemoryFallback {
    /// The construct does not say. It fails; a device without any such memory leaves it out of account.
    #[default]
    Unsaid,
    /// Run with none.
    Without,
    /// Have other memory of the device in its place.
    DeviceMemory,
}

impl Shape {
    /// A launch of this shape, within the kernel's limits.
    #[inline]
    pub(crate) fn launch<'a>(
        &self,
        name: &'a str,
        kernel: &'a Kernel,
        group_memory: GivenGroupMemory,
        source: SourceText,
    ) -> Launch<'a> {
        let GivenGroupMemory { dynamic, replaced } = group_memory;
        Launch {
            kernel,
            name,
            source,
            teams: self.teams,
            thread_limit: kernel.limits.bound(self.thread_limit),
            trip_count: self.trip_count,
            dynamic_group_memory: dynamic,
            replaced_group_memory: replaced,
            by_address: self.by_address,
        }
    }
}

/// What a launch gets of the group memory that it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GivenGroupMemory {
    pub dynamic: u32,
    /// See [`Launch::replaced_group_memory`](gangway_backend::Launch::replaced_group_memory).
    pub replaced: Option<u32>,
}
