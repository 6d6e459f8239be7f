//! What comes before what, for who looks for races.
//!
//! An operation comes after those before it in its stream, after what its stream waits for, and after what the program had
//! waited for when it was submitted. That it happened to run after another one says nothing. All threads of the program
//! count as one: what one of them has waited for may be known to the others.
//!
//! Nothing is kept unless somebody has asked for it, once and for all, by [`watch`].

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static WATCHED: AtomicBool = AtomicBool::new(false);

/// Has kept what comes before what, of what is submitted from now on.
pub fn watch() {
    WATCHED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_watched() -> bool {
    WATCHED.load(Ordering::Relaxed)
}

/// A number of a stream's, and of an operation in it.
pub type Moment = (u64, u64);

/// What an operation comes after: of each stream, the operations up to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    own: Moment,
    streams: BTreeMap<u64, u64>,
}

impl Clock {
    /// The operation itself.
    #[must_use]
    pub fn own(&self) -> Moment {
        self.own
    }

    /// Whether another operation comes before this one.
    #[must_use]
    pub fn has(&self, (stream, operation): Moment) -> bool {
        self.streams.get(&stream).is_some_and(|&last| operation <= last)
    }

    fn join(&mut self, other: &Self) {
        for (&stream, &operation) in &other.streams {
            let last = self.streams.entry(stream).or_default();
            *last = operation.max(*last);
        }
    }
}

/// A clock that more is learned by.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Option<Arc<Clock>>>);

impl Known {
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Clock>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self) -> Option<Arc<Clock>> {
        self.lock().clone()
    }

    pub fn learn(&self, other: Option<&Arc<Clock>>) {
        let Some(other) = other else { return };
        let mut known = self.lock();
        match &mut *known {
            Some(known) => Arc::make_mut(known).join(other),
            None => *known = Some(other.clone()),
        }
    }

    /// The next operation of a stream comes: what it comes after.
    pub fn step(&self, stream: u64) -> Arc<Clock> {
        let mut known = self.lock();
        let clock = Arc::make_mut(known.get_or_insert_default());
        let operation = clock.streams.get(&stream).map_or(1, |last| last + 1);
        clock.streams.insert(stream, operation);
        clock.own = (stream, operation);
        Arc::new(clock.clone())
    }
}

/// What the program has waited for.
static PROGRAM: Known = Known::new();

/// The program goes on behind something, unless it is somebody who watches that has waited.
pub(crate) fn program_learns(known: Option<&Arc<Clock>>) {
    if known.is_some() && !UNSEEN.get() {
        PROGRAM.learn(known);
    }
}

/// From now on the calling thread waits for somebody who watches the program, which learns nothing by that; or it does not.
pub fn watch_unseen(is: bool) {
    UNSEEN.set(is);
}

pub(crate) fn program_knows() -> Option<Arc<Clock>> {
    PROGRAM.get()
}

thread_local! {
    static UNSEEN: Cell<bool> = const { Cell::new(false) };
    static RUNNING: RefCell<Option<Arc<Clock>>> = const { RefCell::new(None) };
}

/// What the operation that the calling thread runs comes after, where that is kept.
#[must_use]
pub fn running_after() -> Option<Arc<Clock>> {
    RUNNING.with_borrow(Clone::clone)
}

/// Runs an operation that comes after others.
pub(crate) fn after<T>(clock: Arc<Clock>, call: impl FnOnce() -> T) -> T {
    struct Leave(Option<Arc<Clock>>);
    impl Drop for Leave {
        fn drop(&mut self) {
            RUNNING.set(self.0.take());
        }
    }
    let _leave = Leave(RUNNING.replace(Some(clock)));
    call()
}

/// The running operation tells somebody of itself through memory: the program, or another stream that looks there.
pub fn hand_on() {
    program_learns(running_after().as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_comes_before_what_follows() {
        let (one, other) = (Known::new(), Known::new());
        let first = one.step(1);
        let apart = other.step(2);
        assert_eq!((first.own(), apart.own()), ((1, 1), (2, 1)));
        assert!(!apart.has(first.own()) && !first.has(apart.own()) && first.has((1, 1)));
        other.learn(Some(&first));
        let (behind, second) = (other.step(2), one.step(1));
        assert!(behind.has(first.own()) && behind.has(apart.own()) && !behind.has(second.own()));
        assert!(second.has(first.own()) && !second.has(apart.own()));
    }

    #[test]
    fn an_operation_is_known_while_it_runs() {
        assert_eq!(running_after(), None);
        let clock = Known::new().step(7);
        after(clock.clone(), || assert_eq!(running_after(), Some(clock)));
        assert_eq!(running_after(), None);
    }
}
