//! A stream as the driver uses it: submission, waiting, events. Its queue is in `queue`, its part
//! in captures in `capture`.

use std::sync::Arc;

use crate::capture::{CaptureInfo, CaptureMode, Part};
use crate::clock::Clock;
use crate::error::{Error, Failure, Outcome};
use crate::event::{Event, Recorded};
use crate::graph::{Graph, NodeKind};
use crate::id::NodeId;
use crate::known;
use crate::order::Domain;
use crate::pool::Work;
use crate::process;
use crate::queue::{Class, Operation, Position, Pushed, Queue};
use crate::sync::{AtomicU64, Ordering, lock};
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
        legacy: Arc<Queue>,
        /// The position of the legacy stream that the last submission waits for. Belongs to the
        /// context's `order`.
        seen: AtomicU64,
    },
    Independent,
}

/// Operations that run one after another. Handles are `Arc`s: a stream that is dropped while it
/// has work ends when the work has. No two share a cache line, as different threads use them.
#[derive(Debug)]
#[repr(align(128))]
pub struct Stream {
    pub(crate) queue: Arc<Queue>,
    captured: Arc<Part>,
    role: Role,
}

impl Stream {
    fn with_role(domain: &Arc<Domain<Queue>>, role: Role, priority: i32) -> Arc<Self> {
        let queue = Queue::new(domain, matches!(role, Role::Legacy), priority);
        let captured = Part::new(queue.clone(), !matches!(role, Role::Independent));
        Arc::new(Self { queue, captured, role })
    }

    pub(crate) fn new_legacy(domain: &Arc<Domain<Queue>>) -> Arc<Self> {
        Self::with_role(domain, Role::Legacy, 0)
    }

    pub(crate) fn new(
        domain: &Arc<Domain<Queue>>,
        legacy: &Arc<Self>,
        blocking: Blocking,
        priority: i32,
    ) -> Arc<Self> {
        let role = match blocking {
            Blocking::Independent => Role::Independent,
            Blocking::WithLegacy => Role::Blocking { legacy: legacy.queue.clone(), seen: AtomicU64::new(0) },
        };
        Self::with_role(domain, role, priority)
    }

    /// Whether the context has failed, or has been destroyed.
    pub fn check(&self) -> Result<(), Error> {
        self.queue.domain.check()
    }

    /// As it was given, within the range there is.
    pub fn priority(&self) -> i32 {
        self.queue.priority()
    }

    pub fn blocking(&self) -> Blocking {
        match self.role {
            Role::Legacy | Role::Blocking { .. } => Blocking::WithLegacy,
            Role::Independent => Blocking::Independent,
        }
    }

    pub fn is_legacy(&self) -> bool {
        self.queue.is_legacy()
    }

    /// Unique in the process: what `cuStreamGetId` tells.
    pub fn id(&self) -> u64 {
        self.queue.id()
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
        self.wait_until(sequence)
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
        self.submit_callback_as(Class::Callback, callback)
    }

    /// The same for who watches: the program learns nothing by it.
    pub fn submit_notice(
        self: &Arc<Self>,
        callback: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Error> {
        self.submit_callback_as(Class::Notice, callback)
    }

    fn submit_callback_as(
        self: &Arc<Self>,
        class: Class,
        callback: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Error> {
        self.check_submit()?;
        let task = Task::new(move |failure: Option<Failure>| {
            callback(failure.map_or(Ok(()), Err));
            Ok(())
        });
        self.append([Operation::Run(task, class)]);
        Ok(())
    }

    /// Waits until everything that has been submitted has ended. For the legacy stream, that is
    /// what has been submitted to blocking streams as well.
    pub fn synchronize(self: &Arc<Self>) -> Result<(), Error> {
        self.check_wait()?;
        let sequence = self.append([]);
        self.wait_until(sequence)
    }

    fn wait_until(&self, sequence: u64) -> Result<(), Error> {
        let known = self.queue.known();
        self.queue.wait_until(sequence);
        known::program_learns(known.as_ref());
        self.queue.domain.check()
    }

    /// `Ok` if everything that has been submitted has ended, otherwise [`Error::NotReady`].
    pub fn query(self: &Arc<Self>) -> Result<(), Error> {
        process::refuse_child()?;
        self.captured.refuse()?;
        self.queue.domain.check()?;
        let sequence = self.append([]);
        if !self.queue.reached(sequence) {
            return Err(Error::NotReady);
        }
        known::program_learns(self.queue.known().as_ref());
        Ok(())
    }

    /// Records `event`: it is done when everything that has been submitted up to now has ended.
    /// While the stream captures, the event stands for the place in the capture.
    pub fn record(self: &Arc<Self>, event: &Arc<Event>) -> Result<(), Error> {
        process::refuse_child()?;
        if self.captured.record(event)? {
            return Ok(());
        }
        self.check_submit()?;
        if !event.timed() {
            let sequence = self.append([]);
            event.set(Recorded::At(self.queue.position(sequence)));
            return Ok(());
        }
        let record = event.begin_record();
        // An idle stream has the time at once, and nothing to run.
        let now = process::now();
        let sequence = self.append([]);
        if self.queue.reached(sequence) {
            event.finish_record(record, self.queue.position(sequence), Some(now));
        } else {
            let sequence = self.append([Operation::Stamp(event.clone(), record)]);
            event.finish_record(record, self.queue.position(sequence), None);
        }
        Ok(())
    }

    /// What is submitted from now on waits until the last record of `event`, as it is now, is done.
    /// The event may belong to another context. While the stream captures, or the event was
    /// recorded in a capture, it becomes a dependency of the capture.
    pub fn wait(self: &Arc<Self>, event: &Arc<Event>) -> Result<(), Error> {
        process::refuse_child()?;
        if self.captured.wait(event)? {
            return Ok(());
        }
        self.check_submit()?;
        if let Some(position) = event.position()?
            && !position.is_past()
        {
            self.append([Operation::Wait(position)]);
        }
        Ok(())
    }

    /// Begins a capture here. What is submitted through [`Stream::capture`] becomes nodes of a new
    /// graph, or of `into`: a graph and what the first node is to depend on.
    pub fn begin_capture(
        &self,
        mode: CaptureMode,
        into: Option<(Arc<Graph>, Vec<NodeId>)>,
    ) -> Result<(), Error> {
        self.captured.begin(mode, into)
    }

    /// Ends the capture that began here. On an error it is over as well, unless the error is
    /// [`Error::CaptureUnmatched`] or [`Error::CaptureWrongThread`].
    pub fn end_capture(&self) -> Result<Arc<Graph>, Error> {
        self.captured.end()
    }

    /// The stream takes part in a capture, valid or not: operations are to be given to
    /// [`Stream::capture`].
    pub fn is_capturing(&self) -> bool {
        self.captured.is_capturing()
    }

    /// The state of the capture. For the legacy stream an error while one of the streams it waits
    /// for captures.
    pub fn capture_info(&self) -> Result<CaptureInfo, Error> {
        self.captured.info()
    }

    /// Adds a node at the place in the graph where the stream is.
    pub fn capture(&self, kind: NodeKind) -> Result<NodeId, Error> {
        self.captured.add(kind)
    }

    /// Replaces what the next node will depend on, or adds to it.
    pub fn set_capture_dependencies(&self, nodes: &[NodeId], replace: bool) -> Result<(), Error> {
        self.captured.set_dependencies(nodes, replace)
    }

    pub(crate) fn check_submit(&self) -> Result<(), Error> {
        process::refuse_child()?;
        self.captured.refuse()?;
        self.queue.domain.check()
    }

    fn check_wait(&self) -> Result<(), Error> {
        process::refuse_child()?;
        if process::in_host_function() {
            return Err(Error::NotPermitted);
        }
        self.captured.refuse()
    }

    /// Appends `operations` behind what the rules of the default stream have them wait for. Returns
    /// the position where they, and what they wait for, are done.
    pub(crate) fn append<I>(&self, operations: I) -> u64
    where
        I: IntoIterator<Item = Operation, IntoIter: ExactSizeIterator>,
    {
        let operations = operations.into_iter();
        let Pushed { sequence, announce } = match &self.role {
            Role::Independent => self.push(operations, None),
            Role::Legacy => {
                let mut order = lock(&self.queue.domain.order);
                let waits: Vec<_> = order.drain(..).filter_map(|queue| unlist(&queue.upgrade()?)).collect();
                self.push(waits.into_iter().map(Operation::Wait).chain(operations), None)
            }
            Role::Blocking { legacy, seen } => {
                let mut order = lock(&self.queue.domain.order);
                let last = legacy.submitted();
                let wait = (last > seen.load(Ordering::Relaxed) && !legacy.reached(last))
                    .then(|| Operation::Wait(legacy.position(last)));
                seen.store(last, Ordering::Relaxed);
                if operations.len() > 0 && !self.queue.listed.load(Ordering::Relaxed) {
                    self.queue.listed.store(true, Ordering::Relaxed);
                    order.push(Arc::downgrade(&self.queue));
                }
                self.push(wait.into_iter().chain(operations), legacy.known())
            }
        };
        if announce {
            self.queue.announce();
        }
        sequence
    }
}

impl Stream {
    fn push(&self, operations: impl IntoIterator<Item = Operation>, awaited: Option<Arc<Clock>>) -> Pushed {
        if known::is_watched() {
            self.queue.push(self.queue.with_clocks(operations, awaited.as_ref()))
        } else {
            self.queue.push(operations)
        }
    }
}

/// The legacy stream takes note of another: what it has to wait for, if anything.
fn unlist(queue: &Arc<Queue>) -> Option<Position> {
    queue.listed.store(false, Ordering::Relaxed);
    let sequence = queue.submitted();
    (!queue.is_past(sequence)).then(|| queue.position(sequence))
}
