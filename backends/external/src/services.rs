//! Host calls and notices of mapped ranges: what an external library is given and told.

use crate::abi::{self, Functions, RtlHostCalls};
use gangway_backend::{HostCallOutcome, HostCallService, HostCalls, RangeChange};
use std::ffi::c_void;

/// How kernels of a device can call the host, by its flags; or which functions are missing.
pub(crate) fn host_calls(flags: u64, functions: &Functions) -> Result<HostCalls, &'static str> {
    let (direct, channel) = (flags & abi::HOST_CALLS != 0, flags & abi::HOST_CHANNEL != 0);
    if !direct && !channel {
        return Ok(HostCalls::None);
    }
    if functions.connect_host_calls.is_none() || functions.host_call_link.is_none() {
        return Err("host calls need gangway_rtl_connect_host_calls and gangway_rtl_host_call_link");
    }
    if !channel {
        return Ok(HostCalls::Direct);
    }
    if functions.allocate_visible.is_none() || functions.deallocate_visible.is_none() {
        return Err("GANGWAY_RTL_HOST_CHANNEL needs gangway_rtl_allocate_visible and \
                    gangway_rtl_deallocate_visible");
    }
    Ok(HostCalls::Channel { rings: flags & abi::RINGS != 0 })
}

/// The service in the library's terms. Leaked, as kernels may call until the process ends;
/// a device is connected once.
pub(crate) fn lend(service: HostCallService) -> &'static RtlHostCalls {
    /// # Safety
    /// The context is a service, and so many bytes are there.
    unsafe extern "C" fn call(context: *mut c_void, function: u64, block: *mut c_void, size: usize) -> u32 {
        // SAFETY: the caller's promise; the service was leaked.
        let (service, block) =
            unsafe { (&*context.cast::<HostCallService>(), gangway_backend::host_block(block, size)) };
        let Some(block) = block else { return HostCallOutcome::Malformed.number() };
        service.call(function, block).number()
    }
    /// # Safety
    /// The context is a service.
    unsafe extern "C" fn ring(context: *mut c_void) {
        // SAFETY: the caller's promise; the service was leaked.
        unsafe { &*context.cast::<HostCallService>() }.ring();
    }
    let channel = service.channel();
    let context = Box::into_raw(Box::new(service)).cast();
    Box::leak(Box::new(RtlHostCalls {
        size: size_of::<RtlHostCalls>() as u32,
        has_channel: channel.is_some().into(),
        channel: channel.unwrap_or_default().0 as u64,
        context,
        call,
        ring,
    }))
}

/// A change in the library's terms: its number, and where the range is on the device.
pub(crate) fn range_change(change: RangeChange, begin: usize) -> (i32, abi::Address) {
    match change {
        RangeChange::Mapped(device) => (abi::RANGE_MAPPED, device.0 as u64),
        RangeChange::Unmapped(device) => (abi::RANGE_UNMAPPED, device.0 as u64),
        RangeChange::UsedInPlace => (abi::RANGE_USED_IN_PLACE, begin as u64),
    }
}
