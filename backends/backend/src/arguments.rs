//! The arguments of one launch, from the memory they are built in to the kernel.
//!
//! The runtime asks for room for the arguments that a construct may have, adds
//! those that the kernel takes one after the other, and gives the table to the
//! launch, which consumes it. How many there are, and where they stand, nobody
//! has to tell anybody: the table knows.
//!
//! Where a table is, is decided by what was requested, once. Back ends see the
//! slots as they were added; in which form a kernel gets them (one register or
//! stack slot each, one packed buffer, a pointer to the table) is the back end's
//! affair, so another form is another way to read the same table.

use crate::session::SessionState;
use std::ptr::NonNull;

/// How large a table has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableRequest {
    /// Slots before the program's arguments. The runtime leaves them null; a back
    /// end whose kernels expect something there (the launch environment) writes it.
    pub leading: usize,
    /// The program's arguments, at most.
    pub arguments: usize,
}

impl TableRequest {
    /// A table without any slots.
    pub const EMPTY: Self = Self { leading: 0, arguments: 0 };

    /// All slots together.
    #[must_use]
    #[inline]
    pub const fn slots(self) -> usize {
        self.leading + self.arguments
    }
}

/// The kernel's arguments of one launch, one 64-bit slot each, in order.
///
/// Made by [`Device::argument_table`](crate::Device::argument_table), consumed by
/// [`Device::launch`](crate::Device::launch). One word, as it goes through calls of
/// which the compiler knows nothing: the rest is in the session that it borrows.
#[derive(Debug)]
pub struct ArgumentTable<'s>(&'s mut SessionState);

/// Where a table is, and what of it is used. Part of the session's state; without
/// meaning unless there is a table.
#[derive(Debug)]
pub(crate) struct Slots {
    /// First slot.
    memory: NonNull<u64>,
    /// Slots there is room for.
    capacity: usize,
    /// Slots before the program's arguments.
    leading: usize,
    /// Slots in use, the leading ones included. All of them have been written.
    used: usize,
}

// SAFETY: the memory is only reached through a table, which lives no longer than the
// borrow of it.
unsafe impl Send for Slots {}
// SAFETY: as above; a table borrows the session mutably.
unsafe impl Sync for Slots {}

impl Slots {
    pub(crate) const NONE: Self = Self { memory: NonNull::dangling(), capacity: 0, leading: 0, used: 0 };
}

impl<'s> ArgumentTable<'s> {
    #[inline]
    pub(crate) fn new(session: &'s mut SessionState, memory: &'s mut [u64], request: TableRequest) -> Self {
        debug_assert!(memory.len() >= request.slots());
        // SAFETY: the slice is borrowed for as long as the table lives.
        unsafe { Self::at(session, NonNull::from(memory).cast(), request) }
    }

    /// See [`Session::table_at`](crate::Session::table_at).
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(crate) unsafe fn at(
        session: &'s mut SessionState,
        memory: NonNull<u64>,
        request: TableRequest,
    ) -> Self {
        let TableRequest { leading, .. } = request;
        for slot in 0..leading {
            // SAFETY: there is room, by the caller's promise.
            unsafe { memory.add(slot).write(0) };
        }
        session.slots = Slots { memory, capacity: request.slots(), leading, used: leading };
        Self(session)
    }

    /// Adds an argument.
    ///
    /// # Panics
    /// More are added than have been requested.
    #[inline]
    pub fn push(&mut self, argument: u64) {
        let slots = &mut self.0.slots;
        assert!(slots.used < slots.capacity, "room for {} kernel arguments and no more", slots.capacity);
        // SAFETY: below the capacity, for which there is room.
        unsafe { slots.memory.add(slots.used).write(argument) };
        slots.used += 1;
    }

    /// Slots in use: where the next argument goes.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.0.slots.used
    }

    /// Whether the kernel gets nothing.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0.slots.used == 0
    }

    /// What the kernel gets: the leading slots, then the arguments.
    #[must_use]
    #[inline]
    pub const fn slots(&self) -> &[u64] {
        let Slots { memory, used, .. } = self.0.slots;
        // SAFETY: so many slots have been written, and the table alone has them.
        unsafe { std::slice::from_raw_parts(memory.as_ptr(), used) }
    }

    /// The slots before the program's arguments.
    #[must_use]
    #[inline]
    pub const fn leading(&mut self) -> &mut [u64] {
        let Slots { memory, leading, .. } = self.0.slots;
        // SAFETY: the leading slots were written first; the table alone has them.
        unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), leading) }
    }

    /// The session the launch belongs to.
    #[must_use]
    #[inline]
    pub const fn session(&mut self) -> &mut SessionState {
        self.0
    }
}

impl Extend<u64> for ArgumentTable<'_> {
    #[inline]
    fn extend<I: IntoIterator<Item = u64>>(&mut self, arguments: I) {
        arguments.into_iter().for_each(|argument| self.push(argument));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::types::StreamHandle;

    #[test]
    fn leading_slots_are_null_until_the_back_end_writes_them() {
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 2, arguments: 1 });
        table.push(7);
        assert_eq!(table.slots(), [0, 0, 7]);
        table.leading()[1] = 9;
        assert_eq!(table.slots(), [0, 9, 7]);
    }

    /// Memory of a back end need not have been written before.
    #[test]
    fn memory_of_the_back_end_is_written_before_it_is_read() {
        let mut memory = Box::new([const { std::mem::MaybeUninit::<u64>::uninit() }; 40]);
        let start = NonNull::from(&mut *memory).cast::<u64>();
        let mut session = Session::new(Some(StreamHandle(3)));
        // SAFETY: the array has 40 slots, which nobody else uses.
        let mut table = unsafe { session.table_at(start, TableRequest { leading: 1, arguments: 39 }) };
        table.push(5);
        assert_eq!(table.slots(), [0, 5]);
        assert_eq!(table.slots().as_ptr(), start.as_ptr().cast_const());
        assert_eq!(table.session().stream(), Some(StreamHandle(3)));
    }

    #[test]
    #[should_panic(expected = "room for 33 kernel arguments and no more")]
    fn more_arguments_than_requested_are_our_own_mistake() {
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 1, arguments: 32 });
        table.extend(0..33);
    }
}
