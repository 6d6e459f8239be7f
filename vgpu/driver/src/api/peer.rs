//! Memory of other devices and other processes. Devices of one process reach each other's
//! memory, it is all in one range of addresses; processes do not share any.

use crate::device::Device;
use crate::entry::entries;
use crate::error::Status;
use crate::memory;
use crate::pointer::{Memory, Out};
use crate::types::{CUcontext, CUdevice, CUdeviceptr, CUipcHandle};

entries! {
    fn cuDeviceGetP2PAttribute(_, value: Out<i32>, attribute: u32, from: CUdevice, to: CUdevice) {
        value.check()?;
        let (from, to) = (Device::get(from)?, Device::get(to)?);
        if from.ordinal() == to.ordinal() {
            return Err(Status::INVALID_DEVICE);
        }
        value.set(match attribute {
            // PERFORMANCE_RANK: none is faster than another
            1 => 0,
            // ACCESS_SUPPORTED, NATIVE_ATOMIC_SUPPORTED
            2 | 3 => 1,
            // ACCESS_ACCESS_SUPPORTED, for arrays
            4 => 0,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    fn cuDeviceCanAccessPeer(_, can: Out<i32>, from: CUdevice, to: CUdevice) {
        can.check()?;
        let (from, to) = (Device::get(from)?, Device::get(to)?);
        can.set((from.ordinal() != to.ordinal()).into())
    }

    fn cuCtxEnablePeerAccess(call, peer: CUcontext, flags: u32) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let context = call.context()?;
        context.enable_peer(&*peer.get()?)
    }

    fn cuCtxDisablePeerAccess(call, peer: CUcontext) {
        let context = call.context()?;
        context.disable_peer(&*peer.get()?)
    }

    fn cuIpcGetMemHandle(call, _handle: Out<CUipcHandle>, address: CUdeviceptr) {
        call.context()?;
        memory::find(address).ok_or(Status::INVALID_VALUE)?;
        call.refuse()
    }

    fn cuIpcOpenMemHandle(call, _address: Out<CUdeviceptr>, _handle: CUipcHandle, _flags: u32) {
        call.context()?;
        call.refuse()
    }

    fn cuIpcOpenMemHandle_v2(call, _address: Out<CUdeviceptr>, _handle: CUipcHandle, _flags: u32) {
        call.context()?;
        call.refuse()
    }

    fn cuIpcCloseMemHandle(call, _address: CUdeviceptr) {
        call.context()?;
        Err(Status::INVALID_VALUE)
    }

    fn cuIpcGetEventHandle(call, _handle: Out<CUipcHandle>, _event: Memory) {
        call.context()?;
        call.refuse()
    }

    fn cuIpcOpenEventHandle(call, _event: Out<usize>, _handle: CUipcHandle) {
        call.context()?;
        call.refuse()
    }
}
