//! What a warp waits for that is suspended.

use std::cell::Cell;

/// The barriers that a warp waits for.
#[derive(Debug, Default)]
pub(crate) struct Wait {
    /// Whether it waits for one of the block to be completed, whichever it is: what its lanes wait
    /// for, compiled code knows.
    block: Cell<bool>,
    /// The generation of the grid's barrier that it waits in.
    grid: Cell<Option<u64>>,
}

impl Wait {
    /// For a warp of another launch.
    pub fn clear(&self) {
        self.block.set(false);
        self.grid.set(None);
    }

    pub fn begin_for_block(&self) {
        self.block.set(true);
    }

    /// A barrier of the block has been completed.
    pub fn end_for_block(&self) {
        self.block.set(false);
    }

    #[must_use]
    pub fn is_for_block(&self) -> bool {
        self.block.get()
    }

    pub fn begin_for_grid(&self, generation: u64) {
        self.grid.set(Some(generation));
    }

    /// The generation of the grid's barrier that it waits in.
    #[must_use]
    pub fn for_grid(&self) -> Option<u64> {
        self.grid.get()
    }

    /// Whether the warp can go on; `passed` says whether a generation of the grid's barrier has.
    #[must_use]
    pub fn is_over(&self, passed: impl Fn(u64) -> bool) -> bool {
        if self.block.get() {
            return false;
        }
        match self.grid.get() {
            Some(generation) if !passed(generation) => false,
            Some(_) => {
                self.grid.set(None);
                true
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_goes_on_when_its_generation_has_passed() {
        let wait = Wait::default();
        assert!(wait.is_over(|_| false));
        wait.begin_for_grid(3);
        assert!(!wait.is_over(|generation| generation < 3));
        wait.begin_for_block();
        assert!(!wait.is_over(|_| true) && wait.for_grid() == Some(3));
        wait.end_for_block();
        assert!(wait.is_over(|generation| generation == 3) && wait.for_grid().is_none());
    }
}
