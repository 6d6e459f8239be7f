//! `setp`, `set`, `selp` and `slct` for one lane.

use std::cmp::Ordering;

use gangway_ptx::{Opcode, Type, Word};

use crate::float::{flush, to_f64};
use crate::integer::extend;

/// Whether the comparison of an opcode holds between two values of `ty`, before it is
/// combined with a predicate.
pub fn holds(opcode: &Opcode, ty: Type, a: u64, b: u64) -> Option<bool> {
    use Word::*;
    let comparisons = [Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, IsNan];
    let comparison = opcode.first_of(&comparisons)?;
    let order = if ty.is_float() {
        let value = |bits| to_f64(if opcode.has(Ftz) { flush(bits, ty) } else { bits }, ty);
        value(a).partial_cmp(&value(b))
    } else {
        Some(extend(a, ty).cmp(&extend(b, ty)))
    };
    // Ordered comparisons are false with a NaN, unordered ones are true.
    Some(match comparison {
        Num => order.is_some(),
        IsNan => order.is_none(),
        Eq => order == Some(Ordering::Equal),
        Ne => order.is_some_and(Ordering::is_ne),
        Lt | Lo => order.is_some_and(Ordering::is_lt),
        Le | Ls => order.is_some_and(Ordering::is_le),
        Gt | Hi => order.is_some_and(Ordering::is_gt),
        Ge | Hs => order.is_some_and(Ordering::is_ge),
        Equ => order.is_none_or(Ordering::is_eq),
        Neu => order.is_none_or(Ordering::is_ne),
        Ltu => order.is_none_or(Ordering::is_lt),
        Leu => order.is_none_or(Ordering::is_le),
        Gtu => order.is_none_or(Ordering::is_gt),
        _ => order.is_none_or(Ordering::is_ge),
    })
}

/// Combines the result of a comparison with a predicate by `.and`, `.or` or `.xor`.
pub fn combine(opcode: &Opcode, holds: bool, with: Option<bool>) -> bool {
    match (opcode.first_of(&[Word::And, Word::Or, Word::Xor]), with) {
        (Some(Word::And), Some(with)) => holds && with,
        (Some(Word::Or), Some(with)) => holds || with,
        (Some(Word::Xor), Some(with)) => holds != with,
        _ => holds,
    }
}

/// What `set` writes: all ones or 1.0 for true.
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
pub fn selects_first(opcode: &Opcode, ty: Type, c: u64) -> bool {
    if ty == Type::F32 {
        let c = if opcode.has(Word::Ftz) { flush(c, ty) } else { c };
        // -0 counts as zero, NaN does not.
        return f32::from_bits(c as u32) >= 0.0;
    }
    extend(c, ty) >= 0
}
