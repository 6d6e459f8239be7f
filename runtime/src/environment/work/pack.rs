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

use super::construct::Construct;
use crate::constants;
use crate::environment::cells::ALIGNMENT;
use crate::error::Result;
use crate::events;
use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_backend::{DevicePtr, poison};
use gangway_present::{BlockRef, EntryRef, Label, PartOfBlock};
use std::ops::Range;

mod landing;
mod plan;
mod stage;

use landing::Landing;
use plan::Plan;
use stage::Stage;

/// What is larger is copied by itself.
pub(in crate::environment) const LARGEST_PART: usize = 4 << 10;

/// Bytes of a block, at most. What does not fit in is copied by itself.
const LARGEST_BLOCK: usize = 64 << 10;

/// Uses that a block begins with: one of the construct, and one for each entry there can be. Members of a
/// structure stand as close as in it.
const USES: usize = 1 + LARGEST_BLOCK;

/// The block of a construct.
#[derive(Default)]
pub(in crate::environment) struct Pack {
    /// How large it is to be.
    pub(in crate::environment) plan: Plan,
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
    landing: Landing,
}

/// Parts of the block.
impl Pack {
    /// The construct's block.
    #[inline]
    pub(in crate::environment) fn block(&self) -> Option<BlockRef<'static>> {
        self.block
    }

    /// Whether the construct has a block.
    #[inline]
    pub(in crate::environment) fn has_block(&self) -> bool {
        self.block.is_some()
    }

    /// A place in the block; `None` if there is none for so much.
    ///
    /// # Errors
    /// The device has failed. Too little memory for a block is no error: what would have
    /// been in it is allocated by itself.
    pub(in crate::environment) fn room(
        &mut self,
        construct: &Construct,
        size: usize,
    ) -> Result<Option<DevicePtr>> {
        if size > LARGEST_PART || size == 0 || !self.has_room_for_parts(construct)? {
            return Ok(None);
        }
        Ok(self.carve(size))
    }

    /// Whether there may be parts of a block for entries; begins the block if need be.
    ///
    /// # Errors
    /// As [`room`](Self::room).
    pub(in crate::environment) fn has_room_for_parts(&mut self, construct: &Construct) -> Result<bool> {
        if self.plan.is_nothing() {
            return Ok(false);
        }
        if self.block.is_none() && !self.begin_block(construct)? {
            self.plan.give_up();
        }
        Ok(self.block.is_some())
    }

    fn begin_block(&mut self, construct: &Construct) -> Result<bool> {
        let capacity = self.plan.capacity();
        // Back ends align to 16 at least.
        let size = capacity + ALIGNMENT;
        let Some(memory) = construct.allocate_block(size)? else {
            return Ok(false);
        };
        self.image.make_room(construct.opened(), capacity);
        self.block = Some(construct.table().begin_block(memory, size, USES));
        self.uses = USES;
        self.base = memory.0.next_multiple_of(ALIGNMENT);
        (self.capacity, self.used, self.sent, self.written) = (capacity, 0, 0, 0..0);
        Ok(true)
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

    /// The offset of a range in the block, if it is part of it.
    fn offset_of(&self, device: DevicePtr, size: usize) -> Option<usize> {
        let offset = device.0.wrapping_sub(self.base);
        (self.block.is_some() && offset < self.used && size <= self.used - offset).then_some(offset)
    }

    /// Storage in the block for an entry that is about to be made.
    pub(in crate::environment) fn part_for_entry(
        &mut self,
        construct: &Construct,
        size: usize,
        padding: usize,
    ) -> Result<Option<PartOfBlock<'static>>> {
        // In a queue the host's data is read when the constructs before have written it, and
        // written when the queue gets there: not now, and not when the construct is ended.
        if construct.is_queued() {
            return Ok(None);
        }
        let Some(storage) = self.room(construct, padding + size)? else { return Ok(None) };
        let Some(block) = self.block else { return Ok(None) };
        self.uses -= 1;
        Ok(Some(PartOfBlock { block, storage, padding }))
    }

    /// Takes back what was to be an entry's, if that was the last.
    #[cold]
    pub(in crate::environment) fn take_part_back(&mut self, part: PartOfBlock<'static>) {
        self.uses += 1;
        self.used = part.storage.0 - self.base;
    }

    /// Storage for members of a structure, from `begin` on the host for so many bytes, of which that many entries
    /// are about to be made: in the block, or in one of their own.
    ///
    /// # Errors
    /// The device has failed, or has no memory.
    pub(in crate::environment) fn room_for_members(
        &mut self,
        construct: &Construct,
        begin: usize,
        size: usize,
        entries: usize,
    ) -> Result<Room> {
        // They keep the alignment that they have on the host.
        let padding = begin % ALIGNMENT;
        let taken = padding + size;
        // In a queue, see `part_for_entry`.
        let storage = if construct.is_queued() { None } else { self.room(construct, taken)? };
        if let (Some(block), Some(DevicePtr(storage))) = (self.block, storage) {
            self.uses -= entries;
            return Ok(Room { block, first: DevicePtr(storage + padding), is_own: false });
        }
        let bytes = taken + ALIGNMENT;
        let memory = match construct.allocate_block(bytes)? {
            Some(memory) => memory,
            None => construct.allocate(begin, bytes, false, Label::NONE)?,
        };
        let block = construct.table().begin_block(memory, bytes, entries);
        let first = memory.0.next_multiple_of(ALIGNMENT) + padding;
        Ok(Room { block, first: DevicePtr(first), is_own: true })
    }

    /// Takes back what was to be so many members', the last that there was room for.
    #[cold]
    pub(in crate::environment) fn take_members_back(
        &mut self,
        construct: &mut Construct,
        room: &Room,
        entries: usize,
    ) -> Result<()> {
        if room.is_own {
            return construct.leave_block(room.block, entries);
        }
        self.uses += entries;
        self.used = (room.first.0 - self.base) / ALIGNMENT * ALIGNMENT;
        Ok(())
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

    /// Takes back what was to be that many entries', of which the first would have begun there.
    #[cold]
    pub(in crate::environment) fn take_parts_back(&mut self, parts: usize, used: usize) {
        if parts != 0 {
            self.uses += parts;
            self.used = used;
        }
    }

    /// The construct has parts of the block for itself that were to be so many entries'.
    #[inline]
    pub(in crate::environment) fn keep_parts(&mut self, parts: usize) {
        self.uses += parts;
    }

    /// Lets a construct that has no block of its own use the one that an entry stands in, so
    /// that what it copies back from there is fetched in one copy.
    #[inline]
    pub(in crate::environment) fn adopt_block_of(&mut self, construct: &Construct, entry: EntryRef<'static>) {
        // In a queue data goes straight to where the program has it.
        if !self.has_block() && !construct.is_queued() && construct.stream().is_some() {
            self.adopt(entry);
        }
    }

    #[cold]
    fn adopt(&mut self, entry: EntryRef<'static>) {
        // That of a structure may be too large to be fetched in one copy.
        let Some(block) = entry.pin_block(LARGEST_BLOCK + ALIGNMENT) else { return };
        let (DevicePtr(base), size) = block.range();
        (self.block, self.uses) = (Some(block), 1);
        // Nothing of it is to be sent.
        (self.base, self.capacity, self.used, self.sent, self.written) = (base, size, size, size, 0..0);
    }

    /// The construct's operations are done: what has been fetched goes where it belongs.
    #[cold]
    pub(in crate::environment) fn end_copies(&mut self) {
        self.landing.distribute();
        self.image.end();
    }

    /// Ends the construct's uses of its block, and so many of its entries'.
    #[inline]
    pub(in crate::environment) fn end_block(
        &mut self,
        construct: &mut Construct,
        of_entries: usize,
    ) -> Result<()> {
        match self.block.take() {
            Some(block) => construct.leave_block(block, self.uses + of_entries),
            None => Ok(()),
        }
    }
}

/// Storage for members of a structure.
pub(in crate::environment) struct Room {
    /// The block that it is part of, of which each member has a use.
    pub(in crate::environment) block: BlockRef<'static>,
    /// Where the first member is.
    pub(in crate::environment) first: DevicePtr,
    /// The block is the members' alone.
    is_own: bool,
}

/// What is sent with the block.
impl Pack {
    /// Whether what is copied there goes into the image.
    pub(super) fn is_to_be_sent(&self, device: DevicePtr, size: usize) -> bool {
        self.offset_of(device, size).is_some_and(|offset| offset >= self.sent)
    }

    /// Writes into the image instead of the device. False: the range is no part of the
    /// block, or has been sent.
    pub(in crate::environment) fn copy_in(&mut self, host: usize, device: DevicePtr, size: usize) -> bool {
        let Some(offset) = self.offset_of(device, size).filter(|offset| *offset >= self.sent) else {
            return false;
        };
        let image = &mut self.image.bytes()[offset..offset + size];
        // SAFETY: the host range is the program's list item, or bytes of the runtime's.
        image.copy_from_slice(unsafe { std::slice::from_raw_parts(host as *const u8, size) });
        let (begin, end) = (offset, offset + size);
        self.written = if self.written.is_empty() {
            begin..end
        } else {
            self.written.start.min(begin)..self.written.end.max(end)
        };
        true
    }

    /// What of the image has been written and not been sent, and where it goes: the caller sends
    /// it.
    pub(super) fn take_unsent(&mut self) -> Option<(&[u8], DevicePtr)> {
        let Range { start, end } = std::mem::take(&mut self.written);
        self.sent = self.used;
        (start != end).then(|| (&self.image.bytes()[start..end], DevicePtr(self.base + start)))
    }
}

/// What is fetched with the block.
impl Pack {
    /// Notes that a part of the block is to be copied back; false: it is none.
    pub(super) fn copy_out(&mut self, host: usize, device: DevicePtr, size: usize) -> bool {
        let Some(offset) = self.offset_of(device, size) else { return false };
        self.landing.want(host, offset, size);
        true
    }

    /// Does what copying a part of an entry back comes to if the entry stands in the block and has
    /// no attached pointers. False: it is not so.
    #[inline]
    pub(in crate::environment) fn copy_entry_out(
        &mut self,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
    ) -> bool {
        let in_block = self.block.is_some_and(|block| entry.is_part_of(block));
        if !in_block || entry.has_attachments() || events::observed() {
            return false;
        }
        let offset = entry.translate(host).0 - self.base;
        self.landing.want(host, offset, size);
        true
    }

    /// Does what giving an item up comes to that the construct alone has, and whose entry has not
    /// been made.
    #[inline]
    pub(in crate::environment) fn copy_deferred_out(&mut self, item: &Item, device: DevicePtr) {
        if item.kind.has(MapKind::FROM) && !constants::has(item.begin, item.size) {
            self.landing.want(item.begin, device.0 - self.base, item.size);
        }
    }

    /// The host ranges that are fetched with the block.
    pub(in crate::environment) fn ranges_out(&self) -> impl Iterator<Item = (usize, usize)> {
        self.landing.ranges()
    }

    /// Whether anything is to be fetched.
    #[inline]
    pub(super) fn has_parts_out(&self) -> bool {
        !self.landing.is_empty()
    }

    /// Where what is to be fetched goes to, where it is, and how much it is: the caller fetches
    /// it.
    pub(super) fn begin_fetch(&mut self, construct: &Construct) -> (*mut u8, DevicePtr, usize) {
        let (to, Range { start, end }) = self.landing.make_room(construct.opened());
        (to, DevicePtr(self.base + start), end - start)
    }

    /// The operations have failed: nothing has been fetched.
    #[cold]
    pub(in crate::environment) fn forget_fetched(&mut self) {
        self.landing.forget();
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
