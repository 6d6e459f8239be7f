//! The virtual devices: what they are called, how large they are, and the engine of each.

pub mod attribute;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gangway_device_memory::Space;
use gangway_engine::{Engine, Options};

use crate::abi::status::{Result, Status};
use crate::abi::types::CUdevice;
use crate::objects::context::{Context, Primary};
use crate::objects::device::attribute::Limits;
use crate::objects::memory::leaks;
use crate::objects::process::config::{Capability, Config};
use crate::objects::process::report::report;
use crate::objects::process::trace;

/// Bytes of local memory that a thread has at least. Lanes touch what they use of it, the rest is not backed.
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
    primary: Mutex<Primary>,
}

impl Device {
    /// All devices, by their numbers. The first call reads the environment.
    pub fn all() -> &'static [Device] {
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
            space.set_poison(config.check);
            if config.check {
                leaks::watch();
            }
            let device = |ordinal| {
                if let Err(error) = space.set_limit(ordinal, config.memory) {
                    report!("the memory of device {ordinal} has no limit: {error}");
                }
                Device {
                    ordinal,
                    limits: Limits::of(config.capability),
                    config: Arc::clone(&config),
                    engine: OnceLock::new(),
                    primary: Mutex::default(),
                }
            };
            (0..config.devices).map(device).collect()
        })
    }

    /// The device of a number, or `CUDA_ERROR_INVALID_DEVICE`.
    pub fn get(number: CUdevice) -> Result<&'static Device> {
        let index = usize::try_from(number).map_err(|_| Status::INVALID_DEVICE)?;
        Device::all().get(index).ok_or(Status::INVALID_DEVICE)
    }

    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    pub fn number(&self) -> CUdevice {
        self.ordinal as CUdevice
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    pub fn capability(&self) -> Capability {
        self.config.capability
    }

    /// Whether accesses are checked, and leaks told.
    pub fn checks(&self) -> bool {
        self.config.check
    }

    pub fn memory(&self) -> u64 {
        self.config.memory
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// As many as there are worker threads: what runs at once.
    pub fn multiprocessors(&self) -> u32 {
        self.config.workers as u32
    }

    /// A number that is the same in every process, and different for every device.
    pub fn uuid(&self) -> [u8; 16] {
        let mut bytes = *b"gangway-vgpu\0\0\0\0";
        // In digits: LLVM's plugin takes it for a text, which ends at a zero.
        bytes[12..].copy_from_slice(&format!("{:04}", self.ordinal).as_bytes()[..4]);
        bytes
    }

    pub fn pci_bus(&self) -> u32 {
        self.ordinal + 1
    }

    /// `domain:bus:device.function`
    pub fn pci_id(&self) -> String {
        format!("0000:{:02X}:00.0", self.pci_bus())
    }

    /// What runs its kernels. Made when the first module is loaded.
    pub fn engine(&self) -> &Arc<Engine> {
        self.engine.get_or_init(|| {
            let engine = Engine::new(Options {
                device: self.ordinal,
                workers: self.config.workers,
                check: self.config.check,
                interpret: self.config.interpret,
                cache: self.config.cache.clone(),
                stack: LOCAL_MEMORY,
                heap: HEAP,
            });
            if let Some(reason) = engine.cache_refusal() {
                trace::note(&format!("compiled kernels are not kept: {reason}"));
            }
            engine
        })
    }

    /// Gives threads a larger stack, `CU_LIMIT_STACK_SIZE`; a smaller one is never less than what they have anyway.
    pub fn set_stack(&self, bytes: u64) -> Result {
        if bytes > MAX_LOCAL_MEMORY {
            return Err(Status::INVALID_VALUE);
        }
        self.engine().set_stack(bytes.max(LOCAL_MEMORY));
        Ok(())
    }

    /// Sets the size of the heap of kernels, `CU_LIMIT_MALLOC_HEAP_SIZE`: only before one has used it.
    pub fn set_heap(&self, bytes: u64) -> Result {
        if self.engine().set_heap(bytes.max(HEAP)) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Works on the primary context's state.
    pub fn primary<T>(&'static self, change: impl FnOnce(&'static Device, &mut Primary) -> T) -> T {
        change(self, &mut self.primary.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The primary context, if it is active.
    pub fn active_primary(&'static self) -> Option<Arc<Context>> {
        self.primary(|_, primary| primary.active().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::device::attribute;

    #[test]
    fn devices_have_numbers_from_zero() {
        let device = Device::get(0).unwrap();
        assert_eq!(device.number(), 0);
        assert!(Device::get(-1).is_err());
        assert!(Device::get(Device::all().len() as i32).is_err());
    }

    #[test]
    fn attributes_fit_together() {
        use attribute::number::*;
        let device = Device::get(0).unwrap();
        let value = |number| attribute::value(device, number).unwrap();
        assert!(value(MAX_SHARED_MEMORY_PER_BLOCK) <= value(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
        assert!(value(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) <= value(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
        assert!(value(MAX_THREADS_PER_BLOCK) <= value(MAX_THREADS_PER_MULTIPROCESSOR));
        assert_eq!(value(WARP_SIZE), 32);
        assert_eq!(attribute::value(device, 144), None);
        assert_eq!(attribute::value(device, -1), None);
        for &number in attribute::NUMBERS {
            assert!(attribute::value(device, number).is_some(), "{number}");
        }
    }
}
