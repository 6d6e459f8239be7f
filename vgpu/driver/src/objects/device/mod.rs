//! The virtual devices: what they are called, how large they are, and the engine of each.

pub mod attribute;
pub mod findings;
pub mod host;
pub mod leaks;
pub mod names;

use std::sync::{Arc, OnceLock};

use gangway_device_memory::Space;
use gangway_engine::{Checks, CodeCache, Engine, Execution, Options, Tier};

use self::attribute::Limits;
use crate::abi::{CUdevice, Result, Status};
use crate::objects::process::config::{Capability, Config};
use crate::objects::process::report::report;
use crate::objects::process::trace;

/// Bytes of local memory that a thread has at least. Pages that no lane touches are not backed.
const LOCAL_MEMORY: u64 = 128 << 10;
/// The most that a program may ask for, as on hardware.
const MAX_LOCAL_MEMORY: u64 = 512 << 10;
/// Bytes that the device's `malloc` has, as on hardware.
pub const HEAP: u64 = 8 << 20;

/// A virtual device.
#[derive(Debug)]
pub struct Device {
    ordinal: u32,
    config: Arc<Config>,
    limits: Limits,
    engine: OnceLock<Arc<Engine>>,
}

impl Device {
    /// All devices, by their numbers. The first call reads the environment.
    #[must_use]
    pub fn all() -> &'static [Self] {
        static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
        DEVICES.get_or_init(|| {
            let config = Arc::new(Config::from_environment());
            let space = match Space::get() {
                Ok(space) => space,
                Err(error) => {
                    report!("no virtual GPU: {error}");
                    return Vec::new();
                }
            };
            space.set_poison(config.check.memory);
            if config.unified == Some(true) {
                space.share_host();
            }
            if config.check.race {
                gangway_streams::watch();
            }
            if config.check.race || config.check.sync || config.check.init || config.check.memory {
                findings::watch();
            }
            if config.check.memory {
                leaks::watch();
            }
            let device = |ordinal| {
                if let Err(error) = space.set_limit(ordinal, config.memory) {
                    report!("the memory of device {ordinal} has no limit: {error}");
                }
                Self {
                    ordinal,
                    limits: Limits::of(config.capability),
                    config: Arc::clone(&config),
                    engine: OnceLock::new(),
                }
            };
            (0..config.devices).map(device).collect()
        })
    }

    /// The device of a number, or `CUDA_ERROR_INVALID_DEVICE`.
    pub fn get(number: CUdevice) -> Result<&'static Self> {
        let index = usize::try_from(number).map_err(|_| Status::INVALID_DEVICE)?;
        Self::all().get(index).ok_or(Status::INVALID_DEVICE)
    }

    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Says in the report, if there is one, what the devices are.
    pub fn tell_report() {
        if gangway_trace::enabled() {
            for device in Self::all() {
                let what = format!("virtual GPU, sm_{}, {}", device.capability().number(), device.name());
                gangway_trace::device(device.number(), &what);
            }
        }
    }

    #[must_use]
    pub fn number(&self) -> CUdevice {
        self.ordinal as CUdevice
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }

    #[must_use]
    pub fn capability(&self) -> Capability {
        self.config.capability
    }

    /// Whether accesses are checked, and leaks told.
    #[must_use]
    pub fn checks(&self) -> bool {
        self.config.check.memory
    }

    /// Whether any device's accesses are watched for races.
    #[must_use]
    pub fn looks_for_races() -> bool {
        Self::all().first().is_some_and(|device| device.config.check.race)
    }

    /// Whether accesses of any device's kernels are noted, and what else writes its memory.
    #[must_use]
    pub fn notes_changes() -> bool {
        Self::all().first().is_some_and(|device| device.config.check.map)
    }

    /// Something else than a kernel writes memory.
    pub fn note_change(&self, address: u64, size: u64) {
        if let Some(engine) = self.started() {
            engine.note_change(address, size);
        }
    }

    /// Memory of the device is new: what was done there before has nothing to do with what comes.
    pub fn forget_accesses(&self, address: u64, size: u64) {
        if let Some(engine) = self.started() {
            engine.forget_accesses(address, size);
        }
    }

    /// Whether accesses are told by the variables that they are of.
    #[must_use]
    pub fn tells_names(&self) -> bool {
        self.config.check.race || self.config.check.init || self.config.check.memory
    }

    /// Whether it tells where the program has had memory, of what is left and of what nothing has written.
    #[must_use]
    pub fn tells_origins(&self) -> bool {
        self.config.check.memory || self.config.check.init
    }

    /// Whether kernels' accesses are checked to the byte, for whatever: each variable is to have memory of its own, and
    /// what has been freed is nobody's.
    #[must_use]
    pub fn checks_accesses(&self) -> bool {
        self.config.check != Checks::NONE
    }

    /// Where accesses of its kernels are noted, if they are.
    #[must_use]
    pub fn notes_accesses(&self) -> Option<&Arc<Engine>> {
        self.config.check.map.then(|| self.engine())
    }

    /// Lets all devices use the host's memory, unless the user has said that they must not.
    pub fn share_host() {
        let forbidden = |device: &Self| device.config.unified == Some(false);
        if let (Some(device), Ok(space)) = (Self::all().first(), Space::get())
            && !forbidden(device)
        {
            space.share_host();
        }
    }

    /// Whether kernels may use all of the host's memory.
    #[must_use]
    pub fn shares_host(&self) -> bool {
        Space::get().is_ok_and(Space::shares_host)
    }

    #[must_use]
    pub fn memory(&self) -> u64 {
        self.config.memory
    }

    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// As many as there are worker threads: what runs at once.
    #[must_use]
    pub fn multiprocessors(&self) -> u32 {
        self.config.workers as u32
    }

    /// A number that is the same in every process, and different for every device.
    #[must_use]
    pub fn uuid(&self) -> [u8; 16] {
        let mut bytes = *b"gangway-vgpu\0\0\0\0";
        // In digits: LLVM's plugin takes it for a text, which ends at a zero.
        bytes[12..].copy_from_slice(&format!("{:04}", self.ordinal).as_bytes()[..4]);
        bytes
    }

    #[must_use]
    pub fn pci_bus(&self) -> u32 {
        self.ordinal + 1
    }

    /// `domain:bus:device.function`
    #[must_use]
    pub fn pci_id(&self) -> String {
        format!("0000:{:02X}:00.0", self.pci_bus())
    }

    /// What runs its kernels. Made when the first module is loaded.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        self.engine.get_or_init(|| {
            let installed = || if gangway_engine::has_llvm() { Tier::Auto } else { Tier::Cranelift };
            let tier = self.config.tier.unwrap_or_else(installed);
            if tier == Tier::Llvm
                && let Err(why) = gangway_engine::llvm_version()
            {
                report!("GANGWAY_VGPU_TIER=llvm is without effect: {why}");
            }
            let engine = Engine::new(Options {
                device: self.ordinal,
                workers: self.config.workers,
                checks: self.config.check,
                listeners: findings::LISTENERS,
                execution: self.config.execution,
                tier,
                cache: code_cache(&self.config).clone(),
                stack: LOCAL_MEMORY,
                heap: HEAP,
                unaligned: false,
            });
            engine.set_kernels_at_once(self.config.kernels);
            engine
        })
    }

    /// What runs its kernels, if any have been loaded.
    fn started(&self) -> Option<&Engine> {
        self.engine.get().map(|engine| &**engine)
    }

    /// Gives threads a larger stack, `CU_LIMIT_STACK_SIZE`. They never have less than
    /// [`LOCAL_MEMORY`].
    pub fn set_stack(&self, bytes: u64) -> Result {
        if bytes > MAX_LOCAL_MEMORY {
            return Err(Status::INVALID_VALUE);
        }
        self.engine().set_stack(bytes.max(LOCAL_MEMORY));
        Ok(())
    }

    /// Sets the size of the heap of kernels, `CU_LIMIT_MALLOC_HEAP_SIZE`: only before one has used
    /// it.
    pub fn set_heap(&self, bytes: u64) -> Result {
        if self.engine().set_heap(bytes.max(HEAP)) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }
}

/// Where the code of all devices is kept; nowhere when kernels are interpreted.
fn code_cache(config: &Config) -> &'static Option<Arc<CodeCache>> {
    static CACHE: OnceLock<Option<Arc<CodeCache>>> = OnceLock::new();
    CACHE.get_or_init(|| {
        if config.execution == Execution::Interpreted {
            return None;
        }
        let cache = config.cache.as_deref().map_or_else(CodeCache::new, CodeCache::open);
        if let Some(reason) = cache.refusal() {
            trace::note(&format!("compiled kernels are not kept: {reason}"));
        }
        Some(Arc::new(cache))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::DeviceAttribute;

    #[test]
    fn devices_have_numbers_from_zero() {
        let device = Device::get(0).unwrap();
        assert_eq!(device.number(), 0);
        assert!(Device::get(-1).is_err());
        assert!(Device::get(Device::all().len() as i32).is_err());
    }

    #[test]
    fn attributes_fit_together() {
        use DeviceAttribute::*;
        let device = Device::get(0).unwrap();
        let value = |attribute| attribute::value(device, attribute);
        assert!(value(MAX_SHARED_MEMORY_PER_BLOCK) <= value(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
        assert!(value(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) <= value(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
        assert!(value(MAX_THREADS_PER_BLOCK) <= value(MAX_THREADS_PER_MULTIPROCESSOR));
        assert_eq!(value(WARP_SIZE), 32);
        for number in [-1, 0, 138, 144] {
            assert_eq!(DeviceAttribute::of(number), None);
        }
        for &attribute in DeviceAttribute::ALL {
            assert_eq!(DeviceAttribute::of(attribute as i32), Some(attribute));
            let unlimited = matches!(attribute, MAX_GRID_DIM_X | MAX_PITCH);
            assert_eq!(value(attribute) == i32::MAX, unlimited, "{attribute:?}");
        }
    }
}
