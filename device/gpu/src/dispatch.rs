//! Loops whose iterations threads take while they run: `schedule(dynamic | guided | runtime | auto)`
//! and `ordered`.

use crate::environment::Location;
use crate::place::Place;
use crate::schedule::{self, kind};
use crate::target::{self, MOST_THREADS};
use crate::workshare::trips;
use crate::{debug, device_heap, icv, shared, synchronize};
use core::sync::atomic::{AtomicU64, Ordering};

/// A loop: of the team, or of one thread where there is only one.
#[derive(Clone, Copy)]
struct Loop {
    kind: i32,
    trips: u64,
    chunk: u64,
    /// The bits of the first value, sign-extended.
    lower: u64,
    increment: i64,
    /// The next iteration that nobody has.
    next: u64,
    /// For loops of one thread: what was in [`POSITIONS`] before.
    outer: u64,
}

shared! {
    /// The team's loop. There is one at a time: threads meet where it starts.
    static LOOP: Loop
}

shared! {
    /// In the team's loop, if it is dealt in advance: the thread's next iteration. In a loop of one
    /// thread: its address.
    static POSITIONS: [u64; MOST_THREADS]
}

/// A thread starts a kernel.
#[inline(always)]
pub fn begin() {
    // SAFETY: the entry is the thread's own.
    unsafe { POSITIONS.set_element(target::thread_id(), 0) };
}

/// Dealt in advance, in chunks.
const DEALT: i32 = kind::STATIC_CHUNKED;

/// The kind and the chunk size that a loop really gets.
fn resolve(kind: i32, chunk: u64, trips: u64, size: u64) -> (i32, u64) {
    let kind = kind::plain(kind);
    if (kind::ORDERED_FIRST..=kind::ORDERED_LAST).contains(&kind) {
        // One thread runs all of it, in order; see `ordered`.
        return (DEALT, trips.max(1));
    }
    let even = trips.div_ceil(size).max(1);
    match kind {
        kind::DYNAMIC | kind::GUIDED => (kind, chunk.max(1)),
        kind::RUNTIME => {
            let controls = icv::current();
            let chunk = u64::from(controls.chunk.max(0).cast_unsigned());
            match controls.schedule {
                2 => (kind::DYNAMIC, chunk.max(1)),
                3 => (kind::GUIDED, chunk.max(1)),
                1 if chunk > 0 => (DEALT, chunk),
                1 => (DEALT, even),
                // `auto`: neighbouring threads take neighbouring iterations.
                _ => (DEALT, 1),
            }
        }
        kind::AUTO => (DEALT, 1),
        kind::STATIC => (DEALT, even),
        _ => (DEALT, if chunk > 0 { chunk } else { even }),
    }
}

#[inline(always)]
fn start(word: i32, kind: i32, mut this: Loop) {
    debug::trace(c"__kmpc_dispatch_init");
    let place = Place::of(word);
    let thread = target::thread_id();
    let size = u64::from(place.size());
    (this.kind, this.chunk) = resolve(kind, this.chunk, this.trips, size);
    if size == 1 {
        this.kind = DEALT;
        // SAFETY: the entry is the thread's own, and written where the kernel starts.
        this.outer = unsafe { POSITIONS.element(thread) };
        let memory: *mut Loop = device_heap::allocate(size_of::<Loop>() as u64).cast();
        // SAFETY: the memory is of that size, and the entry the thread's own.
        unsafe {
            memory.write(this);
            POSITIONS.set_element(thread, memory as u64);
        }
        return;
    }
    // The loop before may still be read.
    synchronize::barrier(place);
    if place.thread() == 0 {
        // SAFETY: the others wait.
        unsafe { LOOP.set(this) };
    }
    // SAFETY: the entry is the thread's own.
    unsafe { POSITIONS.set_element(thread, u64::from(place.thread()) * this.chunk) };
    synchronize::barrier(place);
}

/// The thread's next chunk: its first iteration, and how many there are.
#[inline(never)]
fn next(word: i32) -> Option<(Loop, u64, u64)> {
    let place = Place::of(word);
    let thread = target::thread_id();
    if place.size() == 1 {
        // SAFETY: the entry is the address of the loop that the thread has started.
        let memory = unsafe { POSITIONS.element(thread) as *mut Loop };
        // SAFETY: as above.
        let this = unsafe { memory.read() };
        if this.next >= this.trips {
            // SAFETY: the loop has ended, and the one around it goes on.
            unsafe {
                POSITIONS.set_element(thread, this.outer);
                target::release(memory.cast());
            }
            return None;
        }
        // SAFETY: as above.
        unsafe { (*memory).next = this.trips };
        return Some((this, 0, this.trips));
    }
    // SAFETY: written before a barrier, and not changed until the next one, but for `next`, which is not read here.
    let this = unsafe {
        let Loop { kind, trips, chunk, lower, increment, .. } = *LOOP.pointer();
        Loop { kind, trips, chunk, lower, increment, next: 0, outer: 0 }
    };
    let size = u64::from(place.size());
    // SAFETY: the field is used through atomic operations alone.
    let shared_next = unsafe { AtomicU64::from_ptr(&raw mut (*LOOP.pointer()).next) };
    let (first, count) = match this.kind {
        kind::DYNAMIC => (shared_next.fetch_add(this.chunk, Ordering::Relaxed), this.chunk),
        kind::GUIDED => {
            let mut first = shared_next.load(Ordering::Relaxed);
            loop {
                if first >= this.trips {
                    return None;
                }
                let count = schedule::guided(this.trips - first, this.chunk, size);
                match shared_next.compare_exchange(first, first + count, Ordering::Relaxed, Ordering::Relaxed)
                {
                    Ok(_) => break (first, count),
                    Err(now) => first = now,
                }
            }
        }
        _ => {
            // SAFETY: the entry is the thread's own.
            let first = unsafe { POSITIONS.element(thread) };
            // SAFETY: as above.
            unsafe { POSITIONS.set_element(thread, first + size * this.chunk) };
            (first, this.chunk)
        }
    };
    if first >= this.trips {
        return None;
    }
    Some((this, first, count.min(this.trips - first)))
}

/// The functions of one type of loop counter.
macro_rules! dispatched_loops {
    ($type:ident, $signed:ident, $unsigned:ident, $init:ident, $distribute_init:ident, $next:ident,
     $fini:ident) => {
        /// Starts a loop; all threads of the team call it.
        #[unsafe(no_mangle)]
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
        pub extern "C" fn $init(
            _: *const Location,
            word: i32,
            kind: i32,
            lower: $type,
            upper: $type,
            increment: $signed,
            chunk: $signed,
        ) {
            let trips = trips!($type, $unsigned, lower, upper, increment);
            let chunk = if chunk > 0 { chunk as u64 } else { 0 };
            let (lower, increment) = (lower as u64, increment as i64);
            start(word, kind, Loop { kind, trips, chunk, lower, increment, next: 0, outer: 0 });
        }

        /// Starts a loop of which each team has a part that was dealt in advance.
        ///
        /// # Safety
        /// `last` is null or valid.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $distribute_init(
            location: *const Location,
            word: i32,
            kind: i32,
            last: *mut i32,
            lower: $type,
            upper: $type,
            increment: $signed,
            chunk: $signed,
        ) {
            let trips = trips!($type, $unsigned, lower, upper, increment);
            let part =
                schedule::even(trips, u64::from(target::block_id()), u64::from(target::blocks_in_grid()));
            if !last.is_null() {
                // SAFETY: as the caller says.
                unsafe { last.write(i32::from(part.last)) };
            }
            let step = increment as $type;
            let first = lower.wrapping_add((part.first as $type).wrapping_mul(step));
            let end = first.wrapping_add((part.chunk as $type).wrapping_sub(1).wrapping_mul(step));
            $init(location, word, kind, first, end, increment, chunk);
        }

        /// The thread's next chunk, with bounds that are inclusive; 0 when there is none.
        ///
        /// # Safety
        /// The pointers are valid, or null.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $next(
            _: *const Location,
            word: i32,
            last: *mut i32,
            lower: *mut $type,
            upper: *mut $type,
            stride: *mut $signed,
        ) -> i32 {
            let Some((this, first, count)) = next(word) else { return 0 };
            let (start, step) = (this.lower as $type, this.increment as $type);
            let begin = start.wrapping_add((first as $type).wrapping_mul(step));
            let end = begin.wrapping_add((count as $type).wrapping_sub(1).wrapping_mul(step));
            // SAFETY: as the caller says.
            unsafe {
                lower.write(begin);
                upper.write(end);
                if !last.is_null() {
                    last.write(i32::from(first + count == this.trips));
                }
                if !stride.is_null() {
                    stride.write(this.increment as $signed);
                }
            }
            1
        }

        /// An iteration of a loop with `ordered` has ended.
        #[unsafe(no_mangle)]
        pub extern "C" fn $fini(_: *const Location, _: i32) {}
    };
}

dispatched_loops!(
    i32,
    i32,
    u32,
    __kmpc_dispatch_init_4,
    __kmpc_dist_dispatch_init_4,
    __kmpc_dispatch_next_4,
    __kmpc_dispatch_fini_4
);
dispatched_loops!(
    u32,
    i32,
    u32,
    __kmpc_dispatch_init_4u,
    __kmpc_dist_dispatch_init_4u,
    __kmpc_dispatch_next_4u,
    __kmpc_dispatch_fini_4u
);
dispatched_loops!(
    i64,
    i64,
    u64,
    __kmpc_dispatch_init_8,
    __kmpc_dist_dispatch_init_8,
    __kmpc_dispatch_next_8,
    __kmpc_dispatch_fini_8
);
dispatched_loops!(
    u64,
    i64,
    u64,
    __kmpc_dispatch_init_8u,
    __kmpc_dist_dispatch_init_8u,
    __kmpc_dispatch_next_8u,
    __kmpc_dispatch_fini_8u
);

/// The loop has ended.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_dispatch_deinit(_: *const Location, _: i32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_at_run_time_is_that_of_the_thread() {
        assert_eq!(resolve(kind::RUNTIME, 0, 100, 8), (DEALT, 13));
        icv::change(|controls| (controls.schedule, controls.chunk) = (2, 4));
        assert_eq!(resolve(kind::RUNTIME, 0, 100, 8), (kind::DYNAMIC, 4));
        icv::change(|controls| (controls.schedule, controls.chunk) = (3, 0));
        assert_eq!(resolve(kind::RUNTIME, 0, 100, 8), (kind::GUIDED, 1));
        icv::change(|controls| (controls.schedule, controls.chunk) = (1, 0));
    }

    #[test]
    fn modifiers_do_not_matter() {
        assert_eq!(resolve(kind::DYNAMIC | 1 << 30, 3, 100, 8), (kind::DYNAMIC, 3));
        assert_eq!(resolve(67, 3, 100, 8), (DEALT, 100));
    }
}
