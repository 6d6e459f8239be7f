//! Publishing what a construct has made, and waiting for what others have.

use super::work::Work;
use crate::error::Result;
use gangway_present::Attachment;

impl Work {
    /// Publishes what this construct created, then waits for what others have not. Small
    /// data goes to the device here.
    ///
    /// Where all was present, and by nobody else's construct, nothing is left to do.
    #[inline(always)]
    pub(crate) fn publish(&mut self) -> Result<()> {
        if self.unpublished.is_empty() && !self.operations.pack.has_block() {
            return Ok(());
        }
        self.publish_new()
    }

    #[inline(never)]
    fn publish_new(&mut self) -> Result<()> {
        if !self.unpublished.has_own() {
            self.operations.send_pack(&self.construct)?;
            self.publish_deferred();
        }
        if self.unpublished.has_own() {
            self.write_left()?;
            self.operations.send_pack(&self.construct)?;
            self.operations.order.settle_copies(&self.construct, &self.unpublished)?;
            self.operations.order.publish(&mut self.unpublished);
        }
        while let Some(entry) = self.unpublished.pop_awaited() {
            // False means that another thread deleted it; the item stays usable
            // as far as the program's own order of constructs makes it so.
            if entry.wait_filled() {
                self.operations.order.wait_until_ready(&self.construct, entry)?;
            }
        }
        Ok(())
    }

    /// Publishes without further ado, for a construct that is given up.
    pub(super) fn publish_quietly(&mut self) {
        // The failure that led here is what the caller reports.
        let _ = self.write_left();
        self.operations.order.publish(&mut self.unpublished);
        self.unpublished.await_nothing();
    }

    /// Writes what other threads have attached inside the entries this construct
    /// fills, now that it will not copy over it any more.
    #[inline]
    fn write_left(&mut self) -> Result<()> {
        let Self { construct, operations, unpublished, .. } = self;
        unpublished.seal(operations.pack.block(), |attachment, label| {
            let Attachment { device_content, device_pointer, .. } = attachment;
            operations.copy_value_to(construct, device_content, *device_pointer, label)
        })
    }
}
