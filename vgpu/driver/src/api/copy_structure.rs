//! The structures of copies in two and three dimensions, and what they mean.

use std::ffi::c_void;

use gangway_device_memory::is_device_address;

use crate::abi::number::memory_type;
use crate::abi::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, Result, Status};
use crate::objects::memory;
use crate::objects::process::report::report;
use crate::objects::work::copy::{Copy, Extent, Side};

pub fn two_dimensional(description: &CUDA_MEMCPY2D) -> Result<Copy> {
    let d = description;
    let extent = Extent { width: d.width_in_bytes, height: d.height, depth: 1 };
    let from = side(
        d.src_memory_type,
        (d.src_host as u64, d.src_device),
        (d.src_pitch, 0),
        [d.src_x_in_bytes, d.src_y, 0],
        extent,
    )?;
    let to = side(
        d.dst_memory_type,
        (d.dst_host as u64, d.dst_device),
        (d.dst_pitch, 0),
        [d.dst_x_in_bytes, d.dst_y, 0],
        extent,
    )?;
    Ok(Copy::new(to, from, extent))
}

pub fn three_dimensional(description: &CUDA_MEMCPY3D) -> Result<Copy> {
    let d = description;
    if d.src_lod != 0 || d.dst_lod != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let extent = Extent { width: d.width_in_bytes, height: d.height, depth: d.depth };
    let from = side(
        d.src_memory_type,
        (d.src_host as u64, d.src_device),
        (d.src_pitch, d.src_height),
        [d.src_x_in_bytes, d.src_y, d.src_z],
        extent,
    )?;
    let to = side(
        d.dst_memory_type,
        (d.dst_host as u64, d.dst_device),
        (d.dst_pitch, d.dst_height),
        [d.dst_x_in_bytes, d.dst_y, d.dst_z],
        extent,
    )?;
    Ok(Copy::new(to, from, extent))
}

/// A copy as a graph tells it: offsets are part of the addresses.
pub fn description(copy: &Copy) -> CUDA_MEMCPY3D {
    let Copy { to, from, extent, .. } = *copy;
    // Host memory that devices may use is still the host's.
    let is_host = |side: Side| memory::find(side.address).map_or(!side.device, |found| found.is_host());
    let kind = |side: Side| if is_host(side) { memory_type::HOST } else { memory_type::DEVICE };
    let host = |side: Side| {
        if is_host(side) { side.address as *mut c_void } else { std::ptr::null_mut() }
    };
    let device = |side: Side| if is_host(side) { 0 } else { side.address };
    let rows = |side: Side| side.slice.checked_div(side.pitch).unwrap_or(0);
    CUDA_MEMCPY3D {
        src_x_in_bytes: 0,
        src_y: 0,
        src_z: 0,
        src_lod: 0,
        src_memory_type: kind(from),
        src_host: host(from),
        src_device: device(from),
        src_array: std::ptr::null_mut(),
        src_context: CUcontext::NULL,
        src_pitch: from.pitch,
        src_height: rows(from),
        dst_x_in_bytes: 0,
        dst_y: 0,
        dst_z: 0,
        dst_lod: 0,
        dst_memory_type: kind(to),
        dst_host: host(to),
        dst_device: device(to),
        dst_array: std::ptr::null_mut(),
        dst_context: CUcontext::NULL,
        dst_pitch: to.pitch,
        dst_height: rows(to),
        width_in_bytes: extent.width,
        height: extent.height,
        depth: extent.depth,
    }
}

/// A side from its description; `offset` is in bytes, rows and planes.
fn side(
    kind: u32,
    (host, device): (u64, u64),
    (pitch, rows): (usize, usize),
    offset: [usize; 3],
    extent: Extent,
) -> Result<Side> {
    let (address, device) = match kind {
        memory_type::HOST => (host, is_device_address(host)),
        memory_type::DEVICE => (device, true),
        memory_type::UNIFIED => (device, memory::find(device).is_some() || is_device_address(device)),
        memory_type::ARRAY => {
            report!("the virtual GPU does not support copies of arrays");
            return Err(Status::NOT_SUPPORTED);
        }
        _ => return Err(Status::INVALID_VALUE),
    };
    // A pitch of 0 stands for rows without space between them.
    let pitch = if pitch == 0 { extent.width } else { pitch };
    let end = offset[0].checked_add(extent.width).ok_or(Status::INVALID_VALUE)?;
    if extent.height > 1 && pitch < end {
        return Err(Status::INVALID_VALUE);
    }
    let rows = if rows == 0 { extent.height } else { rows };
    let slice = pitch.checked_mul(rows).ok_or(Status::INVALID_VALUE)?;
    let skipped = (|| {
        let planes = slice.checked_mul(offset[2])?;
        let rows = pitch.checked_mul(offset[1])?;
        planes.checked_add(rows)?.checked_add(offset[0])
    })();
    let start =
        skipped.and_then(|skipped| address.checked_add(skipped as u64)).ok_or(Status::INVALID_VALUE)?;
    Ok(Side::boxed(start, device, pitch, slice))
}
