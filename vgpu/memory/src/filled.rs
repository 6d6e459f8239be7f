//! Memory that is full of one word.
//!
//! Large memory gets pages that are full of it when they are written first: private mappings of a small file, over and over.
//! So what nobody touches needs no memory, as of GCC's stacks for all warps that a device could run.

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};

use crate::reserve::{PAGE, pointer};

/// From so many bytes on. What is smaller is mostly used as a whole, and faster on huge pages.
const LARGE: u64 = 64 << 20;
/// The least length of the file: each piece of so many bytes is a mapping.
const PIECE: u64 = 4 << 20;
/// As many pieces at most: a process may have some 65,000 mappings, and needs some for other things.
const PIECES: u64 = 1024;

/// Fills memory, with a word's first byte at the address.
///
/// # Safety
/// The memory can be written, and nobody else uses it.
pub(crate) unsafe fn fill(address: u64, size: u64, word: u64) {
    let bytes = word.to_le_bytes();
    // SAFETY: the caller's promise; memory of the space is never uninitialised.
    let slice = unsafe { std::slice::from_raw_parts_mut(pointer::<u8>(address), size as usize) };
    let mut words = slice.chunks_exact_mut(bytes.len());
    words.by_ref().for_each(|word| word.copy_from_slice(&bytes));
    let rest = words.into_remainder();
    rest.copy_from_slice(&bytes[..rest.len()]);
}

/// Whether memory gets new pages from [`fill_later`]: it may, also where some of them cannot be had.
pub(crate) const fn is_large(size: u64) -> bool {
    size >= LARGE
}

/// As [`fill`], with new pages where [that](is_large) saves memory. Who gives them back maps others in their place: for the
/// system these are never zero.
///
/// # Safety
/// As for [`fill`]. The address is one of the space's, at a multiple of the word's length.
pub(crate) unsafe fn fill_later(address: u64, size: u64, word: u64) {
    let (first, end) = (address.next_multiple_of(PAGE), (address + size) / PAGE * PAGE);
    if is_large(size) && replace(first, end, word).is_ok() {
        // SAFETY: the caller's promise; these are parts of the memory.
        unsafe {
            fill(address, first - address, word);
            fill(end, address + size - end, word);
        }
    } else {
        // SAFETY: the caller's promise.
        unsafe { fill(address, size, word) };
    }
}

/// Maps pages of the file. What fails may be done in part.
fn replace(first: u64, end: u64, word: u64) -> Result<(), Errno> {
    // A file for each: one that stays open is closed by programs that close all they do not know.
    let file = memfd_create("gangway-filled", MemfdFlags::CLOEXEC)?;
    let piece = PIECE.max((end - first).div_ceil(PIECES).next_multiple_of(PAGE));
    let contents = word.to_le_bytes().repeat(piece as usize / 8);
    let mut written = 0;
    while written < contents.len() {
        written += rustix::io::pwrite(&file, &contents[written..], written as u64)?;
    }
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    for start in (first..end).step_by(piece as usize) {
        let length = piece.min(end - start) as usize;
        // SAFETY: the pages are in the reserved range, and the caller of `fill_later` owns them.
        unsafe { mmap(pointer(start), length, access, flags | MapFlags::FIXED, &file, 0)? };
    }
    Ok(())
}
