//! Streams as the driver API knows them: a queue of a context, and the handle of it.

pub mod event;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use gangway_streams::{NodeKind, Payload};

use crate::abi::status::{Result, Status};
use crate::abi::types::{CUstream, CUstreamAttrValue};
use crate::objects::context::{self, Context};
use crate::objects::table::{Object, object};

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// A stream that a program has created.
#[derive(Debug)]
pub struct Stream {
    pub handle: CUstream,
    pub queue: Arc<gangway_streams::Stream>,
    context: Weak<Context>,
}

object!(Stream, 2);

impl Stream {
    pub fn create(context: &Arc<Context>, queue: Arc<gangway_streams::Stream>) -> Result<Arc<Stream>> {
        let context = Arc::downgrade(context);
        Stream::table().insert_with(|handle| Arc::new(Stream { handle, queue, context }))
    }

    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)
    }
}

/// Where a call puts its work: a created or a default stream, and its context.
#[derive(Clone, Debug)]
pub struct StreamRef {
    pub queue: Arc<gangway_streams::Stream>,
    pub context: Arc<Context>,
}

impl StreamRef {
    /// The stream that a handle means. The default stream is the calling thread's own, or the
    /// context's, as the called function has it.
    pub fn resolve(handle: CUstream, per_thread: bool) -> Result<StreamRef> {
        let own = match handle.raw() {
            0 => per_thread,
            LEGACY => false,
            PER_THREAD => true,
            _ => {
                let stream = handle.get()?;
                let context = stream.context()?;
                context.usable()?;
                return Ok(StreamRef { queue: Arc::clone(&stream.queue), context });
            }
        };
        let context = context::current().ok_or(Status::INVALID_CONTEXT)?;
        context.usable()?;
        let queue = if own { context.queues.per_thread() } else { Arc::clone(context.queues.legacy()) };
        Ok(StreamRef { queue, context })
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

/// Takes the handle away. What the stream has to do is still done; not even a failed context keeps
/// a program from cleaning up.
pub fn destroy(handle: CUstream) -> Result {
    let stream = handle.remove()?;
    Attributes(stream.queue.id()).forget();
    if let Ok(context) = stream.context() {
        context.forget_stream(handle);
    }
    Ok(())
}

/// The sorts of graph nodes that work can be, `CUgraphNodeType`.
pub mod sort {
    pub const KERNEL: u32 = 0;
    pub const COPY: u32 = 1;
    pub const FILL: u32 = 2;
    pub const HOST: u32 = 3;
    pub const ALLOCATE: u32 = 10;
    pub const FREE: u32 = 11;
    pub const MEMORY_OPERATIONS: u32 = 12;
}

/// What has been set for a stream, by the numbers of `CUstreamAttrID`; most streams have nothing.
type Remembered = BTreeMap<(u64, u32), CUstreamAttrValue>;
static ATTRIBUTES: Mutex<Remembered> = Mutex::new(BTreeMap::new());

/// The attributes of the stream with this id.
#[derive(Debug)]
pub struct Attributes(u64);

/// The attributes of a stream.
pub fn attributes(stream: &StreamRef) -> Attributes {
    Attributes(stream.queue.id())
}

impl Attributes {
    const ACCESS_POLICY_WINDOW: u32 = 1;
    const SYNCHRONIZATION_POLICY: u32 = 3;
    const PRIORITY: u32 = 8;
    const MEM_SYNC_DOMAIN_MAP: u32 = 9;
    const MEM_SYNC_DOMAIN: u32 = 10;

    fn all() -> MutexGuard<'static, Remembered> {
        ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, attribute: u32, stream: &StreamRef) -> Result<CUstreamAttrValue> {
        match attribute {
            Attributes::PRIORITY => {
                let mut value = CUstreamAttrValue::default();
                value.value[0] = u64::from(stream.queue.priority() as u32);
                Ok(value)
            }
            _ if Attributes::can_be_set(attribute) => {
                Ok(Attributes::all().get(&(self.0, attribute)).copied().unwrap_or_default())
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }

    pub fn set(&self, attribute: u32, value: CUstreamAttrValue) -> Result {
        if !Attributes::can_be_set(attribute) {
            return Err(Status::INVALID_VALUE);
        }
        Attributes::all().insert((self.0, attribute), value);
        Ok(())
    }

    fn can_be_set(attribute: u32) -> bool {
        matches!(
            attribute,
            Attributes::ACCESS_POLICY_WINDOW
                | Attributes::SYNCHRONIZATION_POLICY
                | Attributes::MEM_SYNC_DOMAIN_MAP
                | Attributes::MEM_SYNC_DOMAIN
        )
    }

    pub fn copy_from(&self, other: &Attributes) {
        let mut all = Attributes::all();
        let values: Vec<_> =
            all.range((other.0, 0)..=(other.0, u32::MAX)).map(|(key, value)| (key.1, *value)).collect();
        all.extend(values.into_iter().map(|(attribute, value)| ((self.0, attribute), value)));
    }

    fn forget(&self) {
        Attributes::all().retain(|(stream, _), _| *stream != self.0);
    }
}

impl From<gangway_streams::Error> for Status {
    fn from(error: gangway_streams::Error) -> Status {
        Status(error.code())
    }
}
