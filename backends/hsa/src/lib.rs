//! The back end that runs images for AMD's GPUs, through the HSA runtime.
//!
//! The library is `libhsa-runtime64.so.1`, ROCm's or that of Gangway's virtual AMD GPU, which the loader finds. It is
//! opened and initialised when somebody asks how many devices there are: the runtime does so when a program brings an
//! image that [`recognises`] knows, or asks for all devices. Programs without such images never open it.
//!
//! Images are those of clang and flang (`--offload-arch=gfx90a`), code objects of version 5 and 6 with the device
//! runtime of `device/gpu`, and those of GCC 12 (`-foffload=amdgcn-amdhsa`).
//!
//! # Rooms
//!
//! | Room | What is in it |
//! |---|---|
//! | `driver` | the library, its functions, its structures |
//! | `settings` | the environment |
//! | `image` | which images are ours, and which device can run them |
//! | `agent` | one GPU: its pools, what it is |
//! | `fault` | what has put an end to a device |
//! | `signal` | what operations count down |
//! | `memory` | memory of the device, and of the host where it reaches it |
//! | `arguments` | blocks for the arguments of kernels, and the table of variables |
//! | `output` | what GCC's device code writes, and how it ends |
//! | `queue` | packets and doorbells |
//! | `implicit` | what LLVM's kernels are told besides the program's arguments |
//! | `kernel` | a kernel of a loaded image |
//! | `module` | images on a device |
//! | `shared` | what the device and its streams have in common |
//! | `scratch` | what kernels of one stream use besides the program's data |
//! | `stream` | what is under way |
//! | `launch` | shapes of launches, and what kernels are given |
//! | `operations` | what is asked of a stream |
//! | `device` | what is asked of the device |
//!
//! Each knows those above it only. What compilers' kernels want of any driver is in `gangway-device-code`.
//!
//! # What a construct asks of the library
//!
//! A region whose data is present is one packet, its doorbell and one wait. The table of its variables is written into
//! the memory that the kernel's arguments stand in, by plain stores (`arguments`). Signals, blocks and queues are kept.
//!
//! # Environment
//!
//! | Variable | Meaning |
//! |---|---|
//! | `OMP_NUM_TEAMS`, `OMP_TEAMS_THREAD_LIMIT` | Teams, and threads per team, of constructs without a clause for it, at most |
//! | `GCN_NUM_TEAMS`, `GCN_NUM_GANGS`, `GCN_NUM_THREADS`, `GCN_NUM_WORKERS` | Teams and threads, gangs and workers, whatever the program asks for, as with libgomp |
//! | `GCN_HEAP_SIZE` | Bytes that `malloc` in GCC's kernels can give: 100 MiB otherwise |
//! | `LIBOMPTARGET_STACK_SIZE` | Bytes of private memory of threads whose functions call each other through pointers or themselves: 64 KiB otherwise |
//! | `LIBOMPTARGET_SHARED_MEMORY_SIZE`, `LIBOMPTARGET_DEVICE_RTL_DEBUG`, `GANGWAY_DEVICE_DEBUG`, `LIBOMPTARGET_MIN_THREADS_FOR_LOW_TRIP_COUNT`, `LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT` | As on NVIDIA's GPUs |
//!
//! [`recognises`]: gangway_backend::Backend::recognises

mod agent;
mod arguments;
mod device;
mod driver;
mod fault;
mod image;
mod implicit;
mod kernel;
mod launch;
mod memory;
mod module;
mod operations;
mod output;
mod queue;
mod scratch;
mod settings;
mod shared;
mod signal;
mod stream;

pub use driver::Driver;

use device::HsaDevice;
use driver::types::AgentInfo;
use gangway_backend::{Backend, Device, Error, Result};
use settings::Settings;
use std::sync::OnceLock;

/// The HSA back end.
#[derive(Debug)]
pub struct HsaBackend {
    settings: Settings,
    /// The library, for the rest of the process, or why there is none.
    opened: OnceLock<std::result::Result<&'static Driver, String>>,
}

impl Default for HsaBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl HsaBackend {
    /// The back end as the environment wants it. Opens nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { settings: Settings::from_environment(), opened: OnceLock::new() }
    }

    /// A back end on a library of the caller's, for tests and measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_driver(driver: Driver) -> Self {
        let opened = OnceLock::new();
        let _ = opened.set(Ok(&*Box::leak(Box::new(driver))));
        Self { settings: Settings::from_environment(), opened }
    }

    fn opened(&self) -> std::result::Result<&'static Driver, &str> {
        // Opening asks the loader, whose lock another thread may hold that comes here: nobody waits for anybody. The
        // library counts how often it is initialised.
        if self.opened.get().is_none() {
            let opened = Driver::open().map(|driver| &*Box::leak(Box::new(driver)));
            let _ = self.opened.set(opened);
        }
        let opened = self.opened.get().map(|opened| opened.as_ref().copied().map_err(String::as_str));
        opened.unwrap_or(Err("it is being opened"))
    }
}

impl Backend for HsaBackend {
    fn name(&self) -> &str {
        "hsa"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image::recognises(image)
    }

    fn device_count(&self) -> usize {
        self.opened().map_or(0, |driver| driver.gpus.len())
    }

    fn why_absent(&self) -> Option<String> {
        self.opened().err().map(str::to_owned)
    }

    fn warnings(&self) -> &[String] {
        &self.settings.warnings
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>> {
        let driver = self.opened().map_err(|why| Error::Device { code: 0, message: why.to_owned() })?;
        Ok(Box::new(HsaDevice::open(driver, ordinal, &self.settings)?))
    }

    fn require_unified_memory(&self) {
        if let Some(gpu) = self.opened().ok().and_then(|driver| driver.virtual_gpu) {
            gpu.require_unified_memory();
        }
    }

    fn unique_id(&self, ordinal: usize) -> String {
        let uuid = self.opened().ok().and_then(|driver| {
            let agent = *driver.gpus.get(ordinal)?;
            Some(driver.agent_text(agent, AgentInfo::Uuid)).filter(|uuid| !uuid.is_empty())
        });
        uuid.unwrap_or_else(|| format!("gangway-hsa-{ordinal}"))
    }
}
