//! Primary contexts: the one of a device that everything in a process shares.

use crate::abi::pointer::Out;
use crate::abi::status::Result;
use crate::abi::types::{CUcontext, CUdevice};
use crate::api::entry::{Call, entry};
use crate::objects::context;
use crate::objects::device::Device;

fn release(device: CUdevice) -> Result {
    // Destroyed outside of the lock: it waits for work, whose callbacks may ask for the device.
    let last = Device::get(device)?.primary(|_, primary| primary.release())?;
    context::destroy_primary(last);
    Ok(())
}

fn reset(device: CUdevice) -> Result {
    let old = Device::get(device)?.primary(|_, primary| primary.reset());
    context::destroy_primary(old);
    Ok(())
}

fn set_flags(device: CUdevice, flags: u32) -> Result {
    Device::get(device)?.primary(|_, primary| primary.set_flags(flags))
}

#[entry]
fn cuDevicePrimaryCtxRetain(_: &Call, context: Out<CUcontext>, device: CUdevice) -> Result {
    context.check()?;
    let retained = Device::get(device)?.primary(|device, primary| primary.retain(device))?;
    context.set(retained)
}

#[entry]
fn cuDevicePrimaryCtxRelease(_: &Call, device: CUdevice) -> Result {
    release(device)
}

#[entry]
fn cuDevicePrimaryCtxRelease_v2(_: &Call, device: CUdevice) -> Result {
    release(device)
}

#[entry]
fn cuDevicePrimaryCtxReset(_: &Call, device: CUdevice) -> Result {
    reset(device)
}

#[entry]
fn cuDevicePrimaryCtxReset_v2(_: &Call, device: CUdevice) -> Result {
    reset(device)
}

#[entry]
fn cuDevicePrimaryCtxSetFlags(_: &Call, device: CUdevice, flags: u32) -> Result {
    set_flags(device, flags)
}

#[entry]
fn cuDevicePrimaryCtxSetFlags_v2(_: &Call, device: CUdevice, flags: u32) -> Result {
    set_flags(device, flags)
}

#[entry]
fn cuDevicePrimaryCtxGetState(_: &Call, device: CUdevice, flags: Out<u32>, active: Out<i32>) -> Result {
    flags.check()?;
    active.check()?;
    let (set, is_active) =
        Device::get(device)?.primary(|_, primary| (primary.flags(), primary.active().is_some()));
    flags.set(set)?;
    active.set(is_active.into())
}
