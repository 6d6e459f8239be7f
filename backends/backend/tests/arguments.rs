//! Tables of a kernel's arguments: what stands in which slot.

use gangway_backend::{CallingConvention, DevicePtr, OwnSlots, Parameter, Parameters, Session, TableRequest};
use std::ptr::NonNull;

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
    let convention = CallingConvention { leading: Some(1), trailing: 2, ..CallingConvention::DEVICE_TABLE };
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
