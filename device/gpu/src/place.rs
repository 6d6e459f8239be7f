//! Where a thread stands among the parallel regions around it, in one word.
//!
//! The word is what compilers know as the global thread number. They get it from
//! `__kmpc_global_thread_num` or as the first argument of an outlined region, and hand it to every
//! other function. So a worksharing loop inside of its region reads nothing from memory: thread
//! number, team size and nesting come along in a register, and fold to constants.
//!
//! Code that is not handed the word (`omp_get_thread_num`, functions that are called from a region)
//! reads the thread's own entry of a table in shared memory. Nobody else touches that entry, so it
//! needs no barrier, and the compiler sees that a load gives what was stored.

use crate::kernel;
use crate::shared;
use crate::target::{self, MOST_THREADS};

/// A thread's place. At most the outermost region has more than one thread; the ones inside of it
/// are serialised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Place(u32);

shared! {
    /// Each thread's place.
    static PLACES: [u32; MOST_THREADS]
}

/// Distinguishes a place from a number that a compiler made up.
const TAG: u32 = 1 << 30;
const THREAD_BITS: u32 = 10;
const SIZE_BITS: u32 = 11;
const SIZE_SHIFT: u32 = THREAD_BITS;
const LEVEL_SHIFT: u32 = THREAD_BITS + SIZE_BITS;
const MOST_LEVELS: u32 = 255;

impl Place {
    /// Outside of all parallel regions.
    pub const OUTSIDE: Self = Self(TAG);

    /// In an outermost region, as one of `size` threads.
    #[must_use]
    #[inline(always)]
    pub const fn in_region(thread: u32, size: u32) -> Self {
        Self(TAG | 1 << LEVEL_SHIFT | size << SIZE_SHIFT | thread)
    }

    /// In a region that this thread alone runs, inside of where it is.
    #[must_use]
    #[inline(always)]
    pub const fn serialised(self) -> Self {
        match self.level() {
            0 => Self::in_region(0, 1),
            // The deepest level that the word can tell; what happens there is the same.
            MOST_LEVELS => self,
            _ => Self(self.0 + (1 << LEVEL_SHIFT)),
        }
    }

    /// How many regions are around the thread.
    #[must_use]
    #[inline(always)]
    pub const fn level(self) -> u32 {
        self.0 >> LEVEL_SHIFT & MOST_LEVELS
    }

    /// How many of them have more than one thread.
    #[must_use]
    #[inline(always)]
    pub const fn active_level(self) -> u32 {
        (self.outermost_size() > 1) as u32
    }

    /// The thread's number in the innermost team.
    #[must_use]
    #[inline(always)]
    pub const fn thread(self) -> u32 {
        if self.level() == 1 { self.outermost_thread() } else { 0 }
    }

    /// How many threads the innermost team has.
    #[must_use]
    #[inline(always)]
    pub const fn size(self) -> u32 {
        if self.level() == 1 { self.outermost_size() } else { 1 }
    }

    /// The thread's number in the team of the outermost region.
    #[must_use]
    #[inline(always)]
    pub const fn outermost_thread(self) -> u32 {
        self.0 & ((1 << THREAD_BITS) - 1)
    }

    /// How many threads the outermost region has; 0 outside of it.
    #[must_use]
    #[inline(always)]
    pub const fn outermost_size(self) -> u32 {
        self.0 >> SIZE_SHIFT & ((1 << SIZE_BITS) - 1)
    }

    /// The word, as the compiler's code passes it on.
    #[must_use]
    #[inline(always)]
    pub const fn word(self) -> i32 {
        self.0.cast_signed()
    }

    /// The place that a caller hands over.
    ///
    /// Workers of the state machine that LLVM makes for a generic kernel hand over a bare number;
    /// in SPMD mode every number comes from here, and the table need not be looked at.
    #[must_use]
    #[inline(always)]
    pub fn of(word: i32) -> Self {
        let word = word.cast_unsigned();
        if word & TAG != 0 || kernel::is_spmd() { Self(word) } else { Self::current() }
    }

    /// The place of this thread, from the table.
    #[must_use]
    #[inline(always)]
    pub fn current() -> Self {
        // SAFETY: the entry is the thread's own, and written where the kernel starts.
        Self(unsafe { PLACES.element(target::thread_id()) })
    }

    /// Makes this the place of the thread.
    #[inline(always)]
    pub fn enter(self) {
        // SAFETY: the entry is the thread's own.
        unsafe { PLACES.set_element(target::thread_id(), self.0) }
    }
}

/// The place, as the number that compilers ask for first in every function of theirs.
///
/// Where only kernels themselves ask, LLVM knows that the level is that of a kernel, and nothing is
/// read.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_global_thread_num(_: *const core::ffi::c_void) -> i32 {
    if is_outside() { Place::OUTSIDE.word() } else { Place::current().word() }
}

/// Asks in the way that LLVM can answer: `__kmpc_parallel_level` is 1 in an SPMD kernel and 0 in
/// others, wherever only the kernel can be the caller.
#[inline(always)]
fn is_outside() -> bool {
    // LLVM's answer is of a smaller type than the function's.
    let level = target::low_byte(__kmpc_parallel_level(core::ptr::null(), 0));
    level == u8::from(kernel::is_spmd())
}

/// How deep the thread is in regions, counted from 1 in SPMD mode, in which LLVM takes the kernel
/// itself as a region.
///
/// It stays a call until LLVM has looked at it, once, before functions are inlined into each other.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_parallel_level(_: *const core::ffi::c_void, _: u32) -> u16 {
    Place::current().level() as u16 + u16::from(kernel::is_spmd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_tells_what_it_was_made_of() {
        for (thread, size) in [(0, 1), (0, 2), (1, 2), (31, 32), (1023, 1024)] {
            let place = Place::in_region(thread, size);
            assert_eq!((place.thread(), place.size(), place.level()), (thread, size, 1));
            assert_eq!(place.active_level(), u32::from(size > 1));
            assert!(place.word() > 0);
        }
    }

    #[test]
    fn outside_there_is_one_thread() {
        let place = Place::OUTSIDE;
        assert_eq!((place.thread(), place.size(), place.level(), place.active_level()), (0, 1, 0, 0));
    }

    #[test]
    fn serialised_regions_remember_the_outermost() {
        let outer = Place::in_region(5, 8);
        let mut place = outer.serialised();
        assert_eq!((place.thread(), place.size(), place.level()), (0, 1, 2));
        for _ in 0..1000 {
            place = place.serialised();
        }
        assert_eq!((place.level(), place.outermost_thread(), place.outermost_size()), (255, 5, 8));
        let alone = Place::OUTSIDE.serialised();
        assert_eq!((alone.thread(), alone.size(), alone.level(), alone.active_level()), (0, 1, 1, 0));
    }
}
