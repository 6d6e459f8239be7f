//! `ordered` regions, and loops that have some.
//!
//! Clang hands loops with such a clause to `dispatch`, which has one thread run all iterations in
//! order. flang-22 forgets the clause for GPUs and makes a loop that is dealt in advance
//! (`workshare`). So `gangway fc` has files with such regions call the loops here instead: each thread
//! notes how far it is, and a region waits until no other thread can come to one of an earlier
//! iteration.

use crate::environment::Location;
use crate::place::Place;
use crate::target::{self, MOST_THREADS};
use crate::{debug, shared, synchronize, workshare};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

shared! {
    /// For each thread of a team in such a loop, the first iteration, counted from 1, at which the
    /// thread may still come to an `ordered` region. [`OUTSIDE`] before the loop.
    static REACHED: [u64; MOST_THREADS]
}

const OUTSIDE: u64 = 0;
const PAST_THE_LAST: u64 = u64::MAX;

/// A thread starts a kernel.
#[inline(always)]
pub fn begin() {
    // SAFETY: the entry is the thread's own.
    unsafe { REACHED.set_element(target::thread_id(), OUTSIDE) };
}

/// The entry of a thread.
fn entry(thread: u32) -> &'static AtomicU64 {
    // SAFETY: the array has an entry for each thread, and the team uses it by atomic operations alone.
    unsafe { AtomicU64::from_ptr(REACHED.pointer().cast::<u64>().add(thread as usize)) }
}

/// `ordered`: waits for its turn.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_ordered(_: *const Location, word: i32) {
    let place = Place::of(word);
    let own = target::thread_id();
    let turn = entry(own).load(Ordering::Relaxed);
    if turn == OUTSIDE {
        // One thread runs the loop, the first.
        if place.thread() != 0 {
            debug::give_up(
                c"gangway: an ordered region in a loop that was not compiled for it: compile Fortran with \
                  `gangway fc`, and the loop in the same file as the region\n",
            );
        }
        return;
    }
    let mut other = 0;
    while other < place.size() {
        let reached = entry(other).load(Ordering::Relaxed);
        if other == own || (reached != OUTSIDE && reached >= turn) {
            other += 1;
        } else {
            target::sleep(target::TEAM_SLEEP);
        }
    }
    target::fence_block();
}

/// The end of an `ordered` region: there is no other one in the iteration.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_end_ordered(_: *const Location, _: i32) {
    let own = entry(target::thread_id());
    let turn = own.load(Ordering::Relaxed);
    if turn != OUTSIDE {
        target::fence_block();
        own.store(turn + 1, Ordering::Relaxed);
    }
}

/// A loop of the team's: its threads take chunks in turn, and wait for each other at the end.
#[inline(always)]
fn run(trips: u64, chunk: u64, mut body: impl FnMut(u64)) {
    let place = Place::current();
    let (thread, size) = (u64::from(place.thread()), u64::from(place.size()));
    if size == 1 {
        workshare::run(trips, chunk, thread, size, body);
        return;
    }
    let own = entry(target::thread_id());
    workshare::run(trips, chunk, thread, size, |iteration| {
        own.store(iteration + 1, Ordering::Relaxed);
        body(iteration);
    });
    own.store(PAST_THE_LAST, Ordering::Relaxed);
    synchronize::barrier(place);
    // Nobody waits any more in this loop, nor yet in the next one.
    own.store(OUTSIDE, Ordering::Relaxed);
    synchronize::barrier(place);
}

/// The functions of one type of loop counter, with the parameters of `__kmpc_for_static_loop_*`.
macro_rules! ordered_loop {
    ($type:ident, $name:ident) => {
        /// `do ordered` of flang's.
        ///
        /// # Safety
        /// `body` is a function for these iterations and `argument`.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        pub unsafe extern "C" fn $name(
            _: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            trips: $type,
            _threads: $type,
            chunk: $type,
            _one: u8,
        ) {
            // SAFETY: as the caller says.
            run(trips as u64, chunk as u64, |iteration| unsafe { body(iteration as $type, argument) });
        }
    };
}

ordered_loop!(u32, __gangway_ordered_loop_4u);
ordered_loop!(u64, __gangway_ordered_loop_8u);
