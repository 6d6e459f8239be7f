//! The fuel of a warp, and what it is the measure of.

use std::cell::Cell;

use super::pace::SHORT;

/// Steps back until a warp gives way, where warps are not kept abreast.
pub(crate) const FUEL: i64 = 1024;

/// How long a warp may run. Compiled code counts the fuel itself down.
#[derive(Debug)]
pub(crate) struct Time {
    /// The fuel that the warp goes on with when it is resumed.
    ration: Cell<i64>,
    /// Whether fuel is time, because the warps of the block are kept abreast.
    abreast: Cell<bool>,
    /// Whether the warp has met others since the scheduler last looked.
    met: Cell<bool>,
}

impl Default for Time {
    fn default() -> Self {
        Time { ration: Cell::new(FUEL), abreast: Cell::new(false), met: Cell::new(false) }
    }
}

impl Time {
    /// For a warp of a launch, whose warps are kept abreast or not.
    pub fn assign(&self, abreast: bool) {
        self.ration.set(FUEL);
        self.abreast.set(abreast);
        self.met.set(false);
    }

    /// The warp is about to run with so much fuel.
    pub fn grant(&self, fuel: i64) {
        self.ration.set(fuel);
    }

    /// The fuel that the warp goes on with.
    #[must_use]
    pub fn ration(&self) -> i64 {
        self.ration.get()
    }

    /// What the warp has used when so much is left.
    #[must_use]
    pub fn used(&self, left: i64) -> i64 {
        self.ration.get() - left
    }

    /// The warp does what others may wait for: at a barrier, or with the device's heap. Where warps
    /// are kept abreast, that takes so much `time`, and no long slice goes on behind it.
    pub fn meet(&self, fuel: &mut i64, time: i64) {
        if !self.abreast.get() {
            return;
        }
        self.met.set(true);
        let cut = (*fuel - SHORT).max(0);
        self.ration.set(self.ration.get() - cut);
        *fuel -= cut + time;
    }

    /// Whether the warp has met others since this was last asked.
    #[must_use]
    pub fn take_met(&self) -> bool {
        self.met.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meeting_others_takes_time_only_where_warps_are_kept_abreast() {
        let (time, mut fuel) = (Time::default(), 900);
        time.grant(1000);
        time.meet(&mut fuel, 16);
        assert_eq!((fuel, time.used(fuel), time.take_met()), (900, 100, false));
        time.assign(true);
        time.grant(1000);
        time.meet(&mut fuel, 16);
        // What the long slice had left is not used, and not there any more.
        assert_eq!((fuel, time.used(fuel)), (SHORT - 16, 116));
        assert!(time.take_met() && !time.take_met());
    }
}
