//! Copies between and within memories, in one to three dimensions.
//!
//! A [`Copy`] is checked when it is submitted - whatever is device memory must be allocated
//! from its first to its last byte - and carried out in its stream.

use std::ffi::c_void;

use gangway_device_memory::is_device_address;
use gangway_streams::{Failure, Outcome, Payload};

use crate::error::{Result, Status};
use crate::memory;
use crate::report::report;
use crate::stream::{StreamRef, sort};
use crate::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, memory_type};

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Of the first byte.
    pub address: u64,
    /// Memory that devices can use, so it must be allocated; otherwise whatever the host says it has.
    pub device: bool,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes from one plane to the next.
    pub slice: usize,
}

impl Side {
    pub const fn device(address: u64) -> Side {
        Side { address, device: true, pitch: 0, slice: 0 }
    }

    pub const fn host(address: u64) -> Side {
        Side { address, device: is_device_address(address), pitch: 0, slice: 0 }
    }

    /// Bytes from the first to the last of a box; `None` if that overflows.
    fn reach(&self, shape: &Shape) -> Option<usize> {
        let rows = self.pitch.checked_mul(shape.height - 1)?;
        let planes = self.slice.checked_mul(shape.depth - 1)?;
        rows.checked_add(planes)?.checked_add(shape.width)
    }

    /// Host memory that the program may touch as soon as the call is over.
    fn is_pageable(&self, length: usize) -> bool {
        !self.device && memory::check_device_range(self.address, length as u64).is_err()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// In bytes.
    width: usize,
    height: usize,
    depth: usize,
}

/// What is copied, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    to: Side,
    from: Side,
    shape: Shape,
}

/// Pageable host memory up to this size is copied twice rather than waited for.
const STAGED: usize = 64 << 10;

impl Copy {
    pub const fn flat(to: Side, from: Side, size: usize) -> Copy {
        Copy { to, from, shape: Shape { width: size, height: 1, depth: 1 } }
    }

    pub fn two_dimensional(description: &CUDA_MEMCPY2D) -> Result<Copy> {
        let d = description;
        let shape = Shape { width: d.width_in_bytes, height: d.height, depth: 1 };
        let from = side(
            d.src_memory_type,
            d.src_host as u64,
            d.src_device,
            d.src_pitch,
            0,
            [d.src_x_in_bytes, d.src_y, 0],
            shape,
        )?;
        let to = side(
            d.dst_memory_type,
            d.dst_host as u64,
            d.dst_device,
            d.dst_pitch,
            0,
            [d.dst_x_in_bytes, d.dst_y, 0],
            shape,
        )?;
        Ok(Copy { to, from, shape })
    }

    pub fn three_dimensional(description: &CUDA_MEMCPY3D) -> Result<Copy> {
        let d = description;
        if d.src_lod != 0 || d.dst_lod != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let shape = Shape { width: d.width_in_bytes, height: d.height, depth: d.depth };
        let from = side(
            d.src_memory_type,
            d.src_host as u64,
            d.src_device,
            d.src_pitch,
            d.src_height,
            [d.src_x_in_bytes, d.src_y, d.src_z],
            shape,
        )?;
        let to = side(
            d.dst_memory_type,
            d.dst_host as u64,
            d.dst_device,
            d.dst_pitch,
            d.dst_height,
            [d.dst_x_in_bytes, d.dst_y, d.dst_z],
            shape,
        )?;
        Ok(Copy { to, from, shape })
    }

    fn is_empty(&self) -> bool {
        self.shape.width == 0 || self.shape.height == 0 || self.shape.depth == 0
    }

    fn check(&self) -> Result {
        for side in [&self.to, &self.from] {
            let length = side.reach(&self.shape).ok_or(Status::INVALID_VALUE)?;
            if side.device {
                memory::check_device_range(side.address, length as u64)?;
            } else if side.address == 0 {
                return Err(Status::INVALID_VALUE);
            }
        }
        Ok(())
    }

    /// The copy, if all the device memory that it concerns is allocated.
    pub fn checked(self) -> Result<Copy> {
        if !self.is_empty() {
            self.check()?;
        }
        Ok(self)
    }

    /// As a graph tells it: offsets are part of the addresses.
    pub fn description(&self) -> CUDA_MEMCPY3D {
        let Copy { to, from, shape } = *self;
        // Host memory that devices may use is still the host's.
        let is_host = |side: Side| memory::find(side.address).map_or(!side.device, |found| found.is_host());
        let kind = |side: Side| if is_host(side) { memory_type::HOST } else { memory_type::DEVICE };
        let host =
            |side: Side| if is_host(side) { side.address as *mut c_void } else { std::ptr::null_mut() };
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
            width_in_bytes: shape.width,
            height: shape.height,
            depth: shape.depth,
        }
    }

    /// Copies in the order of the stream, and waits.
    pub fn run_in(self, stream: &StreamRef) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        stream.run(self)
    }

    /// Copies in the order of the stream. Ordinary host memory is the program's again when
    /// this returns, as the driver API promises: it is copied at once, or waited for.
    pub fn submit_to(self, stream: &StreamRef) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        let reach = |side: Side| side.reach(&self.shape).unwrap_or(usize::MAX);
        let reads = self.from.is_pageable(reach(self.from));
        let writes = self.to.is_pageable(reach(self.to));
        let length = self.shape.width;
        if stream.queue.is_capturing() || !(reads || writes) {
            return stream.submit(self);
        }
        if reads && !writes && self.shape.height * self.shape.depth == 1 && length <= STAGED {
            let mut staged = vec![0; length].into_boxed_slice();
            // SAFETY: the caller promises that the source can be read; the copy is as long.
            unsafe {
                std::ptr::copy_nonoverlapping(self.from.address as *const u8, staged.as_mut_ptr(), length)
            };
            return Ok(stream.queue.submit(move || {
                let from = Side::host(staged.as_ptr() as u64);
                Copy { from, ..self }.run_now();
                Ok(())
            })?);
        }
        stream.run(self)
    }

    /// Does it. Everything has been checked.
    fn run_now(&self) {
        let Copy { to, from, shape } = *self;
        let whole = |side: Side| {
            (shape.height == 1 || side.pitch == shape.width)
                && (shape.depth == 1 || side.slice == shape.width * shape.height)
        };
        let copy = |to: u64, from: u64, length: usize| {
            // SAFETY: `check` has seen that device memory is allocated, and the program promises the
            // same of host memory, until the stream has done this. Ranges may overlap.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, length) }
        };
        if whole(to) && whole(from) {
            copy(to.address, from.address, shape.width * shape.height * shape.depth);
            return;
        }
        for plane in 0..shape.depth {
            for row in 0..shape.height {
                let at = |side: Side| side.address + (plane * side.slice + row * side.pitch) as u64;
                copy(at(to), at(from), shape.width);
            }
        }
    }
}

impl Payload for Copy {
    /// Checked again: meanwhile another stream may have freed something, and a graph runs long after it was made.
    fn run(&self) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        self.check().map_err(|_| Failure::known(Status::ILLEGAL_ADDRESS.0))?;
        self.run_now();
        Ok(())
    }

    fn sort(&self) -> u32 {
        sort::COPY
    }
}

/// A side from its description; `offset` is in bytes, rows and planes.
fn side(
    kind: u32,
    host: u64,
    device: u64,
    pitch: usize,
    rows: usize,
    offset: [usize; 3],
    shape: Shape,
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
    let pitch = if pitch == 0 { shape.width } else { pitch };
    let end = offset[0].checked_add(shape.width).ok_or(Status::INVALID_VALUE)?;
    if shape.height > 1 && pitch < end {
        return Err(Status::INVALID_VALUE);
    }
    let rows = if rows == 0 { shape.height } else { rows };
    let slice = pitch.checked_mul(rows).ok_or(Status::INVALID_VALUE)?;
    let skipped = (|| {
        let planes = slice.checked_mul(offset[2])?;
        let rows = pitch.checked_mul(offset[1])?;
        planes.checked_add(rows)?.checked_add(offset[0])
    })();
    let start =
        skipped.and_then(|skipped| address.checked_add(skipped as u64)).ok_or(Status::INVALID_VALUE)?;
    Ok(Side { address: start, device, pitch, slice })
}
