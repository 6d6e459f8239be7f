//! What several entries of a table share: points in streams, and blocks of memory.

use super::PresentTable;
use crate::block::BlockRef;
use crate::ready::{Point, ReadyRef};
use gangway_backend::DevicePtr;
use gangway_sync::Ordering;

impl PresentTable {
    /// A point for a construct and so many entries of its own. Allocates only if more
    /// points are in use than ever before.
    #[must_use]
    pub fn begin_ready(&self, point: Point, entries: usize) -> ReadyRef<'_> {
        let ready = self.points.take();
        ready.begin(point, entries + 1);
        ReadyRef::new(ready)
    }

    /// Ends so many uses. The point is returned if they were the last: nobody waits for it
    /// any more, and its event is the caller's to destroy.
    pub fn leave(&self, ready: ReadyRef<'_>, uses: usize) -> Option<Point> {
        // Read before the use ends: then it may be recycled.
        let point = ready.point();
        if ready.of().users.fetch_sub(uses, Ordering::AcqRel) != uses {
            return None;
        }
        self.points.give_back(ready.of());
        Some(point)
    }

    /// A block of so many bytes at this address. All its uses are the caller's: one for itself
    /// and those that it will give to entries.
    #[must_use]
    pub fn begin_block(&self, base: DevicePtr, size: usize, uses: usize) -> BlockRef<'_> {
        let block = self.blocks.take();
        block.base.store(base.0, Ordering::Relaxed);
        block.size.store(size, Ordering::Relaxed);
        block.left.begin();
        block.users.store(uses, Ordering::Release);
        BlockRef::new(block)
    }

    /// Ends so many uses of a block. Its address is returned if they were the last: it is the
    /// caller's to free.
    pub fn leave_block(&self, block: BlockRef<'_>, uses: usize) -> Option<DevicePtr> {
        // Read before the use ends: then it may be recycled.
        let base = DevicePtr(block.of().base.load(Ordering::Relaxed));
        if block.of().users.fetch_sub(uses, Ordering::AcqRel) != uses {
            return None;
        }
        self.blocks.give_back(block.of());
        Some(base)
    }
}
