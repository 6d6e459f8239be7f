//! `setp`, `set`, `selp` and `slct` for one lane.

use std::cmp::Ordering;

use gangway_ptx::Type;
use gangway_ptx::meaning::{Combine, Compare, Comparison, FloatOrder, Order};

use crate::float::{flush, to_f64};
use crate::integer::extend;

/// Whether a comparison holds between two values of `ty`, the element of its type, before it is
/// combined with a predicate.
#[must_use]
pub fn holds(compare: Compare, ty: Type, a: u64, b: u64) -> bool {
    match compare.comparison {
        Comparison::Integers(order) => is_in_order(order, extend(a, ty).cmp(&extend(b, ty))),
        Comparison::Floats(order) => {
            let value = |bits| to_f64(if compare.ftz { flush(bits, ty) } else { bits }, ty);
            let found = value(a).partial_cmp(&value(b));
            match order {
                FloatOrder::Ordered(order) => found.is_some_and(|found| is_in_order(order, found)),
                FloatOrder::Unordered(order) => found.is_none_or(|found| is_in_order(order, found)),
                FloatOrder::Numbers => found.is_some(),
                FloatOrder::Nan => found.is_none(),
            }
        }
    }
}

/// Whether values that compare as `found` are in this order.
#[must_use]
pub fn is_in_order(order: Order, found: Ordering) -> bool {
    match order {
        Order::Equal => found.is_eq(),
        Order::NotEqual => found.is_ne(),
        Order::Less => found.is_lt(),
        Order::LessEqual => found.is_le(),
        Order::Greater => found.is_gt(),
        Order::GreaterEqual => found.is_ge(),
    }
}

/// Combines the result of a comparison with a predicate, where there is one.
#[must_use]
pub fn combine(combine: Option<Combine>, holds: bool, with: Option<bool>) -> bool {
    match (combine, with) {
        (Some(Combine::And), Some(with)) => holds && with,
        (Some(Combine::Or), Some(with)) => holds || with,
        (Some(Combine::Xor), Some(with)) => holds != with,
        (None, _) | (_, None) => holds,
    }
}

/// What `set` writes: all ones or 1.0 for true.
#[must_use]
pub fn set_value(ty: Type, holds: bool) -> u64 {
    match (holds, ty) {
        (false, _) => 0,
        (true, Type::F32) => 0x3f80_0000,
        (true, Type::F16) => 0x3c00,
        (true, Type::Bf16) => 0x3f80,
        (true, _) => crate::integer::mask(ty.bits()),
    }
}

/// Whether `slct` takes its first value: the third operand is at least zero.
#[must_use]
pub fn selects_first(ty: Type, ftz: bool, c: u64) -> bool {
    if ty == Type::F32 {
        let c = if ftz { flush(c, ty) } else { c };
        // -0 counts as zero, NaN does not.
        return f32::from_bits(c as u32) >= 0.0;
    }
    extend(c, ty) >= 0
}
