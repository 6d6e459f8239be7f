//! Filling memory with a value, `cuMemset*`.

use gangway_streams::{Failure, Outcome, Payload};

use crate::abi::number::node_type;
use crate::abi::{Result, Status};
use crate::objects::memory;
use crate::objects::stream::StreamRef;

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
}

impl Fill {
    #[must_use]
    pub const fn flat(address: u64, element: usize, value: u32, count: usize) -> Self {
        Self { address, element, value, width: count, height: 1, pitch: 0 }
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
        Self { address, element, value, width, height, pitch }
    }

    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
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

    fn check(&self) -> Result {
        memory::check_device_range(self.address, self.reach()?)
    }

    /// The fill, if all the memory that it concerns is allocated.
    pub fn checked(self) -> Result<Self> {
        if !self.is_empty() {
            self.check()?;
        }
        Ok(self)
    }

    /// Fills in the order of the stream, and waits.
    pub fn run_in(self, stream: &StreamRef) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        stream.run(self)
    }

    /// Fills in the order of the stream.
    pub fn submit_to(self, stream: &StreamRef) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        stream.submit(self)
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
        let bytes = self.value.to_ne_bytes();
        let same = bytes[..self.element].iter().all(|&byte| byte == bytes[0]);
        let first = memory::host_address(self.address);
        for row in 0..self.height {
            let start = (first + (row * self.pitch) as u64) as *mut u8;
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
        Ok(())
    }

    fn sort(&self) -> u32 {
        node_type::FILL
    }
}
