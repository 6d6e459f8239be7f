//! Which results count as right: the interpreter's bits, or for approximations what the PTX ISA
//! allows.

use gangway_ptx::forms::{Op, Opcode};
use gangway_ptx::{Type, Word};

pub fn accepts(opcode: &Opcode, inputs: &[u64], got: u64, wanted: u64) -> bool {
    if got == wanted {
        return true;
    }
    if !opcode.has(Word::Approx) || opcode.ty(0) != Some(Type::F32) {
        return false;
    }
    let single = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let (x, got, wanted) = (single(inputs[0]), single(got), single(wanted));
    if !got.is_finite() || !wanted.is_finite() {
        return false;
    }
    let error = (got - wanted).abs();
    // The interpreter has rounded once, which is half a unit of what may be missing.
    let relative = |most: f64| error <= most * wanted.abs() + f64::from(f32::from_bits(1));
    match opcode.op {
        Op::Rsqrt => relative(2f64.powf(-22.9)),
        Op::Ex2 => relative(2f64.powi(-22)),
        Op::Lg2 if (0.5..2.0).contains(&x) => error <= 2f64.powi(-22),
        Op::Lg2 => relative(2f64.powi(-22)),
        Op::Sin | Op::Cos => error <= 2f64.powf(-20.5),
        Op::Tanh => relative(2f64.powi(-11)),
        _ => false,
    }
}
