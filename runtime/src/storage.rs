//! Device memory: where it comes from and where it goes.
//!
//! What a program allocates itself is the driver's. What the runtime allocates for mapped
//! data comes from the device's pool if its back end asks for one, or in the order of the
//! construct's stream if the back end can do that. No lock is held across a call.

use crate::device::{Device, Opened};
use crate::error::{Error, ErrorKind, HostRange, Result};
use crate::events::{self, Site, Step};
use crate::pool::{GivenBack, Pool};
use gangway_backend::{AllocationKind, DevicePtr, Error as BackendError, Result as BackendResult};
use gangway_present::Label;
use gangway_present::StreamRef;

/// What [`Device::allocate`] is asked for.
#[derive(Clone, Copy)]
pub(crate) struct AllocationRequest {
    pub(crate) host: usize,
    pub(crate) size: usize,
    pub(crate) purpose: Purpose,
    /// All of it is about to be written.
    pub(crate) overwritten: bool,
    pub(crate) label: Label,
}

/// Whose memory it is; the same when it is allocated and when it is freed.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The program's, which asked for it.
    Program(AllocationKind),
    /// The runtime's. The operations of `stream` are the first to use it, or those before
    /// its end the last; there are none where the device is synchronous.
    Runtime { stream: Option<StreamRef> },
}

impl Device {
    /// Allocates device memory.
    ///
    /// # Errors
    /// Out of memory, or a kind of memory the device lacks.
    #[inline]
    pub(crate) fn allocate(
        &self,
        opened: &Opened,
        site: &Site,
        request: &AllocationRequest,
    ) -> Result<DevicePtr> {
        let result = if events::observed() {
            self.obtain_watched(opened, site, request)
        } else {
            self.obtain(opened, request.size, request.purpose, request.overwritten)
        };
        result.map_err(|error| self.no_memory(site, request, error))
    }

    /// Observers are told of it.
    #[cold]
    fn obtain_watched(
        &self,
        opened: &Opened,
        site: &Site,
        request: &AllocationRequest,
    ) -> BackendResult<DevicePtr> {
        let AllocationRequest { host, size, purpose, overwritten, label } = *request;
        events::step(
            self.number(),
            site,
            || Step::Allocate { host, device: None, size, label },
            || self.obtain(opened, size, purpose, overwritten),
            |result| Step::Allocate { host, device: result.as_ref().ok().copied(), size, label },
        )
    }

    #[cold]
    fn no_memory(&self, site: &Site, request: &AllocationRequest, error: BackendError) -> Box<Error> {
        let AllocationRequest { host, size, purpose, label, .. } = *request;
        let memory = match purpose {
            Purpose::Program(kind) => kind,
            Purpose::Runtime { .. } => AllocationKind::Device,
        };
        let kind = match error {
            BackendError::OutOfMemory { requested } => ErrorKind::OutOfMemory {
                memory,
                wanted: HostRange { begin: host, size, label },
                requested,
                mapped: self.mapped_bytes(),
            },
            other => return self.fail(site, other),
        };
        self.error(kind, site.location())
    }

    /// Frees device memory.
    ///
    /// # Safety
    /// As [`gangway_backend::Device::deallocate`]; the purpose is that of its allocation.
    #[inline]
    pub(crate) unsafe fn deallocate(
        &self,
        opened: &Opened,
        site: &Site,
        pointer: DevicePtr,
        purpose: Purpose,
    ) -> Result<()> {
        let freed = if events::observed() {
            // SAFETY: the caller's promise.
            unsafe { self.free_watched(opened, site, pointer, purpose) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { opened.deallocate(pointer, purpose) }
        };
        freed.map_err(|error| self.fail(site, error))
    }

    /// Observers are told of it.
    ///
    /// # Safety
    /// As [`deallocate`](Self::deallocate).
    #[cold]
    unsafe fn free_watched(
        &self,
        opened: &Opened,
        site: &Site,
        pointer: DevicePtr,
        purpose: Purpose,
    ) -> BackendResult<()> {
        let step = || Step::Deallocate { device: pointer };
        // SAFETY: the caller's promise.
        let free = || unsafe { opened.deallocate(pointer, purpose) };
        events::step(self.number(), site, step, free, |_| step())
    }

    #[cold]
    fn fail(&self, site: &Site, error: BackendError) -> Box<Error> {
        self.error(ErrorKind::Backend(error), site.location())
    }

    #[inline]
    fn obtain(
        &self,
        opened: &Opened,
        size: usize,
        purpose: Purpose,
        overwritten: bool,
    ) -> BackendResult<DevicePtr> {
        match opened.allocate(size, purpose, overwritten) {
            Err(error @ BackendError::OutOfMemory { .. }) => {
                self.obtain_after_all(opened, size, purpose, overwritten, error)
            }
            answer => answer,
        }
    }

    /// What is kept for later may be what is missing now.
    #[cold]
    fn obtain_after_all(
        &self,
        opened: &Opened,
        size: usize,
        purpose: Purpose,
        overwritten: bool,
        error: BackendError,
    ) -> BackendResult<DevicePtr> {
        if self.make_room(opened, purpose)? {
            opened.allocate(size, purpose, overwritten)
        } else {
            Err(error)
        }
    }

    /// Allocates a block for several entries; `None` if there is no memory for it. Observers
    /// are told of the entries instead.
    ///
    /// # Errors
    /// The device has failed.
    pub(crate) fn allocate_block(
        &self,
        opened: &Opened,
        site: &Site,
        size: usize,
        purpose: Purpose,
    ) -> Result<Option<DevicePtr>> {
        match opened.allocate(size, purpose, false) {
            Ok(block) => Ok(Some(block)),
            Err(BackendError::OutOfMemory { .. }) => Ok(None),
            Err(error) => Err(self.fail(site, error)),
        }
    }

    /// Frees what [`allocate_block`](Self::allocate_block) gave.
    ///
    /// # Safety
    /// As [`deallocate`](Self::deallocate).
    pub(crate) unsafe fn deallocate_block(
        &self,
        opened: &Opened,
        site: &Site,
        block: DevicePtr,
        purpose: Purpose,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { opened.deallocate(block, purpose) }.map_err(|error| self.fail(site, error))
    }

    /// Has memory freed that is kept for later, or in the order of streams, or that queued
    /// constructs have done with. False: none.
    ///
    /// # Errors
    /// An operation of the construct that needs memory has failed.
    #[cold]
    fn make_room(&self, opened: &Opened, purpose: Purpose) -> BackendResult<bool> {
        let ended = self.all_queues().iter().filter(|queue| queue.end_done()).count();
        self.settle_idle_streams();
        let mut made = opened.trim() || ended > 0;
        if opened.capabilities.stream_ordered_memory {
            made = true;
            if let Purpose::Runtime { stream: Some(stream) } = purpose {
                stream.synchronize()?;
            }
        }
        Ok(made)
    }

    /// Waits for the idle streams, in which memory may still have to be freed. They stay:
    /// another thread may be about to wait for the end of one, see
    /// [`Point::EndOf`](gangway_present::Point).
    pub(crate) fn settle_idle_streams(&self) {
        for stream in self.take_idle_streams() {
            // A failure of what was done in it before has been told.
            let _ = stream.synchronize();
            stream.trim();
            self.give_stream_back(stream);
        }
    }

    /// Gives the back end the memory that is kept for later constructs. Those, and
    /// constructs under way, are none the worse for it.
    pub fn trim(&self) {
        let Some(opened) = self.opened_if_usable() else { return };
        self.settle_idle_streams();
        opened.trim();
        opened.device.trim();
    }

    /// Gives the back end all that is kept for later constructs: memory and idle streams. No
    /// construct is under way; later ones are none the worse for it.
    pub fn release_idle(&self) {
        let Some(opened) = self.opened_if_usable() else { return };
        for stream in self.take_idle_streams() {
            // A failure of what was done in it before has been told.
            let _ = stream.synchronize();
            // Nothing can be done about a stream that cannot be destroyed.
            // SAFETY: it was idle, and no construct is under way that could have a point in it.
            let _ = unsafe { stream.close() };
        }
        opened.trim();
    }

    /// Bytes of host storage mapped here, not counting what is associated.
    fn mapped_bytes(&self) -> usize {
        let own = |entry: &gangway_present::EntryRef<'_>| entry.allocation().is_some();
        self.table.entries().into_iter().filter(own).map(|e| e.host_end() - e.host_begin()).sum()
    }
}

impl Opened {
    #[inline(always)]
    fn allocate(&self, size: usize, purpose: Purpose, overwritten: bool) -> BackendResult<DevicePtr> {
        match &self.pool {
            None => self.ask_driver(size, purpose, overwritten),
            Some(pool) => self.allocate_with(pool, size, purpose, overwritten),
        }
    }

    fn allocate_with(
        &self,
        pool: &Pool,
        size: usize,
        purpose: Purpose,
        overwritten: bool,
    ) -> BackendResult<DevicePtr> {
        if matches!(purpose, Purpose::Runtime { .. }) {
            let block = pool.take(size).map_or_else(|| self.extend(pool, size), |block| Ok(Some(block)))?;
            if let Some(block) = block {
                return Ok(block);
            }
        }
        self.ask_driver(size, purpose, overwritten)
    }

    /// A block of a new chunk; `None` if there is no memory for one, or `size` is too large.
    #[cold]
    fn extend(&self, pool: &Pool, size: usize) -> BackendResult<Option<DevicePtr>> {
        let Some(bytes) = pool.chunk_for(size) else { return Ok(None) };
        match self.device.allocate(bytes, AllocationKind::Device, false) {
            Ok(chunk) => Ok(Some(pool.add(size, chunk, bytes))),
            Err(BackendError::OutOfMemory { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn ask_driver(&self, size: usize, purpose: Purpose, overwritten: bool) -> BackendResult<DevicePtr> {
        match purpose {
            Purpose::Runtime { stream: Some(stream) } if self.capabilities.stream_ordered_memory => {
                stream.allocate_in_order(size)
            }
            Purpose::Runtime { .. } => self.device.allocate(size, AllocationKind::Device, overwritten),
            Purpose::Program(kind) => self.device.allocate(size, kind, overwritten),
        }
    }

    /// # Safety
    /// As [`Device::deallocate`].
    #[inline(always)]
    unsafe fn deallocate(&self, pointer: DevicePtr, purpose: Purpose) -> BackendResult<()> {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            match (purpose, &self.pool) {
                (Purpose::Program(kind), None) => self.device.deallocate(pointer, kind),
                (Purpose::Program(kind), Some(pool)) => {
                    if pool.contains(pointer) {
                        let message = "the address belongs to mapped data".to_owned();
                        return Err(BackendError::Device { code: 0, message });
                    }
                    self.device.deallocate(pointer, kind)
                }
                (Purpose::Runtime { stream }, None) => self.give_to_driver(pointer, stream),
                (Purpose::Runtime { stream }, Some(pool)) => match pool.give_back(pointer) {
                    GivenBack::Kept => Ok(()),
                    GivenBack::Surplus(chunk) => self.device.deallocate(chunk, AllocationKind::Device),
                    GivenBack::Foreign => self.give_to_driver(pointer, stream),
                },
            }
        }
    }

    /// # Safety
    /// As [`Device::deallocate`], of what [`ask_driver`](Self::ask_driver) gave.
    #[inline(always)]
    unsafe fn give_to_driver(&self, pointer: DevicePtr, stream: Option<StreamRef>) -> BackendResult<()> {
        match stream {
            Some(stream) if self.capabilities.stream_ordered_memory => {
                // SAFETY: the caller's promise.
                unsafe { stream.deallocate_in_order(pointer) }
            }
            // SAFETY: the caller's promise.
            _ => unsafe { self.device.deallocate(pointer, AllocationKind::Device) },
        }
    }

    /// Gives the driver what the pool keeps for later. False: nothing.
    fn trim(&self) -> bool {
        let unpinned = self.staging.as_ref().is_some_and(|staging| staging.unpin_idle(&*self.device));
        let chunks = self.pool.as_ref().map(Pool::trim).unwrap_or_default();
        for &chunk in &chunks {
            // Nothing can be done about memory that cannot be freed.
            // SAFETY: no block of it is in use, and the pool has forgotten it.
            let _ = unsafe { self.device.deallocate(chunk, AllocationKind::Device) };
        }
        unpinned || !chunks.is_empty()
    }
}
