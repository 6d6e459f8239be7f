//! What the streams of one context have in common: the failure, and the order between the legacy
//! stream and the blocking ones.
//!
//! Used by streams and contexts. Submissions to the legacy stream and to blocking streams hold
//! `order`, or two of them at once could each come to wait for the other.

use std::sync::{Arc, Weak};

use crate::error::{Error, Failure};
use crate::pool::{Pool, Work};
use crate::sync::{AtomicBool, AtomicU32, Mutex, Ordering, lock};

/// The queue of a stream, as its context knows it.
pub(crate) trait Member: Work {
    /// All that wait for something here look again: the context has failed.
    fn release_waiters(&self);
}

#[derive(Debug)]
pub(crate) struct Domain<M> {
    pub(crate) pool: Arc<Pool<M>>,
    /// The first failure; 0 is none.
    failure: AtomicU32,
    /// Raised by a failure, for kernels: those that run are to end.
    stop: Arc<std::sync::atomic::AtomicBool>,
    /// The context is gone or going.
    retired: AtomicBool,
    /// Blocking streams with operations that the legacy stream does not wait for yet.
    pub(crate) order: Mutex<Vec<Weak<M>>>,
    /// All streams of the context that may still be waited for.
    streams: Mutex<Vec<Weak<M>>>,
}

impl<M: Member> Domain<M> {
    pub(crate) fn new(pool: Arc<Pool<M>>) -> Arc<Self> {
        Arc::new(Self {
            pool,
            failure: AtomicU32::new(0),
            stop: Arc::default(),
            retired: AtomicBool::new(false),
            order: Mutex::new(Vec::new()),
            streams: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        std::num::NonZeroU32::new(self.failure.load(Ordering::Acquire)).map(Failure)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.failure() {
            None => Ok(()),
            Some(failure) => Err(Error::Failed(failure)),
        }
    }

    /// The first failure stays, and ends all waiting. What is queued will not run; and a host
    /// function that runs may itself be waiting for a thread that waits here. Called with no lock
    /// held.
    ///
    /// The end of a context is no such failure. The thread that ends it waits for what has begun.
    pub(crate) fn fail(&self, failure: Failure) {
        let first = self.failure.compare_exchange(0, failure.code(), Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() && failure != Failure::CONTEXT_IS_DESTROYED {
            self.stop.store(true, Ordering::Release);
            self.streams().iter().for_each(|stream| stream.release_waiters());
        }
    }

    /// Whether something has failed, other than that the context has ended.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure().is_some_and(|failure| failure != Failure::CONTEXT_IS_DESTROYED)
    }

    pub(crate) fn stop(&self) -> Arc<std::sync::atomic::AtomicBool> {
        self.stop.clone()
    }

    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    pub(crate) fn retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    pub(crate) fn add(&self, stream: &Arc<M>) {
        let mut streams = lock(&self.streams);
        if streams.len() == streams.capacity() {
            streams.retain(|stream| stream.strong_count() > 0);
        }
        streams.push(Arc::downgrade(stream));
    }

    pub(crate) fn streams(&self) -> Vec<Arc<M>> {
        lock(&self.streams).iter().filter_map(Weak::upgrade).collect()
    }
}
