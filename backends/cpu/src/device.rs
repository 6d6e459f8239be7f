//! One logical device: the host's processors behind a memory of its own.

use crate::config::Config;
use crate::launch::{self, Place};
use crate::memory::DeviceMemory;
use crate::module::CpuModule;
use gangway_backend::{
    AllocationKind, ArgumentTable, Capabilities, Device, DevicePtr, HostCallService, HostCalls, Launch,
    Module, Result, Stream,
};
use std::ptr;

/// A logical CPU device.
#[derive(Debug)]
pub struct CpuDevice {
    place: Place,
    memory: DeviceMemory,
}

impl CpuDevice {
    pub(crate) fn new(ordinal: usize, config: &Config) -> Self {
        Self {
            place: Place {
                device: ordinal,
                catch_signals: config.catch_signals,
                keep_images: config.keep_images,
            },
            memory: DeviceMemory::new(ordinal, config.poison, config.memory),
        }
    }
}

impl Device for CpuDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            unified_memory: true,
            private_in_session: true,
            peer_copy: true,
            host_calls: HostCalls::Direct,
            ..Capabilities::default()
        }
    }

    fn numbered(&self, number: i32, _: i32) {
        crate::number::set(self.place.device, number);
    }

    fn architecture(&self) -> String {
        // The stock host plugin's word: tools know it.
        "generic-64bit".to_owned()
    }

    fn describe(&self) -> Vec<(String, String)> {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let memory = match self.memory.usage() {
            Some((limit, used)) => format!("{used} of {limit} bytes used (GANGWAY_CPU_MEMORY)"),
            None => "shared with the host, no limit".to_owned(),
        };
        [
            ("Device", format!("cpu {}", self.place.device)),
            ("Architecture", "x86-64".to_owned()),
            ("Processors", processors.to_string()),
            ("Memory", memory),
            ("Poisoned memory", self.memory.poison().describe().to_owned()),
            ("Crash reports", if self.place.catch_signals { "on" } else { "off" }.to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        Ok(Box::new(CpuModule::load(self.place, image)?))
    }

    // Host, shared and device memory are all the same to a CPU.
    #[inline]
    fn allocate(&self, size: usize, _kind: AllocationKind, overwritten: bool) -> Result<DevicePtr> {
        self.memory.allocate(size, overwritten).map(|block| DevicePtr(block.expose_provenance()))
    }

    #[inline]
    unsafe fn deallocate(&self, pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
        self.memory.free(pointer.0)
    }

    /// Every operation is done when it returns.
    fn immediate(&self) -> &dyn Stream {
        self
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        crate::host_call::connect(self.place.device, service);
        Ok(())
    }

    // As in the stock library, pinning changes nothing: the device reaches all host memory.
    unsafe fn pin_host(&self, host: *mut u8, _size: usize) -> Result<DevicePtr> {
        Ok(DevicePtr(host.expose_provenance()))
    }

    unsafe fn unpin_host(&self, _host: *mut u8) -> Result<()> {
        Ok(())
    }
}

impl Stream for CpuDevice {
    #[inline]
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        // The ranges may overlap: pinned host memory has the same address on the device.
        // SAFETY: the caller's promise.
        unsafe { ptr::copy(from, ptr::with_exposed_provenance_mut(to.0), size) };
        Ok(())
    }

    #[inline]
    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { ptr::copy(ptr::with_exposed_provenance(from.0), to, size) };
        Ok(())
    }

    unsafe fn copy_between(
        &self,
        _to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise; all our devices share one address space.
        unsafe {
            ptr::copy(
                ptr::with_exposed_provenance::<u8>(from.0),
                ptr::with_exposed_provenance_mut(to.0),
                size,
            );
        }
        Ok(())
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { ptr::write_bytes(ptr::with_exposed_provenance_mut::<u8>(to.0), byte, size) };
        Ok(())
    }

    #[inline]
    unsafe fn launch(&self, launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()> {
        // Teams and thread limits need nothing here: the compiler puts them into
        // the kernel, which asks the host's OpenMP library for them. Fortran's asks the launch.
        // SAFETY: the caller's promise.
        unsafe { launch::run(self.place, launch, table.slots()) };
        Ok(())
    }
}
