//! Device memory that a construct frees.

use super::construct::Construct;
use crate::error::Result;
use crate::events::{self, MappingChange, MappingEvent, Step};
use gangway_backend::{DevicePtr, RangeChange};
use gangway_present::{BlockRef, Label, Removed};

/// Device memory to be freed when the construct's operations are done.
pub(super) struct Storage {
    memory: DevicePtr,
    /// The block that it is part of, and that is given up instead.
    block: Option<BlockRef<'static>>,
    /// The range of the host that was mapped to it.
    range: Option<Unmapped>,
}

/// A range of the host that is no longer mapped.
#[derive(Clone, Copy)]
struct Unmapped {
    begin: usize,
    size: usize,
    device: DevicePtr,
}

impl Storage {
    /// What the construct has allocated for itself.
    pub(super) fn own(memory: DevicePtr) -> Self {
        Self { memory, block: None, range: None }
    }

    /// What is left of an entry that has left the table, of which observers are told.
    pub(super) fn of_removed(construct: &Construct, removed: Removed<'static>) -> Option<Self> {
        if events::observed() {
            construct.tell_mapping(&MappingEvent {
                change: MappingChange::Removed,
                implicit: false,
                hold: false,
                host_base: removed.host_begin,
                host: removed.host_begin,
                size: removed.host_end - removed.host_begin,
                allocation: removed.allocation,
                device: removed.device_begin,
                counts: None,
                label: removed.label,
            });
        }
        if let Some(ready) = removed.ready {
            construct.leave_point(ready, 1);
        }
        let Removed { host_begin: begin, host_end, device_begin: device, block, .. } = removed;
        let range = Some(Unmapped { begin, size: host_end - begin, device });
        removed.allocation.map(|memory| Self { memory, block, range })
    }

    /// Frees it, or gives up a use of the block that it is part of.
    ///
    /// # Safety
    /// Nobody uses it any more, and no operation under way does.
    #[inline]
    pub(super) unsafe fn free(self, construct: &mut Construct) -> Result<()> {
        if let Some(Unmapped { begin, size, device }) = self.range {
            // Without a stream: its operations are done, and a queue may be gone.
            construct.opened().notice(begin, size, RangeChange::Unmapped(device), Label::NONE, None);
        }
        match self.block {
            // SAFETY: the caller's promise.
            None => unsafe { construct.deallocate(self.memory) },
            Some(block) => free_in_block(construct, self.memory, block),
        }
    }
}

/// Observers are told of storage, wherever it comes from.
#[inline(never)]
fn free_in_block(construct: &mut Construct, memory: DevicePtr, block: BlockRef<'static>) -> Result<()> {
    let step = || Step::Deallocate { device: memory };
    let (number, site) = (construct.device().number(), construct.site());
    events::step(number, &site, step, || construct.leave_block(block, 1), |_| step())
}
