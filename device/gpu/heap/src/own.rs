//! The heap of an image on GPUs whose driver has none: a range of the image's own memory, dealt in blocks of
//! powers of two. Blocks that have been given back wait in a list for each size; what has never been used is
//! behind a mark that moves up. Nothing is joined: memory of one size stays of that size.
//!
//! Nobody waits for anybody, so lanes of a wave may come at the same time: each operation is a loop in which a
//! lane has only failed because another has got through.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of the heap.
const BYTES: usize = 16 << 20;

/// Blocks are counted in units of so many bytes, to which all are aligned.
const UNIT: usize = 16;

/// Units before a block's memory: its size's number stands there.
const HEADER: usize = 1;

/// The numbers of sizes: a block of size `n` has `2 << n` units, its header among them.
const SIZES: usize = 20;

#[repr(C, align(16))]
struct Memory(UnsafeCell<[u8; BYTES]>);

// SAFETY: a unit belongs to the lists here or to who has allocated it.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; BYTES]));

/// The first unit that has never been used.
static UNUSED: AtomicU32 = AtomicU32::new(0);

/// The list of free blocks of each size: the number of the first one's unit plus one, and above it how often the
/// list has changed. So a list that has lost a block and got it back is another one.
static FREE: [AtomicU64; SIZES] = [const { AtomicU64::new(0) }; SIZES];

/// The word at the start of a unit. In a free block the next one of its list, and else the size.
fn word(unit: u32) -> *mut u32 {
    MEMORY.0.get().cast::<u8>().wrapping_add(unit as usize * UNIT).cast()
}

fn memory_of(unit: u32) -> *mut c_void {
    word(unit + HEADER as u32).cast()
}

/// Whether a block is one of this heap.
pub fn has(memory: *const c_void) -> bool {
    memory.addr().wrapping_sub(MEMORY.0.get().addr()) < BYTES
}

/// Memory aligned to 16 bytes; null where the heap is full.
pub fn allocate(bytes: usize) -> *mut c_void {
    if bytes == 0 || bytes > BYTES {
        return null_mut();
    }
    let units = bytes.div_ceil(UNIT) + HEADER;
    let size = units.next_power_of_two().trailing_zeros() as usize - 1;
    if size >= SIZES {
        return null_mut();
    }
    let list = &FREE[size];
    let mut head = list.load(Ordering::Acquire);
    while head as u32 != 0 {
        let unit = head as u32 - 1;
        // SAFETY: the unit was a free block's when the list was read. If it is no longer, what is read is not used.
        let next = unsafe { AtomicU32::from_ptr(word(unit)) }.load(Ordering::Relaxed);
        let changed = ((head >> 32) + 1) << 32 | u64::from(next);
        match list.compare_exchange(head, changed, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return taken(unit, size),
            Err(now) => head = now,
        }
    }
    let most = (BYTES / UNIT) as u32;
    let count = 2u32 << size;
    let mut unit = UNUSED.load(Ordering::Relaxed);
    loop {
        if most - unit < count {
            return null_mut();
        }
        match UNUSED.compare_exchange(unit, unit + count, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return taken(unit, size),
            Err(now) => unit = now,
        }
    }
}

fn taken(unit: u32, size: usize) -> *mut c_void {
    // SAFETY: the block is the caller's now.
    unsafe { AtomicU32::from_ptr(word(unit)) }.store(size as u32, Ordering::Relaxed);
    memory_of(unit)
}

/// Gives a block back.
///
/// # Safety
/// It is one of [`allocate`], and not in use.
pub unsafe fn release(memory: *mut c_void) {
    let unit = ((memory.addr() - MEMORY.0.get().addr()) / UNIT - HEADER) as u32;
    // SAFETY: the block is the caller's, so nobody else writes the word.
    let link = unsafe { AtomicU32::from_ptr(word(unit)) };
    let Some(list) = FREE.get(link.load(Ordering::Relaxed) as usize) else { return };
    let mut head = list.load(Ordering::Relaxed);
    loop {
        link.store(head as u32, Ordering::Relaxed);
        let changed = ((head >> 32) + 1) << 32 | u64::from(unit + 1);
        match list.compare_exchange(head, changed, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}
