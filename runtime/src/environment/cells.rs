//! Host memory of a construct that is aligned like what device code expects of a variable.

use crate::items::Item;

/// What everything in such memory, and its image on the device, is aligned to.
pub(super) const ALIGNMENT: usize = 64;

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Cell(#[allow(dead_code)] [u8; ALIGNMENT]);

const _: () = assert!(size_of::<Cell>() == ALIGNMENT);

/// Aligned bytes. They stay where they are until more are asked for than ever before.
#[derive(Default)]
pub(super) struct Cells(Vec<Cell>);

impl Cells {
    /// Makes sure that there are so many bytes. New ones are zero.
    #[inline]
    pub(super) fn make_room(&mut self, bytes: usize) {
        let wanted = bytes.div_ceil(ALIGNMENT);
        if self.0.len() < wanted {
            self.0.resize(wanted, Cell([0; ALIGNMENT]));
        }
    }

    /// The bytes.
    #[inline]
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: cells are arrays of bytes without padding.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of_val(&*self.0)) }
    }
}

/// Upper bound of the block space one private argument takes.
#[inline]
pub(crate) fn room_for(item: &Item) -> usize {
    (item.size).next_multiple_of(ALIGNMENT) + ALIGNMENT
}
