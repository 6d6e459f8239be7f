//! Streams as the driver API knows them: a queue of a context, and the handle of it.

pub mod attributes;
pub mod event;
pub mod runtimes;

use std::sync::{Arc, Weak};

use gangway_streams::{Blocking, NodeKind, Payload};

use self::attributes::Attributes;
use crate::abi::number::stream_handle;
use crate::abi::{CUstream, Result, Status, kind};
use crate::objects::context::{self, Context, Dependent};
use crate::objects::table::backed;

/// A stream that a program has created. Each call counts its users up and down, so two streams,
/// which two threads may have, share no cache line.
#[derive(Debug)]
#[repr(align(128))]
pub struct Stream {
    pub handle: CUstream,
    pub queue: Arc<gangway_streams::Stream>,
    context: Weak<Context>,
}

backed!(kind::Stream, Stream);

impl Stream {
    /// A new stream of a context.
    pub fn create(context: &Arc<Context>, blocking: Blocking, priority: i32) -> Result<Arc<Self>> {
        let queue = context.queues.create_stream(blocking, priority);
        let owner = Arc::downgrade(context);
        let stream = CUstream::insert_with(|handle| Arc::new(Self { handle, queue, context: owner }))?;
        context.adopt(stream.handle, &stream).inspect_err(|_| stream.context_ends())?;
        Ok(stream)
    }

    /// Takes the handle away. What the stream has to do is still done. Not even a failed context
    /// keeps a program from cleaning up.
    pub fn destroy(handle: CUstream) -> Result {
        let stream = handle.remove()?;
        Attributes::of(&stream.queue).forget();
        if let Ok(context) = stream.context() {
            context.forget(handle);
        }
        Ok(())
    }

    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)
    }
}

impl Dependent for Stream {
    fn context_ends(&self) {
        if self.handle.remove().is_ok() {
            Attributes::of(&self.queue).forget();
        }
    }
}

/// Where a call puts its work: a created or a default stream, and its context.
#[derive(Clone, Debug)]
pub struct StreamRef {
    pub queue: Arc<gangway_streams::Stream>,
    pub context: Arc<Context>,
}

impl StreamRef {
    /// The queue of the stream that a handle means, for calls that put no work into it. A created
    /// stream's context is not touched: all threads would count its users.
    pub fn queue_of(handle: CUstream, per_thread: bool) -> Result<Arc<gangway_streams::Stream>> {
        match handle.raw() {
            0 | stream_handle::LEGACY | stream_handle::PER_THREAD => {
                Ok(Self::resolve(handle, per_thread)?.queue)
            }
            _ => {
                let stream = handle.get()?;
                stream.queue.check()?;
                Ok(Arc::clone(&stream.queue))
            }
        }
    }

    /// The stream that a handle means. The default stream is the calling thread's own or the
    /// context's; that depends on the called function.
    pub fn resolve(handle: CUstream, per_thread: bool) -> Result<Self> {
        let own = match handle.raw() {
            0 => per_thread,
            stream_handle::LEGACY => false,
            stream_handle::PER_THREAD => true,
            _ => {
                let stream = handle.get()?;
                let context = stream.context()?;
                context.usable()?;
                return Ok(Self { queue: Arc::clone(&stream.queue), context });
            }
        };
        let context = context::current().ok_or(Status::INVALID_CONTEXT)?;
        context.usable()?;
        let queue = if own { context.queues.per_thread() } else { Arc::clone(context.queues.legacy()) };
        Ok(Self { queue, context })
    }

    /// Has work done in its turn, or makes it a node while the stream is being captured.
    pub fn submit<P: Payload>(&self, work: P) -> Result {
        if self.queue.is_capturing() {
            self.queue.capture(NodeKind::Work(Arc::new(work)))?;
            return Ok(());
        }
        if work.on_host() {
            return Ok(self.queue.submit_host(move || work.run())?);
        }
        Ok(self.queue.submit(move || work.run())?)
    }

    /// Has work done in its turn, and waits for it.
    pub fn run<P: Payload>(&self, work: P) -> Result {
        gangway_streams::check_unsafe_call()?;
        Ok(self.queue.run(move || work.run())?)
    }
}

impl From<gangway_streams::Error> for Status {
    fn from(error: gangway_streams::Error) -> Self {
        Self(error.code())
    }
}
