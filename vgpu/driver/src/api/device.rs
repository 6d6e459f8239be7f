//! Devices and what they are like.

use crate::attribute::{self, number};
use crate::device::Device;
use crate::entry::entries;
use crate::error::{Result, Status};
use crate::pointer::{Out, Text};
use crate::types::{CUdevice, CUdevprop, CUuuid};

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

entries! {
    fn cuDeviceGetCount(_, count: Out<i32>) {
        count.set(Device::all().len() as i32)
    }

    fn cuDeviceGet(_, device: Out<CUdevice>, ordinal: i32) {
        device.check()?;
        device.set(Device::get(ordinal)?.number())
    }

    fn cuDeviceGetName(_, name: Out<u8>, length: i32, device: CUdevice) {
        name.check()?;
        put_text(Device::get(device)?.name(), name, length)
    }

    fn cuDeviceGetUuid(_, uuid_out: Out<CUuuid>, device: CUdevice) {
        uuid(device, uuid_out)
    }

    fn cuDeviceGetUuid_v2(_, uuid_out: Out<CUuuid>, device: CUdevice) {
        uuid(device, uuid_out)
    }

    /// Locally unique identifiers are a concept of Windows.
    fn cuDeviceGetLuid(_, luid: Out<u8>, _node_mask: Out<u32>, device: CUdevice) {
        luid.check()?;
        Device::get(device)?;
        Err(Status::NOT_SUPPORTED)
    }

    fn cuDeviceTotalMem_v2(_, bytes: Out<usize>, device: CUdevice) {
        bytes.check()?;
        bytes.set(Device::get(device)?.memory() as usize)
    }

    fn cuDeviceGetAttribute(_, value: Out<i32>, id: i32, device: CUdevice) {
        value.check()?;
        value.set(attribute::value(Device::get(device)?, id).ok_or(Status::INVALID_VALUE)?)
    }

    fn cuDeviceGetProperties(_, properties: Out<CUdevprop>, device: CUdevice) {
        properties.check()?;
        let device = Device::get(device)?;
        let value = |number| attribute::value(device, number).ok_or(Status::UNKNOWN);
        properties.set(CUdevprop {
            max_threads_per_block: value(number::MAX_THREADS_PER_BLOCK)?,
            max_threads_dim: [
                value(number::MAX_BLOCK_DIM_X)?,
                value(number::MAX_BLOCK_DIM_Y)?,
                value(number::MAX_BLOCK_DIM_Z)?,
            ],
            max_grid_size: [
                value(number::MAX_GRID_DIM_X)?,
                value(number::MAX_GRID_DIM_Y)?,
                value(number::MAX_GRID_DIM_Z)?,
            ],
            shared_mem_per_block: value(number::MAX_SHARED_MEMORY_PER_BLOCK)?,
            total_constant_memory: value(number::TOTAL_CONSTANT_MEMORY)?,
            simd_width: value(number::WARP_SIZE)?,
            mem_pitch: value(number::MAX_PITCH)?,
            regs_per_block: value(number::MAX_REGISTERS_PER_BLOCK)?,
            clock_rate: value(number::CLOCK_RATE)?,
            texture_align: value(number::TEXTURE_ALIGNMENT)?,
        })
    }

    fn cuDeviceComputeCapability(_, major: Out<i32>, minor: Out<i32>, device: CUdevice) {
        major.check()?;
        minor.check()?;
        let capability = Device::get(device)?.capability();
        major.set(capability.major.into())?;
        minor.set(capability.minor.into())
    }

    fn cuDeviceGetPCIBusId(_, id: Out<u8>, length: i32, device: CUdevice) {
        id.check()?;
        put_text(&Device::get(device)?.pci_id(), id, length)
    }

    fn cuDeviceGetByPCIBusId(_, device: Out<CUdevice>, id: Text) {
        device.check()?;
        let id = id.str().map_err(|_| Status::INVALID_VALUE)?;
        // The domain and the function may be left out.
        let short = |id: &str| id.trim_start_matches("0000:").trim_end_matches(".0").to_ascii_uppercase();
        let found = Device::all().iter().find(|device| short(&device.pci_id()) == short(id));
        device.set(found.ok_or(Status::INVALID_DEVICE)?.number())
    }

    /// Affinity to multiprocessors needs a service beside the driver.
    fn cuDeviceGetExecAffinitySupport(_, supported: Out<i32>, _kind: u32, device: CUdevice) {
        supported.check()?;
        Device::get(device)?;
        supported.set(0)
    }

    /// Nothing has to be flushed where there is no remote writer.
    fn cuFlushGPUDirectRDMAWrites(call, _target: u32, _scope: u32) {
        call.context()?;
        call.refuse()
    }
}
