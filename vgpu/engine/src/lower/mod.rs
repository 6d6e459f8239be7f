//! The fast paths: what instructions compute from values alone, as sequences of operations.
//!
//! A generator asks [`pure`] for each such instruction; where there is no fast path it calls the
//! interpreter lane by lane. What is computed here is bit for bit what `gangway-interpreter`
//! computes, but for the approximations, which stay within the errors that the PTX ISA documents.
//! Nothing here knows how many lanes there are, or which generator makes machine code of it.

mod approximate;
mod bits;
mod compare;
mod convert;
mod divide;
mod fields;
mod float;
mod half;
mod integer;
mod shift;

use std::ops::{Deref, DerefMut};

pub(crate) use self::compare::integer_order;
use gangway_ptx::meaning::{Combine, Compute, Logic};
use gangway_ptx::{Expected, Type};
use gangway_simt::{Builder, Element, Extent, Sequence, Type as Form, Value};

/// What the processor can do that sequences are made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// It has fused products.
    pub fma: bool,
}

/// What is known of a source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register's bits.
    Bits {
        /// Whether there are 64, and not 32. There may be more than the instruction asks for.
        wide: bool,
        extent: Extent,
        constant: Option<u64>,
    },
    Predicate(Extent),
}

/// The operations of an instruction whose results depend on nothing but its source operands, of
/// which one of the sequence's parameters is made each; `expected` is what the opcode says of all
/// operands. `None` where there is no fast path.
///
/// There are two results where there can be a pair, `d|p`, whether or not it is wanted. Integers
/// have the type that the opcode expects there, masks stand for predicates. All results are the same
/// in all lanes if all operands are.
#[must_use]
pub fn pure(
    compute: Compute,
    expected: &[Expected],
    operands: &[Operand],
    features: Features,
) -> Option<Sequence> {
    let mut e = Emit { builder: Builder::new(), fma: features.fma };
    let sources = e.sources(expected, operands);
    let e = &mut e;
    let (first, second) = match compute {
        Compute::Truth(op) => (truth(e, op, &sources)?, None),
        Compute::Select(_) => {
            let &[yes, no, mask] = &*sources else { return None };
            (e.select(mask, yes, no), None)
        }
        Compute::SelectBySign { by, ftz, .. } => {
            let &[yes, no, sign] = &*sources else { return None };
            let mask = compare::selects_first(e, by, ftz, sign);
            (e.select(mask, yes, no), None)
        }
        Compute::SetPredicate(compare) => {
            let &[a, b, ..] = &*sources else { return None };
            let (low, high) = compare::predicates(e, compare, a, b);
            let with = sources.get(2).copied();
            let first = combine(e, compare.combine, low, with);
            (first, Some(combine(e, compare.combine, high, with)))
        }
        Compute::Set(compare, to) => {
            if compare.ty.element() != compare.ty {
                return None;
            }
            let &[a, b, ..] = &*sources else { return None };
            let holds = compare::holds(e, compare, compare.ty, a, b);
            let holds = combine(e, compare.combine, holds, sources.get(2).copied());
            (compare::set_value(e, to, holds), None)
        }
        Compute::Test { test, ty } => (float::test(e, test, ty, *sources.first()?), None),
        Compute::Table(how) if sources.len() > 4 => {
            let result = bits::table(e, &sources)?;
            let some = e.differs_from_zero(result);
            (result, Some(combine(e, how, some, sources.get(4).copied())))
        }
        Compute::Table(_) => (bits::table(e, &sources)?, None),
        Compute::Logic { op, ty } => (bits::logic(e, op, ty, &sources)?, None),
        Compute::Bits { op, ty } => (bits::compute(e, op, ty, &sources)?, None),
        Compute::Integer { op, ty } => (integer::compute(e, op, ty, &sources)?, None),
        Compute::Packed { op, ty, relu } => (integer::packed(e, op, ty, relu, &sources)?, None),
        Compute::Dot(dot) => (integer::dot(e, dot, &sources)?, None),
        Compute::Float { op, ty, mode } => (float::compute(e, op, ty, mode, &sources)?, None),
        Compute::Half { op, ty, mode } => (half::compute(e, op, ty, mode, &sources)?, None),
        Compute::Approximate { op, ty, ftz } => (approximate::compute(e, op, ty, ftz, &sources)?, None),
        Compute::Convert(convert) => (convert::compute(e, convert, &sources)?, None),
        Compute::Video(video) => (integer::video(e, video, &sources)?, None),
        // The condition code is the warp's.
        Compute::Carry(_) | Compute::VideoMad(_) => return None,
    };
    let results: Vec<Value> = [Some(first), second].into_iter().flatten().collect();
    Some(std::mem::take(&mut e.builder).finish(&results))
}

/// Makes a sequence for a processor.
struct Emit {
    builder: Builder,
    /// The processor has fused products.
    fma: bool,
}

impl Deref for Emit {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.builder
    }
}

impl DerefMut for Emit {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

impl Emit {
    /// The source operands, cut to the types that the opcode asks for.
    fn sources(&mut self, expected: &[Expected], operands: &[Operand]) -> Vec<Value> {
        let given: Vec<Value> = operands
            .iter()
            .map(|operand| match *operand {
                Operand::Predicate(extent) => self.parameter(Form { element: Element::Mask, extent }),
                Operand::Bits { wide, extent, .. } => {
                    let element = if wide { Element::I64 } else { Element::I32 };
                    self.parameter(Form { element, extent })
                }
            })
            .collect();
        let mut types = expected
            .iter()
            .filter(|expected| !expected.role.writes())
            .map(|expected| expected.ty.unwrap_or(Type::B64));
        let fit = |(value, operand): (Value, &Operand)| {
            let narrow = types.next().is_some_and(|ty| ty.bits() <= 32);
            match *operand {
                Operand::Predicate(_) => value,
                Operand::Bits { constant: Some(bits), wide, .. } => {
                    self.constant(if narrow || !wide { Element::I32 } else { Element::I64 }, bits)
                }
                Operand::Bits { wide: true, .. } if narrow => self.low_word(value),
                Operand::Bits { .. } => value,
            }
        };
        given.into_iter().zip(operands).map(fit).collect()
    }
}

/// Logic of predicates.
fn truth(e: &mut Emit, op: Logic, sources: &[Value]) -> Option<Value> {
    let a = *sources.first()?;
    let b = sources.get(1).copied();
    Some(match op {
        Logic::Not => e.not(a),
        Logic::And => e.and(a, b?),
        Logic::Or => e.or(a, b?),
        Logic::Xor => e.xor(a, b?),
    })
}

/// Combines the result of a comparison with a predicate, where there is one.
fn combine(e: &mut Emit, how: Option<Combine>, holds: Value, with: Option<Value>) -> Value {
    match (how, with) {
        (Some(Combine::And), Some(with)) => e.and(holds, with),
        (Some(Combine::Or), Some(with)) => e.or(holds, with),
        (Some(Combine::Xor), Some(with)) => e.xor(holds, with),
        (None, _) | (_, None) => holds,
    }
}
