//! Integer quotients and remainders. Dividing by zero gives all ones, and leaves the
//! dividend, as in the interpreter.
//!
//! 32 bits are divided as doubles, which is exact: a quotient that is no integer is
//! further from the next one than rounding goes. By a divisor that all lanes share they are
//! multiplied with its reciprocal, rounded up, so that whole quotients stay whole.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::F64X2;
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_ptx::Type;

use super::emit::{Emit, Quad, Source};
use super::integer::signed;

/// The quotient, or the remainder.
pub(super) fn compute(e: &mut Emit, ty: Type, remainder: bool, sources: &[Source]) -> Option<Quad> {
    let [a, b] = [sources.first()?, sources.get(1)?];
    let shared = b.uniform.is_some();
    if let Some(divisor) = b.constant
        && let Some(power) = power_of_two(divisor, ty)
    {
        return Some(by_power(e, ty, a.quad, power, remainder));
    }
    Some(e.each([a.quad, b.quad], |e, [a, b]| {
        let result = match (ty.bits(), e.is_vector(a)) {
            (64, _) => e.scalars(&[a, b], |e, scalars| quotient(e, ty, scalars[0], scalars[1], remainder)),
            (_, true) => by_doubles(e, ty, a, b, shared, remainder),
            (_, false) => {
                let (a, b) = (signed(e, a, ty), signed(e, b, ty));
                quotient(e, ty, a, b, remainder)
            }
        };
        e.extend(result, ty.bits(), false)
    }))
}

fn power_of_two(divisor: u64, ty: Type) -> Option<u32> {
    let positive = divisor.is_power_of_two() && !(ty.is_signed() && divisor >> (ty.bits() - 1) & 1 != 0);
    positive.then(|| divisor.trailing_zeros())
}

fn by_power(e: &mut Emit, ty: Type, a: Quad, power: u32, remainder: bool) -> Quad {
    let bits = ty.bits();
    e.each([a], |e, [a]| {
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
        let width = e.ty(a).lane_bits();
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
    })
}

/// Scalars, by the processor's own division, which must not see what it traps on.
fn quotient(e: &mut Emit, ty: Type, a: Value, b: Value, remainder: bool) -> Value {
    let (zero, one, ones) = (e.like(b, 0), e.like(b, 1), e.like(b, u64::MAX));
    let by_zero = e.compare(IntCC::Equal, b, zero);
    let mut safe = e.select(by_zero, one, b);
    if !ty.is_signed() {
        return if remainder {
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
    if remainder {
        let rest = e.builder.ins().srem(a, safe);
        return e.select(by_zero, a, rest);
    }
    let quotient = e.builder.ins().sdiv(a, safe);
    let negative = e.neg(a);
    let quotient = e.select(by_minus_one, negative, quotient);
    e.select(by_zero, ones, quotient)
}

/// Four lanes of up to 32 bits.
fn by_doubles(e: &mut Emit, ty: Type, a: Value, b: Value, shared: bool, remainder: bool) -> Value {
    let (a, b) = (signed(e, a, ty), signed(e, b, ty));
    let (dividends, divisors) = (doubles(e, ty, a), doubles(e, ty, b));
    let [first, second] = [0, 1].map(|half| {
        let quotient = if shared {
            // A reciprocal is made once for all quads, they being the same code.
            let reciprocal = reciprocal_above(e, divisors[0]);
            e.fmul(dividends[half], reciprocal)
        } else {
            e.fdiv(dividends[half], divisors[half])
        };
        let whole = e.trunc(quotient);
        // Above 2^52 the low bits of a double are those of the integer, in two's complement.
        let magic = e.float_like(whole, 6_755_399_441_055_744.0);
        let shifted = e.fadd(whole, magic);
        e.integer(shifted)
    });
    let quotient = e.low_words(Quad::Two(first, second));
    let zero = e.like(b, 0);
    let by_zero = e.compare(IntCC::Equal, b, zero);
    if remainder {
        let product = e.mul(quotient, b);
        let rest = e.sub(a, product);
        e.select(by_zero, a, rest)
    } else {
        e.or(quotient, by_zero)
    }
}

/// A little more than the reciprocal, in magnitude.
fn reciprocal_above(e: &mut Emit, divisor: Value) -> Value {
    let one = e.float_like(divisor, 1.0);
    let nearest = e.fdiv(one, divisor);
    let bits = e.integer(nearest);
    let unit = e.like(bits, 1);
    let above = e.add(bits, unit);
    e.cast(F64X2, above)
}

/// Four integers as two pairs of doubles.
pub(super) fn doubles(e: &mut Emit, ty: Type, a: Value) -> [Value; 2] {
    // The high half is moved down first: Cranelift converts only low ones well.
    let high = crate::value::shuffle_words(e.builder, a, a, [2, 3, 2, 3]);
    [a, high].map(|half| match ty.is_signed() {
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
