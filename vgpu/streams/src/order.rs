//! What the streams of one context have in common: the failure, and the order between the legacy
//! stream and the blocking ones.
//!
//! Used by streams and contexts. Submissions to the legacy stream and to blocking streams hold `order`, or two of them at
//! once could each come to wait for the other.

use std::sync::{Arc, Weak};

use crate::error::{Error, Failure};
use crate::pool::Pool;
use crate::stream::Stream;
use crate::sync::{AtomicBool, AtomicU32, Mutex, Ordering, lock};

#[derive(Debug)]
pub(crate) struct Domain {
    pub(crate) pool: Arc<Pool>,
    /// The first failure; 0 is none.
    failure: AtomicU32,
    /// The context is gone or going.
    retired: AtomicBool,
    /// Blocking streams with operations that the legacy stream does not wait for yet.
    pub(crate) order: Mutex<Vec<Weak<Stream>>>,
    /// All streams of the context that somebody may still wait for.
    streams: Mutex<Vec<Weak<Stream>>>,
}

impl Domain {
    pub(crate) fn new(pool: Arc<Pool>) -> Arc<Domain> {
        Arc::new(Domain {
            pool,
            failure: AtomicU32::new(0),
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

    /// The first failure stays.
    pub(crate) fn fail(&self, failure: Failure) {
        let _ = self.failure.compare_exchange(0, failure.code(), Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    pub(crate) fn retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    pub(crate) fn add(&self, stream: &Arc<Stream>) {
        let mut streams = lock(&self.streams);
        if streams.len() == streams.capacity() {
            streams.retain(|stream| stream.strong_count() > 0);
        }
        streams.push(Arc::downgrade(stream));
    }

    pub(crate) fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams).iter().filter_map(Weak::upgrade).collect()
    }
}
