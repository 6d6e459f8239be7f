//! Internal control variables that a thread has changed.
//!
//! Hardly any kernel changes one. So all of it hangs on a word of global memory that is zero until
//! somebody does: in a program without such a call LLVM sees that nobody writes the word, and
//! everything here is gone.

use crate::shared;
use crate::target::{self, MOST_THREADS};
use core::cell::UnsafeCell;

/// What `omp_set_*` functions set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Controls {
    /// `nthreads-var`; [`Controls::UNSET`] stands for as many as there are.
    pub threads: u16,
    /// `max-active-levels-var`
    pub active_levels: u8,
    /// The kind of `run-sched-var`, as `omp_sched_t`.
    pub schedule: u8,
    /// Its chunk size.
    pub chunk: i32,
}

impl Controls {
    pub const UNSET: u32 = 0;

    /// What a kernel starts with.
    pub const INITIAL: Self = Self { threads: 0, active_levels: 1, schedule: 1, chunk: 0 };

    const fn word(self) -> u64 {
        (self.chunk.cast_unsigned() as u64) << 32
            | (self.schedule as u64) << 24
            | (self.active_levels as u64) << 16
            | self.threads as u64
    }

    const fn of(word: u64) -> Self {
        Self {
            threads: word as u16,
            active_levels: (word >> 16) as u8,
            schedule: (word >> 24) as u8,
            chunk: ((word >> 32) as u32).cast_signed(),
        }
    }
}

shared! {
    /// Each thread's controls.
    static CONTROLS: [u64; MOST_THREADS]
}

struct Flag(UnsafeCell<u32>);

// SAFETY: it only ever changes from 0 to 1, and whoever changes it reads it as 1 from then on.
unsafe impl Sync for Flag {}

/// Whether some thread of some kernel has ever changed a control.
static CHANGED: Flag = Flag(UnsafeCell::new(0));

#[inline(always)]
fn changed() -> bool {
    // SAFETY: a thread that sees 0 has changed nothing itself, nor has the thread that hands it work.
    unsafe { CHANGED.0.get().read() != 0 }
}

/// A thread starts a kernel.
#[inline(always)]
pub fn start() {
    // SAFETY: the entry is the thread's own.
    unsafe { CONTROLS.set_element(target::thread_id(), Controls::INITIAL.word()) };
}

/// A thread ends a kernel.
#[inline(always)]
pub fn end() {}

/// The thread's controls.
#[must_use]
#[inline(always)]
pub fn current() -> Controls {
    if changed() {
        // SAFETY: the entry is the thread's own, and written where the kernel starts.
        Controls::of(unsafe { CONTROLS.element(target::thread_id()) })
    } else {
        Controls::INITIAL
    }
}

/// Changes the thread's controls.
#[inline(always)]
pub fn change(change: impl FnOnce(&mut Controls)) {
    let mut controls = current();
    change(&mut controls);
    // SAFETY: see the flag.
    unsafe { CHANGED.0.get().write(1) };
    // SAFETY: the entry is the thread's own.
    unsafe { CONTROLS.set_element(target::thread_id(), controls.word()) };
}

/// What a region that ends puts back.
#[must_use]
#[inline(always)]
pub fn save() -> Controls {
    current()
}

/// Puts back what was there before a region.
#[inline(always)]
pub fn restore(controls: Controls) {
    if changed() {
        // SAFETY: the entry is the thread's own.
        unsafe { CONTROLS.set_element(target::thread_id(), controls.word()) };
    }
}

/// A worker starts a region with the controls of the thread that came to it.
#[inline(always)]
pub fn inherit(controls: Controls) {
    restore(controls);
}

/// `nthreads-var`
#[must_use]
#[inline(always)]
pub fn threads() -> u32 {
    u32::from(current().threads)
}

/// A control of the device's: all threads of all kernels have the same. LLVM sees that nobody writes it in
/// a program without such a call.
pub struct OfDevice(UnsafeCell<i32>);

// SAFETY: threads that change it at the same time leave one of their values, as a word is written at once.
unsafe impl Sync for OfDevice {}

impl OfDevice {
    #[must_use]
    #[inline(always)]
    pub fn get(&self) -> i32 {
        // SAFETY: the variable lives as long as the program.
        unsafe { self.0.get().read() }
    }

    #[inline(always)]
    pub fn set(&self, value: i32) {
        // SAFETY: as above.
        unsafe { self.0.get().write(value) };
    }
}

/// `nteams-var`
pub static TEAMS: OfDevice = OfDevice(UnsafeCell::new(0));

/// `teams-thread-limit-var`
pub static TEAMS_THREAD_LIMIT: OfDevice = OfDevice(UnsafeCell::new(0));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_fit_in_a_word() {
        let controls = Controls { threads: 1024, active_levels: 255, schedule: 3, chunk: -7 };
        assert_eq!(Controls::of(controls.word()), controls);
        assert_eq!(Controls::of(Controls::INITIAL.word()), Controls::INITIAL);
    }
}
