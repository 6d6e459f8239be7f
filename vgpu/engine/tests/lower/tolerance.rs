//! Which results count as right: the interpreter's bits, or for approximations what the PTX ISA
//! allows.

use gangway_ptx::{Op, Opcode, Type, Word};

pub fn accepts(opcode: &Opcode, inputs: &[u64], got: u64, wanted: u64) -> bool {
    if got == wanted {
        return true;
    }
    let Some(ty) = opcode.ty(0).filter(|_| opcode.has(Word::Approx)) else { return false };
    match ty {
        Type::F32 => single(opcode, inputs, got, wanted),
        // The approximation is that of singles, rounded; near a half it may go the other way.
        Type::F16 | Type::Bf16 => got.abs_diff(wanted) <= 1,
        Type::F16x2 | Type::Bf16x2 => {
            (got & 0xffff).abs_diff(wanted & 0xffff) <= 1 && (got >> 16).abs_diff(wanted >> 16) <= 1
        }
        _ => false,
    }
}

fn single(opcode: &Opcode, inputs: &[u64], got: u64, wanted: u64) -> bool {
    let number = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let (x, got, wanted) = (number(inputs[0]), number(got), number(wanted));
    if !got.is_finite() || !wanted.is_finite() {
        return false;
    }
    let error = (got - wanted).abs();
    // The ISA speaks of the exact result, which the interpreter has rounded: a subnormal may be
    // one unit away.
    let relative = |most: f64| error <= most * wanted.abs() + f64::from(f32::from_bits(1));
    match opcode.op {
        Op::Rsqrt => relative(2f64.powf(-22.9)),
        Op::Ex2 => relative(2f64.powi(-22)),
        Op::Lg2 if (0.5..2.0).contains(&x) => error <= 2f64.powi(-22),
        Op::Lg2 => relative(2f64.powi(-22)),
        // The ISA promises this between -pi and pi, and nothing elsewhere.
        Op::Sin | Op::Cos if x.abs() < 2f64.powi(30) => error <= 2f64.powf(-20.5),
        Op::Sin | Op::Cos => got.abs() <= 1.0,
        Op::Tanh => relative(2f64.powi(-11)),
        _ => false,
    }
}
