//! Integer arithmetic: sums, products, extremes.
//!
//! Types of 16 bits are kept zero-extended in 32. Signed ones are extended by their sign before
//! they are used, and results are cut to their width again.

use cranelift_codegen::ir::types::{I16X8, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_ptx::Type;
use gangway_ptx::meaning::{Dot, DotShape, Integer, Packed, Part, Video, VideoOperation, VideoThen};

use super::divide;
use super::emit::{Emit, Quad, Source};

/// The result, for a value of one type throughout or a product twice as wide.
pub(super) fn compute(e: &mut Emit, op: Integer, ty: Type, sources: &[Source]) -> Option<Quad> {
    let quad = |index: usize| sources.get(index).map(|source| source.quad);
    let a = quad(0)?;
    let fitted = |e: &mut Emit, value: Value| e.extend(value, ty.bits().max(16), false);
    Some(match op {
        Integer::Add { sat: true } => e.each([a, quad(1)?], |e, [a, b]| saturating_add(e, a, b)),
        Integer::Sub { sat: true } => e.each([a, quad(1)?], |e, [a, b]| saturating_sub(e, a, b)),
        Integer::Add { sat: false } => e.each([a, quad(1)?], |e, [a, b]| {
            let sum = e.add(a, b);
            fitted(e, sum)
        }),
        Integer::Sub { sat: false } => e.each([a, quad(1)?], |e, [a, b]| {
            let difference = e.sub(a, b);
            fitted(e, difference)
        }),
        Integer::Mul(part) => product(e, ty, part, false, sources)?,
        Integer::Mad { part, sat } => product(e, ty, part, sat, sources)?,
        Integer::Mul24 { high } => product_24(e, ty, high, false, a, quad(1)?, None),
        Integer::Mad24 { high, sat } => product_24(e, ty, high, sat, a, quad(1)?, Some(quad(2)?)),
        Integer::Div => divide::compute(e, ty, false, sources)?,
        Integer::Rem => divide::compute(e, ty, true, sources)?,
        Integer::Sad => e.each([a, quad(1)?, quad(2)?], |e, [a, b, c]| {
            let (a, b) = (signed(e, a, ty), signed(e, b, ty));
            let (most, least) = match ty.is_signed() {
                true => (e.smax(a, b), e.smin(a, b)),
                false => (e.umax(a, b), e.umin(a, b)),
            };
            let distance = e.sub(most, least);
            let sum = e.add(c, distance);
            fitted(e, sum)
        }),
        Integer::Abs => e.each([a], |e, [a]| {
            let a = signed(e, a, ty);
            let magnitude = e.abs(a);
            fitted(e, magnitude)
        }),
        Integer::Neg => e.each([a], |e, [a]| {
            let negative = e.neg(a);
            fitted(e, negative)
        }),
        Integer::Min { relu } => extreme(e, ty, true, relu, a, quad(1)?),
        Integer::Max { relu } => extreme(e, ty, false, relu, a, quad(1)?),
    })
}

/// Sums and differences of whole words, to which another word may be added, as GCC adds three numbers.
/// Other video instructions are seldom.
pub(super) fn video(e: &mut Emit, video: Video, sources: &[Source]) -> Option<Quad> {
    let Video { op, parts: 1, to, a, b, sat: false, then: None | Some(VideoThen::Add) } = video else {
        return None;
    };
    if [to, a, b].iter().any(|ty| ty.bits() != 32) {
        return None;
    }
    let quad = |index: usize| sources.get(index).map(|source: &Source| source.quad);
    let (a, b) = (quad(0)?, quad(1)?);
    let result = match op {
        VideoOperation::Add => e.each([a, b], |e, [a, b]| e.add(a, b)),
        VideoOperation::Sub => e.each([a, b], |e, [a, b]| e.sub(a, b)),
        _ => return None,
    };
    match video.then {
        None => Some(result),
        Some(_) => Some(e.each([result, quad(2)?], |e, [result, c]| e.add(result, c))),
    }
}

fn extreme(e: &mut Emit, ty: Type, least: bool, relu: bool, a: Quad, b: Quad) -> Quad {
    e.each([a, b], |e, [a, b]| {
        let (a, b) = (signed(e, a, ty), signed(e, b, ty));
        let chosen = match (least, ty.is_signed()) {
            (true, true) => e.smin(a, b),
            (true, false) => e.umin(a, b),
            (false, true) => e.smax(a, b),
            (false, false) => e.umax(a, b),
        };
        let zero = e.like(chosen, 0);
        let chosen = if relu { e.smax(chosen, zero) } else { chosen };
        e.extend(chosen, ty.bits().max(16), false)
    })
}

/// The value by its sign: 16-bit values are zero-extended in registers.
pub(super) fn signed(e: &mut Emit, value: Value, ty: Type) -> Value {
    if ty.is_signed() { e.extend(value, ty.bits(), true) } else { value }
}

fn saturating_add(e: &mut Emit, a: Value, b: Value) -> Value {
    let sum = e.add(a, b);
    let (differs_a, differs_b) = (e.xor(a, sum), e.xor(b, sum));
    let overflow = e.and(differs_a, differs_b);
    saturated(e, a, sum, overflow)
}

fn saturating_sub(e: &mut Emit, a: Value, b: Value) -> Value {
    let difference = e.sub(a, b);
    let (differs_b, differs) = (e.xor(a, b), e.xor(a, difference));
    let overflow = e.and(differs_b, differs);
    saturated(e, a, difference, overflow)
}

/// `value`, or the limit on `a`'s side where the sign of `overflow` is set.
fn saturated(e: &mut Emit, a: Value, value: Value, overflow: Value) -> Value {
    use cranelift_codegen::ir::condcodes::IntCC;
    let most = e.like(a, 0x7fff_ffff);
    let side = e.sar_by(a, 31);
    let limit = e.xor(side, most);
    let zero = e.like(a, 0);
    let overflows = e.compare(IntCC::SignedLessThan, overflow, zero);
    e.select(overflows, limit, value)
}

fn product(e: &mut Emit, ty: Type, part: Part, saturates: bool, sources: &[Source]) -> Option<Quad> {
    let [a, b] = [sources.first()?, sources.get(1)?];
    let product = match (part, power_of_two(ty, a, b)) {
        (Part::High, _) => high(e, ty, a.quad, b.quad),
        (Part::Low | Part::Wide, Some((factor, power))) => shifted(e, ty, factor, power, part == Part::Wide),
        (Part::Wide, None) => wide(e, ty, a.quad, b.quad),
        (Part::Low, None) => e.each([a.quad, b.quad], |e, [a, b]| {
            let product = e.mul(a, b);
            e.extend(product, ty.bits(), false)
        }),
    };
    let Some(c) = sources.get(2) else { return Some(product) };
    Some(e.each([product, c.quad], |e, [product, c]| {
        if saturates {
            return saturating_add(e, product, c);
        }
        let sum = e.add(product, c);
        if part == Part::Wide { sum } else { e.extend(sum, ty.bits(), false) }
    }))
}

/// The other factor and the logarithm, where one is a power of two: mostly the sizes of elements.
fn power_of_two(ty: Type, a: &Source, b: &Source) -> Option<(Quad, u32)> {
    let logarithm = |source: &Source| {
        let value = source.constant?;
        let negative = ty.is_signed() && value >> (ty.bits() - 1) & 1 != 0;
        (value.is_power_of_two() && !negative).then(|| value.trailing_zeros())
    };
    logarithm(b).map(|power| (a.quad, power)).or_else(|| Some((b.quad, logarithm(a)?)))
}

fn shifted(e: &mut Emit, ty: Type, factor: Quad, power: u32, wide: bool) -> Quad {
    let factor = match (wide, ty.bits()) {
        (true, 32) => e.widen(factor.first(), ty.is_signed()),
        (true, _) => e.each([factor], |e, [factor]| signed(e, factor, ty)),
        _ => factor,
    };
    e.each([factor], |e, [factor]| {
        let product = e.shl_by(factor, power);
        if wide { product } else { e.extend(product, ty.bits(), false) }
    })
}

/// The whole product of 16 or 32 bits.
fn wide(e: &mut Emit, ty: Type, a: Quad, b: Quad) -> Quad {
    if ty.bits() == 16 {
        return e.each([a, b], |e, [a, b]| {
            let (a, b) = (signed(e, a, ty), signed(e, b, ty));
            e.mul(a, b)
        });
    }
    let (a, b) = (e.widen(a.first(), ty.is_signed()), e.widen(b.first(), ty.is_signed()));
    e.each([a, b], |e, [a, b]| e.mul(a, b))
}

fn high(e: &mut Emit, ty: Type, a: Quad, b: Quad) -> Quad {
    match ty.bits() {
        16 => {
            let product = wide(e, ty, a, b);
            e.each([product], |e, [product]| e.shr_by(product, 16))
        }
        32 => {
            let product = wide(e, ty, a, b);
            Quad::One(e.high_words(product))
        }
        _ => e.each([a, b], |e, [a, b]| {
            e.scalars(&[a, b], |e, scalars| match ty.is_signed() {
                true => e.builder.ins().smulhi(scalars[0], scalars[1]),
                false => e.builder.ins().umulhi(scalars[0], scalars[1]),
            })
        }),
    }
}

/// Of 24-bit factors: the low 32 bits of the product, or those from bit 16 on.
fn product_24(
    e: &mut Emit,
    ty: Type,
    high: bool,
    saturates: bool,
    a: Quad,
    b: Quad,
    c: Option<Quad>,
) -> Quad {
    let [a, b] = [a, b].map(|quad| e.extend(quad.first(), 24, ty.is_signed()));
    let product = if high {
        let product = wide(e, ty, Quad::One(a), Quad::One(b));
        let shifted = e.each([product], |e, [product]| e.shr_by(product, 16));
        e.low_words(shifted)
    } else {
        e.mul(a, b)
    };
    Quad::One(match c {
        Some(c) if saturates => saturating_add(e, product, c.first()),
        Some(c) => e.add(product, c.first()),
        None => product,
    })
}

/// `dp4a` and `dp2a`: products of bytes, or of halves with bytes, and their sum.
pub(super) fn dot(e: &mut Emit, dot: Dot, sources: &[Source]) -> Option<Quad> {
    let [a, b, c] = [sources.first()?, sources.get(1)?, sources.get(2)?].map(|source| source.quad.first());
    let (count, bits, offset) = match dot.shape {
        DotShape::Four => (4, 8, 0),
        DotShape::TwoLow => (2, 16, 0),
        DotShape::TwoHigh => (2, 16, 2),
    };
    let signed = dot.signed;
    // An element, moved to the top and down again.
    let element = |e: &mut Emit, value: Value, index: u32, bits: u32, signed: bool| {
        let high = e.shl_by(value, 32 - bits * (index + 1));
        if signed { e.sar_by(high, 32 - bits) } else { e.shr_by(high, 32 - bits) }
    };
    Some(Quad::One((0..count).fold(c, |sum, index| {
        let (x, y) = (element(e, a, index, bits, signed[0]), element(e, b, index + offset, 8, signed[1]));
        let product = e.mul(x, y);
        e.add(sum, product)
    })))
}

/// Two 16-bit values in each 32-bit lane.
pub(super) fn packed(e: &mut Emit, op: Packed, ty: Type, relu: bool, sources: &[Source]) -> Option<Quad> {
    let [a, b] = [sources.first()?, sources.get(1)?].map(|source| source.quad.first());
    let halves = |e: &mut Emit, value: Value| {
        let vector = if e.is_vector(value) { value } else { e.builder.ins().splat(I32X4, value) };
        e.cast(I16X8, vector)
    };
    let (x, y) = (halves(e, a), halves(e, b));
    let chosen = match (op, ty == Type::S16x2) {
        (Packed::Add, _) => e.add(x, y),
        (Packed::Min, true) => e.smin(x, y),
        (Packed::Min, false) => e.umin(x, y),
        (Packed::Max, true) => e.smax(x, y),
        (Packed::Max, false) => e.umax(x, y),
    };
    let zero = e.constant(I16X8, 0);
    let chosen = if relu { e.smax(chosen, zero) } else { chosen };
    let words = e.cast(I32X4, chosen);
    Some(Quad::One(if e.is_vector(a) { words } else { e.builder.ins().extractlane(words, 0) }))
}

/// Whether a scalar of 64 bits, rather than 32, holds the type.
pub(super) fn is_wide_scalar(e: &Emit, value: Value) -> bool {
    e.ty(value) == I64
}
