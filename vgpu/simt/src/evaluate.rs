//! The reference: what a sequence gives for one lane.

use crate::CANONICAL_NAN;
use crate::op::{FloatOrder, IntOrder, Op};
use crate::sequence::Sequence;
use crate::types::Element;

/// The results for one lane, whose values of the parameters are in `inputs`: their bits, in the
/// lowest of 64.
///
/// # Panics
/// If there are fewer inputs than parameters, or if the sequence is not valid.
#[must_use]
pub fn evaluate(sequence: &Sequence, inputs: &[u64]) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::with_capacity(sequence.definitions.len());
    for definition in &sequence.definitions {
        let operands = definition.operands();
        let value = match definition.op {
            Op::Parameter(index) => inputs[index as usize] & all(definition.ty.element),
            Op::Constant(bits) => bits,
            op => {
                let element = sequence.element(operands[0]);
                let given: Vec<u64> = operands.iter().map(|operand| values[operand.index()]).collect();
                apply(op, element, &given)
            }
        };
        values.push(value);
    }
    sequence.results.iter().map(|result| values[result.index()]).collect()
}

/// All bits of an element.
pub(crate) const fn all(element: Element) -> u64 {
    u64::MAX >> (64 - element.bits())
}

/// What an operation gives; `element` is that of the first operand.
///
/// # Panics
/// If the operation has other operands.
pub(crate) fn apply(op: Op, element: Element, operands: &[u64]) -> u64 {
    let a = operands[0];
    let second = operands.get(1).copied().unwrap_or_default();
    let third = operands.get(2).copied().unwrap_or_default();
    match op {
        Op::Select => {
            if a != 0 {
                second
            } else {
                third
            }
        }
        Op::MaskWord => {
            if a != 0 {
                all(Element::I32)
            } else {
                0
            }
        }
        Op::MaskWide => {
            if a != 0 {
                u64::MAX
            } else {
                0
            }
        }
        Op::LowWord => a & 0xffff_ffff,
        Op::HighWord => a >> 32,
        Op::WidenUnsigned | Op::AsFloat32 | Op::AsFloat64 | Op::AsNumber | Op::AsWord | Op::AsWide => a,
        Op::WidenSigned => a as u32 as i32 as i64 as u64,
        Op::FunnelLeft | Op::FunnelRight => funnel(op, [a as u32, second as u32], third as u32),
        Op::Permute => permute(a as u32, second as u32, third as u32),
        Op::AddHalves
        | Op::MinHalvesSigned
        | Op::MinHalvesUnsigned
        | Op::MaxHalvesSigned
        | Op::MaxHalvesUnsigned => halves(op, a as u32, second as u32),
        _ if element == Element::Mask => integers(op, element, a, second) & 1,
        _ if element == Element::F32 => {
            singles(op, [a, second, third].map(|bits| f32::from_bits(bits as u32)))
        }
        _ if element == Element::F64 => doubles(op, [a, second, third].map(f64::from_bits)),
        _ => integers(op, element, a, second),
    }
}

fn funnel(op: Op, [low, high]: [u32; 2], amount: u32) -> u64 {
    let both = u64::from(high) << 32 | u64::from(low);
    let amount = amount.min(32);
    if op == Op::FunnelLeft { both << amount >> 32 } else { both >> amount & 0xffff_ffff }
}

fn permute(a: u32, b: u32, selector: u32) -> u64 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let byte = |index: u32| {
        let nibble = selector >> (4 * index) & 0xf;
        let byte = bytes[(nibble & 7) as usize];
        let spread = if byte & 0x80 != 0 { 0xff } else { 0 };
        u64::from(if nibble & 8 != 0 { spread } else { byte }) << (8 * index)
    };
    (0..4).map(byte).sum()
}

fn halves(op: Op, a: u32, b: u32) -> u64 {
    let half = |shift: u32| {
        let (x, y) = ((a >> shift) as u16, (b >> shift) as u16);
        let (signed_x, signed_y) = (x as i16, y as i16);
        u64::from(match op {
            Op::AddHalves => x.wrapping_add(y),
            Op::MinHalvesSigned => signed_x.min(signed_y) as u16,
            Op::MinHalvesUnsigned => x.min(y),
            Op::MaxHalvesSigned => signed_x.max(signed_y) as u16,
            _ => x.max(y),
        }) << shift
    };
    half(0) | half(16)
}

/// Of integers and masks.
fn integers(op: Op, element: Element, a: u64, b: u64) -> u64 {
    let bits = element.bits();
    let signed = |value: u64| (value << (64 - bits)) as i64 >> (64 - bits);
    let (x, y) = (signed(a), signed(b));
    let amount = b as u32;
    let value = match op {
        Op::Not => !a,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::MulHighSigned => ((i128::from(x) * i128::from(y)) >> bits) as u64,
        Op::MulHighUnsigned => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        Op::DivSigned => {
            if y == 0 {
                u64::MAX
            } else {
                x.wrapping_div(y) as u64
            }
        }
        Op::DivUnsigned => a.checked_div(b).unwrap_or(u64::MAX),
        Op::RemSigned => {
            if y == 0 {
                a
            } else {
                x.wrapping_rem(y) as u64
            }
        }
        Op::RemUnsigned => a.checked_rem(b).unwrap_or(a),
        Op::MinSigned => x.min(y) as u64,
        Op::MinUnsigned => a.min(b),
        Op::MaxSigned => x.max(y) as u64,
        Op::MaxUnsigned => a.max(b),
        Op::Neg => a.wrapping_neg(),
        Op::Abs => x.unsigned_abs(),
        Op::ShiftLeft => {
            if amount < bits {
                a << amount
            } else {
                0
            }
        }
        Op::ShiftRightUnsigned => {
            if amount < bits {
                a >> amount
            } else {
                0
            }
        }
        Op::ShiftRightSigned => (x >> amount.min(bits - 1)) as u64,
        Op::Population => a.count_ones().into(),
        Op::LeadingZeros => (a.leading_zeros() - (64 - bits)).into(),
        Op::ReverseBits => a.reverse_bits() >> (64 - bits),
        Op::SignedToF32 => return (x as f32).to_bits().into(),
        Op::UnsignedToF32 => return (a as f32).to_bits().into(),
        Op::SignedToF64 => return (x as f64).to_bits(),
        Op::UnsignedToF64 => return (a as f64).to_bits(),
        Op::CompareInt(order) => compare(order, a, b, x, y).into(),
        other => unreachable!("{} of integers", other.name()),
    };
    value & all(element)
}

fn compare(order: IntOrder, a: u64, b: u64, x: i64, y: i64) -> bool {
    match order {
        IntOrder::Equal => a == b,
        IntOrder::NotEqual => a != b,
        IntOrder::LessSigned => x < y,
        IntOrder::LessEqualSigned => x <= y,
        IntOrder::GreaterSigned => x > y,
        IntOrder::GreaterEqualSigned => x >= y,
        IntOrder::LessUnsigned => a < b,
        IntOrder::LessEqualUnsigned => a <= b,
        IntOrder::GreaterUnsigned => a > b,
        IntOrder::GreaterEqualUnsigned => a >= b,
    }
}

fn singles(op: Op, [a, b, c]: [f32; 3]) -> u64 {
    let float = match op {
        Op::Canonical if a.is_nan() => return CANONICAL_NAN,
        Op::Canonical => a,
        Op::ToSignedWord => return (a as i32 as u32).into(),
        Op::ToUnsignedWord => return (a as u32).into(),
        Op::ToWordUnchecked => return (a as i32 as u32).into(),
        Op::ToSignedWide => return a as i64 as u64,
        Op::ToUnsignedWide => return a as u64,
        Op::Promote => return f64::from(a).to_bits(),
        Op::CompareFloat(order) => return compare_floats(order, a.into(), b.into()).into(),
        Op::AddFloat => a + b,
        Op::SubFloat => a - b,
        Op::MulFloat => a * b,
        Op::DivFloat => a / b,
        Op::Fma => a.mul_add(b, c),
        Op::Sqrt => a.sqrt(),
        Op::Nearest => a.round_ties_even(),
        Op::Truncate => a.trunc(),
        Op::Floor => a.floor(),
        Op::Ceiling => a.ceil(),
        Op::Lesser => {
            if a < b {
                a
            } else {
                b
            }
        }
        Op::Greater => {
            if a > b {
                a
            } else {
                b
            }
        }
        other => unreachable!("{} of singles", other.name()),
    };
    float.to_bits().into()
}

fn doubles(op: Op, [a, b, c]: [f64; 3]) -> u64 {
    let float = match op {
        Op::ToSignedWide => return a as i64 as u64,
        Op::ToUnsignedWide => return a as u64,
        Op::Demote => return (a as f32).to_bits().into(),
        Op::CompareFloat(order) => return compare_floats(order, a, b).into(),
        Op::AddFloat => a + b,
        Op::SubFloat => a - b,
        Op::MulFloat => a * b,
        Op::DivFloat => a / b,
        Op::Fma => a.mul_add(b, c),
        Op::Sqrt => a.sqrt(),
        Op::Nearest => a.round_ties_even(),
        Op::Truncate => a.trunc(),
        Op::Floor => a.floor(),
        Op::Ceiling => a.ceil(),
        Op::Lesser => {
            if a < b {
                a
            } else {
                b
            }
        }
        Op::Greater => {
            if a > b {
                a
            } else {
                b
            }
        }
        other => unreachable!("{} of doubles", other.name()),
    };
    float.to_bits()
}

fn compare_floats(order: FloatOrder, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match order {
        FloatOrder::Equal => a == b,
        FloatOrder::NotEqual => !unordered && a != b,
        FloatOrder::Less => a < b,
        FloatOrder::LessEqual => a <= b,
        FloatOrder::Greater => a > b,
        FloatOrder::GreaterEqual => a >= b,
        FloatOrder::OrEqual => unordered || a == b,
        FloatOrder::OrNotEqual => a != b,
        FloatOrder::OrLess => unordered || a < b,
        FloatOrder::OrLessEqual => unordered || a <= b,
        FloatOrder::OrGreater => unordered || a > b,
        FloatOrder::OrGreaterEqual => unordered || a >= b,
        FloatOrder::Ordered => !unordered,
        FloatOrder::Unordered => unordered,
    }
}
