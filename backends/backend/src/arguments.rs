//! The arguments of one launch, from the memory they are built in to the kernel.
//!
//! The runtime asks for room for the arguments that a construct may have, adds
//! those that the kernel takes one after the other, puts them into the form that the
//! kernel's calling convention wants, and gives the table to the launch, which consumes
//! it. How many there are, and where they stand, nobody has to tell anybody: the table
//! knows.
//!
//! Where a table is, is decided by what was requested, once. Back ends see it in the
//! form of the kernel's [`ArgumentForm`](crate::ArgumentForm): as
//! [`slots`](ArgumentTable::slots), as one buffer that they [`pack`](ArgumentTable::pack), or
//! with the device address of the program's arguments as the only one of them.

use crate::handles::DevicePtr;
use crate::kernel::{ArgumentForm, CallingConvention, Parameter, Parameters};
use crate::session_state::{SEPARATE_SLOTS, SessionState, Slots};
use std::ptr::NonNull;

/// How large a table has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableRequest {
    /// Slots before the program's arguments. The runtime leaves them null; a back
    /// end whose kernels expect something there (the launch environment) writes it.
    pub leading: usize,
    /// The program's arguments, at most.
    pub arguments: usize,
    /// Slots behind the program's arguments, likewise the back end's.
    pub trailing: usize,
}

/// Slots besides the program's arguments that compilers' kernels expect, where their image does
/// not say it: the call that launches them does. The runtime leaves them null, and back ends write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnSlots {
    /// Before the program's arguments.
    pub leading: usize,
    /// Behind them.
    pub trailing: usize,
}

impl TableRequest {
    /// A table without any slots.
    pub const EMPTY: Self = Self { leading: 0, arguments: 0, trailing: 0 };

    /// The table of a launch with at most `arguments` arguments; the `own` slots stand
    /// around them unless the kernel's image knows better. A table for device memory has
    /// the program's arguments alone.
    #[must_use]
    #[inline]
    pub fn of(convention: &CallingConvention, own: OwnSlots, arguments: usize) -> Self {
        if matches!(convention.form, ArgumentForm::DeviceTable) {
            return Self { leading: 0, arguments, trailing: 0 };
        }
        let OwnSlots { leading, trailing } = match convention.leading {
            Some(leading) => OwnSlots { leading, trailing: 0 },
            None => own,
        };
        Self { leading, arguments, trailing: trailing + convention.trailing }
    }

    /// All slots together.
    #[must_use]
    #[inline]
    pub const fn slots(self) -> usize {
        self.leading + self.arguments + self.trailing
    }
}

/// The kernel's arguments of one launch, one 64-bit slot each, in order.
///
/// Made by [`Stream::argument_table`](crate::Stream::argument_table), consumed by
/// [`Stream::launch`](crate::Stream::launch). One word, as it goes through calls of
/// which the compiler knows nothing: the rest is in the session that it borrows.
#[derive(Debug)]
pub struct ArgumentTable<'s>(&'s mut SessionState);

/// By itself, as the C library is called for it: compilers' kernels have one leading slot.
///
/// # Safety
/// There is room for so many slots.
#[cold]
unsafe fn clear(memory: NonNull<u64>, slots: usize) {
    // SAFETY: the caller's promise.
    unsafe { memory.write_bytes(0, slots) };
}

impl<'s> ArgumentTable<'s> {
    #[inline]
    pub(crate) fn new(session: &'s mut SessionState, memory: &'s mut [u64], request: TableRequest) -> Self {
        debug_assert!(memory.len() >= request.slots());
        // SAFETY: the slice is borrowed for as long as the table lives.
        unsafe { Self::at(session, NonNull::from(memory).cast(), None, request) }
    }

    /// See [`Session::table_at`](crate::Session::table_at).
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(crate) unsafe fn at(
        session: &'s mut SessionState,
        memory: NonNull<u64>,
        visible: Option<DevicePtr>,
        request: TableRequest,
    ) -> Self {
        let TableRequest { leading, trailing, .. } = request;
        match leading {
            0 => {}
            // SAFETY: there is room, by the caller's promise.
            1 => unsafe { memory.write(0) },
            // SAFETY: as above.
            _ => unsafe { clear(memory, leading) },
        }
        let capacity = request.slots() - trailing;
        session.slots = Slots { memory, capacity, leading, trailing, used: leading, visible };
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

    /// The program's arguments that have been added.
    #[must_use]
    #[inline]
    pub const fn arguments(&self) -> &[u64] {
        self.slots().split_at(self.0.slots.leading).1
    }

    /// The device address of the arguments, if they stand where the device sees them.
    #[must_use]
    pub const fn visible(&self) -> Option<DevicePtr> {
        self.0.slots.visible
    }

    /// Has the kernel get the device address of the arguments instead of them, between
    /// the slots that the convention wants besides. The arguments stay where they are.
    ///
    /// # Panics
    /// The convention wants more slots than [`SEPARATE_SLOTS`].
    pub fn replace_arguments(&mut self, address: DevicePtr, convention: &CallingConvention) {
        let (leading, trailing) = (convention.leading.unwrap_or(0), convention.trailing);
        let used = leading + 1 + trailing;
        assert!(used <= SEPARATE_SLOTS, "{used} slots besides a table, of at most {SEPARATE_SLOTS}");
        self.0.separate = [0; SEPARATE_SLOTS];
        self.0.separate[leading] = address.0 as u64;
        let memory = NonNull::from(&mut self.0.separate).cast();
        self.0.slots = Slots { memory, capacity: used, leading, trailing, used, visible: None };
    }

    /// Ends the list of arguments: the trailing slots, null so far, come next.
    #[inline]
    pub fn close(&mut self) {
        let slots = &mut self.0.slots;
        for _ in 0..slots.trailing {
            // SAFETY: there is room for the trailing slots beyond the capacity.
            unsafe { slots.memory.add(slots.used).write(0) };
            slots.used += 1;
        }
    }

    /// One buffer with each slot in its parameter's place, instead of the slots. The back
    /// end calls it when it has written what is its own among them.
    ///
    /// # Panics
    /// There are not as many slots as parameters, which the runtime has checked.
    #[must_use]
    pub fn pack(&mut self, parameters: &Parameters) -> &[u8] {
        let Slots { memory, used, .. } = self.0.slots;
        assert!(used == parameters.len(), "{used} slots for {} parameters", parameters.len());
        let bytes = memory.cast::<u8>();
        for (index, &Parameter { offset, size }) in parameters.iter().enumerate() {
            // SAFETY: no parameter stands behind its slot, see `Parameters`, so both places
            // are among the slots in use, and no slot is overwritten before it is read.
            unsafe {
                let value = memory.add(index).read().to_le_bytes();
                bytes
                    .add(offset as usize)
                    .copy_from_nonoverlapping(NonNull::from(&value).cast(), size as usize);
            }
        }
        // SAFETY: the buffer lies in the slots in use.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr(), parameters.bytes()) }
    }

    /// What the kernel gets, unless it takes one packed buffer: the leading slots, the
    /// arguments, the trailing slots.
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

    /// The slots behind the program's arguments, in a closed table.
    #[must_use]
    #[inline]
    pub fn trailing(&mut self) -> &mut [u64] {
        let Slots { memory, trailing, used, leading, .. } = self.0.slots;
        let trailing = trailing.min(used - leading);
        // SAFETY: the slots in use have been written; the table alone has them.
        unsafe { std::slice::from_raw_parts_mut(memory.as_ptr().add(used - trailing), trailing) }
    }

    /// The slot for a launch environment, in a closed table: the first one before the program's
    /// arguments (clang up to 22), or else behind them (clang 23).
    #[must_use]
    #[inline]
    pub fn environment(&mut self) -> Option<&mut u64> {
        if self.0.slots.leading == 0 { self.trailing().first_mut() } else { self.leading().first_mut() }
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
