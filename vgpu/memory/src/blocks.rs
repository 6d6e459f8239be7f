//! The blocks of a heap: which there are, how large they are and where they lie.
//!
//! What is known about them is kept outside of the heap's memory. Blocks of up to 2 KiB share pages
//! of one block length; larger ones are runs of whole pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::distance::distance;
use crate::fault::Fault;
use crate::reserve::PAGE;

/// Block lengths that share pages; multiples of 16, which `malloc` aligns to.
const LENGTHS: [u16; 20] =
    [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 672, 1024, 1360, 2048];

/// A block that a kernel has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    /// As asked for, in bytes.
    pub size: u64,
}

/// The blocks in the memory of a heap.
#[derive(Debug)]
pub(crate) struct Blocks {
    base: u64,
    size: u64,
    device: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pages: Vec<Page>,
    /// Free runs of pages: by their start, and by length and start.
    free: BTreeMap<u32, u32>,
    by_length: BTreeSet<(u32, u32)>,
    /// For each of [`LENGTHS`] the pages that have a free block.
    partial: [BTreeSet<u32>; LENGTHS.len()],
    used: u64,
}

#[derive(Clone, Debug)]
enum Page {
    Free,
    Small(Box<Small>),
    /// The first page of a large block, with its size in bytes.
    Large(u64),
    /// Another page of the large block that begins at page number `.0`.
    Rest(u32),
}

/// A page of small blocks.
#[derive(Clone, Debug)]
struct Small {
    class: u8,
    used: u16,
    /// Where the search for a free block begins, so that freed ones rest for a while.
    next: u16,
    /// The size of each block as asked for, plus one; 0 when it is free.
    sizes: Box<[u16]>,
}

impl Blocks {
    /// Of whole pages of a device's memory, none of which is in use.
    pub(crate) fn new(device: u32, base: u64, size: u64) -> Self {
        let pages = (size / PAGE) as u32;
        let mut state = State {
            pages: vec![Page::Free; pages as usize],
            free: BTreeMap::new(),
            by_length: BTreeSet::new(),
            partial: Default::default(),
            used: 0,
        };
        if pages > 0 {
            state.add_run(0, pages);
        }
        Self { base, size, device, state: Mutex::new(state) }
    }

    /// A block, aligned to 16 bytes; `None` when there is no room.
    pub(crate) fn take(&self, size: u64) -> Option<u64> {
        let mut state = self.lock();
        let offset = match LENGTHS.iter().position(|&length| size <= length.into()) {
            Some(class) => state.take_small(class, size)?,
            None => state.take_large(size)?,
        };
        state.used += size;
        Some(self.base + offset)
    }

    /// Frees a block; `false` when none begins there. `freed` is called before another one may come to be
    /// there.
    pub(crate) fn give(&self, address: u64, freed: impl FnOnce()) -> bool {
        let offset = address.checked_sub(self.base).filter(|_| self.contains(address));
        offset.is_some_and(|offset| {
            let mut state = self.lock();
            let given = state.give(offset);
            if given {
                freed();
            }
            given
        })
    }

    /// Where it begins and how long it is.
    pub(crate) const fn range(&self) -> (u64, u64) {
        (self.base, self.size)
    }

    /// Bytes that kernels have allocated and not freed.
    pub(crate) fn used(&self) -> u64 {
        self.lock().used
    }

    /// The blocks that are not freed, in order of addresses.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let state = self.lock();
        let mut blocks = Vec::new();
        for (number, page) in state.pages.iter().enumerate() {
            let start = self.base + number as u64 * PAGE;
            match page {
                Page::Large(size) => blocks.push(Block { address: start, size: *size }),
                Page::Small(small) => {
                    let length = u64::from(LENGTHS[usize::from(small.class)]);
                    let live = small.sizes.iter().enumerate().filter(|&(_, &size)| size > 0);
                    blocks.extend(live.map(|(index, &size)| Block {
                        address: start + index as u64 * length,
                        size: u64::from(size) - 1,
                    }));
                }
                Page::Free | Page::Rest(_) => {}
            }
        }
        blocks
    }

    pub(crate) const fn contains(&self, address: u64) -> bool {
        address >= self.base && address - self.base < self.size
    }

    /// Whether an access is all in one block.
    pub(crate) fn fault_of(&self, address: u64, size: u64) -> Option<Fault> {
        let offset = address - self.base;
        match self.lock().block(offset) {
            Some((start, length)) if offset - start + size <= length => None,
            _ => Some(Fault::OutOfBounds),
        }
    }

    /// The block that an address is in: start and size.
    pub(crate) fn block_at(&self, address: u64) -> Option<(u64, u64)> {
        let offset = address.checked_sub(self.base)?;
        let (start, size) = self.lock().block(offset)?;
        (offset - start < size).then_some((self.base + start, size))
    }

    /// What is at an address of this heap.
    pub(crate) fn describe(&self, address: u64) -> Option<String> {
        let offset = address.checked_sub(self.base)?;
        let Some((start, size)) = self.lock().block(offset) else {
            return Some(format!("memory of the heap of device {} that is not allocated", self.device));
        };
        let start = self.base + start;
        let near = distance(address, start, size);
        let device = self.device;
        Some(format!("{near}the {size}-byte block at {start:#x}, allocated by malloc on device {device}"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_run(&mut self, start: u32, length: u32) {
        self.free.insert(start, length);
        self.by_length.insert((length, start));
    }

    fn remove_run(&mut self, start: u32, length: u32) {
        self.free.remove(&start);
        self.by_length.remove(&(length, start));
    }

    /// The shortest run that is long enough.
    fn take_run(&mut self, length: u32) -> Option<u32> {
        let &(found, start) = self.by_length.range((length, 0)..).next()?;
        self.remove_run(start, found);
        if found > length {
            self.add_run(start + length, found - length);
        }
        Some(start)
    }

    /// Gives a run back and joins it with its free neighbours.
    fn give_run(&mut self, mut start: u32, mut length: u32) {
        self.pages[start as usize..(start + length) as usize].fill(Page::Free);
        if let Some((&before, &its)) = self.free.range(..start).next_back()
            && before + its == start
        {
            self.remove_run(before, its);
            (start, length) = (before, length + its);
        }
        if let Some(&its) = self.free.get(&(start + length)) {
            self.remove_run(start + length, its);
            length += its;
        }
        self.add_run(start, length);
    }

    fn take_small(&mut self, class: usize, size: u64) -> Option<u64> {
        let length = u64::from(LENGTHS[class]);
        let number = match self.partial[class].first() {
            Some(&number) => number,
            None => {
                let number = self.take_run(1)?;
                let sizes = vec![0; (PAGE / length) as usize].into_boxed_slice();
                let small = Small { class: class as u8, used: 0, next: 0, sizes };
                self.pages[number as usize] = Page::Small(Box::new(small));
                self.partial[class].insert(number);
                number
            }
        };
        let Page::Small(small) = &mut self.pages[number as usize] else { return None };
        let count = small.sizes.len();
        let from = usize::from(small.next);
        let index = (from..count).chain(0..from).find(|&index| small.sizes[index] == 0)?;
        small.sizes[index] = size as u16 + 1;
        small.next = ((index + 1) % count) as u16;
        small.used += 1;
        if usize::from(small.used) == count {
            self.partial[class].remove(&number);
        }
        Some(u64::from(number) * PAGE + index as u64 * length)
    }

    fn take_large(&mut self, size: u64) -> Option<u64> {
        let pages = u32::try_from(size.div_ceil(PAGE)).ok()?;
        let start = self.take_run(pages)?;
        self.pages[start as usize..(start + pages) as usize].fill(Page::Rest(start));
        self.pages[start as usize] = Page::Large(size);
        Some(u64::from(start) * PAGE)
    }

    /// Frees the block that begins at an offset; `false` when none does.
    fn give(&mut self, offset: u64) -> bool {
        let number = (offset / PAGE) as u32;
        match &mut self.pages[number as usize] {
            Page::Large(size) if offset.is_multiple_of(PAGE) => {
                let size = *size;
                self.used -= size;
                self.give_run(number, size.div_ceil(PAGE) as u32);
                true
            }
            Page::Small(small) => {
                let class = usize::from(small.class);
                let length = u64::from(LENGTHS[class]);
                let within = offset % PAGE;
                let Some(entry) = small.sizes.get_mut((within / length) as usize) else { return false };
                if *entry == 0 || !within.is_multiple_of(length) {
                    return false;
                }
                self.used -= u64::from(*entry) - 1;
                *entry = 0;
                small.used -= 1;
                if small.used == 0 {
                    self.partial[class].remove(&number);
                    self.give_run(number, 1);
                } else {
                    self.partial[class].insert(number);
                }
                true
            }
            _ => false,
        }
    }

    /// The live block that an offset is in, or in whose padding: its offset and size.
    fn block(&self, offset: u64) -> Option<(u64, u64)> {
        let number = offset / PAGE;
        match self.pages.get(number as usize)? {
            Page::Free => None,
            Page::Large(size) => Some((number * PAGE, *size)),
            Page::Rest(first) => {
                let start = u64::from(*first) * PAGE;
                match self.pages[*first as usize] {
                    Page::Large(size) => Some((start, size)),
                    _ => None,
                }
            }
            Page::Small(small) => {
                let length = u64::from(LENGTHS[usize::from(small.class)]);
                let index = offset % PAGE / length;
                let size = u64::from(*small.sizes.get(index as usize)?).checked_sub(1)?;
                Some((number * PAGE + index * length, size))
            }
        }
    }
}
