//! Memory in the device's heap for what threads share, where the stack in shared memory is too small.
//!
//! In an SPMD kernel all threads of a team ask for a variable of the team's, and must get one memory, or
//! copies in one: `share::join` finds the first thread's copy there.
//! None of them waits for the others, as a thread may also ask alone. They find each other's block by
//! its number: how many blocks the thread has asked for in this kernel. The last thread that gives the
//! block back gives it to the heap.

use crate::environment::KernelEnvironment;
use crate::{critical, debug, device_heap, kernel, target};
use core::cell::UnsafeCell;
use core::ffi::c_void;

/// What stands before the memory.
#[repr(C, align(16))]
struct Block {
    next: *mut Self,
    key: Key,
    /// The size of a copy, and how many there are: one for the team, or one for each thread.
    bytes: u64,
    copies: u32,
    /// How many threads of the team have it.
    users: u32,
}

const _: () = assert!(size_of::<Block>() == 48);

/// What stands before each copy: its block.
#[repr(C, align(16))]
struct Head(*mut Block);

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
fn fresh(key: Key, bytes: u64, copies: u32) -> *mut Block {
    let all = bytes.saturating_add(size_of::<Head>() as u64).saturating_mul(u64::from(copies));
    let block: *mut Block = device_heap::allocate(all.saturating_add(size_of::<Block>() as u64)).cast();
    // SAFETY: the memory is large enough.
    unsafe { block.write(Block { next: core::ptr::null_mut(), key, bytes, copies, users: 0 }) };
    block
}

/// Memory of this thread's, which others can read.
#[must_use]
pub fn own(bytes: u64) -> *mut c_void {
    // SAFETY: the block is this thread's.
    unsafe { Copies::of_block(fresh(Key::new(0), bytes, 1)).take(0) }
}

/// The memory of the team's with that number, or the thread's copy where each has one. The first thread
/// makes it. `bytes` are a multiple of the alignment.
#[must_use]
pub fn of_team(number: u32, bytes: u64, copies: u32) -> *mut c_void {
    let key = Key::new(number);
    let list = key.list();
    // SAFETY: the list and what it holds are the thread's while it has the lock.
    unsafe {
        let block = critical::exclusively(&raw mut (*list).lock, || {
            let mut block = (*list).first;
            while !(block.is_null() || (*block).key == key && (*block).bytes == bytes) {
                block = (*block).next;
            }
            if block.is_null() {
                block = fresh(key, bytes, copies);
                (*block).next = (*list).first;
                (*list).first = block;
            }
            (*block).users += 1;
            block
        });
        Copies::of_block(block).take(if copies == 1 { 0 } else { target::thread_id() })
    }
}

/// Memory with a copy of a variable for each thread.
#[derive(Clone, Copy)]
pub struct Copies {
    block: *mut Block,
    /// The size of each.
    pub bytes: u64,
}

impl Copies {
    /// # Safety
    /// The block is there.
    unsafe fn of_block(block: *mut Block) -> Self {
        // SAFETY: as the caller says.
        Self { block, bytes: unsafe { (*block).bytes } }
    }

    fn head(self, thread: u32) -> *mut Head {
        let each = self.bytes + size_of::<Head>() as u64;
        self.block.wrapping_add(1).wrapping_byte_add((each * u64::from(thread)) as usize).cast()
    }

    /// The copy of a thread.
    #[must_use]
    pub fn of(self, thread: u32) -> *mut u8 {
        self.head(thread).wrapping_add(1).cast()
    }

    /// The copy of a thread, which will give it back.
    unsafe fn take(self, thread: u32) -> *mut c_void {
        // SAFETY: the caller has the block, and each thread writes its own head.
        unsafe { self.head(thread).write(Head(self.block)) };
        self.of(thread).cast()
    }

    /// Whether an address is in one of the copies.
    fn have(self, address: *mut c_void, copies: u32) -> bool {
        let all = self.head(copies) as usize - self.head(0) as usize;
        (address as usize).wrapping_sub(self.head(0) as usize) < all
    }

    /// The address in one thread's copy that `address` is in another's.
    #[must_use]
    pub fn with_offset_of(self, address: *mut c_void, from: u32, to: u32) -> *mut c_void {
        address.wrapping_byte_add((self.of(to) as usize).wrapping_sub(self.of(from) as usize)).cast()
    }
}

/// The copies of the team's in which an address is. `last` is the thread's last number, 0 if it has none.
#[must_use]
pub fn copies_at(last: u32, address: *mut c_void) -> Option<Copies> {
    if last == 0 {
        return None;
    }
    let own = Key::new(0);
    let list = own.list();
    let mut found = None;
    // SAFETY: the list and what it holds are the thread's while it has the lock.
    unsafe {
        critical::exclusively(&raw mut (*list).lock, || {
            let mut block = (*list).first;
            while !block.is_null() {
                let of_team = (*block).key == Key { number: (*block).key.number, ..own };
                let copies = Copies::of_block(block);
                if of_team && (*block).copies > 1 && copies.have(address, (*block).copies) {
                    found = Some(copies);
                    break;
                }
                block = (*block).next;
            }
        });
    }
    found
}

/// Gives memory back.
///
/// # Safety
/// `memory` is of [`own`] or [`of_team`], and the thread has not given it back.
pub unsafe fn give_back(memory: *mut c_void) {
    // SAFETY: the head stands before the memory, and the block stays as it is for as long as a thread has it.
    unsafe {
        let Head(block) = memory.cast::<Head>().sub(1).read();
        if (*block).key.number == 0 {
            target::release(block.cast());
            return;
        }
        let list = (*block).key.list();
        let unused = critical::exclusively(&raw mut (*list).lock, || {
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
            unused
        });
        if unused {
            target::release(block.cast());
        }
    }
}
