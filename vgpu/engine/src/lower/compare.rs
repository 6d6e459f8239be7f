//! Comparisons: the masks of `setp`, `set` and `slct`.

use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use gangway_ptx::{Opcode, Type, Word};

use super::emit::{Emit, Quad};
use super::integer::signed;
use super::{float, half};

/// Where the comparison of an opcode holds between values of type `ty`.
pub(super) fn holds(e: &mut Emit, opcode: &Opcode, ty: Type, a: Quad, b: Quad) -> Option<Value> {
    use Word::*;
    let comparisons = [Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, IsNan];
    let comparison = opcode.first_of(&comparisons)?;
    let mask = match ty {
        Type::F32 | Type::F64 => {
            let cc = float_code(comparison)?;
            e.each([a, b], |e, [a, b]| {
                let [a, b] = [a, b].map(|value| {
                    let value = float::flushed_input(e, opcode, ty, value);
                    e.float(value)
                });
                e.compare_floats(cc, a, b)
            })
        }
        Type::F16 | Type::Bf16 => {
            let cc = float_code(comparison)?;
            let [a, b] = [a, b].map(|quad| {
                let value = quad.first();
                let value = if opcode.has(Ftz) { half::flush(e, ty, value) } else { value };
                half::to_float(e, ty, value)
            });
            Quad::One(e.compare_floats(cc, a, b))
        }
        _ if ty.is_float() => return None,
        _ => {
            let cc = integer_code(comparison, ty)?;
            e.each([a, b], |e, [a, b]| {
                let (a, b) = match cc {
                    IntCC::Equal | IntCC::NotEqual => (a, b),
                    _ => (signed(e, a, ty), signed(e, b, ty)),
                };
                e.compare(cc, a, b)
            })
        }
    };
    Some(e.narrow_mask(mask))
}

fn float_code(comparison: Word) -> Option<FloatCC> {
    Some(match comparison {
        Word::Eq => FloatCC::Equal,
        Word::Ne => FloatCC::OrderedNotEqual,
        Word::Lt => FloatCC::LessThan,
        Word::Le => FloatCC::LessThanOrEqual,
        Word::Gt => FloatCC::GreaterThan,
        Word::Ge => FloatCC::GreaterThanOrEqual,
        Word::Equ => FloatCC::UnorderedOrEqual,
        Word::Neu => FloatCC::NotEqual,
        Word::Ltu => FloatCC::UnorderedOrLessThan,
        Word::Leu => FloatCC::UnorderedOrLessThanOrEqual,
        Word::Gtu => FloatCC::UnorderedOrGreaterThan,
        Word::Geu => FloatCC::UnorderedOrGreaterThanOrEqual,
        Word::Num => FloatCC::Ordered,
        Word::IsNan => FloatCC::Unordered,
        _ => return None,
    })
}

fn integer_code(comparison: Word, ty: Type) -> Option<IntCC> {
    let signed = ty.is_signed();
    Some(match comparison {
        Word::Eq => IntCC::Equal,
        Word::Ne => IntCC::NotEqual,
        Word::Lt if signed => IntCC::SignedLessThan,
        Word::Le if signed => IntCC::SignedLessThanOrEqual,
        Word::Gt if signed => IntCC::SignedGreaterThan,
        Word::Ge if signed => IntCC::SignedGreaterThanOrEqual,
        Word::Lt | Word::Lo => IntCC::UnsignedLessThan,
        Word::Le | Word::Ls => IntCC::UnsignedLessThanOrEqual,
        Word::Gt | Word::Hi => IntCC::UnsignedGreaterThan,
        Word::Ge | Word::Hs => IntCC::UnsignedGreaterThanOrEqual,
        _ => return None,
    })
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
pub(super) fn selects_first(e: &mut Emit, opcode: &Opcode, ty: Type, c: Quad) -> Value {
    let c = c.first();
    if ty == Type::F32 {
        let c = float::flushed_input(e, opcode, ty, c);
        let c = e.float(c);
        let zero = e.float_like(c, 0.0);
        return e.compare_floats(FloatCC::GreaterThanOrEqual, c, zero);
    }
    let zero = e.like(c, 0);
    e.compare(IntCC::SignedGreaterThanOrEqual, c, zero)
}
