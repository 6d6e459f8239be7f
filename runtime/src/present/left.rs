//! What other threads leave to the construct that fills an entry.
//!
//! A thread that attaches a pointer inside an entry which is being filled must not write it:
//! the filler may still copy over it. So it leaves the pointer to the filler, which looks for
//! such pointers when its copies have been issued. Nearly always there are none, and to find
//! that out is one compare-and-swap.

use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// The pointers, by host address. The state comes first, beside what else an entry's making
/// touches.
#[repr(C)]
#[derive(Debug)]
pub(super) struct LeftToFiller {
    /// Becomes [`SOME`] while `pointers` is locked; [`SEALED`] at any time.
    state: AtomicUsize,
    pointers: Mutex<Vec<usize>>,
}

/// No pointer has been left.
const NONE: usize = 0;
/// A pointer has been left, or will have been when `pointers` is unlocked.
const SOME: usize = 1;
/// The filler has looked for the last time.
const SEALED: usize = 2;

impl LeftToFiller {
    pub(super) fn none() -> Self {
        Self { state: AtomicUsize::new(NONE), pointers: Mutex::new(Vec::new()) }
    }

    /// The entry begins a life.
    pub(super) fn begin(&self) {
        self.state.store(NONE, Ordering::Relaxed);
    }

    /// Leaves a pointer. False: the filler has looked for the last time.
    pub(super) fn leave(&self, host_pointer: usize) -> bool {
        let mut pointers = lock(&self.pointers);
        match self.state.compare_exchange(NONE, SOME, Ordering::AcqRel, Ordering::Acquire) {
            Err(SEALED) => false,
            _ => {
                pointers.push(host_pointer);
                true
            }
        }
    }

    /// True: nothing has been left, nor will be.
    #[inline]
    pub(super) fn seal(&self) -> bool {
        let sealed = self.state.compare_exchange(NONE, SEALED, Ordering::AcqRel, Ordering::Acquire);
        !matches!(sealed, Err(SOME))
    }

    /// Takes what has been left.
    pub(super) fn take(&self) -> Vec<usize> {
        let mut pointers = lock(&self.pointers);
        self.state.store(NONE, Ordering::Release);
        std::mem::take(&mut *pointers)
    }

    /// Forgets what has been left in an entry that leaves the table.
    pub(super) fn clear(&self) {
        lock(&self.pointers).clear();
    }

    /// Takes the lock, for a fork.
    #[cfg(not(loom))]
    pub(super) fn hold(&self) -> crate::sync::MutexGuard<'_, Vec<usize>> {
        lock(&self.pointers)
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;

    /// Two threads leave a pointer each while the filler seals the entry: it finds what has
    /// been left, and nothing else.
    #[test]
    fn loom_the_filler_finds_what_is_left() {
        loom::model(|| {
            let left = Arc::new(LeftToFiller::none());
            let leaving = [8, 16].map(|pointer| {
                let left = left.clone();
                loom::thread::spawn(move || left.leave(pointer))
            });
            let mut found = Vec::new();
            while !left.seal() {
                found.extend(left.take());
            }
            let has_left = leaving.map(|thread| thread.join().unwrap());
            found.sort_unstable();
            let expected = [8, 16].into_iter().zip(has_left).filter(|(_, left)| *left);
            assert_eq!(found, expected.map(|(pointer, _)| pointer).collect::<Vec<_>>());
        });
    }
}
