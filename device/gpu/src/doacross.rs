//! Loops whose iterations wait for earlier ones: `ordered(n)` with `depend(sink)` and `depend(source)`,
//! or `doacross` (OpenMP 5.2, 15.9.7).
//!
//! A bit for each iteration of the loop nest says that the iteration has come to its `source`. A `sink`
//! waits for the bit of the iteration that it names.
//!
//! The waits end under every schedule. A thread runs its iterations in their order, and they wait for
//! earlier ones alone. So the first iteration that is not complete waits for none, and its thread runs
//! it. It may be another lane of the same warp: GPUs have run those by themselves since sm_70.

use crate::environment::Location;
use crate::place::Place;
use crate::target;
use crate::{debug, device_heap, shared, synchronize};
use core::sync::atomic::{AtomicU32, Ordering};

/// The bounds of one loop of the nest, as clang passes them: it counts iterations from 0, in steps of 1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bounds {
    lower: i64,
    /// How many iterations there are.
    trips: i64,
    stride: i64,
}

/// What a team's loop has in the device's heap. Its loops' trips stand behind it, then the bits.
#[repr(C)]
struct Nest {
    loops: u32,
    /// Threads that have ended the loop.
    ended: AtomicU32,
}

shared! {
    /// The team's loop. There is one at a time: threads meet where it starts.
    static NEST: *mut Nest
}

const BITS: u64 = u32::BITS as u64;

/// How many iterations there are. Loops too large for that have no room in the heap either.
fn iterations(trips: &[i64]) -> u64 {
    trips.iter().fold(1, |product: u64, &trips| product.saturating_mul(trips.max(0).cast_unsigned()))
}

/// The number of an iteration; `None` if the loop has no such one.
#[inline(always)]
fn number(trips: impl Iterator<Item = i64>, iteration: impl Iterator<Item = i64>) -> Option<u64> {
    let mut number = 0;
    for (trips, at) in trips.zip(iteration) {
        if at < 0 || at >= trips {
            return None;
        }
        number = number * trips.cast_unsigned() + at.cast_unsigned();
    }
    Some(number)
}

impl Nest {
    fn trips(this: *mut Self) -> *mut i64 {
        // SAFETY: they stand behind the head, which is as well aligned.
        unsafe { this.add(1).cast() }
    }

    /// The word with the bit of an iteration, and the bit.
    ///
    /// # Safety
    /// The iteration has as many numbers as the nest has loops.
    unsafe fn bit(this: *mut Self, iteration: *const i64) -> Option<(&'static AtomicU32, u32)> {
        // SAFETY: the team's loop goes on, and the caller vouches for the iteration.
        unsafe {
            let loops = (*this).loops as usize;
            let trips = Self::trips(this);
            let number = number(
                (0..loops).map(|at| trips.add(at).read()),
                (0..loops).map(|at| iteration.add(at).read()),
            )?;
            let word = trips.add(loops).cast::<u32>().add((number / BITS) as usize);
            Some((AtomicU32::from_ptr(word), 1 << (number % BITS)))
        }
    }
}

/// The team's loop; `None` where one thread alone runs it, in order.
#[inline(always)]
fn nest(word: i32) -> Option<*mut Nest> {
    // SAFETY: written before a barrier, and not changed until the threads meet again.
    (Place::of(word).size() > 1).then(|| unsafe { NEST.get() })
}

/// The loop starts; all threads of the team call it.
///
/// # Safety
/// There are bounds of so many loops.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_doacross_init(
    _: *const Location,
    word: i32,
    loops: i32,
    bounds: *const Bounds,
) {
    debug::trace(c"__kmpc_doacross_init");
    let place = Place::of(word);
    if place.size() == 1 {
        return;
    }
    // The loop before may still be used.
    synchronize::barrier(place);
    if place.thread() == 0 {
        // SAFETY: as the caller says; the others wait.
        unsafe { NEST.set(make(loops.cast_unsigned(), bounds)) };
    }
    synchronize::barrier(place);
    // SAFETY: written before the barrier.
    unsafe { clear(NEST.get(), place) };
    synchronize::barrier(place);
}

/// # Safety
/// There are bounds of so many loops.
#[inline(never)]
unsafe fn make(loops: u32, bounds: *const Bounds) -> *mut Nest {
    let count = loops as usize;
    // SAFETY: as the caller says, and the memory has room for what is written.
    unsafe {
        let product = (0..count)
            .fold(1, |product: u64, at| product.saturating_mul(iterations(&[(*bounds.add(at)).trips])));
        let head = size_of::<Nest>() as u64 + 8 * u64::from(loops);
        let nest: *mut Nest = device_heap::allocate(head + 4 * product.div_ceil(BITS)).cast();
        nest.write(Nest { loops, ended: AtomicU32::new(0) });
        for at in 0..count {
            Nest::trips(nest).add(at).write((*bounds.add(at)).trips);
        }
        nest
    }
}

/// Each thread clears its part of the bits.
///
/// # Safety
/// The loop is the team's.
#[inline(never)]
unsafe fn clear(nest: *mut Nest, place: Place) {
    // SAFETY: as the caller says; no two threads write the same word.
    unsafe {
        let loops = (*nest).loops as usize;
        let trips = Nest::trips(nest);
        let product = iterations(core::slice::from_raw_parts(trips, loops));
        let bits = trips.add(loops).cast::<u32>();
        let mut word = u64::from(place.thread());
        while word < product.div_ceil(BITS) {
            bits.add(word as usize).write(0);
            word += u64::from(place.size());
        }
    }
}

/// `sink`: waits until an iteration has come to its `source`. There may be none with these numbers, at
/// the edges of the loop.
///
/// # Safety
/// There are as many numbers as the nest has loops.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_doacross_wait(_: *const Location, word: i32, iteration: *const i64) {
    let Some(nest) = nest(word) else { return };
    // SAFETY: as the caller says.
    let Some((word, bit)) = (unsafe { Nest::bit(nest, iteration) }) else { return };
    while word.load(Ordering::Relaxed) & bit == 0 {
        target::sleep(target::TEAM_SLEEP);
    }
    target::fence_block();
}

/// `source`: the iteration has done what later ones wait for.
///
/// # Safety
/// There are as many numbers as the nest has loops.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_doacross_post(_: *const Location, word: i32, iteration: *const i64) {
    let Some(nest) = nest(word) else { return };
    // SAFETY: as the caller says.
    let Some((word, bit)) = (unsafe { Nest::bit(nest, iteration) }) else { return };
    target::fence_block();
    word.fetch_or(bit, Ordering::Relaxed);
}

/// A thread has run its iterations. Nobody waits any more when the last one has.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_doacross_fini(_: *const Location, word: i32) {
    let Some(nest) = nest(word) else { return };
    target::fence_block();
    // SAFETY: the memory is the loop's until the last thread is here.
    let before = unsafe { (*nest).ended.fetch_add(1, Ordering::Relaxed) };
    if before == Place::of(word).size() - 1 {
        // SAFETY: it is of the heap, and this is the last use.
        unsafe { target::release(nest.cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_numbered_in_their_order() {
        let trips = [3, 5, 2];
        let number = |iteration: [i64; 3]| number(trips.into_iter(), iteration.into_iter());
        let mut expected = 0;
        for first in 0..3 {
            for second in 0..5 {
                for third in 0..2 {
                    assert_eq!(number([first, second, third]), Some(expected));
                    expected += 1;
                }
            }
        }
        assert_eq!(iterations(&trips), expected);
        for beyond in [[-1, 0, 0], [3, 0, 0], [1, -1, 0], [1, 5, 0], [1, 0, 2], [i64::MAX, 0, 0]] {
            assert_eq!(number(beyond), None);
        }
    }

    #[test]
    fn no_loop_is_too_large_to_be_told() {
        assert_eq!(iterations(&[i64::MAX, i64::MAX]), u64::MAX);
        assert_eq!(iterations(&[4, -1]), 0);
    }
}
