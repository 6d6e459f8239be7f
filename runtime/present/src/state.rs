//! The state word of a present-table entry.
//!
//! ```text
//!  63       48 47 46 45      36 35        24  23  22         0
//! | generation|phase| unmapping |    hold    |owes|  dynamic   |
//! ```
//!
//! Everything that decides whether an entry may be used, must be copied back or
//! can be removed is in this one word, so every decision is one compare-and-swap
//! and no two threads can decide differently. The functions here are pure; the
//! atomics are in [`entry`](super::entry).

/// Largest dynamic count; an entry that has it is never unmapped by counting
/// (declare-target globals, `omp_target_associate_ptr`).
pub const INFINITE: u32 = (1 << 23) - 1;
const HOLD_MAX: u32 = (1 << 12) - 1;
const UNMAPPING_MAX: u32 = (1 << 10) - 1;

const OWING_SHIFT: u32 = 23;
const HOLD_SHIFT: u32 = 24;
const UNMAPPING_SHIFT: u32 = 36;
const PHASE_SHIFT: u32 = 46;
const GENERATION_SHIFT: u32 = 48;
const GENERATION_MASK: u32 = (1 << 16) - 1;

/// Where an entry is in its life.
// Word-sized, like `Counter`: byte-sized fields would leave holes in the structs
// the launch path passes around, and copying those stalls on store forwarding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// Not in use.
    Free = 0,
    /// In the table; its device memory is being allocated.
    Allocating = 1,
    /// Its device address is known; the construct that created it has not yet
    /// issued all its copies.
    Filling = 2,
    /// Contents valid (or their copies recorded as an event).
    Live = 3,
}

/// Which of the two reference counts a map operation works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Counter {
    /// OpenMP's, and OpenACC's for unstructured data.
    Dynamic,
    /// `ompx_hold` and OpenACC's structured data regions.
    Hold,
}

/// What giving up a reference led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Others still use the entry.
    Shared,
    /// Others have references, but the caller's device operations use the entry
    /// too: it calls `finish_unmapping` when they are done.
    InUse,
    /// Nothing was given up: too many constructs in flight use the entry. The
    /// caller waits for its own device operations and tries again without them.
    Crowded,
    /// This was the last reference: the caller copies back and then calls
    /// `finish_unmapping`.
    Last,
}

/// What the end of a construct's use led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Others use the entry, or references came back.
    Left,
    /// It was the last use, and goes on: the caller copies back what is to be, and then calls again.
    Owing,
    /// It was the last use, and the entry is now the caller's to remove.
    Ended,
}

/// A decoded state word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// Counts the reuses of the entry.
    pub generation: u32,
    /// Phase.
    pub phase: Phase,
    /// Constructs between a release and the end of what they do with the entry:
    /// those that unmap it, and on asynchronous devices all that use it.
    pub unmapping: u32,
    /// Hold count.
    pub hold: u32,
    /// Dynamic count; [`Snapshot::is_infinite`] for entries never unmapped.
    pub dynamic: u32,
    /// Parts of it are to be copied back by the last construct that uses it.
    pub owing: bool,
}

impl Snapshot {
    /// Decodes a word.
    #[inline]
    pub const fn decode(word: u64) -> Self {
        let phase = match (word >> PHASE_SHIFT) & 3 {
            0 => Phase::Free,
            1 => Phase::Allocating,
            2 => Phase::Filling,
            _ => Phase::Live,
        };
        Self {
            generation: ((word >> GENERATION_SHIFT) as u32) & GENERATION_MASK,
            phase,
            unmapping: ((word >> UNMAPPING_SHIFT) as u32) & UNMAPPING_MAX,
            hold: ((word >> HOLD_SHIFT) as u32) & HOLD_MAX,
            dynamic: (word as u32) & INFINITE,
            owing: (word >> OWING_SHIFT) & 1 != 0,
        }
    }

    /// Encodes a word.
    #[inline]
    pub const fn encode(self) -> u64 {
        ((self.generation as u64) << GENERATION_SHIFT)
            | ((self.phase as u64) << PHASE_SHIFT)
            | ((self.unmapping as u64) << UNMAPPING_SHIFT)
            | ((self.hold as u64) << HOLD_SHIFT)
            | ((self.owing as u64) << OWING_SHIFT)
            | (self.dynamic as u64)
    }

    /// A new life of an entry, with one reference. The generation changes here,
    /// not where the last life ended: a reader that finds the entry between its
    /// end and its leaving the index has a handle that never becomes valid.
    #[must_use]
    pub const fn first(self, counter: Counter, infinite: bool, phase: Phase) -> Self {
        let (dynamic, hold) = match (infinite, counter) {
            (true, _) => (INFINITE, 0),
            (false, Counter::Dynamic) => (1, 0),
            (false, Counter::Hold) => (0, 1),
        };
        let generation = (self.generation + 1) & GENERATION_MASK;
        Self { generation, phase, unmapping: 0, hold, dynamic, owing: false }
    }

    /// The end of a life.
    #[inline]
    #[must_use]
    pub const fn freed(self) -> Self {
        let generation = self.generation;
        Self { generation, phase: Phase::Free, unmapping: 0, hold: 0, dynamic: 0, owing: false }
    }

    /// Never unmapped by counting.
    #[inline]
    #[must_use]
    pub const fn is_infinite(self) -> bool {
        self.dynamic == INFINITE
    }

    /// Both counts together; infinite ones stay huge.
    #[inline]
    #[must_use]
    pub const fn total(self) -> u32 {
        self.dynamic + self.hold
    }

    /// One more reference; `None` if the count is at its limit.
    #[inline]
    #[must_use]
    pub const fn acquired(mut self, counter: Counter) -> Option<Self> {
        match counter {
            Counter::Dynamic if self.dynamic == INFINITE => {}
            Counter::Dynamic if self.dynamic == INFINITE - 1 => return None,
            Counter::Dynamic => self.dynamic += 1,
            Counter::Hold if self.hold == HOLD_MAX => return None,
            Counter::Hold => self.hold += 1,
        }
        Some(self)
    }

    /// Whether a release with these parameters would be the last one.
    #[inline]
    #[must_use]
    pub const fn would_be_last(self, counter: Counter, delete: bool) -> bool {
        match counter {
            // OpenMP 6.0 section 7.9.6: `delete` sets the count to zero; data held by a
            // structured region stays.
            Counter::Dynamic => {
                !self.is_infinite() && self.hold == 0 && (delete || self.dynamic <= 1) && self.total() > 0
            }
            Counter::Hold => self.dynamic == 0 && self.hold == 1,
        }
    }

    /// One reference less (or none left, with `delete`). Releasing below zero
    /// leaves zero: the other count may be what keeps the entry. `in_use` says that
    /// device operations of the caller's are under way.
    #[inline]
    #[must_use]
    pub const fn released(mut self, counter: Counter, delete: bool, in_use: bool) -> (Self, Release) {
        if self.is_infinite() {
            // Such an entry outlives every construct.
            if matches!(counter, Counter::Hold) {
                self.hold = self.hold.saturating_sub(1);
            }
            return (self, Release::Shared);
        }
        let full = self.unmapping == UNMAPPING_MAX;
        if full && in_use {
            return (self, Release::Crowded);
        }
        let last = self.would_be_last(counter, delete) && !full;
        match counter {
            Counter::Dynamic if delete => self.dynamic = 0,
            Counter::Dynamic => self.dynamic = self.dynamic.saturating_sub(1),
            Counter::Hold => self.hold = self.hold.saturating_sub(1),
        }
        if !last && !in_use {
            return (self, Release::Shared);
        }
        self.unmapping += 1;
        (self, if last { Release::Last } else { Release::InUse })
    }

    /// One more construct uses the entry, without a reference. `None`: the entry outlives all of
    /// them, or so many do that they cannot be counted.
    #[inline]
    #[must_use]
    pub const fn used(mut self) -> Option<Self> {
        if self.is_infinite() || self.unmapping == UNMAPPING_MAX {
            return None;
        }
        self.unmapping += 1;
        Some(self)
    }

    /// Nobody has a reference, one construct alone uses the entry, and nothing is to be copied back.
    #[must_use]
    pub const fn is_last_use(self) -> bool {
        self.unmapping == 1 && self.total() == 0 && !self.owing
    }

    /// The end of one thread's unmapping. Where something is to be copied back before, and it
    /// is this thread's to do, it does not end yet.
    #[inline]
    #[must_use]
    pub const fn finished_unmapping(mut self) -> (Self, Finish) {
        let before = self;
        self.unmapping = self.unmapping.saturating_sub(1);
        if self.unmapping != 0 || self.total() != 0 {
            (self, Finish::Left)
        } else if self.owing {
            (before, Finish::Owing)
        } else {
            (self.freed(), Finish::Ended)
        }
    }
}

/// The word as such, for the steps of a launch whose data is present: taking the word apart and
/// putting it together again would be most of what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(super) u64);

impl Word {
    const ONE_USE: u64 = 1 << UNMAPPING_SHIFT;
    const USES: u64 = (UNMAPPING_MAX as u64) << UNMAPPING_SHIFT;
    const OWING: u64 = 1 << OWING_SHIFT;
    const REFERENCES: u64 = (Self::ONE_USE - 1) & !Self::OWING;

    /// Whether it is that of a live entry in this life.
    #[inline]
    pub(crate) const fn is_live(self, generation: u32) -> bool {
        self.0 >> PHASE_SHIFT == (generation as u64) << 2 | Phase::Live as u64
    }

    /// Whether it is that of a live entry in this life whose references are not counted.
    #[inline]
    pub(crate) const fn is_lasting(self, generation: u32) -> bool {
        self.is_live(generation) && self.dynamic() == INFINITE
    }

    /// That of an entry in this life with its contents valid.
    #[inline]
    pub(crate) const fn published(self, generation: u32) -> Option<Self> {
        const LIVE: u64 = (Phase::Live as u64) << PHASE_SHIFT;
        let alive = self.0 & LIVE != 0 && self.0 >> GENERATION_SHIFT == generation as u64;
        if alive { Some(Self(self.0 | LIVE)) } else { None }
    }

    const fn dynamic(self) -> u32 {
        (self.0 as u32) & INFINITE
    }

    /// As [`Snapshot::acquired`] of the dynamic count. `None`: that decides.
    #[inline]
    pub(crate) const fn acquired(self) -> Option<Self> {
        if self.dynamic() < INFINITE - 1 { Some(Self(self.0 + 1)) } else { None }
    }

    /// As [`Snapshot::released`] of the dynamic count without `delete`, if that is neither the
    /// last reference nor all that can be counted. `None`: that decides.
    #[inline]
    pub(crate) const fn released(self, in_use: bool) -> Option<Self> {
        let dynamic = self.dynamic();
        if dynamic < 2 || dynamic == INFINITE || (in_use && self.0 & Self::USES == Self::USES) {
            return None;
        }
        Some(Self(self.0 - 1 + if in_use { Self::ONE_USE } else { 0 }))
    }

    /// As [`Snapshot::released`] of the dynamic count without `delete`, if that is the last
    /// reference and nobody else uses the entry. `None`: that decides.
    #[inline]
    pub(crate) const fn released_last(self) -> Option<Self> {
        if self.0 & (Self::REFERENCES | Self::USES) != 1 {
            return None;
        }
        Some(Self(self.0 - 1 + Self::ONE_USE))
    }

    /// As [`Snapshot::finished_unmapping`] in this life, if that is the end of it. `None`: that
    /// decides.
    #[inline]
    pub(crate) const fn ended(self, generation: u32) -> Option<Self> {
        let life = (generation as u64) << GENERATION_SHIFT;
        let phase = (Phase::Live as u64) << PHASE_SHIFT;
        if self.0 & phase == 0 || self.0 & !phase != life | Self::ONE_USE {
            return None;
        }
        Some(Self(life))
    }

    /// The end of one construct's use, if that cannot be the end of the entry.
    #[inline]
    pub(crate) const fn left(self) -> Option<Self> {
        let more_than_one = self.0 & Self::USES > Self::ONE_USE;
        if self.0 & Self::USES == 0 || (!more_than_one && self.0 & Self::REFERENCES == 0) {
            return None;
        }
        Some(Self(self.0 - Self::ONE_USE))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers up to `most`; those at both ends, where something changes, often.
    fn numbers(most: u32) -> impl Strategy<Value = u32> {
        prop_oneof![0..=most, 0..=3u32, most - 2..=most]
    }

    const LIVE: Snapshot =
        Snapshot { generation: 5, phase: Phase::Live, unmapping: 0, hold: 0, dynamic: 1, owing: false };

    fn any_snapshot() -> impl Strategy<Value = Snapshot> {
        let numbers = (numbers(UNMAPPING_MAX), numbers(HOLD_MAX), numbers(INFINITE));
        (0..=GENERATION_MASK, 0u64..4, numbers, any::<bool>()).prop_map(
            |(generation, phase, (unmapping, hold, dynamic), owing)| Snapshot {
                generation,
                phase: Snapshot::decode(phase << PHASE_SHIFT).phase,
                unmapping,
                hold,
                dynamic,
                owing,
            },
        )
    }

    proptest! {
        #[test]
        fn words_round_trip(snapshot in any_snapshot()) {
            prop_assert_eq!(Snapshot::decode(snapshot.encode()), snapshot);
        }

        #[test]
        fn acquire_then_release_is_identity(snapshot in any_snapshot(), hold in any::<bool>()) {
            let counter = if hold { Counter::Hold } else { Counter::Dynamic };
            prop_assume!(snapshot.total() > 0);
            if let Some(more) = snapshot.acquired(counter) {
                let (back, release) = more.released(counter, false, false);
                prop_assert_eq!(back, snapshot);
                prop_assert_eq!(release, Release::Shared);
            }
        }

        #[test]
        fn words_step_as_snapshots_do(snapshot in any_snapshot(), in_use in any::<bool>()) {
            let word = Word(snapshot.encode());
            prop_assert_eq!(word.is_live(snapshot.generation), snapshot.phase == Phase::Live);
            prop_assert!(!word.is_live(snapshot.generation ^ 1));
            if let Some(next) = word.acquired() {
                prop_assert_eq!(Some(next.0), snapshot.acquired(Counter::Dynamic).map(Snapshot::encode));
            }
            if let Some(next) = word.released(in_use) {
                let (expected, release) = snapshot.released(Counter::Dynamic, false, in_use);
                prop_assert_eq!(next.0, expected.encode());
                prop_assert_eq!(release, if in_use { Release::InUse } else { Release::Shared });
            }
            let uses = (snapshot.unmapping, snapshot.total());
            let left = (!matches!(uses, (0, _) | (1, 0)))
                .then(|| Snapshot { unmapping: snapshot.unmapping - 1, ..snapshot });
            prop_assert_eq!(word.left().map(|next| next.0), left.map(Snapshot::encode));
            if let Some(next) = word.released_last() {
                let (expected, release) = snapshot.released(Counter::Dynamic, false, in_use);
                prop_assert_eq!((next.0, release), (expected.encode(), Release::Last));
            }
            let ended = snapshot.finished_unmapping();
            let ended = (snapshot.phase != Phase::Free && ended.1 == Finish::Ended && snapshot.unmapping == 1)
                .then(|| ended.0.encode());
            prop_assert_eq!(word.ended(snapshot.generation).map(|next| next.0), ended);
            prop_assert_eq!(word.ended(snapshot.generation ^ 1), None);
            let published = (snapshot.phase != Phase::Free)
                .then(|| Snapshot { phase: Phase::Live, ..snapshot }.encode());
            prop_assert_eq!(word.published(snapshot.generation).map(|next| next.0), published);
            prop_assert_eq!(word.published(snapshot.generation ^ 1), None);
            let lasting = snapshot.phase == Phase::Live && snapshot.is_infinite();
            prop_assert_eq!(word.is_lasting(snapshot.generation), lasting);
            prop_assert!(!word.is_lasting(snapshot.generation ^ 1));
        }

        #[test]
        fn the_usual_steps_are_words(
            unmapping in 0..UNMAPPING_MAX, hold in 0..=HOLD_MAX, dynamic in 2..INFINITE - 1,
        ) {
            let snapshot = Snapshot { generation: 7, phase: Phase::Live, unmapping, hold, dynamic, owing: false };
            let word = Word(snapshot.encode());
            prop_assert!(word.acquired().is_some() && word.released(true).is_some());
            let own = Snapshot { unmapping: 0, hold: 0, dynamic: 1, ..snapshot };
            prop_assert!(Word(own.encode()).released_last().is_some());
            let over = Snapshot { unmapping: 1, hold: 0, dynamic: 0, ..snapshot };
            prop_assert!(Word(over.encode()).ended(7).is_some());
        }

        #[test]
        fn infinite_entries_are_never_last(snapshot in any_snapshot(), delete in any::<bool>()) {
            let snapshot = Snapshot { dynamic: INFINITE, ..snapshot };
            for counter in [Counter::Dynamic, Counter::Hold] {
                prop_assert_eq!(snapshot.released(counter, delete, true).1, Release::Shared);
                prop_assert!(snapshot.released(counter, delete, true).0.is_infinite());
            }
        }

        #[test]
        fn only_the_last_of_several_unmappings_removes(unmapping in 1..=UNMAPPING_MAX) {
            let over = Snapshot { unmapping, hold: 0, dynamic: 0, ..LIVE };
            let mut snapshot = over;
            for left in (0..unmapping).rev() {
                let (next, finish) = snapshot.finished_unmapping();
                prop_assert_eq!(finish, if left == 0 { Finish::Ended } else { Finish::Left });
                snapshot = next;
            }
            // Where something is to be copied back, the last one does that, and ends then.
            let mut owing = Snapshot { owing: true, ..over };
            for _ in 1..unmapping {
                let (next, finish) = owing.finished_unmapping();
                prop_assert_eq!(finish, Finish::Left);
                owing = next;
            }
            prop_assert_eq!(owing.finished_unmapping(), (owing, Finish::Owing));
            prop_assert_eq!(Word(owing.encode()).left(), None);
            prop_assert_eq!(snapshot.phase, Phase::Free);
            let next = snapshot.first(Counter::Dynamic, false, Phase::Allocating);
            prop_assert_eq!((snapshot.generation, next.generation), (5, 6));
        }
    }

    #[test]
    fn held_data_survives_delete() {
        let held = Snapshot { hold: 1, dynamic: 3, ..LIVE };
        let (after, release) = held.released(Counter::Dynamic, true, false);
        assert_eq!((after.dynamic, after.hold, release), (0, 1, Release::Shared));
        assert_eq!(after.released(Counter::Hold, false, false).1, Release::Last);
    }

    #[test]
    fn what_is_in_use_stays() {
        let shared = Snapshot { dynamic: 2, ..LIVE };
        let (one, first) = shared.released(Counter::Dynamic, false, true);
        let (none, second) = one.released(Counter::Dynamic, false, true);
        assert_eq!((first, second), (Release::InUse, Release::Last));
        assert_eq!(Word(none.encode()).left().unwrap().left(), None);
        assert_eq!(none.finished_unmapping().1, Finish::Left);
        assert_eq!(none.finished_unmapping().0.finished_unmapping().1, Finish::Ended);
        let crowded = Snapshot { unmapping: UNMAPPING_MAX, ..shared };
        assert_eq!(crowded.released(Counter::Dynamic, false, true), (crowded, Release::Crowded));
        assert_eq!(crowded.released(Counter::Dynamic, false, false).1, Release::Shared);
    }

    #[test]
    fn a_full_count_refuses_instead_of_wrapping() {
        let full = Snapshot { hold: HOLD_MAX, dynamic: INFINITE - 1, ..LIVE };
        assert_eq!(full.acquired(Counter::Dynamic), None);
        assert_eq!(full.acquired(Counter::Hold), None);
    }
}
