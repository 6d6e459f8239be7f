//! Small new items of a construct, which become present together.
//!
//! An item of which nothing is present, which is small and of which nothing else is to be done
//! waits here until the next item comes that is not like it. Then all of them enter the present
//! table under one lock. Their storage is in the construct's block, and their data in its image,
//! before they do. Should another thread have mapped one of them meanwhile, or should two of them
//! overlap, they are made present one after the other like all other items.

use super::pack::LARGEST;
use super::{AttachRequest, Filling, Held, Work};
use crate::environment::wanted::{Count, Wanted};
use crate::error::Result;
use crate::events;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{Counter, DeferredRef, MadeWhen, PresentTable, Together};

/// The items that wait.
#[derive(Default)]
pub(in crate::environment) struct Batch {
    /// With the argument's number and its kind.
    entries: gangway_present::Batch<'static, (usize, MapKind)>,
    /// The version of the table at which all were absent.
    version: usize,
    /// What of the block was in use before them.
    used: usize,
    /// Their entries are there for others, and have not been made.
    deferred: Option<DeferredRef<'static>>,
    /// What the next ones can be deferred with, and the table that it belongs to.
    spare: Option<(&'static PresentTable, DeferredRef<'static>)>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.give_spare_back();
    }
}

impl Batch {
    /// Whether the items' entries have not been made.
    #[inline]
    pub(in crate::environment) fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    /// The version of the table at which the items that wait were absent; `None` if none wait.
    pub(in crate::environment) fn version_of_waiting(&self) -> Option<usize> {
        (!self.entries.is_empty()).then_some(self.version)
    }

    fn give_spare_back(&mut self) {
        if let Some((table, spare)) = self.spare.take() {
            table.give_back_deferred(spare);
        }
    }

    /// What entries of a table can be deferred with.
    fn spare_of(&mut self, table: &'static PresentTable) -> Option<DeferredRef<'static>> {
        if self.spare.is_none_or(|(of, _)| !std::ptr::eq(of, table)) {
            self.give_spare_back();
            self.spare = table.take_deferred().map(|deferred| (table, deferred));
        }
        self.spare.map(|(_, deferred)| deferred)
    }
}

impl Work {
    /// Has as many of the items from `first` on wait as suit, one after the other, and notes the
    /// attachments among them. Answers how many that are.
    ///
    /// One loop for all that is done about such an item: what the general way has in many places,
    /// and hands on between them, is most of what a small item costs.
    #[inline(never)]
    pub(in crate::environment) fn hold_run(&mut self, items: &impl Items, first: usize) -> Result<usize> {
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
            } else if item.kind.is_plain_value() {
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
                // Until the entry is made, if ever, this alone says that there is to be one.
                self.held.push(Held { entry: None, device: storage, counted: Some(Counter::Dynamic) });
            }
            self.seen |= item.kind;
            index += 1;
        }
        parts.end(self.batch.entries.len() - waiting);
        Ok(index - first)
    }

    /// Makes those present that wait.
    #[inline]
    pub(in crate::environment) fn enter_batch(&mut self) -> Result<()> {
        if self.batch.entries.is_empty() || self.batch.is_deferred() {
            Ok(())
        } else {
            self.make_batch_present()
        }
    }

    /// The same behind the last item. What a region alone has, which is most of what waits, is
    /// only made if somebody else asks for it.
    #[inline]
    pub(in crate::environment) fn enter_last_batch(&mut self) -> Result<()> {
        if self.batch.entries.is_empty() || self.defer_batch() { Ok(()) } else { self.make_batch_present() }
    }

    /// False: the entries have to be made.
    #[inline(never)]
    fn defer_batch(&mut self) -> bool {
        let Some(stream) = self.stream.filter(|_| self.opened.capabilities.events) else { return false };
        // What else the region fills has a point in its stream, which these would have to share.
        // Captures are looked up before the region publishes anything. And whoever comes to these
        // waits for the kernel, so this must not be a function that the kernel waits for.
        let suits = self.is_region
            && self.filling.is_empty()
            && !self.seen.has_all(MapKind::LAMBDA_CAPTURE)
            && !self.opened.host_calls.is_connected()
            && !events::observed();
        let Some(block) = self.own_block().filter(|_| suits) else { return false };
        let table = &self.device.table;
        let Some(deferred) = self.batch.spare_of(table) else { return false };
        let Batch { entries, version, .. } = &mut self.batch;
        match table.defer_together(entries, block, *version, deferred, stream) {
            Together::Not => return false,
            Together::AtOnce => {}
            Together::Later => self.read_batch_again(),
        }
        self.insertions += 1;
        self.batch.deferred = Some(deferred);
        true
    }

    /// The construct has issued its copies. Where entries were deferred, and have been made
    /// meanwhile, it has to publish them.
    #[inline]
    pub(in crate::environment) fn publish_deferred(&mut self) {
        if self.batch.deferred.is_some_and(|deferred| !deferred.publish()) {
            self.take_made();
        }
    }

    /// The region gives up its references to what it has deferred. False: it has deferred
    /// nothing, or what it has deferred has been made meanwhile and is given up as other entries are.
    #[inline]
    pub(in crate::environment) fn release_deferred(&mut self) -> bool {
        let Some(deferred) = self.batch.deferred else { return false };
        // Observers are told of each entry.
        if events::observed() {
            self.make_deferred();
            return false;
        }
        let released = deferred.release();
        if !released {
            self.take_made();
        }
        released
    }

    /// The region's operations are done. What it has deferred is not there any more, or, if it
    /// has been made meanwhile, to be unmapped as other entries are.
    #[inline]
    pub(in crate::environment) fn close_deferred(&mut self) {
        let Some(deferred) = self.batch.deferred else { return };
        if deferred.close() {
            self.keep_parts(self.batch.entries.len());
            self.batch.entries.clear();
            self.batch.deferred = None;
        } else {
            self.make_deferred();
        }
    }

    /// Makes what has been deferred, for what is not usual.
    #[cold]
    pub(in crate::environment) fn make_deferred(&mut self) {
        if let Some(deferred) = self.batch.deferred {
            self.device.table.make_deferred(deferred);
            self.take_made();
        }
    }

    /// Goes on with entries that have been deferred and then made as if they had been made at once.
    #[cold]
    fn take_made(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        let Some(deferred) = batch.deferred.take() else { return };
        let made = deferred.take_made(&mut batch.entries);
        self.hold_batch(&batch);
        if let MadeWhen::Live(own) | MadeWhen::Released(own) = made {
            self.have_filled(own);
        }
        if let MadeWhen::Released(_) = made {
            self.unmapping.extend(batch.entries.iter().filter_map(|(_, _, entry)| entry));
        }
        batch.entries.clear();
        self.batch = batch;
    }

    #[inline(never)]
    fn make_batch_present(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let made = match self.own_block() {
            Some(block) => self.device.table.insert_together(&mut batch.entries, block, batch.version),
            None => Together::Not,
        };
        let result = if made != Together::Not {
            self.insertions += 1;
            let region_of = if self.is_region { gangway_sync::this_thread() } else { 0 };
            let entries = batch.entries.iter().filter_map(|(_, _, entry)| entry);
            entries.for_each(|entry| entry.set_region_of(region_of));
            self.hold_batch(&batch);
            Ok(())
        } else {
            self.enter_singly(&batch)
        };
        self.batch = batch;
        if made == Together::Later {
            self.read_batch_again();
        }
        // Keeps the memory for the next ones.
        self.batch.entries.clear();
        result
    }

    /// Brings the image up to date: between the moment when it was made and that when others see the
    /// entries, and wait for them, another construct may have mapped the data, and copied it back.
    #[cold]
    fn read_batch_again(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        for (new, &(argument, kind), _) in batch.entries.iter() {
            if kind.has(MapKind::TO) {
                self.pack_copy(new.host_begin, self.held[argument].device, new.size);
            }
        }
        self.batch = batch;
    }

    fn hold_batch(&mut self, batch: &Batch) {
        self.filling.reserve(batch.entries.len());
        for (new, &(argument, kind), entry) in batch.entries.iter() {
            let Some(entry) = entry else { continue };
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
