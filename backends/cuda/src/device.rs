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
use crate::operations::OpenStream;
use crate::peers::Peers;
use crate::properties::Properties;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::{host_call, image};
use gangway_backend::{
    AccessPlace, Accesses, AllocationKind, Capabilities, Device, DevicePtr, Error, EventHandle,
    ForeignRuntime, ForeignRuntimeKind, HostCallService, HostCalls, Kernel, Launch, LaunchShape, Module,
    Occupancy, Origin, Rank, Result, Vendor, VisibleMemory,
};
use gangway_device_code::llvm::DeviceEnvironment;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// A GPU of NVIDIA's, or one that behaves like it.
pub(crate) struct CudaDevice {
    shared: Arc<Shared>,
    /// The driver's own stream of the context.
    immediate: OpenStream,
    /// What programs call it.
    number: AtomicI32,
    /// How many devices they know.
    devices: AtomicI32,
    device_debug: u32,
    /// The driver that hears of calls.
    rings: Option<VirtualGpu>,
    host_calls: Once,
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
        let kernels = &settings.kernels;
        let limits = [(Limit::StackSize, kernels.stack_size), (Limit::HeapSize, kernels.heap_size)];
        for (limit, value) in limits {
            if let Some(value) = value {
                context.within("cuCtxSetLimit", |api| {
                    // SAFETY: a call with numbers.
                    unsafe { (api.context_set_limit)(limit as i32, value) }
                })?;
            }
        }
        let properties = Properties::of(driver, device);
        if kernels.heap_size.is_none() {
            raise_heap(&context, properties.memory);
        }
        peers.opened(ordinal, context.handle);
        let shared = Arc::new(Shared {
            memory: Memory::new(properties.memory),
            events: Events::default(),
            launcher: Launcher { wishes: kernels.wishes, shared_memory: kernels.shared_memory },
            properties: Arc::new(properties),
            context,
            peers,
            ordinal,
            looks: OnceLock::new(),
        });
        Ok(Self {
            immediate: OpenStream::immediate(&shared),
            shared,
            number: AtomicI32::new(i32::try_from(ordinal).unwrap_or(0)),
            devices: AtomicI32::new(i32::try_from(driver.devices()).unwrap_or(0)),
            device_debug: kernels.device_debug,
            rings: driver.virtual_gpu.filter(|_| !settings.look_for_calls),
            host_calls: Once::new(),
        })
    }

    fn environment(&self) -> DeviceEnvironment {
        DeviceEnvironment {
            debug_kind: self.device_debug,
            device_count: self.devices.load(Ordering::Relaxed).max(0) as u32,
            device_number: self.number.load(Ordering::Relaxed).max(0) as u32,
            shared_memory: self.shared.launcher.shared_memory,
            clock_frequency: self.shared.properties.clock_frequency,
            indirect_table: 0,
            indirect_count: 0,
            parallelism: u64::from(self.shared.properties.parallelism),
        }
    }
}

impl Device for CudaDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            events: true,
            completions: true,
            unified_memory: self.shared.properties.pageable_memory,
            private_in_session: false,
            pooled_memory: !self.shared.properties.checks_memory,
            stream_ordered_memory: self.shared.properties.pools,
            packed_transfers: !self.shared.properties.checks_memory,
            mapping_notices: self.shared.properties.wants_names,
            host_copies: self.shared.properties.looks_for_races,
            pinned_staging: true,
            peer_copy: true,
            host_calls: HostCalls::Channel { rings: self.rings.is_some() },
            ..Capabilities::default()
        }
    }

    fn obtained(&self, memory: DevicePtr, origin: &Origin) {
        if let Some(gpu) = self.shared.context.driver.virtual_gpu {
            gpu.obtained(memory.0 as Address, origin);
        }
    }

    fn numbered(&self, number: i32, devices: i32) {
        self.number.store(number, Ordering::Relaxed);
        self.devices.store(devices, Ordering::Relaxed);
    }

    fn describe(&self) -> Vec<(String, String)> {
        self.shared.properties.describe(self.shared.context.driver, self.shared.context.device)
    }

    fn architecture(&self) -> String {
        self.shared.properties.capability.to_string()
    }

    fn properties(&self) -> Option<gangway_backend::Properties> {
        let (mut free, mut total) = (0, 0);
        let (to_free, to_total) = (&raw mut free, &raw mut total);
        // SAFETY: the driver writes two numbers.
        let asked = self
            .shared
            .context
            .within("cuMemGetInfo", |api| unsafe { (api.memory_information)(to_free, to_total) });
        let free_memory = if asked.is_ok() { free } else { 0 };
        Some(self.shared.properties.tell(self.shared.context.driver, self.shared.context.device, free_memory))
    }

    fn occupancy(&self, kernel: &Kernel, most_threads: u32) -> Result<Occupancy> {
        // SAFETY: the runtime's kernels are of loaded modules.
        let kernel = unsafe { LoadedKernel::of(kernel.handle) };
        kernel.busiest_launch(&self.shared.context, self.shared.properties.limits.warp, most_threads)
    }

    fn foreign_runtime(&self) -> Option<ForeignRuntime> {
        Some(ForeignRuntime {
            kind: ForeignRuntimeKind::Cuda,
            vendor: Vendor::Nvidia,
            platform: None,
            device: usize::try_from(self.shared.context.device).ok(),
            context: Some(self.shared.context.handle),
        })
    }

    fn make_current(&self) {
        // The driver says why not at the program's next call.
        let _ = self.shared.context.code_within(|_| 0);
    }

    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        image::fitness(image, self.shared.properties.capability)
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        let (context, properties) = (Arc::clone(&self.shared.context), Arc::clone(&self.shared.properties));
        let compile = || gangway_bitcode::ptx(image, properties.capability.number());
        let compiled = image::is_bitcode(image).then(compile).transpose();
        let compiled = compiled.map_err(|message| Error::Device { code: 0, message })?;
        let image = compiled.as_deref().unwrap_or(image);
        Ok(Box::new(CudaModule::load(context, properties, image, self.environment())?))
    }

    fn allocate(&self, size: usize, kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        if kind == AllocationKind::Shared && !self.shared.properties.managed_memory {
            return Err(Error::Unsupported { operation: "memory that host and device share" });
        }
        self.shared.memory.allocate(&self.shared.context, size, kind)
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.shared.memory.free(&self.shared.context, pointer, kind) }
    }

    fn launch_shape(&self, launch: &Launch<'_>) -> Option<LaunchShape> {
        // SAFETY: the runtime launches kernels of loaded modules.
        Some(unsafe { self.shared.launcher.shape(&self.shared.context, &self.shared.properties, launch) })
    }

    fn immediate(&self) -> &dyn gangway_backend::Stream {
        &self.immediate
    }

    fn open_stream(&self) -> Result<Box<dyn gangway_backend::Stream>> {
        Ok(Box::new(OpenStream::create(&self.shared)?))
    }

    unsafe fn adopt_stream(&self, foreign: usize) -> Result<Box<dyn gangway_backend::Stream>> {
        Ok(Box::new(OpenStream::adopt(&self.shared, foreign)))
    }

    fn trim(&self) {
        self.shared.memory.trim(&self.shared.context);
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.shared.events.give_back(&self.shared.context, event)
    }

    fn allocate_visible(&self, size: usize) -> Result<VisibleMemory> {
        let memory = memory::allocate_visible(&self.shared.context, size)?;
        // SAFETY: so many bytes have been allocated, and nobody has seen them.
        unsafe { memory.host.write_bytes(0, size) };
        Ok(memory)
    }

    unsafe fn deallocate_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::free_visible(&self.shared.context, memory) }
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        self.host_calls.call_once(|| match self.rings {
            Some(driver) => host_call::connect(driver, service),
            None => _ = self.shared.looks.set(service),
        });
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.shared.context.is_quiet()
    }

    unsafe fn pin_host(&self, host: *mut u8, size: usize) -> Result<DevicePtr> {
        // SAFETY: the caller's promise.
        unsafe { memory::pin(&self.shared.context, host, size) }
    }

    unsafe fn unpin_host(&self, host: *mut u8) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::unpin(&self.shared.context, host) }
    }

    fn take_accesses(&self, from: DevicePtr, size: usize) -> Option<Accesses> {
        let context = &self.shared.context;
        context.driver.virtual_gpu?.take_accesses(context.device, from.0 as Address, size)
    }

    fn watch_reads(&self, from: DevicePtr, size: usize, whether: bool) {
        let context = &self.shared.context;
        if let Some(driver) = &context.driver.virtual_gpu {
            driver.watch_reads(context.device, from.0 as Address, size, whether);
        }
    }

    fn access_place(&self, number: u32) -> Option<AccessPlace> {
        let context = &self.shared.context;
        context.driver.virtual_gpu?.access_place(context.device, number)
    }

    fn reaches(&self, address: DevicePtr, size: usize) -> bool {
        self.shared.properties.pageable_memory
            || memory::reaches(&self.shared.context, self.shared.ordinal, address, size)
    }
}
