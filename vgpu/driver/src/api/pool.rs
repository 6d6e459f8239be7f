//! Memory pools, and allocations in the order of streams.

use super::entry::{Call, entry};
use super::pool_properties;
use crate::abi::number::location_type;
use crate::abi::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream, In, Out,
    Result, Status, Untyped,
};
use crate::objects::device::Device;
use crate::objects::pool::allocation::FreeOperation;
use crate::objects::pool::graph::{AllocateNode, FreeNode, GraphMemory};
use crate::objects::pool::{self, Pool};

#[entry(per_thread = cuMemAllocAsync_ptsz)]
fn cuMemAllocAsync(call: &Call, out: Out<CUdeviceptr>, size: usize, stream: CUstream) -> Result {
    allocate(call, out, size, None, stream)
}

#[entry(per_thread = cuMemAllocFromPoolAsync_ptsz)]
fn cuMemAllocFromPoolAsync(
    call: &Call,
    out: Out<CUdeviceptr>,
    size: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Result {
    allocate(call, out, size, Some(pool), stream)
}

#[entry(per_thread = cuMemFreeAsync_ptsz)]
fn cuMemFreeAsync(call: &Call, address: CUdeviceptr, stream: CUstream) -> Result {
    let stream = call.stream(stream)?;
    if address == 0 {
        return Ok(());
    }
    if let Some(memory) = GraphMemory::find(address) {
        return stream.submit(FreeNode(memory));
    }
    if stream.queue.is_capturing() {
        // What no graph has allocated, no graph frees.
        return Err(Status::INVALID_VALUE);
    }
    let free = FreeOperation::prepare(address)?;
    Ok(stream.queue.submit(move || free.run())?)
}

#[entry]
fn cuDeviceGetDefaultMemPool(_: &Call, pool: Out<CUmemoryPool>, device: CUdevice) -> Result {
    pool.check()?;
    pool.set(pool::device::default_of(Device::get(device)?)?.handle)
}

#[entry]
fn cuDeviceGetMemPool(_: &Call, pool: Out<CUmemoryPool>, device: CUdevice) -> Result {
    pool.check()?;
    pool.set(pool::device::current_of(Device::get(device)?)?.handle)
}

#[entry]
fn cuDeviceSetMemPool(_: &Call, device: CUdevice, pool: CUmemoryPool) -> Result {
    pool::device::set_current(Device::get(device)?, pool)
}

#[entry]
fn cuMemPoolCreate(_: &Call, pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) -> Result {
    pool.check()?;
    let properties = properties.get()?;
    let device = pool_properties::device(&properties)?;
    pool.set(Pool::create(device.number(), properties.max_size as u64)?.handle)
}

#[entry]
fn cuMemPoolDestroy(_: &Call, pool: CUmemoryPool) -> Result {
    pool::device::destroy(pool)
}

#[entry]
fn cuMemPoolTrimTo(_: &Call, pool: CUmemoryPool, keep: usize) -> Result {
    pool.get()?.trim(keep as u64);
    Ok(())
}

#[entry]
fn cuMemPoolGetAttribute(_: &Call, pool: CUmemoryPool, attribute: u32, value: Untyped) -> Result {
    let found = pool.get()?.attribute(attribute)?;
    if Pool::is_int(attribute) { value.out().set(found as i32) } else { value.out().set(found) }
}

#[entry]
fn cuMemPoolSetAttribute(_: &Call, pool: CUmemoryPool, attribute: u32, value: Untyped) -> Result {
    let given = if Pool::is_int(attribute) {
        u64::from(value.out::<i32>().get()? != 0)
    } else {
        value.out::<u64>().get()?
    };
    pool.get()?.set_attribute(attribute, given)
}

#[entry]
fn cuMemPoolGetAccess(_: &Call, flags: Out<u32>, pool: CUmemoryPool, location: In<CUmemLocation>) -> Result {
    flags.set(pool.get()?.access(device(location.get()?)?.number()))
}

#[entry]
fn cuMemPoolSetAccess(_: &Call, pool: CUmemoryPool, access: In<CUmemAccessDesc>, count: usize) -> Result {
    let pool = pool.get()?;
    for access in access.array(count)? {
        pool.set_access(device(access.location)?.number(), access.flags)?;
    }
    Ok(())
}

/// Pools and their access are of devices only.
fn device(location: CUmemLocation) -> Result<&'static Device> {
    if location.kind != location_type::DEVICE {
        return Err(Status::INVALID_VALUE);
    }
    Device::get(location.id)
}

fn allocate(
    call: &Call,
    out: Out<CUdeviceptr>,
    size: usize,
    pool: Option<CUmemoryPool>,
    stream: CUstream,
) -> Result {
    out.check()?;
    let stream = call.stream(stream)?;
    let pool = match pool {
        Some(pool) => pool.get()?,
        None => pool::device::current_of(stream.context.device)?,
    };
    if stream.queue.is_capturing() {
        let memory = GraphMemory::new(Device::get(pool.device)?, size as u64)?;
        let address = memory.address;
        stream.submit(AllocateNode(memory))?;
        return out.set(address);
    }
    out.set(pool.allocate(size, &stream)?)
}
