//! Which slots hold nothing but what arithmetic of 32 bits gives.
//!
//! GPUs give one NaN, processors any. Where a slot has nothing but results whose NaN is to be made that one, it can be made
//! so when somebody takes the slot's bits: arithmetic takes it as it is.

use gangway_simt::{CANONICAL_NAN, Compute, Extent, Kind, Read, Scalar, Source};

use super::sequence::makes_canonical;
use super::text::{Type, of};
use crate::analysis::liveness::Set;
use crate::analysis::unit::Unit;
use crate::lower::Operand;

/// What is known of a source before code is made of it.
pub(super) fn operand(unit: &Unit<'_>, read: Read) -> Operand {
    let ty = match read.source {
        Source::Slot(slot) | Source::Not(slot) => unit.code.slots[slot as usize],
        _ => read.ty,
    };
    let constant = match read.source {
        Source::Constant(bits) if read.ty.bits() < 64 => Some(bits & ((1 << read.ty.bits()) - 1)),
        Source::Constant(bits) => Some(bits),
        _ => None,
    };
    match of(ty) {
        Type::Bit => Operand::Predicate(Extent::One),
        ty => Operand::Bits { wide: ty.is_wide(), extent: Extent::One, constant },
    }
}

/// The slots.
pub(super) fn numbers(unit: &Unit<'_>) -> Set {
    let slots = unit.code.slots.len();
    let mut others = Set::new(slots);
    let single = |slot: u32| unit.code.slots[slot as usize].bits() == 32;
    let mut copies: Vec<(u32, u32)> = Vec::new();
    for operation in &unit.code.operations {
        let mut numbers = Vec::new();
        match &operation.kind {
            Kind::Compute(compute) => {
                let given = given(unit, compute);
                numbers.extend(
                    compute.results.iter().zip(given).filter_map(|(result, is)| result.slot.filter(|_| is)),
                );
            }
            Kind::Move { sources, results } => {
                for (read, result) in sources.iter().zip(results) {
                    let Some(to) = result.slot else { continue };
                    match read.source {
                        Source::Slot(from)
                            if single(from) && read.ty.bits() == 32 && result.ty.bits() == 32 =>
                        {
                            copies.push((from, to));
                            numbers.push(to);
                        }
                        Source::Constant(bits) if read.ty.bits() == 32 && is_fine(bits) => numbers.push(to),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        operation.each_slot(&mut |slot, write| {
            if write && !(single(slot) && numbers.contains(&slot)) {
                others.insert(slot);
            }
        });
    }
    // A copy of another value is one.
    loop {
        crate::work::count(copies.len());
        let before = copies.len();
        copies.retain(|&(from, to)| {
            let other = others.contains(from);
            if other {
                others.insert(to);
            }
            !other
        });
        if copies.len() == before {
            break;
        }
    }
    let mut numbers = Set::new(slots);
    let written = unit.code.operations.iter().filter(|operation| matches!(operation.kind, Kind::Compute(_)));
    for operation in written {
        operation.each_slot(&mut |slot, write| {
            if write && !others.contains(slot) {
                numbers.insert(slot);
            }
        });
    }
    numbers
}

/// Whether a constant is no NaN, or the one of GPUs.
fn is_fine(bits: u64) -> bool {
    !f32::from_bits(bits as u32).is_nan() || bits == CANONICAL_NAN
}

/// Whether the results of an operation are numbers.
fn given(unit: &Unit<'_>, compute: &Compute) -> Vec<bool> {
    let single = |ty: Scalar| ty.is_float() && ty.bits() == 32;
    if !compute.results.iter().any(|result| single(result.ty)) {
        return vec![false; compute.results.len()];
    }
    let operands: Vec<Operand> = compute.sources.iter().map(|&read| operand(unit, read)).collect();
    let sequence = unit.sequence(compute, &operands);
    let given = |index: usize| {
        single(compute.results[index].ty)
            && sequence.as_ref().is_some_and(|sequence| makes_canonical(sequence, index))
    };
    (0..compute.results.len()).map(given).collect()
}
