//! Small data of a construct, sent to the device and fetched from it in one copy each way.
//!
//! On devices that ask for it ([`Capabilities::packed_transfers`]) the small entries that
//! a construct makes, its first-private values and its table of arguments stand in one
//! block of device memory. Whatever is copied to a part of the block that has not been
//! sent goes into an image of it on the host, and the image is sent in one copy before
//! others may look at the entries and before the kernel runs. What a construct copies back
//! from its own block, or if it has none from another one's, is fetched in one copy and
//! distributed when it is there.
//!
//! In a queue of the program's, only values and the table are packed: data is copied in the
//! order of the queue, from and to where the program has it.
//!
//! Entries may outlive the construct: they are users of the block. The image and the
//! landing place of the other direction are kept with the job, so that later constructs
//! allocate nothing. They are not touched before the job's operations are done. Both are in
//! pinned memory on devices that want it, so that no copy holds up the host.
//!
//! [`Capabilities::packed_transfers`]: gangway_backend::Capabilities::packed_transfers

use super::Work;
use crate::constants;
use crate::device::Opened;
use crate::environment::cells::{ALIGNMENT, Cells, room_for};
use crate::error::{ErrorKind, Result};
use crate::events::{self, Step};
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use crate::staging::StagingBlock;
use gangway_backend::{DevicePtr, poison};
use gangway_present::Label;
use gangway_present::{BlockRef, EntryRef, PartOfBlock, PartsTaken};
use std::ops::Range;

/// What is larger is copied by itself.
pub(in crate::environment) const LARGEST: usize = 4 << 10;

/// Bytes of a block, at most. What does not fit in is copied by itself.
const LARGEST_BLOCK: usize = 64 << 10;

/// Uses that a block begins with: one of the construct, and one for each entry there can be.
const USES: usize = 1 + LARGEST_BLOCK / ALIGNMENT;

/// The block of a construct.
#[derive(Default)]
pub(in crate::environment) struct Pack {
    /// Upper bound of what there will be; 0 where nothing is packed.
    planned: usize,
    /// No item has been seen yet that may need room: what is planned is the table alone.
    unplanned: bool,
    block: Option<BlockRef<'static>>,
    /// Uses of the block that are the construct's: its own, and those that it has not given to
    /// entries.
    uses: usize,
    /// Device address of the block's beginning, aligned.
    base: usize,
    /// Bytes of it, how many are in use, and how many of those have been sent.
    capacity: usize,
    used: usize,
    sent: usize,
    /// What of the image has been written since it was sent last.
    written: Range<usize>,
    image: Stage,
    /// What is to be copied back.
    wanted: Vec<Wanted>,
    /// Offset of the part that has been fetched.
    fetched: usize,
    landing: Stage,
}

/// Host memory that is copied from or to, pinned where the back end wants it.
#[derive(Default)]
struct Stage {
    pinned: Option<StagingBlock>,
    cells: Cells,
}

impl Stage {
    /// Makes sure that there are so many bytes, for a construct that uses them now.
    fn make_room(&mut self, opened: &'static Opened, bytes: usize) {
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
    fn end(&self) {
        self.pinned.iter().for_each(StagingBlock::end);
    }

    fn bytes(&mut self) -> &mut [u8] {
        match &mut self.pinned {
            Some(block) => block.bytes(),
            None => self.cells.bytes(),
        }
    }
}

/// A part of the block that is copied back.
#[derive(Clone, Copy)]
struct Wanted {
    host: usize,
    offset: usize,
    size: usize,
}

impl Pack {
    /// The offset of a range in the block, if it is part of it.
    fn offset_of(&self, device: DevicePtr, size: usize) -> Option<usize> {
        let offset = device.0.wrapping_sub(self.base);
        (self.block.is_some() && offset < self.used && size <= self.used - offset).then_some(offset)
    }

    /// What of the block is in use.
    #[inline]
    pub(in crate::environment) fn in_use(&self) -> usize {
        self.used
    }

    /// Parts of the block, which has been begun, from what is not in use.
    #[inline]
    pub(in crate::environment) fn parts(&mut self) -> Parts<'_> {
        let Self { image, base, capacity, used, uses, written, .. } = self;
        Parts { image: &mut image.bytes()[..*capacity], base: *base, used, uses, written }
    }

    /// Takes the next `size` bytes.
    fn carve(&mut self, size: usize) -> Option<DevicePtr> {
        let offset = self.used;
        if self.block.is_none() || size > self.capacity - offset {
            return None;
        }
        self.used = (offset + size).next_multiple_of(ALIGNMENT).min(self.capacity);
        // What the program does not write is no other construct's data.
        poison(&mut self.image.bytes()[offset..self.used]);
        Some(DevicePtr(self.base + offset))
    }
}

/// Parts of a block that many entries get one after the other.
pub(in crate::environment) struct Parts<'p> {
    image: &'p mut [u8],
    base: usize,
    used: &'p mut usize,
    uses: &'p mut usize,
    written: &'p mut Range<usize>,
}

impl Parts<'_> {
    /// The next part, which will have what is at `from`.
    #[inline]
    pub(in crate::environment) fn add(&mut self, from: Option<usize>, size: usize) -> Option<DevicePtr> {
        let offset = *self.used;
        let part = self.image.get_mut(offset..)?;
        let taken = size.next_multiple_of(ALIGNMENT).min(part.len());
        let part = part.get_mut(..taken).filter(|part| part.len() >= size)?;
        // The rest of the last word, and what is between this part and the next, is poison.
        poison(&mut part[if from.is_some() { size & !7 } else { 0 }..]);
        if let Some(host) = from {
            let data = &mut part[..size];
            // SAFETY: the host range is the program's list item.
            data.copy_from_slice(unsafe { std::slice::from_raw_parts(host as *const u8, size) });
            if self.written.start == self.written.end {
                self.written.start = offset;
            }
            self.written.end = offset + size;
        }
        *self.used = offset + taken;
        Some(DevicePtr(self.base + offset))
    }

    /// So many have gone to entries.
    pub(in crate::environment) fn end(self, parts: usize) {
        *self.uses -= parts;
    }
}

/// Whether it shows that an item has no part of the block, without a look at what is present.
#[inline(always)]
fn takes_no_room(item: &Item) -> bool {
    let nothing = item.size == 0 || item.kind.has(MapKind::ATTACH);
    item.size > LARGEST || item.kind.has(MapKind::LITERAL) || (nothing && !item.kind.has(MapKind::PRIVATE))
}

/// Upper bound of what the entry of an item takes.
#[inline(always)]
fn room_of_new(item: &Item) -> usize {
    (item.size + ALIGNMENT).next_multiple_of(ALIGNMENT)
}

impl Work {
    /// Whether small data is packed on this device.
    #[inline]
    pub(in crate::environment) fn packs(&self) -> bool {
        self.opened.capabilities.packed_transfers
    }

    /// A construct begins with its items. Nothing is allocated before something is put into
    /// its block.
    #[inline]
    pub(in crate::environment) fn begin_pack(&mut self, items: &impl Items) {
        let packs = self.packs();
        let table = if self.is_region { size_of::<u64>() * items.len() + ALIGNMENT } else { 0 };
        self.pack.planned = if packs { table.min(LARGEST_BLOCK) } else { 0 };
        self.pack.unplanned = packs;
    }

    /// The construct has no items.
    #[inline]
    pub(in crate::environment) fn plan_no_pack(&mut self) {
        self.pack.planned = 0;
        self.pack.unplanned = false;
    }

    /// Plans the block for the items from `first` on, if that is the first one which may need
    /// room. Where all are known to be present, nothing is looked up for it.
    #[inline(always)]
    pub(in crate::environment) fn plan_pack_from(&mut self, items: &impl Items, first: usize, item: &Item) {
        if self.pack.unplanned && !takes_no_room(item) {
            self.plan_pack(items, first);
        }
    }

    #[cold]
    fn plan_pack(&mut self, items: &impl Items, first: usize) {
        // Small new items mostly share a gap of the table.
        let item = items.item(first);
        let gap = if self.has_many {
            self.recent.gap_around(&self.device.table, item.begin, item.size).map(|(gap, _)| gap)
        } else {
            None
        };
        let mut mapped = 0;
        for index in first..items.len() {
            let item = items.item(index);
            if takes_no_room(&item) || items.has_mapper(index) {
                continue;
            }
            let is_new = item.kind.is_usual() && gap.is_some_and(|gap| gap.has(item.begin, item.size));
            mapped += if is_new { room_of_new(&item) } else { self.room_of(&item) };
        }
        self.pack.planned = (self.pack.planned + mapped).min(LARGEST_BLOCK);
        self.pack.unplanned = false;
    }

    /// Upper bound of what an item takes of the block that may take something.
    fn room_of(&mut self, item: &Item) -> usize {
        if item.kind.has(MapKind::PRIVATE) {
            return if item.kind.has(MapKind::PARAMETER) { room_for(item) } else { 0 };
        }
        // Members are inside their structure.
        let pair = item.kind.has(MapKind::POINTER_AND_POINTEE);
        if item.kind.parent().is_some() && !pair {
            return 0;
        }
        let absent = self.absent(item.begin, item.size).is_some();
        if absent { room_of_new(item) } else { 0 }
    }

    /// A place in the block; `None` if there is none for so much.
    ///
    /// # Errors
    /// The device has failed. Too little memory for a block is no error: what would have
    /// been in it is allocated by itself.
    pub(in crate::environment) fn pack_room(&mut self, size: usize) -> Result<Option<DevicePtr>> {
        if self.pack.planned == 0 || size > LARGEST || size == 0 {
            return Ok(None);
        }
        if self.pack.block.is_none() && !self.begin_block()? {
            self.pack.planned = 0;
            return Ok(None);
        }
        Ok(self.pack.carve(size))
    }

    fn begin_block(&mut self) -> Result<bool> {
        let capacity = self.pack.planned.next_multiple_of(ALIGNMENT);
        // Back ends align to 16 at least.
        let size = capacity + ALIGNMENT;
        let Some(memory) = self.device.allocate_block(self.opened, &self.site, size, self.purpose())? else {
            return Ok(false);
        };
        self.pack.image.make_room(self.opened, capacity);
        let pack = &mut self.pack;
        pack.block = Some(self.device.table.begin_block(memory, size, USES));
        pack.uses = USES;
        pack.base = memory.0.next_multiple_of(ALIGNMENT);
        (pack.capacity, pack.used, pack.sent, pack.written) = (capacity, 0, 0, 0..0);
        Ok(true)
    }

    /// Storage in the block for an entry that is about to be made.
    pub(in crate::environment) fn part_for_entry(
        &mut self,
        size: usize,
        padding: usize,
    ) -> Result<Option<PartOfBlock<'static>>> {
        // In a queue the host's data is read when the constructs before have written it, and
        // written when the queue gets there: not now, and not when the construct is ended.
        if self.queued {
            return Ok(None);
        }
        let Some(storage) = self.pack_room(padding + size)? else { return Ok(None) };
        let Some(block) = self.pack.block else { return Ok(None) };
        self.pack.uses -= 1;
        Ok(Some(PartOfBlock { block, storage, padding }))
    }

    /// Takes back what was to be an entry's, if that was the last.
    #[cold]
    pub(in crate::environment) fn take_part_back(&mut self, part: PartOfBlock<'static>) {
        self.pack.uses += 1;
        self.pack.used = part.storage.0 - self.pack.base;
    }

    /// Takes back what was to be that many entries', of which the first would have begun there.
    #[cold]
    pub(in crate::environment) fn take_parts_back(&mut self, parts: usize, used: usize) {
        if parts != 0 {
            self.pack.uses += parts;
            self.pack.used = used;
        }
    }

    /// Whether there may be parts of a block for entries; begins the block if need be.
    ///
    /// # Errors
    /// As [`pack_room`](Self::pack_room).
    pub(in crate::environment) fn has_room_for_parts(&mut self) -> Result<bool> {
        if self.pack.planned == 0 {
            return Ok(false);
        }
        if self.pack.block.is_none() && !self.begin_block()? {
            self.pack.planned = 0;
        }
        Ok(self.pack.block.is_some())
    }

    /// The construct's block.
    #[inline]
    pub(in crate::environment) fn own_block(&self) -> Option<BlockRef<'static>> {
        self.pack.block
    }

    /// Observers are told of storage, wherever it comes from.
    #[cold]
    pub(in crate::environment) fn tell_part(
        &self,
        part: PartOfBlock<'static>,
        size: usize,
        host: usize,
        label: Label,
    ) {
        let step = || Step::Allocate { host, device: Some(part.storage), size, label };
        events::step(self.device.number(), &self.site, step, || (), |()| step());
    }

    /// Whether what is copied there goes into the image.
    pub(in crate::environment) fn is_to_be_sent(&self, device: DevicePtr, size: usize) -> bool {
        self.pack.offset_of(device, size).is_some_and(|offset| offset >= self.pack.sent)
    }

    /// Writes into the image instead of the device. False: the range is no part of the
    /// block, or has been sent.
    pub(in crate::environment) fn pack_copy(&mut self, host: usize, device: DevicePtr, size: usize) -> bool {
        let pack = &mut self.pack;
        let Some(offset) = pack.offset_of(device, size).filter(|offset| *offset >= pack.sent) else {
            return false;
        };
        let image = &mut pack.image.bytes()[offset..offset + size];
        // SAFETY: the host range is the program's list item, or bytes of the runtime's.
        image.copy_from_slice(unsafe { std::slice::from_raw_parts(host as *const u8, size) });
        let (begin, end) = (offset, offset + size);
        pack.written = if pack.written.is_empty() {
            begin..end
        } else {
            pack.written.start.min(begin)..pack.written.end.max(end)
        };
        true
    }

    /// Whether the construct has a block.
    #[inline]
    pub(in crate::environment) fn has_pack(&self) -> bool {
        self.pack.block.is_some()
    }

    /// Sends what has been put into the image.
    #[inline]
    pub(in crate::environment) fn send_pack(&mut self) -> Result<()> {
        if self.pack.block.is_some() { self.send_image() } else { Ok(()) }
    }

    #[cold]
    fn send_image(&mut self) -> Result<()> {
        let pack = &mut self.pack;
        let Range { start, end } = std::mem::take(&mut pack.written);
        pack.sent = pack.used;
        if start == end {
            return Ok(());
        }
        let from = pack.image.bytes()[start..end].as_ptr();
        let to = DevicePtr(pack.base + start);
        self.come_behind_queues()
            // SAFETY: the image is not touched, and the block kept, until the work is complete.
            .and_then(|()| unsafe { self.at_stream().copy_to_device(to, from, end - start) })
            .map_err(|error| self.fail(ErrorKind::Transfer(error)))
    }

    /// Lets a construct that has no block of its own use the one that an entry stands in, so
    /// that what it copies back from there is fetched in one copy.
    #[inline]
    pub(in crate::environment) fn adopt_block(&mut self, entry: EntryRef<'static>) {
        // In a queue data goes straight to where the program has it.
        if !self.has_pack() && !self.queued && self.stream.is_some() {
            self.adopt_block_of(entry);
        }
    }

    #[cold]
    fn adopt_block_of(&mut self, entry: EntryRef<'static>) {
        let Some(block) = entry.pin_block() else { return };
        let (DevicePtr(base), size) = block.range();
        let pack = &mut self.pack;
        (pack.block, pack.uses) = (Some(block), 1);
        // Nothing of it is to be sent.
        (pack.base, pack.capacity, pack.used, pack.sent, pack.written) = (base, size, size, size, 0..0);
    }

    /// Notes that a part of the block is to be copied back; false: it is none.
    pub(in crate::environment) fn pack_copy_back(
        &mut self,
        host: usize,
        device: DevicePtr,
        size: usize,
    ) -> bool {
        let Some(offset) = self.pack.offset_of(device, size) else { return false };
        self.pack.wanted.push(Wanted { host, offset, size });
        true
    }

    /// Does what copying a part of an entry back comes to if the entry stands in the block and has
    /// no attached pointers. False: it is not so.
    #[inline]
    pub(in crate::environment) fn fetch_part(
        &mut self,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
    ) -> bool {
        let in_block = self.pack.block.is_some_and(|block| entry.is_part_of(block));
        if !in_block || entry.has_attachments() || events::observed() {
            return false;
        }
        let offset = entry.translate(host).0 - self.pack.base;
        self.pack.wanted.push(Wanted { host, offset, size });
        true
    }

    /// Does what giving an item up comes to that the construct alone has, and whose entry has not
    /// been made.
    #[inline]
    pub(in crate::environment) fn fetch_deferred(&mut self, item: &Item, device: DevicePtr) {
        if item.kind.has(MapKind::FROM) && !constants::has(item.begin, item.size) {
            let offset = device.0 - self.pack.base;
            self.pack.wanted.push(Wanted { host: item.begin, offset, size: item.size });
        }
    }

    /// The construct has parts of the block for itself that were to be so many entries'.
    #[inline]
    pub(in crate::environment) fn keep_parts(&mut self, parts: usize) {
        self.pack.uses += parts;
    }

    /// The host ranges that are fetched with the block.
    pub(in crate::environment) fn fetched_parts(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pack.wanted.iter().map(|part| (part.host, part.host + part.size))
    }

    /// Fetches what is to be copied back.
    #[inline]
    pub(in crate::environment) fn fetch_pack(&mut self) -> Result<()> {
        if self.pack.wanted.is_empty() { Ok(()) } else { self.fetch_block() }
    }

    #[cold]
    fn fetch_block(&mut self) -> Result<()> {
        let pack = &mut self.pack;
        let hull = |(start, end): (usize, usize), part: &Wanted| {
            (start.min(part.offset), end.max(part.offset + part.size))
        };
        let (start, end) = pack.wanted.iter().fold((usize::MAX, 0), hull);
        pack.landing.make_room(self.opened, end - start);
        pack.fetched = start;
        let (to, from) = (pack.landing.bytes().as_mut_ptr(), DevicePtr(pack.base + start));
        let issued = self.come_behind_queues().and_then(|()| {
            // SAFETY: the landing place is not touched, and the block kept, until the work is
            // complete.
            unsafe { self.at_stream().copy_from_device(to, from, end - start) }
        });
        issued.map_err(|error| {
            self.pack.wanted.clear();
            self.fail(ErrorKind::Transfer(error))
        })
    }

    /// The operations have failed: nothing has been fetched.
    #[cold]
    pub(in crate::environment) fn forget_fetched(&mut self) {
        self.pack.wanted.clear();
    }

    /// Puts what has been fetched where it belongs, when the construct's operations are done, and
    /// takes those of its entries out of the table whose end needs nothing else. What those had
    /// is for [`end_block`](Self::end_block) to give up.
    #[inline]
    pub(in crate::environment) fn unpack(&mut self) -> PartsTaken {
        match self.pack.block {
            Some(block) => self.unpack_block(block),
            None => PartsTaken::default(),
        }
    }

    #[cold]
    fn unpack_block(&mut self, block: BlockRef<'static>) -> PartsTaken {
        let pack = &mut self.pack;
        if !pack.wanted.is_empty() {
            let landing = pack.landing.bytes();
            for Wanted { host, offset, size } in pack.wanted.drain(..) {
                let part = &landing[offset - pack.fetched..][..size];
                // SAFETY: the program's list item, which is the construct's to write.
                unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), host as *mut u8, size) };
            }
        }
        pack.image.end();
        pack.landing.end();
        self.close_deferred();
        if events::observed() || self.opened.capabilities.mapping_notices {
            return PartsTaken::default();
        }
        let own = self.own_point();
        self.device.table.finish_parts(&mut self.unmapping, block, own)
    }

    /// Ends the construct's uses of its block, and so many of its entries'.
    #[inline]
    pub(in crate::environment) fn end_block(&mut self, of_entries: usize) -> Result<()> {
        match self.pack.block.take() {
            Some(block) => self.leave_block(block, self.pack.uses + of_entries),
            None => Ok(()),
        }
    }

    /// Ends uses of a block; frees it if they were the last.
    pub(in crate::environment) fn leave_block(
        &mut self,
        block: BlockRef<'static>,
        uses: usize,
    ) -> Result<()> {
        let Some(memory) = self.device.table.leave_block(block, uses) else { return Ok(()) };
        self.leave_queue();
        // SAFETY: nobody uses the block any more, and the device has done with it.
        unsafe { self.device.deallocate_block(self.opened, &self.site, memory, self.purpose()) }
    }
}
