//! A device of an external library, behind the trait.
//!
//! Each method is one call into the library; what is optional and absent answers
//! as the trait's default does. No policy, no state but the handles.

use crate::abi::{self, Functions, Handle, RtlError, RtlForeign, RtlLaunch, RtlSession, Status};
use crate::module::ExternalModule;
use crate::services;
use crate::status::{Doing, check};
use gangway_backend::{
    AllocationKind, ArgumentForm, ArgumentTable, Capabilities, Completion, Device, DevicePtr, Error,
    EventHandle, ForeignRuntime, ForeignRuntimeKind, HostCallService, Kernel, Launch, Module, RangeNotice,
    Rank, Result, Session, SessionState, StreamHandle, TableRequest, Vendor, VisibleMemory,
};
use once_cell::race::OnceBox;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// An opened device. Closed when the last of it and its images goes.
pub(crate) struct Opened {
    pub functions: Arc<Functions>,
    pub handle: Handle,
}

// SAFETY: the header lets any thread call any function.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: nothing of the device is left.
        unsafe { (self.functions.close)(self.handle) };
    }
}

pub(crate) struct ExternalDevice {
    device: Arc<Opened>,
    capabilities: Capabilities,
    /// What the library serves host calls with, once an image makes some.
    host_calls: OnceBox<&'static abi::RtlHostCalls>,
}

/// The library's handle of a stream; null where there is none.
#[inline]
fn raw(stream: Option<StreamHandle>) -> Handle {
    stream.map_or(ptr::null_mut(), |stream| ptr::with_exposed_provenance_mut(stream.0))
}

#[inline]
fn handle(number: usize) -> Handle {
    ptr::with_exposed_provenance_mut(number)
}

impl ExternalDevice {
    /// Takes over a device that has just been opened.
    pub fn new(functions: Arc<Functions>, handle: Handle, path: &Path) -> Result<Self> {
        let broken =
            |message: String| Error::Device { code: 0, message: format!("{}: {message}", path.display()) };
        let device = Opened { functions, handle };
        let functions = &device.functions;
        // SAFETY: the device is open.
        let flags = functions.capabilities.map_or(0, |capabilities| unsafe { capabilities(handle) });
        let has = |flag: u64| flags & flag != 0;
        let streams = functions.create_stream.is_some()
            && functions.destroy_stream.is_some()
            && functions.synchronize.is_some();
        if has(abi::ASYNCHRONOUS) && !streams {
            return Err(broken(
                "the device is asynchronous, but gangway_rtl_create_stream, gangway_rtl_destroy_stream and \
                 gangway_rtl_synchronize are not all defined"
                    .to_owned(),
            ));
        }
        if has(abi::PEER_COPY) && functions.copy_between.is_none() {
            return Err(broken("GANGWAY_RTL_PEER_COPY is set without gangway_rtl_copy_between".to_owned()));
        }
        if has(abi::MAPPING_NOTICES) && functions.host_range.is_none() {
            return Err(broken(
                "GANGWAY_RTL_MAPPING_NOTICES is set without gangway_rtl_host_range".to_owned(),
            ));
        }
        let capabilities = Capabilities {
            asynchronous: has(abi::ASYNCHRONOUS),
            // Events are of use only together.
            events: functions.record_event.is_some()
                && functions.wait_event.is_some()
                && functions.destroy_event.is_some(),
            completions: functions.on_complete.is_some(),
            unified_memory: has(abi::UNIFIED_MEMORY),
            private_in_session: has(abi::PRIVATE_IN_SESSION),
            peer_copy: has(abi::PEER_COPY),
            pooled_memory: has(abi::POOLED_MEMORY),
            packed_transfers: has(abi::PACKED_TRANSFERS),
            pinned_staging: has(abi::PINNED_STAGING),
            stream_ordered_memory: has(abi::ASYNCHRONOUS)
                && functions.allocate_in_stream.is_some()
                && functions.deallocate_in_stream.is_some(),
            host_calls: services::host_calls(flags, functions).map_err(|why| broken(why.to_owned()))?,
            mapping_notices: has(abi::MAPPING_NOTICES),
            // The words of a session are any library's.
            // SAFETY: the device is open.
            sessions: Some(functions.session_size.map_or(0, |size| unsafe { size(handle) })),
        };
        Ok(Self { device: Arc::new(device), capabilities, host_calls: OnceBox::new() })
    }

    fn functions(&self) -> &Functions {
        &self.device.functions
    }

    fn handle(&self) -> Handle {
        self.device.handle
    }
}

impl Device for ExternalDevice {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn describe(&self) -> Vec<(String, String)> {
        /// Adds a line to the vector that `context` leads to.
        ///
        /// # Safety
        /// Called by the library with what `describe` gave it and two C strings.
        unsafe extern "C" fn line(context: *mut c_void, key: *const c_char, value: *const c_char) {
            if key.is_null() || value.is_null() {
                return;
            }
            // SAFETY: the context is the vector below; the texts end in a zero byte.
            unsafe {
                let text = |text| CStr::from_ptr(text).to_string_lossy().into_owned();
                (*context.cast::<Vec<(String, String)>>()).push((text(key), text(value)));
            }
        }
        let mut lines: Vec<(String, String)> = Vec::new();
        if let Some(describe) = self.functions().describe {
            // SAFETY: the callback gets the vector, which outlives the call.
            unsafe { describe(self.handle(), line, (&raw mut lines).cast()) };
        }
        lines
    }

    fn architecture(&self) -> String {
        // SAFETY: the device is open.
        let text = self.functions().architecture.map(|architecture| unsafe { architecture(self.handle()) });
        match text {
            // SAFETY: a text that ends in a zero byte.
            Some(text) if !text.is_null() => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
            _ => "unknown".to_owned(),
        }
    }

    fn foreign_runtime(&self) -> Option<ForeignRuntime> {
        let ask = self.functions().foreign_runtime?;
        let mut foreign = RtlForeign {
            kind: 0,
            vendor: 0,
            has_device: 0,
            handles: 0,
            platform: ptr::null_mut(),
            device: ptr::null_mut(),
            context: ptr::null_mut(),
        };
        // SAFETY: the device is open, the structure is this frame's.
        check(Doing::Operation("interoperability"), |error| unsafe {
            ask(self.handle(), &mut foreign, error)
        })
        .ok()?;
        // Version 1.0 had no flags: a handle was there if it was not null.
        let handle = |handle: Handle, flag| {
            (foreign.handles & flag != 0 || !handle.is_null()).then_some(handle.addr())
        };
        // Numbers that Gangway does not know are of a later version of the
        // definitions; a program could not be told what it got.
        Some(ForeignRuntime {
            kind: ForeignRuntimeKind::from_number(foreign.kind)?,
            vendor: Vendor::from_number(foreign.vendor)?,
            platform: handle(foreign.platform, abi::FOREIGN_PLATFORM),
            device: (foreign.has_device != 0).then_some(foreign.device.addr()),
            context: handle(foreign.context, abi::FOREIGN_CONTEXT),
        })
    }

    fn foreign_stream(&self, stream: StreamHandle) -> usize {
        match self.functions().foreign_stream {
            // SAFETY: the device is open and the stream one of its own.
            Some(foreign) => unsafe { foreign(self.handle(), stream.0 as Handle) }.addr(),
            None => stream.0,
        }
    }

    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        let Some(function) = self.functions().fitness else { return Ok(Rank::default()) };
        let mut rank = 0;
        check(Doing::Operation("images"), |error| {
            // SAFETY: the image has that many bytes.
            unsafe { function(self.handle(), image.as_ptr().cast(), image.len(), &mut rank, error) }
        })?;
        Ok(Rank(rank))
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        let mut module = ptr::null_mut();
        check(Doing::Operation("images"), |error| {
            // SAFETY: the image has that many bytes.
            unsafe {
                (self.functions().load)(self.handle(), image.as_ptr().cast(), image.len(), &mut module, error)
            }
        })?;
        Ok(Box::new(ExternalModule::new(Arc::clone(&self.device), module)))
    }

    fn allocate(&self, size: usize, kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        let mut address = 0;
        check(Doing::Allocation(size), |error| {
            // SAFETY: the device is open.
            unsafe { (self.functions().allocate)(self.handle(), size, kind as i32, &mut address, error) }
        })?;
        Ok(DevicePtr(address as usize))
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()> {
        check(Doing::Operation("freeing memory"), |error| {
            // SAFETY: the caller's promise.
            unsafe { (self.functions().deallocate)(self.handle(), pointer.0 as u64, kind as i32, error) }
        })
    }

    unsafe fn copy_to_device(
        &self,
        to: DevicePtr,
        from: *const u8,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        check(Doing::Operation("copies to the device"), |error| {
            let (to, from) = (to.0 as u64, from.cast());
            // SAFETY: the caller's promise.
            unsafe { (self.functions().copy_to_device)(self.handle(), to, from, size, raw(stream), error) }
        })
    }

    unsafe fn copy_from_device(
        &self,
        to: *mut u8,
        from: DevicePtr,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        check(Doing::Operation("copies from the device"), |error| {
            let (to, from) = (to.cast(), from.0 as u64);
            // SAFETY: the caller's promise.
            unsafe { (self.functions().copy_from_device)(self.handle(), to, from, size, raw(stream), error) }
        })
    }

    unsafe fn copy_between(
        &self,
        to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        let operation = "copies between devices";
        let function = self.functions().copy_between.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            let (to, from) = (to.0 as u64, from.0 as u64);
            // SAFETY: the caller's promise.
            unsafe { function(self.handle(), to_ordinal as u32, to, from, size, raw(stream), error) }
        })
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize, stream: Option<StreamHandle>) -> Result<()> {
        let operation = "memory fill";
        let function = self.functions().fill.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the caller's promise.
            unsafe { function(self.handle(), to.0 as u64, byte, size, raw(stream), error) }
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
        with_session(session.state(), |state| {
            // SAFETY: kernel and session are valid during the call.
            check(Doing::Operation("kernel-argument memory"), |error| unsafe {
                match (kernel_table, argument_table) {
                    (Some(function), _) => {
                        let kernel = handle(kernel.handle.0);
                        let (visible, address) = (&mut visible, &mut address);
                        function(self.handle(), kernel, state, count, &mut memory, visible, address, error)
                    }
                    (None, Some(function)) => function(self.handle(), state, count, &mut memory, error),
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
        with_session(table.session(), |state| {
            check(Doing::Operation("this launch"), |error| {
                // SAFETY: the caller's promise; all that is passed is valid during the call.
                unsafe { (self.functions().launch_kernel)(self.handle(), &described, state, error) }
            })
        })
    }

    fn session_start(&self, session: &mut SessionState) -> Result<()> {
        let Some(function) = self.functions().session_start else { return Ok(()) };
        with_session(session, |state| {
            // SAFETY: the device is open; the session is valid during the call.
            check(Doing::Operation("this launch"), |error| unsafe { function(self.handle(), state, error) })
        })
    }

    fn session_end(&self, session: &mut SessionState) {
        if let Some(function) = self.functions().session_end {
            // SAFETY: the device is open; the session has been started.
            with_session(session, |state| unsafe { function(self.handle(), state) });
        }
    }

    fn create_stream(&self) -> Result<StreamHandle> {
        self.made("streams", self.functions().create_stream).map(StreamHandle)
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<()> {
        self.done("streams", self.functions().destroy_stream, handle(stream.0))
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<()> {
        self.done("streams", self.functions().synchronize, handle(stream.0))
    }

    fn is_idle(&self, stream: StreamHandle) -> Result<bool> {
        let Some(function) = self.functions().is_idle else {
            return self.synchronize(stream).map(|()| true);
        };
        let mut idle = 0;
        check(Doing::Operation("streams"), |error| {
            // SAFETY: the stream is live.
            unsafe { function(self.handle(), handle(stream.0), &mut idle, error) }
        })?;
        Ok(idle != 0)
    }

    fn record_event(&self, stream: StreamHandle) -> Result<EventHandle> {
        let operation = "events";
        let function = self.functions().record_event.ok_or(Error::Unsupported { operation })?;
        let mut event = ptr::null_mut();
        check(Doing::Operation(operation), |error| {
            // SAFETY: the stream is live.
            unsafe { function(self.handle(), handle(stream.0), &mut event, error) }
        })?;
        Ok(EventHandle(event.expose_provenance()))
    }

    fn wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        let operation = "events";
        let function = self.functions().wait_event.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: stream and event are live.
            unsafe { function(self.handle(), handle(stream.0), handle(event.0), error) }
        })
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.done("events", self.functions().destroy_event, handle(event.0))
    }

    fn on_complete(&self, stream: StreamHandle, completion: Completion) -> Result<()> {
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
            unsafe { function(self.handle(), handle(stream.0), complete, word, error) }
        });
        if asked.is_err() {
            // SAFETY: a library that refuses does not call the function.
            unsafe { Completion::from_raw(word) }.cancel();
        }
        asked
    }

    fn allocate_in_stream(&self, size: usize, stream: StreamHandle) -> Result<DevicePtr> {
        let operation = "stream-ordered memory";
        let function = self.functions().allocate_in_stream.ok_or(Error::Unsupported { operation })?;
        let mut address = 0;
        check(Doing::Allocation(size), |error| {
            // SAFETY: the stream is live.
            unsafe { function(self.handle(), size, handle(stream.0), &mut address, error) }
        })?;
        Ok(DevicePtr(address as usize))
    }

    unsafe fn deallocate_in_stream(&self, pointer: DevicePtr, stream: StreamHandle) -> Result<()> {
        let operation = "stream-ordered memory";
        let function = self.functions().deallocate_in_stream.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the caller's promise.
            unsafe { function(self.handle(), pointer.0 as u64, handle(stream.0), error) }
        })
    }

    fn allocate_visible(&self, size: usize) -> Result<VisibleMemory> {
        let operation = "memory that host and device see";
        let function = self.functions().allocate_visible.ok_or(Error::Unsupported { operation })?;
        let (mut host, mut address) = (ptr::null_mut(), 0);
        check(Doing::Allocation(size), |error| {
            // SAFETY: the device is open.
            unsafe { function(self.handle(), size, &mut host, &mut address, error) }
        })?;
        let Some(host) = NonNull::new(host.cast()) else {
            let message = format!("the back end gave no host address for {operation}");
            return Err(Error::Device { code: 0, message });
        };
        Ok(VisibleMemory { host, device: DevicePtr(address as usize) })
    }

    unsafe fn deallocate_visible(&self, memory: VisibleMemory) -> Result<()> {
        let operation = "memory that host and device see";
        let function = self.functions().deallocate_visible.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            let address = memory.device.0 as u64;
            // SAFETY: the caller's promise.
            unsafe { function(self.handle(), memory.host.as_ptr().cast(), address, error) }
        })
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        let operation = "host calls";
        let function = self.functions().connect_host_calls.ok_or(Error::Unsupported { operation })?;
        let calls = self.host_calls.get_or_init(|| Box::new(services::lend(service)));
        // SAFETY: the device is open; what is lent stays valid.
        check(Doing::Operation(operation), |error| unsafe { function(self.handle(), *calls, error) })
    }

    fn host_range(&self, notice: RangeNotice, stream: Option<StreamHandle>) {
        let Some(function) = self.functions().host_range else { return };
        let (change, address) = services::range_change(notice.change, notice.begin);
        let begin = ptr::with_exposed_provenance(notice.begin);
        // SAFETY: the device is open, the stream one of its own.
        unsafe { function(self.handle(), begin, notice.size, change, address, raw(stream)) };
    }

    unsafe fn pin_host(&self, host: *mut u8, size: usize) -> Result<DevicePtr> {
        let operation = "pinned host memory";
        let function = self.functions().pin_host.ok_or(Error::Unsupported { operation })?;
        let mut address = 0;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the caller's promise.
            unsafe { function(self.handle(), host.cast(), size, &mut address, error) }
        })?;
        Ok(DevicePtr(address as usize))
    }

    unsafe fn unpin_host(&self, host: *mut u8) -> Result<()> {
        self.done("pinned host memory", self.functions().unpin_host, host.cast())
    }
}

impl ExternalDevice {
    /// Has the library write the slots of a launch that are its own; answers how many
    /// stand before and behind the program's.
    fn fill_slots(&self, kernel: &Kernel, table: &mut ArgumentTable<'_>) -> Result<(u32, u32)> {
        let (leading, trailing) = (table.leading().len(), table.trailing().len());
        let counts = (leading as u32, trailing as u32);
        let Some(function) = self.functions().fill_slots.filter(|_| leading + trailing > 0) else {
            return Ok(counts);
        };
        let (leading, trailing) = (table.leading().as_mut_ptr(), table.trailing().as_mut_ptr());
        with_session(table.session(), |state| {
            check(Doing::Operation("this launch"), |error| {
                let kernel = handle(kernel.handle.0);
                // SAFETY: both lists have so many slots, which are the table's alone.
                unsafe {
                    function(self.handle(), kernel, state, leading, counts.0, trailing, counts.1, error)
                }
            })
        })?;
        Ok(counts)
    }

    /// Calls a function that makes a handle.
    fn made(
        &self,
        operation: &'static str,
        function: Option<unsafe extern "C" fn(Handle, *mut Handle, *mut RtlError) -> Status>,
    ) -> Result<usize> {
        let function = function.ok_or(Error::Unsupported { operation })?;
        let mut made = ptr::null_mut();
        check(Doing::Operation(operation), |error| {
            // SAFETY: the device is open.
            unsafe { function(self.handle(), &mut made, error) }
        })?;
        Ok(made.expose_provenance())
    }

    /// Calls a function that does something to a handle of this device.
    fn done(
        &self,
        operation: &'static str,
        function: Option<unsafe extern "C" fn(Handle, Handle, *mut RtlError) -> Status>,
        handle: Handle,
    ) -> Result<()> {
        let function = function.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the runtime passes live handles of this device.
            unsafe { function(self.handle(), handle, error) }
        })
    }
}

/// Lends the session to the library in the form that it knows.
#[inline]
fn with_session<R>(session: &mut SessionState, body: impl FnOnce(*mut RtlSession) -> R) -> R {
    let (own, own_size) = (session.own().as_mut_ptr().cast(), session.own().len());
    let own = if own_size == 0 { ptr::null_mut() } else { own };
    let mut state = RtlSession { stream: raw(session.stream()), words: session.backend_words, own, own_size };
    let result = body(&mut state);
    session.backend_words = state.words;
    result
}
