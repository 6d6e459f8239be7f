//! Device memory in small blocks, for devices whose own allocation is slow.
//!
//! Blocks come out of chunks: a chunk has blocks of one size. Everything here is
//! book-keeping under a short lock; whoever calls it asks the driver for chunks, and gives
//! them back to it, without the lock.
//!
//! Nobody needs to wait for a block's last use: it is given back when the operations of all
//! constructs that used it are done.

use gangway_backend::DevicePtr;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks are multiples of this and aligned to it, if the driver aligns chunks so.
const GRAIN: usize = 256;
/// The largest block.
const LARGEST: usize = 256 << 10;
/// Block sizes from one power of two to the next.
const STEPS: usize = 4;
/// Sizes of blocks: the multiples of [`GRAIN`] up to `STEPS * GRAIN`, then [`STEPS`] for
/// each doubling.
const CLASSES: usize = STEPS + STEPS * (LARGEST / (STEPS * GRAIN)).ilog2() as usize;

/// The first chunk of a size, or eight of its blocks.
const SMALLEST_CHUNK: usize = 64 << 10;
/// A size gets as much again as it has, up to this.
const LARGEST_CHUNK: usize = 2 << 20;
/// Bytes in chunks without a block in use that are kept. More go back to the driver.
const KEPT: usize = 16 << 20;

/// The blocks of one device.
#[derive(Default)]
pub(crate) struct Pool(Mutex<State>);

/// The lock of a pool.
pub(crate) struct PoolLock<'p> {
    _state: MutexGuard<'p, State>,
}

struct State {
    /// By address.
    chunks: BTreeMap<usize, Chunk>,
    sizes: [Size; CLASSES],
    /// Bytes in chunks without a block in use.
    idle: usize,
}

impl Default for State {
    fn default() -> Self {
        Self { chunks: BTreeMap::new(), sizes: std::array::from_fn(|_| Size::default()), idle: 0 }
    }
}

/// What there is of one size of blocks.
#[derive(Default)]
struct Size {
    /// Chunks with a block that is not in use.
    open: Vec<usize>,
    /// Bytes of all its chunks.
    bytes: usize,
}

struct Chunk {
    class: usize,
    blocks: usize,
    /// Blocks from this one on have never been in use.
    fresh: usize,
    /// Blocks before that which are not in use.
    unused: Vec<u32>,
}

/// What has become of memory that was given back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GivenBack {
    /// It is no block of the pool: the driver's.
    Foreign,
    /// Kept for the next.
    Kept,
    /// The last block in use of this chunk, which is the driver's from now on.
    Surplus(DevicePtr),
}

/// The size class of `size` bytes; `None` if that is too large for a block.
fn class_of(size: usize) -> Option<usize> {
    if size > LARGEST {
        return None;
    }
    let grains = size.div_ceil(GRAIN).max(1);
    if grains <= STEPS {
        return Some(grains - 1);
    }
    let doubling = ((grains - 1) / STEPS).ilog2() as usize;
    let step = (grains - 1) >> doubling;
    Some(STEPS + doubling * STEPS + step - STEPS)
}

/// Bytes of a block of a class.
const fn block_of(class: usize) -> usize {
    if class < STEPS {
        return (class + 1) * GRAIN;
    }
    let (doubling, step) = ((class - STEPS) / STEPS, (class - STEPS) % STEPS);
    ((STEPS + step + 1) * GRAIN) << doubling
}

const _: () = assert!(block_of(CLASSES - 1) == LARGEST);

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of at least `size` bytes, if one is there.
    pub(crate) fn take(&self, size: usize) -> Option<DevicePtr> {
        self.state().take(class_of(size)?)
    }

    /// Bytes of the chunk to ask the driver for when [`take`](Self::take) has had none;
    /// `None` for what is too large.
    pub(crate) fn chunk_for(&self, size: usize) -> Option<usize> {
        let class = class_of(size)?;
        let block = block_of(class);
        let wanted = self.state().sizes[class].bytes.max(8 * block);
        Some(wanted.clamp(SMALLEST_CHUNK, LARGEST_CHUNK) / block * block)
    }

    /// Adds a chunk that was asked for on behalf of `size` bytes, and takes a block of it.
    pub(crate) fn add(&self, size: usize, chunk: DevicePtr, bytes: usize) -> DevicePtr {
        let class = class_of(size).unwrap_or(CLASSES - 1);
        let mut state = self.state();
        let blocks = bytes / block_of(class);
        // The first block is the caller's: what others do meanwhile cannot take it.
        state.chunks.insert(chunk.0, Chunk { class, blocks, fresh: 1, unused: Vec::new() });
        state.sizes[class].bytes += bytes;
        if blocks > 1 {
            state.sizes[class].open.push(chunk.0);
        }
        chunk
    }

    /// Takes a block back, or says that it is none.
    pub(crate) fn give_back(&self, block: DevicePtr) -> GivenBack {
        self.state().give_back(block)
    }

    /// Whether an address is in a chunk of the pool.
    pub(crate) fn contains(&self, address: DevicePtr) -> bool {
        self.state().chunk_of(address.0).is_some()
    }

    /// Gives up the chunks without a block in use: they are the caller's to free.
    pub(crate) fn trim(&self) -> Vec<DevicePtr> {
        let mut state = self.state();
        let idle = |(&base, chunk): (&usize, &Chunk)| chunk.is_idle().then_some(base);
        let idle: Vec<usize> = state.chunks.iter().filter_map(idle).collect();
        idle.into_iter().map(|base| state.remove(base)).collect()
    }

    /// Takes its lock, for a fork.
    pub(crate) fn hold(&self) -> PoolLock<'_> {
        PoolLock { _state: self.state() }
    }
}

impl State {
    fn take(&mut self, class: usize) -> Option<DevicePtr> {
        let base = *self.sizes[class].open.last()?;
        let chunk = self.chunks.get_mut(&base)?;
        if chunk.is_idle() {
            self.idle -= chunk.bytes();
        }
        let index = match chunk.unused.pop() {
            Some(index) => index as usize,
            None => {
                chunk.fresh += 1;
                chunk.fresh - 1
            }
        };
        if chunk.is_full() {
            self.sizes[class].open.pop();
        }
        Some(DevicePtr(base + index * block_of(class)))
    }

    fn chunk_of(&mut self, address: usize) -> Option<(usize, &mut Chunk)> {
        let (&base, chunk) = self.chunks.range_mut(..=address).next_back()?;
        (address < base + chunk.bytes()).then_some((base, chunk))
    }

    fn give_back(&mut self, block: DevicePtr) -> GivenBack {
        let Some((base, chunk)) = self.chunk_of(block.0) else { return GivenBack::Foreign };
        let (class, bytes) = (chunk.class, chunk.bytes());
        let index = (block.0 - base) / block_of(class);
        debug_assert!(index < chunk.fresh && !chunk.unused.contains(&(index as u32)), "given back twice");
        let was_full = chunk.is_full();
        chunk.unused.push(index as u32);
        let idle = chunk.is_idle();
        if was_full {
            self.sizes[class].open.push(base);
        }
        if idle {
            self.idle += bytes;
            if self.idle > KEPT {
                return GivenBack::Surplus(self.remove(base));
            }
        }
        GivenBack::Kept
    }

    /// Forgets a chunk without a block in use.
    fn remove(&mut self, base: usize) -> DevicePtr {
        if let Some(chunk) = self.chunks.remove(&base) {
            self.idle -= chunk.bytes();
            let size = &mut self.sizes[chunk.class];
            size.bytes -= chunk.bytes();
            size.open.retain(|open| *open != base);
        }
        DevicePtr(base)
    }
}

impl Chunk {
    fn bytes(&self) -> usize {
        self.blocks * block_of(self.class)
    }

    fn is_full(&self) -> bool {
        self.unused.is_empty() && self.fresh == self.blocks
    }

    fn is_idle(&self) -> bool {
        self.unused.len() == self.fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_little_larger_than_what_is_wanted() {
        let mut before = 0;
        for class in 0..CLASSES {
            let block = block_of(class);
            assert_eq!(class_of(block), Some(class));
            assert_eq!(class_of(before + 1), Some(class));
            assert!(block.is_multiple_of(GRAIN) && (class == 0 || block <= before * 5 / 4 || class < STEPS));
            before = block;
        }
        assert_eq!(class_of(LARGEST + 1), None);
        assert_eq!(class_of(0), Some(0));
    }

    /// The driver: chunks at addresses of their own.
    #[derive(Default)]
    struct Driver {
        next: usize,
        chunks: BTreeMap<usize, usize>,
    }

    impl Driver {
        fn allocate(&mut self, bytes: usize) -> DevicePtr {
            self.next += LARGEST_CHUNK;
            self.chunks.insert(self.next, bytes);
            DevicePtr(self.next)
        }

        fn free(&mut self, chunk: DevicePtr) {
            assert!(self.chunks.remove(&chunk.0).is_some(), "freed twice, or no chunk");
        }
    }

    proptest! {
        #[test]
        fn blocks_never_overlap(
            steps in prop::collection::vec((1usize..LARGEST + 2, any::<prop::sample::Index>(), 0u8..8), 1..400),
        ) {
            let (pool, mut driver) = (Pool::default(), Driver::default());
            let mut blocks: Vec<(usize, usize)> = Vec::new();
            for (size, index, action) in steps {
                // Sizes of all magnitudes.
                let size = size >> (size % 11);
                match action {
                    0..4 => {
                        let block = pool.take(size).or_else(|| {
                            let bytes = pool.chunk_for(size)?;
                            Some(pool.add(size, driver.allocate(bytes), bytes))
                        });
                        let Some(DevicePtr(begin)) = block else {
                            prop_assert!(size > LARGEST);
                            continue;
                        };
                        prop_assert_eq!(begin % GRAIN, 0);
                        let clash = blocks.iter().find(|block| begin < block.0 + block.1 && block.0 < begin + size);
                        prop_assert_eq!(clash, None, "{} bytes at {}", size, begin);
                        let (&base, &bytes) = driver.chunks.range(..=begin).next_back().unwrap();
                        prop_assert!(begin + size <= base + bytes);
                        prop_assert!(pool.contains(DevicePtr(begin)));
                        blocks.push((begin, size));
                    }
                    4..7 if !blocks.is_empty() => {
                        let (begin, _) = blocks.swap_remove(index.index(blocks.len()));
                        match pool.give_back(DevicePtr(begin)) {
                            GivenBack::Kept => {}
                            GivenBack::Surplus(chunk) => driver.free(chunk),
                            GivenBack::Foreign => prop_assert!(false, "a block"),
                        }
                    }
                    7 => pool.trim().into_iter().for_each(|chunk| driver.free(chunk)),
                    _ => {}
                }
            }
            prop_assert_eq!(pool.give_back(DevicePtr(1)), GivenBack::Foreign);
            for (begin, _) in blocks {
                if let GivenBack::Surplus(chunk) = pool.give_back(DevicePtr(begin)) {
                    driver.free(chunk);
                }
            }
            pool.trim().into_iter().for_each(|chunk| driver.free(chunk));
            prop_assert!(driver.chunks.is_empty());
            prop_assert_eq!(pool.state().idle, 0);
        }
    }

    #[test]
    fn a_block_that_comes_and_goes_needs_the_driver_once() {
        let (pool, mut driver) = (Pool::default(), Driver::default());
        let mut asked = 0;
        for round in 0..1000 {
            let sizes = [64, 64, 3000, LARGEST];
            let blocks = sizes.map(|size| {
                pool.take(size).unwrap_or_else(|| {
                    asked += 1;
                    let bytes = pool.chunk_for(size).unwrap();
                    pool.add(size, driver.allocate(bytes), bytes)
                })
            });
            assert_eq!(asked, 3, "round {round}");
            blocks.into_iter().for_each(|block| assert_eq!(pool.give_back(block), GivenBack::Kept));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (pool, mut driver) = (Pool::default(), Driver::default());
        let blocks: Vec<DevicePtr> = (0..4 * KEPT / LARGEST)
            .map(|_| {
                pool.take(LARGEST).unwrap_or_else(|| {
                    let bytes = pool.chunk_for(LARGEST).unwrap();
                    pool.add(LARGEST, driver.allocate(bytes), bytes)
                })
            })
            .collect();
        for block in blocks {
            if let GivenBack::Surplus(chunk) = pool.give_back(block) {
                driver.free(chunk);
            }
        }
        assert_eq!(driver.chunks.values().sum::<usize>(), KEPT);
    }
}
