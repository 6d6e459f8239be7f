//! The device's memory, as loading and the interpreter use it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gangway_device_memory::{AllocationKind, DeviceHeap, Error, Fault as Violation, Hold, Request, Space};
use gangway_interpreter::FaultKind;

use crate::generator::Tier;
use crate::unified::Made;
use crate::{guard, output};

/// One device's memory.
#[derive(Debug)]
pub(crate) struct Device {
    number: u32,
    /// Whether every access is checked to the byte.
    pub check: bool,
    /// Whether every access is told of.
    pub watch: bool,
    /// Whether programs are checked for uses of what nothing has written.
    pub init: bool,
    /// Which generators make code.
    pub tier: Tier,
    /// Whether loads and stores need not be at a multiple of their size.
    pub unaligned: bool,
    space: Result<&'static Space, Error>,
    /// Bytes of the heap of kernels, which is there from the first use of it.
    heap_size: AtomicU64,
    heap: OnceLock<Option<Arc<DeviceHeap>>>,
}

/// Memory that is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    space: &'static Space,
    pub address: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let freed = self.space.free(self.address);
        debug_assert!(freed.is_ok(), "memory of our own was freed by somebody else: {freed:?}");
    }
}

impl Device {
    #[must_use]
    pub fn new(number: u32, check: bool, watch: bool, heap_size: u64) -> Self {
        Device {
            number,
            check,
            watch,
            init: false,
            tier: Tier::default(),
            unaligned: false,
            space: Space::get(),
            heap_size: AtomicU64::new(heap_size),
            heap: OnceLock::new(),
        }
    }

    /// With programs that are checked for uses of what nothing has written.
    #[must_use]
    pub fn with_init(self, init: bool) -> Self {
        Device { init: init && gangway_device_memory::shadow::enable().is_ok(), ..self }
    }

    /// With code of these generators.
    #[must_use]
    pub fn with_tier(self, tier: Tier) -> Self {
        Device { tier, ..self }
    }

    /// With accesses wherever they are.
    #[must_use]
    pub fn with_unaligned(self, unaligned: bool) -> Self {
        Device { unaligned, ..self }
    }

    /// The host may have written what it can.
    pub fn before_launch(&self) {
        if self.init {
            gangway_device_memory::shadow::define_hosts();
        }
    }

    /// Whether the heap will be of this size: it is not there yet.
    #[must_use]
    pub fn set_heap_size(&self, bytes: u64) -> bool {
        self.heap_size.store(bytes, Ordering::Relaxed);
        self.heap.get().is_none()
    }

    /// What kernels allocate from.
    fn heap(&self) -> Option<&Arc<DeviceHeap>> {
        let size = || self.heap_size.load(Ordering::Relaxed);
        let make = || DeviceHeap::new(self.space().ok()?, self.number, size()).ok();
        self.heap.get_or_init(make).as_ref()
    }

    /// The `malloc` of kernels: 0 when there is no room.
    #[must_use]
    pub fn heap_allocate(&self, size: u64) -> u64 {
        self.heap().and_then(|heap| heap.malloc(size)).unwrap_or(0)
    }

    /// The `free` of kernels.
    pub fn heap_free(&self, address: u64) -> Result<(), FaultKind> {
        let wrong = |what: String| FaultKind::BadFree { address, what };
        let heap = self.heap().ok_or_else(|| wrong("there is no heap".to_owned()))?;
        heap.free(address).map_err(|_| wrong(self.describe(address).unwrap_or_default()))
    }

    /// Memory as kernels may use it.
    pub fn checked(&self) -> Result<Checked<'_>, FaultKind> {
        let space = self.space().map_err(|error| FaultKind::Launch(error.to_string()))?;
        Ok(Checked { space, device: self, stop: None })
    }

    pub fn space(&self) -> Result<&'static Space, Error> {
        self.space.clone()
    }

    /// Memory of some kind; `name` is that of the variable that it is for.
    pub fn allocate(
        &self,
        kind: AllocationKind,
        size: u64,
        align: u64,
        name: Option<&str>,
    ) -> Result<Held, Error> {
        let mut request = Request::new(self.number, size, kind).align(align);
        request.name = name;
        self.hold(&request)
    }

    /// Memory that a worker divides by itself.
    pub fn arena(&self, size: u64) -> Result<Held, String> {
        self.hold(&Request::new(self.number, size, AllocationKind::Arena)).map_err(|error| error.to_string())
    }

    /// What cooperative groups keep about a grid: the size of this, and the counter of the
    /// grid's barrier, with 16 bytes in all.
    pub fn workspace(&self) -> Result<Held, String> {
        let mut content = [0; 16];
        content[..4].copy_from_slice(&8_u32.to_le_bytes());
        let held = self.arena(content.len() as u64)?;
        // SAFETY: it was allocated just now: nothing else knows of it.
        unsafe { held.space.write(held.address, &content) }.map_err(|error| error.to_string())?;
        Ok(held)
    }

    fn hold(&self, request: &Request<'_>) -> Result<Held, Error> {
        let space = self.space()?;
        Ok(Held { space, address: space.allocate(request)? })
    }

    /// Writes the initial value of a variable.
    pub fn initialize(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: it is memory of a module that is being loaded: nothing frees it.
        unsafe { self.space()?.write(address, bytes) }
    }

    /// What an address is near to.
    #[must_use]
    pub fn describe(&self, address: u64) -> Option<String> {
        self.space().ok().map(|space| space.describe(address))
    }

    /// Whether a kernel's write would change a constant.
    #[must_use]
    pub fn is_constant(&self, address: u64, size: usize) -> bool {
        let checked = self.space().ok().map(|space| space.check(address, size as u64, true));
        matches!(checked, Some(Err(violation)) if violation.fault == Violation::ReadOnly)
    }

    /// The first byte of an access that is wrong, and what it is near to.
    #[must_use]
    pub fn describe_access(&self, address: u64, size: usize) -> Option<(u64, String)> {
        let space = self.space().ok()?;
        let wrong = space.first_wrong(address, size as u64);
        Some((wrong, space.describe(wrong)))
    }
}

/// Device memory for the interpreter, each access checked, and what else it asks of a device.
#[derive(Debug)]
pub(crate) struct Checked<'a> {
    space: &'static Space,
    device: &'a Device,
    /// Ends the launch when it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

impl gangway_interpreter::Memory for Checked<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        let _held = self.hold(address, bytes.len(), false)?;
        // SAFETY: a kernel may read all of it, and it is held.
        let there = unsafe { guard::copy(bytes.as_mut_ptr(), pointer(address), bytes.len()) };
        if there { Ok(()) } else { Err(outside(address, bytes.len(), false)) }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        let _held = self.hold(address, bytes.len(), true)?;
        // SAFETY: as in `read`.
        let there = unsafe { guard::copy(pointer(address), bytes.as_ptr(), bytes.len()) };
        if there { Ok(()) } else { Err(outside(address, bytes.len(), true)) }
    }

    fn allocate(&mut self, size: u64, _align: u64) -> Result<u64, FaultKind> {
        // Variables have been placed when the module was loaded.
        Err(FaultKind::Launch(format!("{size} bytes are asked for after loading")))
    }

    fn heap_allocate(&mut self, size: u64) -> Result<u64, FaultKind> {
        Ok(self.device.heap_allocate(size))
    }

    fn heap_free(&mut self, address: u64) -> Result<(), FaultKind> {
        self.device.heap_free(address)
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn print(&mut self, text: &[u8]) {
        output::print(text);
    }

    fn complain(&mut self, text: &str) {
        output::complain(text);
    }
}

impl Checked<'_> {
    /// Holds what a kernel may access: the program may free it at any time.
    fn hold(&self, address: u64, size: usize, write: bool) -> Result<Hold<'static>, FaultKind> {
        let wrong = || outside(address, size, write);
        self.space.check(address, size as u64, write).map_err(|_| wrong())?;
        if self.device.check {
            Made { address, size: size as u64, write }.tell_first(self.space);
        }
        self.space.hold(address, size as u64).ok_or_else(wrong)
    }
}

fn outside(address: u64, size: usize, write: bool) -> FaultKind {
    FaultKind::OutOfBounds { address, size, write }
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
