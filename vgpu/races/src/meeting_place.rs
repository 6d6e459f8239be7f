//! Where launches that run at the same time may meet: words of device memory that both access strongly.
//!
//! A kernel may wait for another one by a word that the other writes, or the host launches a kernel for what another has
//! told it. Then the one comes behind the other, and what is known of streams does not say so.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashSet;

/// So many words of a launch are kept.
const MOST: usize = 64;

/// The words that a launch has accessed strongly.
#[derive(Debug, Default)]
pub(crate) struct MeetingPlaces(Mutex<Words>);

#[derive(Debug, Default)]
enum Words {
    Few(FxHashSet<u64>),
    /// Any, for all that is known.
    #[default]
    Any,
}

impl MeetingPlaces {
    fn lock(&self) -> MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on words are kept: before, the launch may meet others anywhere.
    pub fn keep(&self) {
        *self.lock() = Words::Few(FxHashSet::default());
    }

    /// The launch accesses some places strongly. At those that the host sees, which is asked once, it may meet anybody.
    pub fn add(&self, places: impl Iterator<Item = u64>, hosts_see: impl Fn(u64) -> bool) {
        let mut words = self.lock();
        let Words::Few(few) = &mut *words else { return };
        let new = |place: u64| few.insert(place / 4) && (few.len() > MOST || hosts_see(place));
        if { places }.any(new) {
            *words = Words::Any;
        }
    }

    /// The launch may meet others anywhere.
    pub fn lose(&self) {
        *self.lock() = Words::Any;
    }

    /// Whether a launch may have met another one.
    pub fn may_have_met(&self, other: &Self) -> bool {
        let few = |places: &Self| match &*places.lock() {
            Words::Few(few) => Some(few.clone()),
            Words::Any => None,
        };
        // One lock at a time: the other launch may ask the same.
        let (own, others) = (few(self), few(other));
        match (own, others) {
            (Some(own), Some(others)) => !own.is_disjoint(&others),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_launches_may_ask_at_the_same_time() {
        let [one, other] = [(); 2].map(|()| MeetingPlaces::default());
        let ask = |own: &MeetingPlaces, other: &MeetingPlaces| {
            (0..10_000).for_each(|_| assert!(own.may_have_met(other)));
        };
        std::thread::scope(|scope| {
            scope.spawn(|| ask(&one, &other));
            scope.spawn(|| ask(&other, &one));
        });
    }

    #[test]
    fn launches_meet_at_words_that_both_have() {
        let [one, other] = [(); 2].map(|()| MeetingPlaces::default());
        assert!(one.may_have_met(&other), "nothing is known");
        one.keep();
        assert!(one.may_have_met(&other) && other.may_have_met(&one));
        other.keep();
        assert!(!one.may_have_met(&other));
        one.add([8, 400].into_iter(), |_| false);
        other.add([12, 16].into_iter(), |_| false);
        assert!(!one.may_have_met(&other));
        other.add([10].into_iter(), |_| false);
        assert!(one.may_have_met(&other) && other.may_have_met(&one));
        other.keep();
        one.add((0..1 << 10).map(|word| word * 4), |_| false);
        assert!(one.may_have_met(&other), "too many to be kept");
        one.keep();
        one.add([4, 800].into_iter(), |place| place == 800);
        assert!(one.may_have_met(&other), "by way of the host");
    }
}
