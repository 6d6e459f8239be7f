//! Host calls: the channel of a device, and which images look for one.
//!
//! `device/gpu/calls` is the code in images that calls.

use crate::context::Context;
use crate::driver::types::{Address, HOST_MEMORY_FOR_ALL, Handle};
use crate::properties::Properties;
use crate::symbol::global;
use gangway_backend::{DevicePtr, Error, HostCallLink, HostCallService, Result, VisibleMemory};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The variable of an image that leads to the channel.
const CHANNEL: &str = "__gangway_host_channel";

/// The oldest processor whose memory is ordered for the whole system, as a channel needs it.
const OLDEST: (u32, u32) = (7, 0);

/// Whether an image looks for a channel. What cannot be read may do so: the driver tells.
pub(crate) fn calls_host(image: &[u8]) -> bool {
    match gangway_image::details(image) {
        Ok(details) => details.globals.iter().any(|global| global.name == CHANNEL),
        Err(_) => true,
    }
}

/// Where an image that may look for a channel does so.
pub(crate) fn link(context: &Context, properties: &Properties, module: Handle) -> Result<HostCallLink> {
    let Some((address, size)) = global(context, module, CHANNEL)? else { return Ok(HostCallLink::Unused) };
    if size != size_of::<Address>() {
        let expected = size_of::<Address>();
        let reason = format!("`{CHANNEL}` has {size} bytes, expected {expected}");
        return Err(Error::InvalidImage { reason });
    }
    let capability = properties.capability;
    if (capability.major, capability.minor) < OLDEST {
        let reason = format!(
            "its code calls functions of the host, which needs sm_{}{} or newer, and the device is sm_{}{}",
            OLDEST.0, OLDEST.1, capability.major, capability.minor
        );
        return Err(Error::InvalidImage { reason });
    }
    Ok(HostCallLink::Global(DevicePtr(address as usize)))
}

/// Memory of the host that the device sees, all zero.
pub(crate) fn allocate_visible(context: &Context, size: usize) -> Result<VisibleMemory> {
    let (mut pointer, mut device): (*mut c_void, Address) = (std::ptr::null_mut(), 0);
    let (to, to_device) = (&raw mut pointer, &raw mut device);
    context.within("cuMemHostAlloc", |api| {
        // SAFETY: the driver writes one address.
        unsafe { (api.memory_allocate_host)(to, size, HOST_MEMORY_FOR_ALL) }
    })?;
    let asked = context.within("cuMemHostGetDevicePointer", |api| {
        // SAFETY: as above, for memory of the driver's.
        unsafe { (api.memory_device_address_of_host)(to_device, pointer, 0) }
    });
    let host = NonNull::new(pointer.cast::<u8>()).ok_or(Error::OutOfMemory { requested: size })?;
    let memory = VisibleMemory { host, device: DevicePtr(device as usize) };
    if let Err(error) = asked {
        // SAFETY: allocated above, and nobody has seen it.
        let _ = unsafe { deallocate_visible(context, memory) };
        return Err(error);
    }
    // SAFETY: so many bytes have been allocated.
    unsafe { host.write_bytes(0, size) };
    Ok(memory)
}

/// Gives it back.
///
/// # Safety
/// It comes from [`allocate_visible`], and nobody uses it.
pub(crate) unsafe fn deallocate_visible(context: &Context, memory: VisibleMemory) -> Result<()> {
    // SAFETY: the caller's promise.
    let code = context.code_within(|api| unsafe { (api.memory_free_host)(memory.host.as_ptr().cast()) });
    if context.frees_by_itself(code) { Ok(()) } else { context.checked(code, "cuMemFreeHost") }
}

/// Has a driver that hears of waiting warps say so.
pub(crate) fn connect(context: &Context, service: HostCallService) {
    extern "C" fn ring(service: *mut c_void) {
        // SAFETY: leaked below.
        unsafe { &*service.cast::<HostCallService>() }.ring();
    }
    if let Some(when_warps_wait) = context.driver.when_warps_wait {
        when_warps_wait(ring, Box::into_raw(Box::new(service)).cast());
    }
}
