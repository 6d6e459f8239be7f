//! What is known about each allocation, and finding it by address without a lock.
//!
//! The range is divided into extents of 1 GiB. An extent holds slots of one length, with a record
//! for each, or is part of an allocation that is larger than any slot. So an address leads to its
//! record by two divisions. A record has one writer at a time: the owner of the slot, between
//! taking it and handing it back. Readers check by a sequence number that they have not read while
//! it was written.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use crate::range::range;

/// The length of an extent.
pub(crate) const EXTENT: u64 = 1 << 30;

/// How many there are.
pub(crate) fn extents() -> usize {
    ((range().windows - range().base) / EXTENT) as usize
}

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AllocationKind {
    /// `cuMemAlloc` and its kin.
    Device,
    /// A constant variable of a module: kernels must not write it.
    Constant,
    /// Another variable of a module.
    Module,
    /// Page-locked host memory, `cuMemHostAlloc`; not counted as a device's memory.
    Pinned,
    /// `cuMemAllocManaged`
    Managed,
    /// Shared and local memory, which the engine divides by itself; not counted.
    Arena,
    /// What the device's `malloc` hands out from.
    Heap,
}

impl AllocationKind {
    const ALL: [Self; 7] =
        [Self::Device, Self::Constant, Self::Module, Self::Pinned, Self::Managed, Self::Arena, Self::Heap];

    /// Whether it counts towards the device's memory.
    #[must_use]
    pub const fn is_counted(self) -> bool {
        !matches!(self, Self::Pinned | Self::Arena)
    }

    /// Whether the program itself allocates and should free it.
    #[must_use]
    pub const fn is_the_programs(self) -> bool {
        matches!(self, Self::Device | Self::Pinned | Self::Managed)
    }
}

impl fmt::Display for AllocationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device memory",
            Self::Constant => "constant memory",
            Self::Module => "a variable",
            Self::Pinned => "pinned host memory",
            Self::Managed => "managed memory",
            Self::Arena => "shared or local memory",
            Self::Heap => "the device's heap",
        })
    }
}

/// One allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub address: u64,
    /// In bytes, as asked for.
    pub size: u64,
    pub kind: AllocationKind,
    pub device: u32,
    /// A variable's name, or the function that allocated.
    pub name: Option<&'static str>,
    /// Different for each allocation of the process.
    pub id: u64,
}

impl Allocation {
    /// Whether all of an access lies in it.
    #[must_use]
    pub const fn covers(&self, address: u64, size: u64) -> bool {
        match address.checked_sub(self.address) {
            Some(offset) => offset <= self.size && size <= self.size - offset,
            None => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Never used.
    Empty,
    Live,
    Freed,
}

/// Three words that describe an allocation. All zero is a slot that was never used.
#[derive(Debug)]
pub(crate) struct Record {
    sequence: AtomicU32,
    /// An index into the names, counted from 1.
    name: AtomicU32,
    start: AtomicU64,
    size: AtomicU64,
    id: AtomicU64,
    /// State, kind, device and holders, in one word: one exchange frees, or finds that it was
    /// freed.
    status: AtomicU64,
}

const LIVE: u64 = 1;
const FREED: u64 = 2;
/// The byte of the status that is the state.
const STATE: u64 = 0xff;
/// One holder. Above it, the status has nothing but their number.
const HOLDER: u64 = 1 << 32;

/// What [`Record::retire`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retired {
    /// Nothing: it has been freed before.
    No,
    /// It is freed, and the caller takes its memory away.
    Yes,
    /// It is freed, and the last holder takes its memory away.
    Held,
}

fn status(state: u64, kind: AllocationKind, device: u32) -> u64 {
    state | (kind as u64) << 8 | u64::from(device) << 16
}

impl Record {
    /// Describes a new allocation. Only the owner of the slot may call it.
    pub(crate) fn publish(&self, allocation: &Allocation, name: u32) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(allocation.address, Ordering::Relaxed);
        self.size.store(allocation.size, Ordering::Relaxed);
        self.id.store(allocation.id, Ordering::Relaxed);
        self.name.store(name, Ordering::Relaxed);
        self.status.store(status(LIVE, allocation.kind, allocation.device), Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// What it says, and the index of the name.
    pub(crate) fn read(&self) -> (State, Allocation, u32) {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            let status = self.status.load(Ordering::Relaxed);
            let allocation = Allocation {
                address: self.start.load(Ordering::Relaxed),
                size: self.size.load(Ordering::Relaxed),
                kind: AllocationKind::ALL[(status >> 8 & 0xff) as usize % AllocationKind::ALL.len()],
                device: (status >> 16 & 0xffff) as u32,
                name: None,
                id: self.id.load(Ordering::Relaxed),
            };
            let name = self.name.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && before == self.sequence.load(Ordering::Relaxed) {
                let state = match status & STATE {
                    LIVE => State::Live,
                    FREED => State::Freed,
                    _ => State::Empty,
                };
                return (state, allocation, name);
            }
            std::hint::spin_loop();
        }
    }

    /// Marks it freed.
    pub(crate) fn retire(&self, allocation: &Allocation) -> Retired {
        let live = status(LIVE, allocation.kind, allocation.device);
        let freed = |status: u64| (status % HOLDER == live).then_some(status & !STATE | FREED);
        match self.status.fetch_update(Ordering::AcqRel, Ordering::Relaxed, freed) {
            Ok(before) if before < HOLDER => Retired::Yes,
            Ok(_) => Retired::Held,
            Err(_) => Retired::No,
        }
    }

    /// Counts a holder: the memory stays until [`Record::release`], even if it is freed. `false`
    /// when nothing is allocated here.
    pub(crate) fn hold(&self) -> bool {
        let held = |status: u64| (status & STATE == LIVE).then_some(status + HOLDER);
        self.status.fetch_update(Ordering::AcqRel, Ordering::Relaxed, held).is_ok()
    }

    /// A holder is done. `true` if it was the last one of memory that has been freed: the caller
    /// takes that away.
    pub(crate) fn release(&self) -> bool {
        let before = self.status.fetch_sub(HOLDER, Ordering::AcqRel);
        before / HOLDER == 1 && before & STATE == FREED
    }
}

/// What one extent holds.
#[derive(Debug, Default)]
struct Extent {
    /// The length of its slots; 0 when it holds nothing. Of a large allocation it is
    /// the length of all its extents, and `first` says where they begin.
    slot: AtomicU64,
    first: AtomicU32,
    /// Set once and never freed: extents are seldom given another slot length, and a
    /// reader may be at it at any time.
    records: AtomicPtr<Record>,
    count: AtomicU32,
    /// No inaccessible pages between its slots.
    dense: AtomicBool,
}

/// All records.
#[derive(Debug)]
pub(crate) struct Records {
    extents: Box<[Extent]>,
}

impl Records {
    pub(crate) fn new() -> Self {
        Self { extents: (0..extents()).map(|_| Extent::default()).collect() }
    }

    /// Divides an empty extent into slots. The caller holds the lock of the classes.
    pub(crate) fn divide(&self, extent: usize, slot: u64, dense: bool) {
        self.assign(extent, 1, slot, (EXTENT / slot) as u32);
        self.extents[extent].dense.store(dense, Ordering::Release);
    }

    /// Makes `count` extents one slot. The caller holds the lock of the classes.
    pub(crate) fn join(&self, first: usize, count: usize) {
        self.assign(first, count, count as u64 * EXTENT, 1);
        self.extents[first].dense.store(false, Ordering::Release);
    }

    pub(crate) fn is_dense(&self, extent: usize) -> bool {
        self.extents[extent].dense.load(Ordering::Acquire)
    }

    fn assign(&self, first: usize, extents: usize, slot: u64, records: u32) {
        let head = &self.extents[first];
        // Readers that come now must not take records of the old division for new ones.
        for extent in &self.extents[first..first + extents] {
            extent.slot.store(0, Ordering::SeqCst);
        }
        if head.count.load(Ordering::Relaxed) < records {
            head.records.store(fresh(records), Ordering::Release);
            head.count.store(records, Ordering::Release);
        } else {
            let old = (0..records).filter_map(|slot| self.record((first, slot)));
            old.for_each(|record| record.status.store(0, Ordering::Release));
        }
        for extent in &self.extents[first..first + extents] {
            extent.first.store(first as u32, Ordering::Relaxed);
            extent.slot.store(slot, Ordering::Release);
        }
    }

    /// The number of the extent's slot that an address is in.
    pub(crate) fn slot_of(&self, address: u64) -> Option<(usize, u32)> {
        let offset = address.checked_sub(range().base)?;
        let extent = self.extents.get((offset / EXTENT) as usize)?;
        let slot = extent.slot.load(Ordering::Acquire);
        let first = extent.first.load(Ordering::Relaxed) as usize;
        let within = offset.checked_sub(first as u64 * EXTENT)?;
        let number = within.checked_div(slot)?;
        Some((first, number as u32))
    }

    /// The record of a slot, if the extent has so many.
    pub(crate) fn record(&self, (extent, slot): (usize, u32)) -> Option<&Record> {
        let extent = self.extents.get(extent)?;
        if slot >= extent.count.load(Ordering::Acquire) {
            return None;
        }
        let records = extent.records.load(Ordering::Acquire);
        // SAFETY: `records` points to at least `count` records: the array is exchanged for a
        // longer one before `count` grows, and none is ever freed.
        Some(unsafe { &*records.add(slot as usize) })
    }

    /// The length of the slots that begin in an extent.
    pub(crate) fn length(&self, extent: usize) -> u64 {
        self.extents[extent].slot.load(Ordering::Acquire)
    }

    /// How many slots an extent has.
    pub(crate) fn slots(&self, extent: usize) -> u32 {
        let entry = &self.extents[extent];
        match entry.slot.load(Ordering::Acquire) {
            0 => 0,
            _ if entry.first.load(Ordering::Relaxed) as usize != extent => 0,
            slot if slot > EXTENT => 1,
            slot => (EXTENT / slot) as u32,
        }
    }
}

/// Zeroed records, which the kernel gives as they are used: an extent of the smallest slots
/// has 131,072.
fn fresh(count: u32) -> *mut Record {
    let layout = Layout::array::<Record>(count as usize).expect("a few megabytes");
    // SAFETY: the layout is not empty, and a record of zeros is an empty one.
    let records = unsafe { alloc_zeroed(layout) };
    if records.is_null() {
        handle_alloc_error(layout);
    }
    records.cast()
}
