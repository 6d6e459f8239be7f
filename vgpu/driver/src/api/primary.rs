//! Primary contexts: the one of a device that everything in a process shares.

use crate::context;
use crate::device::Device;
use crate::entry::entries;
use crate::error::Result;
use crate::pointer::Out;
use crate::types::{CUcontext, CUdevice};

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

entries! {
    fn cuDevicePrimaryCtxRetain(_, context: Out<CUcontext>, device: CUdevice) {
        context.check()?;
        let retained = Device::get(device)?.primary(|device, primary| primary.retain(device))?;
        context.set(retained)
    }

    fn cuDevicePrimaryCtxRelease(_, device: CUdevice) {
        release(device)
    }

    fn cuDevicePrimaryCtxRelease_v2(_, device: CUdevice) {
        release(device)
    }

    fn cuDevicePrimaryCtxReset(_, device: CUdevice) {
        reset(device)
    }

    fn cuDevicePrimaryCtxReset_v2(_, device: CUdevice) {
        reset(device)
    }

    fn cuDevicePrimaryCtxSetFlags(_, device: CUdevice, flags: u32) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(_, device: CUdevice, flags: u32) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxGetState(_, device: CUdevice, flags: Out<u32>, active: Out<i32>) {
        flags.check()?;
        active.check()?;
        let (set, is_active) =
            Device::get(device)?.primary(|_, primary| (primary.flags(), primary.active().is_some()));
        flags.set(set)?;
        active.set(is_active.into())
    }
}
