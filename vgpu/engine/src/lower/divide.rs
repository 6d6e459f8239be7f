//! Integer quotients and remainders. Dividing by zero gives all ones, and leaves the
//! dividend, as in the interpreter.

use gangway_ptx::Type;
use gangway_simt::{Op, Value};

use super::Emit;
use super::shift::signed;

/// The quotient, or the remainder.
pub(super) fn compute(e: &mut Emit, ty: Type, remainder: bool, a: Value, b: Value) -> Value {
    if let Some(power) = e.constant_of(b).and_then(|divisor| power_of_two(divisor, ty)) {
        return by_power(e, ty, a, power, remainder);
    }
    let op = match (remainder, ty.is_signed()) {
        (false, true) => Op::DivSigned,
        (false, false) => Op::DivUnsigned,
        (true, true) => Op::RemSigned,
        (true, false) => Op::RemUnsigned,
    };
    let (a, b) = (signed(e, a, ty), signed(e, b, ty));
    let result = e.make(op, &[a, b]);
    e.extend(result, ty.bits(), false)
}

fn power_of_two(divisor: u64, ty: Type) -> Option<u32> {
    let positive = divisor.is_power_of_two() && !(ty.is_signed() && divisor >> (ty.bits() - 1) & 1 != 0);
    positive.then(|| divisor.trailing_zeros())
}

fn by_power(e: &mut Emit, ty: Type, a: Value, power: u32, remainder: bool) -> Value {
    let bits = ty.bits();
    let low = (1u64 << power) - 1;
    if !ty.is_signed() {
        return if remainder { e.and_bits(a, low) } else { e.shr_by(a, power) };
    }
    let a = signed(e, a, ty);
    if power == 0 {
        let whole = e.extend(a, bits, false);
        return if remainder { e.like(a, 0) } else { whole };
    }
    // Towards zero: negative dividends are raised by the divisor less one.
    let width = e.bits(a);
    let sign = e.sar_by(a, width - 1);
    let bias = e.shr_by(sign, width - power);
    let raised = e.add(a, bias);
    let result = if remainder {
        let whole = e.and_bits(raised, !low);
        e.sub(a, whole)
    } else {
        e.sar_by(raised, power)
    };
    e.extend(result, bits, false)
}
