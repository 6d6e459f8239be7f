//! Memory of a device, and host memory that a device reaches.
//!
//! The runtime keeps a pool of its own for mapped data, so few allocations get here. Larger
//! blocks come in the order of a stream, out of a pool of the driver's that is ours alone:
//! what it keeps goes back when memory runs short. What kernels allocate through the host has
//! a pool that never has them wait for each other.

use crate::context::Context;
use crate::driver::failure::{DEINITIALIZED, HOST_MEMORY_ALREADY_REGISTERED, OUT_OF_MEMORY};
use crate::driver::table::Api;
use crate::driver::types::{
    Address, Code, DEVICE_MEMORY, HOST_MEMORY, HOST_MEMORY_FOR_ALL, Handle, MANAGED_BY_ALL,
    POOL_RELEASE_THRESHOLD, POOL_REUSE_INTERNAL_DEPENDENCIES, PoolProperties, SUCCESS, pointer_attribute,
};
use crate::pages;
use gangway_backend::{AllocationKind, DevicePtr, Error, Result, VisibleMemory};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The part of a device's memory that the pool may keep for later, at most: a fourth.
const KEPT_PART: usize = 4;

/// Memory of one device.
pub(crate) struct Memory {
    /// Made when first needed.
    pool: OnceLock<Handle>,
    /// Bytes that the pool may keep.
    kept: u64,
    /// For what kernels wait for; made when first needed. It keeps nothing.
    prompt: OnceLock<Handle>,
}

impl Memory {
    /// For a device with so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { pool: OnceLock::new(), kept: (bytes / KEPT_PART) as u64, prompt: OnceLock::new() }
    }

    /// Allocates memory of a kind.
    pub fn allocate(&self, context: &Context, size: usize, kind: AllocationKind) -> Result<DevicePtr> {
        let (operation, code, address) = match self.try_allocate(context, size, kind) {
            // What the pool keeps is free for others.
            (_, OUT_OF_MEMORY, _) if self.trim(context) => self.try_allocate(context, size, kind),
            other => other,
        };
        match code {
            SUCCESS => Ok(DevicePtr(address as usize)),
            OUT_OF_MEMORY => Err(Error::OutOfMemory { requested: size }),
            code => Err(context.failure(code, operation)),
        }
    }

    fn try_allocate(
        &self,
        context: &Context,
        size: usize,
        kind: AllocationKind,
    ) -> (&'static str, Code, Address) {
        let mut address: Address = 0;
        let to = &raw mut address;
        // SAFETY: the driver writes one address.
        let (operation, code) = unsafe {
            match kind {
                AllocationKind::Device => {
                    ("cuMemAlloc", context.code_within(|api| (api.memory_allocate)(to, size)))
                }
                AllocationKind::Shared => (
                    "cuMemAllocManaged",
                    context.code_within(|api| (api.memory_allocate_managed)(to, size, MANAGED_BY_ALL)),
                ),
                AllocationKind::Host => {
                    let (operation, code, pointer) = pages::allocate(context, size);
                    address = pointer.expose_provenance() as Address;
                    (operation, code)
                }
            }
        };
        (operation, code, address)
    }

    /// Frees what [`allocate`](Self::allocate) gave.
    ///
    /// # Safety
    /// It came from there with the same kind, and is not in use.
    pub unsafe fn free(&self, context: &Context, pointer: DevicePtr, kind: AllocationKind) -> Result<()> {
        // SAFETY: the caller's promise.
        let (operation, code) = unsafe {
            match kind {
                AllocationKind::Device | AllocationKind::Shared => {
                    ("cuMemFree", context.code_within(|api| (api.memory_free)(pointer.0 as Address)))
                }
                AllocationKind::Host => {
                    pages::free(context, std::ptr::with_exposed_provenance_mut(pointer.0))
                }
            }
        };
        if context.frees_by_itself(code) { Ok(()) } else { context.checked(code, operation) }
    }

    /// Allocates device memory in the order of a stream.
    pub fn allocate_in(&self, context: &Context, size: usize, stream: Handle) -> Result<DevicePtr> {
        let pool = Self::made(context, &self.pool, |api, pool| {
            let mut kept = self.kept;
            // SAFETY: the attribute is a number of 64 bits.
            unsafe { (api.pool_set_attribute)(pool, POOL_RELEASE_THRESHOLD, (&raw mut kept).cast()) }
        })?;
        self.allocate_from(context, pool, size, stream)
    }

    /// The same for a kernel that waits for the answer: memory that others are about to free behind
    /// their kernels, for which the driver would have the stream wait, is not taken.
    pub fn allocate_promptly(&self, context: &Context, size: usize, stream: Handle) -> Result<DevicePtr> {
        let pool = Self::made(context, &self.prompt, |api, pool| {
            let mut wait: i32 = 0;
            // SAFETY: the attribute is an `int`.
            unsafe {
                (api.pool_set_attribute)(pool, POOL_REUSE_INTERNAL_DEPENDENCIES, (&raw mut wait).cast())
            }
        })?;
        self.allocate_from(context, pool, size, stream)
    }

    fn allocate_from(
        &self,
        context: &Context,
        pool: Handle,
        size: usize,
        stream: Handle,
    ) -> Result<DevicePtr> {
        let allocate = || {
            let mut address = 0;
            let to = &raw mut address;
            // SAFETY: the driver writes one address; pool and stream are alive.
            let code = context.code_with(|api| unsafe { (api.pool_allocate)(to, size, pool, stream) });
            (code, address)
        };
        let (code, address) = match allocate() {
            (OUT_OF_MEMORY, _) if self.trim(context) => allocate(),
            other => other,
        };
        match code {
            SUCCESS => Ok(DevicePtr(address as usize)),
            OUT_OF_MEMORY => Err(Error::OutOfMemory { requested: size }),
            code => Err(context.failure(code, "cuMemAllocFromPoolAsync")),
        }
    }

    /// Frees what [`allocate_in`](Self::allocate_in) gave, in the order of a stream.
    ///
    /// # Safety
    /// It came from there; operations of other streams that use it are done.
    pub unsafe fn free_in(&self, context: &Context, pointer: DevicePtr, stream: Handle) -> Result<()> {
        let code = context.code_with(|api| {
            // SAFETY: the caller's promise.
            unsafe { (api.memory_free_in_stream)(pointer.0 as Address, stream) }
        });
        if context.frees_by_itself(code) { Ok(()) } else { context.checked(code, "cuMemFreeAsync") }
    }

    /// A pool, which the first use makes.
    fn made(
        context: &Context,
        place: &OnceLock<Handle>,
        adjust: impl Fn(&Api, Handle) -> Code,
    ) -> Result<Handle> {
        if let Some(&pool) = place.get() {
            return Ok(pool);
        }
        let properties = PoolProperties::of(context.device);
        let mut pool = 0;
        let to = &raw mut pool;
        // SAFETY: the driver reads the properties and writes one handle.
        context.within("cuMemPoolCreate", |api| unsafe { (api.pool_create)(to, &raw const properties) })?;
        context.within("cuMemPoolSetAttribute", |api| adjust(api, pool))?;
        let current = *place.get_or_init(|| pool);
        if current != pool {
            // Another thread has been quicker.
            // SAFETY: nothing has come from it.
            let _ = context.within("cuMemPoolDestroy", |api| unsafe { (api.pool_destroy)(pool) });
        }
        Ok(current)
    }

    /// Gives the driver back what the pool keeps; false if there is no pool.
    pub fn trim(&self, context: &Context) -> bool {
        let Some(&pool) = self.pool.get() else { return false };
        // SAFETY: the pool is never destroyed before the device.
        context.within("cuMemPoolTrimTo", |api| unsafe { (api.pool_trim)(pool, 0) }).is_ok()
    }

    /// Destroys the pools; nothing of them is in use.
    pub fn close(&self, context: &Context) {
        for &pool in [&self.pool, &self.prompt].into_iter().filter_map(OnceLock::get) {
            // SAFETY: the caller's promise.
            let _ = context.within("cuMemPoolDestroy", |api| unsafe { (api.pool_destroy)(pool) });
        }
    }
}

/// Pins host memory: its address on the device.
///
/// # Safety
/// The range is valid until it is unpinned.
pub(crate) unsafe fn pin(context: &Context, host: *mut u8, size: usize) -> Result<DevicePtr> {
    let pointer = host.cast::<c_void>();
    let code = context.code_within(|api| {
        // SAFETY: the caller's promise.
        unsafe { (api.memory_register_host)(pointer, size, HOST_MEMORY_FOR_ALL) }
    });
    // The program may have pinned it itself.
    if code != HOST_MEMORY_ALREADY_REGISTERED {
        context.checked(code, "cuMemHostRegister")?;
    }
    device_address(context, pointer)
}

/// Undoes [`pin`].
///
/// # Safety
/// The memory has been pinned and is not in use.
pub(crate) unsafe fn unpin(context: &Context, host: *mut u8) -> Result<()> {
    // SAFETY: the caller's promise.
    let code = context.code_within(|api| unsafe { (api.memory_unregister_host)(host.cast()) });
    if code == DEINITIALIZED { Ok(()) } else { context.checked(code, "cuMemHostUnregister") }
}

/// Where the device sees pinned memory of the host.
fn device_address(context: &Context, pointer: *mut c_void) -> Result<DevicePtr> {
    let mut address: Address = 0;
    let to = &raw mut address;
    context.within("cuMemHostGetDevicePointer", |api| {
        // SAFETY: the driver writes one address.
        unsafe { (api.memory_device_address_of_host)(to, pointer, 0) }
    })?;
    Ok(DevicePtr(address as usize))
}

/// What the driver knows about an address; zeros for one that is none of its memory's.
#[derive(Default)]
struct Known {
    memory: u32,
    /// Not 0 if it is. The driver writes one byte, or a word.
    managed: u32,
    device: i32,
    begin: usize,
    size: usize,
}

impl Known {
    fn about(context: &Context, address: usize) -> Option<Self> {
        let mut known = Self::default();
        let asked: [(i32, *mut c_void); 5] = [
            (pointer_attribute::MEMORY_TYPE, (&raw mut known.memory).cast()),
            (pointer_attribute::IS_MANAGED, (&raw mut known.managed).cast()),
            (pointer_attribute::DEVICE_ORDINAL, (&raw mut known.device).cast()),
            (pointer_attribute::RANGE_START, (&raw mut known.begin).cast()),
            (pointer_attribute::RANGE_SIZE, (&raw mut known.size).cast()),
        ];
        let (attributes, values) = (asked.map(|(attribute, _)| attribute), asked.map(|(_, value)| value));
        let code = context.code_within(|api| {
            // SAFETY: two arrays of so many elements; each value has its attribute's type.
            unsafe {
                let (attributes, values) = (attributes.as_ptr(), values.as_ptr());
                (api.pointer_attributes)(asked.len() as u32, attributes, values, address as Address)
            }
        });
        (code == SUCCESS).then_some(known)
    }

    /// Where what a device reaches of it ends: its own memory, managed memory, pinned memory.
    fn reachable_end(&self, device: usize) -> Option<usize> {
        let own = self.memory == DEVICE_MEMORY && usize::try_from(self.device) == Ok(device);
        let reached = own || self.managed != 0 || self.memory == HOST_MEMORY;
        reached.then(|| self.begin.saturating_add(self.size))
    }
}

/// Whether all bytes lie in memory that a device reaches, in one allocation or in several that
/// follow each other.
pub(crate) fn reaches(context: &Context, device: usize, address: DevicePtr, size: usize) -> bool {
    let DevicePtr(mut at) = address;
    let Some(end) = at.checked_add(size) else { return false };
    while at < end {
        match Known::about(context, at).and_then(|known| known.reachable_end(device)) {
            Some(next) if next > at => at = next,
            _ => return false,
        }
    }
    true
}

/// Allocates memory of the host that the device sees. What stands in it is not said.
pub(crate) fn allocate_visible(context: &Context, size: usize) -> Result<VisibleMemory> {
    let (operation, code, pointer) = pages::allocate(context, size);
    context.checked(code, operation)?;
    let host = NonNull::new(pointer.cast::<u8>()).ok_or(Error::OutOfMemory { requested: size })?;
    match device_address(context, pointer) {
        Ok(device) => Ok(VisibleMemory { host, device }),
        Err(error) => {
            // SAFETY: allocated above.
            unsafe { pages::free(context, pointer) };
            Err(error)
        }
    }
}

/// Gives it back.
///
/// # Safety
/// It comes from [`allocate_visible`], and nobody uses it.
pub(crate) unsafe fn free_visible(context: &Context, memory: VisibleMemory) -> Result<()> {
    // SAFETY: the caller's promise.
    let (operation, code) = unsafe { pages::free(context, memory.host.as_ptr().cast()) };
    if context.frees_by_itself(code) { Ok(()) } else { context.checked(code, operation) }
}
