//! Memory of other devices and other processes. Devices of one process reach each other's
//! memory, it is all in one range of addresses; processes do not share any.

use super::entry::{Call, entry};
use crate::abi::number::peer_attribute;
use crate::abi::{CUcontext, CUdevice, CUdeviceptr, CUipcHandle, Out, Result, Status, Untyped};
use crate::objects::device::Device;
use crate::objects::memory;

#[entry]
fn cuDeviceGetP2PAttribute(
    _: &Call,
    value: Out<i32>,
    attribute: u32,
    from: CUdevice,
    to: CUdevice,
) -> Result {
    value.check()?;
    let (from, to) = (Device::get(from)?, Device::get(to)?);
    if from.ordinal() == to.ordinal() {
        return Err(Status::INVALID_DEVICE);
    }
    value.set(match attribute {
        // None is faster than another.
        peer_attribute::PERFORMANCE_RANK => 0,
        peer_attribute::ACCESS_SUPPORTED | peer_attribute::NATIVE_ATOMIC_SUPPORTED => 1,
        peer_attribute::CUDA_ARRAY_ACCESS_SUPPORTED => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

#[entry]
fn cuDeviceCanAccessPeer(_: &Call, can: Out<i32>, from: CUdevice, to: CUdevice) -> Result {
    can.check()?;
    let (from, to) = (Device::get(from)?, Device::get(to)?);
    can.set((from.ordinal() != to.ordinal()).into())
}

#[entry]
fn cuCtxEnablePeerAccess(call: &Call, peer: CUcontext, flags: u32) -> Result {
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let context = call.context()?;
    context.enable_peer(&*peer.get()?)
}

#[entry]
fn cuCtxDisablePeerAccess(call: &Call, peer: CUcontext) -> Result {
    let context = call.context()?;
    context.disable_peer(&*peer.get()?)
}

#[entry]
fn cuIpcGetMemHandle(call: &Call, _handle: Out<CUipcHandle>, address: CUdeviceptr) -> Result {
    call.context()?;
    memory::find(address).ok_or(Status::INVALID_VALUE)?;
    call.refuse()
}

#[entry]
fn cuIpcOpenMemHandle(call: &Call, _address: Out<CUdeviceptr>, _handle: CUipcHandle, _flags: u32) -> Result {
    call.context()?;
    call.refuse()
}

#[entry]
fn cuIpcOpenMemHandle_v2(
    call: &Call,
    _address: Out<CUdeviceptr>,
    _handle: CUipcHandle,
    _flags: u32,
) -> Result {
    call.context()?;
    call.refuse()
}

#[entry]
fn cuIpcCloseMemHandle(call: &Call, _address: CUdeviceptr) -> Result {
    call.context()?;
    Err(Status::INVALID_VALUE)
}

#[entry]
fn cuIpcGetEventHandle(call: &Call, _handle: Out<CUipcHandle>, _event: Untyped) -> Result {
    call.context()?;
    call.refuse()
}

#[entry]
fn cuIpcOpenEventHandle(call: &Call, _event: Out<usize>, _handle: CUipcHandle) -> Result {
    call.context()?;
    call.refuse()
}
