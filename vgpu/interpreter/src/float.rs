//! What floating-point instructions compute for one lane.
//!
//! Sums, products, quotients and fused operations are exact in every rounding mode:
//! software arithmetic does them. Approximations are computed in double precision and
//! rounded, which is far inside the errors that the ISA documents.
//!
//! NaN results are canonical as on hardware: `0x7fffffff` in single, `0x7fff` in half
//! precision; in double precision an operand's payload stays, made quiet.

use gangway_ptx::Type;
use gangway_ptx::meaning::{self, Approximate, Mode, Rounding, Test};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::integer::mask;

/// The rounding mode, as software arithmetic calls it.
#[must_use]
pub const fn rounding(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Zero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

/// The value in double precision, which holds all others exactly.
#[must_use]
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
#[must_use]
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

#[must_use]
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

#[must_use]
pub fn is_nan(bits: u64, ty: Type) -> bool {
    bits & (sign_bit(ty) - 1) > exponent(ty)
}

/// A subnormal value becomes a zero of its sign.
#[must_use]
pub fn flush(bits: u64, ty: Type) -> u64 {
    if bits & exponent(ty) == 0 { bits & sign_bit(ty) } else { bits }
}

/// `.sat`: into [0, 1]; NaN becomes +0.
#[must_use]
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

/// What `lane` makes of a value, or of each element of a packed one.
#[must_use]
pub fn each(ty: Type, inputs: [u64; 3], lane: impl Fn(Type, [u64; 3]) -> u64) -> u64 {
    let element = ty.element();
    let part = |shift: u32| lane(element, inputs.map(|input| input >> shift & mask(element.bits())));
    if element == ty { part(0) } else { part(16) << 16 | part(0) }
}

/// Arithmetic on values of one type that is not packed.
#[must_use]
pub fn evaluate(op: meaning::Float, ty: Type, mode: Mode, inputs: [u64; 3]) -> u64 {
    use meaning::Float::*;
    let [a, b, c] = flushed(ty, mode.ftz, inputs);
    let magnitude = sign_bit(ty) - 1;
    let moved = |bits: u64| if is_nan(a, ty) && ty != Type::F64 { canonical_nan(ty) } else { bits };
    let exact = |op: Exact| {
        let result = match ty {
            Type::F16 => op.of::<Half>(mode.rounding, a, b, c),
            Type::Bf16 => op.of::<BFloat>(mode.rounding, a, b, c),
            Type::F32 => op.of::<Single>(mode.rounding, a, b, c),
            _ => op.of::<Double>(mode.rounding, a, b, c),
        };
        finished(ty, mode, [a, b, c], result)
    };
    match op {
        // These move bits and do not look at the value.
        Copysign => b & magnitude | a & sign_bit(ty),
        Abs => moved(a & magnitude),
        Neg => moved(a ^ sign_bit(ty)),
        Min { nan } => extreme(true, nan, ty, a, b),
        Max { nan } => extreme(false, nan, ty, a, b),
        Add => exact(Exact::Add),
        Sub => exact(Exact::Sub),
        Mul => exact(Exact::Mul),
        Fma => exact(Exact::Fma),
        Div => exact(Exact::Div),
        Rcp => exact(Exact::Rcp),
        Sqrt => finished(ty, mode, [a, b, c], square_root(rounding(mode.rounding), ty, a)),
    }
}

/// What the ISA lets be approximate, in double precision.
#[must_use]
pub fn approximate(op: Approximate, ty: Type, ftz: bool, inputs: [u64; 3]) -> u64 {
    let inputs = flushed(ty, ftz, inputs);
    let (x, y) = (to_f64(inputs[0], ty), to_f64(inputs[1], ty));
    let value = match op {
        Approximate::Ex2 => x.exp2(),
        Approximate::Lg2 => x.log2(),
        Approximate::Sin => x.sin(),
        Approximate::Cos => x.cos(),
        Approximate::Tanh => x.tanh(),
        Approximate::Sqrt => x.sqrt(),
        Approximate::Rsqrt => 1.0 / x.sqrt(),
        Approximate::Rcp => 1.0 / x,
        Approximate::Div => x / y,
    };
    let mode = Mode { rounding: Rounding::NearestEven, ftz, sat: false, relu: false };
    finished(ty, mode, inputs, from_f64(value, ty, Round::NearestTiesToEven))
}

/// `.ftz` for operands.
fn flushed(ty: Type, ftz: bool, inputs: [u64; 3]) -> [u64; 3] {
    inputs.map(|bits| if ftz { flush(bits, ty) } else { bits })
}

/// A result with the NaN that it has on hardware, flushed, and inside what the mode asks for.
fn finished(ty: Type, mode: Mode, inputs: [u64; 3], result: u64) -> u64 {
    let result = match is_nan(result, ty) {
        true if ty == Type::F64 => {
            let operand = inputs.into_iter().find(|&bits| is_nan(bits, ty));
            operand.map_or(canonical_nan(ty), |bits| bits | 0x0008_0000_0000_0000)
        }
        true => canonical_nan(ty),
        false if mode.ftz => flush(result, ty),
        false => result,
    };
    if mode.sat {
        saturate(result, ty)
    } else if mode.relu && !is_nan(result, ty) && result & sign_bit(ty) != 0 {
        0
    } else {
        result
    }
}

/// What software arithmetic does exactly.
#[derive(Clone, Copy)]
enum Exact {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
}

impl Exact {
    fn of<F: Float>(self, mode: Rounding, a: u64, b: u64, c: u64) -> u64 {
        let [a, b, c] = [a, b, c].map(|bits| F::from_bits(u128::from(bits)));
        let round = rounding(mode);
        let result = match self {
            Exact::Add => a.add_r(b, round),
            Exact::Sub => a.sub_r(b, round),
            Exact::Mul => a.mul_r(b, round),
            Exact::Fma => a.mul_add_r(b, c, round),
            Exact::Div => a.div_r(b, round),
            Exact::Rcp => F::from_u128(1).value.div_r(a, round),
        };
        result.value.to_bits() as u64
    }
}

/// The root in any rounding mode: the nearest one, corrected by the sign of its exact
/// error.
fn square_root(round: Round, ty: Type, a: u64) -> u64 {
    let value = to_f64(a, ty);
    if ty == Type::F32 {
        // The double root of a single is nearest to even a tie's distance from any single.
        let root = value.sqrt();
        let single = from_f64(root, ty, Round::NearestTiesToEven);
        return corrected(single, ty, round, |root| (root * root).total_cmp(&value));
    }
    // Scaled by an even power of two, so that the error does not vanish.
    let scale = if value < 1e-200 { 2f64.powi(600) } else { 1.0 };
    let (scaled, unscale) = (value * scale, 1.0 / scale.sqrt());
    let root = scaled.sqrt();
    let nearest = (root * unscale).to_bits();
    corrected(nearest, ty, round, |root| {
        let root = root / unscale;
        root.mul_add(root, -scaled).partial_cmp(&0.0).unwrap_or(std::cmp::Ordering::Equal)
    })
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

fn extreme(least: bool, nan: bool, ty: Type, a: u64, b: u64) -> u64 {
    match (is_nan(a, ty), is_nan(b, ty)) {
        (true, true) => return canonical_nan(ty),
        (true, _) | (_, true) if nan => return canonical_nan(ty),
        (true, false) => return b,
        (false, true) => return a,
        (false, false) => {}
    }
    // Of equal values only the zeros differ: -0 is the smaller.
    let less = to_f64(a, ty).total_cmp(&to_f64(b, ty)).is_lt();
    if less == least { a } else { b }
}

/// The nearest sum, of each element of packed types.
#[must_use]
pub fn sum(ty: Type, a: u64, b: u64) -> u64 {
    let round = Round::NearestTiesToEven;
    let add = |a: u64, b: u64| {
        let sum = match ty.element() {
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
        if is_nan(sum, ty.element()) && ty != Type::F64 { canonical_nan(ty.element()) } else { sum }
    };
    if ty.element() == ty {
        return add(a, b);
    }
    add(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16 | add(a & 0xffff, b & 0xffff)
}

#[must_use]
pub fn test(test: Test, ty: Type, a: u64) -> bool {
    let magnitude = a & (sign_bit(ty) - 1);
    match test {
        Test::Finite => magnitude < exponent(ty),
        Test::Infinite => magnitude == exponent(ty),
        Test::Number => !is_nan(a, ty),
        Test::NotANumber => is_nan(a, ty),
        // As the ISA has it, zero is neither normal nor subnormal.
        Test::Normal => magnitude < exponent(ty) && magnitude & exponent(ty) != 0,
        Test::Subnormal => magnitude != 0 && magnitude & exponent(ty) == 0,
    }
}
