//! `CUmemPoolProps`: which device's memory is asked for.

use crate::abi::number::{allocation_type, location_type};
use crate::abi::{CUmemLocation, CUmemPoolProps, Result, Status};
use crate::objects::device::Device;
use crate::objects::process::report::report;

/// The device that properties ask for. Pools are of devices, and of one process, only.
pub fn device(properties: &CUmemPoolProps) -> Result<&'static Device> {
    let location = properties.location;
    if properties.allocation_type != allocation_type::PINNED || location.kind != location_type::DEVICE {
        return Err(Status::INVALID_VALUE);
    }
    if properties.handle_types != 0 {
        report!("the virtual GPU does not support memory pools that processes share");
        return Err(Status::NOT_SUPPORTED);
    }
    Device::get(location.id)
}

/// The properties that ask for memory of a device.
pub fn of_device(device: &Device) -> CUmemPoolProps {
    CUmemPoolProps {
        allocation_type: allocation_type::PINNED,
        handle_types: 0,
        location: CUmemLocation { kind: location_type::DEVICE, id: device.number() },
        win32_security_attributes: std::ptr::null_mut(),
        max_size: 0,
        usage: 0,
        reserved: [0; 54],
    }
}
