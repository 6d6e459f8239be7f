//! Primary contexts: the one of a device that everything in a process shares.

use super::entry::{Call, entry};
use crate::abi::{CUcontext, CUdevice, Out, Result};
use crate::objects::context::{self, Primary};
use crate::objects::device::Device;

fn release(device: CUdevice) -> Result {
    // Destroyed outside of the lock: it waits for work, whose callbacks may ask for the device.
    let last = Primary::of(Device::get(device)?, Primary::release)?;
    context::destroy_primary(last);
    Ok(())
}

fn reset(device: CUdevice) -> Result {
    let old = Primary::of(Device::get(device)?, Primary::reset);
    context::destroy_primary(old);
    Ok(())
}

fn set_flags(device: CUdevice, flags: u32) -> Result {
    Primary::of(Device::get(device)?, |primary| primary.set_flags(flags))
}

#[entry]
fn cuDevicePrimaryCtxRetain(_: &Call, context: Out<CUcontext>, device: CUdevice) -> Result {
    context.check()?;
    let device = Device::get(device)?;
    context.set(Primary::of(device, |primary| primary.retain(device))?)
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
    let state = |primary: &mut Primary| (primary.flags(), primary.active().is_some());
    let (set, is_active) = Primary::of(Device::get(device)?, state);
    flags.set(set)?;
    active.set(is_active.into())
}
