//! Operations that make quotients, in which neighbouring lanes mostly agree: divisions, products
//! with constants whose high half is taken, shifts, and what takes the rest.

use gangway_simt::{Algebra, Compute, Half, Kind, Operation, Operator};

use super::shape::widens;

/// Between two lanes that have different quotients there are so many at least: otherwise there
/// would be too many turns.
pub(crate) const LEAST_DIVISOR: u128 = 8;

/// What an operation gives in lanes that agree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The same.
    Quotient,
    /// Equal steps.
    Rest,
    /// As many more bits.
    Wide,
    /// What a shift makes a quotient of.
    Product,
}

/// The form of what may be one of those that divide.
pub(crate) fn form(compute: &Compute) -> Option<Form> {
    let algebra = compute.algebra?;
    let constant = compute.sources.get(1).and_then(|read| read.source.constant());
    match algebra.operator {
        Operator::Divide => Some(Form::Quotient),
        Operator::Remainder => Some(Form::Rest),
        Operator::Multiply(Half::High) => constant.map(|_| Form::Product),
        Operator::ShiftRight => {
            (1..i64::from(algebra.ty.bits())).contains(&constant?).then_some(Form::Quotient)
        }
        // Division by a power of two.
        Operator::And => low_bits(algebra, constant?).wrapping_add(1).is_power_of_two().then_some(Form::Rest),
        _ if widens(compute) => Some(Form::Wide),
        _ => None,
    }
}

pub(crate) fn form_of(operation: &Operation) -> Option<Form> {
    match &operation.kind {
        Kind::Compute(compute) if operation.guard.is_none() => form(compute),
        _ => None,
    }
}

/// Whether lanes may have to agree in what an operation gives.
pub(crate) fn divides(operation: &Operation) -> bool {
    form_of(operation).is_some()
}

/// What a constant divisor is.
pub(crate) fn divisor(compute: &Compute) -> Option<u128> {
    let value = compute.sources.get(1)?.source.constant()?;
    let algebra = compute.algebra?;
    match algebra.operator {
        Operator::Divide | Operator::Remainder => Some(value.unsigned_abs().into()),
        Operator::ShiftLeft | Operator::ShiftRight => 1u128.checked_shl(value as u32),
        Operator::And => Some(u128::from(low_bits(algebra, value)) + 1),
        _ => None,
    }
}

fn low_bits(algebra: Algebra, value: i64) -> u64 {
    value as u64 & (u64::MAX >> (64 - algebra.ty.bits()))
}

/// Whether too few lanes would have the same quotient.
pub(crate) fn is_small(divisor: u128, step: i64) -> bool {
    divisor < LEAST_DIVISOR * u128::from(step.unsigned_abs())
}
