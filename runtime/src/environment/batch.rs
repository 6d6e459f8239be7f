//! Small new items of a construct, which become present together.
//!
//! An item of which nothing is present, which is small and of which nothing else is to be done
//! waits here until the next item comes that is not like it. Then all of them enter the present
//! table under one lock. Their storage is in the construct's block, and their data in its image,
//! before they do. Should another thread have mapped one of them meanwhile, or should two of them
//! overlap, they are made present one after the other like all other items.

use super::enter::{Count, Wanted};
use super::pack::LARGEST;
use super::work::{AttachRequest, Filling, Held, Work};
use crate::error::Result;
use crate::events;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use crate::present;

/// The items that wait.
#[derive(Default)]
pub(super) struct Batch {
    /// With the argument's number and its kind.
    entries: present::Batch<'static, (usize, MapKind)>,
    /// The version of the table at which all were absent.
    version: usize,
    /// What of the block was in use before them.
    used: usize,
}

impl Work {
    /// Has as many of the items from `first` on wait as suit, one after the other, and notes the
    /// attachments among them. Answers how many that are.
    ///
    /// One loop for all that is done about such an item: what the general way has in many places,
    /// and hands on between them, is most of what a small item costs.
    #[inline(never)]
    pub(super) fn hold_run(&mut self, items: &impl Items, first: usize) -> Result<usize> {
        let known = self.opened.capabilities.mapping_notices || events::observed();
        if !self.packs() || self.queued || self.unified_shared_memory || known {
            return Ok(0);
        }
        let Item { begin, size, .. } = items.item(first);
        if size > LARGEST || !self.has_room_for_parts()? {
            return Ok(0);
        }
        let Some((gap, version)) = self.recent.gap_around(&self.device.table, begin, size) else {
            return Ok(0);
        };
        if self.batch.entries.is_empty() {
            (self.batch.version, self.batch.used) = (version, self.pack.in_use());
        } else if version != self.batch.version {
            return Ok(0);
        }
        let waiting = self.batch.entries.len();
        let mut parts = self.pack.parts();
        let mut index = first;
        while index < items.len() {
            let item = items.item(index);
            if !items.knows(item.kind) || items.has_mapper(index) {
                break;
            }
            if item.kind.only_attaches() {
                self.attachments.push(AttachRequest::of(&item));
                self.held.push(Held::NOTHING);
            } else {
                let unless = MapKind::PRESENT | MapKind::IF_PRESENT;
                let usual = item.kind.is_usual() && !item.kind.has(unless);
                let followed = index + 1 < items.len() && items.kind(index + 1).parent() == Some(index);
                // Null is refused by the general way; a gap has no range that wraps around.
                let small = item.size != 0 && item.size <= LARGEST && item.begin != 0;
                if !usual || followed || !small || !gap.has(item.begin, item.size) {
                    break;
                }
                let from = item.kind.has(MapKind::TO).then_some(item.begin);
                let Some(storage) = parts.add(from, item.size) else { break };
                let argument = (self.held.len(), item.kind);
                self.batch.entries.push(Wanted::of(&item).new_entry(), storage, argument);
                self.held.push(Held { entry: None, device: storage, counted: None });
            }
            self.seen |= item.kind;
            index += 1;
        }
        parts.end(self.batch.entries.len() - waiting);
        Ok(index - first)
    }

    /// Makes those present that wait.
    #[inline]
    pub(super) fn enter_batch(&mut self) -> Result<()> {
        if self.batch.entries.is_empty() { Ok(()) } else { self.make_batch_present() }
    }

    #[inline(never)]
    fn make_batch_present(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let made = match self.own_block() {
            Some(block) => self.device.table.insert_together(&mut batch.entries, block, batch.version),
            None => false,
        };
        let result = if made {
            self.hold_batch(&batch);
            Ok(())
        } else {
            self.enter_singly(&batch)
        };
        // Keeps the memory for the next ones.
        batch.entries.clear();
        self.batch = batch;
        result
    }

    fn hold_batch(&mut self, batch: &Batch) {
        self.insertions += 1;
        let region_of = if self.is_region { crate::sync::this_thread() } else { 0 };
        self.filling.reserve(batch.entries.len());
        for (new, &(argument, kind), entry) in batch.entries.iter() {
            let Some(entry) = entry else { continue };
            entry.set_region_of(region_of);
            let held = &mut self.held[argument];
            (held.entry, held.counted) = (Some(entry), Some(new.counter));
            self.filling.push(Filling { entry, whole: kind.has(MapKind::TO) });
        }
    }

    /// Each for itself, in order: it may be in an entry that is there by then.
    #[cold]
    fn enter_singly(&mut self, batch: &Batch) -> Result<()> {
        self.take_parts_back(batch.entries.len(), batch.used);
        for (new, &(argument, kind), _) in batch.entries.iter() {
            self.held[argument] = self.make_present(&Wanted {
                begin: new.host_begin,
                base: new.host_base,
                size: new.size,
                padding: 0,
                label: new.label,
                kind,
                count: Count::Yes,
            })?;
        }
        Ok(())
    }
}
