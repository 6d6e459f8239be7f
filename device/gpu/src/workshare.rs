//! Loops whose iterations are dealt before they start: `schedule(static)` and `distribute`.

use crate::environment::Location;
use crate::place::Place;
use crate::schedule::{self, Part, kind};
use crate::target;
use crate::{debug, kernel, synchronize};
use core::ffi::c_void;

/// The entities among which a loop is dealt, and which of them this thread is.
#[inline(always)]
fn dealt(kind: i32, place: Place) -> (u64, u64) {
    let (block, blocks) = (u64::from(target::block_id()), u64::from(target::blocks_in_grid()));
    let (thread, size) = (u64::from(place.thread()), u64::from(place.size()));
    match kind {
        kind::DISTRIBUTE | kind::DISTRIBUTE_CHUNKED => (block, blocks),
        kind::DISTRIBUTE_BY_THREAD => (block * size + thread, blocks * size),
        _ => (thread, size),
    }
}

/// How many iterations a team takes at a time, of a loop that is dealt to teams in chunks.
///
/// Clang makes a parallel region of every chunk of `distribute parallel for`. Where the program
/// leaves the chunk to it, that is an iteration for each thread: a region, with its barrier and its
/// reduction, would start as often as a thread has iterations. Here the team gets its share in one
/// chunk, of the same number of iterations.
#[inline(always)]
fn team_chunk(chunk: u64, trips: u64, teams: u64) -> u64 {
    // LLVM knows all of the program but the number of threads, and folds it.
    let has_regions = kernel::is_for_all_threads() || kernel::is_spmd() && kernel::reduces_over_teams();
    // Clang's number of threads is a constant, the kernel's bound, once LLVM has folded it; teams may have fewer.
    let bound = u64::try_from(kernel::bound_of_threads()).unwrap_or(0);
    let each_thread_has_one = chunk == u64::from(target::threads_in_block()) || bound != 0 && chunk == bound;
    let is_merged = has_regions && each_thread_has_one;
    if is_merged { schedule::merged(chunk, trips, teams) } else { chunk }
}

#[inline(always)]
fn part(kind: i32, trips: u64, chunk: u64, entity: u64, entities: u64) -> Part {
    match kind {
        kind::STATIC_BALANCED if chunk > 0 => schedule::balanced(trips, chunk, entity, entities),
        kind::STATIC | kind::DISTRIBUTE => schedule::even(trips, entity, entities),
        _ if chunk > 0 => schedule::chunked(trips, chunk, entity, entities),
        _ => schedule::even(trips, entity, entities),
    }
}

/// The functions of one type of loop counter.
macro_rules! static_loops {
    ($type:ident, $signed:ident, $unsigned:ident, $for_init:ident, $distribute_init:ident,
     $combined_init:ident, $team_init:ident) => {
        /// Deals a loop: the bounds, inclusive, become those of the first chunk.
        ///
        /// # Safety
        /// All pointers are valid.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $for_init(
            _: *const Location,
            word: i32,
            kind: i32,
            last: *mut i32,
            lower: *mut $type,
            upper: *mut $type,
            stride: *mut $signed,
            increment: $signed,
            chunk: $signed,
        ) {
            let kind = kind::plain(kind);
            // SAFETY: as the caller says.
            let (first, end) = unsafe { (lower.read(), upper.read()) };
            let trips = trips!($type, $unsigned, first, end, increment);
            let (entity, entities) = dealt(kind, Place::of(word));
            let mut chunk = if chunk > 0 { chunk as u64 } else { 0 };
            if kind == kind::DISTRIBUTE_CHUNKED {
                chunk = team_chunk(chunk, trips, entities);
            }
            let mut part = part(kind, trips, chunk, entity, entities);
            // Threads that take one iteration in turn start at their number. Bounds of that form are
            // what compilers of GPU code know best.
            if chunk != 1 {
                part = part.within(trips);
            }
            let step = increment as $type;
            let start = first.wrapping_add((part.first as $type).wrapping_mul(step));
            let length = (part.chunk as $type).wrapping_sub(1).wrapping_mul(step);
            // SAFETY: as the caller says.
            unsafe {
                last.write(i32::from(part.last));
                lower.write(start);
                upper.write(start.wrapping_add(length));
                stride.write((part.stride as $signed).wrapping_mul(increment));
            }
        }

        /// Deals a loop to the teams.
        ///
        /// # Safety
        /// All pointers are valid.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $distribute_init(
            location: *const Location,
            word: i32,
            kind: i32,
            last: *mut i32,
            lower: *mut $type,
            upper: *mut $type,
            stride: *mut $signed,
            increment: $signed,
            chunk: $signed,
        ) {
            // SAFETY: as the caller says.
            unsafe { $for_init(location, word, kind, last, lower, upper, stride, increment, chunk) };
        }

        /// Deals a loop to the teams, and each team's part to its threads: `team_upper` becomes the
        /// end of the team's part.
        ///
        /// # Safety
        /// All pointers are valid.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $combined_init(
            location: *const Location,
            word: i32,
            kind: i32,
            last: *mut i32,
            lower: *mut $type,
            upper: *mut $type,
            team_upper: *mut $type,
            stride: *mut $signed,
            increment: $signed,
            chunk: $signed,
        ) {
            let mut team_last = 0;
            let mut team_stride = 0;
            // SAFETY: as the caller says.
            unsafe {
                let end = upper.read();
                $for_init(
                    location,
                    word,
                    kind::DISTRIBUTE,
                    &raw mut team_last,
                    lower,
                    upper,
                    &raw mut team_stride,
                    increment,
                    0,
                );
                if team_last != 0 {
                    upper.write(end);
                }
                team_upper.write(upper.read());
                $for_init(location, word, kind, last, lower, upper, stride, increment, chunk);
                last.write(last.read() & team_last);
            }
        }

        /// Deals chunks of a loop to the teams.
        ///
        /// # Safety
        /// All pointers are valid.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $team_init(
            location: *const Location,
            word: i32,
            last: *mut i32,
            lower: *mut $type,
            upper: *mut $type,
            stride: *mut $signed,
            increment: $signed,
            chunk: $signed,
        ) {
            let kind = kind::DISTRIBUTE_CHUNKED;
            // SAFETY: as the caller says.
            unsafe { $for_init(location, word, kind, last, lower, upper, stride, increment, chunk) };
        }
    };
}

/// How many iterations there are between bounds, both inclusive.
macro_rules! trips {
    ($type:ident, $unsigned:ident, $first:ident, $end:ident, $increment:ident) => {
        if $increment > 0 && $end >= $first {
            let distance = $end.wrapping_sub($first) as $unsigned as u64;
            (if $increment == 1 { distance } else { distance / $increment as u64 }).wrapping_add(1)
        } else if $increment < 0 && $first >= $end {
            let distance = $first.wrapping_sub($end) as $unsigned as u64;
            (distance / $increment.unsigned_abs() as u64).wrapping_add(1)
        } else {
            0
        }
    };
}
pub(crate) use trips;

static_loops!(
    i32,
    i32,
    u32,
    __kmpc_for_static_init_4,
    __kmpc_distribute_static_init_4,
    __kmpc_dist_for_static_init_4,
    __kmpc_team_static_init_4
);
static_loops!(
    u32,
    i32,
    u32,
    __kmpc_for_static_init_4u,
    __kmpc_distribute_static_init_4u,
    __kmpc_dist_for_static_init_4u,
    __kmpc_team_static_init_4u
);
static_loops!(
    i64,
    i64,
    u64,
    __kmpc_for_static_init_8,
    __kmpc_distribute_static_init_8,
    __kmpc_dist_for_static_init_8,
    __kmpc_team_static_init_8
);
static_loops!(
    u64,
    i64,
    u64,
    __kmpc_for_static_init_8u,
    __kmpc_distribute_static_init_8u,
    __kmpc_dist_for_static_init_8u,
    __kmpc_team_static_init_8u
);

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_for_static_fini(_: *const Location, _: i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_distribute_static_fini(_: *const Location, _: i32) {}

/// The iterations that one thread runs of a loop whose body is a function.
#[inline(always)]
pub fn run(trips: u64, chunk: u64, entity: u64, entities: u64, mut body: impl FnMut(u64)) {
    let chunk = if chunk == 0 { 1 } else { chunk };
    let mut first = entity * chunk;
    while first < trips {
        let mut iteration = first;
        let end = trips.min(first + chunk);
        while iteration < end {
            body(iteration);
            iteration += 1;
        }
        first += entities * chunk;
    }
}

/// The functions of one type of loop counter whose body is a function: what flang makes.
macro_rules! loops_with_body {
    ($type:ident, $for:ident, $distribute:ident, $combined:ident) => {
        /// `do`: the team's threads take chunks in turn, and wait for each other at the end.
        ///
        /// # Safety
        /// `body` is a function for these iterations and `argument`.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        pub unsafe extern "C" fn $for(
            _: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            trips: $type,
            _threads: $type,
            chunk: $type,
            _one: u8,
        ) {
            debug::trace(c"__kmpc_for_static_loop");
            let place = Place::current();
            let (thread, size) = (u64::from(place.thread()), u64::from(place.size()));
            // SAFETY: as the caller says.
            run(trips as u64, chunk as u64, thread, size, |iteration| unsafe {
                body(iteration as $type, argument);
            });
            synchronize::barrier(place);
        }

        /// `distribute`: the teams take chunks in turn.
        ///
        /// # Safety
        /// `body` is a function for these iterations and `argument`.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        pub unsafe extern "C" fn $distribute(
            _: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            trips: $type,
            chunk: $type,
            _one: u8,
        ) {
            let (block, blocks) = (u64::from(target::block_id()), u64::from(target::blocks_in_grid()));
            // SAFETY: as the caller says.
            run(trips as u64, chunk as u64, block, blocks, |iteration| unsafe {
                body(iteration as $type, argument);
            });
        }

        /// `distribute parallel do`: the teams take chunks in turn, and of each chunk the threads.
        ///
        /// # Safety
        /// `body` is a function for these iterations and `argument`.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $combined(
            _: *const Location,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            trips: $type,
            _threads: $type,
            team_chunk: $type,
            chunk: $type,
            _one: u8,
        ) {
            debug::trace(c"__kmpc_distribute_for_static_loop");
            let place = Place::current();
            let (block, blocks) = (u64::from(target::block_id()), u64::from(target::blocks_in_grid()));
            let (thread, size) = (u64::from(place.thread()), u64::from(place.size()));
            if team_chunk == 0 {
                let (entity, entities) = (block * size + thread, blocks * size);
                // SAFETY: as the caller says.
                run(trips as u64, chunk as u64, entity, entities, |iteration| unsafe {
                    body(iteration as $type, argument);
                });
                return;
            }
            let trips = trips as u64;
            let mut first = block * team_chunk as u64;
            while first < trips {
                let length = (team_chunk as u64).min(trips - first);
                // SAFETY: as the caller says.
                run(length, chunk as u64, thread, size, |iteration| unsafe {
                    body((first + iteration) as $type, argument);
                });
                first += blocks * team_chunk as u64;
            }
        }
    };
}

loops_with_body!(
    i32,
    __kmpc_for_static_loop_4,
    __kmpc_distribute_static_loop_4,
    __kmpc_distribute_for_static_loop_4
);
loops_with_body!(
    u32,
    __kmpc_for_static_loop_4u,
    __kmpc_distribute_static_loop_4u,
    __kmpc_distribute_for_static_loop_4u
);
loops_with_body!(
    i64,
    __kmpc_for_static_loop_8,
    __kmpc_distribute_static_loop_8,
    __kmpc_distribute_for_static_loop_8
);
loops_with_body!(
    u64,
    __kmpc_for_static_loop_8u,
    __kmpc_distribute_static_loop_8u,
    __kmpc_distribute_for_static_loop_8u
);

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread has the whole loop, also with steps that are not one.
    #[test]
    fn one_thread_has_all() {
        for (lower, upper, increment) in [(0, 9, 1), (10, 1, -3), (5, 5, 1), (-7, 7, 2)] {
            let (mut last, mut stride) = (0, 0);
            let (mut first, mut end) = (lower, upper);
            // SAFETY: all are variables here.
            unsafe {
                __kmpc_for_static_init_4(
                    core::ptr::null(),
                    Place::OUTSIDE.word(),
                    kind::STATIC,
                    &raw mut last,
                    &raw mut first,
                    &raw mut end,
                    &raw mut stride,
                    increment,
                    0,
                );
            }
            assert_eq!((first, last), (lower, 1));
            assert!((upper - end).abs() < increment.abs(), "{lower} {upper} {increment}: {end}");
        }
    }

    #[test]
    fn a_loop_with_a_body_visits_each_iteration() {
        unsafe extern "C" fn body(iteration: u32, seen: *mut c_void) {
            // SAFETY: the test passes an array of that size.
            unsafe { *seen.cast::<u32>().add(iteration as usize) += 1 };
        }
        let mut seen = [0_u32; 100];
        // SAFETY: the body takes such an array.
        unsafe {
            __kmpc_distribute_for_static_loop_4u(
                core::ptr::null(),
                body,
                seen.as_mut_ptr().cast(),
                100,
                0,
                7,
                2,
                0,
            );
        }
        assert_eq!(seen, [1; 100]);
    }
}
