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
use crate::session::SessionState;
use std::ptr::NonNull;

/// Slots that a kernel which takes a pointer to a table can have, the pointer included.
pub const SEPARATE_SLOTS: usize = 8;

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
    /// Slots behind them, which are written when the table is closed.
    trailing: usize,
    /// Slots in use, the leading ones included. All of them have been written.
    used: usize,
    /// Where the device sees them, if it does.
    visible: Option<DevicePtr>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    #[test]
    fn leading_slots_are_null_until_the_back_end_writes_them() {
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 2, arguments: 1, trailing: 0 });
        table.push(7);
        assert_eq!(table.slots(), [0, 0, 7]);
        table.leading()[1] = 9;
        assert_eq!(table.slots(), [0, 9, 7]);
    }

    /// What the compiler's call says counts where the image says nothing.
    #[test]
    fn the_slot_for_a_launch_environment_stands_where_the_compiler_expects_it() {
        let slots = |own, convention: &CallingConvention| {
            let mut session = Session::default();
            let mut table = session.host_table(TableRequest::of(convention, own, 3));
            table.extend([7, 8]);
            table.close();
            if let Some(slot) = table.environment() {
                *slot = 9;
            }
            table.slots().to_vec()
        };
        let (before, behind) = (OwnSlots { leading: 1, trailing: 0 }, OwnSlots { leading: 0, trailing: 1 });
        assert_eq!(slots(OwnSlots::default(), &CallingConvention::SLOTS), [7, 8]);
        assert_eq!(slots(before, &CallingConvention::SLOTS), [9, 7, 8]);
        assert_eq!(slots(behind, &CallingConvention::SLOTS), [7, 8, 9]);
        let said = CallingConvention { leading: Some(0), trailing: 2, ..CallingConvention::SLOTS };
        assert_eq!(slots(before, &said), [7, 8, 9, 0]);
        assert_eq!(slots(behind, &said), [7, 8, 9, 0]);
    }

    /// Memory of a back end need not have been written before.
    #[test]
    fn memory_of_the_back_end_is_written_before_it_is_read() {
        let mut memory = Box::new([const { std::mem::MaybeUninit::<u64>::uninit() }; 40]);
        let start = NonNull::from(&mut *memory).cast::<u64>();
        let mut session = Session::default();
        // SAFETY: the array has 40 slots, which nobody else uses.
        let mut table =
            unsafe { session.table_at(start, TableRequest { leading: 1, arguments: 39, trailing: 0 }) };
        table.push(5);
        assert_eq!(table.slots(), [0, 5]);
        assert_eq!(table.slots().as_ptr(), start.as_ptr().cast_const());
    }

    #[test]
    #[should_panic(expected = "room for 33 kernel arguments and no more")]
    fn more_arguments_than_requested_are_our_own_mistake() {
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 1, arguments: 32, trailing: 0 });
        table.extend(0..33);
    }

    #[test]
    fn trailing_slots_follow_what_was_added() {
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 1, arguments: 5, trailing: 2 });
        table.extend([7, 8]);
        table.close();
        table.trailing().copy_from_slice(&[3, 4]);
        assert_eq!(table.slots(), [0, 7, 8, 3, 4]);
    }

    #[test]
    fn arguments_give_way_to_the_address_of_their_table() {
        let convention =
            CallingConvention { leading: Some(1), trailing: 2, ..CallingConvention::DEVICE_TABLE };
        let mut memory = [0; 6];
        let visible = NonNull::from(&mut memory).cast();
        for count in [0, 1, 6] {
            let arguments: Vec<u64> = (10..10 + count as u64).collect();
            let request = TableRequest::of(&convention, OwnSlots { leading: 7, trailing: 0 }, count);
            assert_eq!(request.slots(), count);
            let mut session = Session::default();
            for address in [None, Some(DevicePtr(0x1000))] {
                let mut table = match address {
                    None => session.host_table(request),
                    // SAFETY: the array has room for the slots, and nobody else uses it.
                    Some(address) => unsafe { session.visible_table_at(visible, address, request) },
                };
                table.extend(arguments.iter().copied());
                assert_eq!((table.arguments(), table.visible()), (&*arguments, address));
                table.replace_arguments(DevicePtr(0x700), &convention);
                table.leading()[0] = 1;
                table.trailing()[1] = 2;
                assert_eq!(table.slots(), [1, 0x700, 0, 2]);
            }
            assert_eq!(memory[..count], arguments);
        }
    }

    #[test]
    fn parameters_are_packed_where_the_kernel_wants_them() {
        let parameter = |(offset, size)| Parameter { offset, size };
        let parameters = [(0, 8), (8, 4), (12, 1), (14, 2), (16, 8)].map(parameter);
        let parameters = Parameters::new(parameters).unwrap();
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 1, arguments: 3, trailing: 1 });
        table.extend([0x1_2233_4455, 0x66, 0x1_7788]);
        table.close();
        table.leading()[0] = 5;
        table.trailing()[0] = u64::MAX - 1;
        let packed = table.pack(&parameters);
        assert_eq!(packed[..8], 5_u64.to_le_bytes());
        assert_eq!(packed[8..12], 0x2233_4455_u32.to_le_bytes());
        assert_eq!((packed[12], &packed[14..16]), (0x66, &0x7788_u16.to_le_bytes()[..]));
        assert_eq!(packed[16..], (u64::MAX - 1).to_le_bytes());
    }

    #[test]
    #[should_panic(expected = "1 slots for 2 parameters")]
    fn another_number_of_parameters_is_our_own_mistake() {
        let parameters = [0, 8].map(|offset| Parameter { offset, size: 8 });
        let mut session = Session::default();
        let mut table = session.host_table(TableRequest { leading: 0, arguments: 4, trailing: 0 });
        table.push(1);
        let _ = table.pack(&Parameters::new(parameters).unwrap());
    }
}
