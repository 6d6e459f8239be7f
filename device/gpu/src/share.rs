//! Memory in which threads find each other's variables: a stack per thread in shared memory, and the
//! heap where that is too small.
//!
//! A variable on a thread's own stack is out of reach for others, so clang takes the memory of what
//! may be shared from here, in the order of a stack. LLVM turns most of it into plain variables.

use crate::place::Place;
use crate::shared;
use crate::target::{self, MOST_THREADS};
use crate::{debug, kernel};
use core::ffi::c_void;

const STACK_BYTES: u32 = 8192;
/// What the team has of it: its main thread shares most.
const TEAM_BYTES: u32 = 2048;
const ALIGNMENT: u32 = 16;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Stack([u8; STACK_BYTES as usize]);

shared! {
    static STACK: Stack
}

shared! {
    /// How much each thread uses of its own part, and in the upper half, of the team's.
    static USED: [u32; MOST_THREADS]
}

/// A thread starts a kernel.
#[inline(always)]
pub fn start() {
    // SAFETY: the entry is the thread's own.
    unsafe { USED.set_element(target::thread_id(), 0) };
}

/// Whether the thread has given back all that it took.
#[must_use]
pub fn is_empty() -> bool {
    // SAFETY: the entry is the thread's own, and written where the kernel starts.
    unsafe { USED.element(target::thread_id()) == 0 }
}

/// Where the part of one of `threads` threads begins, and how large it is.
const fn part(thread: u32, threads: u32) -> (u32, u32) {
    let each = ((STACK_BYTES - TEAM_BYTES) / threads) & !(ALIGNMENT - 1);
    (TEAM_BYTES + thread * each, each)
}

/// Whether the thread asks for the team: as the main thread, or with all others in SPMD mode. These
/// then get the same memory, since a variable outside of regions is the team's and not a thread's.
fn asks_for_team(thread: u32) -> bool {
    if kernel::is_spmd() { Place::current().level() == 0 } else { thread == kernel::main_thread() }
}

const fn rounded(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT as u64)
}

/// Memory that other threads of the block can read, until [`__kmpc_free_shared`].
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".gangway.call"))]
pub extern "C" fn __kmpc_alloc_shared(bytes: u64) -> *mut c_void {
    let thread = target::thread_id();
    let team = asks_for_team(thread);
    let (start, size) = if team { (0, TEAM_BYTES) } else { part(thread, kernel::most_threads()) };
    let shift = if team { 16 } else { 0 };
    let need = rounded(bytes);
    // SAFETY: the entry is the thread's own.
    let all = unsafe { USED.element(thread) };
    let used = (all >> shift) & 0xffff;
    if need > u64::from(size - used) {
        return heap(bytes);
    }
    // SAFETY: the entry is the thread's own; a part is at most 8 KiB.
    unsafe { USED.set_element(thread, all + ((need as u32) << shift)) };
    // SAFETY: the part is inside of the stack, and the place inside of the part.
    unsafe { STACK.pointer().cast::<u8>().add((start + used) as usize) }.cast()
}

/// Gives back what the thread took last.
///
/// # Safety
/// `memory` is of [`__kmpc_alloc_shared`], of this thread and with that size.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".gangway.call"))]
pub unsafe extern "C" fn __kmpc_free_shared(memory: *mut c_void, bytes: u64) {
    let offset = (memory as usize).wrapping_sub(STACK.pointer() as usize);
    if offset >= STACK_BYTES as usize {
        // SAFETY: what is not in the stack is of the heap.
        unsafe { target::release(memory) };
        return;
    }
    let shift = if offset < TEAM_BYTES as usize { 16 } else { 0 };
    let thread = target::thread_id();
    // SAFETY: the entry is the thread's own.
    let all = unsafe { USED.element(thread) };
    let start = if shift == 16 { 0 } else { part(thread, kernel::most_threads()).0 };
    debug::check(
        || offset as u64 + rounded(bytes) == u64::from(start + ((all >> shift) & 0xffff)),
        c"shared variables are not given back in the order of a stack",
    );
    // SAFETY: the entry is the thread's own.
    unsafe { USED.set_element(thread, all - ((rounded(bytes) as u32) << shift)) };
}

/// Memory of the device's heap; the kernel ends if there is none.
#[must_use]
pub fn heap(bytes: u64) -> *mut c_void {
    let memory = target::allocate(bytes);
    if memory.is_null() {
        // SAFETY: the texts end with a null byte, and the format has one argument.
        unsafe {
            target::print(
                c"gangway: the device's heap has no %llu bytes left (its size: LIBOMPTARGET_HEAP_SIZE)\n"
                    .as_ptr(),
                (&raw const bytes).cast(),
            );
        }
        target::trap();
    }
    memory
}

/// Arguments of a region for which no memory of the heap is needed.
const MOST_ARGUMENTS: usize = 32;

shared! {
    static ARGUMENTS: [*mut c_void; MOST_ARGUMENTS]
}

shared! {
    /// Where the arguments of the region are: [`ARGUMENTS`], or memory of the heap.
    static SHARED_ARGUMENTS: *mut *mut c_void
}

/// Room for the arguments of a region; called by the main thread.
#[must_use]
pub fn arguments(count: u64) -> *mut *mut c_void {
    let memory = if count <= MOST_ARGUMENTS as u64 {
        ARGUMENTS.pointer().cast()
    } else {
        heap(count * size_of::<*mut c_void>() as u64).cast()
    };
    // SAFETY: the workers wait at the barrier before the region.
    unsafe { SHARED_ARGUMENTS.set(memory) };
    memory
}

/// Where the arguments of the region are.
#[must_use]
pub fn shared_arguments() -> *mut *mut c_void {
    // SAFETY: the main thread has written it before the region.
    unsafe { SHARED_ARGUMENTS.get() }
}

/// The region has ended.
pub fn release_arguments() {
    let memory = shared_arguments();
    if memory != ARGUMENTS.pointer().cast() {
        // SAFETY: it is of the heap, and the workers have ended the region.
        unsafe { target::release(memory.cast()) };
    }
}

/// The shared memory whose size the launch says; null if it says none.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_dynamic_shared() -> *mut c_void {
    let (memory, bytes) = target::dynamic_shared_memory();
    if bytes == 0 { core::ptr::null_mut() } else { memory }
}

/// The same for programs.
#[unsafe(no_mangle)]
pub extern "C" fn llvm_omp_target_dynamic_shared_alloc() -> *mut c_void {
    __kmpc_get_dynamic_shared()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two threads share a part, and each is aligned and inside of the stack.
    #[test]
    fn parts_of_the_stack_are_apart() {
        for threads in [1, 32, 64, 96, 100, 128, 160, 256, 512, 1024] {
            let mut end = TEAM_BYTES;
            for thread in 0..threads {
                let (start, size) = part(thread, threads);
                assert_eq!((start % ALIGNMENT, size % ALIGNMENT), (0, 0));
                assert!(start >= end, "thread {thread} of {threads}");
                end = start + size;
            }
            assert!(end <= STACK_BYTES);
        }
    }
}
