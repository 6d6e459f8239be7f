//! One mapped range, and the handle by which a thread refers to it.
//!
//! All fields are atomics: an entry is recycled for another range while late
//! readers may still look at it. They find out by the generation in the state
//! word, which a handle carries and every operation checks.

use crate::block::{Block, BlockRef};
use crate::label::Label;
use crate::left::LeftToFiller;
use crate::ready::{Ready, ReadyRef};
use crate::state::{Counter, Finish, Phase, Release, Snapshot, Word};
use gangway_backend::DevicePtr;
use gangway_sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Mutex, Ordering, back_off};
use std::ffi::c_char;
use std::ptr::NonNull;

mod attachment;
mod owed;
mod pointee;

pub use attachment::{Attached, Attachment, Detached};
use owed::OwedCopies;
pub use owed::OwedCopy;
pub use pointee::Pointee;
use pointee::Pointers;

/// One mapped range. Aligned so that the counts of neighbours, which different
/// threads change at every launch, do not share a cache line.
///
/// In this order, as a program may have more entries than the caches hold: what a launch
/// looks at is in the first 64 bytes, what else makes and removes an entry in the next.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Entry {
    state: AtomicU64,
    host_begin: AtomicUsize,
    host_end: AtomicUsize,
    device_begin: AtomicUsize,
    /// From when on the contents are valid; null if they are. A point of the same table.
    ready: AtomicPtr<Ready>,
    host_base: AtomicUsize,
    allocation: AtomicUsize,
    /// `allocation` is the entry's own: a device may well allocate at address 0.
    owns_allocation: AtomicBool,
    pub(crate) has_attachments: AtomicBool,
    label: AtomicPtr<c_char>,
    /// The block that its storage is part of; null if it has its own. Of the same table.
    block: AtomicPtr<Block>,
    /// Attached pointers of other entries that point here.
    pub(crate) pointers: Pointers,
    /// The table's version since which the entry is there.
    since: AtomicUsize,
    /// The thread whose target region made the entry and alone has it so far; 0 if a data
    /// construct made or used it. What is left of such a region in a forked child goes.
    region_of: AtomicUsize,
    /// Attachments that the construct which fills the entry has to write.
    pub(crate) left_to_filler: LeftToFiller,
    pub(crate) attachments: Mutex<Vec<Attachment>>,
    /// What the last construct that uses it copies back.
    pub(crate) owed_copies: OwedCopies,
}

#[cfg(not(loom))]
const _: () = assert!(
    std::mem::offset_of!(Entry, label) == 64 && std::mem::offset_of!(Entry, left_to_filler) + 8 <= 128
);

/// What a new entry is made with.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry {
    /// First host byte.
    pub host_begin: usize,
    /// Bytes; not zero.
    pub size: usize,
    /// Address of the variable the section belongs to.
    pub host_base: usize,
    /// The compiler's name for it.
    pub label: Label,
    /// Which count gets the first reference.
    pub counter: Counter,
    /// `Some` if the device storage exists already and is not the table's to
    /// free: globals and `omp_target_associate_ptr`.
    pub associated: Option<DevicePtr>,
}

/// Storage of a new entry that is part of a block, of which the entry gets a use of the
/// caller's.
#[derive(Debug, Clone, Copy)]
pub struct PartOfBlock<'t> {
    /// The block.
    pub block: BlockRef<'t>,
    /// First byte.
    pub storage: DevicePtr,
    /// Bytes before the range.
    pub padding: usize,
}

/// A reference to an entry in one of its lives. Copying it does not count.
#[derive(Clone, Copy)]
pub struct EntryRef<'t> {
    entry: &'t Entry,
    generation: u32,
}

impl std::fmt::Debug for EntryRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryRef").field("generation", &self.generation).field("entry", &self.entry).finish()
    }
}

impl PartialEq for EntryRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.entry, other.entry) && self.generation == other.generation
    }
}

impl Entry {
    pub(crate) fn free() -> Self {
        Self {
            state: AtomicU64::new(0),
            host_begin: AtomicUsize::new(0),
            host_end: AtomicUsize::new(0),
            host_base: AtomicUsize::new(0),
            device_begin: AtomicUsize::new(0),
            allocation: AtomicUsize::new(0),
            owns_allocation: AtomicBool::new(false),
            label: AtomicPtr::new(std::ptr::null_mut()),
            has_attachments: AtomicBool::new(false),
            ready: AtomicPtr::new(std::ptr::null_mut()),
            block: AtomicPtr::new(std::ptr::null_mut()),
            attachments: Mutex::new(Vec::new()),
            owed_copies: OwedCopies::none(),
            left_to_filler: LeftToFiller::none(),
            pointers: Pointers::none(),
            since: AtomicUsize::new(0),
            region_of: AtomicUsize::new(0),
        }
    }

    /// Starts a new life of a free entry, which is there from that version of the table on.
    /// Only the holder of the table's writer lock calls this.
    pub(crate) fn begin_life(&self, new: &NewEntry, since: usize, part: Option<PartOfBlock<'_>>) {
        self.host_begin.store(new.host_begin, Ordering::Relaxed);
        self.host_end.store(new.host_begin + new.size, Ordering::Relaxed);
        self.host_base.store(new.host_base, Ordering::Relaxed);
        self.label.store(new.label.as_ptr().cast_mut(), Ordering::Relaxed);
        self.owns_allocation.store(false, Ordering::Relaxed);
        self.ready.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.block.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.left_to_filler.begin();
        self.region_of.store(0, Ordering::Relaxed);
        self.since.store(since, Ordering::Relaxed);
        let phase = match (new.associated, part) {
            (Some(device), _) => {
                self.device_begin.store(device.0, Ordering::Relaxed);
                Phase::Live
            }
            (None, Some(PartOfBlock { block, storage, padding })) => {
                self.block.store(std::ptr::from_ref(block.of()).cast_mut(), Ordering::Relaxed);
                self.allocation.store(storage.0, Ordering::Relaxed);
                self.owns_allocation.store(true, Ordering::Relaxed);
                self.device_begin.store(storage.0 + padding, Ordering::Relaxed);
                Phase::Filling
            }
            (None, None) => Phase::Allocating,
        };
        let state = self.snapshot().first(new.counter, new.associated.is_some(), phase);
        self.pointers.begin(state.generation);
        self.state.store(state.encode(), Ordering::Release);
    }

    /// Ends the entry's life, whatever references there are: their holders find
    /// out. An exchange, not a store, so that it is ordered after every count that
    /// others have changed meanwhile.
    pub(crate) fn end_life(&self) {
        self.state.swap(self.snapshot().freed().encode(), Ordering::AcqRel);
    }

    /// Whether no life is under way. An entry of the index may have ended only while somebody has
    /// the writers' lock.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.snapshot().phase == Phase::Free
    }

    #[inline]
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::decode(self.state.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn host_begin(&self) -> usize {
        self.host_begin.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn host_base(&self) -> usize {
        self.host_base.load(Ordering::Relaxed)
    }
}

impl<'t> EntryRef<'t> {
    /// A handle for the entry's present life. The caller makes sure that the
    /// entry is in the index while it takes the generation.
    #[inline]
    pub(crate) fn new(entry: NonNull<Entry>) -> Self {
        // SAFETY: entries live as long as their table, which `'t` borrows.
        let entry = unsafe { entry.as_ref() };
        Self { entry, generation: entry.snapshot().generation }
    }

    /// A handle for one of the entry's lives.
    pub(crate) fn of_life(entry: &'t Entry, generation: u32) -> Self {
        Self { entry, generation }
    }

    pub(crate) fn entry(self) -> &'t Entry {
        self.entry
    }

    /// Orders handles; equal for two of the same life.
    #[must_use]
    pub fn key(self) -> (usize, u32) {
        (std::ptr::from_ref(self.entry).addr(), self.generation)
    }

    /// The state, if this is still the same life.
    #[inline]
    #[must_use]
    pub fn snapshot(self) -> Option<Snapshot> {
        let snapshot = self.entry.snapshot();
        (snapshot.generation == self.generation && snapshot.phase != Phase::Free).then_some(snapshot)
    }

    /// Replaces the state by what `change` makes of it; `None` if the life is
    /// over or `change` declines. One compare-and-swap unless others interfere.
    #[inline]
    pub(crate) fn update<R>(
        self,
        change: impl Fn(Snapshot) -> Option<(Snapshot, R)>,
    ) -> Option<(Snapshot, R)> {
        let mut word = self.entry.state.load(Ordering::Acquire);
        loop {
            let snapshot = Snapshot::decode(word);
            if snapshot.generation != self.generation || snapshot.phase == Phase::Free {
                return None;
            }
            let (next, result) = change(snapshot)?;
            match self.entry.state.compare_exchange_weak(
                word,
                next.encode(),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some((next, result)),
                Err(seen) => word = seen,
            }
        }
    }

    /// Replaces the state by what `step` makes of it; false if the entry is not live in this
    /// life, or `step` declines.
    #[inline(always)]
    fn step(self, step: impl Fn(Word) -> Option<Word>) -> bool {
        let mut word = self.entry.state.load(Ordering::Acquire);
        while Word(word).is_live(self.generation)
            && let Some(Word(next)) = step(Word(word))
        {
            match self.entry.state.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Whether its contents are there, or have been issued.
    #[inline]
    pub fn is_live(self) -> bool {
        Word(self.entry.state.load(Ordering::Acquire)).is_live(self.generation)
    }

    /// Whether it is live and outlives all constructs: references are not counted.
    #[inline]
    pub fn is_lasting(self) -> bool {
        Word(self.entry.state.load(Ordering::Acquire)).is_lasting(self.generation)
    }

    /// Counts one more dynamic reference of a live entry. False: [`acquire`](Self::acquire)
    /// says why, or does it.
    #[inline(always)]
    pub fn acquire_live(self) -> bool {
        self.step(Word::acquired)
    }

    /// Gives up a dynamic reference that is not the last one; the rest is as with
    /// [`release`](Self::release), which is to be called if this is false.
    #[inline(always)]
    pub fn release_shared(self, in_use: bool) -> bool {
        self.step(|word| word.released(in_use))
    }

    /// Gives up a dynamic reference that is the last one, of an entry that nobody else uses; the
    /// rest is as with [`release`](Self::release), which is to be called if this is false.
    #[inline(always)]
    pub fn release_own(self) -> bool {
        self.step(Word::released_last)
    }

    /// Ends the entry's life if its only use is the caller's, and there are no references: then
    /// it is the caller's to take out of the table, whose lock it has. The rest is as with
    /// [`finish_unmapping`](Self::finish_unmapping), which is to be called if this is false.
    #[inline(always)]
    pub(crate) fn finish_own(self) -> bool {
        let word = self.entry.state.load(Ordering::Acquire);
        Word(word).ended(self.generation).is_some_and(|Word(next)| {
            let changed = self.entry.state.compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire);
            changed.is_ok()
        })
    }

    /// Counts one more reference. `None`: the entry is gone, look it up again;
    /// `Some(None)`: the count is full.
    #[inline]
    pub fn acquire(self, counter: Counter) -> Option<Option<Snapshot>> {
        let acquired = self.update(|snapshot| match snapshot.acquired(counter) {
            Some(next) => Some((next, true)),
            None => Some((snapshot, false)),
        })?;
        Some(acquired.1.then_some(acquired.0))
    }

    /// Begins a use without a reference, which the entry outlives: it changes nothing about who
    /// gives up the last one. `None`: the entry is gone; `Some(true)`: the use has been counted,
    /// and ends as with [`Release::InUse`].
    #[inline]
    #[must_use]
    pub fn begin_use(self) -> Option<bool> {
        let used = self.update(|snapshot| match snapshot.used() {
            Some(next) => Some((next, true)),
            None => Some((snapshot, false)),
        });
        used.map(|(_, counted)| counted)
    }

    /// Gives up a reference. `None`: the entry is gone already (another thread
    /// deleted it), so there is nothing to copy back and nothing to remove.
    /// `in_use` says that device operations of the caller's may be under way, which
    /// the entry has to outlive.
    #[inline]
    pub fn release(self, counter: Counter, delete: bool, in_use: bool) -> Option<(Snapshot, Release)> {
        self.update(|snapshot| Some(snapshot.released(counter, delete, in_use)))
    }

    /// Ends a use of the entry, if that cannot be its end.
    #[inline]
    pub(crate) fn leave(self) -> bool {
        self.step(Word::left)
    }

    /// Ends a construct's use after [`Release::Last`] or [`Release::InUse`].
    #[inline]
    pub(crate) fn finish_unmapping(self) -> Finish {
        let finished = self.update(|snapshot| Some(snapshot.finished_unmapping()));
        finished.map_or(Finish::Left, |(_, finish)| finish)
    }

    /// Ends the entry's life if its only use is the caller's.
    pub(crate) fn withdraw(self) -> bool {
        self.update(|snapshot| snapshot.is_last_use().then(|| (snapshot.freed(), ()))).is_some()
    }

    /// Address on the device of host address `host`, which lies in the range or
    /// (for base addresses) before it.
    #[inline]
    #[must_use]
    pub fn translate(self, host: usize) -> DevicePtr {
        let delta = host.wrapping_sub(self.entry.host_begin()) as isize;
        DevicePtr(self.entry.device_begin.load(Ordering::Acquire)).offset(delta)
    }

    /// Says whose target region has made the entry; 0 that it is not one's alone.
    #[inline]
    pub fn set_region_of(self, thread: usize) {
        self.entry.region_of.store(thread, Ordering::Relaxed);
    }

    /// In a forked child: takes away what other threads had to do with the entry. True:
    /// nothing is left of it, and it has to leave the table.
    #[cfg(not(loom))]
    pub(crate) fn forget_other_threads(self, this: usize) -> bool {
        let Some(snapshot) = self.snapshot() else { return true };
        self.forget_attaching_threads();
        let maker = self.entry.region_of.load(Ordering::Relaxed);
        if snapshot.is_infinite() || maker == this {
            return false;
        }
        if maker != 0 || snapshot.phase != Phase::Live || snapshot.total() == 0 {
            return true;
        }
        self.update(|snapshot| Some((Snapshot { unmapping: 0, owing: false, ..snapshot }, ())));
        false
    }

    /// Waits until the device address is known. False: the allocation failed and
    /// the entry is gone.
    #[must_use]
    pub fn wait_allocated(self) -> bool {
        self.wait_beyond(Phase::Allocating)
    }

    /// Waits until the construct that created the entry has issued its copies.
    #[inline]
    #[must_use]
    pub fn wait_filled(self) -> bool {
        self.wait_beyond(Phase::Filling)
    }

    #[inline]
    fn wait_beyond(self, phase: Phase) -> bool {
        self.is_beyond(phase).unwrap_or_else(|| self.wait_long_beyond(phase))
    }

    #[cold]
    fn wait_long_beyond(self, phase: Phase) -> bool {
        for attempt in 0.. {
            if let Some(beyond) = self.is_beyond(phase) {
                return beyond;
            }
            back_off(attempt);
        }
        unreachable!("the loop ends by returning")
    }

    /// Whether the entry has come further, or is still the same life; `None` if it may yet.
    #[inline]
    fn is_beyond(self, phase: Phase) -> Option<bool> {
        let Some(snapshot) = self.snapshot() else { return Some(false) };
        (snapshot.phase as u32 > phase as u32).then_some(true)
    }

    /// Makes the device storage known. `padding` bytes of the allocation precede
    /// the range.
    pub fn set_allocation(self, allocation: DevicePtr, padding: usize) {
        self.entry.allocation.store(allocation.0, Ordering::Relaxed);
        self.entry.owns_allocation.store(true, Ordering::Relaxed);
        self.entry.device_begin.store(allocation.0 + padding, Ordering::Release);
        self.set_phase(Phase::Filling);
    }

    /// The contents are valid, or will be at the recorded event.
    #[inline]
    pub fn publish(self) {
        let mut word = self.entry.state.load(Ordering::Acquire);
        while let Some(Word(next)) = Word(word).published(self.generation) {
            match self.entry.state.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(seen) => word = seen,
            }
        }
    }

    fn set_phase(self, phase: Phase) {
        self.update(|snapshot| Some((Snapshot { phase, ..snapshot }, ())));
    }

    /// The device allocation to free with the entry; none for associated storage.
    #[must_use]
    pub fn allocation(self) -> Option<DevicePtr> {
        let own = self.entry.owns_allocation.load(Ordering::Relaxed);
        own.then(|| DevicePtr(self.entry.allocation.load(Ordering::Relaxed)))
    }

    /// First host byte of the range.
    #[inline]
    #[must_use]
    pub fn host_begin(self) -> usize {
        self.entry.host_begin()
    }

    /// One past the last host byte.
    #[inline]
    #[must_use]
    pub fn host_end(self) -> usize {
        self.entry.host_end.load(Ordering::Relaxed)
    }

    /// Whether an address is in the range.
    #[inline]
    #[must_use]
    pub fn has(self, host: usize) -> bool {
        self.host_begin() <= host && host < self.host_end()
    }

    /// Begin and size of what of a section is in the range: all of it, unless it
    /// is mapped implicitly.
    #[inline]
    #[must_use]
    pub fn part_of(self, begin: usize, size: usize) -> (usize, usize) {
        let end = begin.saturating_add(size).min(self.host_end());
        let begin = begin.max(self.host_begin());
        (begin, end.saturating_sub(begin))
    }

    /// Address of the variable the range belongs to.
    #[must_use]
    pub fn host_base(self) -> usize {
        self.entry.host_base()
    }

    /// The name it was mapped under.
    #[must_use]
    pub fn label(self) -> Label {
        Label::from_ptr(self.entry.label.load(Ordering::Relaxed))
    }

    /// Whether it has been made since the table had a version.
    #[must_use]
    pub fn is_newer_than(self, version: usize) -> bool {
        self.entry.since.load(Ordering::Relaxed).wrapping_sub(version) as isize > 0
    }

    /// Whether the contents are valid, and not only issued. One load.
    #[inline]
    #[must_use]
    pub fn is_ready(self) -> bool {
        self.entry.ready.load(Ordering::Acquire).is_null()
    }

    /// The point from which on the contents are valid, with one more user: the caller
    /// gives that up by [`PresentTable::leave`](crate::PresentTable::leave). `None`: they
    /// are valid. Another construct's point, if the contents have become valid meanwhile:
    /// to wait for that does no harm.
    #[must_use]
    pub fn pin_ready(self) -> Option<ReadyRef<'t>> {
        loop {
            let place = self.entry.ready.load(Ordering::Acquire);
            // SAFETY: points live as long as their table, which `'t` borrows.
            let ready: &'t Ready = unsafe { place.as_ref() }?;
            // One without users has left the entry, which then has another or none.
            if ready.pin() {
                return Some(ReadyRef::new(ready));
            }
        }
    }

    /// Says from when on the contents are valid. The entry becomes a user, as has been
    /// counted before. The construct that fills the entry calls this before it publishes.
    pub fn set_ready(self, ready: ReadyRef<'t>) {
        self.entry.ready.store(std::ptr::from_ref(ready.of()).cast_mut(), Ordering::Release);
    }

    /// The contents are valid now. True: the entry was a user of the point and is none
    /// any more, for which the caller answers.
    pub fn retire(self, ready: ReadyRef<'t>) -> bool {
        let mine = std::ptr::from_ref(ready.of()).cast_mut();
        // Mostly not, if the entry was the construct's alone: a load instead of an exchange.
        if !self.has_point(ready) {
            return false;
        }
        let retired = self.entry.ready.compare_exchange(
            mine,
            std::ptr::null_mut(),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        retired.is_ok()
    }

    /// The block that the storage is part of, with one more user: the caller gives that up by
    /// [`PresentTable::leave_block`](crate::PresentTable::leave_block). Another block, if the
    /// entry has left the table meanwhile. `None`: it is part of none that has so many bytes at most.
    #[must_use]
    pub fn pin_block(self, most: usize) -> Option<BlockRef<'t>> {
        let place = self.entry.block.load(Ordering::Acquire);
        // SAFETY: blocks live as long as their table, which `'t` borrows.
        let block: &'t Block = unsafe { place.as_ref() }?;
        (block.size.load(Ordering::Relaxed) <= most && block.pin()).then(|| BlockRef::new(block))
    }

    /// The block that the storage is part of. It may be recycled when nobody uses the entry.
    #[inline]
    pub(crate) fn block(self) -> Option<&'t Block> {
        // SAFETY: blocks live as long as their table, which `'t` borrows.
        unsafe { self.entry.block.load(Ordering::Relaxed).as_ref() }
    }

    /// Takes the block from an entry that leaves the table.
    #[inline]
    pub(crate) fn take_block(self) -> Option<BlockRef<'t>> {
        // Only who makes the entry writes this, too, before anybody can remove it.
        let place = self.entry.block.load(Ordering::Relaxed);
        self.entry.block.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: blocks live as long as their table, which `'t` borrows.
        unsafe { place.as_ref() }.map(BlockRef::new)
    }

    /// Whether its contents are valid from that point on.
    #[inline]
    #[must_use]
    pub fn has_point(self, ready: ReadyRef<'t>) -> bool {
        std::ptr::eq(self.entry.ready.load(Ordering::Acquire), ready.of())
    }

    /// As [`take_ready`](Self::take_ready), where the point is one that the caller alone retires.
    #[inline]
    pub(crate) fn forget_point(self) {
        self.entry.ready.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Whether its storage is part of the block. Somebody uses the entry.
    #[inline]
    pub fn is_part_of(self, block: BlockRef<'t>) -> bool {
        std::ptr::eq(self.entry.block.load(Ordering::Relaxed), block.of())
    }

    /// Takes the point from an entry that leaves the table.
    #[inline]
    pub(crate) fn take_ready(self) -> Option<ReadyRef<'t>> {
        // It has none any more, if it has ever had one: without an exchange.
        if self.is_ready() {
            return None;
        }
        let place = self.entry.ready.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: points live as long as their table, which `'t` borrows.
        unsafe { place.as_ref() }.map(ReadyRef::new)
    }
}
