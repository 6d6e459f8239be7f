//! What of a session a back end may look at, and where the table of arguments is that is being built.

use crate::handles::DevicePtr;
use std::ptr::NonNull;

/// Slots that a kernel which takes a pointer to a table can have, the pointer included.
pub const SEPARATE_SLOTS: usize = 8;

/// The words a back end may keep in a session from one call to the next.
const BACKEND_WORDS: usize = 3;

/// What the memory of a session is made of, and aligned like.
type Cell = u128;

/// What of a session a back end may look at and change.
#[derive(Debug)]
pub struct SessionState {
    /// Those of the table that is being built.
    pub(crate) slots: Slots,
    /// What a kernel gets that takes a pointer to its arguments.
    pub(crate) separate: [u64; SEPARATE_SLOTS],
    /// Free for a back end that has sessions; zero when one starts.
    pub backend_words: [u64; BACKEND_WORDS],
    /// Free as well, for what the back end calls the stream that the session has started in: when the
    /// session ends, the stream may be another job's.
    pub stream: usize,
    /// The back end's own memory; grows and is kept.
    own: Vec<Cell>,
    /// Bytes that it has asked for.
    size: usize,
}

impl SessionState {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Slots::NONE,
            separate: [0; SEPARATE_SLOTS],
            backend_words: [0; BACKEND_WORDS],
            stream: 0,
            own: Vec::new(),
            size: 0,
        }
    }

    /// Memory of the session for what the back end keeps there: as many bytes as it has asked
    /// for, aligned to 16. It is zero when the session starts.
    #[must_use]
    pub fn own(&mut self) -> &mut [u8] {
        // SAFETY: the cells have at least so many bytes, any of which is a byte.
        unsafe { std::slice::from_raw_parts_mut(self.own.as_mut_ptr().cast(), self.size) }
    }

    /// With zeroes for the back end, which has asked for so many bytes.
    pub(crate) fn cleared(&mut self, size: usize) -> &mut Self {
        self.backend_words = [0; BACKEND_WORDS];
        self.own.clear();
        self.own.resize(size.div_ceil(size_of::<Cell>()), 0);
        self.size = size;
        self
    }
}

/// Where a table is, and what of it is used. Part of the session's state; without
/// meaning unless there is a table.
#[derive(Debug)]
pub(crate) struct Slots {
    /// First slot.
    pub(crate) memory: NonNull<u64>,
    /// Slots there is room for.
    pub(crate) capacity: usize,
    /// Slots before the program's arguments.
    pub(crate) leading: usize,
    /// Slots behind them, which are written when the table is closed.
    pub(crate) trailing: usize,
    /// Slots in use, the leading ones included. All of them have been written.
    pub(crate) used: usize,
    /// Where the device sees them, if it does.
    pub(crate) visible: Option<DevicePtr>,
}

// SAFETY: the memory is only reached through a table, which lives no longer than the
// borrow of it.
unsafe impl Send for Slots {}
// SAFETY: as above; a table borrows the session mutably.
unsafe impl Sync for Slots {}

impl Slots {
    pub(crate) const NONE: Self =
        Self { memory: NonNull::dangling(), capacity: 0, leading: 0, trailing: 0, used: 0, visible: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_begins_with_zeroes() {
        let mut session = SessionState::new();
        for size in [20, 0, 33, 20] {
            let state = session.cleared(size);
            assert_eq!((state.backend_words, state.own()), ([0; BACKEND_WORDS], &mut vec![0; size][..]));
            assert_eq!(state.own().as_ptr().addr() % 16, 0);
            state.backend_words = [1; BACKEND_WORDS];
            state.own().fill(7);
        }
    }
}
