//! What is handed on with a word: what those who wrote it had published, for those who read it.
//!
//! Who goes by whom is a question of scopes (PTX ISA 9.0 section 8.8.1 "morally strong"): of the two accesses of
//! the word, of each atomic operation between them, and of the fences before and behind. Within a block all of them reach.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::known::Known;

/// What is known or published for a block's own threads, and what is for all.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// By operations of the same block, whatever their scopes are.
    pub near: Arc<Known>,
    /// By operations whose scope is wider, and those of the same block.
    pub far: Arc<Known>,
}

/// Who accesses a word.
#[derive(Clone, Copy, Debug, Default)]
pub struct By {
    pub block: u32,
    /// The scope of the access is the block.
    pub narrow: bool,
    /// Whether scopes are told apart.
    pub scopes: bool,
}

/// A word, if something is handed on with it.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// Who wrote it last.
    by: By,
    /// What was published for all.
    far: Arc<Known>,
    /// By block, what its threads have published.
    near: FxHashMap<u32, Arc<Known>>,
    /// Some have published something for their block alone.
    has_narrow: bool,
}

impl Reached {
    /// Takes in what has been read.
    pub fn join(&mut self, other: &Self) {
        self.near = Known::joined(&self.near, &other.near);
        self.far = Known::joined(&self.far, &other.far);
    }
}

impl Word {
    fn reaches(&self, by: By) -> bool {
        self.by.block == by.block || !self.by.narrow && !by.narrow
    }

    /// What who reads it may go by.
    #[must_use]
    pub fn read(&self, by: By) -> Option<Reached> {
        self.reaches(by).then(|| {
            let near = self.near.get(&by.block).cloned().unwrap_or_default();
            let far = if self.has_narrow { Known::joined(&self.far, &near) } else { self.far.clone() };
            Reached { near, far }
        })
    }

    /// What it is once it has been written by who has published something. `before`: what it was, if an atomic
    /// operation goes on with that.
    #[must_use]
    pub fn written(before: Option<Self>, by: By, published: &Reached) -> Option<Self> {
        let before = before.filter(|before| before.reaches(by));
        if before.is_none() && published.near.is_empty() {
            return None;
        }
        let mut word = before.unwrap_or_default();
        word.by = by;
        word.far = Known::joined(&word.far, &published.far);
        if by.scopes && !published.near.is_empty() {
            word.has_narrow |= !Arc::ptr_eq(&published.near, &published.far);
            let near = word.near.entry(by.block).or_default();
            *near = Known::joined(near, &published.near);
        }
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: By = By { block: 0, narrow: true, scopes: true };
    const DEVICE: By = By { block: 0, narrow: false, scopes: true };

    fn of(by: By, block: u32) -> By {
        By { block, ..by }
    }

    /// What a block publishes: for all, or for itself.
    fn published(block: u32, all: bool) -> Reached {
        let mut known = Known::default();
        known.add(block, &[1].into());
        let near = Arc::new(known);
        Reached { far: if all { near.clone() } else { Arc::default() }, near }
    }

    /// Of which blocks something is known to a block, by a narrow fence and by a wide one.
    fn known(word: Option<&Word>, by: By) -> [Vec<u32>; 2] {
        let read = word.and_then(|word| word.read(by)).unwrap_or_default();
        let of = |known: &Known| (0..4).filter(|&block| known.of(block).is_some()).collect();
        [of(&read.near), of(&read.far)]
    }

    #[test]
    fn both_scopes_have_to_reach() {
        let word = Word::written(None, DEVICE, &published(0, true));
        assert_eq!(known(word.as_ref(), of(DEVICE, 1)), [vec![], vec![0]]);
        assert_eq!(known(word.as_ref(), of(BLOCK, 1)), [vec![], vec![]]);
        assert_eq!(known(word.as_ref(), BLOCK), [[0], [0]]);
        let word = Word::written(None, BLOCK, &published(0, true));
        assert_eq!(known(word.as_ref(), of(DEVICE, 1)), [vec![], vec![]]);
        let word = Word::written(None, DEVICE, &published(0, false));
        assert_eq!(known(word.as_ref(), of(DEVICE, 1)), [vec![], vec![]]);
        assert_eq!(known(word.as_ref(), DEVICE), [[0], [0]]);
    }

    #[test]
    fn atomic_operations_hand_on_as_far_as_they_reach() {
        let first = Word::written(None, DEVICE, &published(0, false));
        // Another block's operation between the two of one block.
        let next = Word::written(first.clone(), of(DEVICE, 1), &published(1, true));
        assert_eq!(known(next.as_ref(), DEVICE), [vec![0], vec![0, 1]]);
        assert_eq!(known(next.as_ref(), of(DEVICE, 2)), [vec![], vec![1]]);
        let next = Word::written(first, of(BLOCK, 1), &published(1, true));
        assert_eq!(known(next.as_ref(), DEVICE), [vec![], vec![]]);
        assert_eq!(known(next.as_ref(), of(BLOCK, 1)), [[1], [1]]);
    }

    #[test]
    fn nothing_is_handed_on_where_nothing_was_published() {
        assert!(Word::written(None, DEVICE, &Reached::default()).is_none());
        let word = Word::written(None, DEVICE, &published(0, true));
        assert!(Word::written(word, DEVICE, &Reached::default()).is_some());
    }
}
