//! A stack for the signal handler, so that a kernel which has used up its own
//! can still be reported.
//!
//! Made for threads that launch. The workers that the OpenMP library starts have
//! none, and get none: a signal stack can only be set by the thread itself, and
//! nothing of ours runs on a worker before the region's code does (its outlined
//! functions go to `libomp` directly). A tool interface would run there, but there
//! is one per process, and it is the user's. So on a worker an exhausted stack
//! remains a bare signal, which the kernel delivers without asking the handler.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What the handler itself needs, well rounded up.
const HANDLER: usize = 32 << 10;

fn size() -> usize {
    // SAFETY: reads the auxiliary vector. The processor's registers take what the kernel says here.
    HANDLER + unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize
}

/// The calling thread's signal stack as the kernel has it.
fn current() -> libc::stack_t {
    // SAFETY: all zero is a valid value, which the kernel overwrites.
    unsafe {
        let mut stack: libc::stack_t = mem::zeroed();
        libc::sigaltstack(ptr::null(), &mut stack);
        stack
    }
}

/// Gives the calling thread a signal stack if it has none, or one that is too
/// small for the report (the Rust library's); `slot` keeps it.
pub(crate) fn enable(slot: &AtomicPtr<u8>) {
    let present = current();
    if present.ss_flags & libc::SS_DISABLE == 0 && present.ss_size >= HANDLER {
        return;
    }
    let mut memory = slot.load(Ordering::Relaxed);
    if memory.is_null() {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping replaces nothing.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), size(), protection, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return;
        }
        memory = mapped.cast();
        slot.store(memory, Ordering::Relaxed);
    }
    let stack = libc::stack_t { ss_sp: memory.cast(), ss_flags: 0, ss_size: size() };
    // SAFETY: the memory has that size and is never given back.
    unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
}

/// Takes the stack in `slot` from the calling thread, which is ending.
pub(crate) fn disable(slot: &AtomicPtr<u8>) {
    let memory = slot.load(Ordering::Relaxed);
    if !memory.is_null() && current().ss_sp == memory.cast() {
        let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: the thread is not in a signal handler.
        unsafe { libc::sigaltstack(&none, ptr::null_mut()) };
    }
}
