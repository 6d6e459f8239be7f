//! Instructions that make quotients, in which neighbouring lanes mostly agree: divisions, products
//! with constants whose high half is taken, shifts, and what takes the rest.

use gangway_ptx::meaning::{Bits, Compute, Integer, Logic, Part};
use gangway_ptx::{Instruction, Meaning, Operand, Type};

use super::shape::widens;
use super::unit::Unit;

/// Between two lanes that have different quotients there are so many at least: otherwise there
/// would be too many turns.
pub(crate) const LEAST_DIVISOR: u128 = 8;

/// What an instruction gives in lanes that agree.
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

/// The form of an instruction that may be one of those that divide.
pub(crate) fn form(compute: Compute, operands: &[Operand]) -> Option<Form> {
    let constant = |index: usize| match operands.get(index) {
        Some(&Operand::Integer(value)) => Some(value),
        _ => None,
    };
    let fits = |ty: Type| matches!(ty.bits(), 32 | 64);
    match compute {
        Compute::Integer { op: Integer::Div, ty } if fits(ty) => Some(Form::Quotient),
        Compute::Integer { op: Integer::Rem, ty } if fits(ty) => Some(Form::Rest),
        Compute::Integer { op: Integer::Mul(Part::High), ty } if fits(ty) => {
            constant(2).map(|_| Form::Product)
        }
        Compute::Bits { op: Bits::ShiftRight, ty } if fits(ty) => {
            let by = constant(2)?;
            (1..i64::from(ty.bits())).contains(&by).then_some(Form::Quotient)
        }
        // Division by a power of two.
        Compute::Logic { op: Logic::And, ty } if fits(ty) => {
            let bits = constant(2)? as u64 & (u64::MAX >> (64 - ty.bits()));
            bits.wrapping_add(1).is_power_of_two().then_some(Form::Rest)
        }
        _ if widens(compute) => Some(Form::Wide),
        _ => None,
    }
}

pub(crate) fn form_of(unit: &Unit, instruction: &Instruction) -> Option<Form> {
    match unit.module.opcode(instruction).meaning {
        Meaning::Compute(compute) if instruction.guard.is_none() => {
            form(compute, unit.body.operands(instruction))
        }
        _ => None,
    }
}

/// Whether lanes may have to agree in what an instruction gives.
pub(crate) fn divides(unit: &Unit, instruction: &Instruction) -> bool {
    form_of(unit, instruction).is_some()
}

/// What a constant divisor is.
pub(crate) fn divisor(compute: Compute, operands: &[Operand]) -> Option<u128> {
    let &Operand::Integer(value) = operands.get(2)? else { return None };
    match compute {
        Compute::Integer { op: Integer::Div | Integer::Rem, .. } => Some(value.unsigned_abs().into()),
        Compute::Bits { .. } => 1u128.checked_shl(value as u32),
        Compute::Logic { ty, .. } => Some(u128::from(value as u64 & (u64::MAX >> (64 - ty.bits()))) + 1),
        _ => None,
    }
}

/// Whether too few lanes would have the same quotient.
pub(crate) fn is_small(divisor: u128, step: i64) -> bool {
    divisor < LEAST_DIVISOR * u128::from(step.unsigned_abs())
}
