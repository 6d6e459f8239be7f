//! Host calls: code on a device runs a function of the host and gets its answer.
//!
//! The runtime has the functions, by number. A call brings a block of bytes, which the function
//! reads and overwrites. There are two ways from a kernel to the host:
//!
//! - *Directly*: kernels run in this process, or their driver hears of a call by itself. The
//!   device has a thread of this process run the function, by [`HostCallService::call`].
//! - *Through a channel*: memory that both sides see, which the runtime gets from
//!   [`Device::allocate_visible`], lays out and watches. Kernels find it through a pointer of
//!   their image ([`HostCallLink::Global`]), or the back end passes its address with every
//!   launch ([`HostCallLink::Linked`]).
//!
//! A device says what it can do in [`Capabilities::host_calls`], a module whether its image
//! calls the host at all. Until an image does, there is no memory, no thread and no call of
//! the back end.
//!
//! [`Device::allocate_visible`]: crate::Device::allocate_visible
//! [`Capabilities::host_calls`]: crate::Capabilities::host_calls

use crate::handles::DevicePtr;
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

/// How kernels of a device can call the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostCalls {
    /// They cannot.
    #[default]
    None,
    /// The device runs host functions by itself.
    Direct,
    /// Through a channel in memory that both sides see.
    Channel {
        /// The device says when something may have arrived ([`HostCallService::ring`]), so
        /// that nobody has to look all the time.
        rings: bool,
    },
}

/// How an image's kernels find the way to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCallLink {
    /// They make no host calls.
    Unused,
    /// The back end sees to it, with what [`Device::connect_host_calls`] gave it.
    ///
    /// [`Device::connect_host_calls`]: crate::Device::connect_host_calls
    Linked,
    /// Through the pointer that stands there on the device. The runtime has it point to the
    /// channel before a kernel runs.
    Global(DevicePtr),
}

/// Memory that both sides see: what one writes atomically, the other reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleMemory {
    /// Where the host sees it; aligned to a page.
    pub host: NonNull<u8>,
    /// Where the device sees it.
    pub device: DevicePtr,
}

// SAFETY: an address; what is behind it is for whoever has it to share.
unsafe impl Send for VisibleMemory {}
// SAFETY: as above.
unsafe impl Sync for VisibleMemory {}

/// What has become of a host call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum HostCallOutcome {
    /// The function has run; the block has its answer.
    Answered = 0,
    /// No function has that number. The block is as it was.
    NoSuchFunction = 1,
    /// The block is larger than one may be, or otherwise no call stands there.
    Malformed = 2,
    /// The function has panicked. The block is as it left it.
    Failed = 3,
    /// Nobody serves the device's calls yet, or any longer. The block is as it was.
    Unserved = 4,
}

/// Bytes that a block may have.
pub const LARGEST_BLOCK: usize = 1 << 30;

/// A caller's block. `None`: there is none with so many bytes.
///
/// # Safety
/// Unless it is null, the pointer leads to so many bytes, which nobody else uses for so long.
#[must_use]
pub unsafe fn host_block<'b>(block: *mut c_void, size: usize) -> Option<&'b mut [u8]> {
    match size {
        0 => Some(&mut []),
        _ if block.is_null() || size > LARGEST_BLOCK => None,
        // SAFETY: the caller's promise.
        _ => Some(unsafe { std::slice::from_raw_parts_mut(block.cast(), size) }),
    }
}

impl HostCallOutcome {
    /// Its number, which is what device code sees.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// The runtime's side of host calls.
pub trait HostCallHandler: Send + Sync {
    /// Runs a function on the calling thread. It may take as long as the function likes, and
    /// any number of threads may call at once.
    fn call(&self, function: u64, block: &mut [u8]) -> HostCallOutcome;

    /// Something may have arrived in the channel. Returns soon.
    fn ring(&self);

    /// A kernel has been launched. Returns soon.
    fn launched(&self) {}
}

/// What a device is given to serve its kernels' host calls with. Valid as long as the process.
#[derive(Clone, Copy)]
pub struct HostCallService {
    handler: &'static dyn HostCallHandler,
    channel: Option<DevicePtr>,
}

impl HostCallService {
    /// The service of a handler; `channel` is where the device sees the channel, if it has one.
    #[must_use]
    pub const fn new(handler: &'static dyn HostCallHandler, channel: Option<DevicePtr>) -> Self {
        Self { handler, channel }
    }

    /// Where the device sees the channel: on devices with
    /// [`HostCalls::Channel`](HostCalls::Channel).
    #[must_use]
    pub const fn channel(&self) -> Option<DevicePtr> {
        self.channel
    }

    /// See [`HostCallHandler::call`]. The runtime calls back into no back end from here,
    /// but the function may.
    pub fn call(&self, function: u64, block: &mut [u8]) -> HostCallOutcome {
        self.handler.call(function, block)
    }

    /// See [`HostCallHandler::ring`].
    pub fn ring(&self) {
        self.handler.ring();
    }

    /// See [`HostCallHandler::launched`]. A device that answers [`is_quiet`](crate::Device::is_quiet) tells of each
    /// launch behind it, where both are seen by all threads in one order.
    pub fn launched(&self) {
        self.handler.launched();
    }
}

impl fmt::Debug for HostCallService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCallService").field("channel", &self.channel).finish_non_exhaustive()
    }
}
