//! Whether a function is one.

use std::fmt;

use super::{End, Function};
use crate::operation::{Kind, Operation};
use crate::scalar::Scalar;

/// What is wrong with a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An operation names a slot that there is not.
    Slot { operation: u32, slot: u32 },
    /// A guard, or what is not a predicate's opposite, is no predicate, or the other way round.
    Predicate { operation: u32, slot: u32 },
    /// An operation has not as many sources or results as it should.
    Count { operation: u32 },
    /// A block has operations that there are not, or lets lanes wait for each other where its first
    /// operation is nothing of the kind.
    Block { block: u32 },
    /// An operation stands in a block that ends with such operations, or begins with them.
    Misplaced { block: u32, operation: u32 },
    /// The end of a block leads nowhere, or belongs to another kind of operation.
    End { block: u32 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Slot { operation, slot } => write!(f, "operation {operation} has no slot %{slot}"),
            Fault::Predicate { operation, slot } => {
                write!(f, "operation {operation} takes %{slot} for a predicate, or a predicate for a value")
            }
            Fault::Count { operation } => write!(f, "operation {operation} has too few sources or results"),
            Fault::Block { block } => write!(f, "block {block} has operations that it cannot have"),
            Fault::Misplaced { block, operation } => {
                write!(f, "operation {operation} cannot stand where block {block} has it")
            }
            Fault::End { block } => write!(f, "block {block} ends in a way that it cannot"),
        }
    }
}

impl std::error::Error for Fault {}

impl Function {
    /// Checks what generators rely on.
    ///
    /// # Errors
    /// The first fault.
    pub fn verify(&self) -> Result<(), Fault> {
        for (number, operation) in (0u32..).zip(&self.operations) {
            self.verify_operation(number, operation)?;
        }
        (0u32..).zip(&self.blocks).try_for_each(|(number, _)| self.verify_block(number))
    }

    fn verify_operation(&self, number: u32, operation: &Operation) -> Result<(), Fault> {
        let mut missing = None;
        operation.each_slot(&mut |slot, _| {
            if slot as usize >= self.slots.len() {
                missing.get_or_insert(slot);
            }
        });
        if let Some(slot) = missing {
            return Err(Fault::Slot { operation: number, slot });
        }
        let is_predicate = |slot: u32| self.slots[slot as usize] == Scalar::Predicate;
        if let Some(guard) = operation.guard.filter(|guard| !is_predicate(guard.slot)) {
            return Err(Fault::Predicate { operation: number, slot: guard.slot });
        }
        let (sources, results) = match &operation.kind {
            Kind::Compute(compute) => (&compute.sources[..], &compute.results[..]),
            Kind::Exchange(exchange) => (&exchange.sources[..], &exchange.results[..]),
            Kind::Move { sources, results } => (&sources[..], &results[..]),
            _ => (&[][..], &[][..]),
        };
        let enough = match &operation.kind {
            Kind::Compute(_) => matches!(results.len(), 1 | 2),
            Kind::Exchange(exchange) => exchange.has_enough(),
            Kind::Move { .. } => sources.len() == results.len(),
            Kind::Load { access, results, .. } => results.len() == usize::from(access.count),
            Kind::Store { access, sources, .. } => sources.len() == usize::from(access.count),
            _ => true,
        };
        if !enough {
            return Err(Fault::Count { operation: number });
        }
        let read = sources.iter().filter_map(|read| Some((read.source.slot()?, read.ty)));
        let written = results.iter().filter_map(|result| Some((result.slot?, result.ty)));
        match read.chain(written).find(|&(slot, ty)| is_predicate(slot) != (ty == Scalar::Predicate)) {
            Some((slot, _)) => Err(Fault::Predicate { operation: number, slot }),
            None => Ok(()),
        }
    }

    fn verify_block(&self, number: u32) -> Result<(), Fault> {
        let block = &self.blocks[number as usize];
        let range = &block.operations;
        if range.start > range.end || range.end as usize > self.operations.len() {
            return Err(Fault::Block { block: number });
        }
        let meets = |operation: u32| {
            matches!(self.operations[operation as usize].kind, Kind::Exchange(_) | Kind::Matrix(_))
        };
        if block.collective && (range.is_empty() || !meets(range.start)) {
            return Err(Fault::Block { block: number });
        }
        for index in range.clone() {
            let misplaced = match self.operations[index as usize].kind {
                Kind::Table { .. } | Kind::Barrier(_) | Kind::Call(_) | Kind::Go => true,
                Kind::Matrix(_) => !(block.collective && index == range.start),
                _ => false,
            };
            if misplaced {
                return Err(Fault::Misplaced { block: number, operation: index });
            }
        }
        let kind = |operation: u32| self.operations.get(operation as usize).map(|operation| &operation.kind);
        let fits = match &block.end {
            End::Table { operation, targets } => {
                matches!(kind(*operation), Some(Kind::Table { .. })) && !targets.is_empty()
            }
            End::Barrier { operation, .. } => matches!(kind(*operation), Some(Kind::Barrier(_))),
            End::Call { operation, .. } => matches!(kind(*operation), Some(Kind::Call(_))),
            End::Trap { operation } => kind(*operation).is_some(),
            End::Branch(guard, ..) => self.slots.get(guard.slot as usize) == Some(&Scalar::Predicate),
            End::Jump(_) | End::Return | End::Exit => true,
        };
        if !fits || block.end.leads(|next| next as usize >= self.blocks.len()) {
            return Err(Fault::End { block: number });
        }
        Ok(())
    }
}
