//! A stream as the driver uses it: submission, waiting, events. Its queue is in `queue`, its part
//! in captures in `capture`.

use std::sync::atomic::AtomicBool as PlainBool;
use std::sync::{Arc, Weak};

use crate::capture::Branch;
use crate::error::{Error, Failure, Outcome};
use crate::event::{Event, Recorded};
use crate::order::Domain;
use crate::pool::PRIORITIES;
use crate::process;
use crate::queue::{Class, Operation, Position, Pushed, Queue};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use crate::task::Task;

/// Whether a stream and the legacy stream of its context wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// `CU_STREAM_DEFAULT`
    WithLegacy,
    /// `CU_STREAM_NON_BLOCKING`
    Independent,
}

#[derive(Debug)]
enum Role {
    Legacy,
    Blocking {
        legacy: Arc<Stream>,
        /// The position of the legacy stream that the last submission waits for. Belongs to the
        /// context's `order`, as `listed` does.
        seen: AtomicU64,
        /// Among the streams that the legacy stream is to wait for.
        listed: AtomicBool,
    },
    Independent,
}

/// Operations that run one after another. Handles are `Arc`s: a stream that is dropped while it
/// has work ends when the work has. No two share a cache line, as different threads use them.
#[derive(Debug)]
#[repr(align(128))]
pub struct Stream {
    pub(crate) domain: Arc<Domain>,
    pub(crate) queue: Queue,
    /// Positions of the last entry submitted and of the last that has ended. Written under the
    /// queue's lock.
    pub(crate) submitted: AtomicU64,
    pub(crate) completed: AtomicU64,
    /// The part of a capture that is recorded here; `capturing` says whether there is one.
    pub(crate) branch: Mutex<Option<Branch>>,
    pub(crate) capturing: PlainBool,
    role: Role,
    priority: i32,
    id: u64,
}

/// Numbers of streams and captures: no two are the same.
pub(crate) fn next_id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Stream {
    fn with_role(domain: &Arc<Domain>, role: Role, priority: i32) -> Arc<Self> {
        let stream = Arc::new(Self {
            domain: domain.clone(),
            queue: Queue::new(),
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            branch: Mutex::new(None),
            capturing: PlainBool::new(false),
            role,
            priority: priority.clamp(*PRIORITIES.start(), *PRIORITIES.end()),
            id: next_id(),
        });
        domain.add(&stream);
        stream
    }

    pub(crate) fn new_legacy(domain: &Arc<Domain>) -> Arc<Self> {
        Self::with_role(domain, Role::Legacy, 0)
    }

    pub(crate) fn new(
        domain: &Arc<Domain>,
        legacy: &Arc<Self>,
        blocking: Blocking,
        priority: i32,
    ) -> Arc<Self> {
        let role = match blocking {
            Blocking::Independent => Role::Independent,
            Blocking::WithLegacy => Role::Blocking {
                legacy: legacy.clone(),
                seen: AtomicU64::new(0),
                listed: AtomicBool::new(false),
            },
        };
        Self::with_role(domain, role, priority)
    }

    /// Whether the context has failed, or has been destroyed.
    pub fn check(&self) -> Result<(), Error> {
        self.domain.check()
    }

    /// As it was given, within the range there is.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    pub fn blocking(&self) -> Blocking {
        match self.role {
            Role::Legacy | Role::Blocking { .. } => Blocking::WithLegacy,
            Role::Independent => Blocking::Independent,
        }
    }

    pub fn is_legacy(&self) -> bool {
        matches!(self.role, Role::Legacy)
    }

    /// Unique in the process: what `cuStreamGetId` tells.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Submits work of the device. It may run on any thread, even the one that synchronises. If it
    /// fails, so does the context; if the context has failed by then, it is dropped without having
    /// run.
    ///
    /// A panic counts as [`Failure::UNKNOWN`]. What the closure owns is dropped before the
    /// operation counts as ended.
    pub fn submit(
        self: &Arc<Self>,
        operation: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Result<(), Error> {
        self.check_submit()?;
        self.append([Operation::Run(Task::new(move |_| operation()), Class::Device)]);
        Ok(())
    }

    /// Submits work of the device and waits until it has ended.
    pub fn run(self: &Arc<Self>, operation: impl FnOnce() -> Outcome + Send + 'static) -> Result<(), Error> {
        self.check_wait()?;
        self.check_submit()?;
        let sequence = self.append([Operation::Run(Task::new(move |_| operation()), Class::Device)]);
        self.wait_until(sequence);
        self.domain.check()
    }

    /// Submits a function of the program (`cuLaunchHostFunc`), or anything else that may block
    /// until another thread does something. It never runs on a thread that waits for a stream.
    /// Skipped if the context has failed.
    pub fn submit_host(
        self: &Arc<Self>,
        function: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Result<(), Error> {
        self.check_submit()?;
        self.append([Operation::Run(Task::new(move |_| function()), Class::Host)]);
        Ok(())
    }

    /// Submits a callback (`cuStreamAddCallback`): called even if the context fails, and told so.
    pub fn submit_callback(
        self: &Arc<Self>,
        callback: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Error> {
        self.check_submit()?;
        let task = Task::new(move |failure: Option<Failure>| {
            callback(failure.map_or(Ok(()), Err));
            Ok(())
        });
        self.append([Operation::Run(task, Class::Callback)]);
        Ok(())
    }

    /// Waits until everything that has been submitted has ended. For the legacy stream, that is
    /// what has been submitted to blocking streams as well.
    pub fn synchronize(self: &Arc<Self>) -> Result<(), Error> {
        self.check_wait()?;
        let sequence = self.append([]);
        self.wait_until(sequence);
        self.domain.check()
    }

    /// `Ok` if everything that has been submitted has ended, otherwise [`Error::NotReady`].
    pub fn query(self: &Arc<Self>) -> Result<(), Error> {
        process::refuse_child()?;
        self.refuse_capture()?;
        self.domain.check()?;
        let sequence = self.append([]);
        if self.reached(sequence) { Ok(()) } else { Err(Error::NotReady) }
    }

    /// Records `event`: it is done when everything that has been submitted up to now has ended.
    /// While the stream captures, the event stands for the place in the capture.
    pub fn record(self: &Arc<Self>, event: &Arc<Event>) -> Result<(), Error> {
        process::refuse_child()?;
        if self.capture_record(event)? {
            return Ok(());
        }
        self.check_submit()?;
        if !event.timed() {
            let sequence = self.append([]);
            event.set(Recorded::At(self.position(sequence)));
            return Ok(());
        }
        let record = event.begin_record();
        // An idle stream has the time at once, and nothing to run.
        let now = process::now();
        let sequence = self.append([]);
        if self.reached(sequence) {
            event.finish_record(record, self.position(sequence), Some(now));
        } else {
            let sequence = self.append([Operation::Stamp(event.clone(), record)]);
            event.finish_record(record, self.position(sequence), None);
        }
        Ok(())
    }

    /// What is submitted from now on waits until the last record of `event`, as it is now, is done.
    /// The event may belong to another context. While the stream captures, or the event was
    /// recorded in a capture, it becomes a dependency of the capture.
    pub fn wait(self: &Arc<Self>, event: &Arc<Event>) -> Result<(), Error> {
        process::refuse_child()?;
        if self.capture_wait(event)? {
            return Ok(());
        }
        self.check_submit()?;
        if let Some(position) = event.position()?
            && !position.reached()
        {
            self.append([Operation::Wait(position)]);
        }
        Ok(())
    }

    pub(crate) fn position(self: &Arc<Self>, sequence: u64) -> Position {
        Position { stream: self.clone(), sequence }
    }

    pub(crate) fn check_submit(&self) -> Result<(), Error> {
        process::refuse_child()?;
        self.refuse_capture()?;
        self.domain.check()
    }

    fn check_wait(&self) -> Result<(), Error> {
        process::refuse_child()?;
        if process::in_host_function() {
            return Err(Error::NotPermitted);
        }
        self.refuse_capture()
    }

    /// Appends `operations` behind what the rules of the default stream have them wait for. Returns
    /// the position where they, and what they wait for, are done.
    pub(crate) fn append<I>(self: &Arc<Self>, operations: I) -> u64
    where
        I: IntoIterator<Item = Operation, IntoIter: ExactSizeIterator>,
    {
        let operations = operations.into_iter();
        let Pushed { sequence, announce } = match &self.role {
            Role::Independent => self.push(operations),
            Role::Legacy => {
                let mut order = lock(&self.domain.order);
                let waits: Vec<_> = order.drain(..).filter_map(|stream| stream.upgrade()?.unlist()).collect();
                self.push(waits.into_iter().map(Operation::Wait).chain(operations))
            }
            Role::Blocking { legacy, seen, listed } => {
                let mut order = lock(&self.domain.order);
                let last = legacy.submitted();
                let wait = (last > seen.load(Ordering::Relaxed) && !legacy.reached(last))
                    .then(|| Operation::Wait(legacy.position(last)));
                seen.store(last, Ordering::Relaxed);
                if operations.len() > 0 && !listed.load(Ordering::Relaxed) {
                    listed.store(true, Ordering::Relaxed);
                    order.push(Arc::downgrade(self) as Weak<Self>);
                }
                self.push(wait.into_iter().chain(operations))
            }
        };
        if announce {
            self.announce();
        }
        sequence
    }

    /// The legacy stream takes note of this one: what it has to wait for, if anything.
    fn unlist(self: Arc<Self>) -> Option<Position> {
        if let Role::Blocking { listed, .. } = &self.role {
            listed.store(false, Ordering::Relaxed);
        }
        let sequence = self.submitted();
        (!self.reached(sequence)).then(|| self.position(sequence))
    }
}
