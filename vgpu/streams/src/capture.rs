//! Stream capture: what is submitted becomes a graph instead of running.
//!
//! A capture begins in one stream and spreads to others that wait for an event recorded in it. The
//! rules and the errors for mistakes are those of the driver API reference ("Stream management",
//! `cuStreamBeginCapture`). Every mistake makes the capture invalid, and ending it says so.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::error::Error;
use crate::event::{Event, Recorded};
use crate::graph::{Graph, NodeId, NodeKind};
use crate::process::{self, this_thread};
use crate::stream::{Blocking, Stream, next_id};
use crate::sync::lock;

/// Which calls are refused while a capture lasts, because they might run something that the capture
/// cannot contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureMode {
    /// In all threads.
    Global,
    /// In the thread that began it.
    ThreadLocal,
    /// None.
    Relaxed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStatus {
    None,
    Active,
    Invalidated,
}

/// What is known about a stream's capture.
#[derive(Clone, Debug)]
pub struct CaptureInfo {
    pub status: CaptureStatus,
    /// Unique in the process; 0 if there is none.
    pub id: u64,
    pub graph: Option<Arc<Graph>>,
    /// What the next node of the stream will depend on.
    pub dependencies: Vec<NodeId>,
}

/// A capture in progress.
#[derive(Debug)]
pub(crate) struct Capture {
    id: u64,
    graph: Arc<Graph>,
    mode: CaptureMode,
    thread: u64,
    invalid: AtomicBool,
    /// Ended: events of it lead nowhere.
    ended: AtomicBool,
    streams: Mutex<Vec<Weak<Stream>>>,
}

/// A stream's part in a capture.
#[derive(Debug)]
pub(crate) struct Branch {
    capture: Arc<Capture>,
    /// What the next node will depend on.
    dependencies: Vec<NodeId>,
    /// The capture began here.
    origin: bool,
}

/// Captures in progress, and how many there are: to find that there are none should take no lock.
static ACTIVE: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());
static ACTIVE_COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

fn active() -> std::sync::MutexGuard<'static, Vec<Arc<Capture>>> {
    ACTIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Sets how careful the calling thread is, and returns how careful it was
/// (`cuThreadExchangeStreamCaptureMode`).
#[expect(clippy::must_use_candidate, reason = "the new mode is what a caller wants")]
pub fn exchange_capture_mode(mode: CaptureMode) -> CaptureMode {
    MODE.replace(mode)
}

/// For calls that may run something at once (allocations, synchronous copies). The modes of the
/// thread and of a capture may forbid them: then they are refused, and the captures concerned
/// become invalid.
pub fn check_unsafe_call() -> Result<(), Error> {
    if ACTIVE_COUNT.load(Ordering::Acquire) == 0 || MODE.get() == CaptureMode::Relaxed {
        return Ok(());
    }
    let global = MODE.get() == CaptureMode::Global;
    let mut refused = false;
    for capture in active().iter() {
        let own = capture.thread == this_thread() && capture.mode != CaptureMode::Relaxed;
        if own || (global && capture.mode == CaptureMode::Global) {
            capture.invalidate();
            refused = true;
        }
    }
    if refused { Err(Error::CaptureUnsupported) } else { Ok(()) }
}

impl Capture {
    fn invalidate(&self) {
        self.invalid.store(true, Ordering::Release);
    }

    fn check(&self) -> Result<(), Error> {
        if self.invalid.load(Ordering::Acquire) { Err(Error::CaptureInvalidated) } else { Ok(()) }
    }

    fn live_streams(&self) -> Vec<Arc<Stream>> {
        let streams = self.streams.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Stream {
    /// Begins a capture here. What is submitted through [`Stream::capture`] becomes nodes of a new
    /// graph, or of `into`: a graph and what the first node is to depend on.
    pub fn begin_capture(
        self: &Arc<Self>,
        mode: CaptureMode,
        into: Option<(Arc<Graph>, Vec<NodeId>)>,
    ) -> Result<(), Error> {
        process::refuse_child()?;
        if self.is_legacy() {
            return Err(Error::CaptureUnsupported);
        }
        if self.is_capturing() {
            // One capture at a time; the one there is ends badly.
            return Err(self.refuse_capture().err().unwrap_or(Error::CaptureUnsupported));
        }
        let (graph, dependencies) = into.unwrap_or_else(|| (Graph::new(), Vec::new()));
        let capture = Arc::new(Capture {
            id: next_id(),
            graph,
            mode,
            thread: this_thread(),
            invalid: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
        });
        active().push(capture.clone());
        ACTIVE_COUNT.fetch_add(1, Ordering::AcqRel);
        self.join(capture, dependencies, true);
        Ok(())
    }

    fn join(self: &Arc<Self>, capture: Arc<Capture>, dependencies: Vec<NodeId>, origin: bool) {
        let mut streams = capture.streams.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        streams.push(Arc::downgrade(self));
        drop(streams);
        *lock(&self.branch) = Some(Branch { capture, dependencies, origin });
        self.capturing.store(true, Ordering::Release);
    }

    fn leave(&self) {
        self.capturing.store(false, Ordering::Release);
        *lock(&self.branch) = None;
    }

    /// Ends the capture that began here. On an error it is over as well, unless the error is
    /// [`Error::CaptureUnmatched`] or [`Error::CaptureWrongThread`].
    pub fn end_capture(self: &Arc<Self>) -> Result<Arc<Graph>, Error> {
        process::refuse_child()?;
        let (capture, dependencies) = match &*lock(&self.branch) {
            Some(branch) if branch.origin => (branch.capture.clone(), branch.dependencies.clone()),
            Some(branch) => {
                branch.capture.invalidate();
                return Err(Error::CaptureUnmatched);
            }
            None => return Err(Error::CaptureUnmatched),
        };
        if capture.mode != CaptureMode::Relaxed && capture.thread != this_thread() {
            return Err(Error::CaptureWrongThread);
        }
        let joined = capture.graph.ancestors(&dependencies);
        let mut unjoined = false;
        for stream in capture.live_streams() {
            let branch = lock(&stream.branch).take_if(|branch| Arc::ptr_eq(&branch.capture, &capture));
            let Some(branch) = branch else { continue };
            stream.leave();
            unjoined |= !branch.dependencies.iter().all(|id| joined.contains(id));
        }
        capture.ended.store(true, Ordering::Release);
        active().retain(|other| !Arc::ptr_eq(other, &capture));
        ACTIVE_COUNT.fetch_sub(1, Ordering::AcqRel);
        capture.check()?;
        if unjoined { Err(Error::CaptureUnjoined) } else { Ok(capture.graph.clone()) }
    }

    /// The stream takes part in a capture, valid or not: operations are to be given to
    /// [`Stream::capture`].
    pub fn is_capturing(&self) -> bool {
        self.capturing.load(Ordering::Acquire)
    }

    /// The state of the capture. For the legacy stream an error while one of the streams it waits
    /// for captures.
    pub fn capture_info(&self) -> Result<CaptureInfo, Error> {
        if self.is_legacy() && self.implicated().next().is_some() {
            return Err(Error::CaptureImplicit);
        }
        Ok(match &*lock(&self.branch) {
            None => CaptureInfo { status: CaptureStatus::None, id: 0, graph: None, dependencies: Vec::new() },
            Some(branch) => {
                let valid = branch.capture.check().is_ok();
                CaptureInfo {
                    status: if valid { CaptureStatus::Active } else { CaptureStatus::Invalidated },
                    id: branch.capture.id,
                    graph: Some(branch.capture.graph.clone()),
                    dependencies: branch.dependencies.clone(),
                }
            }
        })
    }

    /// Adds a node at the place in the graph where the stream is.
    pub fn capture(&self, kind: NodeKind) -> Result<NodeId, Error> {
        self.with_branch(|branch| {
            let node = branch.capture.graph.add(kind, &branch.dependencies)?;
            branch.dependencies = vec![node];
            Ok(node)
        })
    }

    /// Replaces what the next node will depend on, or adds to it.
    pub fn set_capture_dependencies(&self, nodes: &[NodeId], replace: bool) -> Result<(), Error> {
        self.with_branch(|branch| {
            if !nodes.iter().all(|&node| branch.capture.graph.kind(node).is_ok()) {
                return Err(Error::InvalidValue);
            }
            if replace {
                branch.dependencies.clear();
            }
            merge(&mut branch.dependencies, nodes);
            Ok(())
        })
    }

    fn with_branch<T>(&self, call: impl FnOnce(&mut Branch) -> Result<T, Error>) -> Result<T, Error> {
        let mut branch = lock(&self.branch);
        let branch = branch.as_mut().ok_or(Error::CaptureUnmatched)?;
        branch.capture.check()?;
        call(branch)
    }

    /// What cannot be captured was asked of the stream: refused if it, or (for the legacy stream)
    /// one that it would wait for, captures.
    pub(crate) fn refuse_capture(&self) -> Result<(), Error> {
        if self.is_capturing() {
            return match &*lock(&self.branch) {
                Some(branch) => {
                    branch.capture.check()?;
                    branch.capture.invalidate();
                    Err(Error::CaptureUnsupported)
                }
                None => Ok(()),
            };
        }
        if !self.is_legacy() {
            return Ok(());
        }
        let mut result = Ok(());
        for capture in self.implicated() {
            capture.invalidate();
            result = Err(Error::CaptureImplicit);
        }
        result
    }

    /// The captures in which blocking streams of the same context take part.
    fn implicated(&self) -> impl Iterator<Item = Arc<Capture>> {
        let captures = if ACTIVE_COUNT.load(Ordering::Acquire) == 0 { Vec::new() } else { active().clone() };
        captures.into_iter().filter(|capture| {
            capture.live_streams().iter().any(|stream| {
                stream.blocking() == Blocking::WithLegacy && Arc::ptr_eq(&stream.domain, &self.domain)
            })
        })
    }

    /// Records an event in the capture. False if the stream does not capture.
    pub(crate) fn capture_record(&self, event: &Event) -> Result<bool, Error> {
        if !self.is_capturing() {
            return Ok(false);
        }
        self.with_branch(|branch| {
            event.set(Recorded::Captured(branch.capture.clone(), branch.dependencies.clone()));
            Ok(true)
        })
    }

    /// Waits for an event in the capture. False if it has nothing to do with captures.
    pub(crate) fn capture_wait(self: &Arc<Self>, event: &Event) -> Result<bool, Error> {
        let recorded = event.recorded();
        if !self.is_capturing() {
            let Some(Recorded::Captured(capture, nodes)) = recorded else { return Ok(false) };
            if capture.ended.load(Ordering::Acquire) {
                return Err(Error::CapturedEvent);
            }
            capture.check()?;
            if self.is_legacy() {
                capture.invalidate();
                return Err(Error::CaptureImplicit);
            }
            self.join(capture, nodes, false);
            return Ok(true);
        }
        self.with_branch(|branch| match recorded {
            None => Ok(true),
            Some(Recorded::Captured(capture, nodes)) if Arc::ptr_eq(&capture, &branch.capture) => {
                merge(&mut branch.dependencies, &nodes);
                Ok(true)
            }
            Some(Recorded::Captured(capture, _)) => {
                capture.invalidate();
                branch.capture.invalidate();
                Err(Error::CaptureMerge)
            }
            Some(Recorded::At(_)) => {
                branch.capture.invalidate();
                Err(Error::CaptureIsolation)
            }
        })
    }
}

fn merge(dependencies: &mut Vec<NodeId>, more: &[NodeId]) {
    for node in more {
        if !dependencies.contains(node) {
            dependencies.push(*node);
        }
    }
}
