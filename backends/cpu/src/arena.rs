//! Blocks of up to 16 KiB, from an address range of their own.
//!
//! Nearly every mapped scalar and small structure lives here, so this is on the
//! path of a launch: allocating and freeing take a few nanoseconds each, on the
//! thread's own cache, and no lock is ever taken (a fork or a signal in the
//! middle of it leaves nothing locked). Because the range is reserved once, any
//! address whatever can be checked to be the start of a live block without
//! touching it, and a kernel that runs over the end of its block cannot reach
//! the program's heap.
//!
//! The range is cut into spans of 64 KiB, each holding blocks of one size class.
//! One 32-bit word per 64 bytes, outside the range, says what a block is: live
//! and on which device, free in a thread's cache, or free in the class's shared
//! stack, where it holds the link to the next.

use once_cell::race::OnceBox;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Blocks are multiples of this and aligned to it: a cache line.
const GRANULE: usize = 64;

/// Bytes a thread takes from the range at a time, for one class.
const SPAN: usize = 64 << 10;

/// Largest block served here.
pub(crate) const LARGEST: usize = 16 << 10;

/// Size classes: multiples of 64 up to 512, then four per power of two.
const CLASSES: usize = 8 + 4 * 5;

/// Blocks a thread keeps per class.
const CACHED: usize = 32;

/// Address ranges to ask for, largest first: a process may be limited (`ulimit -v`).
const RESERVATIONS: [usize; 4] = [4 << 30, 512 << 20, 64 << 20, 8 << 20];

// States of a block's first word. Links are granule numbers plus one and so are
// at most 2^26; live blocks carry the device's ordinal in the low byte.
const UNUSED: u32 = 0;
const FREED: u32 = 0x8000_0000;
const LIVE: u32 = 0x4000_0000;

/// Why a block was not freed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotLive {
    /// The address is not in the range: the block may be a large one.
    Elsewhere,
    /// It is in the range, but no block starts there.
    NoBlock,
    /// The block has been freed.
    Freed,
    /// The block belongs to this device.
    OtherDevice(usize),
}

/// A thread's free blocks, as granule numbers. Only its thread touches it.
pub(crate) struct Cache {
    count: [Cell<u8>; CLASSES],
    blocks: [[Cell<u32>; CACHED]; CLASSES],
}

impl Cache {
    pub const fn new() -> Self {
        Self {
            count: [const { Cell::new(0) }; CLASSES],
            blocks: [const { [const { Cell::new(0) }; CACHED] }; CLASSES],
        }
    }

    /// Forgets all blocks; they are lost.
    pub fn clear(&self) {
        self.count.iter().for_each(|count| count.set(0));
    }
}

/// The address range and what is known of its blocks.
pub(crate) struct Arena {
    base: *mut u8,
    length: usize,
    /// Granules handed out to spans so far.
    cursor: AtomicUsize,
    /// One word per granule.
    states: *const AtomicU32,
    /// Class of each span, plus one.
    spans: *const AtomicU8,
    /// Shared stacks of free blocks: granule plus one, and a count that makes
    /// each head unique so that a stale one cannot be swapped in.
    heads: [AtomicU64; CLASSES],
}

// SAFETY: the pointers lead to atomics and to memory that blocks' owners use.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

/// The arena of this process; `None` where not even 8 MiB of addresses can be had.
pub(crate) fn arena() -> Option<&'static Arena> {
    ARENA.get_or_init(|| Box::new(RESERVATIONS.iter().find_map(|length| Arena::reserve(*length)))).as_ref()
}

/// Not made under a lock, which a fork could leave locked for the child.
static ARENA: OnceBox<Option<Arena>> = OnceBox::new();

/// In a forked child: see [`Arena::after_fork`].
pub(crate) fn after_fork() {
    if let Some(Some(arena)) = ARENA.get() {
        arena.after_fork();
    }
}

/// The class of blocks that hold `size` bytes (1 to [`LARGEST`]).
#[inline]
const fn class_of(size: usize) -> usize {
    if size <= 512 {
        (size - 1) / GRANULE
    } else {
        let log = (usize::BITS - 1 - (size - 1).leading_zeros()) as usize;
        8 + (log - 9) * 4 + (((size - 1) >> (log - 2)) & 3)
    }
}

/// Bytes that a block for `size` bytes takes.
pub(crate) const fn block_size(size: usize) -> usize {
    size_of_class(class_of(size))
}

/// Bytes in a block of `class`.
#[inline]
const fn size_of_class(class: usize) -> usize {
    if class < 8 { (class + 1) * GRANULE } else { (5 + (class - 8) % 4) << (7 + (class - 8) / 4) }
}

impl Arena {
    fn reserve(length: usize) -> Option<Self> {
        let base = reserve_addresses(length + SPAN, libc::PROT_NONE)?;
        let base = base.wrapping_add(base.align_offset(SPAN));
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        let states = reserve_addresses(length / GRANULE * 4, writable)?.cast::<AtomicU32>();
        let spans = reserve_addresses(length / SPAN, writable)?.cast();
        Some(Self {
            base,
            length,
            cursor: AtomicUsize::new(0),
            states,
            spans,
            heads: [const { AtomicU64::new(0) }; CLASSES],
        })
    }

    /// A block of at least `size` bytes (1 to [`LARGEST`]) for `device`, from the
    /// thread's cache if it has one. `None` if the range or the host is full.
    #[inline]
    pub fn allocate(&self, cache: Option<&Cache>, device: usize, size: usize) -> Option<*mut u8> {
        let class = class_of(size);
        let granule = match cache {
            Some(cache) if cache.count[class].get() > 0 => {
                let count = cache.count[class].get() - 1;
                cache.count[class].set(count);
                cache.blocks[class][usize::from(count)].get()
            }
            _ => self.refill(cache, class)?,
        };
        self.state(granule).store(LIVE | device as u32, Ordering::Relaxed);
        Some(self.address(granule))
    }

    /// Marks the block at `address` as free and gives its size. The caller then
    /// poisons it and hands it to [`recycle`](Self::recycle).
    #[inline]
    pub fn retire(&self, device: usize, address: usize) -> Result<usize, NotLive> {
        let offset = address.wrapping_sub(self.base.addr());
        if offset >= self.length {
            return Err(NotLive::Elsewhere);
        }
        if !offset.is_multiple_of(GRANULE) {
            return Err(NotLive::NoBlock);
        }
        let state = self.state((offset / GRANULE) as u32);
        // One step, so that of two threads that free a block only one does.
        match state.compare_exchange(LIVE | device as u32, FREED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(size_of_class(self.class_at(offset))),
            Err(UNUSED) => Err(NotLive::NoBlock),
            Err(other) if other & LIVE != 0 => Err(NotLive::OtherDevice((other & 0xff) as usize)),
            Err(_) => Err(NotLive::Freed),
        }
    }

    /// Makes a retired block available again.
    #[inline]
    pub fn recycle(&self, cache: Option<&Cache>, address: usize) {
        let offset = address - self.base.addr();
        let class = self.class_at(offset);
        let granule = (offset / GRANULE) as u32;
        let Some(cache) = cache else { return self.push(class, granule) };
        let mut count = usize::from(cache.count[class].get());
        if count == CACHED {
            // A thread that only frees passes its blocks on to those that only allocate.
            count = CACHED / 2;
            for block in &cache.blocks[class][count..] {
                self.push(class, block.get());
            }
        }
        cache.blocks[class][count].set(granule);
        cache.count[class].set(count as u8 + 1);
    }

    /// A block when the cache has none: from the class's shared stack, or the
    /// first of a new span, whose other blocks go to the cache and the stack.
    #[cold]
    fn refill(&self, cache: Option<&Cache>, class: usize) -> Option<u32> {
        if let Some(granule) = self.pop(class) {
            for _ in 0..CACHED / 2 {
                let Some(spare) = cache.and_then(|_| self.pop(class)) else { break };
                self.recycle(cache, self.address(spare).addr());
            }
            return Some(granule);
        }
        // Checked before it is moved, so that a full range is not run past by many failures.
        let start = self
            .cursor
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| (at < self.length).then_some(at + SPAN))
            .ok()?;
        // SAFETY: the span lies in the range and nobody has it.
        let failed =
            unsafe { libc::mprotect(self.base.add(start).cast(), SPAN, libc::PROT_READ | libc::PROT_WRITE) };
        if failed != 0 {
            return None;
        }
        self.span(start).store(class as u8 + 1, Ordering::Relaxed);
        let size = size_of_class(class);
        let block = |i: usize| ((start + i * size) / GRANULE) as u32;
        for i in (1..SPAN / size).rev() {
            self.push(class, block(i));
        }
        Some(block(0))
    }

    /// In a forked child, whose only thread this is. A fork copies pages one after another
    /// while other threads write to them, so what they did last may be there in part: the
    /// shared stacks are given up, and spans begin behind all that have a class.
    fn after_fork(&self) {
        self.heads.iter().for_each(|head| head.store(0, Ordering::Relaxed));
        let used = (0..self.length / SPAN).rev().find(|&i| self.span(i * SPAN).load(Ordering::Relaxed) != 0);
        self.cursor.fetch_max(used.map_or(0, |last| (last + 1) * SPAN), Ordering::Relaxed);
    }

    fn push(&self, class: usize, granule: u32) {
        let head = &self.heads[class];
        let mut old = head.load(Ordering::Relaxed);
        loop {
            self.state(granule).store(FREED | old as u32, Ordering::Relaxed);
            let new = (old >> 32).wrapping_add(1) << 32 | u64::from(granule + 1);
            match head.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }

    fn pop(&self, class: usize) -> Option<u32> {
        let head = &self.heads[class];
        let mut old = head.load(Ordering::Acquire);
        loop {
            let granule = (old as u32).checked_sub(1)?;
            // May be stale if another thread took the block; the exchange then fails.
            let next = self.state(granule).load(Ordering::Relaxed) & !FREED;
            let new = (old >> 32).wrapping_add(1) << 32 | u64::from(next);
            match head.compare_exchange_weak(old, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(granule),
                Err(now) => old = now,
            }
        }
    }

    fn address(&self, granule: u32) -> *mut u8 {
        self.base.wrapping_add(granule as usize * GRANULE)
    }

    fn state(&self, granule: u32) -> &AtomicU32 {
        // SAFETY: one word was reserved per granule; zeroed memory is a valid atomic.
        unsafe { &*self.states.add(granule as usize) }
    }

    fn span(&self, offset: usize) -> &AtomicU8 {
        // SAFETY: one byte was reserved per span.
        unsafe { &*self.spans.add(offset / SPAN) }
    }

    fn class_at(&self, offset: usize) -> usize {
        usize::from(self.span(offset).load(Ordering::Relaxed) - 1)
    }
}

impl Drop for Arena {
    /// Gives the addresses back: two threads may have reserved some at the same time.
    fn drop(&mut self) {
        let parts = [
            (self.base.cast(), self.length),
            (self.states.cast_mut().cast(), self.length / GRANULE * 4),
            (self.spans.cast_mut().cast(), self.length / SPAN),
        ];
        for (start, length) in parts {
            // SAFETY: reserved by this arena, whose blocks nobody has.
            unsafe { libc::munmap(start, length) };
        }
    }
}

/// `length` bytes of addresses, zero where readable; pages are taken when touched.
fn reserve_addresses(length: usize, protection: i32) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping replaces nothing.
    let base = unsafe { libc::mmap(ptr::null_mut(), length, protection, flags, -1, 0) };
    (base != libc::MAP_FAILED).then_some(base.cast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn classes_are_tight_and_consistent() {
        let mut last = 0;
        for class in 0..CLASSES {
            let size = size_of_class(class);
            assert!(size > last && size.is_multiple_of(GRANULE) && SPAN / size > 0);
            assert_eq!(class_of(size), class);
            assert_eq!(class_of(last + 1), class);
            last = size;
        }
        assert_eq!(last, LARGEST);
    }

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let arena = Arena::reserve(8 << 20).unwrap();
        let cache = Cache::new();
        let mut live: Vec<(usize, usize)> = Vec::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if live.len() > 100 {
                let (address, size) = live.swap_remove((random >> 33) as usize % live.len());
                assert!(arena.retire(3, address).unwrap() >= size);
                arena.recycle(Some(&cache), address);
            }
            let size = ((random >> 40) as usize % LARGEST).max(1);
            let block = arena.allocate(Some(&cache), 3, size).unwrap();
            assert_eq!(block.addr() % GRANULE, 0);
            for (address, other) in &live {
                assert!(block.addr() + size <= *address || address + other <= block.addr());
            }
            live.push((block.addr(), size));
        }
    }

    #[test]
    fn wrong_frees_are_told_apart() {
        let arena = Arena::reserve(8 << 20).unwrap();
        let block = arena.allocate(None, 1, 200).unwrap().addr();
        assert_eq!(arena.retire(1, block + 64), Err(NotLive::NoBlock));
        assert_eq!(arena.retire(1, block + 8), Err(NotLive::NoBlock));
        assert_eq!(arena.retire(1, 0x1000), Err(NotLive::Elsewhere));
        assert_eq!(arena.retire(0, block), Err(NotLive::OtherDevice(1)));
        assert_eq!(arena.retire(1, block), Ok(256));
        assert_eq!(arena.retire(1, block), Err(NotLive::Freed));
        arena.recycle(None, block);
        assert_eq!(arena.retire(1, block), Err(NotLive::Freed));
    }

    #[test]
    fn a_full_range_is_an_answer_not_a_crash() {
        let arena = Arena::reserve(8 << 20).unwrap();
        let all: HashSet<usize> =
            std::iter::from_fn(|| arena.allocate(None, 0, LARGEST)).map(|p| p.addr()).collect();
        assert_eq!(all.len(), (8 << 20) / LARGEST);
        assert!(arena.allocate(None, 0, 64).is_none());
        for block in all {
            arena.retire(0, block).unwrap();
            arena.recycle(None, block);
        }
        assert!(arena.allocate(None, 0, LARGEST).is_some());
    }

    #[test]
    fn threads_pass_blocks_to_each_other() {
        let arena = Arena::reserve(64 << 20).unwrap();
        std::thread::scope(|scope| {
            let (send, receive) = std::sync::mpsc::sync_channel::<usize>(64);
            let arena = &arena;
            scope.spawn(move || {
                let cache = Cache::new();
                for i in 0..20_000_usize {
                    let block = arena.allocate(Some(&cache), 0, 1 + i % 700).unwrap();
                    // SAFETY: the block has room for a word, and is this thread's.
                    unsafe { block.cast::<usize>().write(block.addr() ^ 5) };
                    send.send(block.addr()).unwrap();
                }
            });
            scope.spawn(move || {
                let cache = Cache::new();
                for block in receive {
                    // SAFETY: the block is live until this thread frees it.
                    assert_eq!(unsafe { *(block as *const usize) }, block ^ 5);
                    arena.retire(0, block).unwrap();
                    arena.recycle(Some(&cache), block);
                }
            });
        });
        // A few spans' worth, not one per block.
        assert!(arena.cursor.load(Ordering::Relaxed) < 64 * SPAN);
    }
}
