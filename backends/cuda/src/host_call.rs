//! Host calls: the channel of a device, and which images look for one.
//!
//! `device/gpu/calls` is the code in images that calls.

use crate::context::Context;
use crate::driver::types::{Address, Handle};
use crate::driver::virtual_gpu::VirtualGpu;
use crate::properties::Properties;
use crate::symbol::global;
use gangway_backend::{DevicePtr, Error, HostCallLink, HostCallService, Result};
use gangway_image::Details;
use std::ffi::c_void;

/// The variable of an image that leads to the channel.
const CHANNEL: &str = "__gangway_host_channel";

/// The oldest processor whose memory is ordered for the whole system, as a channel needs it.
const OLDEST: (u32, u32) = (7, 0);

/// Whether an image looks for a channel. What cannot be read may do so: the driver tells.
pub(crate) fn calls_host(details: Option<&Details<'_>>) -> bool {
    details.is_none_or(|details| details.globals.iter().any(|global| global.name == CHANNEL))
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

/// Has a driver that hears of waiting warps say so.
pub(crate) fn connect(virtual_gpu: VirtualGpu, service: HostCallService) {
    extern "C" fn ring(service: *mut c_void) {
        // SAFETY: leaked below.
        unsafe { &*service.cast::<HostCallService>() }.ring();
    }
    virtual_gpu.when_warps_wait(ring, Box::into_raw(Box::new(service)).cast());
}
