//! The entries that a construct has counted, for items that count once between them.

use gangway_present::EntryRef;

/// A set of entries. Emptying it takes no time, and its memory stays.
#[derive(Default)]
pub(super) struct Once {
    /// A power of two of them, probed linearly; half of them at most are used.
    slots: Vec<Slot>,
    used: usize,
    epoch: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: (usize, u32),
    /// In use if it is the set's.
    epoch: u32,
}

/// Slots at first.
const FIRST: usize = 64;

impl Once {
    /// Forgets all entries.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.used != 0 {
            self.start();
        }
    }

    fn start(&mut self) {
        self.used = 0;
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.slots.fill(Slot::default());
            self.epoch = 1;
        }
    }

    /// Adds an entry; false if it was there before.
    pub(super) fn insert(&mut self, entry: EntryRef<'_>) -> bool {
        self.insert_key(entry.key())
    }

    fn insert_key(&mut self, key: (usize, u32)) -> bool {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = self.find(key);
        let new = self.slots[slot].epoch != self.epoch;
        self.slots[slot] = Slot { key, epoch: self.epoch };
        self.used += usize::from(new);
        new
    }

    /// Where a key is, or belongs.
    fn find(&self, key: (usize, u32)) -> usize {
        let mask = self.slots.len() - 1;
        // Entries are aligned to 128 bytes.
        let mut slot = (key.0 >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & mask;
        while self.slots[slot].epoch == self.epoch && self.slots[slot].key != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(FIRST);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        let before = self.epoch;
        self.start();
        for slot in old.into_iter().filter(|slot| slot.epoch == before && before != 0) {
            self.insert_key(slot.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn a_set_that_is_emptied(rounds in prop::collection::vec(prop::collection::vec((0..300usize, 0..2u32), 0..400), 1..8)) {
            let mut once = Once::default();
            for keys in rounds {
                let mut model = HashSet::new();
                once.clear();
                for (entry, generation) in keys {
                    let key = (entry << 7, generation);
                    prop_assert_eq!(once.insert_key(key), model.insert(key));
                }
            }
        }
    }

    #[test]
    fn epochs_come_round() {
        let mut once = Once { epoch: u32::MAX - 1, ..Once::default() };
        for _ in 0..4 {
            assert!(once.insert_key((128, 1)) && !once.insert_key((128, 1)));
            once.clear();
        }
    }
}
