//! Memory: allocating and freeing it on devices and on the host.

use std::sync::Arc;

use gangway_device_memory::AllocationKind;

use super::entry::{Call, entry};
use crate::abi::number::{host_alloc, host_register, mem_attach};
use crate::abi::{CUdeviceptr, Out, Result, Status, Untyped};
use crate::objects::device::attribute::{MAX_PITCH, PITCH_ALIGN};
use crate::objects::memory::{self, Found};
use crate::objects::{context, pool};

fn allocate(call: &Call, kind: AllocationKind, size: usize, flags: u32) -> Result<u64> {
    gangway_streams::check_unsafe_call()?;
    gangway_engine::catch_signals();
    call.context()?.allocate(size, kind, flags, call.name())
}

/// Waits for everything that could still use what starts at an address: in the context that it is
/// of, and in the current one. There need not be a current one; numba takes it away before it
/// cleans up.
fn settle(address: u64) -> Result {
    let owner = memory::owner(address).map(|owner| owner.context.get()).transpose()?;
    let mut current = context::current();
    if owner.is_none() && current.is_none() {
        return Err(Status::INVALID_CONTEXT);
    }
    if let (Some(one), Some(other)) = (&owner, &current)
        && Arc::ptr_eq(one, other)
    {
        current = None;
    }
    for context in [owner, current].into_iter().flatten() {
        context.usable()?;
        context.queues.synchronize()?;
    }
    Ok(())
}

fn free(address: u64, kinds: &[AllocationKind]) -> Result {
    if address == 0 {
        return Ok(());
    }
    gangway_streams::check_unsafe_call()?;
    settle(address)?;
    if kinds.contains(&AllocationKind::Device) && pool::allocation::release(address)? {
        return Ok(());
    }
    memory::free(address, kinds)
}

fn register(call: &Call, pointer: Untyped, size: usize, flags: u32) -> Result {
    let context = call.context()?;
    if flags & !host_register::ALL != 0 || pointer.is_null() || size == 0 {
        return Err(Status::INVALID_VALUE);
    }
    if flags & host_register::IO_MEMORY != 0 {
        return Err(Status::NOT_SUPPORTED);
    }
    context.register(pointer.address(), size, flags)
}

/// Host memory that devices may use, by any address in it.
fn host(pointer: Untyped) -> Result<Found> {
    memory::find(pointer.address()).filter(Found::is_host).ok_or(Status::INVALID_VALUE)
}

#[entry]
fn cuMemGetInfo_v2(call: &Call, free: Out<usize>, total: Out<usize>) -> Result {
    let context = call.context()?;
    if free.is_null() && total.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    free.set_if_wanted(memory::space()?.available(context.device.ordinal())? as usize);
    total.set_if_wanted(context.device.memory() as usize);
    Ok(())
}

#[entry]
fn cuMemAlloc_v2(call: &Call, out: Out<CUdeviceptr>, size: usize) -> Result {
    out.check()?;
    out.set(allocate(call, AllocationKind::Device, size, 0)?)
}

#[entry]
fn cuMemAllocPitch_v2(
    call: &Call,
    out: Out<CUdeviceptr>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: u32,
) -> Result {
    out.check()?;
    pitch.check()?;
    if !matches!(element, 4 | 8 | 16) {
        return Err(Status::INVALID_VALUE);
    }
    let row = width.checked_next_multiple_of(PITCH_ALIGN as usize).ok_or(Status::INVALID_VALUE)?;
    if row as u64 > MAX_PITCH {
        return Err(Status::INVALID_VALUE);
    }
    let size = row.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?;
    out.set(allocate(call, AllocationKind::Device, size, 0)?)?;
    pitch.set(row)
}

#[entry]
fn cuMemAllocManaged(call: &Call, out: Out<CUdeviceptr>, size: usize, flags: u32) -> Result {
    out.check()?;
    if !matches!(flags, mem_attach::GLOBAL | mem_attach::HOST) {
        return Err(Status::INVALID_VALUE);
    }
    out.set(allocate(call, AllocationKind::Managed, size, flags)?)
}

#[entry]
fn cuMemFree_v2(_: &Call, address: CUdeviceptr) -> Result {
    free(address, &[AllocationKind::Device, AllocationKind::Managed])
}

#[entry]
fn cuMemGetAddressRange_v2(
    call: &Call,
    base: Out<CUdeviceptr>,
    size: Out<usize>,
    address: CUdeviceptr,
) -> Result {
    call.context()?;
    let Some(found @ Found::Allocation(_)) = memory::find(address) else { return Err(Status::NOT_FOUND) };
    base.set_if_wanted(found.address());
    size.set_if_wanted(found.size() as usize);
    Ok(())
}

#[entry]
fn cuMemAllocHost_v2(call: &Call, out: Out<*mut u8>, size: usize) -> Result {
    out.check()?;
    out.set(allocate(call, AllocationKind::Pinned, size, host_alloc::DEVICE_MAP)? as *mut u8)
}

#[entry]
fn cuMemHostAlloc(call: &Call, out: Out<*mut u8>, size: usize, flags: u32) -> Result {
    out.check()?;
    if flags & !host_alloc::ALL != 0 {
        return Err(Status::INVALID_VALUE);
    }
    // With unified addresses all host memory is mapped and portable.
    out.set(allocate(call, AllocationKind::Pinned, size, flags | host_alloc::DEVICE_MAP)? as *mut u8)
}

#[entry]
fn cuMemFreeHost(_: &Call, pointer: Untyped) -> Result {
    free(pointer.address(), &[AllocationKind::Pinned])
}

#[entry]
fn cuMemHostGetDevicePointer_v2(call: &Call, out: Out<CUdeviceptr>, pointer: Untyped, flags: u32) -> Result {
    out.check()?;
    call.context()?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    host(pointer)?;
    out.set(pointer.address())
}

#[entry]
fn cuMemHostGetFlags(call: &Call, flags: Out<u32>, pointer: Untyped) -> Result {
    flags.check()?;
    call.context()?;
    let start = host(pointer)?.address();
    flags.set(memory::owner(start).ok_or(Status::INVALID_VALUE)?.flags)
}

#[entry]
fn cuMemHostRegister(call: &Call, pointer: Untyped, size: usize, flags: u32) -> Result {
    register(call, pointer, size, flags)
}

#[entry]
fn cuMemHostRegister_v2(call: &Call, pointer: Untyped, size: usize, flags: u32) -> Result {
    register(call, pointer, size, flags)
}

#[entry]
fn cuMemHostUnregister(_: &Call, pointer: Untyped) -> Result {
    if pointer.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    settle(pointer.address())?;
    memory::unregister(pointer.address())
}
