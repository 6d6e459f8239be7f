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
use crate::graph::{Graph, NodeKind};
use crate::id::{NodeId, next_id};
use crate::process::{self, this_thread};
use crate::queue::Queue;

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
    streams: Mutex<Vec<Weak<Part>>>,
}

/// A stream's part in captures.
#[derive(Debug)]
pub(crate) struct Part {
    queue: Arc<Queue>,
    /// The legacy stream waits for what is submitted to the stream.
    is_blocking: bool,
    /// What is recorded here; `capturing` says whether there is something.
    branch: Mutex<Option<Branch>>,
    capturing: AtomicBool,
}

/// The part of a capture that is recorded in one stream.
#[derive(Debug)]
struct Branch {
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

/// The capture of a number. None if it has ended: events of it lead nowhere.
fn in_progress(id: u64) -> Option<Arc<Capture>> {
    active().iter().find(|capture| capture.id == id).cloned()
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

    fn streams(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Part>>> {
        self.streams.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn live_streams(&self) -> Vec<Arc<Part>> {
        self.streams().iter().filter_map(Weak::upgrade).collect()
    }
}

impl Part {
    pub(crate) fn new(queue: Arc<Queue>, is_blocking: bool) -> Arc<Self> {
        let (branch, capturing) = (Mutex::new(None), AtomicBool::new(false));
        Arc::new(Self { queue, is_blocking, branch, capturing })
    }

    fn branch(&self) -> std::sync::MutexGuard<'_, Option<Branch>> {
        self.branch.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn begin(
        self: &Arc<Self>,
        mode: CaptureMode,
        into: Option<(Arc<Graph>, Vec<NodeId>)>,
    ) -> Result<(), Error> {
        process::refuse_child()?;
        if self.queue.is_legacy() {
            return Err(Error::CaptureUnsupported);
        }
        if self.is_capturing() {
            // One capture at a time; the one there is ends badly.
            return Err(self.refuse().err().unwrap_or(Error::CaptureUnsupported));
        }
        let (graph, dependencies) = into.unwrap_or_else(|| (Graph::new(), Vec::new()));
        let capture = Arc::new(Capture {
            id: next_id(),
            graph,
            mode,
            thread: this_thread(),
            invalid: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
        });
        active().push(capture.clone());
        ACTIVE_COUNT.fetch_add(1, Ordering::AcqRel);
        self.join(capture, dependencies, true);
        Ok(())
    }

    fn join(self: &Arc<Self>, capture: Arc<Capture>, dependencies: Vec<NodeId>, origin: bool) {
        capture.streams().push(Arc::downgrade(self));
        *self.branch() = Some(Branch { capture, dependencies, origin });
        self.capturing.store(true, Ordering::Release);
    }

    fn leave(&self) {
        self.capturing.store(false, Ordering::Release);
        *self.branch() = None;
    }

    pub(crate) fn end(&self) -> Result<Arc<Graph>, Error> {
        process::refuse_child()?;
        let (capture, dependencies) = match &*self.branch() {
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
            let branch = stream.branch().take_if(|branch| Arc::ptr_eq(&branch.capture, &capture));
            let Some(branch) = branch else { continue };
            stream.leave();
            unjoined |= !branch.dependencies.iter().all(|id| joined.contains(id));
        }
        active().retain(|other| !Arc::ptr_eq(other, &capture));
        ACTIVE_COUNT.fetch_sub(1, Ordering::AcqRel);
        capture.check()?;
        if unjoined { Err(Error::CaptureUnjoined) } else { Ok(capture.graph.clone()) }
    }

    /// The stream takes part in a capture, valid or not.
    #[inline]
    pub(crate) fn is_capturing(&self) -> bool {
        self.capturing.load(Ordering::Acquire)
    }

    pub(crate) fn info(&self) -> Result<CaptureInfo, Error> {
        if self.queue.is_legacy() && self.implicated().next().is_some() {
            return Err(Error::CaptureImplicit);
        }
        Ok(match &*self.branch() {
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

    pub(crate) fn add(&self, kind: NodeKind) -> Result<NodeId, Error> {
        self.with_branch(|branch| {
            let node = branch.capture.graph.add(kind, &branch.dependencies)?;
            branch.dependencies = vec![node];
            Ok(node)
        })
    }

    pub(crate) fn set_dependencies(&self, nodes: &[NodeId], replace: bool) -> Result<(), Error> {
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
        let mut branch = self.branch();
        let branch = branch.as_mut().ok_or(Error::CaptureUnmatched)?;
        branch.capture.check()?;
        call(branch)
    }

    /// What cannot be captured was asked of the stream: refused if it, or (for the legacy stream)
    /// one that it would wait for, captures.
    pub(crate) fn refuse(&self) -> Result<(), Error> {
        if self.is_capturing() {
            return match &*self.branch() {
                Some(branch) => {
                    branch.capture.check()?;
                    branch.capture.invalidate();
                    Err(Error::CaptureUnsupported)
                }
                None => Ok(()),
            };
        }
        if !self.queue.is_legacy() {
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
            capture
                .live_streams()
                .iter()
                .any(|stream| stream.is_blocking && Arc::ptr_eq(&stream.queue.domain, &self.queue.domain))
        })
    }

    /// Records an event in the capture. False if the stream does not capture.
    pub(crate) fn record(&self, event: &Event) -> Result<bool, Error> {
        if !self.is_capturing() {
            return Ok(false);
        }
        self.with_branch(|branch| {
            event.set(Recorded::Captured(branch.capture.id, branch.dependencies.clone()));
            Ok(true)
        })
    }

    /// Waits for an event in the capture. False if it has nothing to do with captures.
    pub(crate) fn wait(self: &Arc<Self>, event: &Event) -> Result<bool, Error> {
        let recorded = event.recorded();
        if !self.is_capturing() {
            let Some(Recorded::Captured(id, nodes)) = recorded else { return Ok(false) };
            let capture = in_progress(id).ok_or(Error::CapturedEvent)?;
            capture.check()?;
            if self.queue.is_legacy() {
                capture.invalidate();
                return Err(Error::CaptureImplicit);
            }
            self.join(capture, nodes, false);
            return Ok(true);
        }
        self.with_branch(|branch| match recorded {
            None => Ok(true),
            Some(Recorded::Captured(id, nodes)) if id == branch.capture.id => {
                merge(&mut branch.dependencies, &nodes);
                Ok(true)
            }
            Some(Recorded::Captured(id, _)) => {
                if let Some(capture) = in_progress(id) {
                    capture.invalidate();
                }
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
