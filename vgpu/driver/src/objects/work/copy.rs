//! Copies between and within memories, in one to three dimensions.
//!
//! A [`struct@Copy`] is checked when it is submitted: whatever is device memory must be allocated
//! from its first to its last byte. It is carried out in its stream. There it holds that memory,
//! which may have been freed since or be about to be freed. Host memory that the program unmaps
//! meanwhile ends the copy with an error.

use std::sync::Arc;

use gangway_device_memory::{Hold, is_device_address};
use gangway_engine::{Transfer, guard};
use gangway_streams::{Failure, Outcome, Payload};
use gangway_trace::{Kind, Span};

use super::{MemoryWork, watched, written};
use crate::abi::number::node_type;
use crate::abi::{Result, Status};
use crate::objects::device::Device;
use crate::objects::memory;
use crate::objects::process::trace;
use crate::objects::stream::{StreamRef, runtimes};

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Of the first byte.
    pub address: u64,
    /// Memory that devices can use, so it must be allocated; otherwise whatever the host says it
    /// has.
    pub device: bool,
    /// Host memory that was registered when the copy was submitted, and must still be when it runs.
    registered: bool,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes from one plane to the next.
    pub slice: usize,
}

impl Side {
    /// Device memory, without space between rows.
    #[must_use]
    pub const fn device(address: u64) -> Self {
        Self::boxed(address, true, 0, 0)
    }

    /// Host memory, or device memory that a program names as if it were.
    #[must_use]
    pub fn host(address: u64) -> Self {
        Self::boxed(address, is_device_address(address), 0, 0)
    }

    /// Whichever memory an address is of.
    #[must_use]
    pub fn unified(address: u64) -> Self {
        if memory::find(address).is_some() { Self::device(address) } else { Self::host(address) }
    }

    /// A box of rows and planes.
    #[must_use]
    pub const fn boxed(address: u64, device: bool, pitch: usize, slice: usize) -> Self {
        Self { address, device, registered: false, pitch, slice }
    }

    /// Bytes from the first to the last of a box; `None` if that overflows.
    fn reach(&self, extent: &Extent) -> Option<usize> {
        let rows = self.pitch.checked_mul(extent.height - 1)?;
        let planes = self.slice.checked_mul(extent.depth - 1)?;
        rows.checked_add(planes)?.checked_add(extent.width)
    }

    /// Host memory that the program may touch as soon as the call is over, as far as
    /// [`lasting`](Side::lasting) has found out.
    fn is_pageable(&self) -> bool {
        !self.device && !self.registered
    }

    /// As one of a copy that runs after the call: whether it is registered host memory is noted.
    fn lasting(self, extent: &Extent) -> Self {
        let registered = |length: usize| memory::is_registered(self.address, length as u64);
        Self { registered: !self.device && self.reach(extent).is_some_and(registered), ..self }
    }

    /// Holds what the device has of a box while it is worked on.
    fn hold(&self, extent: &Extent, write: bool) -> std::result::Result<Option<Hold<'static>>, Failure> {
        if !self.device && !self.registered {
            return Ok(None);
        }
        let length = self.reach(extent).ok_or(Failure::known(Status::INVALID_VALUE.0))?;
        memory::hold(self.address, length as u64, write).map(Some)
    }
}

/// How large a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// In bytes.
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// What is copied, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    pub to: Side,
    pub from: Side,
    pub extent: Extent,
    /// Who looks for races hears of it.
    watched: bool,
    /// A check looks at what is there.
    looks: bool,
    /// Somebody else tells who looks for races of what it does with the host's memory.
    host_is_told: bool,
}

/// Pageable host memory up to this size is copied twice rather than waited for.
const STAGED: usize = 64 << 10;

impl Copy {
    #[must_use]
    pub const fn flat(to: Side, from: Side, size: usize) -> Self {
        Self::new(to, from, Extent { width: size, height: 1, depth: 1 })
    }

    #[must_use]
    pub const fn new(to: Side, from: Side, extent: Extent) -> Self {
        Self { to, from, extent, watched: true, looks: false, host_is_told: false }
    }

    /// Does it, row by row where it is not all in one piece. `false` if there is no host memory
    /// where some should be.
    fn run_now(&self) -> bool {
        let Self { mut to, mut from, extent, .. } = *self;
        let may_fault = !(is_device_address(to.address) && is_device_address(from.address));
        // Both, since two views of the same pages would not be seen to overlap.
        (to.address, from.address) = (memory::host_address(to.address), memory::host_address(from.address));
        // From there to the addresses that the program knows.
        let named = [self.to.address.wrapping_sub(to.address), self.from.address.wrapping_sub(from.address)];
        let whole = |side: Side| {
            (extent.height == 1 || side.pitch == extent.width)
                && (extent.depth == 1 || side.slice == extent.width * extent.height)
        };
        let copy = |to_address: u64, from_address: u64, length: usize| {
            let as_named = [to_address.wrapping_add(named[0]), from_address.wrapping_add(named[1])];
            if !self.looks {
                written::copied(as_named[0], as_named[1], length as u64);
            }
            let (into, out_of) = (to_address as *mut u8, from_address as *const u8);
            // SAFETY: device memory is allocated and held; host memory is the program's, which
            // promises that this may use it. Ranges may overlap.
            unsafe {
                if may_fault {
                    return guard::copy(into, out_of, length);
                }
                std::ptr::copy(out_of, into, length);
            }
            true
        };
        if whole(to) && whole(from) {
            return copy(to.address, from.address, extent.width * extent.height * extent.depth);
        }
        (0..extent.depth).all(|plane| {
            (0..extent.height).all(|row| {
                let at = |side: Side| side.address + (plane * side.slice + row * side.pitch) as u64;
                copy(at(to), at(from), extent.width)
            })
        })
    }
}

impl Copy {
    /// Its rows on both sides, for who looks for races.
    #[cold]
    fn tell_accesses(&self) {
        let is_device = |side: Side| is_device_address(side.address);
        let what = match (is_device(self.to), is_device(self.from)) {
            (true, true) => "a copy on the device",
            (true, false) => "a copy to the device",
            (false, _) => "a copy to the host",
        };
        let Extent { width, height, depth } = self.extent;
        let rows = |side: Side, write| {
            let row = move |plane: usize, row: usize| Transfer {
                address: side.address + (plane * side.slice + row * side.pitch) as u64,
                size: width as u64,
                write,
            };
            (0..depth).flat_map(move |plane| (0..height).map(move |at| row(plane, at)))
        };
        // The program gets ordinary memory back before it goes on.
        let is_looked_at = |side: &Side| match memory::on_device(side.address) {
            Some(_) => true,
            None => !side.is_pageable() && !self.host_is_told,
        };
        let from = Some(self.from).filter(is_looked_at).into_iter().flat_map(|side| rows(side, false));
        let to = Some(self.to).filter(is_looked_at).into_iter().flat_map(|side| rows(side, true));
        watched::transfer(what, &from.chain(to).collect::<Vec<_>>());
    }

    /// What it is, for the trace: from a device, to one, or both; and the variable there.
    #[cold]
    fn described(&self) -> (Span<'static>, Arc<str>) {
        let (to, from) = (memory::on_device(self.to.address), memory::on_device(self.from.address));
        let kind = match (&to, &from) {
            (Some(_), Some(_)) => Kind::DeviceToDevice,
            (None, Some(_)) => Kind::FromDevice,
            (_, None) => Kind::ToDevice,
        };
        let (device, variable) = to.or(from).unwrap_or_default();
        let Extent { width, height, depth } = self.extent;
        let bytes = (width * height * depth) as u64;
        (Span { bytes, ..Span::new(kind, device, "", 0) }, variable)
    }
}

impl MemoryWork for Copy {
    fn is_empty(&self) -> bool {
        self.extent.width == 0 || self.extent.height == 0 || self.extent.depth == 0
    }

    fn check(&self) -> Result {
        for side in [&self.to, &self.from] {
            let length = side.reach(&self.extent).ok_or(Status::INVALID_VALUE)?;
            if side.device {
                memory::check_device_range(side.address, length as u64)?;
            } else if side.address == 0 {
                return Err(Status::INVALID_VALUE);
            }
        }
        Ok(())
    }

    fn unwatched(self, looks: bool) -> Self {
        Self { watched: false, looks, ..self }
    }

    fn lasting(self) -> Self {
        let extent = &self.extent;
        Self { to: self.to.lasting(extent), from: self.from.lasting(extent), ..self }
    }

    /// Ordinary host memory is the program's again when this returns, as the driver API promises:
    /// it is copied at once, or waited for. A capture only notes where it is.
    fn queue_in(self, stream: &StreamRef) -> Result {
        let is_runtimes = Device::looks_for_races() && runtimes::owns(&stream.queue);
        let lasting = Self { host_is_told: is_runtimes, ..self.lasting() };
        if stream.queue.is_capturing() {
            return stream.submit(lasting);
        }
        let (reads, writes) = (lasting.from.is_pageable(), lasting.to.is_pageable());
        if !(reads || writes) {
            return stream.submit(lasting);
        }
        let length = self.extent.width;
        if reads && !writes && self.extent.height * self.extent.depth == 1 && length <= STAGED {
            let mut staged = vec![0; length].into_boxed_slice();
            // SAFETY: the copy is as long.
            if !unsafe { guard::copy(staged.as_mut_ptr(), self.from.address as *const u8, length) } {
                return Err(Status::INVALID_VALUE);
            }
            return Ok(stream.queue.submit(move || {
                let from = Side::host(staged.as_ptr() as u64);
                Self { from, ..lasting }.run()
            })?);
        }
        // The runtime says by itself what the program has waited for.
        let unseen = is_runtimes.then(|| gangway_streams::watch_unseen(true));
        let done = stream.run(Self { host_is_told: is_runtimes, ..self });
        unseen.map(gangway_streams::watch_unseen);
        done
    }
}

impl Payload for Copy {
    /// Held from here on. Another stream may have freed something since this was submitted, or be
    /// about to; and a graph runs long after it was made.
    fn run(&self) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        let _to = self.to.hold(&self.extent, true)?;
        let _from = self.from.hold(&self.extent, false)?;
        let described = gangway_trace::enabled().then(|| self.described());
        let span = described.as_ref().map(|(span, variable)| Span { name: variable, ..*span });
        let begun = span.and_then(|span| trace::begin(|| span));
        if self.watched && Device::looks_for_races() {
            self.tell_accesses();
        }
        watched::changes(self.to.address, self.to.reach(&self.extent).unwrap_or(0) as u64);
        if self.run_now() {
            if let (Some(begun), Some(span)) = (begun, span) {
                begun.end(&span);
            }
            return Ok(());
        }
        let (to, from) = (self.to.address, self.from.address);
        Err(memory::unmapped(format_args!("a copy to {to:#x} from {from:#x}")))
    }

    fn sort(&self) -> u32 {
        node_type::COPY
    }
}
