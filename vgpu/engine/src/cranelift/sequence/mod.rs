//! Makes Cranelift code of sequences: what all 32 lanes compute, in vectors of 128 bits.
//!
//! Others ask [`pure`] for each operation that computes from values alone; `lower` says which
//! operations that is, and this is how the processor does them. Lanes that do not run may hold
//! anything: nothing here traps, branches, touches memory or needs a relocation.

mod bits;
mod divide;
mod emit;
mod expand;
mod floats;
mod nan;
mod scalar;
mod vector;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_frontend::FunctionBuilder;
use gangway_simt::{Extent, FloatOrder, IntOrder, Sequence};

pub use self::expand::expand;
pub use self::nan::sink_tests;
use crate::cranelift::value::{Lanes, Predicate, constant_of};
use crate::lower::Operand;

/// The value of a source operand. Registers may be wider than the type that the
/// instruction asks for; constants are `Uniform`s of `iconst`; a negated predicate is
/// negated by the caller.
#[derive(Clone, Debug)]
pub enum Input {
    Lanes(Lanes),
    Predicate(Predicate),
}

/// The value of a destination operand, of the type that the opcode expects there:
/// [`Lanes::extend`] fits it to a wider register.
#[derive(Clone, Debug)]
pub enum Output {
    Lanes(Lanes),
    Predicate(Predicate),
}

/// The results of an instruction: the second one where there can be a pair, `d|p`,
/// whether or not it is wanted. What is not used is dropped by Cranelift.
#[derive(Clone, Debug)]
pub struct Outputs {
    pub first: Output,
    pub second: Option<Output>,
}

/// Computes results that depend on nothing but `inputs`, of which this much is known, by the sequence
/// that there is for that. `None` where there is none: then nothing has been emitted. All results are
/// uniform if all inputs are.
pub fn pure(
    builder: &mut FunctionBuilder,
    inputs: &[Input],
    sequence: impl FnOnce(&[Operand]) -> Option<Sequence>,
) -> Option<Outputs> {
    let operands: Vec<Operand> = inputs.iter().map(|input| operand(builder, input)).collect();
    let sequence = sequence(&operands)?;
    debug_assert_eq!(gangway_simt::verify(&sequence), Ok(()), "{sequence}");
    let mut results = expand(builder, &sequence, inputs).into_iter();
    Some(Outputs { first: results.next()?, second: results.next() })
}

/// What `lower` has to know of an operand.
fn operand(builder: &FunctionBuilder, input: &Input) -> Operand {
    let extent = |uniform: bool| if uniform { Extent::One } else { Extent::Lanes };
    match input {
        Input::Predicate(predicate) => Operand::Predicate(extent(matches!(predicate, Predicate::Uniform(_)))),
        Input::Lanes(lanes) => {
            let uniform = match lanes {
                Lanes::Uniform(value) => Some(*value),
                Lanes::Vector(_) => None,
            };
            Operand::Bits {
                wide: lanes.wide(builder),
                extent: extent(uniform.is_some()),
                constant: uniform.and_then(|value| constant_of(builder, value)),
            }
        }
    }
}

/// Cranelift's condition.
pub(crate) const fn integer_code(order: IntOrder) -> IntCC {
    match order {
        IntOrder::Equal => IntCC::Equal,
        IntOrder::NotEqual => IntCC::NotEqual,
        IntOrder::LessSigned => IntCC::SignedLessThan,
        IntOrder::LessEqualSigned => IntCC::SignedLessThanOrEqual,
        IntOrder::GreaterSigned => IntCC::SignedGreaterThan,
        IntOrder::GreaterEqualSigned => IntCC::SignedGreaterThanOrEqual,
        IntOrder::LessUnsigned => IntCC::UnsignedLessThan,
        IntOrder::LessEqualUnsigned => IntCC::UnsignedLessThanOrEqual,
        IntOrder::GreaterUnsigned => IntCC::UnsignedGreaterThan,
        IntOrder::GreaterEqualUnsigned => IntCC::UnsignedGreaterThanOrEqual,
    }
}

const fn float_code(order: FloatOrder) -> FloatCC {
    match order {
        FloatOrder::Equal => FloatCC::Equal,
        FloatOrder::NotEqual => FloatCC::OrderedNotEqual,
        FloatOrder::Less => FloatCC::LessThan,
        FloatOrder::LessEqual => FloatCC::LessThanOrEqual,
        FloatOrder::Greater => FloatCC::GreaterThan,
        FloatOrder::GreaterEqual => FloatCC::GreaterThanOrEqual,
        FloatOrder::OrEqual => FloatCC::UnorderedOrEqual,
        FloatOrder::OrNotEqual => FloatCC::NotEqual,
        FloatOrder::OrLess => FloatCC::UnorderedOrLessThan,
        FloatOrder::OrLessEqual => FloatCC::UnorderedOrLessThanOrEqual,
        FloatOrder::OrGreater => FloatCC::UnorderedOrGreaterThan,
        FloatOrder::OrGreaterEqual => FloatCC::UnorderedOrGreaterThanOrEqual,
        FloatOrder::Ordered => FloatCC::Ordered,
        FloatOrder::Unordered => FloatCC::Unordered,
    }
}
