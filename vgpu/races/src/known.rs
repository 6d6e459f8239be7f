//! What is known of other blocks: for each of its warps, the clock up to which all it has done comes before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// For each warp of a block the clock up to which its accesses are known.
pub type Clocks = Arc<[u32]>;

/// What is known of blocks, by their number. Never changed once others have it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    blocks: FxHashMap<u32, Clocks>,
}

impl Known {
    /// Whether an access of a warp is known.
    #[must_use]
    pub fn has(&self, block: u32, warp: usize, clock: u32) -> bool {
        self.blocks.get(&block).is_some_and(|clocks| clocks.get(warp).is_some_and(|&known| clock <= known))
    }

    /// Whether nothing is known of any block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    #[must_use]
    pub fn of(&self, block: u32) -> Option<&Clocks> {
        self.blocks.get(&block)
    }

    /// Adds what is known of a block.
    pub fn add(&mut self, block: u32, clocks: &Clocks) {
        match self.blocks.get_mut(&block) {
            Some(known) if Arc::ptr_eq(known, clocks) => {}
            Some(known) => {
                if known.iter().zip(clocks.iter()).any(|(known, new)| new > known) {
                    *known = known.iter().zip(clocks.iter()).map(|(known, new)| *known.max(new)).collect();
                }
            }
            None => {
                self.blocks.insert(block, clocks.clone());
            }
        }
    }

    /// Both.
    #[must_use]
    pub fn joined(one: &Arc<Self>, other: &Arc<Self>) -> Arc<Self> {
        if Arc::ptr_eq(one, other) || other.blocks.is_empty() {
            return one.clone();
        }
        if one.blocks.is_empty() {
            return other.clone();
        }
        let mut both = Self::clone(one);
        for (&block, clocks) in &other.blocks {
            both.add(block, clocks);
        }
        Arc::new(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_know_what_either_knew() {
        let known = |list: &[(u32, &[u32])]| {
            let mut known = Known::default();
            list.iter().for_each(|&(block, clocks)| known.add(block, &clocks.into()));
            Arc::new(known)
        };
        let both = Known::joined(&known(&[(1, &[3, 1]), (2, &[7])]), &known(&[(1, &[2, 5]), (4, &[1])]));
        let has = |block, warp, clock| both.has(block, warp, clock);
        assert!(has(1, 0, 3) && !has(1, 0, 4) && has(1, 1, 5) && !has(1, 1, 6));
        assert!(has(2, 0, 7) && has(4, 0, 1) && !has(3, 0, 0) && !has(4, 1, 0));
    }
}
