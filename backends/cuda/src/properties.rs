//! What a device is: asked of the driver once, when the device is opened.

use crate::driver::Driver;
use crate::driver::types::{Attribute, DeviceNumber, SUCCESS};
use crate::image::Capability;
use gangway_device_code::DeviceLimits;
use std::ffi::{CStr, c_char};

/// What the back end has to know of a device again and again.
#[derive(Debug, Clone)]
pub(crate) struct Properties {
    pub capability: Capability,
    pub limits: DeviceLimits,
    /// Bytes of shared memory that a team can have.
    pub shared_memory: u32,
    /// Warps that the device can have under way at the same time.
    pub parallelism: u32,
    /// Ticks per second.
    pub clock_frequency: u64,
    /// Kernels can read and write all memory of the host.
    pub pageable_memory: bool,
    /// Memory can be allocated in the order of a stream.
    pub pools: bool,
    /// Each access is checked to the byte: every variable is to have memory of its own.
    pub checks_memory: bool,
    /// Its driver tells of memory by the variables that it is of.
    pub wants_names: bool,
    /// It looks for races, also with what the program itself does.
    pub looks_for_races: bool,
    pub managed_memory: bool,
    /// Bytes of memory.
    pub memory: usize,
}

impl Properties {
    /// Asks about a device.
    pub fn of(driver: &Driver, device: DeviceNumber) -> Self {
        let attribute = |attribute| driver.attribute(attribute, device);
        let multiprocessors = attribute(Attribute::Multiprocessors);
        let warp = attribute(Attribute::WarpSize).max(1);
        let mut memory = 0;
        // SAFETY: the driver writes one number.
        unsafe { (driver.api.device_total_memory)(&raw mut memory, device) };
        Self {
            capability: Capability {
                major: attribute(Attribute::CapabilityMajor),
                minor: attribute(Attribute::CapabilityMinor),
            },
            limits: DeviceLimits {
                warp,
                threads: attribute(Attribute::MaxThreadsPerBlock).min(attribute(Attribute::MaxBlockX)).max(1),
                teams: attribute(Attribute::MaxGridX).max(1),
                multiprocessors,
                // A worker of the virtual GPU is a multiprocessor. A card's have four schedulers, and teams of several
                // warps: races between these are looked for where programs have them.
                threads_at_once: match driver.virtual_gpu {
                    Some(gpu) if !gpu.looks_for_races() => warp,
                    _ => 4 * warp,
                },
            },
            shared_memory: attribute(Attribute::MaxSharedMemoryPerBlock)
                .max(attribute(Attribute::MaxSharedMemoryOptIn)),
            parallelism: multiprocessors * (attribute(Attribute::MaxThreadsPerMultiprocessor) / warp),
            clock_frequency: u64::from(attribute(Attribute::ClockRate)) * 1000,
            pageable_memory: attribute(Attribute::PageableMemoryAccess) != 0,
            pools: attribute(Attribute::MemoryPools) != 0,
            checks_memory: driver.virtual_gpu.is_some_and(|gpu| gpu.checks_memory(device)),
            wants_names: driver.virtual_gpu.is_some_and(|gpu| gpu.wants_names(device)),
            looks_for_races: driver.virtual_gpu.is_some_and(|gpu| gpu.looks_for_races()),
            managed_memory: attribute(Attribute::ManagedMemory) != 0,
            memory,
        }
    }

    /// What programs ask about the device.
    pub fn tell(
        &self,
        driver: &Driver,
        device: DeviceNumber,
        free_memory: usize,
    ) -> gangway_backend::Properties {
        let version = driver.version();
        gangway_backend::Properties {
            memory: self.memory,
            free_memory,
            group_memory: self.shared_memory as usize,
            name: name(driver, device),
            vendor: "Nvidia".to_owned(),
            driver: format!("CUDA Driver {}.{}", version / 1000, version % 1000 / 10),
        }
    }

    /// Lines for people.
    pub fn describe(&self, driver: &Driver, device: DeviceNumber) -> Vec<(String, String)> {
        let attribute = |attribute| driver.attribute(attribute, device);
        let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let version = driver.version();
        let lines = [
            ("Name", name(driver, device)),
            ("Driver", format!("CUDA {}.{}", version / 1000, version % 1000 / 10)),
            ("Compute capability", format!("{}.{}", self.capability.major, self.capability.minor)),
            ("Multiprocessors", self.limits.multiprocessors.to_string()),
            ("Warp size", self.limits.warp.to_string()),
            ("Threads per team", self.limits.threads.to_string()),
            ("Shared memory per team", format!("{} KiB", self.shared_memory >> 10)),
            ("Memory", format!("{} MiB", self.memory >> 20)),
            ("Integrated", yes(attribute(Attribute::Integrated) != 0)),
            ("Unified addressing", yes(attribute(Attribute::UnifiedAddressing) != 0)),
            ("Unified shared memory", yes(self.pageable_memory)),
            ("Managed memory", yes(self.managed_memory)),
            ("Concurrent managed access", yes(attribute(Attribute::ConcurrentManagedAccess) != 0)),
            ("Memory pools", yes(self.pools)),
        ];
        lines.map(|(key, value)| (key.to_owned(), value)).into()
    }
}

/// What its maker calls a device.
fn name(driver: &Driver, device: DeviceNumber) -> String {
    let mut name = [0 as c_char; 256];
    // SAFETY: the driver writes so many bytes at most.
    let code = unsafe { (driver.api.device_get_name)(name.as_mut_ptr(), name.len() as i32 - 1, device) };
    if code != SUCCESS {
        return "unknown".to_owned();
    }
    // SAFETY: the last byte has been left alone, so the text ends.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()
}

/// The identifier that a device has on every machine and in every run, as NVIDIA's tools
/// write it.
pub(crate) fn unique_id(driver: &Driver, ordinal: usize) -> Option<String> {
    let mut device = 0;
    let mut uuid = [0; 16];
    // SAFETY: the driver writes one number, then sixteen bytes.
    let code = unsafe {
        match (driver.api.device_get)(&raw mut device, i32::try_from(ordinal).ok()?) {
            SUCCESS => (driver.api.device_get_uuid)(&raw mut uuid, device),
            code => code,
        }
    };
    (code == SUCCESS).then(|| {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let parts = [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].map(hex);
        format!("GPU-{}", parts.join("-"))
    })
}
