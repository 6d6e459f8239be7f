//! Memory for the arguments of kernels, in the host's memory: blocks that are kept and used again.
//!
//! A block holds what the kernel is given, and behind it the table of the program's variables, which the runtime
//! writes there by plain stores: the offload sessions proposed for libgomp. GCC's kernels are given the table's
//! address; LLVM's the table itself, and implicit arguments behind it. The table has room in steps of 64
//! pointers, so that a block fits many a later launch. Blocks are cut from pieces of the pool, whose allocation costs
//! a call of the library.

use crate::agent::Agent;
use crate::memory;
use gangway_backend::{DevicePtr, Result};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Pointers by which a table's room grows.
const STEP: usize = 64;
/// The largest table of GCC's that stands in such a block; the runtime puts a larger one into the device's memory.
pub(crate) const LARGEST_TABLE: usize = 4096;
/// Bytes before the table: what GCC's kernels are given, and what is copied to the device before LLVM's.
pub(crate) const HEAD: usize = 64;
/// Bytes behind the table: implicit arguments.
pub(crate) const TAIL: usize = 256;
/// Bytes of a piece of the pool.
const PIECE: usize = 64 << 10;

/// The blocks of a device.
#[derive(Default)]
pub(crate) struct Arguments {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the room of their tables.
    free: HashMap<usize, Vec<Block>>,
    pieces: Vec<DevicePtr>,
}

/// A block: host and device see it at the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub address: usize,
    /// Pointers that its table has room for.
    pub room: usize,
}

impl Block {
    /// Where the table is.
    pub const fn table(self) -> usize {
        self.address + HEAD
    }
}

impl Arguments {
    /// A block whose table has room for so many pointers.
    ///
    /// # Errors
    /// The pool has no memory.
    pub fn take(&self, agent: &Agent, pointers: usize) -> Result<Block> {
        let room = pointers.next_multiple_of(STEP).max(STEP);
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = lock().free.get_mut(&room).and_then(Vec::pop) {
            return Ok(block);
        }
        let size = (HEAD + room * size_of::<u64>() + TAIL).next_multiple_of(HEAD);
        let piece = memory::visible(agent, agent.pools.arguments, PIECE.max(size))?;
        let mut state = lock();
        state.pieces.push(piece);
        let block = |number| Block { address: piece.0 + number * size, room };
        let others = (1..PIECE / size).map(block);
        state.free.entry(room).or_default().extend(others);
        Ok(block(0))
    }

    /// A block is free again: its kernel is done.
    pub fn give_back(&self, block: Block) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.free.entry(block.room).or_default().push(block);
    }

    /// Frees all.
    ///
    /// # Safety
    /// No kernel is under way.
    pub unsafe fn free(&self, agent: &Agent) {
        let state = std::mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        for piece in state.pieces {
            // SAFETY: allocated above, and the caller's promise.
            let _ = unsafe { memory::free(agent, piece) };
        }
    }
}
