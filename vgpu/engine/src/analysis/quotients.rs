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
        _ if widens(compute) => Some(Form::Wide),
        Operator::Divide => Some(Form::Quotient),
        Operator::Remainder => Some(Form::Rest),
        Operator::Multiply(Half::High) => constant.map(|_| Form::Product),
        Operator::ShiftRight => {
            (1..i64::from(algebra.ty.bits())).contains(&constant?).then_some(Form::Quotient)
        }
        // Division by a power of two.
        Operator::And => low_bits(algebra, constant?).wrapping_add(1).is_power_of_two().then_some(Form::Rest),
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

/// What is known of values that are in the order of the lanes: how fast they grow, or fall. Compilers take a division by
/// an even constant apart: a shift, a product whose high half is taken, and another shift or mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// A lane and the next one differ by as much as this, shifted right by so many bits.
    step: u128,
    below: u32,
    /// By how many bits they have been shifted left since then: what was in the highest ones is lost.
    pub left: u32,
    signed: bool,
    bits: u32,
}

/// What an operation makes of values that are in the order of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Ordered(Rate),
    /// What depends on nothing but them without so many of the low bits, in which enough lanes agree.
    Quotient {
        dropped: u32,
    },
}

impl Rate {
    /// Of values of equal steps, as an operation takes them.
    #[must_use]
    pub fn of_steps(step: i64, compute: &Compute) -> Option<Self> {
        let ty = compute.algebra?.ty;
        let step = step.unsigned_abs().into();
        Some(Self { step, below: 0, left: 0, signed: ty.is_signed(), bits: ty.bits() })
    }

    /// What an operation makes of them and a constant.
    #[must_use]
    pub fn after(self, compute: &Compute) -> Option<Next> {
        let Algebra { operator, ty } = compute.algebra?;
        let constant = compute.sources.get(1)?.source.constant()?;
        let by = u32::try_from(constant).ok().filter(|&by| by < self.bits);
        if ty.bits() != self.bits {
            return None;
        }
        // Others see these values in another order.
        let ordered = self.left == 0 && ty.is_signed() == self.signed;
        match operator {
            Operator::Multiply(Half::High) if ordered => {
                let factor =
                    if self.signed { constant.unsigned_abs() } else { low_bits(compute.algebra?, constant) };
                let step = self.step.checked_mul(factor.into())?;
                Some(Next::Ordered(Self { step, below: self.below + self.bits, ..self }))
            }
            Operator::ShiftLeft => Some(Next::Ordered(Self { left: self.left + by?, ..self })),
            Operator::ShiftRight => {
                let by = by?;
                match self.without(by) {
                    Some(quotient) => Some(quotient),
                    None if ordered => Some(Next::Ordered(Self { below: self.below + by, ..self })),
                    None => None,
                }
            }
            Operator::And => self.without(low_bits(compute.algebra?, constant).trailing_zeros()),
            _ => None,
        }
    }

    /// What is left of them without the low bits.
    fn without(self, low: u32) -> Option<Next> {
        let dropped = low.checked_sub(self.left).filter(|&dropped| dropped < self.bits)?;
        let divisor = 1u128.checked_shl(self.below + dropped)?;
        let enough = self.step.checked_mul(LEAST_DIVISOR).is_some_and(|least| divisor >= least);
        enough.then_some(Next::Quotient { dropped })
    }
}
