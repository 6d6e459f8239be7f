//! Comparisons: the masks of `setp`, `set` and `slct`.

use gangway_ptx::Type;
use gangway_ptx::meaning::{self, Compare, Comparison, Order};
use gangway_simt::{Element, FloatOrder, IntOrder, Op, Value};

use super::shift::signed;
use super::{Emit, float, half};

/// Where a comparison holds between values of type `ty`, the element of its type.
pub(super) fn holds(e: &mut Emit, compare: Compare, ty: Type, a: Value, b: Value) -> Value {
    let ftz = compare.ftz;
    match compare.comparison {
        Comparison::Floats(order) => {
            let [a, b] = [a, b].map(|value| match ty.bits() {
                16 => {
                    let value = if ftz { half::flush(e, ty, value) } else { value };
                    half::to_float(e, ty, value)
                }
                _ => {
                    let value = float::flushed(e, ty, ftz, value);
                    e.as_number(value)
                }
            });
            e.compare_floats(float_order(order), a, b)
        }
        Comparison::Integers(order) => {
            let (a, b) = match order {
                Order::Equal | Order::NotEqual => (a, b),
                Order::Less | Order::LessEqual | Order::Greater | Order::GreaterEqual => {
                    (signed(e, a, ty), signed(e, b, ty))
                }
            };
            e.compare(integer_order(order, ty), a, b)
        }
    }
}

/// The two predicates of `setp`: whether it holds and whether not, or for each half.
pub(super) fn predicates(e: &mut Emit, compare: Compare, a: Value, b: Value) -> (Value, Value) {
    let each = compare.ty.element();
    let low = holds(e, compare, each, a, b);
    if each == compare.ty {
        return (low, e.not(low));
    }
    let [a, b] = [a, b].map(|value| e.shr_by(value, 16));
    (low, holds(e, compare, each, a, b))
}

fn float_order(order: meaning::FloatOrder) -> FloatOrder {
    use meaning::FloatOrder as Of;
    match order {
        Of::Ordered(Order::Equal) => FloatOrder::Equal,
        Of::Ordered(Order::NotEqual) => FloatOrder::NotEqual,
        Of::Ordered(Order::Less) => FloatOrder::Less,
        Of::Ordered(Order::LessEqual) => FloatOrder::LessEqual,
        Of::Ordered(Order::Greater) => FloatOrder::Greater,
        Of::Ordered(Order::GreaterEqual) => FloatOrder::GreaterEqual,
        Of::Unordered(Order::Equal) => FloatOrder::OrEqual,
        Of::Unordered(Order::NotEqual) => FloatOrder::OrNotEqual,
        Of::Unordered(Order::Less) => FloatOrder::OrLess,
        Of::Unordered(Order::LessEqual) => FloatOrder::OrLessEqual,
        Of::Unordered(Order::Greater) => FloatOrder::OrGreater,
        Of::Unordered(Order::GreaterEqual) => FloatOrder::OrGreaterEqual,
        Of::Numbers => FloatOrder::Ordered,
        Of::Nan => FloatOrder::Unordered,
    }
}

/// The order of integers, by the signedness of their type.
pub(crate) const fn integer_order(order: Order, ty: Type) -> IntOrder {
    match (order, ty.is_signed()) {
        (Order::Equal, _) => IntOrder::Equal,
        (Order::NotEqual, _) => IntOrder::NotEqual,
        (Order::Less, true) => IntOrder::LessSigned,
        (Order::LessEqual, true) => IntOrder::LessEqualSigned,
        (Order::Greater, true) => IntOrder::GreaterSigned,
        (Order::GreaterEqual, true) => IntOrder::GreaterEqualSigned,
        (Order::Less, false) => IntOrder::LessUnsigned,
        (Order::LessEqual, false) => IntOrder::LessEqualUnsigned,
        (Order::Greater, false) => IntOrder::GreaterUnsigned,
        (Order::GreaterEqual, false) => IntOrder::GreaterEqualUnsigned,
    }
}

/// What `set` writes: all ones or 1.0 for true.
pub(super) fn set_value(e: &mut Emit, ty: Type, mask: Value) -> Value {
    let bits = e.make(Op::MaskWord, &[mask]);
    match ty {
        Type::F32 => e.and_bits(bits, 0x3f80_0000),
        Type::F16 => e.and_bits(bits, 0x3c00),
        Type::Bf16 => e.and_bits(bits, 0x3f80),
        _ => e.extend(bits, ty.bits(), false),
    }
}

/// Where `slct` takes its first value: where the third is at least zero.
pub(super) fn selects_first(e: &mut Emit, ty: Type, ftz: bool, c: Value) -> Value {
    if ty == Type::F32 {
        let c = float::flushed(e, ty, ftz, c);
        let c = e.as_number(c);
        let zero = e.constant(Element::F32, 0);
        return e.compare_floats(FloatOrder::GreaterEqual, c, zero);
    }
    let zero = e.like(c, 0);
    e.compare(IntOrder::GreaterEqualSigned, c, zero)
}
