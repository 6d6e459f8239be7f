//! Operations whose operands are the same in all lanes.

use cranelift_codegen::ir::types::{F32, F64, I8, I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_simt::{Element, Op};

use super::emit::{Emit, Quad};
use super::{divide, float_code, floats, integer_code, vector};

/// The result; `element` is that of the first operand. Masks are integers of 0 or 1, of 8 or of 32
/// bits.
pub(super) fn emit(e: &mut Emit, op: Op, element: Element, operands: &[Value]) -> Value {
    let a = operands[0];
    let second = |e: &mut Emit| alike(e, a, operands[1]);
    match op {
        Op::Not if element == Element::Mask => e.mask_not(a),
        Op::And | Op::Or | Op::Xor => {
            let (a, b) = second(e);
            match op {
                Op::And => e.and(a, b),
                Op::Or => e.or(a, b),
                _ => e.xor(a, b),
            }
        }
        Op::MulHighSigned => e.builder.ins().smulhi(a, operands[1]),
        Op::MulHighUnsigned => e.builder.ins().umulhi(a, operands[1]),
        Op::DivSigned | Op::DivUnsigned | Op::RemSigned | Op::RemUnsigned => {
            divide::scalars(e, divide::Which::of(op), a, operands[1])
        }
        Op::ShiftLeft | Op::ShiftRightUnsigned | Op::ShiftRightSigned => {
            let known = crate::cranelift::value::constant_of(e.builder, operands[1]);
            e.shift(op, a, operands[1], known)
        }
        Op::FunnelLeft | Op::FunnelRight => {
            let (low, high) = (e.builder.ins().uextend(I64, a), e.builder.ins().uextend(I64, operands[1]));
            let high = e.shl_by(high, 32);
            let both = e.or(low, high);
            let shifted = match op {
                Op::FunnelLeft => e.builder.ins().ishl(both, operands[2]),
                _ => e.builder.ins().ushr(both, operands[2]),
            };
            let shifted = if op == Op::FunnelLeft { e.shr_by(shifted, 32) } else { shifted };
            e.builder.ins().ireduce(I32, shifted)
        }
        // In a vector, for which there are instructions.
        Op::Permute
        | Op::AddHalves
        | Op::MinHalvesSigned
        | Op::MinHalvesUnsigned
        | Op::MaxHalvesSigned
        | Op::MaxHalvesUnsigned => {
            let quads: Vec<Quad> =
                operands.iter().map(|&operand| Quad::One(e.builder.ins().splat(I32X4, operand))).collect();
            let known = operands.get(2).and_then(|&by| crate::cranelift::value::constant_of(e.builder, by));
            let result = match known {
                Some(selector) => {
                    super::bits::permute_known(e, [quads[0].first(), quads[1].first()], selector)
                }
                None => vector::emit(e, op, &quads).first(),
            };
            e.builder.ins().extractlane(result, 0)
        }
        Op::Population => {
            let count = e.builder.ins().popcnt(a);
            word(e, count)
        }
        Op::LeadingZeros => {
            let count = e.builder.ins().clz(a);
            word(e, count)
        }
        Op::ReverseBits => e.builder.ins().bitrev(a),
        Op::WidenSigned => e.builder.ins().sextend(I64, a),
        Op::WidenUnsigned => e.builder.ins().uextend(I64, a),
        Op::LowWord => e.builder.ins().ireduce(I32, a),
        Op::HighWord => {
            let high = e.shr_by(a, 32);
            e.builder.ins().ireduce(I32, high)
        }
        Op::Select => {
            let (yes, no) = alike(e, operands[1], operands[2]);
            e.select(a, yes, no)
        }
        Op::MaskWord => e.builder.ins().bmask(I32, a),
        Op::MaskWide => e.builder.ins().bmask(I64, a),
        Op::SignedToF32 => e.builder.ins().fcvt_from_sint(F32, a),
        Op::UnsignedToF32 => e.builder.ins().fcvt_from_uint(F32, a),
        Op::SignedToF64 => e.builder.ins().fcvt_from_sint(F64, a),
        Op::UnsignedToF64 => e.builder.ins().fcvt_from_uint(F64, a),
        Op::ToSignedWord | Op::ToWordUnchecked => e.builder.ins().fcvt_to_sint_sat(I32, a),
        Op::ToUnsignedWord => e.builder.ins().fcvt_to_uint_sat(I32, a),
        Op::ToSignedWide => floats::wide(e, true, a),
        Op::ToUnsignedWide => floats::wide(e, false, a),
        Op::Promote => e.builder.ins().fpromote(F64, a),
        Op::Demote => e.builder.ins().fdemote(F32, a),
        Op::CompareInt(order) => e.compare(integer_code(order), a, operands[1]),
        Op::CompareFloat(order) => e.compare_floats(float_code(order), a, operands[1]),
        op => {
            let b = operands.get(1).copied().unwrap_or(a);
            let c = operands.get(2).copied().unwrap_or(a);
            e.common(op, a, b, c)
        }
    }
}

/// Two masks of one width.
fn alike(e: &mut Emit, a: Value, b: Value) -> (Value, Value) {
    match (e.ty(a) == I8, e.ty(b) == I8) {
        (true, false) => (e.truth(a), b),
        (false, true) => (a, e.truth(b)),
        _ => (a, b),
    }
}

/// A count of 32 bits.
fn word(e: &mut Emit, count: Value) -> Value {
    if e.ty(count) == I64 { e.builder.ins().ireduce(I32, count) } else { count }
}
