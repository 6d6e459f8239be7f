//! Conversions between integers and floats in vectors.

use cranelift_codegen::ir::types::{F32, F32X4, F64X2, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::divide;
use super::emit::{Emit, Quad};

/// Singles that are the nearest to integers.
pub(super) fn singles(e: &mut Emit, signed: bool, a: Quad) -> Value {
    let convert = |e: &mut Emit, ty, value| match signed {
        true => e.builder.ins().fcvt_from_sint(ty, value),
        false => e.builder.ins().fcvt_from_uint(ty, value),
    };
    match a {
        Quad::One(words) => convert(e, F32X4, words),
        // Vectors have no such conversion.
        Quad::Two(first, second) => {
            let lanes = [(first, 0), (first, 1), (second, 0), (second, 1)].map(|(pair, lane)| {
                let scalar = e.builder.ins().extractlane(pair, lane);
                convert(e, F32, scalar)
            });
            e.gather(F32X4, &lanes)
        }
    }
}

/// Doubles that are the nearest to integers.
pub(super) fn doubles(e: &mut Emit, signed: bool, a: Quad) -> Quad {
    match a {
        Quad::One(words) => {
            let [first, second] = divide::doubles(e, signed, words);
            Quad::Two(first, second)
        }
        Quad::Two(..) => e.each([a], |e, [a]| match signed {
            true => e.builder.ins().fcvt_from_sint(F64X2, a),
            false => e.builder.ins().fcvt_from_uint(F64X2, a),
        }),
    }
}

/// Words of singles.
pub(super) fn words(e: &mut Emit, signed: bool, a: Value) -> Value {
    match signed {
        true => e.builder.ins().fcvt_to_sint_sat(I32X4, a),
        false => e.builder.ins().fcvt_to_uint_sat(I32X4, a),
    }
}

/// 64 bits of a scalar.
pub(super) fn wide(e: &mut Emit, signed: bool, a: Value) -> Value {
    match signed {
        true => e.builder.ins().fcvt_to_sint_sat(I64, a),
        false => e.builder.ins().fcvt_to_uint_sat(I64, a),
    }
}

/// 64 bits of each lane, which vectors do not have.
pub(super) fn wides(e: &mut Emit, signed: bool, a: Quad) -> Quad {
    match a {
        Quad::Two(..) => e.each([a], |e, [a]| e.scalars(&[a], |e, lane| wide(e, signed, lane[0]))),
        Quad::One(singles) => {
            let lanes = [0, 1, 2, 3].map(|lane| {
                let scalar = e.builder.ins().extractlane(singles, lane);
                wide(e, signed, scalar)
            });
            let [low, high] =
                [&lanes[..2], &lanes[2..]].map(|pair| e.gather(cranelift_codegen::ir::types::I64X2, pair));
            Quad::Two(low, high)
        }
    }
}

/// Singles as doubles, NaNs with any payload.
pub(super) fn promote(e: &mut Emit, singles: Value) -> Quad {
    let high = crate::cranelift::value::shuffle_words(e.builder, singles, singles, [2, 3, 2, 3]);
    let high = e.cast(F32X4, high);
    Quad::Two(e.builder.ins().fvpromote_low(singles), e.builder.ins().fvpromote_low(high))
}

/// The nearest singles.
pub(super) fn demote(e: &mut Emit, first: Value, second: Value) -> Value {
    // Each gives two singles and two zeros.
    let (first, second) = (e.builder.ins().fvdemote(first), e.builder.ins().fvdemote(second));
    let both = crate::cranelift::value::shuffle_words(e.builder, first, second, [0, 1, 4, 5]);
    e.cast(F32X4, both)
}
