//! Queues that the program owns: OpenACC's async queues, and the streams of interop
//! objects.
//!
//! A queue is a stream that never goes to the device's pool. Constructs are issued to it
//! one behind the other and return at once. What is left of a construct (memory to free,
//! buffers to drop) is done when the queue has got there, by the next thread that comes
//! to the queue. The device tells that if it can ([`Capabilities::completions`]);
//! otherwise whoever comes asks whether the queue is idle.
//!
//! What a construct unmaps leaves the present table when the construct is issued: the next
//! one in the queue maps it anew. Constructs of other queues that use it still come first.
//! Only what a construct outside of queues uses stays until that is done. A construct outside
//! of queues that unmaps what constructs in queues use waits for them.
//!
//! Queues are independent of each other, and of constructs outside of queues, unless they are
//! [blocking](Queue::create_blocking).
//!
//! [`Capabilities::completions`]: gangway_backend::Capabilities::completions

pub use crate::device::Marker;
use crate::device::{Device, DeviceQueue, Event, Opened};
use crate::environment::Work;
use crate::error::{Error, ErrorKind, Result};
use crate::events::Site;
use crate::target::Job;
use gangway_backend::{Completion, Copies, EventHandle, ForeignRuntime};
use gangway_present::EntryRef;
use gangway_present::StreamRef;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// A queue of a device. It is destroyed by [`destroy`](Self::destroy), or when it is
/// dropped; both wait for it.
pub struct Queue {
    shared: Arc<Shared>,
    destroyed: bool,
}

/// What the device keeps of a queue, too, to wait for it before it unloads an image.
struct Shared {
    device: &'static Device,
    /// `None` on synchronous devices, whose queues are always empty. Destroyed when the
    /// last user of it goes.
    stream: Option<StreamRef>,
    blocking: bool,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// What has been issued and not ended, in order.
    issued: Vec<Issued>,
    /// What has been issued so far.
    count: u64,
    /// Kernels launched since the queue was last found idle: one of them is to blame for
    /// a failure. No more than [`SUSPECTS`], the last ones.
    suspects: VecDeque<Suspect>,
    /// Threads that are ending constructs.
    ending: Vec<ThreadId>,
    /// What has failed since somebody was told.
    failure: Option<Box<Error>>,
}

/// Kernels that are named when something in a queue has failed.
const SUSPECTS: usize = 8;

/// With so many constructs in it a queue is asked whether it is idle before the next one, if
/// its device does not tell when each of them is done.
const PATIENCE: usize = 16;

/// A kernel in a queue.
struct Suspect {
    number: u64,
    kernel: &'static str,
    site: Site,
}

/// What has been issued: a construct, or waiting for an event.
struct Issued {
    number: u64,
    what: What,
    /// Set when it is done, if the device tells.
    done: Option<Arc<AtomicBool>>,
}

enum What {
    Construct(Box<Job>),
    /// The event lives until nothing waits for it any more.
    Wait(#[expect(dead_code, reason = "kept until it is dropped")] Arc<Event>),
}

impl Issued {
    /// The work of a construct.
    fn work(&mut self) -> Option<&mut Work> {
        match &mut self.what {
            What::Construct(job) => Some(job.work()),
            What::Wait(_) => None,
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the constructs that are known to be done: those whose device says so, and all
    /// up to number `idle`. False: there are none.
    fn end_finished(&self, idle: u64) -> bool {
        let this = std::thread::current().id();
        let mut state = self.state();
        let is_done = |issued: &mut Issued| {
            issued.number < idle || issued.done.as_ref().is_some_and(|done| done.load(Ordering::Acquire))
        };
        let finished: Vec<Issued> = state.issued.extract_if(.., is_done).collect();
        if finished.is_empty() {
            return false;
        }
        state.ending.push(this);
        drop(state);
        let mut failure = None;
        for issued in finished {
            if let What::Construct(job) = issued.what {
                failure = failure.or(job.end().err());
            }
        }
        let mut state = self.state();
        state.failure = state.failure.take().or(failure);
        if let Some(own) = state.ending.iter().position(|thread| *thread == this) {
            state.ending.swap_remove(own);
        }
        self.ended.notify_all();
        true
    }

    /// Waits until other threads have ended what they found done. A thread that comes
    /// here while it ends constructs (an observer's call) does not wait for itself.
    fn wait_for_others(&self) -> MutexGuard<'_, State> {
        let this = std::thread::current().id();
        let others = |state: &mut State| state.ending.iter().any(|thread| *thread != this);
        self.ended.wait_while(self.state(), others).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what a construct at the end of this queue has unmapped out of the present
    /// table: the next construct maps it anew. Its memory is freed when the construct is
    /// done, so the construct has to be behind those that use the memory still. In this
    /// queue it is.
    fn withdraw(&self, work: &mut Work) -> Result<()> {
        work.withdraw();
        let contested = work.contested();
        if contested.is_empty() {
            return Ok(());
        }
        for queue in self.device.all_queues() {
            if !queue.uses_any(&contested) {
                continue;
            }
            self.wait_for(&*queue)?;
            queue.hand_over(&contested);
        }
        // What is left is used by constructs that somebody waits for; it leaves with them.
        work.withdraw();
        Ok(())
    }

    /// Orders what is issued to this queue later behind what has been issued to another.
    fn wait_for(&self, other: &dyn DeviceQueue) -> Result<()> {
        if std::ptr::addr_eq(self, other) {
            return Ok(());
        }
        self.wait_for_marker(&other.mark()?)
    }

    fn wait_for_marker(&self, marker: &Marker) -> Result<()> {
        let Some(event) = &marker.event else { return Ok(()) };
        let Some(stream) = self.stream.filter(|_| std::ptr::eq(self.device, marker.device)) else {
            return marker.wait();
        };
        self.fail(stream.wait(event.handle))?;
        let mut state = self.state();
        let number = state.count;
        state.count += 1;
        state.issued.push(Issued { number, what: What::Wait(Arc::clone(event)), done: None });
        Ok(())
    }

    /// Whether all that was issued is done, without waiting, and whether something has been
    /// ended: what is done is. `Looks`: the program does not get to know.
    fn ask(&self, asking: Copies) -> Result<(bool, bool)> {
        let Some(stream) = self.stream else { return Ok((true, false)) };
        self.device.open()?;
        let issued = self.state().count;
        let mut idle = Ok(false);
        stream.on_behalf(asking, &mut || idle = stream.is_idle());
        let idle = idle.unwrap_or_else(|error| {
            self.note(error);
            true
        });
        let ended = self.end_finished(if idle { issued } else { 0 });
        if idle {
            self.clear_suspects(issued);
        }
        Ok((idle, ended))
    }

    fn clear_suspects(&self, before: u64) {
        self.state().suspects.retain(|suspect| suspect.number >= before);
    }

    /// Remembers that an operation has failed. The stream does not tell which: if there is
    /// only one kernel that it can be, that one is named as by a construct that waits.
    #[cold]
    fn note(&self, source: gangway_backend::Error) {
        let mut state = self.state();
        let readable = |suspect: &Suspect| gangway_trace::pretty_kernel_name(suspect.kernel).into();
        let mut kernels: Vec<String> = state.suspects.iter().map(readable).collect();
        let construct = match &state.suspects.make_contiguous() {
            [only] => only.site.location(),
            _ => None,
        };
        let kind = match (kernels.len(), kernels.pop()) {
            (1, Some(kernel)) => ErrorKind::Launch { kernel, source },
            (_, last) => {
                kernels.extend(last);
                ErrorKind::Queue { kernels, source }
            }
        };
        state.failure.get_or_insert(self.device.error(kind, construct));
    }

    fn fail<T>(&self, result: std::result::Result<T, gangway_backend::Error>) -> Result<T> {
        result.map_err(|error| self.device.backend_error(error))
    }
}

impl DeviceQueue for Shared {
    fn uses_any(&self, entries: &[EntryRef<'static>]) -> bool {
        let mut state = self.wait_for_others();
        state.issued.iter_mut().filter_map(Issued::work).any(|work| work.uses_any(entries))
    }

    fn mark(&self) -> Result<Marker> {
        let device = self.device;
        let opened = device.open()?;
        let event = match self.stream {
            Some(stream) if opened.capabilities.events => {
                let handle = self.fail(stream.record())?;
                Some(Arc::new(Event { device, handle }))
            }
            _ => {
                self.drain();
                None
            }
        };
        Ok(Marker { device, event })
    }

    fn end_done(&self) -> bool {
        self.ask(Copies::Looks).is_ok_and(|(_, ended)| ended)
    }

    fn is_blocking(&self) -> bool {
        self.blocking
    }

    fn is_busy(&self) -> bool {
        let (Some(stream), Ok(_)) = (self.stream, self.device.open()) else { return false };
        let idle = stream.is_idle();
        !idle.unwrap_or_else(|error| {
            self.note(error);
            true
        })
    }

    fn precede(
        &self,
        opened: &Opened,
        stream: StreamRef,
    ) -> std::result::Result<Option<EventHandle>, gangway_backend::Error> {
        let Some(own) = self.stream.filter(|_| opened.capabilities.events) else {
            self.drain();
            return Ok(None);
        };
        let event = own.record()?;
        match stream.wait(event) {
            Ok(()) => Ok(Some(event)),
            Err(error) => {
                // Nothing can be done about an event that cannot be destroyed.
                let _ = opened.device.destroy_event(event);
                Err(error)
            }
        }
    }

    fn drain(&self) {
        let (Some(stream), Ok(_)) = (self.stream, self.device.open()) else { return };
        let issued = self.state().count;
        if let Err(error) = stream.synchronize() {
            self.note(error);
        }
        self.end_finished(issued);
        drop(self.wait_for_others());
        self.clear_suspects(issued);
    }

    fn hand_over(&self, entries: &[EntryRef<'static>]) {
        let mut state = self.state();
        state.issued.iter_mut().filter_map(Issued::work).for_each(|work| work.hand_over(entries));
    }
}

impl Shared {
    /// Destroys the stream.
    fn close(&mut self) -> Result<()> {
        // In the child of a fork the device may be out of reach.
        let (Some(stream), Ok(_)) = (self.stream.take(), self.device.open()) else { return Ok(()) };
        // SAFETY: its last user has gone, and with it all that has been issued to it.
        self.fail(unsafe { stream.close() })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.close();
    }
}

impl Queue {
    /// Creates a queue, and opens the device for it.
    ///
    /// # Errors
    /// The device cannot be opened, or has no stream left.
    pub fn create(device: &'static Device) -> Result<Self> {
        Self::create_with(device, false)
    }

    /// Creates a queue that constructs outside of queues come behind, with each operation on the
    /// device: all that has been issued to the queue before is done first. So CUDA orders its
    /// null stream behind blocking streams.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_blocking(device: &'static Device) -> Result<Self> {
        Self::create_with(device, true)
    }

    fn create_with(device: &'static Device, blocking: bool) -> Result<Self> {
        let opened = device.open()?;
        let stream = if opened.capabilities.asynchronous {
            let created = opened.device.open_stream();
            Some(StreamRef::new(created.map_err(|error| device.backend_error(error))?))
        } else {
            None
        };
        Ok(Self::of(device, stream, blocking))
    }

    /// Makes a [blocking](Self::create_blocking) queue of a stream of the foreign runtime's, which
    /// stays the program's.
    ///
    /// # Safety
    /// It is a stream of this device, and stays one until the queue has been destroyed.
    ///
    /// # Errors
    /// The device cannot be opened, or has no such streams.
    pub unsafe fn adopt(device: &'static Device, foreign: usize) -> Result<Self> {
        // SAFETY: the caller's promise.
        let adopted = unsafe { device.open()?.device.adopt_stream(foreign) };
        let stream = adopted.map_err(|error| device.backend_error(error))?;
        Ok(Self::of(device, Some(StreamRef::new(stream)), true))
    }

    fn of(device: &'static Device, stream: Option<StreamRef>, blocking: bool) -> Self {
        let (state, ended) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { device, stream, blocking, state, ended });
        if stream.is_some() {
            device.remember_queue(shared.clone());
        }
        Self { shared, destroyed: false }
    }

    /// Its device.
    #[must_use]
    pub fn device(&self) -> &'static Device {
        self.shared.device
    }

    /// Whether there is a stream behind it: on synchronous devices there is none.
    #[must_use]
    pub fn has_stream(&self) -> bool {
        self.shared.stream.is_some()
    }

    /// The foreign runtime's handle of its stream.
    #[must_use]
    pub fn foreign(&self) -> Option<usize> {
        self.shared.device.open().ok()?;
        self.shared.stream.map(|stream| stream.foreign())
    }

    pub(crate) fn stream(&self) -> Option<StreamRef> {
        self.shared.stream
    }

    /// A job in the queue.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub(crate) fn start(&self, site: Site, unified_shared_memory: bool) -> Result<Box<Job>> {
        Job::start_with(self.device().into(), self.stream(), site, unified_shared_memory)
    }

    /// Takes over a construct that has been issued to its stream.
    pub(crate) fn accept(&self, mut job: Box<Job>) -> Result<()> {
        let Some(stream) = self.shared.stream else { return job.complete() };
        let opened = self.shared.device.open()?;
        if let Err(error) = self.shared.withdraw(job.work()) {
            let _ = job.complete();
            return Err(error);
        }
        let done = opened.capabilities.completions.then(|| Arc::new(AtomicBool::new(false)));
        if let Some(done) = &done {
            let done = done.clone();
            let mut completion = Some(Completion::new(move || done.store(true, Ordering::Release)));
            // Where it fails, the construct is found done when the queue is idle.
            // The program does not hear of that.
            stream.on_behalf(Copies::Looks, &mut || {
                completion.take().map(|completion| stream.on_complete(completion));
            });
        }
        let mut state = self.shared.state();
        let number = state.count;
        state.count += 1;
        if let Some((kernel, site)) = job.launched() {
            if state.suspects.len() == SUSPECTS {
                state.suspects.pop_front();
            }
            state.suspects.push_back(Suspect { number, kernel, site });
        }
        state.issued.push(Issued { number, what: What::Construct(job), done });
        Ok(())
    }

    /// Ends constructs that are done, before another one is issued.
    pub(crate) fn tidy(&self) -> Result<()> {
        let waiting = self.shared.state().issued.len();
        let told = self.shared.device.open()?.capabilities.completions;
        if told && waiting > 0 {
            self.shared.end_finished(0);
        }
        if waiting >= PATIENCE {
            self.shared.ask(Copies::Looks)?;
        }
        Ok(())
    }

    /// Waits until all that has been issued to the queue is done.
    ///
    /// # Errors
    /// Something in the queue has failed since the last time.
    pub fn synchronize(&self) -> Result<()> {
        self.shared.drain();
        self.shared.state().failure.take().map_or(Ok(()), Err)
    }

    /// Whether all that has been issued to the queue is done; does not wait for the device.
    ///
    /// # Errors
    /// All is done, and something has failed.
    pub fn test(&self) -> Result<bool> {
        if !self.shared.ask(Copies::Runtimes)?.0 {
            return Ok(false);
        }
        self.shared.wait_for_others().failure.take().map_or(Ok(true), Err)
    }

    /// Calls a function when all that has been issued to the queue so far is done, on a
    /// thread of the device's driver. It must not call the runtime. False: the device
    /// does not tell, so [`test`](Self::test) is what there is.
    ///
    /// # Errors
    /// What the driver says.
    pub fn notify(&self, function: impl FnOnce() + Send + 'static) -> Result<bool> {
        let opened = self.shared.device.open()?;
        match self.shared.stream {
            None => function(),
            Some(stream) if opened.capabilities.completions => {
                self.shared.fail(stream.on_complete(Completion::new(function)))?;
            }
            Some(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Has what is issued to this queue later wait for what has been issued to the other
    /// one. Where the devices differ, or have no events, this waits for the other queue.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait_for(&self, other: &Self) -> Result<()> {
        self.shared.wait_for(&*other.shared)
    }

    /// The end of what has been issued to the queue so far. Where the device has no
    /// events, this waits for the queue.
    ///
    /// # Errors
    /// What the driver says.
    pub fn mark(&self) -> Result<Marker> {
        self.shared.mark()
    }

    /// Has what is issued to this queue later wait for a point in another one. Where that
    /// is one of another device, this waits for the point.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait_for_marker(&self, marker: &Marker) -> Result<()> {
        self.shared.wait_for_marker(marker)
    }

    /// Waits for the queue and destroys it. It is destroyed even if something in it failed.
    ///
    /// # Errors
    /// Something in the queue has failed, or its stream cannot be destroyed.
    pub fn destroy(mut self) -> Result<()> {
        let waited = self.synchronize();
        let shared = Arc::clone(&self.shared);
        shared.device.forget_queue(&*shared);
        self.destroyed = true;
        drop(self);
        // Another thread that waits for all queues destroys the stream if it has this one still.
        waited.and(Arc::into_inner(shared).map_or(Ok(()), |mut shared| shared.close()))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if !self.destroyed {
            self.shared.drain();
            self.shared.device.forget_queue(&*self.shared);
        }
    }
}

/// Has calls of the runtime underneath a device's back end that the program makes on this thread
/// go to this device; opens the device.
///
/// # Errors
/// The device cannot be opened.
pub fn make_current(device: &'static Device) -> Result<()> {
    device.open()?.device.make_current();
    Ok(())
}

/// The runtime underneath a device's back end, if programs can call it; opens
/// the device.
///
/// # Errors
/// The device cannot be opened.
pub fn foreign_runtime(device: &'static Device) -> Result<Option<ForeignRuntime>> {
    Ok(device.open()?.device.foreign_runtime())
}
