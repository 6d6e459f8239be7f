//! Whether a sequence is one.

use std::fmt;

use crate::evaluate::all;
use crate::op::Op;
use crate::sequence::{Sequence, Value};
use crate::types::{Element, Extent, Type};

/// What is wrong with a sequence, and with which of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A parameter stands behind an operation, or has another's number.
    Parameter(Value),
    /// An operand is defined later, or nowhere.
    Order(Value),
    /// The operation takes other elements.
    Operands(Value),
    /// The result has another type.
    Result(Value),
    /// The constant has bits that its element has not, or is no constant in all lanes.
    Constant(Value),
    /// A result of the sequence is nowhere defined.
    Undefined(Value),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Parameter(value) => write!(f, "%{} is no parameter of the next number", value.0),
            Flaw::Order(value) => write!(f, "%{} has an operand that is not defined before it", value.0),
            Flaw::Operands(value) => write!(f, "%{} has operands that its operation does not take", value.0),
            Flaw::Result(value) => write!(f, "%{} has a type that its operation does not give", value.0),
            Flaw::Constant(value) => write!(f, "%{} is a constant outside of its type", value.0),
            Flaw::Undefined(value) => write!(f, "the result %{} is not defined", value.0),
        }
    }
}

impl std::error::Error for Flaw {}

/// Checks a sequence.
///
/// # Errors
/// The first flaw.
pub fn verify(sequence: &Sequence) -> Result<(), Flaw> {
    let parameters = sequence.parameters();
    for (value, definition) in sequence.values() {
        match definition.op {
            Op::Parameter(number) if number != value.0 || value.index() >= parameters => {
                return Err(Flaw::Parameter(value));
            }
            Op::Parameter(_) => {}
            Op::Constant(bits) if bits & !all(definition.ty.element) != 0 || !definition.ty.is_one() => {
                return Err(Flaw::Constant(value));
            }
            Op::Constant(_) => {}
            op => {
                if definition.operands().iter().any(|operand| *operand >= value) {
                    return Err(Flaw::Order(value));
                }
                let given: Vec<Type> =
                    definition.operands().iter().map(|&operand| sequence.ty(operand)).collect();
                let elements: Vec<Element> = given.iter().map(|ty| ty.element).collect();
                if !op.operands().take(&elements) {
                    return Err(Flaw::Operands(value));
                }
                let extent = given.iter().map(|ty| ty.extent).max().unwrap_or(Extent::One);
                let element = op.result(&elements);
                if element != Some(definition.ty.element) || definition.ty.extent != extent {
                    return Err(Flaw::Result(value));
                }
            }
        }
    }
    match sequence.results.iter().find(|result| result.index() >= sequence.definitions.len()) {
        Some(&result) => Err(Flaw::Undefined(result)),
        None => Ok(()),
    }
}
