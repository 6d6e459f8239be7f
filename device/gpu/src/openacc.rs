//! What translated OpenACC code asks of the runtime (`openacc_translated.h`): a barrier for a worker of several warps,
//! where the hardware has none for a part of a block. Gangs are blocks, with lanes along x and workers along y.

use crate::target::{self, Axis};
use crate::{shared, synchronize};
use core::sync::atomic::AtomicU32;

/// A block of the most threads has no more workers of several warps.
const WORKERS: usize = 32;

shared! {
    /// How many lanes of each worker have come to the barrier, and how often they have met there.
    static MEETINGS: [[AtomicU32; 2]; WORKERS]
}

/// A kernel starts: all threads call it, before one of them meets others.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __gangway_acc_start() {
    if target::threads_along(Axis::Y) == 1 || target::threads_along(Axis::X) <= target::warp_size() {
        return;
    }
    if target::thread_id_along(Axis::X) == 0 {
        let words = MEETINGS.pointer().cast::<[u32; 2]>();
        // SAFETY: a place for each worker, whose first lane alone writes before the barrier.
        unsafe { words.add(worker()).write([0; 2]) };
    }
    target::barrier_aligned();
}

/// The lanes of a worker wait for each other.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __gangway_acc_meet() {
    // SAFETY: the words have been written when the kernel started, and are used through atomic operations since.
    let [arrived, meetings] = unsafe { &*MEETINGS.pointer().cast::<[AtomicU32; 2]>().add(worker()) };
    synchronize::meet_at(arrived, meetings, target::threads_along(Axis::X));
}

/// The thread's worker; within the array, as a kernel has no more of them.
fn worker() -> usize {
    target::thread_id_along(Axis::Y) as usize % WORKERS
}
