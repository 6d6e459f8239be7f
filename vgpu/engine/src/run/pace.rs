//! How far the warps of a block may be ahead of each other, where they are kept abreast
//! (`load::abreast`).
//!
//! A warp's time is the fuel that it has used (`compile::fuel`). The warp with the least time goes
//! first, until it is a slice ahead of the next. Slices are short where warps meet each
//! other, and become longer while all of them only compute.

/// The slice behind a barrier, in units of time: about as many instructions.
pub(crate) const SHORT: i64 = 256;
/// The longest one: to change warps then costs nothing in comparison, though the next one finds nothing of its own in
/// the first cache, nor predicted. That is some ten microseconds.
const LONG: i64 = 256 * SHORT;

#[derive(Debug, Default)]
pub(crate) struct Pace {
    times: Vec<i64>,
    /// The time of the warp that ran last, when it began.
    now: i64,
    slice: i64,
    /// Turns since the slice has last been changed, in which no warp met another one.
    calm: usize,
}

impl Pace {
    /// For a block that starts.
    pub fn start(&mut self, warps: usize) {
        self.times.clear();
        self.times.resize(warps, 0);
        (self.now, self.slice, self.calm) = (0, SHORT, 0);
    }

    /// Who of the warps that are `ready` goes next, and how much fuel it gets. Of several at the
    /// same time the first warp comes last: it prepares what others read.
    pub fn next(&mut self, ready: impl Fn(usize) -> bool) -> Option<(usize, i64)> {
        let mut first: Option<(usize, i64)> = None;
        let mut second = None;
        let order = (1..self.times.len()).chain(0..self.times.len().min(1));
        for number in order.filter(|&number| ready(number)) {
            // A warp that has waited for something outside of the block is not owed that time.
            let time = self.times[number].max(self.now);
            self.times[number] = time;
            let ahead = first.is_none_or(|(_, least)| time < least);
            let other =
                if ahead { first.replace((number, time)).map(|(_, least)| least) } else { Some(time) };
            second = second.into_iter().chain(other).min();
        }
        let (number, time) = first?;
        self.now = time;
        let lead = second.map_or(LONG, |second| second - time).min(LONG);
        Some((number, lead + self.slice))
    }

    /// A warp has used so much fuel; `met` when it has met others, or may have.
    pub fn ran(&mut self, number: usize, used: i64, met: bool) {
        // No warp stands still: the others have their turn.
        self.times[number] += used.max(1);
        if met {
            (self.slice, self.calm) = (SHORT, 0);
            return;
        }
        self.calm += 1;
        if self.calm >= 2 * self.times.len() {
            self.slice = (2 * self.slice).min(LONG);
            self.calm = 0;
        }
    }

    /// A warp has completed a barrier that others waited at. The first warp starts a slice later:
    /// it may write again what the others have still to read, which on hardware they do meanwhile.
    pub fn release(&mut self, by: usize, waited: impl Fn(usize) -> bool) {
        let time = self.times[by];
        for number in (0..self.times.len()).filter(|&number| waited(number)) {
            self.times[number] = self.times[number].max(time);
        }
        if by == 0 || waited(0) {
            self.times[0] += SHORT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_behind_goes_first() {
        let mut pace = Pace::default();
        pace.start(3);
        assert_eq!(pace.next(|_| true), Some((1, SHORT)));
        pace.ran(1, 100, true);
        assert_eq!(pace.next(|_| true), Some((2, SHORT)));
        pace.ran(2, 300, true);
        assert_eq!(pace.next(|_| true), Some((0, 100 + SHORT)));
        pace.ran(0, 356, true);
        assert_eq!(pace.next(|_| true), Some((1, 200 + SHORT)));
    }

    #[test]
    fn nobody_is_owed_the_time_that_it_waited() {
        let mut pace = Pace::default();
        pace.start(2);
        for _ in 0..100 {
            assert_eq!(pace.next(|number| number == 0).map(|(number, _)| number), Some(0));
            pace.ran(0, 1000, true);
        }
        let (number, fuel) = pace.next(|_| true).expect("both are ready");
        assert!(number == 1 && fuel <= LONG + SHORT, "{number} {fuel}");
        // Warps that waited at a barrier start with the one that came last, the first warp after
        // them.
        pace.release(1, |number| number == 0);
        assert_eq!(pace.next(|_| true).map(|(number, _)| number), Some(1));
    }

    #[test]
    fn slices_grow_while_nobody_meets() {
        let mut pace = Pace::default();
        pace.start(4);
        let mut steps = 0;
        while steps < 1000 {
            let (number, fuel) = pace.next(|_| true).expect("all are ready");
            assert!(fuel <= 2 * LONG);
            pace.ran(number, fuel, false);
            steps += 1;
        }
        assert_eq!(pace.slice, LONG);
        pace.ran(2, 1, true);
        assert_eq!(pace.slice, SHORT);
    }

    #[test]
    fn warps_that_only_compute_take_few_turns() {
        let mut pace = Pace::default();
        pace.start(8);
        let (mut left, mut turns) = ([1 << 20; 8], 0);
        while let Some((number, fuel)) = pace.next(|number| left[number] > 0) {
            let used = fuel.min(left[number]);
            left[number] -= used;
            pace.ran(number, used, false);
            turns += 1;
        }
        assert!(turns < 300, "{turns}");
    }
}
