//! The back end that runs images for NVIDIA's GPUs, through the CUDA driver.
//!
//! The driver is `libcuda.so.1`, NVIDIA's or that of Gangway's virtual GPU, which the loader
//! finds. It is opened and initialised when somebody asks how many devices there are: the
//! runtime does so when a program brings an image that [`recognises`] knows, or asks for all
//! devices. A device's context is retained when the device is first used. Programs without
//! such images never open the driver.
//!
//! # Rooms
//!
//! | Room | What is in it |
//! |---|---|
//! | `driver` | the library, its functions, its error numbers |
//! | `settings` | the environment |
//! | `image` | which images are ours, and which device can run them |
//! | `under_way` | which kernel of a stream may be under way |
//! | `context` | one device: calls in its context, and faults |
//! | `properties` | what the device is |
//! | `peers` | which devices reach each other's memory |
//! | `pages` | host memory that devices reach |
//! | `symbol` | what an image has by name |
//! | `memory` | memory of the device |
//! | `stream` | streams, and what their kernels need |
//! | `event` | events |
//! | `host_call` | how kernels reach the host |
//! | `kernel` | a kernel of a loaded image |
//! | `module` | images on a device |
//! | `launch` | the launch |
//! | `shared` | what the device and its streams have in common |
//! | `operations` | what is asked of a stream |
//! | `device` | what is asked of the device |
//!
//! Each knows those above it only.
//!
//! What compilers' kernels want of any driver is in `gangway-device-code`.
//!
//! # What a construct asks of the driver
//!
//! An empty region is one `cuLaunchKernel` and one `cuStreamSynchronize`. The context is made
//! current once per thread. Parameters are passed where the runtime has built them.
//!
//! # Environment
//!
//! | Variable | Meaning |
//! |---|---|
//! | `OMP_NUM_TEAMS`, `OMP_TEAMS_THREAD_LIMIT` | Teams, and threads per team, of constructs without a clause for it, at most |
//! | `LIBOMPTARGET_STACK_SIZE`, `LIBOMPTARGET_HEAP_SIZE` | Bytes of stack per thread of a kernel, and for `malloc` in kernels, which has a 64th of the memory otherwise |
//! | `LIBOMPTARGET_SHARED_MEMORY_SIZE` | Bytes of dynamic shared memory that every team gets |
//! | `LIBOMPTARGET_DEVICE_RTL_DEBUG`, `GANGWAY_DEVICE_DEBUG` | What the device runtime checks and prints: bits, or `assert`, `trace` |
//! | `LIBOMPTARGET_MIN_THREADS_FOR_LOW_TRIP_COUNT` | Threads that a team keeps when its loop is short (32) |
//! | `LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT` | `false`: a long loop gets as many teams as it has work for |
//!
//! [`recognises`]: gangway_backend::Backend::recognises

mod context;
mod device;
mod driver;
mod event;
mod host_call;
mod image;
mod kernel;
mod launch;
mod memory;
mod module;
mod operations;
mod pages;
mod peers;
mod properties;
mod settings;
mod shared;
mod stream;
mod symbol;
mod under_way;

pub use driver::Driver;
pub use driver::virtual_gpu::find_code_with;

use device::CudaDevice;
use gangway_backend::{Backend, Device, Error, HostWatcher, Result};
use peers::Peers;
use settings::Settings;
use std::sync::{Arc, OnceLock};

/// The CUDA back end.
#[derive(Debug)]
pub struct CudaBackend {
    settings: Settings,
    /// The driver and its devices' contexts, or why there is none.
    opened: OnceLock<std::result::Result<Opened, String>>,
}

struct Opened {
    /// For the rest of the process, as the driver is.
    driver: &'static Driver,
    peers: Arc<Peers>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.driver.fmt(f)
    }
}

impl Default for CudaBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Opened {
    fn new(driver: Driver) -> Self {
        let driver: &'static Driver = Box::leak(Box::new(driver));
        Self { driver, peers: Arc::new(Peers::new(driver.devices())) }
    }
}

impl CudaBackend {
    /// The back end as the environment wants it. Opens nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { settings: Settings::from_environment(), opened: OnceLock::new() }
    }

    /// A back end on a driver of the caller's, for tests and measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_driver(driver: Driver) -> Self {
        let opened = OnceLock::new();
        let _ = opened.set(Ok(Opened::new(driver)));
        Self { settings: Settings::from_environment(), opened }
    }

    fn opened(&self) -> std::result::Result<&Opened, &str> {
        // Two threads that come at the same time: the driver can be initialised twice.
        // Opening asks the loader, whose lock another thread may hold that comes here: nobody
        // waits for anybody. The driver does not mind being initialised twice.
        if self.opened.get().is_none() {
            let _ = self.opened.set(Driver::open().map(Opened::new));
        }
        self.opened.get().map_or(Err("it is being opened"), |opened| opened.as_ref().map_err(String::as_str))
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> &str {
        "cuda"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image::recognises(image)
    }

    fn device_count(&self) -> usize {
        self.opened().map_or(0, |opened| opened.driver.devices())
    }

    fn why_absent(&self) -> Option<String> {
        self.opened().err().map(str::to_owned)
    }

    fn warnings(&self) -> &[String] {
        &self.settings.warnings
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>> {
        let opened = self.opened().map_err(|why| Error::Device { code: 0, message: why.to_owned() })?;
        let device = CudaDevice::open(opened.driver, ordinal, &self.settings, Arc::clone(&opened.peers))?;
        Ok(Box::new(device))
    }

    fn require_unified_memory(&self) {
        if let Some(gpu) = self.opened().ok().and_then(|opened| opened.driver.virtual_gpu.as_ref()) {
            gpu.require_unified_memory();
        }
    }

    fn host_watcher(&self) -> Option<&dyn HostWatcher> {
        let gpu = self.opened().ok()?.driver.virtual_gpu.as_ref()?;
        gpu.looks_for_races().then_some(gpu)
    }

    fn unique_id(&self, ordinal: usize) -> String {
        let known = self.opened().ok().and_then(|opened| properties::unique_id(opened.driver, ordinal));
        known.unwrap_or_else(|| format!("gangway-cuda-{ordinal}"))
    }
}
