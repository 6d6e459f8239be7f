//! What other threads leave to the construct that fills an entry.
//!
//! A thread that attaches a pointer inside an entry which is being filled must not write it:
//! the filler may still copy over it. So it leaves the pointer to the filler, which looks for
//! such pointers when its copies have been issued. Nearly always there are none, and to find
//! that out is one compare-and-swap, for an entry by itself or for all parts of a block.

use gangway_sync::{AtomicUsize, Mutex, Ordering, lock};

/// What a filler has seen of what is left to it: that of one entry, or of all that share a block.
/// Those mostly have one filler, which so has one step for all of them.
#[derive(Debug)]
pub(crate) struct Left(AtomicUsize);

/// No pointer has been left.
const NONE: usize = 0;
/// A pointer has been left, or will have been when the entry's pointers are unlocked.
const SOME: usize = 1;
/// The filler has looked for the last time.
const SEALED: usize = 2;

impl Left {
    pub(crate) fn none() -> Self {
        Self(AtomicUsize::new(NONE))
    }

    /// An entry begins a life, or a block does.
    pub(crate) fn begin(&self) {
        self.0.store(NONE, Ordering::Relaxed);
    }

    /// False: the filler has looked for the last time.
    fn announce(&self) -> bool {
        !matches!(self.0.compare_exchange(NONE, SOME, Ordering::AcqRel, Ordering::Acquire), Err(SEALED))
    }

    /// True: nothing has been left, nor will be. False: the filler takes what has been left in
    /// each of the entries, after [`look_again`](Self::look_again).
    #[inline]
    pub(crate) fn seal(&self) -> bool {
        let sealed = self.0.compare_exchange(NONE, SEALED, Ordering::AcqRel, Ordering::Acquire);
        !matches!(sealed, Err(SOME))
    }

    /// What is left from now on shows anew.
    pub(crate) fn look_again(&self) {
        self.0.store(NONE, Ordering::Release);
    }
}

/// The pointers, by host address. The state comes first, beside what else an entry's making
/// touches.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct LeftToFiller {
    /// Becomes [`SOME`] while `pointers` is locked; [`SEALED`] at any time. Not in use where the
    /// entry's storage is part of a block: then the block's is.
    pub(crate) state: Left,
    pointers: Mutex<Vec<usize>>,
}

impl LeftToFiller {
    pub(crate) fn none() -> Self {
        Self { state: Left::none(), pointers: Mutex::new(Vec::new()) }
    }

    /// The entry begins a life.
    pub(crate) fn begin(&self) {
        self.state.begin();
    }

    /// Leaves a pointer. False: the filler has looked for the last time. `of_block`: what counts
    /// where the storage is part of a block.
    pub(crate) fn leave(&self, of_block: Option<&Left>, host_pointer: usize) -> bool {
        let mut pointers = lock(&self.pointers);
        let announced = of_block.unwrap_or(&self.state).announce();
        if announced {
            pointers.push(host_pointer);
        }
        announced
    }

    /// Takes what has been left.
    pub(crate) fn take(&self) -> Vec<usize> {
        std::mem::take(&mut *lock(&self.pointers))
    }

    /// Forgets what has been left in an entry that leaves the table.
    pub(crate) fn clear(&self) {
        lock(&self.pointers).clear();
    }

    /// Takes the lock, for a fork.
    #[cfg(not(loom))]
    pub(crate) fn hold(&self) -> gangway_sync::MutexGuard<'_, Vec<usize>> {
        lock(&self.pointers)
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;

    /// Two threads leave a pointer each, in one entry or in two that share a state, while the
    /// filler seals it: it finds what has been left, and nothing else.
    fn the_filler_finds_what_is_left(entries: usize, shared: bool) {
        loom::model(move || {
            let all = Arc::new((Left::none(), [LeftToFiller::none(), LeftToFiller::none()]));
            let leaving = [8, 16].map(|pointer| {
                let all = all.clone();
                loom::thread::spawn(move || {
                    let entry = &all.1[(pointer / 8) % entries];
                    entry.leave(shared.then_some(&all.0), pointer)
                })
            });
            let mut found = Vec::new();
            let state = if shared { &all.0 } else { &all.1[0].state };
            while !state.seal() {
                state.look_again();
                found.extend(all.1[..entries].iter().flat_map(LeftToFiller::take));
            }
            let has_left = leaving.map(|thread| thread.join().unwrap());
            found.sort_unstable();
            let expected = [8, 16].into_iter().zip(has_left).filter(|(_, left)| *left);
            assert_eq!(found, expected.map(|(pointer, _)| pointer).collect::<Vec<_>>());
        });
    }

    #[test]
    fn loom_the_filler_finds_what_is_left() {
        the_filler_finds_what_is_left(1, false);
    }

    #[test]
    fn loom_the_filler_of_a_block_finds_what_is_left() {
        the_filler_finds_what_is_left(2, true);
    }
}
