//! Streams that no construct uses, kept for the next ones.
//!
//! Each thread has a place for one stream, and mostly finds there the one that it has put back
//! itself. So threads that launch at the same time share nothing that either of them writes:
//! neither a lock nor a stream with what the back end and its driver remember of it.

use gangway_present::StreamRef;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Places: so many threads have one at a time.
const PLACES: usize = u64::BITS as usize;

/// What stands in an empty place: no stream's word.
const EMPTY: usize = 0;

/// The idle streams of a device.
pub(super) struct IdleStreams {
    places: Box<[Place; PLACES]>,
    /// Streams for which there was no place.
    others: Mutex<Vec<StreamRef>>,
}

/// A thread's place, in a cache line of its own. Processors fetch two at a time.
#[repr(align(128))]
struct Place(AtomicUsize);

impl Place {
    #[inline]
    fn take(&self) -> Option<StreamRef> {
        if self.0.load(Ordering::Relaxed) == EMPTY {
            return None;
        }
        let stream = self.0.swap(EMPTY, Ordering::Acquire);
        // SAFETY: `put` has stored the word of a stream.
        (stream != EMPTY).then(|| unsafe { StreamRef::of(stream) })
    }

    #[inline]
    fn put(&self, stream: StreamRef) -> bool {
        self.0.load(Ordering::Relaxed) == EMPTY
            && self.0.compare_exchange(EMPTY, stream.word(), Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

impl IdleStreams {
    pub(super) fn new() -> Self {
        let places = Box::new([const { Place(AtomicUsize::new(EMPTY)) }; PLACES]);
        Self { places, others: Mutex::new(Vec::new()) }
    }

    /// The calling thread's place, if it has one. At the end of a thread it has none any more.
    #[inline]
    fn place(&self) -> Option<&Place> {
        NUMBER.try_with(|number| number.0).ok().flatten().map(|number| &self.places[number])
    }

    fn others(&self) -> MutexGuard<'_, Vec<StreamRef>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream for the calling thread, if there is one.
    #[inline]
    pub(super) fn take(&self) -> Option<StreamRef> {
        self.place().and_then(Place::take).or_else(|| self.take_other())
    }

    #[cold]
    fn take_other(&self) -> Option<StreamRef> {
        self.others().pop()
    }

    /// Keeps a stream, best for the calling thread.
    #[inline]
    pub(super) fn put(&self, stream: StreamRef) {
        if !self.place().is_some_and(|place| place.put(stream)) {
            self.put_other(stream);
        }
    }

    #[cold]
    fn put_other(&self, stream: StreamRef) {
        self.others().push(stream);
    }

    /// Takes all of them.
    pub(super) fn take_all(&self) -> Vec<StreamRef> {
        let mut streams = std::mem::take(&mut *self.others());
        streams.extend(self.places.iter().filter_map(Place::take));
        streams
    }

    /// Takes its lock, for a fork.
    pub(super) fn hold(&self) -> Held<'_> {
        Held { streams: self, others: self.others() }
    }
}

/// The idle streams while a process forks.
pub(crate) struct Held<'s> {
    streams: &'s IdleStreams,
    others: MutexGuard<'s, Vec<StreamRef>>,
}

impl Held<'_> {
    /// In a forked child that has lost the device: forgets them.
    pub(super) fn clear(&mut self) {
        self.others.clear();
        for place in self.streams.places.iter() {
            place.take();
        }
    }
}

thread_local! {
    /// Which of the threads that are there this one is.
    static NUMBER: Number = Number::take();
}

/// The numbers that threads have, a bit for each. What threads had that a fork has lost stays
/// taken in the child.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// A thread's number: the lowest that no other thread has, if there is one. A thread that follows
/// another one gets its number, and so its stream.
struct Number(Option<usize>);

impl Number {
    fn take() -> Self {
        let lowest = |taken: u64| taken.checked_add(1).map(|next| taken | next);
        let before = TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lowest);
        Self(before.ok().map(|taken| taken.trailing_ones() as usize))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            TAKEN.fetch_and(!(1 << number), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test takes all numbers, and another is about its own.
    static NUMBERS: Mutex<()> = Mutex::new(());

    /// One that is never used, but told from others by its number.
    fn fake(number: usize) -> StreamRef {
        // SAFETY: the tests here compare it.
        unsafe { StreamRef::of(number) }
    }

    #[test]
    fn a_thread_gets_its_own_stream_back() {
        let _alone = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
        let streams = IdleStreams::new();
        assert_eq!(streams.take(), None);
        streams.put(fake(1));
        streams.put(fake(2));
        assert_eq!(streams.take(), Some(fake(1)));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // What has no place is for everybody.
                assert_eq!(streams.take(), Some(fake(2)));
                streams.put(fake(2));
            });
        });
        assert_eq!(streams.take(), None);
        streams.put(fake(1));
        let mut all = streams.take_all();
        all.sort_by_key(|stream| stream.word());
        assert_eq!(all, [fake(1), fake(2)]);
        assert_eq!(streams.take_all(), []);
    }

    #[test]
    fn more_threads_than_places() {
        let _alone = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
        let streams = IdleStreams::new();
        let all_there = std::sync::Barrier::new(PLACES + 8);
        std::thread::scope(|scope| {
            for number in 0..PLACES + 8 {
                let (streams, all_there) = (&streams, &all_there);
                scope.spawn(move || {
                    streams.put(fake(1 + number));
                    all_there.wait();
                    assert!(streams.take().is_some());
                });
            }
        });
        assert_eq!(streams.take_all(), []);
    }

    #[test]
    fn threads_take_and_put_at_once() {
        let streams = IdleStreams::new();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for round in 0..2000 {
                        let mut own = Vec::new();
                        for _ in 0..1 + round % 3 {
                            let make = || fake(1 + made.fetch_add(1, Ordering::Relaxed));
                            own.push(streams.take().unwrap_or_else(make));
                        }
                        own.into_iter().for_each(|stream| streams.put(stream));
                    }
                });
            }
        });
        let mut all: Vec<_> = streams.take_all().iter().map(|stream| stream.word()).collect();
        all.sort_unstable();
        assert_eq!(all, (1..=made.into_inner()).collect::<Vec<_>>());
    }
}
