//! For how long at least one thing was under way, however many were at once.
//!
//! Sums over spans count the time twice in which two kernels overlap. This is their union: exact,
//! however long the program runs, without a list of intervals and without a lock. The classes
//! nest, so that their differences are the time of copies without a kernel, and so on.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Kind;

/// Nanoseconds of a unit of the stored time: 48 bits of it are 52 days.
const UNIT: u64 = 16;
const TIME_BITS: u32 = 48;
const TIME: u64 = (1 << TIME_BITS) - 1;
const ONE: u64 = 1 << TIME_BITS;

/// Kernels; kernels and copies; these and what prepares them.
static CLASSES: [Busy; 3] = [const { Busy::new() }; 3];

/// How much of the run something was under way. Nanoseconds; no time is in two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyTimes {
    /// At least one kernel ran.
    pub kernels: u64,
    /// A copy was under way, and no kernel.
    pub transfers: u64,
    /// Only something else was: allocation, images, compilation.
    pub operations: u64,
}

/// How many are under way, and since when there is one.
struct Busy {
    /// The count in the upper 16 bits; below it the time at which the first one began.
    state: AtomicU64,
    /// Units of the intervals that are over.
    total: AtomicU64,
}

impl Busy {
    const fn new() -> Self {
        Busy { state: AtomicU64::new(0), total: AtomicU64::new(0) }
    }

    fn enter(&self, now: u64) {
        let begin = (now / UNIT) & TIME;
        let _ = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
            if state < ONE { Some(ONE | begin) } else { state.checked_add(ONE) }
        });
    }

    /// Does nothing if none is under way: what began before a fork is not this process's.
    fn leave(&self, now: u64) {
        let left = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
            let rest = state.checked_sub(ONE)?;
            Some(if rest < ONE { 0 } else { rest })
        });
        if let Ok(before) = left
            && before >> TIME_BITS == 1
        {
            self.total.fetch_add((now / UNIT).saturating_sub(before & TIME), Ordering::Relaxed);
        }
    }

    /// Nanoseconds of all intervals; one that is not over ends now.
    fn time(&self, now: u64) -> u64 {
        let state = self.state.load(Ordering::Relaxed);
        let open = if state < ONE { 0 } else { (now / UNIT).saturating_sub(state & TIME) };
        (self.total.load(Ordering::Relaxed) + open) * UNIT
    }

    fn forget(&self) {
        self.state.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }
}

/// The classes that a kind is in. Calls, data regions and host calls are the host's time.
fn classes(kind: Kind) -> &'static [Busy] {
    match kind {
        Kind::Kernel => &CLASSES,
        Kind::ToDevice | Kind::FromDevice | Kind::DeviceToDevice => &CLASSES[1..],
        Kind::Allocate | Kind::Free | Kind::LoadImage | Kind::Compile => &CLASSES[2..],
        Kind::DataBegin | Kind::DataEnd | Kind::Update | Kind::HostCall | Kind::Call | Kind::OnHost => &[],
    }
}

pub fn enter(kind: Kind, now: u64) {
    classes(kind).iter().for_each(|class| class.enter(now));
}

pub fn leave(kind: Kind, now: u64) {
    classes(kind).iter().for_each(|class| class.leave(now));
}

/// Begins anew.
pub fn forget() {
    CLASSES.iter().for_each(Busy::forget);
}

/// The times so far, none longer than the run.
pub fn times(now: u64, elapsed: u64) -> BusyTimes {
    let [kernels, transfers, all] = [0, 1, 2].map(|class: usize| CLASSES[class].time(now).min(elapsed));
    BusyTimes {
        kernels,
        transfers: transfers.saturating_sub(kernels),
        operations: all.saturating_sub(transfers.max(kernels)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once() {
        let busy = Busy::new();
        busy.enter(1_600);
        busy.enter(3_200);
        busy.leave(4_800);
        assert_eq!(busy.time(4_800), 3_200, "one is under way still");
        busy.leave(6_400);
        assert_eq!(busy.time(100_000), 4_800);
        busy.enter(8_000);
        busy.leave(9_600);
        assert_eq!(busy.time(100_000), 6_400);
        // Nothing is under way.
        busy.leave(20_000);
        assert_eq!(busy.time(100_000), 6_400);
    }

    #[test]
    fn threads_that_overlap_all_the_time_are_busy_once() {
        let busy = Busy::new();
        busy.enter(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|at| (busy.enter(at * 16), busy.leave(at * 16 + 16)).1));
            }
        });
        busy.leave(160_000);
        assert_eq!(busy.time(0), 160_000);
    }
}
