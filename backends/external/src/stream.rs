//! A stream of an external library, behind the trait.
//!
//! As the device's methods, each of these is one call into the library.

use crate::abi::{self, Functions, Handle, RtlLaunch, RtlSession};
use crate::opened::{Opened, handle, lend};
use crate::services;
use crate::status::{Doing, check};
use gangway_backend::{
    ArgumentForm, ArgumentTable, Completion, DevicePtr, Error, EventHandle, Kernel, Launch, RangeNotice,
    Result, Session, SessionState, Stream, TableRequest,
};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A stream, or where operations go without one.
pub(crate) struct ExternalStream {
    device: Arc<Opened>,
    /// Null without a stream; of a stream it can be any word.
    handle: Handle,
    /// There is a stream, to be destroyed.
    is_open: bool,
}

// SAFETY: the header lets any thread call any function.
unsafe impl Send for ExternalStream {}
// SAFETY: as above.
unsafe impl Sync for ExternalStream {}

impl ExternalStream {
    /// Takes over a stream that the library has just made.
    pub fn new(device: Arc<Opened>, handle: Handle) -> Self {
        Self { device, handle, is_open: true }
    }

    /// Where operations go without a stream.
    pub fn immediate(device: Arc<Opened>) -> Self {
        Self { device, handle: ptr::null_mut(), is_open: false }
    }

    fn functions(&self) -> &Functions {
        &self.device.functions
    }

    fn opened(&self) -> Handle {
        self.device.handle
    }

    fn destroy(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        self.device.done("streams", self.functions().destroy_stream, self.handle)
    }

    /// Has the library write the slots of a launch that are its own; answers how many
    /// stand before and behind the program's.
    fn fill_slots(&self, kernel: &Kernel, table: &mut ArgumentTable<'_>) -> Result<(u32, u32)> {
        let (leading, trailing) = (table.leading().len(), table.trailing().len());
        let counts = (leading as u32, trailing as u32);
        let Some(function) = self.functions().fill_slots.filter(|_| leading + trailing > 0) else {
            return Ok(counts);
        };
        let (leading, trailing) = (table.leading().as_mut_ptr(), table.trailing().as_mut_ptr());
        self.with_session(table.session(), |state| {
            check(Doing::Operation("this launch"), |error| {
                let kernel = handle(kernel.handle.0);
                // SAFETY: both lists have so many slots, which are the table's alone.
                unsafe {
                    function(self.opened(), kernel, state, leading, counts.0, trailing, counts.1, error)
                }
            })
        })?;
        Ok(counts)
    }

    /// Lends the session of a launch in this stream to the library.
    #[inline]
    fn with_session<R>(&self, session: &mut SessionState, body: impl FnOnce(*mut RtlSession) -> R) -> R {
        session.stream = self.handle.expose_provenance();
        lend(session, body)
    }
}

impl Drop for ExternalStream {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.destroy();
    }
}

impl Stream for ExternalStream {
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        check(Doing::Operation("copies to the device"), |error| {
            let (to, from) = (to.0 as u64, from.cast());
            // SAFETY: the caller's promise.
            unsafe { (self.functions().copy_to_device)(self.opened(), to, from, size, self.handle, error) }
        })
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        check(Doing::Operation("copies from the device"), |error| {
            let (to, from) = (to.cast(), from.0 as u64);
            // SAFETY: the caller's promise.
            unsafe { (self.functions().copy_from_device)(self.opened(), to, from, size, self.handle, error) }
        })
    }

    unsafe fn copy_between(
        &self,
        to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        let operation = "copies between devices";
        let function = self.functions().copy_between.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            let (to, from) = (to.0 as u64, from.0 as u64);
            // SAFETY: the caller's promise.
            unsafe { function(self.opened(), to_ordinal as u32, to, from, size, self.handle, error) }
        })
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize) -> Result<()> {
        let operation = "memory fill";
        let function = self.functions().fill.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the caller's promise.
            unsafe { function(self.opened(), to.0 as u64, byte, size, self.handle, error) }
        })
    }

    fn allocate_in_order(&self, size: usize) -> Result<DevicePtr> {
        let operation = "stream-ordered memory";
        let function = self.functions().allocate_in_stream.ok_or(Error::Unsupported { operation })?;
        let mut address = 0;
        check(Doing::Allocation(size), |error| {
            // SAFETY: the stream is live.
            unsafe { function(self.opened(), size, self.handle, &mut address, error) }
        })?;
        Ok(DevicePtr(address as usize))
    }

    unsafe fn deallocate_in_order(&self, pointer: DevicePtr) -> Result<()> {
        let operation = "stream-ordered memory";
        let function = self.functions().deallocate_in_stream.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the caller's promise.
            unsafe { function(self.opened(), pointer.0 as u64, self.handle, error) }
        })
    }

    fn session_start(&self, session: &mut SessionState) -> Result<()> {
        let Some(function) = self.functions().session_start else { return Ok(()) };
        self.with_session(session, |state| {
            // SAFETY: the device is open; the session is valid during the call.
            check(Doing::Operation("this launch"), |error| unsafe { function(self.opened(), state, error) })
        })
    }

    fn argument_table<'s>(
        &self,
        session: &'s mut Session,
        kernel: &Kernel,
        request: TableRequest,
    ) -> Result<ArgumentTable<'s>> {
        let Functions { argument_table, kernel_table, .. } = *self.functions();
        if argument_table.is_none() && kernel_table.is_none() {
            return Ok(session.host_table(request));
        }
        let (mut memory, mut visible, mut address) = (ptr::null_mut(), 0, 0);
        let count = request.slots() as u32;
        self.with_session(session.state(), |state| {
            // SAFETY: kernel and session are valid during the call.
            check(Doing::Operation("kernel-argument memory"), |error| unsafe {
                match (kernel_table, argument_table) {
                    (Some(function), _) => {
                        let kernel = handle(kernel.handle.0);
                        let (visible, address) = (&mut visible, &mut address);
                        function(self.opened(), kernel, state, count, &mut memory, visible, address, error)
                    }
                    (None, Some(function)) => function(self.opened(), state, count, &mut memory, error),
                    (None, None) => abi::UNSUPPORTED,
                }
            })
        })?;
        let Some(memory) = NonNull::new(memory) else {
            let message = "the back end gave no memory for kernel arguments".to_owned();
            return Err(Error::Device { code: 0, message });
        };
        // SAFETY: the library gave room for that many arguments, for this session
        // alone and until its launch. Slots that the kernel does not take are null.
        Ok(unsafe {
            memory.write_bytes(0, request.slots());
            match visible {
                0 => session.table_at(memory, request),
                _ => session.visible_table_at(memory, DevicePtr(address as usize), request),
            }
        })
    }

    unsafe fn launch(&self, launch: &Launch<'_>, mut table: ArgumentTable<'_>) -> Result<()> {
        let (leading_slots, trailing_slots) = self.fill_slots(launch.kernel, &mut table)?;
        let argument_count = table.len() as u32;
        let (arguments, argument_bytes) = match &launch.kernel.convention.form {
            ArgumentForm::Packed(parameters) => {
                let packed = table.pack(parameters);
                (packed.as_ptr().cast(), packed.len() as u64)
            }
            ArgumentForm::Slots | ArgumentForm::DeviceTable => {
                (table.slots().as_ptr(), size_of_val(table.slots()) as u64)
            }
        };
        let described = RtlLaunch {
            size: size_of::<RtlLaunch>() as u32,
            argument_count,
            arguments,
            kernel: handle(launch.kernel.handle.0),
            name: launch.name.as_ptr().cast(),
            name_length: launch.name.len() as u64,
            source: launch.source.as_ptr(),
            teams: launch.teams,
            thread_limit: launch.thread_limit,
            trip_count: launch.trip_count,
            dynamic_group_memory: launch.dynamic_group_memory,
            by_address: u32::from(launch.by_address),
            argument_bytes,
            leading_slots,
            trailing_slots,
        };
        self.with_session(table.session(), |state| {
            check(Doing::Operation("this launch"), |error| {
                // SAFETY: the caller's promise; all that is passed is valid during the call.
                unsafe { (self.functions().launch_kernel)(self.opened(), &described, state, error) }
            })
        })
    }

    fn synchronize(&self) -> Result<()> {
        if !self.is_open {
            return Ok(());
        }
        self.device.done("streams", self.functions().synchronize, self.handle)
    }

    fn is_idle(&self) -> Result<bool> {
        let Some(function) = self.functions().is_idle.filter(|_| self.is_open) else {
            return self.synchronize().map(|()| true);
        };
        let mut idle = 0;
        check(Doing::Operation("streams"), |error| {
            // SAFETY: the stream is live.
            unsafe { function(self.opened(), self.handle, &mut idle, error) }
        })?;
        Ok(idle != 0)
    }

    fn record(&self) -> Result<EventHandle> {
        let operation = "events";
        let function = self.functions().record_event.ok_or(Error::Unsupported { operation })?;
        let mut event = ptr::null_mut();
        check(Doing::Operation(operation), |error| {
            // SAFETY: the stream is live.
            unsafe { function(self.opened(), self.handle, &mut event, error) }
        })?;
        Ok(EventHandle(event.expose_provenance()))
    }

    fn wait(&self, event: EventHandle) -> Result<()> {
        let operation = "events";
        let function = self.functions().wait_event.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: stream and event are live.
            unsafe { function(self.opened(), self.handle, handle(event.0), error) }
        })
    }

    fn on_complete(&self, completion: Completion) -> Result<()> {
        /// Called by the library with what it was given.
        ///
        /// # Safety
        /// `word` is a completion's, and is passed once.
        unsafe extern "C" fn complete(word: *mut c_void) {
            // SAFETY: the caller's promise.
            unsafe { Completion::from_raw(word) }.complete();
        }
        let operation = "completion callbacks";
        let Some(function) = self.functions().on_complete else {
            completion.cancel();
            return Err(Error::Unsupported { operation });
        };
        let word = completion.into_raw();
        let asked = check(Doing::Operation(operation), |error| {
            // SAFETY: the stream is live, and the library calls the function once.
            unsafe { function(self.opened(), self.handle, complete, word, error) }
        });
        if asked.is_err() {
            // SAFETY: a library that refuses does not call the function.
            unsafe { Completion::from_raw(word) }.cancel();
        }
        asked
    }

    fn host_range(&self, notice: RangeNotice) {
        let Some(function) = self.functions().host_range else { return };
        let (change, address) = services::range_change(notice.change, notice.begin);
        let begin = ptr::with_exposed_provenance(notice.begin);
        // SAFETY: the device is open, the stream one of its own.
        unsafe { function(self.opened(), begin, notice.size, change, address, self.handle) };
    }

    fn foreign(&self) -> usize {
        match self.functions().foreign_stream {
            // SAFETY: the device is open and the stream one of its own.
            Some(foreign) => unsafe { foreign(self.opened(), self.handle) }.addr(),
            None => self.handle.addr(),
        }
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.destroy()
    }
}
