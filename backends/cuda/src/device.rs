//! One opened device: what the runtime asks of it, handed to the rooms that do it.

use crate::context::Context;
use crate::driver::Driver;
use crate::driver::types::{Address, DeviceNumber, Limit};
use crate::driver::virtual_gpu::VirtualGpu;
use crate::event::Events;
use crate::kernel::LoadedKernel;
use crate::launch::Launcher;
use crate::memory::{self, Memory};
use crate::module::CudaModule;
use crate::peers::Peers;
use crate::properties::Properties;
use crate::settings::Settings;
use crate::stream::Stream;
use crate::{host_call, image};
use gangway_backend::{
    AllocationKind, ArgumentTable, Capabilities, Completion, Device, DevicePtr, Error, EventHandle,
    ForeignRuntime, ForeignRuntimeKind, HostCallService, HostCalls, Kernel, Launch, LaunchShape, Module,
    Occupancy, Rank, Result, StreamHandle, Vendor, VisibleMemory,
};
use gangway_device_code::Wishes;
use gangway_device_code::llvm::DeviceEnvironment;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// A GPU of NVIDIA's, or one that behaves like it.
pub(crate) struct CudaDevice {
    context: Arc<Context>,
    properties: Arc<Properties>,
    memory: Memory,
    events: Events,
    launcher: Launcher,
    peers: Arc<Peers>,
    ordinal: usize,
    /// What programs call it.
    number: AtomicI32,
    /// How many devices they know.
    devices: AtomicI32,
    device_debug: u32,
    /// The driver that hears of calls.
    rings: Option<VirtualGpu>,
    host_calls: Once,
    /// Who looks for calls where no driver hears of them.
    looks: OnceLock<HostCallService>,
}

/// What part of a device's memory `malloc` in kernels has at least, unless the user says otherwise,
/// and the most that this is. The driver's 8 MiB are 4 KiB for each of 2,048 threads. It takes the
/// memory when an image is loaded that calls `malloc`.
const HEAP_SHARE: usize = 64;
const LARGEST_HEAP: usize = 1 << 30;

/// Gives the heap of kernels its share. What the program's own CUDA code has asked for stays if it is
/// more, and where the heap is in use nothing can be changed.
fn raise_heap(context: &Context, memory: usize) {
    let wanted = (memory / HEAP_SHARE).min(LARGEST_HEAP);
    let mut bytes = 0;
    let (place, limit) = (&raw mut bytes, Limit::HeapSize as i32);
    // SAFETY: the driver writes one number.
    let known = context.within("cuCtxGetLimit", |api| unsafe { (api.context_get_limit)(place, limit) });
    if known.is_ok() && bytes < wanted {
        // SAFETY: a call with numbers.
        let _ = context.within("cuCtxSetLimit", |api| unsafe { (api.context_set_limit)(limit, wanted) });
    }
}

impl CudaDevice {
    /// Opens a device.
    pub fn open(
        driver: &'static Driver,
        ordinal: usize,
        settings: &Settings,
        peers: Arc<Peers>,
    ) -> Result<Self> {
        let mut device: DeviceNumber = 0;
        // SAFETY: the driver writes one number.
        let code = unsafe { (driver.api.device_get)(&raw mut device, i32::try_from(ordinal).unwrap_or(-1)) };
        if code != 0 {
            let message = format!("cuDeviceGet: {}", driver.describe(code));
            return Err(Error::Device { code: code.into(), message });
        }
        let context = Arc::new(Context::retain(driver, device)?);
        let limits = [(Limit::StackSize, settings.stack_size), (Limit::HeapSize, settings.heap_size)];
        for (limit, value) in limits {
            if let Some(value) = value {
                context.within("cuCtxSetLimit", |api| {
                    // SAFETY: a call with numbers.
                    unsafe { (api.context_set_limit)(limit as i32, value) }
                })?;
            }
        }
        let properties = Properties::of(driver, device);
        if settings.heap_size.is_none() {
            raise_heap(&context, properties.memory);
        }
        peers.opened(ordinal, context.handle);
        Ok(Self {
            memory: Memory::new(properties.memory),
            events: Events::default(),
            launcher: Launcher { wishes: Wishes::from(settings), shared_memory: settings.shared_memory },
            properties: Arc::new(properties),
            context,
            peers,
            ordinal,
            number: AtomicI32::new(i32::try_from(ordinal).unwrap_or(0)),
            devices: AtomicI32::new(i32::try_from(driver.devices()).unwrap_or(0)),
            device_debug: settings.device_debug,
            rings: driver.virtual_gpu.filter(|_| !settings.look_for_calls),
            host_calls: Once::new(),
            looks: OnceLock::new(),
        })
    }

    fn environment(&self) -> DeviceEnvironment {
        DeviceEnvironment {
            debug_kind: self.device_debug,
            device_count: self.devices.load(Ordering::Relaxed).max(0) as u32,
            device_number: self.number.load(Ordering::Relaxed).max(0) as u32,
            shared_memory: self.launcher.shared_memory,
            clock_frequency: self.properties.clock_frequency,
            indirect_table: 0,
            indirect_count: 0,
            parallelism: u64::from(self.properties.parallelism),
        }
    }
}

/// The driver's handle of a stream; null, the default stream, for none.
///
/// # Safety
/// The handle's stream is alive.
#[inline]
unsafe fn driver_stream(stream: Option<StreamHandle>) -> usize {
    // SAFETY: the caller's promise.
    stream.map_or(0, |stream| unsafe { Stream::of(stream) }.handle)
}

impl Device for CudaDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            events: true,
            completions: true,
            unified_memory: self.properties.pageable_memory,
            private_in_session: false,
            pooled_memory: !self.properties.checks_memory,
            stream_ordered_memory: self.properties.pools,
            packed_transfers: !self.properties.checks_memory,
            pinned_staging: true,
            peer_copy: true,
            host_calls: HostCalls::Channel { rings: self.rings.is_some() },
            ..Capabilities::default()
        }
    }

    fn numbered(&self, number: i32, devices: i32) {
        self.number.store(number, Ordering::Relaxed);
        self.devices.store(devices, Ordering::Relaxed);
    }

    fn describe(&self) -> Vec<(String, String)> {
        self.properties.describe(self.context.driver, self.context.device)
    }

    fn architecture(&self) -> String {
        self.properties.capability.to_string()
    }

    fn properties(&self) -> Option<gangway_backend::Properties> {
        let (mut free, mut total) = (0, 0);
        let (to_free, to_total) = (&raw mut free, &raw mut total);
        // SAFETY: the driver writes two numbers.
        let asked =
            self.context.within("cuMemGetInfo", |api| unsafe { (api.memory_information)(to_free, to_total) });
        let free_memory = if asked.is_ok() { free } else { 0 };
        Some(self.properties.tell(self.context.driver, self.context.device, free_memory))
    }

    fn occupancy(&self, kernel: &Kernel, most_threads: u32) -> Result<Occupancy> {
        // SAFETY: the runtime's kernels are of loaded modules.
        let kernel = unsafe { LoadedKernel::of(kernel.handle) };
        kernel.busiest_launch(&self.context, self.properties.limits.warp, most_threads)
    }

    fn foreign_runtime(&self) -> Option<ForeignRuntime> {
        Some(ForeignRuntime {
            kind: ForeignRuntimeKind::Cuda,
            vendor: Vendor::Nvidia,
            platform: None,
            device: usize::try_from(self.context.device).ok(),
            context: Some(self.context.handle),
        })
    }

    fn make_current(&self) {
        // The driver says why not at the program's next call.
        let _ = self.context.code_within(|_| 0);
    }

    fn foreign_stream(&self, stream: StreamHandle) -> usize {
        // SAFETY: the runtime's streams are alive.
        unsafe { Stream::of(stream) }.handle
    }

    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        image::fitness(image, self.properties.capability)
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        let (context, properties) = (Arc::clone(&self.context), Arc::clone(&self.properties));
        let compile = || gangway_bitcode::ptx(image, properties.capability.number());
        let compiled = image::is_bitcode(image).then(compile).transpose();
        let compiled = compiled.map_err(|message| Error::Device { code: 0, message })?;
        let image = compiled.as_deref().unwrap_or(image);
        Ok(Box::new(CudaModule::load(context, properties, image, self.environment())?))
    }

    fn allocate(&self, size: usize, kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        if kind == AllocationKind::Shared && !self.properties.managed_memory {
            return Err(Error::Unsupported { operation: "memory that host and device share" });
        }
        self.memory.allocate(&self.context, size, kind)
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.memory.free(&self.context, pointer, kind) }
    }

    fn allocate_in_stream(&self, size: usize, stream: StreamHandle) -> Result<DevicePtr> {
        // SAFETY: the runtime's streams are alive.
        self.memory.allocate_in(&self.context, size, unsafe { Stream::of(stream) })
    }

    fn allocate_promptly(&self, size: usize, stream: StreamHandle) -> Result<DevicePtr> {
        // SAFETY: the runtime's streams are alive.
        self.memory.allocate_promptly(&self.context, size, unsafe { Stream::of(stream) })
    }

    unsafe fn deallocate_in_stream(&self, pointer: DevicePtr, stream: StreamHandle) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.memory.free_in(&self.context, pointer, Stream::of(stream)) }
    }

    unsafe fn copy_to_device(
        &self,
        to: DevicePtr,
        from: *const u8,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let stream = unsafe { driver_stream(stream) };
        self.context.with("cuMemcpyHtoDAsync", |api| {
            // SAFETY: as above.
            unsafe { (api.copy_to_device)(to.0 as Address, from.cast(), size, stream) }
        })
    }

    unsafe fn copy_from_device(
        &self,
        to: *mut u8,
        from: DevicePtr,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let stream = unsafe { driver_stream(stream) };
        self.context.with("cuMemcpyDtoHAsync", |api| {
            // SAFETY: as above.
            unsafe { (api.copy_from_device)(to.cast(), from.0 as Address, size, stream) }
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
        // SAFETY: the caller's promise.
        let stream = unsafe { driver_stream(stream) };
        let (to, from) = (to.0 as Address, from.0 as Address);
        if to_ordinal == self.ordinal {
            // SAFETY: as above.
            return self.context.with("cuMemcpyDtoDAsync", |api| unsafe {
                (api.copy_within_device)(to, from, size, stream)
            });
        }
        let Some(peer) = self.peers.reach(&self.context, self.ordinal, to_ordinal) else {
            return Err(Error::Unsupported { operation: "copies to a device that is not open" });
        };
        self.context.with("cuMemcpyPeerAsync", |api| {
            // SAFETY: as above; both contexts are retained.
            unsafe { (api.copy_to_peer)(to, peer, from, self.context.handle, size, stream) }
        })
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize, stream: Option<StreamHandle>) -> Result<()> {
        // SAFETY: the caller's promise.
        let stream = unsafe { driver_stream(stream) };
        self.context.with("cuMemsetD8Async", |api| {
            // SAFETY: as above.
            unsafe { (api.fill_bytes)(to.0 as Address, byte, size, stream) }
        })
    }

    #[inline]
    unsafe fn launch(&self, launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launcher.launch(&self.context, &self.properties, launch, table) }?;
        if let Some(service) = self.looks.get() {
            service.launched();
        }
        Ok(())
    }

    fn launch_shape(&self, launch: &Launch<'_>) -> Option<LaunchShape> {
        // SAFETY: the runtime launches kernels of loaded modules.
        Some(unsafe { self.launcher.shape(&self.context, &self.properties, launch) })
    }

    fn create_stream(&self) -> Result<StreamHandle> {
        Stream::create(&self.context)
    }

    unsafe fn adopt_stream(&self, foreign: usize) -> Result<StreamHandle> {
        Ok(Stream::adopt(&self.context, foreign))
    }

    fn destroy_stream(&self, stream: StreamHandle) -> Result<()> {
        Stream::destroy(&self.context, stream)
    }

    fn trim_stream(&self, stream: StreamHandle) {
        // SAFETY: the runtime's streams are alive.
        unsafe { Stream::of(stream) }.trim(&self.context);
    }

    fn trim(&self) {
        self.memory.trim(&self.context);
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<()> {
        // SAFETY: the runtime's streams are alive.
        unsafe { Stream::of(stream) }.synchronize(&self.context)
    }

    fn is_idle(&self, stream: StreamHandle) -> Result<bool> {
        // SAFETY: the runtime's streams are alive.
        unsafe { Stream::of(stream) }.is_idle(&self.context)
    }

    fn record_event(&self, stream: StreamHandle) -> Result<EventHandle> {
        // SAFETY: the runtime's streams are alive.
        self.events.record(&self.context, unsafe { Stream::of(stream) })
    }

    fn wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        // SAFETY: the runtime's streams are alive.
        self.events.wait(&self.context, unsafe { Stream::of(stream) }, event)
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.events.give_back(&self.context, event)
    }

    fn on_complete(&self, stream: StreamHandle, completion: Completion) -> Result<()> {
        // SAFETY: the runtime's streams are alive.
        unsafe { Stream::of(stream) }.on_complete(&self.context, completion)
    }

    fn allocate_visible(&self, size: usize) -> Result<VisibleMemory> {
        let memory = memory::allocate_visible(&self.context, size)?;
        // SAFETY: so many bytes have been allocated, and nobody has seen them.
        unsafe { memory.host.write_bytes(0, size) };
        Ok(memory)
    }

    unsafe fn deallocate_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::free_visible(&self.context, memory) }
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        self.host_calls.call_once(|| match self.rings {
            Some(driver) => host_call::connect(driver, service),
            None => _ = self.looks.set(service),
        });
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.context.is_quiet()
    }

    unsafe fn pin_host(&self, host: *mut u8, size: usize) -> Result<DevicePtr> {
        // SAFETY: the caller's promise.
        unsafe { memory::pin(&self.context, host, size) }
    }

    unsafe fn unpin_host(&self, host: *mut u8) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::unpin(&self.context, host) }
    }

    fn reaches(&self, address: DevicePtr, size: usize) -> bool {
        self.properties.pageable_memory || memory::reaches(&self.context, self.ordinal, address, size)
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        self.peers.closed(self.ordinal);
        self.events.clear(&self.context);
        self.memory.close(&self.context);
    }
}
