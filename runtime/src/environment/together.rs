//! Small new items of a construct become present together.
//!
//! They wait in the construct's [batch](super::work) until one comes that is not like them.

use super::wanted::{Count, Wanted};
use super::work::{AttachRequest, Held, LARGEST_PART, Work};
use crate::error::Result;
use crate::events;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{Counter, MadeWhen, Relation, Together};

impl Work {
    /// Has as many of the items from `first` on wait as suit, one after the other, and notes the
    /// attachments among them. Answers how many that are.
    ///
    /// One loop for all that is done about such an item: what the general way has in many places,
    /// and hands on between them, is most of what a small item costs.
    #[inline(never)]
    pub(super) fn hold_run(&mut self, items: &impl Items, first: usize) -> Result<usize> {
        let Self { construct, lookups, holdings, batch, attachments, operations, .. } = self;
        let known = construct.opened().capabilities.mapping_notices || events::observed();
        if !construct.packs() || construct.is_queued() || construct.has_unified_shared_memory() || known {
            return Ok(0);
        }
        let Item { begin, size, .. } = items.item(first);
        if size > LARGEST_PART || !operations.pack.has_room_for_parts(construct)? {
            return Ok(0);
        }
        let Some((gap, version)) = lookups.recent.gap_around(construct.table(), begin, size) else {
            return Ok(0);
        };
        if !batch.suits(version, operations.pack.in_use()) {
            return Ok(0);
        }
        let waiting = batch.len();
        let mut parts = operations.pack.parts();
        let mut index = first;
        while index < items.len() {
            let item = items.item(index);
            if !items.knows(item.kind) || items.has_mapper(index) {
                break;
            }
            if item.kind.only_attaches() {
                attachments.request(AttachRequest::of(&item));
                holdings.push(Held::NOTHING);
            } else if item.kind.is_plain_value() {
                holdings.push(Held::NOTHING);
            } else {
                let unless = MapKind::PRESENT | MapKind::IF_PRESENT;
                let usual = item.kind.is_usual() && !item.kind.has(unless);
                let followed = index + 1 < items.len() && items.kind(index + 1).parent() == Some(index);
                // Null is refused by the general way; a gap has no range that wraps around.
                let small = item.size != 0 && item.size <= LARGEST_PART && item.begin != 0;
                if !usual || followed || !small || !gap.has(item.begin, item.size) {
                    break;
                }
                let from = item.kind.has(MapKind::TO).then_some(item.begin);
                let Some(storage) = parts.add(from, item.size) else { break };
                batch.push(Wanted::of(&item).new_entry(), storage, holdings.len(), item.kind);
                // Until the entry is made, if ever, this alone says that there is to be one.
                holdings.push(Held { entry: None, device: storage, counted: Some(Counter::Dynamic) });
            }
            holdings.see(item.kind);
            index += 1;
        }
        parts.end(batch.len() - waiting);
        Ok(index - first)
    }

    /// Does what is to be done for an item that is present by itself while others wait: they need
    /// not become so before.
    pub(super) fn hold_beside_batch(&mut self, item: &Item) -> Result<bool> {
        let Some(waiting) = self.batch.version_of_waiting() else { return Ok(false) };
        match self.lookups.recent.lookup_at(self.construct.table(), item.begin, item.size) {
            (Relation::Contained(entry), version) if version == waiting => self.hold_known(item, entry),
            _ => Ok(false),
        }
    }

    /// Makes those present that wait.
    #[inline]
    pub(super) fn enter_batch(&mut self) -> Result<()> {
        if self.batch.is_empty() || self.batch.is_deferred() { Ok(()) } else { self.make_batch_present() }
    }

    /// The same behind the last item. What a region alone has, which is most of what waits, is
    /// only made if somebody else asks for it.
    #[inline]
    pub(super) fn enter_last_batch(&mut self) -> Result<()> {
        if self.batch.is_empty() || self.defer_batch() { Ok(()) } else { self.make_batch_present() }
    }

    /// False: the entries have to be made.
    #[inline(never)]
    fn defer_batch(&mut self) -> bool {
        let opened = self.construct.opened();
        let Some(stream) = self.construct.stream().filter(|_| opened.capabilities.events) else {
            return false;
        };
        // What else the region fills has a point in its stream, which these would have to share.
        // Captures are looked up before the region publishes anything. And whoever comes to these
        // waits for the kernel, so this must not be a function that the kernel waits for.
        let suits = self.construct.is_region()
            && !self.unpublished.has_own()
            && !self.holdings.have_seen(MapKind::LAMBDA_CAPTURE)
            && !opened.host_calls.is_connected()
            && !events::observed();
        let Some(block) = self.operations.pack.block().filter(|_| suits) else { return false };
        match self.batch.defer(self.construct.table(), block, stream) {
            Together::Not => return false,
            Together::AtOnce => {}
            Together::Later => self.read_batch_again(),
        }
        self.lookups.note_insertion();
        true
    }

    /// The construct has issued its copies. Where entries were deferred, and have been made
    /// meanwhile, it has to publish them.
    #[inline]
    pub(super) fn publish_deferred(&mut self) {
        if !self.batch.publish() {
            self.take_made();
        }
    }

    /// The region gives up its references to what it has deferred. False: it has deferred
    /// nothing, or what it has deferred has been made meanwhile and is given up as other entries are.
    #[inline]
    pub(super) fn release_deferred(&mut self) -> bool {
        if !self.batch.is_deferred() {
            return false;
        }
        // Observers are told of each entry.
        if events::observed() {
            self.make_deferred();
            return false;
        }
        let released = self.batch.release();
        if !released {
            self.take_made();
        }
        released
    }

    /// The region's operations are done. What it has deferred is not there any more, or, if it
    /// has been made meanwhile, to be unmapped as other entries are.
    #[inline]
    pub(super) fn close_deferred(&mut self) {
        match self.batch.close() {
            Some(items) => self.operations.pack.keep_parts(items),
            None => self.make_deferred(),
        }
    }

    /// Makes what has been deferred, for what is not usual.
    #[cold]
    pub(super) fn make_deferred(&mut self) {
        if self.batch.make_deferred(self.construct.table()) {
            self.take_made();
        }
    }

    /// Goes on with entries that have been deferred and then made as if they had been made at once.
    #[cold]
    fn take_made(&mut self) {
        let Some(made) = self.batch.take_made() else { return };
        self.hold_batch();
        if let MadeWhen::Live(own) | MadeWhen::Released(own) = made {
            self.operations.order.note_published(&mut self.unpublished, own);
        }
        if let MadeWhen::Released(_) = made {
            self.in_use.add_all(self.batch.items().filter_map(|(.., entry)| entry));
        }
        self.batch.clear();
    }

    #[inline(never)]
    fn make_batch_present(&mut self) -> Result<()> {
        let made = match self.operations.pack.block() {
            Some(block) => self.batch.insert(self.construct.table(), block),
            None => Together::Not,
        };
        let result = if made != Together::Not {
            self.lookups.note_insertion();
            let region_of = if self.construct.is_region() { gangway_sync::this_thread() } else { 0 };
            let entries = self.batch.items().filter_map(|(.., entry)| entry);
            entries.for_each(|entry| entry.set_region_of(region_of));
            self.hold_batch();
            Ok(())
        } else {
            self.enter_singly()
        };
        if made == Together::Later {
            self.read_batch_again();
        }
        // Keeps the memory for the next ones.
        self.batch.clear();
        result
    }

    /// Brings the image up to date: between the moment when it was made and that when others see the
    /// entries, and wait for them, another construct may have mapped the data, and copied it back.
    #[cold]
    fn read_batch_again(&mut self) {
        for (new, argument, kind, _) in self.batch.items() {
            if kind.has(MapKind::TO) {
                let device = self.holdings.of(argument).device;
                self.operations.pack.copy_in(new.host_begin, device, new.size);
            }
        }
    }

    fn hold_batch(&mut self) {
        self.unpublished.reserve(self.batch.len());
        for (new, argument, kind, entry) in self.batch.items() {
            let Some(entry) = entry else { continue };
            self.holdings.set_entry(argument, entry, new.counter);
            self.unpublished.add(entry, kind.has(MapKind::TO));
        }
    }

    /// Each for itself, in order: it may be in an entry that is there by then.
    #[cold]
    fn enter_singly(&mut self) -> Result<()> {
        // No item waits while these are entered.
        let batch = std::mem::take(&mut self.batch);
        self.operations.pack.take_parts_back(batch.len(), batch.used_before());
        let entered = batch.items().try_for_each(|(new, argument, kind, _)| {
            let held = self.make_present(&Wanted {
                begin: new.host_begin,
                base: new.host_base,
                size: new.size,
                padding: 0,
                label: new.label,
                kind,
                count: Count::Yes,
            })?;
            self.holdings.replace(argument, held);
            Ok(())
        });
        self.batch = batch;
        entered
    }
}
