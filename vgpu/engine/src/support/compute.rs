//! Instructions that have no fast path, evaluated lane by lane as the interpreter does it.

use gangway_interpreter::{FaultKind, evaluate as evaluate_lane, exchange};
use gangway_ptx::meaning::Exchange;
use gangway_ptx::{Meaning, Opcode, Type};

use super::helper::{fault, run};
use super::lanes::{lanes, narrow_mut, value};
use super::quick;
use crate::abi::Warp;

/// The types of the sources that an instruction has.
fn sources(opcode: &Opcode, given: usize) -> impl Iterator<Item = Type> {
    let sources = opcode.expected.iter().filter(|expected| !expected.role.writes());
    // Optional operands that are not there are the last ones.
    sources.map(|expected| expected.ty.unwrap_or(Type::B64)).take(given)
}

/// Computes an instruction for `mask`. The low bits of `wide` say which values have 64 bits, the
/// bits above 32 how many there are.
pub(super) unsafe extern "C" fn evaluate(warp: *mut Warp, opcode: u64, mask: u64, wide: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let module = warp.host().module();
            let opcode = &module.opcodes[opcode as usize];
            let Meaning::Compute(compute) = opcode.meaning else {
                fault(warp, mask as u32, FaultKind::Unsupported(opcode.to_string()))
            };
            let count = (wide >> 32) as usize;
            let types: [Type; 5] = {
                let mut types = [Type::B64; 5];
                types.iter_mut().zip(sources(opcode, count)).for_each(|(slot, ty)| *slot = ty);
                types
            };
            let wide_result =
                opcode.expected.first().and_then(|first| first.ty).is_some_and(|ty| ty.bits() > 32);
            let predicate = opcode.expected.first().is_some_and(|first| first.ty == Some(Type::Pred));
            let (mut first_bits, mut second_bits) = (0u32, 0u32);
            for lane in lanes(mask as u32) {
                let mut inputs = [0u64; 5];
                for (index, input) in inputs[..count].iter_mut().enumerate() {
                    *input = if types[index] == Type::Pred {
                        warp.values[index][0] >> lane & 1
                    } else {
                        value(&warp.values[index], wide >> index & 1 != 0, lane)
                    };
                }
                let mut carry = warp.carry >> lane & 1 != 0;
                let results = evaluate_lane(compute, &inputs[..count], &mut carry);
                warp.carry = warp.carry & !(1 << lane) | u32::from(carry) << lane;
                if predicate {
                    first_bits |= ((results.first & 1) as u32) << lane;
                } else if wide_result {
                    warp.results[0][lane] = results.first;
                } else {
                    narrow_mut(&mut warp.results[0])[lane] = results.first as u32;
                }
                second_bits |= u32::from(results.second == Some(true)) << lane;
            }
            if predicate {
                warp.results[0][0] = first_bits.into();
            }
            warp.results[1][0] = second_bits.into();
        });
    }
}

/// Computes a collective instruction for the lanes of `mask`; `wide` as for [`evaluate`].
pub(super) unsafe extern "C" fn collective(warp: *mut Warp, opcode: u64, mask: u64, wide: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let module = warp.host().module();
            let opcode = &module.opcodes[opcode as usize];
            let Meaning::Exchange(Exchange { op, .. }) = opcode.meaning else {
                fault(warp, mask as u32, FaultKind::Unsupported(opcode.to_string()))
            };
            if quick::exchange(op, mask as u32, wide as u32, warp) {
                return;
            }
            let mut inputs = [[0u64; 32]; 4];
            let count = inputs_of(warp, opcode, wide, u32::MAX, &mut inputs);
            let mut results = [[0u64; 32]; 2];
            exchange(op, mask as u32, &inputs[..count], &mut results);
            leave_results(warp, opcode, &results);
        });
    }
}

/// What the lanes of `mask` bring to a collective instruction; how many values each.
pub(super) fn inputs_of(
    warp: &Warp,
    opcode: &Opcode,
    wide: u64,
    mask: u32,
    inputs: &mut [[u64; 32]; 4],
) -> usize {
    let count = ((wide >> 32) as usize).min(inputs.len());
    for (index, ty) in sources(opcode, count).enumerate() {
        for lane in lanes(mask) {
            inputs[index][lane] = if ty == Type::Pred {
                warp.values[index][0] >> lane & 1
            } else {
                value(&warp.values[index], wide >> index & 1 != 0, lane)
            };
        }
    }
    count
}

/// Puts what lanes get from a collective instruction where compiled code looks for it.
pub(super) fn leave_results(warp: &mut Warp, opcode: &Opcode, results: &[[u64; 32]; 2]) {
    let written = opcode.expected.iter().filter(|expected| expected.role.writes());
    for (number, expected) in written.enumerate().take(2) {
        match expected.ty.unwrap_or(Type::B32) {
            Type::Pred => {
                let bits = (0..32).fold(0u64, |bits, lane| bits | (results[number][lane] & 1) << lane);
                warp.results[number][0] = bits;
            }
            ty if ty.bits() > 32 => warp.results[number] = results[number],
            _ => {
                let narrow = narrow_mut(&mut warp.results[number]);
                narrow.iter_mut().zip(&results[number]).for_each(|(to, &from)| *to = from as u32);
            }
        }
    }
}

pub(super) unsafe extern "C" fn clock(warp: *mut Warp) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| warp.host().clock(warp)) }
}

pub(super) unsafe extern "C" fn nanoseconds(warp: *mut Warp) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| warp.host().nanoseconds(warp)) }
}
