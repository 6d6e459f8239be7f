//! Places of one type in a block of memory that kernels can access: signals and queues.
//!
//! Their addresses are handles, so an address is checked to be that of a place in use. The block is never
//! given back: a handle that is used after its end finds memory that is there. A place rests before it
//! is used again, so that a stale handle is known as one for a while.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::{AllocationKind, Request};

use crate::abi::{Result, Status};
use crate::objects::agent;

/// So many places must be free before one is used again.
const RESTING: usize = 4096;

const FREE: u8 = 0;
const USED: u8 = 1;
/// In use, and marked by its users.
const MARKED: u8 = 2;

#[derive(Debug)]
pub struct Arena<T: 'static> {
    base: u64,
    states: Box<[AtomicU8]>,
    free: Mutex<Free>,
    of: PhantomData<&'static T>,
}

#[derive(Debug, Default)]
struct Free {
    resting: VecDeque<u32>,
    /// Places that have ever been used.
    used: u32,
}

impl<T: Sync + 'static> Arena<T> {
    /// Takes the memory; pages come as they are used. `None` if there is none. A type is one that zeros
    /// are a value of, with parts that may change at any time.
    #[must_use]
    pub fn new(count: u32) -> Option<Self> {
        let size = u64::from(count) * size_of::<T>() as u64;
        let request = Request::new(0, size, AllocationKind::Arena).align(align_of::<T>() as u64);
        let base = agent::space().ok()?.allocate(&request).ok()?;
        let states = (0..count).map(|_| AtomicU8::new(FREE)).collect();
        Some(Self { base, states, free: Mutex::default(), of: PhantomData })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place that nobody uses, and its number.
    pub fn take(&self) -> Result<(u32, &'static T)> {
        let mut free = self.free();
        let fresh = free.used < self.states.len() as u32;
        let number = if free.resting.len() > RESTING || !fresh {
            free.resting.pop_front().ok_or(Status::ERROR_OUT_OF_RESOURCES)?
        } else {
            free.used += 1;
            free.used - 1
        };
        self.states[number as usize].store(USED, Ordering::Release);
        Ok((number, self.at(number)))
    }

    /// A place is free from here on; `false` if it was before.
    pub fn give(&self, number: u32) -> bool {
        let was = self.states[number as usize].swap(FREE, Ordering::AcqRel);
        if was != FREE {
            self.free().resting.push_back(number);
        }
        was != FREE
    }

    /// All places but one are free from here on.
    pub fn give_all_but(&self, kept: u32) {
        let used = self.free().used;
        (0..used).filter(|&number| number != kept).for_each(|number| {
            self.give(number);
        });
    }

    /// The place in use that begins at an address.
    #[inline]
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(u32, &'static T)> {
        let offset = address.checked_sub(self.base)?;
        let number = offset / size_of::<T>() as u64;
        let state = self.states.get(usize::try_from(number).ok()?)?;
        let used = state.load(Ordering::Acquire) != FREE && offset.is_multiple_of(size_of::<T>() as u64);
        used.then(|| (number as u32, self.at(number as u32)))
    }

    /// Marks a place until it is free.
    pub fn mark(&self, number: u32) {
        let state = &self.states[number as usize];
        let _ = state.compare_exchange(USED, MARKED, Ordering::SeqCst, Ordering::Relaxed);
    }

    #[inline]
    #[must_use]
    pub fn is_marked(&self, number: u32) -> bool {
        self.states[number as usize].load(Ordering::SeqCst) == MARKED
    }

    fn at(&self, number: u32) -> &'static T {
        let address = self.base + u64::from(number) * size_of::<T>() as u64;
        // SAFETY: the block is never given back, has so many places, and is aligned for them. What kernels
        // and callers write there is of atomic parts, or theirs to answer for.
        unsafe { &*std::ptr::with_exposed_provenance::<T>(address as usize) }
    }
}
