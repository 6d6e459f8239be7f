//! What floating-point instructions compute for one lane.
//!
//! Sums, products, quotients and fused operations are exact in every rounding mode:
//! software arithmetic does them. Approximations are computed in double precision and
//! rounded, which is far inside the errors that the ISA documents.
//!
//! NaN results are canonical as on hardware: `0x7fffffff` in single, `0x7fff` in half
//! precision; in double precision an operand's payload stays, made quiet.

use gangway_ptx::{Op, Opcode, Type, Word};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// The rounding mode among an opcode's modifiers.
pub fn rounding(opcode: &Opcode) -> Round {
    let modes =
        [Word::Rn, Word::Rz, Word::Rm, Word::Rp, Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi, Word::Rna];
    match opcode.first_of(&modes) {
        Some(Word::Rz | Word::Rzi) => Round::TowardZero,
        Some(Word::Rm | Word::Rmi) => Round::TowardNegative,
        Some(Word::Rp | Word::Rpi) => Round::TowardPositive,
        Some(Word::Rna) => Round::NearestTiesToAway,
        _ => Round::NearestTiesToEven,
    }
}

/// The element of a packed type; other types are their own.
pub const fn element(ty: Type) -> Type {
    match ty {
        Type::F16x2 => Type::F16,
        Type::Bf16x2 => Type::Bf16,
        other => other,
    }
}

/// The value in double precision, which holds all others exactly.
pub fn to_f64(bits: u64, ty: Type) -> f64 {
    let mut loses = false;
    match ty {
        Type::F64 => f64::from_bits(bits),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => {
            let wide: Double = if ty == Type::F16 {
                Half::from_bits(u128::from(bits & 0xffff)).convert(&mut loses).value
            } else {
                BFloat::from_bits(u128::from(bits & 0xffff)).convert(&mut loses).value
            };
            f64::from_bits(wide.to_bits() as u64)
        }
    }
}

/// Rounds a value to a type.
pub fn from_f64(value: f64, ty: Type, round: Round) -> u64 {
    let wide = Double::from_bits(u128::from(value.to_bits()));
    let mut loses = false;
    let bits = match ty {
        Type::F64 => return value.to_bits(),
        Type::F32 => FloatConvert::<Single>::convert_r(wide, round, &mut loses).value.to_bits(),
        Type::F16 => FloatConvert::<Half>::convert_r(wide, round, &mut loses).value.to_bits(),
        _ => FloatConvert::<BFloat>::convert_r(wide, round, &mut loses).value.to_bits(),
    };
    if value.is_nan() { canonical_nan(ty) } else { bits as u64 }
}

pub const fn canonical_nan(ty: Type) -> u64 {
    match ty {
        Type::F32 | Type::Tf32 => 0x7fff_ffff,
        Type::F64 => 0xfff8_0000_0000_0000,
        _ => 0x7fff,
    }
}

const fn sign_bit(ty: Type) -> u64 {
    1 << (ty.bits() - 1)
}

/// The bits of the exponent.
const fn exponent(ty: Type) -> u64 {
    match ty {
        Type::F16 => 0x7c00,
        Type::Bf16 => 0x7f80,
        Type::F32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    }
}

pub fn is_nan(bits: u64, ty: Type) -> bool {
    bits & (sign_bit(ty) - 1) > exponent(ty)
}

/// A subnormal value becomes a zero of its sign.
pub fn flush(bits: u64, ty: Type) -> u64 {
    if bits & exponent(ty) == 0 { bits & sign_bit(ty) } else { bits }
}

/// `.sat`: into [0, 1]; NaN becomes +0.
pub fn saturate(bits: u64, ty: Type) -> u64 {
    let value = to_f64(bits, ty);
    if value.is_nan() || value <= 0.0 {
        0
    } else if value >= 1.0 {
        from_f64(1.0, ty, Round::NearestTiesToEven)
    } else {
        bits
    }
}

/// The result, or `None` for an instruction that is not a floating-point one.
pub fn evaluate(opcode: &Opcode, inputs: &[u64]) -> Option<u64> {
    let ty = opcode.ty(0)?;
    if !ty.is_float() || opcode.op == Op::Cvt {
        return None;
    }
    let input = |index: usize| inputs.get(index).copied().unwrap_or(0);
    let each = element(ty);
    if each == ty {
        return lane(opcode, ty, [input(0), input(1), input(2)]);
    }
    let low = lane(opcode, each, [0, 1, 2].map(|index| input(index) & 0xffff))?;
    let high = lane(opcode, each, [0, 1, 2].map(|index| input(index) >> 16 & 0xffff))?;
    Some(high << 16 | low)
}

fn lane(opcode: &Opcode, ty: Type, inputs: [u64; 3]) -> Option<u64> {
    let ftz = opcode.has(Word::Ftz);
    let [a, b, c] = inputs.map(|bits| if ftz { flush(bits, ty) } else { bits });
    let magnitude = sign_bit(ty) - 1;
    // These move bits and do not look at the value.
    match opcode.op {
        Op::Copysign => return Some(b & magnitude | a & sign_bit(ty)),
        Op::Abs | Op::Neg if !is_nan(a, ty) || ty == Type::F64 => {
            return Some(if opcode.op == Op::Abs { a & magnitude } else { a ^ sign_bit(ty) });
        }
        Op::Abs | Op::Neg => return Some(canonical_nan(ty)),
        Op::Min | Op::Max => return Some(extreme(opcode, ty, a, b)),
        Op::Testp => return Some(test(opcode, ty, a).into()),
        _ => {}
    }
    let result = match approximation(opcode, ty, a, b) {
        Some(value) => from_f64(value, ty, Round::NearestTiesToEven),
        None => match ty {
            Type::F16 => exact::<Half>(opcode, a, b, c),
            Type::Bf16 => exact::<BFloat>(opcode, a, b, c),
            Type::F32 => exact::<Single>(opcode, a, b, c),
            _ => exact::<Double>(opcode, a, b, c),
        }
        .or_else(|| square_root(opcode, ty, a))?,
    };
    let result = match is_nan(result, ty) {
        true if ty == Type::F64 => {
            let operand = [a, b, c].into_iter().find(|&bits| is_nan(bits, ty));
            operand.map_or(canonical_nan(ty), |bits| bits | 0x0008_0000_0000_0000)
        }
        true => canonical_nan(ty),
        false if ftz => flush(result, ty),
        false => result,
    };
    Some(if opcode.has(Word::Sat) {
        saturate(result, ty)
    } else if opcode.has(Word::Relu) && !is_nan(result, ty) && result & sign_bit(ty) != 0 {
        0
    } else {
        result
    })
}

fn exact<F: Float>(opcode: &Opcode, a: u64, b: u64, c: u64) -> Option<u64> {
    let [a, b, c] = [a, b, c].map(|bits| F::from_bits(u128::from(bits)));
    let round = rounding(opcode);
    let result = match opcode.op {
        Op::Add => a.add_r(b, round),
        Op::Sub => a.sub_r(b, round),
        Op::Mul => a.mul_r(b, round),
        Op::Fma | Op::Mad => a.mul_add_r(b, c, round),
        Op::Div => a.div_r(b, round),
        Op::Rcp => F::from_u128(1).value.div_r(a, round),
        _ => return None,
    };
    Some(result.value.to_bits() as u64)
}

/// The root in any rounding mode: the nearest one, corrected by the sign of its exact
/// error.
fn square_root(opcode: &Opcode, ty: Type, a: u64) -> Option<u64> {
    if opcode.op != Op::Sqrt {
        return None;
    }
    let value = to_f64(a, ty);
    if ty == Type::F32 {
        // The double root of a single is nearest to even a tie's distance from any single.
        let root = value.sqrt();
        let single = from_f64(root, ty, Round::NearestTiesToEven);
        return Some(corrected(single, ty, rounding(opcode), |root| (root * root).total_cmp(&value)));
    }
    // Scaled by an even power of two, so that the error does not vanish.
    let scale = if value < 1e-200 { 2f64.powi(600) } else { 1.0 };
    let (scaled, unscale) = (value * scale, 1.0 / scale.sqrt());
    let root = scaled.sqrt();
    let nearest = (root * unscale).to_bits();
    Some(corrected(nearest, ty, rounding(opcode), |root| {
        let root = root / unscale;
        root.mul_add(root, -scaled).partial_cmp(&0.0).unwrap_or(std::cmp::Ordering::Equal)
    }))
}

/// Moves a nearest root to the neighbour that a directed mode asks for. `compare` tells
/// the root's square from the operand.
fn corrected(bits: u64, ty: Type, round: Round, compare: impl Fn(f64) -> std::cmp::Ordering) -> u64 {
    let root = to_f64(bits, ty);
    if !root.is_finite() || root <= 0.0 {
        return bits;
    }
    match (compare(root), round) {
        (std::cmp::Ordering::Greater, Round::TowardZero | Round::TowardNegative) => bits - 1,
        (std::cmp::Ordering::Less, Round::TowardPositive) => bits + 1,
        _ => bits,
    }
}

/// What the ISA lets be approximate, in double precision.
fn approximation(opcode: &Opcode, ty: Type, a: u64, b: u64) -> Option<f64> {
    if !opcode.has(Word::Approx) && !opcode.has(Word::Full) {
        return None;
    }
    let (x, y) = (to_f64(a, ty), to_f64(b, ty));
    Some(match opcode.op {
        Op::Ex2 => x.exp2(),
        Op::Lg2 => x.log2(),
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Tanh => x.tanh(),
        Op::Sqrt => x.sqrt(),
        Op::Rsqrt => 1.0 / x.sqrt(),
        Op::Rcp => 1.0 / x,
        Op::Div => x / y,
        _ => return None,
    })
}

fn extreme(opcode: &Opcode, ty: Type, a: u64, b: u64) -> u64 {
    match (is_nan(a, ty), is_nan(b, ty)) {
        (true, true) => return canonical_nan(ty),
        (true, _) | (_, true) if opcode.has(Word::Nan) => return canonical_nan(ty),
        (true, false) => return b,
        (false, true) => return a,
        (false, false) => {}
    }
    // Of equal values only the zeros differ: -0 is the smaller.
    let less = to_f64(a, ty).total_cmp(&to_f64(b, ty)).is_lt();
    if less == (opcode.op == Op::Min) { a } else { b }
}

/// The nearest sum, of each element of packed types.
pub fn sum(ty: Type, a: u64, b: u64) -> u64 {
    let round = Round::NearestTiesToEven;
    let add = |a: u64, b: u64| {
        let sum = match element(ty) {
            Type::F16 => {
                Half::from_bits(u128::from(a)).add_r(Half::from_bits(u128::from(b)), round).value.to_bits()
            }
            Type::Bf16 => BFloat::from_bits(u128::from(a))
                .add_r(BFloat::from_bits(u128::from(b)), round)
                .value
                .to_bits(),
            Type::F32 => Single::from_bits(u128::from(a))
                .add_r(Single::from_bits(u128::from(b)), round)
                .value
                .to_bits(),
            _ => Double::from_bits(u128::from(a))
                .add_r(Double::from_bits(u128::from(b)), round)
                .value
                .to_bits(),
        } as u64;
        if is_nan(sum, element(ty)) && ty != Type::F64 { canonical_nan(element(ty)) } else { sum }
    };
    if element(ty) == ty {
        return add(a, b);
    }
    add(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16 | add(a & 0xffff, b & 0xffff)
}

pub fn test(opcode: &Opcode, ty: Type, a: u64) -> bool {
    let magnitude = a & (sign_bit(ty) - 1);
    let subnormal = magnitude != 0 && magnitude & exponent(ty) == 0;
    let kinds = [Word::Finite, Word::Infinite, Word::Number, Word::NotANumber, Word::Normal, Word::Subnormal];
    match opcode.first_of(&kinds) {
        Some(Word::Finite) => magnitude < exponent(ty),
        Some(Word::Infinite) => magnitude == exponent(ty),
        Some(Word::Number) => !is_nan(a, ty),
        Some(Word::NotANumber) => is_nan(a, ty),
        // As the ISA has it, zero is neither normal nor subnormal.
        Some(Word::Normal) => magnitude < exponent(ty) && magnitude & exponent(ty) != 0,
        _ => subnormal,
    }
}
