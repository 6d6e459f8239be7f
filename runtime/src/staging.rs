//! Host memory that a device copies from and to by itself, for the packed data of
//! constructs.
//!
//! A driver that is asked for a copy to ordinary host memory may wait until it is done, as
//! the memory could be moved meanwhile. Back ends where that is so say
//! [`Capabilities::pinned_staging`], and packed data stands in pinned memory of theirs.
//!
//! Blocks come out of chunks that the back end has allocated. A job keeps its blocks from
//! construct to construct, so that none asks for memory in the long run; a chunk of which no
//! construct uses a block can still be taken back. No lock is held across a call. What is
//! pinned is bounded, and there may be none: then packed data stands in ordinary memory,
//! which every copy can use.
//!
//! [`Capabilities::pinned_staging`]: gangway_backend::Capabilities::pinned_staging

use gangway_backend::{AllocationKind, Device, DevicePtr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The smallest block.
const SMALLEST: usize = 1 << 10;
/// Sizes of blocks: each is twice the one before.
const CLASSES: usize = 8;
/// What the back end is asked for at a time, or one block if that is larger.
const CHUNK: usize = 64 << 10;
/// Bytes that are pinned at most: all processes of the machine share what there is.
const MOST: usize = 32 << 20;

/// How many requests are not passed on when the back end has given none: twice as many each time,
/// up to the second number. Memory that can be pinned may have become free.
const RESTS: (u32, u32) = (64, 1 << 16);

/// The blocks of one device.
#[derive(Default)]
pub(crate) struct Staging(Mutex<State>);

#[derive(Default)]
struct State {
    /// Blocks that no job has, by class.
    idle: [Vec<Arc<Block>>; CLASSES],
    chunks: Vec<Chunk>,
    bytes: usize,
    /// How often in a row the back end has given none.
    refusals: u32,
    /// For so many requests it is not asked again.
    rest: u32,
}

struct Chunk {
    memory: DevicePtr,
    size: usize,
    blocks: Vec<Arc<Block>>,
}

struct Block {
    address: usize,
    class: usize,
    /// [`KEPT`], [`USED`] or [`GONE`].
    state: AtomicU8,
}

/// No construct uses the block, though a job may have it.
const KEPT: u8 = 0;
/// A construct is under way that uses it.
const USED: u8 = 1;
/// Its chunk has been taken back.
const GONE: u8 = 2;

/// The lock of a device's blocks.
pub(crate) struct StagingLock<'s> {
    _state: MutexGuard<'s, State>,
}

/// A block of a job. Dropping it gives it back, without a call of the back end.
pub(crate) struct StagingBlock {
    staging: &'static Staging,
    block: Arc<Block>,
}

/// The class of blocks with so many bytes.
fn class_of(bytes: usize) -> Option<usize> {
    let class = bytes.max(SMALLEST).next_power_of_two().ilog2() - SMALLEST.ilog2();
    Some(class as usize).filter(|class| *class < CLASSES)
}

impl Block {
    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Chunk {
    /// Takes all blocks, or none: a construct uses one.
    fn take(&self) -> bool {
        let Some(used) = self.blocks.iter().position(|block| !block.change(KEPT, GONE)) else { return true };
        self.blocks[..used].iter().for_each(|block| block.state.store(KEPT, Ordering::Release));
        false
    }
}

impl Staging {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes its lock, for a fork.
    pub(crate) fn hold(&self) -> StagingLock<'_> {
        StagingLock { _state: self.state() }
    }

    /// A block of so many bytes, for a construct that uses it now; `None` if none can be had.
    pub(crate) fn block(&'static self, device: &dyn Device, bytes: usize) -> Option<StagingBlock> {
        let class = class_of(bytes)?;
        let take = || {
            let mut state = self.state();
            let block = state.idle[class].pop()?;
            // Under the lock, under which it is taken away.
            block.state.store(USED, Ordering::Release);
            Some(StagingBlock { staging: self, block })
        };
        // The lock is not held while the back end is asked. Another thread may be quicker to
        // take what this one has got.
        take().or_else(|| self.pin_chunk(device, class).then(take).flatten())
    }

    /// Has a chunk of blocks allocated.
    #[cold]
    fn pin_chunk(&self, device: &dyn Device, class: usize) -> bool {
        let block = SMALLEST << class;
        let size = CHUNK.max(block);
        let mut state = self.state();
        if state.bytes + size > MOST {
            return false;
        }
        if state.rest > 0 {
            state.rest -= 1;
            return false;
        }
        state.bytes += size;
        drop(state);
        let memory = device.allocate(size, AllocationKind::Host, false);
        let mut state = self.state();
        let Ok(memory) = memory else {
            state.bytes -= size;
            state.rest = RESTS.0.saturating_mul(1 << state.refusals.min(16)).min(RESTS.1);
            state.refusals += 1;
            return false;
        };
        state.refusals = 0;
        let addresses = (memory.0..memory.0 + size).step_by(block);
        let blocks: Vec<_> =
            addresses.map(|address| Arc::new(Block { address, class, state: AtomicU8::new(KEPT) })).collect();
        state.idle[class].extend(blocks.iter().cloned());
        state.chunks.push(Chunk { memory, size, blocks });
        true
    }

    /// Gives the back end the chunks of which no construct uses a block. False: none.
    pub(crate) fn unpin_idle(&self, device: &dyn Device) -> bool {
        let mut state = self.state();
        let (taken, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.chunks).into_iter().partition(Chunk::take);
        state.chunks = left;
        state.bytes -= taken.iter().map(|chunk| chunk.size).sum::<usize>();
        let is_there = |block: &Arc<Block>| block.state.load(Ordering::Acquire) != GONE;
        state.idle.iter_mut().for_each(|blocks| blocks.retain(is_there));
        drop(state);
        for chunk in &taken {
            // Nothing can be done about memory that cannot be freed.
            // SAFETY: the back end has allocated it as such, and nobody uses it any more.
            let _ = unsafe { device.deallocate(chunk.memory, AllocationKind::Host) };
        }
        !taken.is_empty()
    }
}

impl StagingBlock {
    /// Has a construct use it, if it is a block of this device, is still there, and has so
    /// many bytes.
    #[inline]
    pub(crate) fn begin(&self, staging: Option<&Staging>, bytes: usize) -> bool {
        staging.is_some_and(|staging| std::ptr::eq(self.staging, staging))
            && bytes <= SMALLEST << self.block.class
            && (self.block.change(KEPT, USED) || self.block.state.load(Ordering::Acquire) == USED)
    }

    /// The construct has done with it, if it has used it: it may be gone.
    #[inline]
    pub(crate) fn end(&self) {
        self.block.change(USED, KEPT);
    }

    /// The bytes, for the construct that uses it.
    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        debug_assert_eq!(self.block.state.load(Ordering::Relaxed), USED);
        let first = std::ptr::with_exposed_provenance_mut(self.block.address);
        // SAFETY: the block is this one's alone, and nobody takes a block that is used.
        // Devices write whole bytes.
        unsafe { std::slice::from_raw_parts_mut(first, SMALLEST << self.block.class) }
    }
}

impl Drop for StagingBlock {
    fn drop(&mut self) {
        let mut state = self.staging.state();
        // Under the lock, under which it is taken away.
        if self.block.state.load(Ordering::Acquire) != GONE {
            self.end();
            state.idle[self.block.class].push(Arc::clone(&self.block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_large_enough_and_not_much_larger() {
        for bytes in 1..=SMALLEST << (CLASSES - 1) {
            let size = SMALLEST << class_of(bytes).unwrap();
            assert!(size >= bytes && (size == SMALLEST || size < 2 * bytes), "{size} for {bytes}");
        }
        assert_eq!(class_of((SMALLEST << (CLASSES - 1)) + 1), None);
    }
}
