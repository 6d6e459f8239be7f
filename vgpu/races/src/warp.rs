//! The clock of a warp, and what its lanes know of each other.

use crate::LANES;

/// What lanes know of each other, if not all the same: of the second one up to which clock.
type Pairs = [[u32; LANES]; LANES];

#[derive(Debug)]
pub struct Warp {
    /// Of what it does now; what it has done before has lower ones.
    clock: u32,
    /// Something has been done at this clock.
    used: bool,
    /// Every lane knows what the others have done up to this clock.
    synchronized: u32,
    /// Where some know more of some.
    pairs: Option<Box<Pairs>>,
}

impl Warp {
    #[must_use]
    pub fn new() -> Self {
        Warp { clock: 1, used: false, synchronized: 0, pairs: None }
    }

    /// The clock of what is done now.
    #[must_use]
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// Something is done.
    pub fn act(&mut self) {
        self.used = true;
    }

    /// The clock up to which all that has been done so far reaches. What comes is later.
    pub fn tick(&mut self) -> u32 {
        if self.used {
            self.used = false;
            self.clock += 1;
        }
        self.clock - 1
    }

    /// Whether what a lane has done at a clock comes before what another one does now.
    #[must_use]
    pub fn knows(&self, lane: usize, other: usize, clock: u32) -> bool {
        lane == other
            || self.all_know(clock)
            || self.pairs.as_ref().is_some_and(|pairs| clock <= pairs[lane][other])
    }

    /// Whether what any lane has done at a clock comes before what all do now.
    #[must_use]
    pub fn all_know(&self, clock: u32) -> bool {
        clock <= self.synchronized
    }

    /// What the warp has done up to a clock is known to it: a lane has published it, and another one has read that.
    pub fn learn(&mut self, clock: u32) {
        self.synchronized = self.synchronized.max(clock);
    }

    /// Lanes wait for each other, of those of `alive`.
    pub fn synchronize(&mut self, lanes: u32, alive: u32) {
        let done = self.tick();
        if alive & !lanes == 0 {
            (self.synchronized, self.pairs) = (done, None);
            return;
        }
        let pairs = self.pairs.get_or_insert_with(|| Box::new([[0; LANES]; LANES]));
        let inside = |lane: usize| lanes >> lane & 1 != 0;
        let mut all = [0; LANES];
        for lane in (0..LANES).filter(|&lane| inside(lane)) {
            all.iter_mut().zip(pairs[lane]).for_each(|(all, known)| *all = known.max(*all));
        }
        (0..LANES).filter(|&lane| inside(lane)).for_each(|lane| all[lane] = done);
        (0..LANES).filter(|&lane| inside(lane)).for_each(|lane| pairs[lane] = all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_know_what_they_have_waited_for() {
        let mut warp = Warp::new();
        warp.act();
        let first = warp.clock();
        assert!(warp.knows(3, 3, first) && !warp.knows(3, 4, first));
        warp.synchronize(0b0001_1000, u32::MAX);
        assert!(warp.knows(3, 4, first) && warp.knows(4, 3, first) && !warp.knows(3, 5, first));
        warp.act();
        let second = warp.clock();
        assert!(second > first && !warp.knows(3, 4, second));
        // What lane 3 has been told goes on from lane 4.
        warp.synchronize(0b0011_0000, u32::MAX);
        assert!(warp.knows(5, 3, first) && warp.knows(5, 4, second) && !warp.knows(5, 3, second));
        warp.synchronize(u32::MAX, u32::MAX);
        assert!(warp.knows(0, 31, second) && !warp.knows(0, 31, warp.clock()));
    }

    #[test]
    fn who_has_exited_is_not_waited_for() {
        let mut warp = Warp::new();
        warp.act();
        warp.synchronize(0xffff, 0xffff);
        assert!(warp.knows(0, 15, 1) && warp.pairs.is_none());
    }

    #[test]
    fn nothing_done_takes_no_time() {
        let mut warp = Warp::new();
        for _ in 0..10 {
            warp.tick();
        }
        assert_eq!(warp.clock(), 1);
    }
}
