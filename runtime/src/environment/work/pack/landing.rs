//! What is fetched with a block.

use super::stage::Stage;
use crate::device::Opened;
use std::ops::Range;

/// The parts of a block that are copied back, and where they land before each goes where it
/// belongs.
#[derive(Default)]
pub(super) struct Landing {
    wanted: Vec<Part>,
    /// Offset of the part of the block that has been fetched.
    fetched: usize,
    stage: Stage,
}

/// A part of the block that is copied back.
#[derive(Clone, Copy)]
struct Part {
    host: usize,
    offset: usize,
    size: usize,
}

impl Landing {
    /// A part is to be copied back, which stands at that offset.
    #[inline]
    pub(super) fn want(&mut self, host: usize, offset: usize, size: usize) {
        self.wanted.push(Part { host, offset, size });
    }

    /// Whether nothing is to be copied back.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// The host ranges that are to be copied back.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.wanted.iter().map(|part| (part.host, part.host + part.size))
    }

    /// Makes room for what is to be copied back: where it goes to, and what of the block it is.
    pub(super) fn make_room(&mut self, opened: &'static Opened) -> (*mut u8, Range<usize>) {
        let hull = |(start, end): (usize, usize), part: &Part| {
            (start.min(part.offset), end.max(part.offset + part.size))
        };
        let (start, end) = self.wanted.iter().fold((usize::MAX, 0), hull);
        self.stage.make_room(opened, end - start);
        self.fetched = start;
        (self.stage.bytes().as_mut_ptr(), start..end)
    }

    /// Nothing has been fetched.
    pub(super) fn forget(&mut self) {
        self.wanted.clear();
    }

    /// What has been fetched is there: puts it where it belongs, and has done with the memory.
    pub(super) fn distribute(&mut self) {
        if !self.wanted.is_empty() {
            let landing = self.stage.bytes();
            for Part { host, offset, size } in self.wanted.drain(..) {
                let part = &landing[offset - self.fetched..][..size];
                // SAFETY: the program's list item, which is the construct's to write.
                unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), host as *mut u8, size) };
            }
        }
        self.stage.end();
    }
}
