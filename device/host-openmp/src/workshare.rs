//! Loops whose iterations are shared out among threads or teams.
//!
//! flang passes a loop as its trip count, a body `fn(iteration, arguments)`
//! and the arguments; every thread that meets the loop calls the entry point
//! and runs its own share.
//!
//! A worksharing loop ends with a barrier here. flang 22 emits none after it,
//! although the construct has one unless `nowait` is given; code after a loop
//! would read what other threads have not written yet. Where the barrier is
//! not needed it only costs time. A composite loop needs none: it is all that
//! its parallel region does.
//!
//! flang 22 always passes chunk sizes of 0, whatever the `schedule` clause
//! says, and calls only the unsigned entry points; chunks and the signed ones
//! are implemented as LLVM's interface defines them.
//!
//! Of the interface's parameters two are not used: the number of threads,
//! because libomp knows it, and the flag that each thread has at most one
//! iteration, which spares a GPU a branch and would only be a way to lose
//! iterations here.

use core::ffi::c_void;
use core::ops::Range;

use crate::hidden;
use crate::libomp::{Location, team_member, wait_for_team};
use crate::partition::{Member, composite, share};
use crate::team::in_loop;

/// A launch is one call of the kernel, so the league is one team. A larger one
/// would be wrong, not only slow: for x86-64, flang combines the teams' parts
/// of a reduction as if all of the threads were in one team.
const LEAGUE: Member = Member::ONLY;

/// A trip count or iteration number as the entry points of one width have it.
trait Iteration: Copy {
    /// As a number of iterations; a negative one means none.
    fn count(self) -> u64;
    /// The iteration `number`, which is less than a count of this width.
    fn from_number(number: u64) -> Self;
}

macro_rules! iteration {
    ($($type:ty),+) => {
        $(impl Iteration for $type {
            #[inline]
            fn count(self) -> u64 {
                #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
                if self < 0 { 0 } else { self as u64 }
            }

            #[inline]
            fn from_number(number: u64) -> Self {
                number as $type
            }
        })+
    };
}

iteration!(i32, u32, i64, u64);

/// Runs `body` for every iteration in `ranges`.
///
/// # Safety
/// `body` is callable with `arguments` for every iteration of the loop.
#[inline]
unsafe fn run<T: Iteration>(
    body: unsafe extern "C" fn(T, *mut c_void),
    arguments: *mut c_void,
    ranges: impl Iterator<Item = Range<u64>>,
) {
    for range in ranges {
        for number in range {
            // SAFETY: as this function's.
            unsafe { body(T::from_number(number), arguments) };
        }
    }
}

macro_rules! loops {
    ($type:ty, $for:ident, $distribute:ident, $distribute_for:ident) => {
        /// Worksharing loop: the threads of the team share the iterations, and
        /// none returns before all are done.
        ///
        /// # Safety
        /// Called by every thread of the team, with a body that is callable
        /// with `arguments` for each of `count` iterations.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $for(
            location: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            arguments: *mut c_void,
            count: $type,
            _threads: $type,
            thread_chunk: $type,
            _one_iteration_per_thread: u8,
        ) {
            let member = team_member();
            let chunk = thread_chunk.count();
            let ranges = share(0..count.count(), chunk, member);
            // SAFETY: as this function's.
            in_loop(chunk != 0, || unsafe { run(body, arguments, ranges) });
            if member.of > 1 {
                // SAFETY: as this function's.
                unsafe { wait_for_team(location) };
            }
        }

        /// Distribute loop: the teams of the league share the iterations.
        ///
        /// # Safety
        /// Called by the initial thread of each team, with a body that is
        /// callable with `arguments` for each of `count` iterations.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $distribute(
            _location: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            arguments: *mut c_void,
            count: $type,
            team_chunk: $type,
            _one_iteration_per_thread: u8,
        ) {
            let ranges = share(0..count.count(), team_chunk.count(), LEAGUE);
            // SAFETY: as this function's.
            unsafe { run(body, arguments, ranges) };
        }

        /// Composite loop: all threads of all teams share the iterations.
        ///
        /// # Safety
        /// Called by every thread of each team, with a body that is callable
        /// with `arguments` for each of `count` iterations.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $distribute_for(
            _location: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            arguments: *mut c_void,
            count: $type,
            _threads: $type,
            team_chunk: $type,
            thread_chunk: $type,
            _one_iteration_per_thread: u8,
        ) {
            let ranges =
                composite(count.count(), team_chunk.count(), LEAGUE, thread_chunk.count(), team_member());
            // SAFETY: as this function's.
            unsafe { run(body, arguments, ranges) };
        }

        hidden!($for, $distribute, $distribute_for);
    };
}

loops!(i32, __kmpc_for_static_loop_4, __kmpc_distribute_static_loop_4, __kmpc_distribute_for_static_loop_4);
loops!(
    u32,
    __kmpc_for_static_loop_4u,
    __kmpc_distribute_static_loop_4u,
    __kmpc_distribute_for_static_loop_4u
);
loops!(i64, __kmpc_for_static_loop_8, __kmpc_distribute_static_loop_8, __kmpc_distribute_for_static_loop_8);
loops!(
    u64,
    __kmpc_for_static_loop_8u,
    __kmpc_distribute_static_loop_8u,
    __kmpc_distribute_for_static_loop_8u
);
