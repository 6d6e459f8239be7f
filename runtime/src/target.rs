//! Running a target region: the launch path.
//!
//! With all arguments present this is, per argument, one look-up, one
//! compare-and-swap before and one after the kernel; per launch one hash look-up
//! of the region. No lock, no allocation, no copy.

use crate::device::Device;
use crate::environment::{
    Counted, Edge, Held, PrivateCopies, Progress, Work, report_inner_pointers, reports_are_wanted, room_for,
};
use crate::error::{Error, ErrorKind, Result};
use crate::events::{self, Site, Step};
use crate::finisher;
use crate::items::{Item, Items};
use crate::kernel::{check_limits, close_table};
use crate::map_kind::MapKind;
use crate::placement::{Place, Purpose, Queued};
use crate::regions::Region;
use crate::shape::Shape;
use gangway_backend::{ArgumentTable, Completion, Kernel, Launch, Session, TableRequest};
use gangway_present::StreamRef;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// A construct that only moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataOperation {
    /// `target enter data`, and the beginning of `target data`.
    Begin,
    /// `target exit data`, and the end of `target data`.
    End,
    /// `target update`.
    Update,
}

impl DataOperation {
    /// What it is when a place is looked for; `nowait`: it is in a task.
    #[inline]
    #[must_use]
    pub fn purpose(self, nowait: bool) -> Purpose {
        match self {
            Self::Begin if nowait => Purpose::EnterInTask,
            Self::Begin => Purpose::Enter,
            Self::End | Self::Update => Purpose::Present,
        }
    }
}

/// A construct under way: its data environment, the session it launches in and
/// the private copies its kernel reads.
pub struct Job {
    work: Work,
    session: Session,
    private: PrivateCopies,
    /// Device address offset of each pushed argument's base, by argument index.
    positions: Vec<usize>,
    /// The kernel that is under way, for messages.
    launched: Option<&'static str>,
    /// Its share in what is queued on the device, if that is counted.
    queued: Option<Queued>,
}

// A job that a task waits for is ended by whichever thread asks about the task, and
// is then a spare one of that thread.
const _: () = {
    const fn goes_to_another_thread<T: Send>() {}
    goes_to_another_thread::<Job>();
};

thread_local! {
    /// Finished jobs of this thread. More than one only when constructs nest
    /// (host functions called back, mappers) or wait in tasks.
    #[allow(clippy::vec_box, reason = "jobs are handed out boxed: one may wait in a task")]
    static SPARE: RefCell<Vec<Box<Job>>> = const { RefCell::new(Vec::new()) };
}

/// Spare jobs a thread keeps.
const SPARES: usize = 8;

impl Job {
    /// A job on a device.
    ///
    /// # Errors
    /// The device cannot be opened, or has no stream left.
    #[inline]
    pub fn start(place: Place, site: Site, unified_shared_memory: bool) -> Result<Box<Self>> {
        Self::start_with(place, None, site, unified_shared_memory)
    }

    /// A job in a stream of the program's, if there is one.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    #[inline]
    pub(crate) fn start_with(
        place: Place,
        queue: Option<StreamRef>,
        site: Site,
        unified_shared_memory: bool,
    ) -> Result<Box<Self>> {
        let device = place.device();
        let queued = place.into_queued();
        // At thread exit the spares may be gone; a fresh job does as well.
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        match spare {
            Some(mut job) => {
                let started = job.work.restart(device, queue, site, unified_shared_memory);
                job.launched = None;
                job.queued = queued;
                match started {
                    Ok(()) => Ok(job),
                    Err(error) => {
                        job.recycle();
                        Err(error)
                    }
                }
            }
            None => Ok(Box::new(Self {
                work: Work::new(device, queue, site, unified_shared_memory)?,
                session: Session::default(),
                private: PrivateCopies::default(),
                positions: Vec::new(),
                launched: None,
                queued,
            })),
        }
    }

    /// Gives a finished job's memory to the thread's next one.
    #[inline]
    fn recycle(mut self: Box<Self>) {
        self.end_session();
        self.queued = None;
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARES {
                spare.push(self);
            }
        });
    }

    /// The back end is told that its launch is over, if it wants to be.
    #[inline]
    fn end_session(&mut self) {
        if self.session.is_open() {
            let device = self.work.construct().backend();
            self.session.end(|state| device.session_end(state));
        }
    }

    /// Whether device operations may be under way, to be waited for.
    #[inline]
    #[must_use]
    pub fn is_asynchronous(&self) -> bool {
        self.work.construct().stream().is_some()
    }

    /// Whether the device operations are done; [`complete`](Self::complete) tells
    /// whether they have failed.
    pub fn is_idle(&mut self) -> bool {
        self.work.is_idle()
    }

    /// Waits for the device operations and ends the job.
    ///
    /// # Errors
    /// One of them failed.
    #[inline]
    pub fn complete(mut self: Box<Self>) -> Result<()> {
        let result = self.work.complete().map_err(|error| self.blame_kernel(error));
        self.recycle();
        result
    }

    /// Has the job ended when its device operations are done, without anybody who waits or
    /// asks, and then calls `told` with what [`complete`](Self::complete) would have said.
    ///
    /// That happens on a thread of the runtime's, which ends one job after the other: `told`
    /// returns soon. It may call the runtime. On a synchronous device it happens here.
    ///
    /// # Errors
    /// The job is the caller's still, and `told` is not called: the device does not say when
    /// it is done, so [`is_idle`](Self::is_idle) is what there is.
    pub fn complete_later(
        self: Box<Self>,
        told: impl FnOnce(Result<()>) + Send + 'static,
    ) -> std::result::Result<(), Box<Self>> {
        let Some(stream) = self.work.construct().stream() else {
            told(self.complete());
            return Ok(());
        };
        if !self.work.construct().is_told_of_its_end() || !finisher::start() {
            return Err(self);
        }
        let handed = Arc::new(Mutex::new(Some((self, told))));
        let take = |handed: &Mutex<Option<_>>| handed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = Arc::clone(&handed);
        let completion = Completion::new(move || {
            if let Some((job, told)) = take(&done) {
                finisher::hand_over(Box::new(move || told(Self::complete(job))));
            }
        });
        match stream.on_complete(completion) {
            Ok(()) => Ok(()),
            Err(_) => take(&handed).map_or(Ok(()), |(job, _)| Err(job)),
        }
    }

    /// The job's work, for the queue that it is in.
    pub(crate) fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    /// Ends a job whose device operations are done.
    ///
    /// # Errors
    /// Memory could not be freed.
    pub(crate) fn end(mut self: Box<Self>) -> Result<()> {
        let result = self.work.end();
        self.recycle();
        result
    }

    /// The kernel that it has launched, and the construct.
    pub(crate) fn launched(&self) -> Option<(&'static str, Site)> {
        self.launched.map(|kernel| (kernel, self.work.construct().site()))
    }

    /// What fails after a launch is most likely the kernel, and its name is what
    /// the user knows: a stream does not say which of its operations failed.
    #[cold]
    fn blame_kernel(&self, mut error: Box<Error>) -> Box<Error> {
        if let (Some(name), ErrorKind::Transfer(source)) = (self.launched, &error.kind) {
            error.kind = launch_failure(name, source.clone());
        }
        self.own_fault(error)
    }

    /// A device that is lost because of this construct's kernel is that kernel's failure,
    /// whichever of the construct's operations has told it.
    #[cold]
    fn own_fault(&self, mut error: Box<Error>) -> Box<Error> {
        if let (Some(name), ErrorKind::Lost { source, host_calls, .. }) = (self.launched, &error.kind)
            && host_calls.is_empty()
            && let gangway_backend::Error::Fault { suspects, .. } = source
            && let [only] = &**suspects
            && (&*only.kernel, only.source) == (name, self.work.construct().site().source)
        {
            let kernel = gangway_trace::pretty_kernel_name(name).into();
            error.kind = ErrorKind::Launch { kernel, source: source.clone() };
        }
        error
    }

    /// Maps the arguments and launches the kernel; the unmapping is issued too,
    /// and ends in [`complete`](Self::complete).
    ///
    /// # Errors
    /// The mapping, the launch or the copy back failed. What was mapped has been
    /// unmapped again.
    #[inline]
    pub(crate) fn run(
        &mut self,
        region: &Region,
        kernel: &Kernel,
        items: &impl Items,
        shape: &Shape,
    ) -> Result<()> {
        self.work.is_for_region();
        let has_items = !items.is_empty();
        if has_items {
            self.work.enter(items)?;
        } else {
            self.work.enter_nothing();
        }
        if events::observed() {
            self.work.tell_kernel_arguments(items);
        }
        if reports_are_wanted() {
            report_inner_pointers(self.work.construct(), items);
        }
        match self.launch(region, kernel, items, shape) {
            Ok(()) if !has_items => Ok(()),
            Ok(()) => {
                let exited = self.work.exit_entered(items);
                self.end_if_failed(exited).map_err(|error| self.own_fault(error))
            }
            Err(error) => {
                self.work.abandon();
                Err(error)
            }
        }
    }

    /// Performs a data construct as far as it is counting references.
    #[inline]
    pub(crate) fn count(device: &'static Device, operation: DataOperation, items: &impl Items) -> Counted {
        let edge = match operation {
            DataOperation::Begin => Edge::Begin,
            DataOperation::End => Edge::End,
            DataOperation::Update => return Counted::NOTHING,
        };
        if events::observed() {
            return Counted::NOTHING;
        }
        // What this thread has looked up recently is in its spare jobs.
        let counted = SPARE.try_with(|spare| {
            spare.borrow_mut().last_mut().map_or(Counted::NOTHING, |job| job.work.count(device, edge, items))
        });
        counted.unwrap_or(Counted::NOTHING)
    }

    /// Undoes [`count`](Self::count) for a construct that gets no job.
    #[cold]
    pub(crate) fn take_back(
        device: &'static Device,
        operation: DataOperation,
        items: &impl Items,
        counted: &Progress,
    ) {
        if counted.is_none() {
            return;
        }
        // The job that has counted is the spare one again.
        let _ = SPARE.try_with(|spare| {
            if let Some(job) = spare.borrow_mut().last_mut() {
                match operation {
                    DataOperation::Begin => job.work.give_up_counted(items, counted),
                    DataOperation::End => job.work.count_again(device, items, counted),
                    DataOperation::Update => {}
                }
            }
        });
    }

    /// Issues a data construct, of which some items have been counted already; it ends in
    /// [`complete`](Self::complete).
    ///
    /// # Errors
    /// It failed; what had to be ended has been.
    #[inline]
    pub(crate) fn move_data(
        &mut self,
        operation: DataOperation,
        items: &impl Items,
        counted: &Progress,
    ) -> Result<()> {
        match operation {
            DataOperation::Begin => {
                self.work.enter_counted(items, counted);
                self.work.enter(items)?;
                self.work.publish().inspect_err(|_| self.work.abandon())
            }
            DataOperation::End => {
                let exited = self.work.exit(items, counted);
                self.end_if_failed(exited)
            }
            DataOperation::Update => {
                let updated = self.work.update(items);
                self.end_if_failed(updated)
            }
        }
    }

    /// Ends the job if it is to be given up: a failure is no reason to leave
    /// entries behind that nobody refers to.
    fn end_if_failed(&mut self, result: Result<()>) -> Result<()> {
        if result.is_err() {
            // The first failure is the one to report.
            let _ = self.work.complete();
        }
        result
    }

    /// Builds the table of arguments and launches the kernel with it.
    #[inline]
    fn launch(&mut self, region: &Region, kernel: &Kernel, items: &impl Items, shape: &Shape) -> Result<()> {
        let Self { work, session, private, positions, launched, queued: _ } = self;
        if let Some(size) = work.construct().sessions() {
            let started = session.start(size, |state| work.construct().at_stream().session_start(state));
            started.map_err(|error| work.construct().device().backend_error(error))?;
        }
        let site = work.construct().site();
        let group_memory = check_limits(work, region.name, kernel, shape)?;
        if work.has_seen(MapKind::LAMBDA_CAPTURE) {
            // Captures are written into lambdas that others may be filling.
            work.publish()?;
        }
        let mut table = fill_table(work, session, private, positions, kernel, items, shape)?;
        close_table(work, region.name, kernel, &mut table)?;
        work.publish()?;
        work.come_behind_queues().map_err(|error| work.construct().device().backend_error(error))?;
        let launch = shape.launch(region.name, kernel, group_memory, site.source);
        let stream = work.construct().at_stream();
        let run = || {
            // SAFETY: the table holds what the compiler says the kernel takes, and
            // every pointer in it is kept valid by `work` until it completes.
            unsafe { stream.launch(&launch, table) }
        };
        let done = if events::observed() { watched(work, &site, &launch, run) } else { run() };
        done.map_err(|source| {
            let kind = launch_failure(region.name, source);
            work.construct().device().error(kind, site.location())
        })?;
        *launched = Some(region.name);
        Ok(())
    }
}

impl Drop for Job {
    /// A job that has failed is given up.
    fn drop(&mut self) {
        self.end_session();
    }
}

/// Launches a kernel as a step that observers see.
#[cold]
fn watched(
    work: &Work,
    site: &Site,
    launch: &Launch<'_>,
    run: impl FnOnce() -> gangway_backend::Result<()>,
) -> gangway_backend::Result<()> {
    let shape = work.construct().backend().launch_shape(launch);
    let step = || Step::Launch { launch, shape };
    events::operation(work.construct().device().number(), site, work.construct().place(), step, run)
}

/// Writes the device addresses of the kernel's parameters into a table of the session.
#[inline]
fn fill_table<'s>(
    work: &mut Work,
    session: &'s mut Session,
    private: &mut PrivateCopies,
    positions: &mut Vec<usize>,
    kernel: &Kernel,
    items: &impl Items,
    shape: &Shape,
) -> Result<ArgumentTable<'s>> {
    let captures = work.has_seen(MapKind::LAMBDA_CAPTURE);
    if work.has_seen(MapKind::PRIVATE) {
        private.reserve(work, room_for_private(items))?;
    }
    // Not every list item is a parameter: this is how many there may be.
    let request = TableRequest::of(&kernel.convention, shape.own_slots, items.len());
    let table = work.construct().at_stream().argument_table(session, kernel, request);
    let mut table = table.map_err(|error| work.construct().device().backend_error(error))?;
    positions.clear();
    for index in 0..items.len() {
        let kind = items.kind(index);
        if captures {
            positions.push(table.len());
        }
        if !kind.has(MapKind::PARAMETER) {
            if captures && kind.has_all(MapKind::LAMBDA_CAPTURE) {
                capture(work, private, &items.item(index), items, positions, table.slots())?;
            }
            continue;
        }
        let item = items.item(index);
        table.push(if item.kind.has(MapKind::LITERAL) {
            item.base as u64
        } else if item.kind.has(MapKind::PRIVATE) {
            let copy = private.add(work, &item)?;
            let begin = if item.kind.has(MapKind::ATTACH) { item.base } else { item.begin };
            copy.0.wrapping_sub(begin.wrapping_sub(item.base)) as u64
        } else {
            let base = if item.kind.has(MapKind::POINTER_AND_POINTEE) {
                // SAFETY: the compiler says that the base is the address of a pointer.
                unsafe { *(item.base as *const usize) }
            } else {
                item.base
            };
            work.held(index).device.0.wrapping_sub(item.begin.wrapping_sub(base)) as u64
        });
    }
    Ok(table)
}

#[cold]
fn launch_failure(kernel: &str, source: gangway_backend::Error) -> ErrorKind {
    if matches!(source, gangway_backend::Error::Fault { .. }) {
        // Of a kernel before: this one has not been started.
        return ErrorKind::lost(source);
    }
    ErrorKind::Launch { kernel: gangway_trace::pretty_kernel_name(kernel).into(), source }
}

/// Bytes that the private copies of a launch take.
fn room_for_private(items: &impl Items) -> usize {
    let form = MapKind::PARAMETER | MapKind::PRIVATE | MapKind::LITERAL;
    let is_private = |item: &Item| item.kind.only(form) == MapKind::PARAMETER | MapKind::PRIVATE;
    items.iter().filter(is_private).map(|item| room_for(&item)).sum()
}

/// Writes the device address of a variable captured by reference into the
/// private copy of the lambda that captured it.
#[cold]
fn capture(
    work: &mut Work,
    private: &PrivateCopies,
    item: &Item,
    items: &impl Items,
    positions: &[usize],
    slots: &[u64],
) -> Result<()> {
    let Some(parent) = item.kind.parent() else { return Ok(()) };
    // Nothing, if the lambda itself is no parameter that stands before its captures.
    let Some(&parameter) = positions.get(parent).and_then(|&slot| slots.get(slot)) else { return Ok(()) };
    let Held { entry: Some(_), device, .. } = work.construct().find(item.begin, item.size) else {
        // Not mapped: the lambda keeps the host's reference.
        return Ok(());
    };
    let lambda = items.item(parent);
    let field = item.base.wrapping_sub(lambda.base);
    let target = gangway_backend::DevicePtr((parameter as usize).wrapping_add(field));
    if items.kind(parent).has(MapKind::PRIVATE) {
        private.write(work, target, &device.0.to_ne_bytes())
    } else {
        work.write_word(target, device.0)
    }
}
