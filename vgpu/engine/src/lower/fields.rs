//! Fields of bits: `bfe`, `bfi`, `bmsk`, `szext`, mostly at places that are constants.
//!
//! Other places are computed: shifts by the width and more give what the instructions want.

use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::condcodes::IntCC;
use gangway_ptx::Type;

use super::bits::{Direction, shift};
use super::emit::{Emit, Quad, Source};

/// An operand that is computed from others: as scalars, where they are uniform.
fn amount<const N: usize>(
    e: &mut Emit,
    sources: [&Source; N],
    compute: impl Fn(&mut Emit, [Value; N]) -> Value,
) -> Source {
    let quad = Quad::One(compute(e, sources.map(|source| source.quad.first())));
    let uniform = sources.iter().all(|source| source.uniform.is_some()).then(|| {
        let scalars = sources.map(|source| source.uniform.unwrap_or(source.quad.first()));
        compute(e, scalars)
    });
    Source { quad, uniform, constant: None }
}

const fn unsigned(ty: Type) -> Type {
    if ty.bits() == 64 { Type::B64 } else { Type::B32 }
}

pub(super) fn extract(e: &mut Emit, ty: Type, a: Quad, position: &Source, length: &Source) -> Quad {
    let bits = ty.bits();
    if let (Some(position), Some(length)) = (position.constant, length.constant) {
        return extract_known(e, ty, a, (position & 0xff) as u32, (length & 0xff) as u32);
    }
    // Up to the top, and down again.
    let up = amount(e, [position, length], |e, [position, length]| {
        let (position, length) = (e.and_bits(position, 0xff), e.and_bits(length, 0xff));
        let end = e.add(position, length);
        let width = e.like(end, bits.into());
        let end = e.umin(end, width);
        e.sub(width, end)
    });
    let down = amount(e, [&up, position], |e, [up, position]| {
        let position = e.and_bits(position, 0xff);
        e.add(up, position)
    });
    let high = shift(e, Direction::Left, unsigned(ty), a, &up);
    let field = shift(e, Direction::Right, if ty.is_signed() { ty } else { unsigned(ty) }, high, &down);
    if !ty.is_signed() {
        return field;
    }
    // No bits have no sign.
    let some = e.and_bits(length.quad.first(), 0xff);
    let some = e.differs_from_zero(some);
    keep(e, some, field)
}

/// The value where the mask of 32-bit lanes is set.
fn keep(e: &mut Emit, mask: Value, value: Quad) -> Quad {
    match value {
        Quad::Two(first, second) => {
            let [low, high] = crate::value::widen_mask(e.builder, mask);
            Quad::Two(e.keep(low, first), e.keep(high, second))
        }
        Quad::One(value) => Quad::One(e.keep(mask, value)),
    }
}

fn extract_known(e: &mut Emit, ty: Type, a: Quad, position: u32, length: u32) -> Quad {
    let bits = ty.bits();
    e.each([a], |e, [a]| {
        if length == 0 || (position >= bits && !ty.is_signed()) {
            return e.like(a, 0);
        }
        if position >= bits {
            return e.sar_by(a, bits - 1);
        }
        let length = length.min(bits - position);
        let high = e.shl_by(a, bits - position - length);
        if ty.is_signed() { e.sar_by(high, bits - length) } else { e.shr_by(high, bits - length) }
    })
}

pub(super) fn insert(
    e: &mut Emit,
    ty: Type,
    from: Quad,
    into: Quad,
    position: &Source,
    length: &Source,
) -> Quad {
    let (placed, field) = match (position.constant, length.constant) {
        (Some(position), Some(length)) => {
            let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
            if position >= ty.bits() || length == 0 {
                return into;
            }
            let field = match length.min(ty.bits() - position) {
                64 => u64::MAX,
                length => ((1 << length) - 1) << position,
            };
            (
                e.each([from], |e, [from]| e.shl_by(from, position)),
                e.each([from], |e, [from]| e.like(from, field)),
            )
        }
        _ => {
            let [position, length] =
                [position, length].map(|source| amount(e, [source], |e, [value]| e.and_bits(value, 0xff)));
            let ones = e.each([from], |e, [from]| e.like(from, u64::MAX));
            let above = shift(e, Direction::Left, ty, ones, &length);
            let field = e.each([above], |e, [above]| e.not(above));
            (shift(e, Direction::Left, ty, from, &position), shift(e, Direction::Left, ty, field, &position))
        }
    };
    e.each([placed, into, field], |e, [placed, into, field]| {
        let differs = e.xor(placed, into);
        let chosen = e.and(differs, field);
        e.xor(into, chosen)
    })
}

/// An amount of up to 32, or its last five bits.
fn bounded(e: &mut Emit, source: &Source, clamps: bool) -> Source {
    amount(e, [source], |e, [value]| {
        if !clamps {
            return e.and_bits(value, 31);
        }
        let most = e.like(value, 32);
        e.umin(value, most)
    })
}

/// `bmsk`: so many ones from a position on.
pub(super) fn mask(e: &mut Emit, position: &Source, width: &Source, clamps: bool) -> Quad {
    let (position, width) = (bounded(e, position, clamps), bounded(e, width, clamps));
    let ones = Quad::One(e.like(position.quad.first(), u64::MAX));
    let above = shift(e, Direction::Left, Type::B32, ones, &width);
    let ones = e.each([above], |e, [above]| e.not(above));
    shift(e, Direction::Left, Type::B32, ones, &position)
}

/// `szext`: the low bits, by their sign or not.
pub(super) fn extend(e: &mut Emit, ty: Type, a: Quad, width: &Source, clamps: bool) -> Quad {
    let width = bounded(e, width, clamps);
    let up = amount(e, [&width], |e, [width]| {
        let all = e.like(width, 32);
        e.sub(all, width)
    });
    let high = shift(e, Direction::Left, Type::B32, a, &up);
    let low = shift(e, Direction::Right, ty, high, &up);
    if ty.is_signed() {
        return low;
    }
    let some = width.quad.first();
    let zero = e.like(some, 0);
    let none = e.compare(IntCC::Equal, some, zero);
    let some = e.mask_not(none);
    keep(e, some, low)
}
