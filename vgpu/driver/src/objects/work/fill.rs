//! Filling memory with a value, `cuMemset*`.

use gangway_device_memory::is_device_address;
use gangway_engine::{Transfer, guard};
use gangway_streams::{Failure, Outcome, Payload};
use gangway_trace::{Kind, Span};

use super::{MemoryWork, watched, written};
use crate::abi::number::node_type;
use crate::abi::{Result, Status};
use crate::objects::device::Device;
use crate::objects::memory;
use crate::objects::process::trace;

/// Bytes that are copied at once to host memory.
const PATTERN: usize = 4096;

/// What is filled, with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    pub address: u64,
    /// 1, 2 or 4 bytes.
    pub element: usize,
    pub value: u32,
    /// In elements.
    pub width: usize,
    pub height: usize,
    /// In bytes.
    pub pitch: usize,
    /// Who looks for races hears of it.
    watched: bool,
}

impl Fill {
    #[must_use]
    pub const fn flat(address: u64, element: usize, value: u32, count: usize) -> Self {
        Self { address, element, value, width: count, height: 1, pitch: 0, watched: true }
    }

    #[must_use]
    pub const fn rows(
        address: u64,
        pitch: usize,
        element: usize,
        value: u32,
        width: usize,
        height: usize,
    ) -> Self {
        Self { address, element, value, width, height, pitch, watched: true }
    }

    /// Bytes from the first to the last, if all rows are aligned and apart.
    fn reach(&self) -> Result<u64> {
        let element = self.element as u64;
        if !self.address.is_multiple_of(element)
            || (self.height > 1 && !(self.pitch as u64).is_multiple_of(element))
        {
            return Err(Status::INVALID_VALUE);
        }
        let row = self.width.checked_mul(self.element).ok_or(Status::INVALID_VALUE)?;
        if self.height > 1 && self.pitch < row {
            return Err(Status::INVALID_VALUE);
        }
        let reach = self.pitch.checked_mul(self.height - 1).and_then(|rows| rows.checked_add(row));
        Ok(reach.ok_or(Status::INVALID_VALUE)? as u64)
    }

    fn rows_from(&self, first: u64) -> impl Iterator<Item = *mut u8> {
        (0..self.height).map(move |row| (first + (row * self.pitch) as u64) as *mut u8)
    }

    /// Fills device memory, which the caller holds.
    fn fill_device(&self) {
        let bytes = self.value.to_ne_bytes();
        let same = bytes[..self.element].iter().all(|&byte| byte == bytes[0]);
        for start in self.rows_from(self.address) {
            written::filled(start as u64, (self.width * self.element) as u64);
        }
        for start in self.rows_from(memory::host_address(self.address)) {
            // SAFETY: all of it is allocated, aligned and held; other threads access it only by
            // races that the program has made.
            unsafe {
                match self.element {
                    _ if same => start.write_bytes(bytes[0], self.width * self.element),
                    2 => std::slice::from_raw_parts_mut(start.cast::<u16>(), self.width)
                        .fill(self.value as u16),
                    _ => std::slice::from_raw_parts_mut(start.cast::<u32>(), self.width).fill(self.value),
                }
            }
        }
    }

    /// Fills registered host memory. `false` if some of it is not mapped.
    fn fill_host(&self) -> bool {
        let mut pattern = [0; PATTERN];
        for element in pattern.chunks_exact_mut(self.element) {
            element.copy_from_slice(&self.value.to_ne_bytes()[..self.element]);
        }
        let length = self.width * self.element;
        self.rows_from(self.address).all(|start| {
            (0..length).step_by(PATTERN).all(|done| {
                let size = PATTERN.min(length - done);
                // SAFETY: a range that the program has registered and lets this write.
                unsafe { guard::copy(start.wrapping_add(done), pattern.as_ptr(), size) }
            })
        })
    }
}

impl Fill {
    /// For the trace.
    fn described(&self) -> Span<'static> {
        let device = memory::on_device(self.address).map_or(0, |(device, _)| device);
        let bytes = (self.width * self.element * self.height) as u64;
        Span { bytes, ..Span::new(Kind::ToDevice, device, "fill", 0) }
    }
}

impl MemoryWork for Fill {
    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    fn check(&self) -> Result {
        memory::check_device_range(self.address, self.reach()?)
    }

    fn unwatched(self, _looks: bool) -> Self {
        Self { watched: false, ..self }
    }
}

impl Payload for Fill {
    /// Held from here on. Another stream may have freed the memory since this was submitted, or be
    /// about to; and a graph runs long after it was made.
    fn run(&self) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        let reach = self.reach().map_err(|status| Failure::known(status.0))?;
        let _held = memory::hold(self.address, reach, true)?;
        if self.watched && Device::looks_for_races() {
            let size = (self.width * self.element) as u64;
            let row = |start: *mut u8| Transfer { address: start as u64, size, write: true };
            watched::transfer("a fill", &self.rows_from(self.address).map(row).collect::<Vec<_>>());
        }
        watched::changes(self.address, reach);
        let begun = trace::begin(|| self.described());
        let done = if is_device_address(self.address) {
            self.fill_device();
            true
        } else {
            self.fill_host()
        };
        if done {
            if let Some(begun) = begun {
                begun.end(&self.described());
            }
            return Ok(());
        }
        Err(memory::unmapped(format_args!("a fill at {:#x}", self.address)))
    }

    fn sort(&self) -> u32 {
        node_type::FILL
    }
}
