//! One opened device: what the runtime asks of it, handed to the rooms that do it.

use crate::agent::Agent;
use crate::driver::Driver;
use crate::image;
use crate::kernel::{Code, LoadedKernel};
use crate::launch;
use crate::memory;
use crate::module::{HsaModule, Told};
use crate::operations::{OpenStream, block_of, take_event};
use crate::settings::Settings;
use crate::shared::Shared;
use gangway_backend::{
    AllocationKind, Capabilities, Device, DevicePtr, EventHandle, ForeignRuntime, ForeignRuntimeKind,
    HostCallService, HostCalls, Kernel, Launch, LaunchShape, Module, Occupancy, Properties, Rank, Result,
    SessionState, Stream, Vendor, VisibleMemory,
};
use gangway_device_code::StreamMemory;
use gangway_device_code::gcc::LANES;
use gangway_device_code::llvm::DeviceEnvironment;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Workers of an OpenACC gang that nobody has said anything about, as in libgomp.
const WORKERS: u32 = 8;

/// A GPU of AMD's, or one that behaves like it.
pub(crate) struct HsaDevice {
    shared: Arc<Shared>,
    immediate: OpenStream,
    /// What programs call it.
    number: AtomicI32,
    /// How many devices they know.
    devices: AtomicI32,
    heap_size: usize,
    stack_size: u32,
    device_debug: u32,
}

impl HsaDevice {
    /// Opens a device.
    pub fn open(driver: &'static Driver, ordinal: usize, settings: &Settings) -> Result<Self> {
        let shared = Shared::new(Agent::open(driver, ordinal)?, ordinal, settings);
        Ok(Self {
            immediate: OpenStream::new(&shared),
            shared,
            number: AtomicI32::new(i32::try_from(ordinal).unwrap_or(0)),
            devices: AtomicI32::new(i32::try_from(driver.gpus.len()).unwrap_or(0)),
            heap_size: settings.heap_size,
            stack_size: settings.stack_size(),
            device_debug: settings.kernels.device_debug,
        })
    }

    fn agent(&self) -> &Agent {
        &self.shared.agent
    }

    fn environment(&self) -> DeviceEnvironment {
        let known = &self.agent().properties;
        DeviceEnvironment {
            debug_kind: self.device_debug,
            device_count: self.devices.load(Ordering::Relaxed).max(0) as u32,
            device_number: self.number.load(Ordering::Relaxed).max(0) as u32,
            shared_memory: self.shared.group_memory,
            clock_frequency: known.tick_rate,
            indirect_table: 0,
            indirect_count: 0,
            parallelism: u64::from(known.parallelism()),
        }
    }
}

impl Device for HsaDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            events: true,
            pooled_memory: true,
            packed_transfers: true,
            pinned_staging: true,
            sessions: Some(0),
            unified_memory: self.agent().driver.shares_host(),
            peer_copy: true,
            host_calls: HostCalls::Channel { rings: false },
            ..Capabilities::default()
        }
    }

    fn numbered(&self, number: i32, devices: i32) {
        self.number.store(number, Ordering::Relaxed);
        self.devices.store(devices, Ordering::Relaxed);
    }

    fn describe(&self) -> Vec<(String, String)> {
        self.agent().properties.describe(self.agent().driver)
    }

    fn architecture(&self) -> String {
        self.agent().properties.processor.clone()
    }

    fn properties(&self) -> Option<Properties> {
        let known = &self.agent().properties;
        let (major, minor) = self.agent().driver.version();
        Some(Properties {
            memory: known.memory,
            free_memory: self.agent().free_memory(),
            group_memory: known.group_memory,
            name: known.product.clone(),
            vendor: known.vendor.clone(),
            driver: format!("HSA runtime {major}.{minor}"),
        })
    }

    fn foreign_runtime(&self) -> Option<ForeignRuntime> {
        Some(ForeignRuntime {
            kind: ForeignRuntimeKind::Hsa,
            vendor: Vendor::Amd,
            platform: None,
            device: Some(self.agent().handle.0 as usize),
            context: None,
        })
    }

    fn occupancy(&self, kernel: &Kernel, most_threads: u32) -> Result<Occupancy> {
        // SAFETY: the runtime's kernels are of loaded modules.
        let kernel = unsafe { LoadedKernel::of(kernel.handle) };
        let gcc = match &kernel.code {
            Code::Gcc(gcc) => gcc,
            Code::Llvm(llvm) => {
                let most = if most_threads == 0 { u32::MAX } else { most_threads };
                let threads = llvm.bounds.max_threads().min(most).max(1);
                let teams = kernel.teams_at_once(self.agent(), llvm, threads, 0);
                return Ok(Occupancy { teams, threads, warp: llvm.wave });
            }
        };
        let most = if most_threads == 0 { u32::MAX } else { most_threads / LANES };
        let workers = WORKERS.min(gcc.bounds.most_waves()).min(most).max(1);
        let teams = self.agent().properties.compute_units;
        Ok(Occupancy { teams, threads: workers * LANES, warp: LANES })
    }

    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        image::fitness(image, &self.agent().properties.processor)
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        let told = Told { environment: self.environment(), heap: self.heap_size, stack: self.stack_size };
        Ok(Box::new(HsaModule::load(Arc::clone(&self.shared.agent), image, &told)?))
    }

    fn allocate(&self, size: usize, kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        self.shared.check()?;
        self.shared.memory.allocate(self.agent(), size, kind)
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
        // SAFETY: the caller's promise.
        let freed = unsafe { self.shared.memory.free(self.agent(), pointer) };
        // Memory of a lost device is gone.
        if self.shared.faults.has() { Ok(()) } else { freed }
    }

    fn session_end(&self, session: &mut SessionState) {
        if let Some(block) = block_of(session) {
            session.backend_words = Default::default();
            // A kernel that has not ended may still read what another one would write.
            if !self.shared.faults.has() {
                self.shared.arguments.give_back(block);
            }
        }
    }

    fn launch_shape(&self, launch: &Launch<'_>) -> Option<LaunchShape> {
        // SAFETY: the runtime launches kernels of loaded modules.
        let kernel = unsafe { LoadedKernel::of(launch.kernel.handle) };
        Some(launch::told_shape(kernel, &launch::shape(&self.shared, kernel, launch)))
    }

    fn immediate(&self) -> &dyn Stream {
        &self.immediate
    }

    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        self.shared.check()?;
        Ok(Box::new(OpenStream::new(&self.shared)))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        // SAFETY: the runtime destroys an event once.
        unsafe { take_event(event) };
        Ok(())
    }

    fn trim(&self) {
        self.shared.trim();
    }

    unsafe fn pin_host(&self, host: *mut u8, size: usize) -> Result<DevicePtr> {
        // SAFETY: the caller's promise.
        unsafe { self.shared.memory.pin(self.agent(), host, size) }
    }

    unsafe fn unpin_host(&self, host: *mut u8) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.shared.memory.unpin(self.agent(), host) }
    }

    fn allocate_visible(&self, size: usize) -> Result<VisibleMemory> {
        let memory = self.agent().allocate_visible(size)?;
        // SAFETY: so many bytes have been allocated, and nobody has seen them.
        unsafe { memory.host.write_bytes(0, size) };
        Ok(memory)
    }

    unsafe fn deallocate_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.agent().free_visible(memory) }
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        let _ = self.shared.looks.set(service);
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.shared.is_quiet()
    }

    fn reaches(&self, address: DevicePtr, size: usize) -> bool {
        self.agent().driver.shares_host() || memory::is_known(self.agent(), address, size)
    }
}
