//! What is known about a pointer, and hints about managed memory.

use super::entry::{Call, entry};
use crate::abi::number::{access_flags, memory_type, pointer_attribute as attribute};
use crate::abi::{CUdevice, CUdeviceptr, CUmemLocation, CUstream, In, Result, Status, Untyped};
use crate::objects::context::Context;
use crate::objects::memory::{self, Found};
use crate::objects::pool::allocation::pool_of;

/// The value of an attribute, with its size in bytes.
enum PointerValue {
    Byte(bool),
    Int(u32),
    Long(u64),
}

impl PointerValue {
    fn put(&self, place: Untyped) -> Result {
        match *self {
            Self::Byte(value) => place.out().set(u8::from(value)),
            Self::Int(value) => place.out().set(value),
            Self::Long(value) => place.out().set(value),
        }
    }

    /// What `cuPointerGetAttributes` answers about memory that no device knows.
    fn of_nothing(attribute: u32, context: &Context) -> Self {
        match attribute {
            attribute::MEMORY_TYPE => Self::Int(0),
            attribute::DEVICE_ORDINAL => Self::Int(-2_i32 as u32),
            _ => match of(attribute, 0, &Found::Registered { address: 0, size: 0 }, context) {
                Ok(Self::Byte(_)) => Self::Byte(false),
                Ok(Self::Int(_)) => Self::Int(0),
                _ => Self::Long(0),
            },
        }
    }
}

fn of(attribute: u32, address: u64, found: &Found, context: &Context) -> Result<PointerValue> {
    let (id, device) = match found {
        Found::Allocation(allocation) => (allocation.id, allocation.device),
        Found::Registered { address, .. } => (*address, context.device.ordinal()),
    };
    let host = found.is_host() || found.is_managed();
    Ok(match attribute {
        attribute::CONTEXT => {
            PointerValue::Long(memory::owner(found.address()).map_or(0, |owner| owner.context.raw() as u64))
        }
        attribute::MEMORY_TYPE if found.is_host() => PointerValue::Int(memory_type::HOST),
        attribute::MEMORY_TYPE => PointerValue::Int(memory_type::DEVICE),
        attribute::DEVICE_POINTER => PointerValue::Long(address),
        attribute::HOST_POINTER if host => PointerValue::Long(address),
        attribute::HOST_POINTER | attribute::P2P_TOKENS => return Err(Status::INVALID_VALUE),
        attribute::SYNC_MEMOPS => PointerValue::Byte(false),
        attribute::BUFFER_ID | attribute::MEMORY_BLOCK_ID => PointerValue::Long(id),
        attribute::IS_MANAGED => PointerValue::Byte(found.is_managed()),
        attribute::DEVICE_ORDINAL => PointerValue::Int(device),
        attribute::IS_LEGACY_IPC_CAPABLE => PointerValue::Byte(false),
        attribute::RANGE_START_ADDR | attribute::MAPPING_BASE_ADDR => PointerValue::Long(found.address()),
        attribute::RANGE_SIZE | attribute::MAPPING_SIZE => PointerValue::Long(found.size()),
        attribute::MAPPED => PointerValue::Byte(true),
        attribute::ALLOWED_HANDLE_TYPES => PointerValue::Long(0),
        attribute::IS_GPU_DIRECT_CAPABLE => PointerValue::Byte(false),
        attribute::ACCESS_FLAGS => PointerValue::Int(access_flags::READ_WRITE),
        attribute::MEMPOOL_HANDLE => PointerValue::Long(pool_of(address).map_or(0, |pool| pool.raw() as u64)),
        attribute::IS_HW_DECOMPRESS_CAPABLE => PointerValue::Byte(false),
        _ => return Err(Status::INVALID_VALUE),
    })
}

/// Whether a range is managed memory, which is what hints are about, or memory of the host that
/// devices may use.
fn check_managed(address: CUdeviceptr, size: usize) -> Result {
    if size > 0 && memory::is_shared(address, size as u64) {
        return Ok(());
    }
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
fn cuPointerGetAttribute(call: &Call, value: Untyped, attribute: u32, address: CUdeviceptr) -> Result {
    let context = call.context()?;
    let found = memory::find(address).ok_or(Status::INVALID_VALUE)?;
    of(attribute, address, &found, &context)?.put(value)
}

#[entry]
fn cuPointerGetAttributes(
    call: &Call,
    count: u32,
    attributes: In<u32>,
    values: In<Untyped>,
    address: CUdeviceptr,
) -> Result {
    let context = call.context()?;
    let attributes = attributes.array(count as usize)?;
    let values = values.array(count as usize)?;
    let found = memory::find(address);
    for (attribute, place) in attributes.into_iter().zip(values) {
        if !(attribute::CONTEXT..=attribute::IS_HW_DECOMPRESS_CAPABLE).contains(&attribute) {
            return Err(Status::INVALID_VALUE);
        }
        // Unlike for the single form, an attribute that does not apply is zero.
        let value = found.as_ref().and_then(|found| of(attribute, address, found, &context).ok());
        value.unwrap_or_else(|| PointerValue::of_nothing(attribute, &context)).put(place)?;
    }
    Ok(())
}

/// Operations on memory are always synchronised as this asks for.
#[entry]
fn cuPointerSetAttribute(call: &Call, value: Untyped, attribute: u32, address: CUdeviceptr) -> Result {
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
