//! Operations on four lanes.

use cranelift_codegen::ir::types::{I16X8, I32, I32X4, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_simt::Op;

use super::emit::{Emit, Quad};
use super::{bits, divide, float_code, floats, integer_code};

/// The result, of operands that are all lanes of vectors. Masks have all bits of their lanes, which
/// are as wide as what has been compared.
pub(super) fn emit(e: &mut Emit, op: Op, operands: &[Quad]) -> Quad {
    let a = operands[0];
    let second = operands.get(1).copied().unwrap_or(a);
    match op {
        Op::And | Op::Or | Op::Xor => {
            let (a, b) = alike(e, a, second);
            e.each([a, b], |e, [a, b]| e.common(op, a, b, a))
        }
        Op::MulHighSigned | Op::MulHighUnsigned => high(e, op == Op::MulHighSigned, a, second),
        Op::DivSigned | Op::DivUnsigned | Op::RemSigned | Op::RemUnsigned => {
            let which = divide::Which::of(op);
            match a {
                Quad::One(words) => Quad::One(divide::lanes(e, which, words, second.first())),
                Quad::Two(..) => e.each([a, second], |e, [a, b]| {
                    e.scalars(&[a, b], |e, lane| divide::scalars(e, which, lane[0], lane[1]))
                }),
            }
        }
        Op::ShiftLeft | Op::ShiftRightUnsigned | Op::ShiftRightSigned => match a {
            Quad::One(words) => Quad::One(bits::shift_lanes(e, op, words, second.first())),
            Quad::Two(..) => {
                let amounts = e.widen(second.first(), false);
                e.each([a, amounts], |e, [a, amounts]| {
                    e.scalars(&[a, amounts], |e, lane| {
                        let amount = e.builder.ins().ireduce(I32, lane[1]);
                        e.shift(op, lane[0], amount, None)
                    })
                })
            }
        },
        Op::FunnelLeft | Op::FunnelRight => funnel_lanes(e, op, operands),
        Op::Permute => Quad::One(bits::permute_by(e, a.first(), second.first(), operands[2].first())),
        Op::Population => Quad::One(bits::population(e, a)),
        Op::LeadingZeros => Quad::One(bits::leading_zeros(e, a)),
        Op::ReverseBits => e.each([a], |e, [a]| bits::reverse(e, a)),
        Op::AddHalves
        | Op::MinHalvesSigned
        | Op::MinHalvesUnsigned
        | Op::MaxHalvesSigned
        | Op::MaxHalvesUnsigned => Quad::One(halves(e, op, a.first(), second.first())),
        Op::WidenSigned => e.widen(a.first(), true),
        Op::WidenUnsigned => e.widen(a.first(), false),
        Op::LowWord => Quad::One(e.low_words(a)),
        Op::HighWord => Quad::One(e.high_words(a)),
        Op::Select => {
            let (yes, no) = alike(e, second, operands[2]);
            let mask = fitted(e, a, yes);
            e.each([mask, yes, no], |e, [mask, yes, no]| e.select(mask, yes, no))
        }
        Op::MaskWord => Quad::One(narrow(e, a)),
        Op::MaskWide => wide(e, a),
        Op::SignedToF32 => Quad::One(floats::singles(e, true, a)),
        Op::UnsignedToF32 => Quad::One(floats::singles(e, false, a)),
        Op::SignedToF64 => floats::doubles(e, true, a),
        Op::UnsignedToF64 => floats::doubles(e, false, a),
        Op::ToSignedWord => Quad::One(floats::words(e, true, a.first())),
        Op::ToUnsignedWord => Quad::One(floats::words(e, false, a.first())),
        Op::ToSignedWide => floats::wides(e, true, a),
        Op::ToUnsignedWide => floats::wides(e, false, a),
        Op::ToWordUnchecked => Quad::One(e.builder.ins().x86_cvtt2dq(I32X4, a.first())),
        Op::Promote => floats::promote(e, a.first()),
        Op::Demote => match a {
            Quad::Two(first, second) => Quad::One(floats::demote(e, first, second)),
            Quad::One(_) => unreachable!("a double is wide"),
        },
        Op::CompareInt(order) => e.each([a, second], |e, [a, b]| e.compare(integer_code(order), a, b)),
        Op::CompareFloat(order) => e.each([a, second], |e, [a, b]| e.compare_floats(float_code(order), a, b)),
        op => {
            let third = operands.get(2).copied().unwrap_or(a);
            e.each([a, second, third], |e, [a, b, c]| e.common(op, a, b, c))
        }
    }
}

/// A select by a scalar mask.
pub(super) fn choose(e: &mut Emit, mask: Value, yes: Quad, no: Quad) -> Quad {
    let (yes, no) = alike(e, yes, no);
    e.each([yes, no], |e, [yes, no]| e.builder.ins().select(mask, yes, no))
}

/// A mask of 32-bit lanes.
fn narrow(e: &mut Emit, mask: Quad) -> Value {
    match mask {
        Quad::One(mask) => mask,
        Quad::Two(first, second) => crate::cranelift::value::low_halves(e.builder, first, second),
    }
}

/// A mask of 64-bit lanes.
fn wide(e: &mut Emit, mask: Quad) -> Quad {
    match mask {
        Quad::One(mask) => {
            let [first, second] = crate::cranelift::value::widen_mask(e.builder, mask);
            Quad::Two(first, second)
        }
        wide @ Quad::Two(..) => wide,
    }
}

/// A mask as wide as other lanes.
fn fitted(e: &mut Emit, mask: Quad, lanes: Quad) -> Quad {
    match lanes {
        Quad::One(_) => Quad::One(narrow(e, mask)),
        Quad::Two(..) => wide(e, mask),
    }
}

/// Two masks of one width; integers are that anyway.
fn alike(e: &mut Emit, a: Quad, b: Quad) -> (Quad, Quad) {
    match (a, b) {
        (Quad::One(_), Quad::Two(..)) => (a, Quad::One(narrow(e, b))),
        (Quad::Two(..), Quad::One(_)) => (Quad::One(narrow(e, a)), b),
        _ => (a, b),
    }
}

fn high(e: &mut Emit, signed: bool, a: Quad, b: Quad) -> Quad {
    match a {
        Quad::One(_) => {
            let (a, b) = (e.widen(a.first(), signed), e.widen(b.first(), signed));
            let product = e.each([a, b], |e, [a, b]| e.mul(a, b));
            Quad::One(e.high_words(product))
        }
        Quad::Two(..) => e.each([a, b], |e, [a, b]| {
            e.scalars(&[a, b], |e, lane| match signed {
                true => e.builder.ins().smulhi(lane[0], lane[1]),
                false => e.builder.ins().umulhi(lane[0], lane[1]),
            })
        }),
    }
}

/// By a scalar count of up to 32.
pub(super) fn funnel(e: &mut Emit, left: bool, [low, high]: [Value; 2], count: Value) -> Quad {
    let interleave = |e: &mut Emit, words: [u8; 4]| {
        let both = crate::cranelift::value::shuffle_words(e.builder, low, high, words);
        e.cast(I64X2, both)
    };
    let both = Quad::Two(interleave(e, [0, 4, 1, 5]), interleave(e, [2, 6, 3, 7]));
    let shifted = e.each([both], |e, [both]| match left {
        true => e.builder.ins().ishl(both, count),
        false => e.builder.ins().ushr(both, count),
    });
    Quad::One(if left { e.high_words(shifted) } else { e.low_words(shifted) })
}

fn funnel_lanes(e: &mut Emit, op: Op, operands: &[Quad]) -> Quad {
    let [low, high, count] = [0, 1, 2].map(|index| operands[index].first());
    let width = e.like(count, 32);
    let rest = e.sub(width, count);
    let (up, down) = if op == Op::FunnelLeft { (count, rest) } else { (rest, count) };
    let high = bits::shift_lanes(e, Op::ShiftLeft, high, up);
    let low = bits::shift_lanes(e, Op::ShiftRightUnsigned, low, down);
    Quad::One(e.or(high, low))
}

fn halves(e: &mut Emit, op: Op, a: Value, b: Value) -> Value {
    let (a, b) = (e.cast(I16X8, a), e.cast(I16X8, b));
    let result = match op {
        Op::AddHalves => e.add(a, b),
        Op::MinHalvesSigned => e.smin(a, b),
        Op::MinHalvesUnsigned => e.umin(a, b),
        Op::MaxHalvesSigned => e.smax(a, b),
        _ => e.umax(a, b),
    };
    e.cast(I32X4, result)
}

impl Emit<'_, '_> {
    /// What is the same instruction for scalars and for vectors. `b` and `c` are looked at where the
    /// operation takes so many operands.
    pub fn common(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        match op {
            Op::Not => self.not(a),
            Op::And => self.and(a, b),
            Op::Or => self.or(a, b),
            Op::Xor => self.xor(a, b),
            Op::Add => self.add(a, b),
            Op::Sub => self.sub(a, b),
            Op::Mul => self.mul(a, b),
            Op::MinSigned => self.smin(a, b),
            Op::MinUnsigned => self.umin(a, b),
            Op::MaxSigned => self.smax(a, b),
            Op::MaxUnsigned => self.umax(a, b),
            Op::Neg => self.neg(a),
            Op::Abs => self.abs(a),
            Op::AsFloat32 | Op::AsFloat64 => self.exact_float(a),
            Op::AsNumber => self.float(a),
            Op::AsWord | Op::AsWide => self.integer(a),
            Op::Canonical => self.register(a),
            Op::AddFloat => self.fadd(a, b),
            Op::SubFloat => self.fsub(a, b),
            Op::MulFloat => self.fmul(a, b),
            Op::DivFloat => self.fdiv(a, b),
            Op::Fma => self.fma(a, b, c),
            Op::Sqrt => self.sqrt(a),
            Op::Nearest => self.nearest(a),
            Op::Truncate => self.trunc(a),
            Op::Floor => self.floor(a),
            Op::Ceiling => self.ceil(a),
            Op::Lesser => self.lesser(a, b),
            Op::Greater => self.greater(a, b),
            other => unreachable!("{} differs between scalars and vectors", other.name()),
        }
    }

    /// A vector of scalars.
    pub fn gather(&mut self, ty: cranelift_codegen::ir::Type, lanes: &[Value]) -> Value {
        let first = self.builder.ins().scalar_to_vector(ty, lanes[0]);
        (1..lanes.len())
            .fold(first, |vector, lane| self.builder.ins().insertlane(vector, lanes[lane], lane as u8))
    }

    /// The floats with exactly these bits.
    pub fn exact_float(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        if ty.lane_type().is_float() {
            value
        } else {
            self.cast(crate::cranelift::value::float_of(ty), value)
        }
    }
}
