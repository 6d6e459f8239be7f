//! Kinds of devices for tests, and the calls that they count.

use gangway_backend::{GroupMemory, KernelLimits};

/// When operations are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Before the call returns.
    Synchronous,
    /// When somebody waits for them.
    Lazy,
    /// On a thread of the device.
    Worker,
}

/// How the device's kernel takes its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// One slot each.
    Slots,
    /// One buffer with parameters at these places, of these sizes.
    Packed(&'static [(u32, u32)]),
    /// A pointer to a table of so many slots in device memory, between one slot and two
    /// that are the back end's.
    Table(usize),
    /// The same, in memory of the back end that the device sees.
    VisibleTable(usize),
}

/// A kind of device.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub timing: Timing,
    pub events: bool,
    /// The runtime is to keep a pool of memory.
    pub pooled: bool,
    /// Memory is allocated and freed in the order of streams.
    pub stream_ordered: bool,
    pub completions: bool,
    /// The runtime is to send and to fetch small data in one copy.
    pub packed: bool,
    /// ... through pinned memory.
    pub pinned: bool,
    /// It is to be told which ranges of the host are mapped.
    pub notices: bool,
    pub unified_memory: bool,
    pub memory: usize,
    pub passing: Passing,
    pub limits: KernelLimits,
}

/// What holds unless a test says otherwise.
const USUAL: Options = Options {
    timing: Timing::Synchronous,
    events: true,
    pooled: false,
    stream_ordered: false,
    completions: false,
    packed: false,
    pinned: false,
    notices: false,
    unified_memory: false,
    memory: usize::MAX,
    passing: Passing::Slots,
    limits: KernelLimits {
        threads: None,
        group_memory: GroupMemory::Absent,
        static_group_memory: 0,
        dynamic_group_memory: None,
    },
};

impl Options {
    pub const SYNCHRONOUS: Self = Self { events: false, ..USUAL };
    pub const LAZY: Self = Self { timing: Timing::Lazy, ..USUAL };
    pub const LAZY_WITHOUT_EVENTS: Self = Self { events: false, ..Self::LAZY };
    pub const LAZY_IN_STREAM: Self = Self { stream_ordered: true, ..Self::LAZY };
    pub const LAZY_POOLED: Self = Self { pooled: true, ..Self::LAZY };
    pub const LAZY_PACKED: Self = Self { packed: true, ..Self::LAZY_POOLED };
    pub const WORKER: Self = Self { timing: Timing::Worker, ..USUAL };
    pub const WORKER_WITHOUT_EVENTS: Self = Self { events: false, ..Self::WORKER };
    pub const WORKER_POOLED: Self = Self { pooled: true, stream_ordered: true, ..Self::WORKER };
    pub const WORKER_PACKED: Self = Self { packed: true, pinned: true, ..Self::WORKER_POOLED };

    pub const ALL: [Self; 10] = [
        Self::SYNCHRONOUS,
        Self::LAZY,
        Self::LAZY_WITHOUT_EVENTS,
        Self::LAZY_IN_STREAM,
        Self::LAZY_POOLED,
        Self::LAZY_PACKED,
        Self::WORKER,
        Self::WORKER_WITHOUT_EVENTS,
        Self::WORKER_POOLED,
        Self::WORKER_PACKED,
    ];
}

/// Calls that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Allocate,
    ToDevice,
    FromDevice,
    Launch,
    CreateStream,
    Synchronize,
    RecordEvent,
    WaitEvent,
    OnComplete,
    /// Those that follow are not made to fail by tests that try all.
    DestroyStream,
    DestroyEvent,
    Deallocate,
    Pin,
    Unpin,
}

impl Call {
    /// Those that are made to fail by tests that try all.
    pub const ALL: [Self; 9] = [
        Self::Allocate,
        Self::ToDevice,
        Self::FromDevice,
        Self::Launch,
        Self::CreateStream,
        Self::Synchronize,
        Self::RecordEvent,
        Self::WaitEvent,
        Self::OnComplete,
    ];
}
