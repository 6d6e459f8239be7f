//! Fields of bits: `bfe`, `bfi`, `bmsk`, `szext`, mostly at places that are constants.
//!
//! Other places are computed: shifts by the width and more give what the instructions want.

use gangway_ptx::Type;
use gangway_simt::{IntOrder, Value};

use super::Emit;
use super::shift::{Direction, shift};

const fn unsigned(ty: Type) -> Type {
    if ty.bits() == 64 { Type::B64 } else { Type::B32 }
}

pub(super) fn extract(e: &mut Emit, ty: Type, a: Value, position: Value, length: Value) -> Value {
    let bits = ty.bits();
    if let (Some(position), Some(length)) = (e.constant_of(position), e.constant_of(length)) {
        return extract_known(e, ty, a, (position & 0xff) as u32, (length & 0xff) as u32);
    }
    // Up to the top, and down again.
    let (position, length) = (e.and_bits(position, 0xff), e.and_bits(length, 0xff));
    let end = e.add(position, length);
    let width = e.like(end, bits.into());
    let end = e.umin(end, width);
    let up = e.sub(width, end);
    let down = e.add(up, position);
    let high = shift(e, Direction::Left, unsigned(ty), a, up);
    let field = shift(e, Direction::Right, if ty.is_signed() { ty } else { unsigned(ty) }, high, down);
    if !ty.is_signed() {
        return field;
    }
    // No bits have no sign.
    let some = e.differs_from_zero(length);
    e.keep(some, field)
}

fn extract_known(e: &mut Emit, ty: Type, a: Value, position: u32, length: u32) -> Value {
    let bits = ty.bits();
    if length == 0 || (position >= bits && !ty.is_signed()) {
        return e.like(a, 0);
    }
    if position >= bits {
        return e.sar_by(a, bits - 1);
    }
    let length = length.min(bits - position);
    let high = e.shl_by(a, bits - position - length);
    if ty.is_signed() { e.sar_by(high, bits - length) } else { e.shr_by(high, bits - length) }
}

pub(super) fn insert(
    e: &mut Emit,
    ty: Type,
    from: Value,
    into: Value,
    position: Value,
    length: Value,
) -> Value {
    let (placed, field) = match (e.constant_of(position), e.constant_of(length)) {
        (Some(position), Some(length)) => {
            let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
            if position >= ty.bits() || length == 0 {
                return into;
            }
            let field = match length.min(ty.bits() - position) {
                64 => u64::MAX,
                length => ((1 << length) - 1) << position,
            };
            (e.shl_by(from, position), e.like(from, field))
        }
        _ => {
            let (position, length) = (e.and_bits(position, 0xff), e.and_bits(length, 0xff));
            let ones = e.like(from, u64::MAX);
            let above = shift(e, Direction::Left, ty, ones, length);
            let field = e.not(above);
            let placed = shift(e, Direction::Left, ty, from, position);
            (placed, shift(e, Direction::Left, ty, field, position))
        }
    };
    let differs = e.xor(placed, into);
    let chosen = e.and(differs, field);
    e.xor(into, chosen)
}

/// An amount of up to 32, or its last five bits.
fn bounded(e: &mut Emit, amount: Value, clamps: bool) -> Value {
    if !clamps {
        return e.and_bits(amount, 31);
    }
    let most = e.like(amount, 32);
    e.umin(amount, most)
}

/// `bmsk`: so many ones from a position on.
pub(super) fn mask(e: &mut Emit, position: Value, width: Value, clamps: bool) -> Value {
    let (position, width) = (bounded(e, position, clamps), bounded(e, width, clamps));
    let ones = e.like(position, u64::MAX);
    let above = shift(e, Direction::Left, Type::B32, ones, width);
    let ones = e.not(above);
    shift(e, Direction::Left, Type::B32, ones, position)
}

/// `szext`: the low bits, by their sign or not.
pub(super) fn extend(e: &mut Emit, ty: Type, a: Value, width: Value, clamps: bool) -> Value {
    let width = bounded(e, width, clamps);
    let all = e.like(width, 32);
    let up = e.sub(all, width);
    let high = shift(e, Direction::Left, Type::B32, a, up);
    let low = shift(e, Direction::Right, ty, high, up);
    if ty.is_signed() {
        return low;
    }
    let zero = e.like(width, 0);
    let some = e.compare(IntOrder::NotEqual, width, zero);
    e.keep(some, low)
}
