//! Device memory: separate from what it mirrors, poisoned, and checked when freed.
//!
//! `CpuDevice` calls this for every mapping, so both ways are
//! free of locks. Small blocks come from the [`arena`], others from [`large`]; both
//! are aligned to a cache line. A kernel that reads what was never mapped to it
//! meets the [poison](poison::Poison) instead of a value that happens to fit.

mod large;
mod poison;

use crate::arena::{self, NotLive, arena};
use crate::thread;
use gangway_backend::{Error, Result};
pub(crate) use poison::{PATTERN as POISON, Poison, looks_poisoned};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of one logical device.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    device: usize,
    poison: Poison,
    /// Bytes that may be allocated; without a limit nothing is counted, as
    /// threads would otherwise meet on the counter.
    limit: Option<usize>,
    used: AtomicUsize,
}

impl DeviceMemory {
    pub const fn new(device: usize, poison: Poison, limit: Option<usize>) -> Self {
        Self { device, poison, limit, used: AtomicUsize::new(0) }
    }

    pub const fn poison(&self) -> Poison {
        self.poison
    }

    /// Bytes that may be allocated, and those that are, if there is a limit.
    pub fn usage(&self) -> Option<(usize, usize)> {
        self.limit.map(|limit| (limit, self.used.load(Ordering::Relaxed)))
    }

    /// `size` bytes, poisoned unless they are about to be `overwritten`.
    #[inline]
    pub fn allocate(&self, size: usize, overwritten: bool) -> Result<*mut u8> {
        let size = size.max(1);
        self.charge(size)?;
        let block = if size <= arena::LARGEST {
            let cache = thread::current().map(thread::Thread::cache);
            arena().and_then(|arena| arena.allocate(cache, self.device, size))
        } else {
            None
        };
        let block = match block {
            Some(block) => block,
            None => large::allocate(self.device, size).ok_or_else(|| {
                self.discharge(size);
                Error::OutOfMemory { requested: size }
            })?,
        };
        if !overwritten {
            // SAFETY: the block is new, has `size` bytes, and is aligned to a cache line.
            unsafe { self.poison.allocated(block, size) };
        }
        Ok(block)
    }

    /// Frees what [`allocate`](Self::allocate) gave; anything else is an error.
    #[inline]
    pub fn free(&self, address: usize) -> Result<()> {
        let Some(arena) = arena() else { return self.free_large(address) };
        match arena.retire(self.device, address) {
            Ok(size) => {
                // SAFETY: the block was live until now and has been handed to nobody since.
                unsafe { self.poison.freed(ptr::with_exposed_provenance_mut(address), size) };
                arena.recycle(thread::current().map(thread::Thread::cache), address);
                self.discharge(size);
                Ok(())
            }
            Err(NotLive::Elsewhere) => self.free_large(address),
            Err(NotLive::Freed) => Err(self.not_ours(address, "it has been freed already")),
            Err(NotLive::OtherDevice(other)) => Err(self.belongs_to(address, other)),
            Err(NotLive::NoBlock) => Err(self.not_ours(address, "no allocation starts there")),
        }
    }

    #[cold]
    fn free_large(&self, address: usize) -> Result<()> {
        match large::find(address) {
            Some(live) if live.device == self.device => {
                let block = ptr::with_exposed_provenance_mut(address);
                // SAFETY: the block is live, has that size, and its mark is taken away by `free`.
                unsafe {
                    self.poison.freed(block, live.size);
                    large::free(block);
                }
                self.discharge(live.size);
                Ok(())
            }
            Some(live) => Err(self.belongs_to(address, live.device)),
            None => Err(self.not_ours(address, "it is not device memory, or has been freed already")),
        }
    }

    #[inline]
    fn charge(&self, size: usize) -> Result<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        let taken = charged(size);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(taken).filter(|sum| *sum <= limit)
            })
            .map(|_| ())
            .map_err(|_| Error::OutOfMemory { requested: size })
    }

    #[inline]
    fn discharge(&self, size: usize) {
        if self.limit.is_some() {
            self.used.fetch_sub(charged(size), Ordering::Relaxed);
        }
    }

    fn belongs_to(&self, address: usize, other: usize) -> Error {
        self.not_ours(address, &format!("it was allocated on cpu device {other}"))
    }

    #[cold]
    fn not_ours(&self, address: usize, why: &str) -> Error {
        let device = self.device;
        Error::Device { code: 0, message: format!("cannot free {address:#x} on cpu device {device}: {why}") }
    }
}

/// What an allocation counts against the limit: what its block really takes, so
/// that freeing, which knows only the block, gives back the same.
fn charged(size: usize) -> usize {
    if size <= arena::LARGEST { arena::block_size(size) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(device: usize, limit: Option<usize>) -> DeviceMemory {
        DeviceMemory::new(device, Poison::Bounded, limit)
    }

    fn message(result: Result<()>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn new_memory_is_poisoned_unless_overwritten_and_freed_memory_again() {
        let memory = memory(0, None);
        for size in [1, 8, 63, 64, 65, 4096, 20_000] {
            let block = memory.allocate(size, false).unwrap();
            assert_eq!(block.addr() % 64, 0);
            // SAFETY: a live block of `size` bytes; the first byte of the pattern is 0xAD.
            unsafe {
                assert_eq!(block.read(), 0xAD, "{size}");
                block.write(1);
            }
            memory.free(block.addr()).unwrap();
            if size <= 4096 {
                // SAFETY: memory of the arena stays readable; that is what is being tested.
                assert_eq!(unsafe { block.read_volatile() }, 0xAD, "{size}");
            }
        }
    }

    #[test]
    fn wrong_frees_are_errors() {
        let (zero, one) = (memory(0, None), memory(1, None));
        for size in [8, 100_000] {
            let block = zero.allocate(size, true).unwrap().addr();
            assert_eq!(
                message(one.free(block)),
                format!("cannot free {block:#x} on cpu device 1: it was allocated on cpu device 0")
            );
            assert!(message(zero.free(block + 64)).contains("cannot free"));
            zero.free(block).unwrap();
            assert!(message(zero.free(block)).contains("freed already"));
        }
        for junk in [0_usize, 1, 64, 0x7FF4_DEAD_7FF4_DEAD, usize::MAX] {
            assert!(zero.free(junk).is_err());
        }
        let local = 5_u64;
        assert!(zero.free(ptr::from_ref(&local).addr()).is_err());
    }

    #[test]
    fn the_limit_is_kept_and_given_back() {
        let memory = memory(0, Some(1 << 20));
        assert_eq!(
            memory.allocate((1 << 20) + 1, true).unwrap_err(),
            Error::OutOfMemory { requested: (1 << 20) + 1 }
        );
        for _ in 0..3 {
            let blocks: Vec<_> = std::iter::from_fn(|| memory.allocate(1000, true).ok()).collect();
            assert_eq!(blocks.len(), 1024);
            blocks.iter().for_each(|block| memory.free(block.addr()).unwrap());
            assert_eq!(memory.usage(), Some((1 << 20, 0)));
        }
        let block = memory.allocate(1 << 20, true).unwrap();
        assert!(memory.allocate(1, true).is_err());
        memory.free(block.addr()).unwrap();
    }
}
