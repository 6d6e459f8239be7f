//! Stacks for warps, and the fibers that run on them.
//!
//! A stack is a large piece of address space whose pages the kernel gives as they are used. A
//! function of GCC's may have a frame of hundreds of kilobytes, and call itself. Below it are
//! pages without access, so many that no frame steps over them. Stacks are kept for the next
//! launch.

use std::ops::Range;
use std::ptr::NonNull;

use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, Yielder};
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};

use crate::frame::PROBE_LOG2;

/// Bytes of a stack.
pub(super) const SIZE: usize = 64 << 20;
/// Bytes without access below it.
const GUARD: usize = 1 << 20;
const _: () = assert!(GUARD > 1 << PROBE_LOG2);

/// Bytes of a stack that compiled functions leave to what they call of the engine's. That takes
/// locks, of the allocator and of the output if not of the engine, and must not be abandoned with
/// one of them.
pub(crate) const RESERVE: usize = 256 << 10;

/// Why a fiber gives control back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its fuel is spent: it may be waiting for somebody, and can go on.
    Turn,
    /// It waits at barriers.
    Waits,
    /// It cannot go on; the fault is in its [`Host`](super::warp::Host).
    Fault,
}

/// How a fiber ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Done,
    /// The processor raised a signal; what is known of it is in the `Host`.
    Trapped,
}

pub(crate) type Fiber = Coroutine<(), Pause, End, FiberStack>;
pub(crate) type FiberYielder = Yielder<(), Pause>;

/// The stack of one fiber.
#[derive(Debug)]
pub(crate) struct FiberStack {
    /// The guard's first byte.
    start: NonNull<u8>,
}

// SAFETY: it is memory that it alone owns.
unsafe impl Send for FiberStack {}

impl FiberStack {
    pub fn new() -> Result<Self, String> {
        let wrong = |error| format!("no memory for the stack of a warp: {error}");
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping, wherever the kernel likes.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), GUARD + SIZE, ProtFlags::empty(), flags) };
        let stack = FiberStack { start: NonNull::new(start.map_err(wrong)?.cast()).expect("not null") };
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the pages are the mapping's own.
        unsafe { mprotect(stack.start.as_ptr().add(GUARD).cast(), SIZE, access) }.map_err(wrong)?;
        // Huge pages would make every warp that is started once cost two megabytes.
        // SAFETY: as above; the advice does not change contents.
        let _ = unsafe { madvise(stack.start.as_ptr().cast(), GUARD + SIZE, Advice::LinuxNoHugepage) };
        Ok(stack)
    }

    /// The addresses below it, whose access is an overflow.
    #[must_use]
    pub fn guard(&self) -> Range<usize> {
        let start = self.start.as_ptr() as usize;
        start..start + GUARD
    }

    /// Gives back the pages that deep calls have used, all but the topmost.
    pub fn trim(&self) {
        const KEPT: usize = 256 << 10;
        // SAFETY: nothing runs on the stack; the next fiber writes before it reads.
        let _ = unsafe { madvise(self.start.as_ptr().add(GUARD).cast(), SIZE - KEPT, Advice::LinuxDontNeed) };
    }
}

impl Drop for FiberStack {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no fiber is on it: the fiber would own it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), GUARD + SIZE) };
    }
}

// SAFETY: base and limit are the ends of memory that is accessible, but for the guard,
// which counts as part of the stack so that an overflow is known for one.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.start.as_ptr() as usize + GUARD + SIZE).expect("not null")
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.start.as_ptr() as usize).expect("not null")
    }
}
