//! Which explicit task a thread is in: `omp_in_explicit_task` (OpenMP 5.2, 18.5.3), and how deep.
//!
//! It hangs on a word of global memory that is zero until a thread runs a task. In programs without tasks
//! LLVM sees that nobody writes the word, and all of this is gone.

use crate::shared;
use crate::target::{self, MOST_THREADS};
use core::cell::UnsafeCell;

/// A thread's tasks: how many are around it, and whether the innermost one is explicit. The implicit
/// task of a region is not, whatever the region is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tasks(u8);

/// The deepest level that the byte can tell.
const MOST: u8 = 127;

impl Tasks {
    const NONE: Self = Self(0);

    /// How many explicit tasks are around the thread, in all regions.
    #[must_use]
    pub const fn depth(self) -> u8 {
        self.0 >> 1
    }

    /// For [`of`](Self::of).
    #[must_use]
    pub const fn word(self) -> u64 {
        self.0 as u64
    }

    #[must_use]
    pub const fn of(word: u64) -> Self {
        Self(word as u8)
    }

    const fn is_explicit(self) -> bool {
        self.0 & 1 != 0
    }

    const fn in_task(self) -> Self {
        let depth = if self.depth() == MOST { MOST } else { self.depth() + 1 };
        Self(depth << 1 | 1)
    }

    const fn in_region(self) -> Self {
        Self(self.0 & !1)
    }
}

shared! {
    static TASKS: [u8; MOST_THREADS]
}

/// A word that is 1 from the first time on that some thread does something.
pub struct Happened(UnsafeCell<u32>);

// SAFETY: it only ever changes from 0 to 1, and whoever changes it reads it as 1 from then on.
unsafe impl Sync for Happened {}

impl Happened {
    #[must_use]
    pub const fn not_yet() -> Self {
        Self(UnsafeCell::new(0))
    }

    #[must_use]
    #[inline(always)]
    pub fn get(&self) -> bool {
        // SAFETY: the variable lives as long as the program; a thread that reads 0 has not set it.
        unsafe { self.0.get().read() != 0 }
    }

    #[inline(always)]
    pub fn set(&self) {
        // SAFETY: as above.
        unsafe { self.0.get().write(1) };
    }
}

/// Whether a thread has ever run a task.
static RUN: Happened = Happened::not_yet();

/// A thread starts a kernel.
#[inline(always)]
pub fn start() {
    set(Tasks::NONE);
}

/// The tasks of the thread.
#[must_use]
#[inline(always)]
pub fn current() -> Tasks {
    if RUN.get() {
        // SAFETY: the entry is the thread's own, and written where the kernel starts.
        Tasks(unsafe { TASKS.element(target::thread_id()) })
    } else {
        Tasks::NONE
    }
}

#[inline(always)]
fn set(tasks: Tasks) {
    // SAFETY: the entry is the thread's own.
    unsafe { TASKS.set_element(target::thread_id(), tasks.0) };
}

/// The thread enters an explicit task. The answer is for [`leave`].
#[must_use]
#[inline(always)]
pub fn enter() -> Tasks {
    RUN.set();
    let outer = current();
    set(outer.in_task());
    outer
}

/// The thread enters a region's implicit task. The answer is for [`leave`].
#[must_use]
#[inline(always)]
pub fn enter_region() -> Tasks {
    let outer = current();
    leave(outer.in_region());
    outer
}

/// The thread is in the task again that it was in.
#[inline(always)]
pub fn leave(outer: Tasks) {
    if RUN.get() {
        set(outer);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_in_explicit_task() -> i32 {
    i32::from(current().is_explicit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_in_a_task_is_implicit_again() {
        let task = Tasks::NONE.in_task();
        assert_eq!((task.depth(), task.is_explicit()), (1, true));
        let region = task.in_region();
        assert_eq!((region.depth(), region.is_explicit()), (1, false));
        let inner = region.in_task();
        assert_eq!((inner.depth(), inner.is_explicit()), (2, true));
    }
}
