//! Copies between and within memories, in one to three dimensions.
//!
//! A [`Copy`] is checked when it is submitted - whatever is device memory must be allocated
//! from its first to its last byte - and carried out in its stream. There it holds that memory, which somebody may have
//! freed since or be about to free; host memory that the program unmaps meanwhile ends the copy with an error.

use std::ffi::c_void;

use gangway_device_memory::{Hold, is_device_address};
use gangway_engine::guard;
use gangway_streams::{Failure, Outcome, Payload};

use crate::abi::status::{Result, Status};
use crate::abi::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, memory_type};
use crate::objects::memory;
use crate::objects::process::report::report;
use crate::objects::stream::{StreamRef, sort};

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Of the first byte.
    pub address: u64,
    /// Memory that devices can use, so it must be allocated; otherwise whatever the host says it has.
    pub device: bool,
    /// Host memory that was registered when the copy was submitted, and must still be when it runs.
    registered: bool,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes from one plane to the next.
    pub slice: usize,
}

impl Side {
    pub const fn device(address: u64) -> Side {
        Side { address, device: true, registered: false, pitch: 0, slice: 0 }
    }

    pub const fn host(address: u64) -> Side {
        Side { address, device: is_device_address(address), registered: false, pitch: 0, slice: 0 }
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

    /// As one of a copy that the call does not wait for: what is host memory is registered.
    fn queued(self) -> Side {
        Side { registered: !self.device, ..self }
    }

    /// Holds what the device has of a box while it is worked on.
    fn hold(&self, shape: &Shape, write: bool) -> std::result::Result<Option<Hold<'static>>, Failure> {
        if !self.device && !self.registered {
            return Ok(None);
        }
        let length = self.reach(shape).ok_or(Failure::known(Status::INVALID_VALUE.0))?;
        memory::hold(self.address, length as u64, write).map(Some)
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
        if stream.queue.is_capturing() {
            return stream.submit(self);
        }
        if !(reads || writes) {
            let queued = Copy { to: self.to.queued(), from: self.from.queued(), ..self };
            if queued.to.registered || queued.from.registered {
                guard::catch_faults();
            }
            return stream.submit(queued);
        }
        if reads && !writes && self.shape.height * self.shape.depth == 1 && length <= STAGED {
            let mut staged = vec![0; length].into_boxed_slice();
            // SAFETY: the copy is as long.
            if !unsafe { guard::copy(staged.as_mut_ptr(), self.from.address as *const u8, length) } {
                return Err(Status::INVALID_VALUE);
            }
            return Ok(stream.queue.submit(move || {
                let from = Side::host(staged.as_ptr() as u64);
                Copy { from, ..self }.run()
            })?);
        }
        stream.run(self)
    }

    /// Does it, row by row where it is not all in one piece. `false` if there is no host memory where some should be.
    fn run_now(&self) -> bool {
        let Copy { mut to, mut from, shape } = *self;
        // Both, since two views of the same pages would not be seen to overlap.
        (to.address, from.address) = (memory::host_address(to.address), memory::host_address(from.address));
        let whole = |side: Side| {
            (shape.height == 1 || side.pitch == shape.width)
                && (shape.depth == 1 || side.slice == shape.width * shape.height)
        };
        let copy = |to_address: u64, from_address: u64, length: usize| {
            let (into, out_of) = (to_address as *mut u8, from_address as *const u8);
            // SAFETY: device memory is allocated and held; host memory is the program's, which promises that this
            // may use it. Ranges may overlap.
            unsafe {
                if !(to.device && from.device) {
                    return guard::copy(into, out_of, length);
                }
                std::ptr::copy(out_of, into, length);
            }
            true
        };
        if whole(to) && whole(from) {
            return copy(to.address, from.address, shape.width * shape.height * shape.depth);
        }
        (0..shape.depth).all(|plane| {
            (0..shape.height).all(|row| {
                let at = |side: Side| side.address + (plane * side.slice + row * side.pitch) as u64;
                copy(at(to), at(from), shape.width)
            })
        })
    }
}

impl Payload for Copy {
    /// Held from here on: another stream may have freed something since it was submitted, or be about to, and a
    /// graph runs long after it was made.
    fn run(&self) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        let _to = self.to.hold(&self.shape, true)?;
        let _from = self.from.hold(&self.shape, false)?;
        if self.run_now() {
            return Ok(());
        }
        let (to, from) = (self.to.address, self.from.address);
        report!(
            "an operation of a stream fails: a copy to {to:#x} from {from:#x} finds host memory unmapped"
        );
        Err(Failure::known(Status::ILLEGAL_ADDRESS.0))
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
    Ok(Side { address: start, device, registered: false, pitch, slice })
}
