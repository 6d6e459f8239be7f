//! A device of an external library, behind the trait.
//!
//! Each method is one call into the library; what is optional and absent answers
//! as the trait's default does. No policy, no state but the handles.

use crate::abi::{self, Functions, Handle, RtlForeign};
use crate::module::ExternalModule;
use crate::opened::{Opened, handle, lend};
use crate::services;
use crate::status::{Doing, check};
use crate::stream::ExternalStream;
use gangway_backend::{
    AllocationKind, Capabilities, Device, DevicePtr, Error, EventHandle, ForeignRuntime, ForeignRuntimeKind,
    HostCallService, Module, Rank, Result, SessionState, Stream, Vendor, VisibleMemory,
};
use once_cell::race::OnceBox;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

pub(crate) struct ExternalDevice {
    device: Arc<Opened>,
    /// Without a handle.
    immediate: ExternalStream,
    capabilities: Capabilities,
    /// What the library serves host calls with, once an image makes some.
    host_calls: OnceBox<&'static abi::RtlHostCalls>,
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
            host_copies: false,
            // The words of a session are any library's.
            // SAFETY: the device is open.
            sessions: Some(functions.session_size.map_or(0, |size| unsafe { size(handle) })),
        };
        let device = Arc::new(device);
        let immediate = ExternalStream::immediate(Arc::clone(&device));
        Ok(Self { device, immediate, capabilities, host_calls: OnceBox::new() })
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

    fn session_end(&self, session: &mut SessionState) {
        if let Some(function) = self.functions().session_end {
            // SAFETY: the device is open; the session has been started.
            lend(session, |state| unsafe { function(self.handle(), state) });
        }
    }

    fn immediate(&self) -> &dyn Stream {
        &self.immediate
    }

    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        let handle = self.device.made("streams", self.functions().create_stream)?;
        Ok(Box::new(ExternalStream::new(Arc::clone(&self.device), handle)))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.device.done("events", self.functions().destroy_event, handle(event.0))
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
        self.device.done("pinned host memory", self.functions().unpin_host, host.cast())
    }
}
