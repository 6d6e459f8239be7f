//! Which addresses an allocation gets.
//!
//! Slots come in some seventy lengths, four to each power of two, and each length has its own
//! extents. So taking and giving back a slot costs the same however many there are. What an
//! allocation does not need of its slot costs addresses and no memory.
//!
//! A slot that is given back goes to the end of its length's queue. It is not taken again before
//! [`QUARANTINE`] others were given back. So a use after free meets an inaccessible page and not
//! the data of another allocation.
//!
//! Linux allows a process some 65,000 mappings, and an allocation between inaccessible pages takes
//! two. When a third of them is in use, small allocations get *dense* slots. Their extents are
//! accessible as a whole, and only [`Space::check`](crate::Space::check) sees what is between the
//! allocations.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::range::range;
use crate::records::{EXTENT, Records, extents};
use crate::reserve::{self, HUGE, PAGE};

/// How many slots, of any length, are given back before one is taken again...
const QUARANTINE: u64 = 256;
/// ...unless they were this long together.
const QUARANTINE_BYTES: u64 = 32 << 30;

/// Addresses for one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The first extent and the number of the slot in it.
    pub place: (usize, u32),
    pub start: u64,
    pub length: u64,
    pub dense: bool,
}

#[derive(Debug)]
pub(crate) struct Classes {
    state: Mutex<State>,
    /// How many allocations may have inaccessible pages around them.
    budget: usize,
}

#[derive(Debug)]
struct State {
    /// One list for guarded slots and one for dense ones, in order of their lengths.
    classes: [Vec<Class>; 2],
    extents: Vec<Extent>,
    /// Where the search for free extents begins.
    next: usize,
    /// Slots given back so far, and their lengths together.
    freed: Stamp,
    guarded: usize,
}

#[derive(Debug)]
struct Class {
    slot: u64,
    /// The extent whose slots have not all been used once, and the next of them.
    fresh: Option<(usize, u32)>,
    freed: VecDeque<((usize, u32), Stamp)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    count: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Free,
    /// Slots in use.
    Slots(u32),
    /// Part of a larger allocation.
    Large,
}

/// The lengths of slots. From 2 MiB on they are multiples of it, so that huge pages fit.
fn lengths() -> Vec<u64> {
    let steps = |power: u32| (4..8u64).map(move |quarter| (quarter << power) * PAGE / 4);
    let fine = (1..=11).flat_map(steps).filter(|length| length.is_multiple_of(PAGE));
    let coarse = (9..=17).flat_map(steps).filter(|length| length.is_multiple_of(HUGE));
    let mut lengths: Vec<u64> = fine.filter(|&length| length < HUGE).chain(coarse).collect();
    lengths.retain(|&length| length > PAGE && length <= EXTENT / 2);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

impl Classes {
    pub(crate) fn new() -> Self {
        let class = |slot| Class { slot, fresh: None, freed: VecDeque::new() };
        let classes = || lengths().into_iter().map(class).collect();
        let state = State {
            classes: [classes(), classes()],
            extents: vec![Extent::Free; extents()],
            next: 0,
            freed: Stamp::default(),
            guarded: 0,
        };
        Self { state: Mutex::new(state), budget: reserve::mappings() / 3 }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot of at least `length` bytes, `None` when no addresses are left. The pages of a
    /// guarded slot are inaccessible.
    pub(crate) fn take(&self, records: &Records, length: u64, dense: bool) -> Option<Slot> {
        let mut state = self.lock();
        let number = state.classes[0].partition_point(|class| class.slot < length);
        if number == state.classes[0].len() {
            return state.take_large(records, length);
        }
        let dense = dense || state.guarded >= self.budget;
        let place = state.take_slot(records, number, dense)?;
        if let Extent::Slots(used) = &mut state.extents[place.0] {
            *used += 1;
        }
        state.guarded += usize::from(!dense);
        let length = state.classes[usize::from(dense)][number].slot;
        let start = range().base + place.0 as u64 * EXTENT + u64::from(place.1) * length;
        Some(Slot { place, start, length, dense })
    }

    /// Takes a slot back, whose pages the caller has closed, or cleared if it is dense.
    pub(crate) fn give(&self, slot: &Slot) {
        let mut state = self.lock();
        state.freed.count += 1;
        state.freed.bytes += slot.length;
        state.guarded -= usize::from(!slot.dense);
        if slot.length >= EXTENT {
            let count = (slot.length / EXTENT) as usize;
            state.extents[slot.place.0..][..count].fill(Extent::Free);
            return;
        }
        if let Extent::Slots(used) = &mut state.extents[slot.place.0] {
            *used -= 1;
        }
        let stamp = state.freed;
        let classes = &mut state.classes[usize::from(slot.dense)];
        let number = classes.partition_point(|class| class.slot < slot.length);
        classes[number].freed.push_back((slot.place, stamp));
    }
}

impl State {
    fn take_slot(&mut self, records: &Records, number: usize, dense: bool) -> Option<(usize, u32)> {
        let now = self.freed;
        let class = &mut self.classes[usize::from(dense)][number];
        if let Some(&(place, then)) = class.freed.front()
            && (now.count - then.count >= QUARANTINE || now.bytes - then.bytes >= QUARANTINE_BYTES)
        {
            class.freed.pop_front();
            return Some(place);
        }
        if let Some((extent, slot)) = class.fresh {
            let more = slot + 1 < (EXTENT / class.slot) as u32;
            class.fresh = more.then_some((extent, slot + 1));
            return Some((extent, slot));
        }
        let length = class.slot;
        if let Some(extent) = self.find_extents(records, 1)
            && (!dense || reserve::open(range().base + extent as u64 * EXTENT, EXTENT, false).is_ok())
        {
            records.divide(extent, length, dense);
            self.extents[extent] = Extent::Slots(0);
            self.next = extent + 1;
            self.classes[usize::from(dense)][number].fresh = Some((extent, 1));
            return Some((extent, 0));
        }
        // Nothing else is left: shorten the quarantine.
        let class = &mut self.classes[usize::from(dense)][number];
        class.freed.pop_front().map(|(place, _)| place)
    }

    fn take_large(&mut self, records: &Records, length: u64) -> Option<Slot> {
        let count = usize::try_from(length.div_ceil(EXTENT)).ok()?;
        let first = self.find_extents(records, count)?;
        records.join(first, count);
        self.extents[first..first + count].fill(Extent::Large);
        self.next = first + count;
        self.guarded += 1;
        let (start, length) = (range().base + first as u64 * EXTENT, count as u64 * EXTENT);
        Some(Slot { place: (first, 0), start, length, dense: false })
    }

    /// Free extents in a row, those that were not used for long first.
    fn find_extents(&mut self, records: &Records, count: usize) -> Option<usize> {
        let search =
            |extents: &[Extent], next: usize| row(extents, next, count).or_else(|| row(extents, 0, count));
        search(&self.extents, self.next).or_else(|| {
            self.reclaim(records);
            search(&self.extents, self.next)
        })
    }

    /// Makes extents free whose slots are all unused: addresses are running out.
    fn reclaim(&mut self, records: &Records) {
        let mut unused = vec![false; extents()];
        for (number, extent) in self.extents.iter_mut().enumerate() {
            if *extent != Extent::Slots(0) {
                continue;
            }
            let closed = !records.is_dense(number)
                || reserve::close(range().base + number as u64 * EXTENT, EXTENT).is_ok();
            if closed {
                *extent = Extent::Free;
                unused[number] = true;
            }
        }
        for class in self.classes.iter_mut().flatten() {
            class.freed.retain(|&((extent, _), _)| !unused[extent]);
            class.fresh = class.fresh.filter(|&(extent, _)| !unused[extent]);
        }
    }
}

/// The first of `count` free extents in a row at or after `from`.
fn row(extents: &[Extent], from: usize, count: usize) -> Option<usize> {
    let mut found = 0;
    for (number, extent) in extents.iter().enumerate().skip(from) {
        found = if *extent == Extent::Free { found + 1 } else { 0 };
        if found == count {
            return Some(number + 1 - count);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_grow_by_a_quarter_or_so() {
        let lengths = lengths();
        assert_eq!(lengths[..6], [2, 3, 4, 5, 6, 7].map(|pages| pages * PAGE));
        assert_eq!(lengths.last(), Some(&(EXTENT / 2)));
        for pair in lengths.windows(2) {
            assert!(pair[0] < pair[1] && pair[1] <= pair[0] * 2, "{pair:?}");
            assert!(pair[1].is_multiple_of(PAGE) && (pair[1] < HUGE || pair[1].is_multiple_of(HUGE)));
        }
    }

    #[test]
    fn rows_of_extents_are_found() {
        use Extent::{Free, Large};
        let extents = [Free, Large, Free, Free, Large, Free, Free, Free];
        assert_eq!(row(&extents, 0, 1), Some(0));
        assert_eq!(row(&extents, 1, 2), Some(2));
        assert_eq!(row(&extents, 3, 2), Some(5));
        assert_eq!(row(&extents, 0, 4), None);
    }
}
