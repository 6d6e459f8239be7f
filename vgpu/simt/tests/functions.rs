//! Functions as text: what is printed is read again, and what is none is refused.

use gangway_simt::{Fault, Function};
use proptest::prelude::*;

/// An operation of every kind, in each of its forms.
const SAMPLE: &str = "\
slots u32, u64, pred, s16, f32, f64
0: %0:u32, _:pred = move thread.x:u32, 1:pred
1: %0:u32 = compute4 multiply_add.low.u32 %0:u32, -1:u32, lanes.up_to_own:u32
2: @!%2 %2:pred, _:pred = compute5 compare.lt_s.s32 %0:u32, clock.low:u32
3: %1:s64 = compute6 convert.s64.s32 %0:s32
4: %0:u32 = compute7 carries %0:u32, %0:u32
5: %4:f32 = compute8 %4:f32
6: %0, _ = repack u64 %1
7: %4, _ = load shared u32x2 strong uniform [%1-8]
8: @%2 store generic u64 [&local16+8], %1
9: %0 = load constant u32 [4096]
10: %0 = atomic9 compare_and_swap global u32 [%1+0], %0, 7
11: atomic9 add_float global f32 [&symbol3+4], %4
12: copy [%0+0], [%1+16], 16, %0
13: %1 = convert_address to shared u64 &symbol2+4
14: %1 = convert_address from local u64 %1
15: %2 = is_in parameters %1
16: %1 = allocate u64 %1, 16
17: %1 = save_stack u64
18: restore_stack u64 %1
19: %0:u32, %2:pred = exchange10 shuffle.down %0:u32, 1:u32, 31:u32, -1:u32
20: %2:pred = exchange11 vote.all !%2:pred, -1:u32
21: exchange12 nothing -1:u32
22: %4:f32@128, _:f32@256 = matrix13 [%1+0], %0:u32@0
23: %0 = active_lanes
24: fence
25: sleep
26: nothing
27: table %0
28: barrier.wait 0
29: barrier.arrive %0, 64
30: %0 = barrier.count %2, 1, 32
31: %0:u32, *local8:bytes24, _:f64 = call function7(%0:u32, *argument2:bytes8, *%4:f32)
32: call %1 like 0x1234abcd()
33: go
block 0: 0..10, branch !%2, 1, 2
block 1: 10..19, barrier 30: 2
block 2: 19..20 together, call 31: 3
block 3: 22..23 together, table 27: 0, 4
block 4: 23..27, trap 33
block 5: 27..27, exit
";

#[test]
fn what_is_printed_is_read_again() {
    let function: Function = SAMPLE.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(function.to_string(), SAMPLE);
    assert_eq!(function.verify(), Ok(()));
}

#[test]
fn slots_are_told_with_what_is_done_with_them() {
    let function: Function = SAMPLE.parse().expect("a function");
    let slots = |index: usize| {
        let mut all = Vec::new();
        function.operations[index].each_slot(&mut |slot, write| all.push((slot, write)));
        all
    };
    // A guard comes first, and what is read of an address is read.
    assert_eq!(slots(8), [(2, false), (1, false)]);
    assert_eq!(slots(10), [(0, true), (1, false), (0, false)]);
    assert_eq!(slots(31), [(0, true), (0, false), (4, false)]);
    assert_eq!(slots(32), [(1, false)]);
}

#[test]
fn what_is_no_function_is_refused_by_line() {
    for (text, line, what) in [
        ("slots u33", 1, "'u33' is no name that is known here"),
        ("slots u32\n1: go", 2, "0 comes next"),
        ("0: gone", 1, "there is no operation 'gone'"),
        ("0: %0 = go", 1, "'go' has no such results"),
        ("0: go go", 1, "'go' is too much"),
        ("0: fence\n1: %0 = load global u32 %1", 2, "'[' is expected before '%1'"),
        ("block 0: 0..0, leap 1", 1, "no block ends with 'leap'"),
        ("0: %99999999999 = active_lanes", 1, "a number is expected: '99999999999 = active_lanes'"),
    ] {
        let error = text.parse::<Function>().expect_err(text);
        assert_eq!((error.line, &*error.what), (line, what), "{text}");
    }
}

#[test]
fn faults_are_found() {
    let faults =
        |text: &str| text.parse::<Function>().unwrap_or_else(|error| panic!("{text}: {error}")).verify();
    for (text, fault) in [
        ("slots u32\n0: %1 = active_lanes", Fault::Slot { operation: 0, slot: 1 }),
        ("slots u32\n0: @%0 fence", Fault::Predicate { operation: 0, slot: 0 }),
        ("slots pred\n0: %0:u32 = move 1:u32", Fault::Predicate { operation: 0, slot: 0 }),
        ("slots u32\n0: %0, %0 = load global u32 [0]", Fault::Count { operation: 0 }),
        ("slots u32\n0: %0:u32 = exchange1 shuffle.up %0:u32", Fault::Count { operation: 0 }),
        ("block 0: 0..1, return", Fault::Block { block: 0 }),
        ("0: fence\nblock 0: 0..1 together, return", Fault::Block { block: 0 }),
        ("0: go\nblock 0: 0..1, return", Fault::Misplaced { block: 0, operation: 0 }),
        ("0: fence\nblock 0: 0..1, barrier 0: 0", Fault::End { block: 0 }),
        ("block 0: 0..0, jump 1", Fault::End { block: 0 }),
        ("slots u32\nblock 0: 0..0, branch %0, 0, 0", Fault::End { block: 0 }),
    ] {
        assert_eq!(faults(text), Err(fault), "{text}");
    }
}

proptest! {
    /// Text of any kind is read or refused, and what is read can be printed and checked.
    #[test]
    fn damaged_text_does_no_harm(at in 0..SAMPLE.len(), gone in 0usize..12, new in "[ -~\n]{0,6}") {
        let mut text = SAMPLE.to_owned();
        text.replace_range(at..(at + gone).min(SAMPLE.len()), &new);
        if let Ok(function) = text.parse::<Function>() {
            let _ = function.verify();
            let printed = function.to_string();
            let again: Function = printed.parse().expect("what has been printed");
            prop_assert_eq!(again.to_string(), printed);
        }
    }
}
