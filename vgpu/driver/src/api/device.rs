//! Devices and what they are like.

use super::entry::{Call, entry};
use crate::abi::{CUdevice, CUdevprop, CUuuid, DeviceAttribute, Out, Result, Status, Text};
use crate::objects::device::Device;
use crate::objects::device::attribute;

/// Puts a text into a buffer, cut to its size, with a terminator.
fn put_text(text: &str, buffer: Out<u8>, size: i32) -> Result {
    let size = usize::try_from(size).map_err(|_| Status::INVALID_VALUE)?;
    let room = size.checked_sub(1).ok_or(Status::INVALID_VALUE)?;
    buffer.fill(text.bytes().take(room).chain([0]))
}

fn uuid(device: CUdevice, out: Out<CUuuid>) -> Result {
    out.check()?;
    out.set(CUuuid { bytes: Device::get(device)?.uuid() })
}

#[entry]
fn cuDeviceGetCount(_: &Call, count: Out<i32>) -> Result {
    count.set(Device::all().len() as i32)
}

#[entry]
fn cuDeviceGet(_: &Call, device: Out<CUdevice>, ordinal: i32) -> Result {
    device.check()?;
    device.set(Device::get(ordinal)?.number())
}

#[entry]
fn cuDeviceGetName(_: &Call, name: Out<u8>, length: i32, device: CUdevice) -> Result {
    name.check()?;
    put_text(Device::get(device)?.name(), name, length)
}

#[entry]
fn cuDeviceGetUuid(_: &Call, uuid_out: Out<CUuuid>, device: CUdevice) -> Result {
    uuid(device, uuid_out)
}

#[entry]
fn cuDeviceGetUuid_v2(_: &Call, uuid_out: Out<CUuuid>, device: CUdevice) -> Result {
    uuid(device, uuid_out)
}

/// Locally unique identifiers are a concept of Windows.
#[entry]
fn cuDeviceGetLuid(_: &Call, luid: Out<u8>, _node_mask: Out<u32>, device: CUdevice) -> Result {
    luid.check()?;
    Device::get(device)?;
    Err(Status::NOT_SUPPORTED)
}

#[entry]
fn cuDeviceTotalMem_v2(_: &Call, bytes: Out<usize>, device: CUdevice) -> Result {
    bytes.check()?;
    bytes.set(Device::get(device)?.memory() as usize)
}

#[entry]
fn cuDeviceGetAttribute(_: &Call, value: Out<i32>, id: i32, device: CUdevice) -> Result {
    value.check()?;
    let device = Device::get(device)?;
    let attribute = DeviceAttribute::of(id).ok_or(Status::INVALID_VALUE)?;
    value.set(attribute::value(device, attribute))
}

#[entry]
fn cuDeviceGetProperties(_: &Call, properties: Out<CUdevprop>, device: CUdevice) -> Result {
    properties.check()?;
    let device = Device::get(device)?;
    let value = |attribute| attribute::value(device, attribute);
    properties.set(CUdevprop {
        max_threads_per_block: value(DeviceAttribute::MAX_THREADS_PER_BLOCK),
        max_threads_dim: [
            value(DeviceAttribute::MAX_BLOCK_DIM_X),
            value(DeviceAttribute::MAX_BLOCK_DIM_Y),
            value(DeviceAttribute::MAX_BLOCK_DIM_Z),
        ],
        max_grid_size: [
            value(DeviceAttribute::MAX_GRID_DIM_X),
            value(DeviceAttribute::MAX_GRID_DIM_Y),
            value(DeviceAttribute::MAX_GRID_DIM_Z),
        ],
        shared_mem_per_block: value(DeviceAttribute::MAX_SHARED_MEMORY_PER_BLOCK),
        total_constant_memory: value(DeviceAttribute::TOTAL_CONSTANT_MEMORY),
        simd_width: value(DeviceAttribute::WARP_SIZE),
        mem_pitch: value(DeviceAttribute::MAX_PITCH),
        regs_per_block: value(DeviceAttribute::MAX_REGISTERS_PER_BLOCK),
        clock_rate: value(DeviceAttribute::CLOCK_RATE),
        texture_align: value(DeviceAttribute::TEXTURE_ALIGNMENT),
    })
}

#[entry]
fn cuDeviceComputeCapability(_: &Call, major: Out<i32>, minor: Out<i32>, device: CUdevice) -> Result {
    major.check()?;
    minor.check()?;
    let capability = Device::get(device)?.capability();
    major.set(capability.major.into())?;
    minor.set(capability.minor.into())
}

#[entry]
fn cuDeviceGetPCIBusId(_: &Call, id: Out<u8>, length: i32, device: CUdevice) -> Result {
    id.check()?;
    put_text(&Device::get(device)?.pci_id(), id, length)
}

#[entry]
fn cuDeviceGetByPCIBusId(_: &Call, device: Out<CUdevice>, id: Text) -> Result {
    device.check()?;
    let id = id.str().map_err(|_| Status::INVALID_VALUE)?;
    // The domain and the function may be left out.
    let short = |id: &str| id.trim_start_matches("0000:").trim_end_matches(".0").to_ascii_uppercase();
    let found = Device::all().iter().find(|device| short(&device.pci_id()) == short(id));
    device.set(found.ok_or(Status::INVALID_DEVICE)?.number())
}

/// Affinity to multiprocessors needs a service beside the driver.
#[entry]
fn cuDeviceGetExecAffinitySupport(_: &Call, supported: Out<i32>, _kind: u32, device: CUdevice) -> Result {
    supported.check()?;
    Device::get(device)?;
    supported.set(0)
}

/// Nothing has to be flushed where there is no remote writer.
#[entry]
fn cuFlushGPUDirectRDMAWrites(call: &Call, _target: u32, _scope: u32) -> Result {
    call.context()?;
    call.refuse()
}
