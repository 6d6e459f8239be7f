//! Memory in the device's heap for what threads share, where the stack in shared memory is too small.
//!
//! In an SPMD kernel all threads of a team ask for a variable of the team's, and must get one memory.
//! None of them waits for the others, as a thread may also ask alone. They find each other's block by
//! its number: how many blocks the thread has asked for in this kernel. The last thread that gives the
//! block back gives it to the heap.

use crate::environment::KernelEnvironment;
use crate::{critical, debug, kernel, share, target};
use core::cell::UnsafeCell;
use core::ffi::c_void;

/// What stands before the memory.
#[repr(C, align(16))]
struct Block {
    next: *mut Self,
    key: Key,
    bytes: u64,
    /// How many threads of the team have it.
    users: u32,
}

const _: () = assert!(size_of::<Block>() == 48);

/// Whose block it is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Key {
    launch: u64,
    /// Kernels that run at the same time differ by it, even where their launches have no number.
    kernel: *const KernelEnvironment,
    team: u32,
    /// 0 for memory of one thread alone.
    number: u32,
}

/// The blocks of some teams.
#[repr(C)]
struct List {
    first: *mut Block,
    lock: u32,
}

const LISTS: usize = 64;

struct Lists(UnsafeCell<[List; LISTS]>);

// SAFETY: each list is used by the thread that has its lock.
unsafe impl Sync for Lists {}

/// In memory of the device and not of the block: shared memory has no value when a block starts, and
/// threads ask without having met.
static TEAMS: Lists =
    Lists(UnsafeCell::new([const { List { first: core::ptr::null_mut(), lock: 0 } }; LISTS]));

impl Key {
    fn new(number: u32) -> Self {
        Self { launch: target::launch_id(), kernel: kernel::environment(), team: target::block_id(), number }
    }

    /// The list, at an address that LLVM knows nothing of: its passes for OpenMP would conclude from
    /// one thread's accesses what the list holds.
    fn list(&self) -> *mut List {
        let index = self.team as usize % LISTS;
        // SAFETY: the index is in range.
        let list = unsafe { TEAMS.0.get().cast::<List>().add(index) };
        target::opaque(list.cast()).cast_mut().cast()
    }
}

/// Fresh memory; the kernel ends if there is none.
fn fresh(key: Key, bytes: u64) -> *mut Block {
    let block: *mut Block = share::heap(bytes.saturating_add(size_of::<Block>() as u64)).cast();
    // SAFETY: the memory is large enough.
    unsafe { block.write(Block { next: core::ptr::null_mut(), key, bytes, users: 0 }) };
    block
}

/// Memory of this thread's, which others can read.
#[must_use]
pub fn own(bytes: u64) -> *mut c_void {
    // SAFETY: the memory begins behind the block's head.
    unsafe { fresh(Key::new(0), bytes).add(1).cast() }
}

/// The memory of the team's with that number. The first thread makes it.
#[must_use]
pub fn of_team(number: u32, bytes: u64) -> *mut c_void {
    let key = Key::new(number);
    let list = key.list();
    // SAFETY: the list and what it holds are the thread's while it has the lock.
    unsafe {
        critical::lock(&raw mut (*list).lock);
        let mut block = (*list).first;
        while !(block.is_null() || (*block).key == key && (*block).bytes == bytes) {
            block = (*block).next;
        }
        if block.is_null() {
            block = fresh(key, bytes);
            (*block).next = (*list).first;
            (*list).first = block;
        }
        (*block).users += 1;
        critical::unlock(&raw mut (*list).lock);
        block.add(1).cast()
    }
}

/// Gives memory back.
///
/// # Safety
/// `memory` is of [`own`] or [`of_team`], and the thread has not given it back.
pub unsafe fn give_back(memory: *mut c_void) {
    // SAFETY: the head stands before the memory, and stays as it is for as long as a thread has it.
    unsafe {
        let block = memory.cast::<Block>().sub(1);
        if (*block).key.number == 0 {
            target::release(block.cast());
            return;
        }
        let list = (*block).key.list();
        critical::lock(&raw mut (*list).lock);
        (*block).users -= 1;
        let unused = (*block).users == 0;
        if unused {
            let mut link = &raw mut (*list).first;
            while *link != block {
                debug::check(|| !(*link).is_null(), c"a team's shared variable is given back twice");
                link = &raw mut (**link).next;
            }
            *link = (*block).next;
        }
        critical::unlock(&raw mut (*list).lock);
        if unused {
            target::release(block.cast());
        }
    }
}
