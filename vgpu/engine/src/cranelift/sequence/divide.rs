//! Integer quotients and remainders.
//!
//! 32 bits are divided as doubles, which is exact: a quotient that is no integer is
//! further from the next one than rounding goes. By a divisor that all lanes share they are
//! multiplied with its reciprocal, rounded up, so that whole quotients stay whole.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, F64X2, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_simt::Op;

use super::emit::{Emit, Quad};

/// Which of the four divisions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Which {
    pub signed: bool,
    pub remainder: bool,
}

impl Which {
    #[must_use]
    pub fn of(op: Op) -> Self {
        Which {
            signed: matches!(op, Op::DivSigned | Op::RemSigned),
            remainder: matches!(op, Op::RemSigned | Op::RemUnsigned),
        }
    }
}

/// Scalars, by the processor's own division, which must not see what it traps on.
pub(super) fn scalars(e: &mut Emit, which: Which, a: Value, b: Value) -> Value {
    let (zero, one, ones) = (e.like(b, 0), e.like(b, 1), e.like(b, u64::MAX));
    let by_zero = e.compare(IntCC::Equal, b, zero);
    let mut safe = e.select(by_zero, one, b);
    if !which.signed {
        return if which.remainder {
            let rest = e.builder.ins().urem(a, safe);
            e.select(by_zero, a, rest)
        } else {
            let quotient = e.builder.ins().udiv(a, safe);
            e.select(by_zero, ones, quotient)
        };
    }
    // The least value by -1 overflows; any value by -1 is its negative.
    let by_minus_one = e.compare(IntCC::Equal, b, ones);
    safe = e.select(by_minus_one, one, safe);
    if which.remainder {
        // By 1, as which it is done then, nothing is left.
        let rest = e.builder.ins().srem(a, safe);
        return e.select(by_zero, a, rest);
    }
    let quotient = e.builder.ins().sdiv(a, safe);
    let negative = e.neg(a);
    let quotient = e.select(by_minus_one, negative, quotient);
    e.select(by_zero, ones, quotient)
}

/// Four lanes of 32 bits, each by its own divisor.
pub(super) fn lanes(e: &mut Emit, which: Which, a: Value, b: Value) -> Value {
    let (dividends, divisors) = (doubles(e, which.signed, a), doubles(e, which.signed, b));
    let quotients = [0, 1].map(|half| e.fdiv(dividends[half], divisors[half]));
    finish(e, which, a, b, quotients)
}

/// Four lanes of 32 bits by one divisor, whose reciprocal this is.
pub(super) fn by_reciprocal(e: &mut Emit, which: Which, a: Value, b: Value, reciprocal: Value) -> Value {
    let quotients = doubles(e, which.signed, a).map(|dividend| e.fmul(dividend, reciprocal));
    finish(e, which, a, b, quotients)
}

fn finish(e: &mut Emit, which: Which, a: Value, b: Value, quotients: [Value; 2]) -> Value {
    let [first, second] = quotients.map(|quotient| {
        let whole = e.trunc(quotient);
        // Above 2^52 the low bits of a double are those of the integer, in two's complement.
        let magic = e.float_like(whole, 6_755_399_441_055_744.0);
        let shifted = e.fadd(whole, magic);
        e.integer(shifted)
    });
    let quotient = e.low_words(Quad::Two(first, second));
    let zero = e.like(b, 0);
    let by_zero = e.compare(IntCC::Equal, b, zero);
    if which.remainder {
        let product = e.mul(quotient, b);
        let rest = e.sub(a, product);
        e.select(by_zero, a, rest)
    } else {
        e.or(quotient, by_zero)
    }
}

/// A little more than the reciprocal of a scalar, in magnitude, in both lanes.
pub(super) fn reciprocal(e: &mut Emit, which: Which, divisor: Value) -> Value {
    let wide = match which.signed {
        true => e.builder.ins().sextend(I64, divisor),
        false => e.builder.ins().uextend(I64, divisor),
    };
    let divisor = e.builder.ins().fcvt_from_sint(F64, wide);
    let one = e.float_like(divisor, 1.0);
    let nearest = e.fdiv(one, divisor);
    let bits = e.integer(nearest);
    let unit = e.like(bits, 1);
    let above = e.add(bits, unit);
    let above = e.exact_float(above);
    e.builder.ins().splat(F64X2, above)
}

/// Four integers as two pairs of doubles.
pub(super) fn doubles(e: &mut Emit, signed: bool, a: Value) -> [Value; 2] {
    // The high half is moved down first: Cranelift converts only low ones well.
    let high = crate::cranelift::value::shuffle_words(e.builder, a, a, [2, 3, 2, 3]);
    [a, high].map(|half| match signed {
        true => {
            let wide = e.builder.ins().swiden_low(half);
            e.builder.ins().fcvt_from_sint(F64X2, wide)
        }
        false => {
            let wide = e.builder.ins().uwiden_low(half);
            e.builder.ins().fcvt_from_uint(F64X2, wide)
        }
    })
}
