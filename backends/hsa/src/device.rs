//! One opened device: what the runtime asks of it, handed to the rooms that do it.

use crate::agent::Agent;
use crate::driver::Driver;
use crate::image;
use crate::kernel::LoadedKernel;
use crate::memory;
use crate::module::HsaModule;
use crate::operations::{OpenStream, block_of, geometry, take_event, told_shape};
use crate::settings::Settings;
use crate::shared::Shared;
use gangway_backend::{
    AllocationKind, Capabilities, Device, DevicePtr, EventHandle, Kernel, Launch, LaunchShape, Module,
    Occupancy, Properties, Rank, Result, SessionState, Stream,
};
use gangway_device_code::gcc::LANES;
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
    heap_size: usize,
}

impl HsaDevice {
    /// Opens a device.
    pub fn open(driver: &'static Driver, ordinal: usize, settings: &Settings) -> Result<Self> {
        let shared = Shared::new(Agent::open(driver, ordinal)?, ordinal, settings);
        Ok(Self {
            immediate: OpenStream::new(&shared),
            shared,
            number: AtomicI32::new(i32::try_from(ordinal).unwrap_or(0)),
            heap_size: settings.heap_size,
        })
    }

    fn agent(&self) -> &Agent {
        &self.shared.agent
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
            ..Capabilities::default()
        }
    }

    fn numbered(&self, number: i32, _devices: i32) {
        self.number.store(number, Ordering::Relaxed);
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

    fn occupancy(&self, kernel: &Kernel, most_threads: u32) -> Result<Occupancy> {
        // SAFETY: the runtime's kernels are of loaded modules.
        let kernel = unsafe { LoadedKernel::of(kernel.handle) };
        let most = if most_threads == 0 { u32::MAX } else { most_threads / LANES };
        let workers = WORKERS.min(kernel.bounds.most_waves()).min(most).max(1);
        let teams = self.agent().properties.compute_units;
        Ok(Occupancy { teams, threads: workers * LANES, warp: LANES })
    }

    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        image::fitness(image, &self.agent().properties.processor)
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        let number = self.number.load(Ordering::Relaxed).max(0) as u32;
        Ok(Box::new(HsaModule::load(Arc::clone(&self.shared.agent), image, number, self.heap_size)?))
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
        Some(told_shape(geometry(&self.shared, kernel, launch)))
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

    fn is_quiet(&self) -> bool {
        self.shared.is_quiet()
    }

    fn reaches(&self, address: DevicePtr, size: usize) -> bool {
        memory::is_known(self.agent(), address, size)
    }
}
