//! `copyprivate`: the variables of the thread that ran a `single` go to all threads of its team.
//!
//! They may be on that thread's stack, where nobody else can read. So it copies them by the
//! compiler's function to memory of the device, and the others copy from there. Only the compiler's
//! function knows how large they are. Each has a part of the memory, and what is larger than its part
//! ends the kernel. It cannot reach anything else: a part is followed by as much memory as a thread's
//! stack can have.

use crate::environment::Location;
use crate::place::Place;
use crate::{critical, debug, synchronize};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;

/// The most variables of a list.
const MOST: usize = 1024;
/// The most bytes of a variable, with a mark behind it; less if there are more than eight.
const PART_BYTES: usize = 64 << 10;
const ALL_BYTES: usize = 8 * PART_BYTES;
/// The most that a thread's variables can have on NVIDIA's GPUs.
const STACK_BYTES: usize = 512 << 10;

/// Stands at the end of each part: where it has gone, the variable was larger.
const CANARY: u64 = 0x6761_6e67_7761_7921;

/// The memory, which one team at a time uses. An image without `copyprivate` has none.
#[repr(C, align(16))]
struct Memory {
    list: UnsafeCell<[*mut c_void; MOST]>,
    parts: UnsafeCell<MaybeUninit<[u8; ALL_BYTES + STACK_BYTES]>>,
    /// Whether a team uses it, a lock.
    taken: UnsafeCell<u32>,
}

// SAFETY: the lock keeps other teams off, and barriers order the threads of the team that has it.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory {
    list: UnsafeCell::new([core::ptr::null_mut(); MOST]),
    parts: UnsafeCell::new(MaybeUninit::zeroed()),
    taken: UnsafeCell::new(0),
};

type CopyList = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// The part of one of so many variables: its start, and how many bytes it has before the mark.
fn part(index: usize, count: usize) -> (*mut c_void, usize) {
    let bytes = (ALL_BYTES / count.max(8)) & !15;
    // SAFETY: the index is below `count`.
    let start = unsafe { MEMORY.parts.get().cast::<u8>().add(index * bytes) };
    (start.cast(), bytes - size_of::<u64>())
}

/// Hands the variables over.
///
/// # Safety
/// `list` has `bytes` of pointers, which `copy` copies through; `done` is set in one thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_copyprivate(
    _: *const Location,
    word: i32,
    bytes: u64,
    list: *mut c_void,
    copy: CopyList,
    done: i32,
) {
    let place = Place::of(word);
    if place.size() == 1 {
        return;
    }
    let copies = MEMORY.list.get().cast::<*mut c_void>();
    if done != 0 {
        // SAFETY: the compiler made the function for such lists.
        unsafe { leave(bytes as usize / size_of::<*mut c_void>(), copies, list, copy) };
    }
    synchronize::barrier(place);
    if done == 0 {
        // SAFETY: written before the barrier; the compiler made the function for such lists.
        unsafe { copy(list, copies.cast()) };
    }
    synchronize::barrier(place);
    if done != 0 {
        // SAFETY: nobody of the team reads any more what it has taken.
        unsafe { critical::unlock(MEMORY.taken.get()) };
    }
}

/// Takes the memory, and copies the variables to it.
///
/// # Safety
/// `list` has `count` pointers, and `copy` is for such lists.
unsafe fn leave(count: usize, copies: *mut *mut c_void, list: *mut c_void, copy: CopyList) {
    if count > MOST {
        debug::give_up(c"gangway: copyprivate has more than 1024 variables, the most that is supported\n");
    }
    // SAFETY: the word is a lock.
    unsafe { critical::lock(MEMORY.taken.get()) };
    for index in 0..count {
        let (start, most) = part(index, count);
        // SAFETY: the list has so many elements, and the part a word more than `most`.
        unsafe {
            copies.add(index).write(start);
            start.byte_add(most).cast::<u64>().write_volatile(CANARY);
        }
    }
    // SAFETY: as the caller says.
    unsafe { copy(copies.cast(), list) };
    for index in 0..count {
        let (start, most) = part(index, count);
        // SAFETY: as above.
        if unsafe { start.byte_add(most).cast::<u64>().read_volatile() } != CANARY {
            too_large(index, count, most);
        }
    }
}

#[cold]
fn too_large(index: usize, count: usize, most: usize) -> ! {
    let arguments = [index as u64 + 1, count as u64, most as u64];
    // SAFETY: the format has these arguments.
    unsafe {
        debug::give_up_with(
            c"gangway: variable %llu of the %llu of a copyprivate clause is too large: at most %llu bytes can be \
              handed over; make it shared\n",
            (&raw const arguments).cast(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_apart_and_inside() {
        let start = MEMORY.parts.get() as usize;
        for count in [1, 2, 8, 9, 64, 1000, MOST] {
            let mut end = start;
            for index in 0..count {
                let (part, bytes) = part(index, count);
                assert!(part as usize >= end && (part as usize).is_multiple_of(16), "{index} of {count}");
                end = part as usize + bytes + 8;
            }
            assert!(end <= start + ALL_BYTES);
        }
        assert_eq!(part(0, 3).1, PART_BYTES - 8);
    }
}
