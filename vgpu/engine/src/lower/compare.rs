//! Comparisons: the masks of `setp`, `set` and `slct`.

use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use gangway_ptx::Type;
use gangway_ptx::meaning::{Compare, Comparison, FloatOrder, Order};

use super::emit::{Emit, Quad};
use super::integer::signed;
use super::{float, half};

/// Where a comparison holds between values of type `ty`, the element of its type.
pub(super) fn holds(e: &mut Emit, compare: Compare, ty: Type, a: Quad, b: Quad) -> Value {
    let ftz = compare.ftz;
    let mask = match compare.comparison {
        Comparison::Floats(order) if ty.bits() == 16 => {
            let [a, b] = [a, b].map(|quad| {
                let value = quad.first();
                let value = if ftz { half::flush(e, ty, value) } else { value };
                half::to_float(e, ty, value)
            });
            Quad::One(e.compare_floats(float_code(order), a, b))
        }
        Comparison::Floats(order) => e.each([a, b], |e, [a, b]| {
            let [a, b] = [a, b].map(|value| {
                let value = float::flushed(e, ty, ftz, value);
                e.float(value)
            });
            e.compare_floats(float_code(order), a, b)
        }),
        Comparison::Integers(order) => e.each([a, b], |e, [a, b]| {
            let (a, b) = match order {
                Order::Equal | Order::NotEqual => (a, b),
                Order::Less | Order::LessEqual | Order::Greater | Order::GreaterEqual => {
                    (signed(e, a, ty), signed(e, b, ty))
                }
            };
            e.compare(integer_code(order, ty), a, b)
        }),
    };
    e.narrow_mask(mask)
}

fn float_code(order: FloatOrder) -> FloatCC {
    match order {
        FloatOrder::Ordered(Order::Equal) => FloatCC::Equal,
        FloatOrder::Ordered(Order::NotEqual) => FloatCC::OrderedNotEqual,
        FloatOrder::Ordered(Order::Less) => FloatCC::LessThan,
        FloatOrder::Ordered(Order::LessEqual) => FloatCC::LessThanOrEqual,
        FloatOrder::Ordered(Order::Greater) => FloatCC::GreaterThan,
        FloatOrder::Ordered(Order::GreaterEqual) => FloatCC::GreaterThanOrEqual,
        FloatOrder::Unordered(Order::Equal) => FloatCC::UnorderedOrEqual,
        FloatOrder::Unordered(Order::NotEqual) => FloatCC::NotEqual,
        FloatOrder::Unordered(Order::Less) => FloatCC::UnorderedOrLessThan,
        FloatOrder::Unordered(Order::LessEqual) => FloatCC::UnorderedOrLessThanOrEqual,
        FloatOrder::Unordered(Order::Greater) => FloatCC::UnorderedOrGreaterThan,
        FloatOrder::Unordered(Order::GreaterEqual) => FloatCC::UnorderedOrGreaterThanOrEqual,
        FloatOrder::Numbers => FloatCC::Ordered,
        FloatOrder::Nan => FloatCC::Unordered,
    }
}

/// The condition of an order of integers, by the signedness of their type.
pub(crate) const fn integer_code(order: Order, ty: Type) -> IntCC {
    match (order, ty.is_signed()) {
        (Order::Equal, _) => IntCC::Equal,
        (Order::NotEqual, _) => IntCC::NotEqual,
        (Order::Less, true) => IntCC::SignedLessThan,
        (Order::LessEqual, true) => IntCC::SignedLessThanOrEqual,
        (Order::Greater, true) => IntCC::SignedGreaterThan,
        (Order::GreaterEqual, true) => IntCC::SignedGreaterThanOrEqual,
        (Order::Less, false) => IntCC::UnsignedLessThan,
        (Order::LessEqual, false) => IntCC::UnsignedLessThanOrEqual,
        (Order::Greater, false) => IntCC::UnsignedGreaterThan,
        (Order::GreaterEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}

/// What `set` writes: all ones or 1.0 for true.
pub(super) fn set_value(e: &mut Emit, ty: Type, mask: Value) -> Value {
    let bits = e.mask_bits(mask, cranelift_codegen::ir::types::I32);
    match ty {
        Type::F32 => e.and_bits(bits, 0x3f80_0000),
        Type::F16 => e.and_bits(bits, 0x3c00),
        Type::Bf16 => e.and_bits(bits, 0x3f80),
        _ => e.extend(bits, ty.bits(), false),
    }
}

/// Where `slct` takes its first value: where the third is at least zero.
pub(super) fn selects_first(e: &mut Emit, ty: Type, ftz: bool, c: Quad) -> Value {
    let c = c.first();
    if ty == Type::F32 {
        let c = float::flushed(e, ty, ftz, c);
        let c = e.float(c);
        let zero = e.float_like(c, 0.0);
        return e.compare_floats(FloatCC::GreaterThanOrEqual, c, zero);
    }
    let zero = e.like(c, 0);
    e.compare(IntCC::SignedGreaterThanOrEqual, c, zero)
}
