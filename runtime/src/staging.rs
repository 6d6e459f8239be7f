//! Host memory that a device copies from and to by itself, for the packed data of
//! constructs.
//!
//! A driver that is asked for a copy to ordinary host memory may wait until it is done, as
//! the memory could be moved meanwhile. Back ends where that is so say
//! [`Capabilities::pinned_staging`], and packed data stands in pinned memory of theirs.
//!
//! Blocks come out of chunks that the back end has allocated. A job keeps its blocks from
//! construct to construct, so that none asks for memory in the long run. No lock is held
//! across a call. What is pinned is bounded, and there may be none: then packed data stands
//! in ordinary memory, which every copy can use.
//!
//! [`Capabilities::pinned_staging`]: gangway_backend::Capabilities::pinned_staging

use crate::device::Opened;
use gangway_backend::{AllocationKind, DevicePtr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The smallest block.
const SMALLEST: usize = 1 << 10;
/// Sizes of blocks: each is twice the one before.
const CLASSES: usize = 8;
/// What the back end is asked for at a time, or one block if that is larger.
const CHUNK: usize = 64 << 10;
/// Bytes that are pinned at most: all processes of the machine share what there is.
const MOST: usize = 32 << 20;

/// The blocks of one device.
#[derive(Default)]
pub(crate) struct Staging {
    state: Mutex<State>,
    /// How often everything has been given back. Blocks of before are gone.
    epoch: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Addresses of blocks that nobody has, by class.
    idle: [Vec<usize>; CLASSES],
    chunks: Vec<DevicePtr>,
    bytes: usize,
    /// The back end has given none: it is not asked again.
    refused: bool,
}

/// The lock of a device's blocks.
#[cfg(not(loom))]
pub(crate) struct StagingLock<'s> {
    _state: MutexGuard<'s, State>,
}

/// A block in use. Dropping it gives it back, without a call of the back end.
pub(crate) struct StagingBlock {
    opened: &'static Opened,
    epoch: usize,
    address: usize,
    class: usize,
}

/// The class of blocks with so many bytes.
fn class_of(bytes: usize) -> Option<usize> {
    let class = bytes.max(SMALLEST).next_power_of_two().ilog2() - SMALLEST.ilog2();
    Some(class as usize).filter(|class| *class < CLASSES)
}

impl Staging {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes its lock, for a fork.
    #[cfg(not(loom))]
    pub(crate) fn hold(&self) -> StagingLock<'_> {
        StagingLock { _state: self.state() }
    }
}

impl Opened {
    /// A block of so many bytes; `None` if none can be had.
    pub(crate) fn staging_block(&'static self, bytes: usize) -> Option<StagingBlock> {
        let (staging, class) = (self.staging.as_ref()?, class_of(bytes)?);
        let epoch = staging.epoch.load(Ordering::Acquire);
        // The lock is not held while the back end is asked.
        let idle = staging.state().idle[class].pop();
        let address = match idle {
            Some(address) => address,
            None => self.pin_chunk(staging, class)?,
        };
        Some(StagingBlock { opened: self, epoch, address, class })
    }

    /// Has a chunk allocated, and takes its first block.
    #[cold]
    fn pin_chunk(&self, staging: &Staging, class: usize) -> Option<usize> {
        let block = SMALLEST << class;
        let size = CHUNK.max(block);
        let mut state = staging.state();
        if state.refused || state.bytes + size > MOST {
            return None;
        }
        state.bytes += size;
        drop(state);
        let chunk = self.device.allocate(size, AllocationKind::Host, false);
        let mut state = staging.state();
        let Ok(chunk) = chunk else {
            state.bytes -= size;
            state.refused = true;
            return None;
        };
        state.chunks.push(chunk);
        state.idle[class].extend((chunk.0 + block..chunk.0 + size).step_by(block));
        Some(chunk.0)
    }

    /// Gives the back end all of it. No construct is under way; jobs that still have blocks
    /// see that these are gone.
    pub(crate) fn unpin_all(&self) {
        let Some(staging) = &self.staging else { return };
        let mut state = staging.state();
        staging.epoch.fetch_add(1, Ordering::Release);
        let State { chunks, .. } = std::mem::take(&mut *state);
        drop(state);
        for chunk in chunks {
            // Nothing can be done about memory that cannot be freed.
            // SAFETY: the back end has allocated it as such, and nobody uses it.
            let _ = unsafe { self.device.deallocate(chunk, AllocationKind::Host) };
        }
    }
}

impl StagingBlock {
    /// Whether it is a block of a device, is still there, and has so many bytes.
    #[inline]
    pub(crate) fn suits(&self, opened: &Opened, bytes: usize) -> bool {
        std::ptr::eq(self.opened, opened) && bytes <= SMALLEST << self.class && self.is_there()
    }

    #[inline]
    fn is_there(&self) -> bool {
        let epoch = self.opened.staging.as_ref().map(|staging| staging.epoch.load(Ordering::Acquire));
        epoch == Some(self.epoch)
    }

    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let first = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: the block is this one's alone, and its chunk is freed only when no construct
        // is under way; `suits` has been asked when this one began. Devices write whole bytes.
        unsafe { std::slice::from_raw_parts_mut(first, SMALLEST << self.class) }
    }
}

impl Drop for StagingBlock {
    fn drop(&mut self) {
        let Some(staging) = &self.opened.staging else { return };
        let mut state = staging.state();
        // Under the lock, as it changes under it.
        if self.is_there() {
            state.idle[self.class].push(self.address);
        }
    }
}

#[cfg(all(test, not(loom)))]
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
