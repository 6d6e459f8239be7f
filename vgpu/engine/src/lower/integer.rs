//! Integer arithmetic: sums, products, extremes.
//!
//! Types of 16 bits are kept zero-extended in 32. Signed ones are extended by their sign before
//! they are used, and results are cut to their width again.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Dot, DotShape, Integer, Packed, Part, Video, VideoOperation, VideoThen};
use gangway_simt::{IntOrder, Op, Value};

use super::shift::signed;
use super::{Emit, divide};

/// The result, for a value of one type throughout or a product twice as wide.
pub(super) fn compute(e: &mut Emit, op: Integer, ty: Type, sources: &[Value]) -> Option<Value> {
    let source = |index: usize| sources.get(index).copied();
    let a = source(0)?;
    let fitted = |e: &mut Emit, value: Value| e.extend(value, ty.bits().max(16), false);
    Some(match op {
        Integer::Add { sat: true } => saturating_add(e, a, source(1)?),
        Integer::Sub { sat: true } => saturating_sub(e, a, source(1)?),
        Integer::Add { sat: false } => {
            let sum = e.add(a, source(1)?);
            fitted(e, sum)
        }
        Integer::Sub { sat: false } => {
            let difference = e.sub(a, source(1)?);
            fitted(e, difference)
        }
        Integer::Mul(part) => product(e, ty, part, false, sources)?,
        Integer::Mad { part, sat } => product(e, ty, part, sat, sources)?,
        Integer::Mul24 { high } => product_24(e, ty, high, false, [a, source(1)?], None),
        Integer::Mad24 { high, sat } => product_24(e, ty, high, sat, [a, source(1)?], Some(source(2)?)),
        Integer::Div => divide::compute(e, ty, false, a, source(1)?),
        Integer::Rem => divide::compute(e, ty, true, a, source(1)?),
        Integer::Sad => {
            let (a, b, c) = (signed(e, a, ty), signed(e, source(1)?, ty), source(2)?);
            let (most, least) = match ty.is_signed() {
                true => (e.smax(a, b), e.smin(a, b)),
                false => (e.umax(a, b), e.umin(a, b)),
            };
            let distance = e.sub(most, least);
            let sum = e.add(c, distance);
            fitted(e, sum)
        }
        Integer::Abs => {
            let a = signed(e, a, ty);
            let magnitude = e.abs(a);
            fitted(e, magnitude)
        }
        Integer::Neg => {
            let negative = e.neg(a);
            fitted(e, negative)
        }
        Integer::Min { relu } => extreme(e, ty, true, relu, a, source(1)?),
        Integer::Max { relu } => extreme(e, ty, false, relu, a, source(1)?),
    })
}

/// Sums and differences of whole words, to which another word may be added, as GCC adds three numbers.
/// Other video instructions are seldom.
pub(super) fn video(e: &mut Emit, video: Video, sources: &[Value]) -> Option<Value> {
    let Video { op, parts: 1, to, a, b, sat: false, then: None | Some(VideoThen::Add) } = video else {
        return None;
    };
    if [to, a, b].iter().any(|ty| ty.bits() != 32) {
        return None;
    }
    let &[a, b, ..] = sources else { return None };
    let result = match op {
        VideoOperation::Add => e.add(a, b),
        VideoOperation::Sub => e.sub(a, b),
        _ => return None,
    };
    match video.then {
        None => Some(result),
        Some(_) => Some(e.add(result, *sources.get(2)?)),
    }
}

fn extreme(e: &mut Emit, ty: Type, least: bool, relu: bool, a: Value, b: Value) -> Value {
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
    let most = e.like(a, 0x7fff_ffff);
    let side = e.sar_by(a, 31);
    let limit = e.xor(side, most);
    let zero = e.like(a, 0);
    let overflows = e.compare(IntOrder::LessSigned, overflow, zero);
    e.select(overflows, limit, value)
}

fn product(e: &mut Emit, ty: Type, part: Part, saturates: bool, sources: &[Value]) -> Option<Value> {
    let &[a, b, ..] = sources else { return None };
    let product = match (part, power_of_two(e, ty, a, b)) {
        (Part::High, _) => high(e, ty, a, b),
        (Part::Low | Part::Wide, Some((factor, power))) => shifted(e, ty, factor, power, part == Part::Wide),
        (Part::Wide, None) => wide(e, ty, a, b),
        (Part::Low, None) => {
            let product = e.mul(a, b);
            e.extend(product, ty.bits(), false)
        }
    };
    let Some(&c) = sources.get(2) else { return Some(product) };
    if saturates {
        return Some(saturating_add(e, product, c));
    }
    let sum = e.add(product, c);
    Some(if part == Part::Wide { sum } else { e.extend(sum, ty.bits(), false) })
}

/// The other factor and the logarithm, where one is a power of two: mostly the sizes of elements.
fn power_of_two(e: &Emit, ty: Type, a: Value, b: Value) -> Option<(Value, u32)> {
    let logarithm = |source: Value| {
        let value = e.constant_of(source)?;
        let negative = ty.is_signed() && value >> (ty.bits() - 1) & 1 != 0;
        (value.is_power_of_two() && !negative).then(|| value.trailing_zeros())
    };
    logarithm(b).map(|power| (a, power)).or_else(|| Some((b, logarithm(a)?)))
}

fn shifted(e: &mut Emit, ty: Type, factor: Value, power: u32, wide: bool) -> Value {
    let factor = match (wide, ty.bits()) {
        (true, 32) => e.widen(factor, ty.is_signed()),
        (true, _) => signed(e, factor, ty),
        _ => factor,
    };
    let product = e.shl_by(factor, power);
    if wide { product } else { e.extend(product, ty.bits(), false) }
}

/// The whole product of 16 or 32 bits.
fn wide(e: &mut Emit, ty: Type, a: Value, b: Value) -> Value {
    let (a, b) = match ty.bits() {
        16 => (signed(e, a, ty), signed(e, b, ty)),
        _ => (e.widen(a, ty.is_signed()), e.widen(b, ty.is_signed())),
    };
    e.mul(a, b)
}

fn high(e: &mut Emit, ty: Type, a: Value, b: Value) -> Value {
    match (ty.bits(), ty.is_signed()) {
        (16, _) => {
            let product = wide(e, ty, a, b);
            e.shr_by(product, 16)
        }
        (32, _) => {
            let product = wide(e, ty, a, b);
            e.high_word(product)
        }
        (_, true) => e.make(Op::MulHighSigned, &[a, b]),
        (_, false) => e.make(Op::MulHighUnsigned, &[a, b]),
    }
}

/// Of 24-bit factors: the low 32 bits of the product, or those from bit 16 on.
fn product_24(
    e: &mut Emit,
    ty: Type,
    high: bool,
    saturates: bool,
    factors: [Value; 2],
    c: Option<Value>,
) -> Value {
    let [a, b] = factors.map(|factor| e.extend(factor, 24, ty.is_signed()));
    let product = if high {
        let product = wide(e, ty, a, b);
        let shifted = e.shr_by(product, 16);
        e.low_word(shifted)
    } else {
        e.mul(a, b)
    };
    match c {
        Some(c) if saturates => saturating_add(e, product, c),
        Some(c) => e.add(product, c),
        None => product,
    }
}

/// `dp4a` and `dp2a`: products of bytes, or of halves with bytes, and their sum.
pub(super) fn dot(e: &mut Emit, dot: Dot, sources: &[Value]) -> Option<Value> {
    let &[a, b, c] = sources.first_chunk()?;
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
    Some((0..count).fold(c, |sum, index| {
        let (x, y) = (element(e, a, index, bits, signed[0]), element(e, b, index + offset, 8, signed[1]));
        let product = e.mul(x, y);
        e.add(sum, product)
    }))
}

/// Two 16-bit values in each 32-bit lane.
pub(super) fn packed(e: &mut Emit, op: Packed, ty: Type, relu: bool, sources: &[Value]) -> Option<Value> {
    let &[a, b] = sources.first_chunk()?;
    let op = match (op, ty == Type::S16x2) {
        (Packed::Add, _) => Op::AddHalves,
        (Packed::Min, true) => Op::MinHalvesSigned,
        (Packed::Min, false) => Op::MinHalvesUnsigned,
        (Packed::Max, true) => Op::MaxHalvesSigned,
        (Packed::Max, false) => Op::MaxHalvesUnsigned,
    };
    let chosen = e.make(op, &[a, b]);
    let zero = e.like(chosen, 0);
    Some(if relu { e.make(Op::MaxHalvesSigned, &[chosen, zero]) } else { chosen })
}
