//! A context: streams that fail together and share a legacy stream.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Failure};
use crate::known;
use crate::order::Domain;
use crate::pool::Pool;
use crate::process;
use crate::queue::Queue;
use crate::stream::{Blocking, Stream};

/// The streams of one context of the driver API.
#[derive(Debug)]
pub struct Context {
    domain: Arc<Domain<Queue>>,
    legacy: Arc<Stream>,
}

thread_local! {
    /// The calling thread's default streams.
    static PER_THREAD: OwnStreams = const { OwnStreams(RefCell::new(Vec::new())) };
}

struct OwnStreams(RefCell<Vec<Arc<Stream>>>);

impl Drop for OwnStreams {
    fn drop(&mut self) {
        if process::forked() {
            // What is dropped with them may want locks that stay taken in a child.
            std::mem::forget(self.0.take());
        }
    }
}

impl Context {
    #[cfg(not(loom))]
    #[expect(clippy::new_without_default, reason = "it starts watching for forks; not a neutral value")]
    #[must_use]
    pub fn new() -> Self {
        Self::with_pool(crate::queue::shared_pool())
    }

    pub(crate) fn with_pool(pool: Arc<Pool<Queue>>) -> Self {
        process::watch_forks();
        let domain = Domain::new(pool);
        let legacy = Stream::new_legacy(&domain);
        Self { domain, legacy }
    }

    /// The legacy default stream: `NULL`, `CU_STREAM_LEGACY`.
    #[must_use]
    pub fn legacy(&self) -> &Arc<Stream> {
        &self.legacy
    }

    /// The calling thread's own default stream, a blocking one: `CU_STREAM_PER_THREAD`.
    #[must_use]
    pub fn per_thread(&self) -> Arc<Stream> {
        let find = |OwnStreams(streams): &OwnStreams| {
            let mut streams = streams.borrow_mut();
            if let Some(stream) =
                streams.iter().find(|stream| Arc::ptr_eq(&stream.queue.domain, &self.domain))
            {
                return stream.clone();
            }
            streams.retain(|stream| !stream.queue.domain.retired());
            let stream = self.create_stream(Blocking::WithLegacy, 0);
            streams.push(stream.clone());
            stream
        };
        // A thread that is ending has no place to keep it.
        PER_THREAD.try_with(find).unwrap_or_else(|_| self.create_stream(Blocking::WithLegacy, 0))
    }

    /// A new stream. Priorities outside of [`Context::priorities`] are moved to the nearest.
    #[must_use]
    pub fn create_stream(&self, blocking: Blocking, priority: i32) -> Arc<Stream> {
        Stream::new(&self.domain, &self.legacy, blocking, priority)
    }

    /// The least and the greatest priority; low numbers go first.
    #[must_use]
    pub fn priorities() -> (i32, i32) {
        let range = crate::pool::PRIORITIES;
        (*range.end(), *range.start())
    }

    /// Waits for everything that has been submitted to any stream of the context, destroyed ones
    /// too.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.drain()?;
        self.domain.check()
    }

    /// Whether nothing that has been submitted is left to do.
    pub fn query(&self) -> Result<(), Error> {
        process::refuse_child()?;
        self.domain.check()?;
        let streams = self.domain.streams();
        if !streams.iter().all(|stream| stream.reached(stream.submitted())) {
            return Err(Error::NotReady);
        }
        streams.iter().for_each(|stream| known::program_learns(stream.known().as_ref()));
        Ok(())
    }

    fn drain(&self) -> Result<(), Error> {
        process::refuse_child()?;
        if process::in_host_function() {
            return Err(Error::NotPermitted);
        }
        // All positions first: what is submitted meanwhile is not waited for.
        let all: Vec<_> =
            self.domain.streams().into_iter().map(|stream| (stream.submitted(), stream)).collect();
        for (sequence, stream) in all {
            let known = stream.known();
            stream.wait_until(sequence);
            known::program_learns(known.as_ref());
        }
        Ok(())
    }

    /// What made the context fail; sticky.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.domain.failure()
    }

    /// Becomes true when the context fails: for kernels, which are to end then.
    #[must_use]
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.domain.stop()
    }

    /// Makes the context fail, unless it already has.
    pub fn fail(&self, failure: Failure) {
        self.domain.fail(failure);
    }

    /// Ends the context: waits for everything that has been submitted, as hardware does (a kernel's output is there
    /// after `cudaDeviceReset`), but for no stream of another context. If the context had failed, what has not begun
    /// is skipped and host functions are not waited for. What is submitted meanwhile may be skipped. Inside a host
    /// function it does not wait.
    pub fn finish(&self) -> Result<(), Error> {
        self.domain.retire();
        if !process::forked() {
            self.domain.streams().iter().for_each(Queue::unblock);
        }
        let drained = self.drain();
        self.domain.fail(Failure::CONTEXT_IS_DESTROYED);
        drained.and_then(|()| self.drain())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.domain.retire();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_pool_without_threads_to_be_had_is_run_by_whoever_waits() {
        let context = Context::with_pool(Pool::without_workers());
        let (from, to) = (context.legacy(), context.create_stream(Blocking::WithLegacy, 0));
        let done = Arc::new(Mutex::new(Vec::new()));
        for (number, stream) in [from, &to, from, &to].into_iter().enumerate() {
            let done = done.clone();
            let push = move || {
                done.lock().unwrap().push(number);
                Ok(())
            };
            stream.submit(push).unwrap();
        }
        to.synchronize().unwrap();
        assert_eq!(*done.lock().unwrap(), [0, 1, 2, 3]);
    }
}
