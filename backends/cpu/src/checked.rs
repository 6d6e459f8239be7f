//! CPU devices that look for mistakes which their shared address space hides
//! (`GANGWAY_CHECK`).
//!
//! A [`CheckedDevice`] stands before a [`CpuDevice`]; without the variable there is none, and
//! nothing on the way of a launch asks. With `1`, every allocation stands between
//! [guards], which are verified at the end of each kernel and when it is freed. With
//! `2`, the host's pages behind mapped variables cannot be touched while a kernel runs, and neither
//! can a page behind each block.

use crate::config::{Check, Config};
use crate::device::CpuDevice;
use crate::sections::guards::{self, Damage};
use crate::sections::{self, Block, MEND, Place, STATE};
use crate::{crash, images};
use gangway_backend::{
    AllocationKind, ArgumentTable, Capabilities, Device, DevicePtr, Error, Launch, Module, RangeChange,
    RangeNotice, Result, Stream,
};

/// A logical CPU device that checks.
#[derive(Debug)]
pub(crate) struct CheckedDevice {
    ordinal: usize,
    inner: CpuDevice,
    /// The pages behind mapped variables are taken away while kernels run.
    protects: bool,
}

impl CheckedDevice {
    pub fn new(ordinal: usize, config: &Config) -> Self {
        sections::survive_forks();
        Self { ordinal, inner: CpuDevice::new(ordinal, config), protects: config.check == Check::Pages }
    }

    /// The error of writes beside blocks, if there are some.
    fn verified(damage: Vec<Damage>) -> Result<()> {
        if damage.is_empty() {
            return Ok(());
        }
        let damage: Vec<_> = damage.iter().map(Damage::describe).collect();
        Err(Error::Device { code: 0, message: format!("{}\n  help: {MEND}", damage.join("\n  also ")) })
    }
}

impl Device for CheckedDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities { mapping_notices: true, ..self.inner.capabilities() }
    }

    fn numbered(&self, number: i32, devices: i32) {
        self.inner.numbered(number, devices);
    }

    fn architecture(&self) -> String {
        self.inner.architecture()
    }

    fn describe(&self) -> Vec<(String, String)> {
        let checks = if self.protects {
            "accesses beside mapped sections, and uses of the host's pages behind them"
        } else {
            "writes beside mapped sections"
        };
        let mut lines = self.inner.describe();
        lines.push(("Checks".to_owned(), checks.to_owned()));
        lines
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        self.inner.load(image)
    }

    fn allocate(&self, size: usize, kind: AllocationKind, overwritten: bool) -> Result<DevicePtr> {
        let size = size.max(1);
        let whole = Place::room(size, self.protects).ok_or(Error::OutOfMemory { requested: size })?;
        let DevicePtr(allocation) =
            self.inner.allocate(whole, kind, overwritten).map_err(|error| match error {
                Error::OutOfMemory { .. } => Error::OutOfMemory { requested: size },
                other => other,
            })?;
        let (begin, place) = Place::choose(allocation, size, self.protects);
        let block = Block::new(self.ordinal, size, place);
        // SAFETY: the allocation has a guard on either side of the block.
        unsafe { guards::fill(begin, &block) };
        place.close();
        STATE.with(|state| state.blocks.insert(begin, block));
        Ok(DevicePtr(begin))
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()> {
        let DevicePtr(begin) = pointer;
        let block = STATE.with(|state| match state.blocks.get(&begin) {
            Some(block) if block.device == self.ordinal => state.blocks.remove(&begin),
            _ => None,
        });
        let Some(block) = block else {
            let device = self.ordinal;
            let why = "no allocation of this device starts there, or it has been freed already";
            let message = format!("cannot free {begin:#x} on cpu device {device}: {why}");
            return Err(Error::Device { code: 0, message });
        };
        // SAFETY: the block was live until now, with its guards.
        let damage = unsafe { guards::damage(begin, &block) };
        block.place.open();
        // SAFETY: allocated for the block, and no longer known to anybody.
        unsafe { self.inner.deallocate(DevicePtr(block.place.allocation), kind) }?;
        Self::verified(damage)
    }

    fn immediate(&self) -> &dyn Stream {
        self
    }

    unsafe fn pin_host(&self, host: *mut u8, size: usize) -> Result<DevicePtr> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.pin_host(host, size) }
    }

    unsafe fn unpin_host(&self, host: *mut u8) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.unpin_host(host) }
    }

    fn is_device_memory(&self, address: usize) -> Option<bool> {
        let in_block = STATE.with(|state| state.block_at(address).is_some());
        Some(in_block || images::find(address).is_some())
    }
}

impl Stream for CheckedDevice {
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.copy_to_device(to, from, size) }
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.copy_from_device(to, from, size) }
    }

    unsafe fn copy_between(
        &self,
        to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.copy_between(to_ordinal, to, from, size) }
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.fill(to, byte, size) }
    }

    unsafe fn launch(&self, launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()> {
        let protected = self.protects.then(|| {
            // Whose handler gives pages back to the program.
            crash::install_once();
            sections::protect()
        });
        // SAFETY: the caller's promise.
        let launched = unsafe { self.inner.launch(launch, table) };
        drop(protected);
        launched?;
        Self::verified(sections::damage_on(self.ordinal))
    }

    fn host_range(&self, notice: RangeNotice) {
        match notice.change {
            RangeChange::Mapped(DevicePtr(storage)) => STATE.with(|state| {
                state.name_block(storage, &notice);
                state.map(storage, &notice);
            }),
            RangeChange::Unmapped(_) => STATE.with(|state| state.unmap(&notice)),
            RangeChange::UsedInPlace => {}
        }
    }
}
