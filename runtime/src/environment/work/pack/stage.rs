//! The host's end of packed copies.

use crate::device::Opened;
use crate::environment::cells::Cells;
use crate::staging::StagingBlock;

/// Host memory that is copied from or to, pinned where the back end wants it.
///
/// It is kept from construct to construct, and not touched before the operations of the one that
/// uses it are done.
#[derive(Default)]
pub(super) struct Stage {
    pinned: Option<StagingBlock>,
    cells: Cells,
}

impl Stage {
    /// Makes sure that there are so many bytes, for a construct that uses them now.
    pub(super) fn make_room(&mut self, opened: &'static Opened, bytes: usize) {
        if self.pinned.as_ref().is_some_and(|block| block.begin(opened.staging.as_ref(), bytes)) {
            return;
        }
        // The old block first, which may suit others.
        self.pinned = None;
        self.pinned = opened.staging.as_ref().and_then(|staging| staging.block(&*opened.device, bytes));
        if self.pinned.is_none() {
            self.cells.make_room(bytes);
        }
    }

    /// The construct has done with it.
    pub(super) fn end(&self) {
        self.pinned.iter().for_each(StagingBlock::end);
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        match &mut self.pinned {
            Some(block) => block.bytes(),
            None => self.cells.bytes(),
        }
    }
}
