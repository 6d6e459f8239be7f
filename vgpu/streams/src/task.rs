//! An operation as a closure that needs no allocation when it is small.
//!
//! Used by the queue only. A launch captures some ten words, which lie in the queue itself. So a
//! submission does not allocate, nor does the worker free what another thread allocated.

use std::mem::MaybeUninit;

use crate::error::{Failure, Outcome};

/// Bytes of a closure that are kept in place. Chosen so that an entry of the queue takes two cache
/// lines.
const WORDS: usize = 13;

type Storage = [MaybeUninit<usize>; WORDS];

/// What is to be done with the closure; both consume it.
enum Act {
    Run(Option<Failure>),
    Drop,
}

/// A closure that runs once or is dropped.
pub(crate) struct Task {
    storage: Storage,
    act: unsafe fn(*mut Storage, Act) -> Outcome,
}

// SAFETY: `Task::new` takes only closures that are Send.
unsafe impl Send for Task {}

impl Task {
    /// The closure is told the failure of its context, if there is one.
    pub(crate) fn new<F: FnOnce(Option<Failure>) -> Outcome + Send + 'static>(closure: F) -> Self {
        if const { size_of::<F>() <= size_of::<Storage>() && align_of::<F>() <= align_of::<Storage>() } {
            Self::in_place(closure)
        } else {
            let closure = Box::new(closure);
            Self::in_place(closure)
        }
    }

    fn in_place<F: FnOnce(Option<Failure>) -> Outcome + Send + 'static>(closure: F) -> Self {
        // Known when this is compiled; `new` asks the same.
        assert!(size_of::<F>() <= size_of::<Storage>() && align_of::<F>() <= align_of::<Storage>());
        let mut storage = [const { MaybeUninit::uninit() }; WORDS];
        // SAFETY: size and alignment have been asserted above.
        unsafe { storage.as_mut_ptr().cast::<F>().write(closure) };
        Self { storage, act: act::<F> }
    }

    pub(crate) fn run(self, failure: Option<Failure>) -> Outcome {
        let mut task = std::mem::ManuallyDrop::new(self);
        // SAFETY: the closure is there, as `self` has not been dropped, and will not be dropped
        // again.
        unsafe { (task.act)(&raw mut task.storage, Act::Run(failure)) }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // SAFETY: `run` forgets the task, so the closure is still there; this is its last use.
        let _ = unsafe { (self.act)(&raw mut self.storage, Act::Drop) };
    }
}

/// # Safety
/// `storage` holds an `F`, which is moved out of it.
unsafe fn act<F: FnOnce(Option<Failure>) -> Outcome>(storage: *mut Storage, act: Act) -> Outcome {
    // SAFETY: the caller's promise.
    let closure = unsafe { storage.cast::<F>().read() };
    match act {
        Act::Run(failure) => closure(failure),
        Act::Drop => {
            drop(closure);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn runs_or_drops_once_small_or_large() {
        let count = Arc::new(());
        let small = count.clone();
        let large = (count.clone(), [7_u64; 40]);
        let small = Task::new(move |_| {
            drop(small);
            Err(Failure::UNKNOWN)
        });
        let large = Task::new(move |failure| {
            let large = large;
            assert_eq!(large.1, [7; 40]);
            failure.map_or(Ok(()), Err)
        });
        assert_eq!(Arc::strong_count(&count), 3);
        assert_eq!(small.run(None), Err(Failure::UNKNOWN));
        assert_eq!(Arc::strong_count(&count), 2);
        assert_eq!(large.run(Some(Failure::known(700))), Err(Failure::known(700)));
        assert_eq!(Arc::strong_count(&count), 1);
        let (one, two) = (count.clone(), (count.clone(), [1_u128; 20]));
        drop(Task::new(move |_| {
            let _ = &one;
            Ok(())
        }));
        drop(Task::new(move |_| {
            let _ = &two;
            Ok(())
        }));
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
