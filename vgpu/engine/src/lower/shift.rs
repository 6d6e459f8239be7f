//! Shifts, and values by their sign.

use gangway_ptx::Type;
use gangway_simt::{Op, Value};

use super::Emit;

/// The value by its sign: 16-bit values are zero-extended in registers.
pub(super) fn signed(e: &mut Emit, value: Value, ty: Type) -> Value {
    if ty.is_signed() { e.extend(value, ty.bits(), true) } else { value }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Left,
    Right,
}

/// `shl` and `shr`: amounts of the width and more shift everything out.
pub(super) fn shift(e: &mut Emit, to: Direction, ty: Type, a: Value, amount: Value) -> Value {
    let bits = ty.bits();
    // What a register of 32 bits shifts out of a 16-bit value is cut off in the end.
    let shifted = match to {
        Direction::Left => e.make(Op::ShiftLeft, &[a, amount]),
        Direction::Right if ty.is_signed() => {
            let a = signed(e, a, ty);
            e.make(Op::ShiftRightSigned, &[a, amount])
        }
        Direction::Right => e.make(Op::ShiftRightUnsigned, &[a, amount]),
    };
    e.extend(shifted, bits, false)
}
