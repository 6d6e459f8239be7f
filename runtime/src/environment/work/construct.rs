//! Where a construct is executed, and for whom.

use super::holdings::Held;
use crate::device::{Device, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::events::{self, MappingEvent, Place, Site};
use crate::storage::{AllocationRequest, Purpose};
use gangway_backend::{DevicePtr, EventHandle, HostCopy, RangeChange, Stream};
use gangway_present::{BlockRef, EntryRef, Label, Point, PresentTable, ReadyRef, Relation, StreamRef};

/// The construct that work is for: its device, the stream of its operations, and where it stands
/// in the program.
///
/// It has its stream until its operations are done. One of the device's pool goes back there
/// then; one of the program's is left alone.
pub(crate) struct Construct {
    device: &'static Device,
    opened: &'static Opened,
    site: Site,
    stream: Option<StreamRef>,
    /// The stream is the program's, and the construct is not waited for at its end.
    queued: bool,
    unified_shared_memory: bool,
    /// The program asks for copies.
    is_update: bool,
    /// A target region, whose data nobody else has when it ends.
    is_region: bool,
    /// What showed before the end that it had failed.
    failure: Option<gangway_backend::Error>,
}

impl Construct {
    /// A construct on a device, which is opened if need be, in a stream of the program's or of
    /// the device's pool.
    pub(super) fn new(
        device: &'static Device,
        queue: Option<StreamRef>,
        site: Site,
        unified_shared_memory: bool,
    ) -> Result<Self> {
        let opened = device.open()?;
        let stream = stream_of(device, opened, queue)?;
        Ok(Self {
            device,
            opened,
            site,
            stream,
            queued: queue.is_some(),
            unified_shared_memory,
            is_update: false,
            is_region: false,
            failure: None,
        })
    }

    /// Another construct, in the place of this one, which is over.
    // One after the other where they stay: a launch would pay for a whole one on its way there.
    #[inline]
    pub(super) fn restart(
        &mut self,
        device: &'static Device,
        queue: Option<StreamRef>,
        site: Site,
        unified_shared_memory: bool,
    ) -> Result<()> {
        self.device = device;
        self.opened = device.open()?;
        self.site = site;
        self.stream = stream_of(device, self.opened, queue)?;
        self.queued = queue.is_some();
        self.unified_shared_memory = unified_shared_memory;
        self.is_update = false;
        self.is_region = false;
        debug_assert!(self.failure.is_none(), "a failure is told at the end");
        Ok(())
    }

    /// Says that it is a target region.
    #[inline]
    pub(super) fn is_for_region(&mut self) {
        self.is_region = true;
    }

    /// Says that it is a `target update`.
    pub(in crate::environment) fn is_for_update(&mut self) {
        self.is_update = true;
    }

    /// The device it is for.
    #[inline]
    pub(crate) fn device(&self) -> &'static Device {
        self.device
    }

    /// The same, after its first use.
    #[inline]
    pub(crate) fn opened(&self) -> &'static Opened {
        self.opened
    }

    /// What of the host has storage there.
    #[inline]
    pub(crate) fn table(&self) -> &'static PresentTable {
        &self.device.table
    }

    /// Its back end's device.
    #[inline]
    pub(crate) fn backend(&self) -> &'static dyn gangway_backend::Device {
        &*self.opened.device
    }

    /// What the back end keeps in each session, if it has sessions.
    #[inline]
    pub(crate) fn sessions(&self) -> Option<usize> {
        self.opened.capabilities.sessions
    }

    /// Whether the device says when the operations are done.
    pub(crate) fn is_told_of_its_end(&self) -> bool {
        self.opened.capabilities.completions
    }

    /// Where it stands in the source, and who has called.
    #[inline]
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// Where its operations go, for those who time them.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place { stream: self.stream, queued: self.queued }
    }

    /// Where its operations go.
    #[inline]
    pub(crate) fn at_stream(&self) -> &'static dyn Stream {
        self.opened.at(self.stream)
    }

    /// The stream its operations go to; there is none on synchronous devices.
    #[inline]
    pub(crate) fn stream(&self) -> Option<StreamRef> {
        self.stream
    }

    /// Whether it is in a queue of the program's.
    #[inline]
    pub(in crate::environment) fn is_queued(&self) -> bool {
        self.queued
    }

    /// Whether it is a target region.
    #[inline]
    pub(in crate::environment) fn is_region(&self) -> bool {
        self.is_region
    }

    /// Whether the program requires that devices use the host's memory in its place.
    #[inline]
    pub(in crate::environment) fn has_unified_shared_memory(&self) -> bool {
        self.unified_shared_memory
    }

    /// Whether small data is packed on its device.
    #[inline]
    pub(in crate::environment) fn packs(&self) -> bool {
        self.opened.capabilities.packed_transfers
    }

    /// Looks a range up without counting it.
    pub(crate) fn find(&self, host: usize, size: usize) -> Held {
        match self.table().lookup(host, size) {
            Relation::Contained(entry) | Relation::Partial(entry) if entry.wait_allocated() => {
                Held { entry: Some(entry), device: entry.translate(host), counted: None }
            }
            _ => Held::host(host),
        }
    }

    /// An error of this construct's.
    #[cold]
    pub(crate) fn fail(&self, kind: ErrorKind) -> Box<Error> {
        self.device.error(kind, self.site.location())
    }

    /// Tells observers of a change of the present table.
    pub(in crate::environment) fn tell_mapping(&self, event: &MappingEvent) {
        events::tell(|observer| observer.mapping(self.device.number(), event));
    }

    /// Tells the device of a host range, if it wants to know, in the order of the operations.
    #[inline]
    pub(in crate::environment) fn notice(
        &self,
        begin: usize,
        size: usize,
        change: RangeChange,
        label: Label,
    ) {
        self.opened.notice(begin, size, change, label, self.stream);
        if let RangeChange::Mapped(storage) = change {
            self.opened.obtained(storage, true, &self.site);
        }
    }

    /// Tells the device that the program deletes what is mapped, whoever else uses it, if it wants to know.
    #[inline]
    pub(in crate::environment) fn deletes(&self, entry: EntryRef<'static>) {
        let begin = entry.host_begin();
        let size = entry.host_end() - begin;
        self.opened.deletes(entry.translate(begin), size, &self.site, self.stream);
    }

    /// Tells the device that the copy which has just been put into a stream reads or writes memory of the program, if
    /// it wants to know.
    #[inline]
    pub(super) fn tell_host_copy(
        &self,
        stream: &dyn Stream,
        (address, size): (usize, usize),
        direction: Direction,
    ) {
        if self.opened.capabilities.host_copies && size != 0 {
            let write = direction == Direction::Out;
            let copy = HostCopy { address, size, write, mapped: !self.is_update };
            stream.host_copy(&copy, self.site.location());
        }
    }

    /// Where operations go, if the device wants to know whose affair they are.
    pub(in crate::environment) fn noticing(&self) -> Option<&'static dyn Stream> {
        self.opened.capabilities.mapping_notices.then(|| self.opened.at(self.stream))
    }
}

/// Which way a copy goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

/// A stream of the program's, or of the device's pool.
#[inline]
fn stream_of(
    device: &'static Device,
    opened: &'static Opened,
    queue: Option<StreamRef>,
) -> Result<Option<StreamRef>> {
    match queue {
        None => device.take_stream(opened),
        own => Ok(own),
    }
}

/// Its operations' end.
impl Construct {
    /// Waits for the operations issued so far.
    pub(in crate::environment) fn settle(&self) -> Result<()> {
        let Some(stream) = self.stream else { return Ok(()) };
        stream.synchronize().map_err(|error| self.device.backend_error(error))
    }

    /// Whether all operations are done. A failure that shows, and that the back end does not
    /// tell again, is kept for [`wait`](Self::wait).
    pub(super) fn is_idle(&mut self) -> bool {
        let Some(stream) = self.stream else { return true };
        stream.is_idle().unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            true
        })
    }

    /// Waits for all operations.
    pub(super) fn wait(&mut self) -> Result<()> {
        let Some(stream) = self.stream else { return Ok(()) };
        let synchronized = stream.synchronize();
        let synchronized = self.failure.take().map_or(synchronized, Err);
        synchronized.map_err(|error| self.fail(ErrorKind::Transfer(error)))
    }

    /// Has done with its stream.
    pub(super) fn give_stream_back(&mut self) {
        if let Some(stream) = self.stream.take().filter(|_| !self.queued) {
            self.device.give_stream_back(stream);
        }
    }

    /// Gives up so many uses of a point.
    #[cold]
    pub(super) fn leave_point(&self, ready: ReadyRef<'static>, uses: usize) {
        if let Some(Point::Event(event)) = self.table().leave(ready, uses) {
            self.destroy_event(event);
        }
    }

    /// Nothing can be done about an event that cannot be destroyed.
    pub(super) fn destroy_event(&self, event: EventHandle) {
        let _ = self.opened.device.destroy_event(event);
    }
}

/// Device memory.
impl Construct {
    /// What it allocates and frees device memory for.
    #[inline]
    fn purpose(&self) -> Purpose {
        Purpose::Runtime { stream: self.stream }
    }

    /// Device memory for what is at `host`; `overwritten`: all of it is about to be written.
    pub(in crate::environment) fn allocate(
        &self,
        host: usize,
        size: usize,
        overwritten: bool,
        label: Label,
    ) -> Result<DevicePtr> {
        let request = AllocationRequest { host, size, purpose: self.purpose(), overwritten, label };
        self.device.allocate(self.opened, &self.site, &request)
    }

    /// Device memory for a block of small data; `None` if there is too little for one.
    pub(super) fn allocate_block(&self, size: usize) -> Result<Option<DevicePtr>> {
        self.device.allocate_block(self.opened, &self.site, size, self.purpose())
    }

    /// Frees device memory.
    ///
    /// # Safety
    /// It has been [allocated](Self::allocate) by a construct, nobody uses it any more, and no
    /// operation under way does.
    #[inline]
    pub(super) unsafe fn deallocate(&mut self, memory: DevicePtr) -> Result<()> {
        self.leave_queue();
        // SAFETY: the caller's promise.
        unsafe { self.device.deallocate(self.opened, &self.site, memory, self.purpose()) }
    }

    /// Ends uses of a block; frees it if they were the last.
    pub(super) fn leave_block(&mut self, block: BlockRef<'static>, uses: usize) -> Result<()> {
        let Some(memory) = self.table().leave_block(block, uses) else { return Ok(()) };
        self.leave_queue();
        // SAFETY: nobody uses the block any more, and the device has done with it.
        unsafe { self.device.deallocate_block(self.opened, &self.site, memory, self.purpose()) }
    }

    /// Where memory is freed in the order of streams, a construct of a queue that has ended
    /// frees it in a stream of the pool: the queue stays idle, and may be gone.
    #[inline]
    fn leave_queue(&mut self) {
        if self.queued {
            self.go_to_pool();
        }
    }

    #[cold]
    fn go_to_pool(&mut self) {
        if self.opened.capabilities.stream_ordered_memory
            && let Ok(pooled) = self.device.take_stream(self.opened)
        {
            self.stream = pooled;
            self.queued = false;
        }
    }
}
