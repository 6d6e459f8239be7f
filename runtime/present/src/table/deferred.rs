//! Entries that are not made before somebody asks for them.
//!
//! The small data that a region maps is mostly its own: it comes with the region, nobody else
//! looks at it, and it goes with the region. Twenty entries that are made, placed in the index,
//! published, given up and taken out again are most of what such a region costs. So the region
//! only writes down what entries there are, and makes none.
//!
//! To everybody else the entries are there. What is written down is searched with the index, in
//! the same step of the table's version. Whoever finds something of it, or wants to see all
//! entries, makes them, under the writers' lock: from then on they are like any others. The
//! region finds that out at its next step, and goes on with them as if it had made them itself.
//!
//! Its steps are compare-and-swaps of one word, [`Deferred::stage`]. Who makes the entries swaps
//! it as well, so that they are made as of the step that the region has taken last.

use super::batch::{Batch, Together};
use super::{PresentTable, Writer};
use crate::block::{Block, BlockRef};
use crate::entry::{Entry, EntryRef, NewEntry, PartOfBlock};
use crate::label::Label;
use crate::ready::{Point, Ready, ReadyRef};
use crate::state::Counter;
use crate::stream::StreamRef;
use gangway_backend::DevicePtr;
use gangway_sync::{AtomicPtr, AtomicUsize, Mutex, Ordering, lock};
use std::ptr::NonNull;

/// Entries that one region defers, at most.
pub(crate) const MOST: usize = if cfg!(loom) { 2 } else { 64 };
/// Regions that defer entries of one table at the same time, at most.
const REGIONS: usize = if cfg!(loom) { 2 } else { 16 };

/// Nothing is deferred.
const CLOSED: usize = 0;
/// The region has not issued its copies.
const FILLING: usize = 1;
/// It has.
const LIVE: usize = 2;
/// It has given its references up, and uses the storage until its operations are done.
const RELEASED: usize = 3;
/// Somebody has made the entries, as of the stage that is in the other bits.
const MADE: usize = 4;

/// What one region defers.
#[derive(Debug)]
pub(crate) struct Deferred {
    stage: AtomicUsize,
    len: AtomicUsize,
    /// First addresses, in order.
    begins: [AtomicUsize; MOST],
    ends: [AtomicUsize; MOST],
    /// Addresses of the variables.
    bases: [AtomicUsize; MOST],
    block: AtomicPtr<Block>,
    /// What else is known. Locked behind the writers' lock, or by itself.
    rest: Mutex<Rest>,
}

#[derive(Debug)]
struct Rest {
    parts: Vec<Part>,
    /// The stream that the region's operations go to.
    stream: Option<StreamRef>,
    /// The region's thread.
    thread: usize,
    /// The table's version since which the entries are there.
    since: usize,
    /// The point of the entries, if their copies had been issued when they were made; a use of
    /// it is the region's.
    ready: Option<NonNull<Ready>>,
}

#[derive(Debug)]
struct Part {
    label: Label,
    storage: DevicePtr,
    /// When it has been made: the entry and its generation.
    entry: Option<(NonNull<Entry>, u32)>,
}

// SAFETY: the pointers lead to what the table has that has this object.
unsafe impl Send for Rest {}

/// The regions that defer entries, or have.
#[derive(Debug)]
pub(crate) struct Deferrers {
    len: AtomicUsize,
    all: [AtomicPtr<Deferred>; REGIONS],
}

/// What a region defers, to the region. Copying it does not count.
#[derive(Debug, Clone, Copy)]
pub struct DeferredRef<'t>(&'t Deferred);

/// How far a region was when somebody made its entries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MadeWhen<'t> {
    /// It has to publish them.
    Filling,
    /// They are published, from that point on.
    Live(ReadyRef<'t>),
    /// And its references have been given up.
    Released(ReadyRef<'t>),
}

impl Default for Deferred {
    fn default() -> Self {
        Self {
            stage: AtomicUsize::new(CLOSED),
            len: AtomicUsize::new(0),
            begins: std::array::from_fn(|_| AtomicUsize::new(0)),
            ends: std::array::from_fn(|_| AtomicUsize::new(0)),
            bases: std::array::from_fn(|_| AtomicUsize::new(0)),
            block: AtomicPtr::new(std::ptr::null_mut()),
            rest: Mutex::new(Rest { parts: Vec::new(), stream: None, thread: 0, since: 0, ready: None }),
        }
    }
}

impl Default for Deferrers {
    fn default() -> Self {
        Self { len: AtomicUsize::new(0), all: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())) }
    }
}

impl Deferrers {
    /// All that there are. Most tables have none.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = &Deferred> {
        let len = self.len.load(Ordering::Acquire);
        // SAFETY: they are only freed with the table.
        self.all[..len].iter().filter_map(|deferred| unsafe { deferred.load(Ordering::Acquire).as_ref() })
    }
}

impl Deferred {
    #[inline]
    fn is_open(&self) -> bool {
        matches!(self.stage.load(Ordering::Acquire), FILLING | LIVE | RELEASED)
    }

    /// Place of the first range that begins behind an address, and how many ranges there are.
    #[inline]
    fn after(&self, host: usize) -> (usize, usize) {
        let len = self.len.load(Ordering::Relaxed).min(MOST);
        (self.begins[..len].partition_point(|begin| begin.load(Ordering::Relaxed) <= host), len)
    }

    /// Whether a range has to do with one of these, as [`Relation`](crate::Relation) has it. To be
    /// validated like a search of the index.
    fn touches(&self, host: usize, size: usize) -> bool {
        let (after, len) = self.after(host);
        if after > 0 && host < self.ends[after - 1].load(Ordering::Relaxed) {
            return true;
        }
        after < len
            && if size == 0 {
                host >= self.bases[after].load(Ordering::Relaxed)
            } else {
                host.saturating_add(size) > self.begins[after].load(Ordering::Relaxed)
            }
    }

    /// What is left of a gap; `None` if its address is not in one.
    fn narrow(&self, host: usize, gap: (usize, usize)) -> Option<(usize, usize)> {
        let (after, len) = self.after(host);
        let end_before = if after > 0 { self.ends[after - 1].load(Ordering::Relaxed) } else { 0 };
        let begin_behind = if after < len { self.begins[after].load(Ordering::Relaxed) } else { usize::MAX };
        (end_before <= host).then(|| (gap.0.max(end_before), gap.1.min(begin_behind)))
    }

    /// The region takes a step. False: the entries have been made.
    #[inline]
    fn step(&self, from: usize, to: usize) -> bool {
        self.stage.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl<'t> DeferredRef<'t> {
    /// The region has issued its copies. False: the entries have been made.
    #[must_use]
    pub fn publish(self) -> bool {
        self.0.step(FILLING, LIVE) || self.0.stage.load(Ordering::Acquire) == LIVE
    }

    /// The region gives up its references, which are the only ones. False: the entries have been
    /// made.
    #[must_use]
    pub fn release(self) -> bool {
        self.0.step(LIVE, RELEASED)
    }

    /// The region's operations are done, and with it all of this ends. False: the entries have
    /// been made.
    #[must_use]
    pub fn close(self) -> bool {
        self.0.step(RELEASED, CLOSED)
    }

    /// Hands the entries that have been made to the region, in whose batch they have been. They
    /// are its own from then on as if it had made them, and this can be used again.
    pub fn take_made<U>(self, batch: &mut Batch<'t, U>) -> MadeWhen<'t> {
        let mut rest = lock(&self.0.rest);
        let entries = rest.parts.iter().map(|part| {
            let (entry, generation) = part.entry.expect("the entries have been made");
            // SAFETY: entries live as long as their table, which `'t` borrows.
            EntryRef::of_life(unsafe { entry.as_ref() }, generation)
        });
        batch.set_entries(entries);
        // SAFETY: points live as long as their table, as well.
        let ready = rest.ready.take().map(|ready| ReadyRef::new(unsafe { ready.as_ref() }));
        let when = match (self.0.stage.load(Ordering::Acquire) & !MADE, ready) {
            (LIVE, Some(ready)) => MadeWhen::Live(ready),
            (RELEASED, Some(ready)) => MadeWhen::Released(ready),
            _ => MadeWhen::Filling,
        };
        self.0.stage.store(CLOSED, Ordering::Release);
        when
    }
}

impl PresentTable {
    /// An object for a region that may defer entries, until it is
    /// [given back](Self::give_back_deferred). `None`: too many do.
    pub fn take_deferred(&self) -> Option<DeferredRef<'_>> {
        let mut writer = lock(&self.writer);
        let place = match writer.free_deferred.pop() {
            Some(place) => place,
            None => {
                let len = self.deferrers.len.load(Ordering::Relaxed);
                let slot = self.deferrers.all.get(len)?;
                let deferred = Box::<Deferred>::default();
                let place = NonNull::from(&*deferred);
                writer.all_deferred.push(deferred);
                slot.store(place.as_ptr(), Ordering::Release);
                self.deferrers.len.store(len + 1, Ordering::Release);
                place
            }
        };
        // SAFETY: it is only freed with the table.
        Some(DeferredRef(unsafe { place.as_ref() }))
    }

    /// Takes an object back with which nothing is deferred.
    pub fn give_back_deferred(&self, deferred: DeferredRef<'_>) {
        lock(&self.writer).free_deferred.push(NonNull::from(deferred.0));
    }

    /// As [`insert_together`](Self::insert_together), but the entries are only made if somebody
    /// asks for them. They are those of a target region of the calling thread's, which it alone
    /// has; its copies go to a stream.
    pub fn defer_together<U>(
        &self,
        batch: &mut Batch<'_, U>,
        block: BlockRef<'_>,
        absent: usize,
        deferred: DeferredRef<'_>,
        stream: StreamRef,
    ) -> Together {
        if batch.len() > MOST || !batch.sort() {
            return Together::Not;
        }
        let mut writer = lock(&self.writer);
        let made = self.are_absent(&mut writer, batch, absent);
        if made == Together::Not {
            return made;
        }
        let mut rest = lock(&deferred.0.rest);
        rest.parts.clear();
        (rest.stream, rest.thread, rest.ready) = (Some(stream), gangway_sync::this_thread(), None);
        rest.since = self.version.load(Ordering::Relaxed).wrapping_add(2);
        let Deferred { stage, len, begins, ends, bases, block: in_block, .. } = deferred.0;
        self.edit(|_| {
            len.store(batch.len(), Ordering::Relaxed);
            in_block.store(std::ptr::from_ref(block.of()).cast_mut(), Ordering::Relaxed);
            let places = begins.iter().zip(ends).zip(bases);
            for ((new, storage), ((begin, end), base)) in batch.sorted().zip(places) {
                begin.store(new.host_begin, Ordering::Relaxed);
                end.store(new.host_begin + new.size, Ordering::Relaxed);
                base.store(new.host_base, Ordering::Relaxed);
                rest.parts.push(Part { label: new.label, storage, entry: None });
            }
            stage.store(FILLING, Ordering::Release);
        });
        made
    }

    /// Makes the entries that a region has deferred, if nobody has: the region wants them.
    pub fn make_deferred(&self, deferred: DeferredRef<'_>) {
        self.make(&mut lock(&self.writer), deferred.0);
    }

    /// Those that a range has to do with. To be validated like a search of the index.
    #[inline(always)]
    pub(crate) fn deferred_at(&self, host: usize, size: usize) -> Option<&Deferred> {
        self.deferrers.iter().find(|deferred| deferred.is_open() && deferred.touches(host, size))
    }

    /// What deferred entries leave of a gap of the index. To be validated, as well.
    #[inline]
    pub(crate) fn gap_between_deferred(&self, host: usize, gap: (usize, usize)) -> Option<(usize, usize)> {
        let mut open = self.deferrers.iter().filter(|deferred| deferred.is_open());
        open.try_fold(gap, |gap, deferred| deferred.narrow(host, gap))
    }

    /// Makes all entries that there are, for who wants to see them all.
    pub(crate) fn make_all(&self, writer: &mut Writer) {
        self.deferrers.iter().for_each(|deferred| self.make(writer, deferred));
    }

    /// Makes the entries that a region has deferred, unless somebody has, or the region is done.
    #[cold]
    pub(crate) fn make(&self, writer: &mut Writer, deferred: &Deferred) {
        if !deferred.is_open() {
            return;
        }
        let mut rest = lock(&deferred.rest);
        let Rest { parts, stream, thread, since, ready } = &mut *rest;
        // SAFETY: blocks live as long as their table.
        let block = unsafe { deferred.block.load(Ordering::Relaxed).as_ref() };
        let block = BlockRef::new(block.expect("it has been deferred with one"));
        let entries: Vec<_> = writer.take_entries(parts.len()).collect();
        for (place, (part, entry)) in parts.iter_mut().zip(&entries).enumerate() {
            let (begin, end) = (&deferred.begins[place], &deferred.ends[place]);
            let host_begin = begin.load(Ordering::Relaxed);
            let new = NewEntry {
                host_begin,
                size: end.load(Ordering::Relaxed) - host_begin,
                host_base: deferred.bases[place].load(Ordering::Relaxed),
                label: part.label,
                counter: Counter::Dynamic,
                associated: None,
            };
            let storage = PartOfBlock { block, storage: part.storage, padding: 0 };
            // SAFETY: entries of the writer's chunks live as long as the table.
            unsafe { entry.as_ref() }.begin_life(&new, *since, Some(storage));
            let entry_ref = EntryRef::new(*entry);
            entry_ref.set_region_of(*thread);
            part.entry = Some((*entry, entry_ref.key().1));
        }
        let lives = || entries.iter().map(|entry| EntryRef::new(*entry));
        // A reader that finds them in neither place finds out that the version has changed.
        self.edit(|table| {
            // The entries follow the region's steps until they are as far as it is.
            let mut made = FILLING;
            let is_over = loop {
                let now = deferred.stage.load(Ordering::Acquire);
                if made < LIVE && now >= LIVE {
                    let stream = stream.expect("it has been deferred with one");
                    let point = table.begin_ready(Point::EndOf(stream), entries.len());
                    *ready = Some(NonNull::from(point.of()));
                    lives().for_each(|entry| {
                        entry.set_ready(point);
                        entry.publish();
                    });
                    made = LIVE;
                }
                if made < RELEASED && now == RELEASED {
                    lives().for_each(|entry| _ = entry.release(Counter::Dynamic, false, true));
                    made = RELEASED;
                }
                if now == CLOSED || deferred.step(made, MADE | made) {
                    break now == CLOSED;
                }
            };
            if is_over {
                // Nobody has seen the entries.
                for entry in &entries {
                    // SAFETY: as above.
                    unsafe { entry.as_ref() }.end_life();
                    writer.free_entries.push_back(*entry);
                }
                if let Some(point) = ready.take() {
                    // SAFETY: points live as long as their table.
                    table.leave(ReadyRef::new(unsafe { point.as_ref() }), entries.len() + 1);
                }
                return;
            }
            for (place, entry) in entries.iter().enumerate() {
                let (begin, end) = (&deferred.begins[place], &deferred.ends[place]);
                table.place(writer, begin.load(Ordering::Relaxed), end.load(Ordering::Relaxed), *entry);
            }
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
