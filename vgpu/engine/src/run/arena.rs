//! Memory for the frames of functions in which lanes wait for others of their warp. They end in any
//! order, so they cannot be on the stack.
//!
//! A warp may be given up at any time. So the arena owns all its memory, and takes it back before
//! the next warp begins.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// What a warp has at most: as much as its stack.
const MOST: usize = 64 << 20;
/// What is kept for the next warp at most.
const KEPT: usize = 1 << 20;
/// The smallest piece.
const LEAST: usize = 1 << 10;
/// In front of each piece is its class, and frames begin with a line of the cache.
const HEAD: usize = 64;
const CLASSES: usize = usize::BITS as usize;

#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Whether any piece is in use, or more than [`KEPT`] is here.
    used: Cell<bool>,
    pieces: RefCell<Pieces>,
}

#[derive(Debug)]
struct Pieces {
    all: Vec<NonNull<u8>>,
    /// Those that are free, by class.
    free: [Vec<NonNull<u8>>; CLASSES],
    bytes: usize,
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces { all: Vec::new(), free: [const { Vec::new() }; CLASSES], bytes: 0 }
    }
}

fn layout(class: usize) -> Layout {
    Layout::from_size_align(1 << class, HEAD).expect("pieces are small")
}

/// The class of a piece.
///
/// # Safety
/// It is one of an arena's.
unsafe fn class(piece: NonNull<u8>) -> usize {
    // SAFETY: the class stands at its beginning, which is aligned.
    unsafe { piece.cast::<usize>().read() }
}

impl Arena {
    pub fn allocate(&self, size: usize) -> Option<NonNull<u8>> {
        let class = size.checked_add(HEAD)?.max(LEAST).checked_next_power_of_two()?.trailing_zeros() as usize;
        let mut pieces = self.pieces.borrow_mut();
        let piece = match pieces.free[class].pop() {
            Some(piece) => piece,
            None => pieces.add(class)?,
        };
        self.used.set(true);
        // SAFETY: a piece is longer than its head.
        Some(unsafe { piece.add(HEAD) })
    }

    pub fn release(&self, memory: NonNull<u8>) {
        // SAFETY: it is what `allocate` has given.
        let (piece, class) = unsafe {
            let piece = memory.sub(HEAD);
            (piece, class(piece))
        };
        self.pieces.borrow_mut().free[class].push(piece);
    }

    /// Takes everything back.
    pub fn clear(&self) {
        if !self.used.take() {
            return;
        }
        let mut pieces = self.pieces.borrow_mut();
        let Pieces { all, free, bytes } = &mut *pieces;
        free.iter_mut().for_each(Vec::clear);
        if *bytes > KEPT {
            pieces.give_back();
            return;
        }
        for &piece in &*all {
            // SAFETY: it is a piece.
            free[unsafe { class(piece) }].push(piece);
        }
    }
}

impl Pieces {
    fn add(&mut self, class: usize) -> Option<NonNull<u8>> {
        let bytes = 1usize << class;
        if self.bytes + bytes > MOST {
            return None;
        }
        // SAFETY: the size is not zero.
        let piece = NonNull::new(unsafe { alloc(layout(class)) })?;
        // SAFETY: the memory is new, long enough and aligned.
        unsafe { piece.cast::<usize>().write(class) };
        self.bytes += bytes;
        self.all.push(piece);
        Some(piece)
    }

    fn give_back(&mut self) {
        for piece in self.all.drain(..) {
            // SAFETY: it came from `alloc` with this layout, and nothing uses it any more.
            unsafe { dealloc(piece.as_ptr(), layout(class(piece))) };
        }
        self.bytes = 0;
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_used_again() {
        let arena = Arena::default();
        let first = arena.allocate(2000).expect("there is room");
        let second = arena.allocate(2000).expect("there is room");
        assert_ne!(first, second);
        arena.release(first);
        assert_eq!(arena.allocate(2010), Some(first));
        arena.clear();
        assert_eq!(arena.pieces.borrow().bytes, 8192);
        assert!([first, second].contains(&arena.allocate(2020).expect("there is room")));
    }

    #[test]
    fn there_is_an_end() {
        let arena = Arena::default();
        assert_eq!(arena.allocate(MOST), None);
        assert_eq!(arena.allocate(usize::MAX), None);
        let many = std::iter::from_fn(|| arena.allocate(1 << 20)).count();
        assert!((16..=64).contains(&many), "{many}");
        arena.clear();
        assert_eq!(arena.pieces.borrow().bytes, 0);
        assert!(arena.allocate(1 << 20).is_some());
    }
}
