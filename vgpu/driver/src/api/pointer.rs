//! What is known about a pointer, and hints about managed memory.

use crate::abi::pointer::{In, Memory};
use crate::abi::status::{Result, Status};
use crate::abi::types::{CUdevice, CUdeviceptr, CUmemLocation, CUstream, memory_type};
use crate::api::entry::{Call, entry};
use crate::objects::context::Context;
use crate::objects::memory::{self, Found};
use crate::objects::pool;

/// `CUpointer_attribute`
mod attribute {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const P2P_TOKENS: u32 = 5;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const BUFFER_ID: u32 = 7;
    pub const IS_MANAGED: u32 = 8;
    pub const DEVICE_ORDINAL: u32 = 9;
    pub const IS_LEGACY_IPC_CAPABLE: u32 = 10;
    pub const RANGE_START_ADDR: u32 = 11;
    pub const RANGE_SIZE: u32 = 12;
    pub const MAPPED: u32 = 13;
    pub const ALLOWED_HANDLE_TYPES: u32 = 14;
    pub const IS_GPU_DIRECT_CAPABLE: u32 = 15;
    pub const ACCESS_FLAGS: u32 = 16;
    pub const MEMPOOL_HANDLE: u32 = 17;
    pub const MAPPING_SIZE: u32 = 18;
    pub const MAPPING_BASE_ADDR: u32 = 19;
    pub const MEMORY_BLOCK_ID: u32 = 20;
    pub const LAST: u32 = 21;
}

/// The value of an attribute, with its size in bytes.
enum Value {
    Byte(bool),
    Int(u32),
    Long(u64),
}

impl Value {
    fn put(&self, place: Memory) -> Result {
        if place.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller gives a place for a value of the attribute's type, which has this size.
        unsafe {
            match *self {
                Value::Byte(value) => place.0.cast::<u8>().write(value.into()),
                Value::Int(value) => place.0.cast::<u32>().write_unaligned(value),
                Value::Long(value) => place.0.cast::<u64>().write_unaligned(value),
            }
        }
        Ok(())
    }

    /// What `cuPointerGetAttributes` answers about memory that no device knows.
    fn of_nothing(attribute: u32, context: &Context) -> Value {
        match attribute {
            attribute::MEMORY_TYPE => Value::Int(0),
            attribute::DEVICE_ORDINAL => Value::Int(-2_i32 as u32),
            _ => match of(attribute, 0, &Found::Registered { address: 0, size: 0 }, context) {
                Ok(Value::Byte(_)) => Value::Byte(false),
                Ok(Value::Int(_)) => Value::Int(0),
                _ => Value::Long(0),
            },
        }
    }
}

fn of(attribute: u32, address: u64, found: &Found, context: &Context) -> Result<Value> {
    let (id, device) = match found {
        Found::Allocation(allocation) => (allocation.id, allocation.device),
        Found::Registered { address, .. } => (*address, context.device.ordinal()),
    };
    let host = found.is_host() || found.is_managed();
    Ok(match attribute {
        attribute::CONTEXT => {
            Value::Long(memory::owner(found.address()).map_or(0, |owner| owner.context.raw() as u64))
        }
        attribute::MEMORY_TYPE if found.is_host() => Value::Int(memory_type::HOST),
        attribute::MEMORY_TYPE => Value::Int(memory_type::DEVICE),
        attribute::DEVICE_POINTER => Value::Long(address),
        attribute::HOST_POINTER if host => Value::Long(address),
        attribute::HOST_POINTER | attribute::P2P_TOKENS => return Err(Status::INVALID_VALUE),
        attribute::SYNC_MEMOPS => Value::Byte(false),
        attribute::BUFFER_ID | attribute::MEMORY_BLOCK_ID => Value::Long(id),
        attribute::IS_MANAGED => Value::Byte(found.is_managed()),
        attribute::DEVICE_ORDINAL => Value::Int(device),
        attribute::IS_LEGACY_IPC_CAPABLE => Value::Byte(false),
        attribute::RANGE_START_ADDR | attribute::MAPPING_BASE_ADDR => Value::Long(found.address()),
        attribute::RANGE_SIZE | attribute::MAPPING_SIZE => Value::Long(found.size()),
        attribute::MAPPED => Value::Byte(true),
        attribute::ALLOWED_HANDLE_TYPES => Value::Long(0),
        attribute::IS_GPU_DIRECT_CAPABLE => Value::Byte(false),
        // CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
        attribute::ACCESS_FLAGS => Value::Int(3),
        attribute::MEMPOOL_HANDLE => Value::Long(pool::of(address).map_or(0, |pool| pool.raw() as u64)),
        attribute::LAST => Value::Byte(false),
        _ => return Err(Status::INVALID_VALUE),
    })
}

/// Whether a range is managed memory, which is what hints are about.
fn check_managed(address: CUdeviceptr, size: usize) -> Result {
    let found = memory::find(address).ok_or(Status::INVALID_VALUE)?;
    let end = address.checked_add(size as u64).ok_or(Status::INVALID_VALUE)?;
    if size == 0 || !found.is_managed() || end > found.address() + found.size() {
        return Err(Status::INVALID_VALUE);
    }
    Ok(())
}

/// `CU_MEM_ADVISE_*` are 1 to 6.
fn check_advice(advice: u32) -> Result {
    if (1..=6).contains(&advice) { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

#[entry]
fn cuPointerGetAttribute(call: &Call, value: Memory, attribute: u32, address: CUdeviceptr) -> Result {
    let context = call.context()?;
    let found = memory::find(address).ok_or(Status::INVALID_VALUE)?;
    of(attribute, address, &found, &context)?.put(value)
}

#[entry]
fn cuPointerGetAttributes(
    call: &Call,
    count: u32,
    attributes: In<u32>,
    values: In<Memory>,
    address: CUdeviceptr,
) -> Result {
    let context = call.context()?;
    let attributes = attributes.array(count as usize)?;
    let values = values.array(count as usize)?;
    let found = memory::find(address);
    for (attribute, place) in attributes.into_iter().zip(values) {
        if !(attribute::CONTEXT..=attribute::LAST).contains(&attribute) {
            return Err(Status::INVALID_VALUE);
        }
        // Unlike for the single form, an attribute that does not apply is zero.
        let value = found.as_ref().and_then(|found| of(attribute, address, found, &context).ok());
        value.unwrap_or_else(|| Value::of_nothing(attribute, &context)).put(place)?;
    }
    Ok(())
}

/// Operations on memory are always synchronised as this asks for.
#[entry]
fn cuPointerSetAttribute(call: &Call, value: Memory, attribute: u32, address: CUdeviceptr) -> Result {
    call.context()?;
    if value.is_null() || attribute != attribute::SYNC_MEMOPS {
        return Err(Status::INVALID_VALUE);
    }
    memory::find(address).map(drop).ok_or(Status::INVALID_VALUE)
}

/// Host and devices share the memory, so nothing has to be moved.
#[entry(per_thread = cuMemPrefetchAsync_ptsz)]
fn cuMemPrefetchAsync(
    call: &Call,
    address: CUdeviceptr,
    size: usize,
    _device: CUdevice,
    stream: CUstream,
) -> Result {
    call.stream(stream)?;
    check_managed(address, size)
}

#[entry(per_thread = cuMemPrefetchAsync_v2_ptsz)]
fn cuMemPrefetchAsync_v2(
    call: &Call,
    address: CUdeviceptr,
    size: usize,
    _location: CUmemLocation,
    flags: u32,
    stream: CUstream,
) -> Result {
    call.stream(stream)?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    check_managed(address, size)
}

#[entry]
fn cuMemAdvise(call: &Call, address: CUdeviceptr, size: usize, advice: u32, _device: CUdevice) -> Result {
    call.context()?;
    check_advice(advice)?;
    check_managed(address, size)
}

#[entry]
fn cuMemAdvise_v2(
    call: &Call,
    address: CUdeviceptr,
    size: usize,
    advice: u32,
    _location: CUmemLocation,
) -> Result {
    call.context()?;
    check_advice(advice)?;
    check_managed(address, size)
}
