//! What addresses are counted from: the pointer that a slot's value has been made of by adding to it.
//!
//! It is a guess, which says only what is looked at together: accesses that are counted from one pointer are mostly
//! to one array. Nothing is wrong where they are not.

use gangway_simt::{Address, Base, Function, Kind, Operation, Operator, Place, Read, Source};

use super::liveness::Set;

/// For each slot what it is counted from.
pub(crate) struct Roots(Vec<Base>);

/// What is written is gone over so many times at most: once more than loops are within each other.
const MOST_PASSES: usize = 8;

impl Roots {
    pub fn new(code: &Function) -> Self {
        let (mut indices, mut written) = (Set::new(code.slots.len()), Set::new(code.slots.len()));
        for operation in &code.operations {
            operation.each_slot(&mut |slot, write| {
                if write {
                    written.insert(slot);
                    if is_index(operation) {
                        indices.insert(slot);
                    }
                }
            });
        }
        let mut parents: Vec<(u32, Option<Source>)> = Vec::new();
        for operation in &code.operations {
            let parent = parent(operation, &indices);
            operation.each_slot(&mut |slot, write| {
                // What is added to itself is counted from where it has begun.
                if write && parent.is_none_or(|parent| parent.slot() != Some(slot)) {
                    parents.push((slot, parent));
                }
            });
        }
        let mut roots: Vec<Option<Base>> = vec![None; code.slots.len()];
        for _ in 0..MOST_PASSES {
            crate::work::count(parents.len());
            let mut changed = false;
            for &(slot, parent) in &parents {
                let from = match parent {
                    Some(Source::Slot(other)) => match roots[other as usize] {
                        // It comes later, as the end of a loop does.
                        None if written.contains(other) => continue,
                        root => root.unwrap_or(Base::Slot(other)),
                    },
                    Some(Source::Address(place @ Place::Symbol(_), _)) => Base::Place(place),
                    Some(Source::Constant(_)) => Base::Absolute,
                    _ => Base::Slot(slot),
                };
                let root = &mut roots[slot as usize];
                let met = if root.is_some_and(|other| other != from) { Base::Slot(slot) } else { from };
                changed |= root.replace(met) != Some(met);
            }
            if !changed {
                break;
            }
        }
        Roots((0u32..).zip(roots).map(|(slot, root)| root.unwrap_or(Base::Slot(slot))).collect())
    }

    /// What an address is counted from.
    #[must_use]
    pub fn of(&self, address: &Address) -> Base {
        match address.base {
            _ if is_far(address.offset) => Base::Absolute,
            Base::Slot(slot) => self.0[slot as usize],
            other => other,
        }
    }
}

/// Whether something so far away is none of the same: shadows of memory are.
fn is_far(distance: i64) -> bool {
    distance.unsigned_abs() >= 1 << 32
}

/// Whether an operation gives what is added to a pointer rather than one.
fn is_index(operation: &Operation) -> bool {
    let Kind::Compute(compute) = &operation.kind else { return false };
    !matches!(
        compute.algebra.map(|algebra| algebra.operator),
        None | Some(Operator::Add | Operator::Sum | Operator::Subtract | Operator::MultiplyAdd(_))
    )
}

/// What the pointer that an operation gives is made of.
fn parent(operation: &Operation, indices: &Set) -> Option<Source> {
    let is_pointer = |read: &&Read| match read.source {
        Source::Slot(slot) => !indices.contains(slot),
        Source::Address(..) => true,
        _ => false,
    };
    match &operation.kind {
        Kind::ConvertAddress { source, .. } => Some(*source),
        Kind::Move { sources, .. } if sources.len() == 1 => Some(sources[0].source),
        Kind::Compute(compute) => match compute.algebra?.operator {
            Operator::Add | Operator::Sum | Operator::Subtract => {
                let mut sources = compute.sources.iter().map(|read| read.source);
                let far = sources.find(|source| source.constant().is_some_and(is_far));
                far.or_else(|| compute.sources.iter().find(is_pointer).map(|read| read.source))
            }
            Operator::MultiplyAdd(_) => compute.sources.get(2).map(|read| read.source),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gangway_simt::{Algebra, Compute, Half, Scalar, Write};

    use super::*;

    fn computed(operator: Operator, sources: &[Source], result: u32) -> Operation {
        let ty = Scalar::U64;
        let compute = Compute {
            opcode: 0,
            carries: Default::default(),
            sources: sources.iter().map(|&source| Read { source, ty }).collect(),
            results: [Write { slot: Some(result), ty }].into(),
            algebra: Some(Algebra { operator, ty }),
        };
        Operation { guard: None, kind: Kind::Compute(compute) }
    }

    fn roots(operations: Vec<Operation>) -> Roots {
        Roots::new(&Function { slots: vec![Scalar::U64; 8], operations, ..Function::default() })
    }

    fn at(slot: u32) -> Address {
        Address { base: Base::Slot(slot), offset: 0 }
    }

    #[test]
    fn sums_are_counted_from_their_pointer() {
        use Source::{Constant, Slot};
        let found = roots(vec![
            computed(Operator::Multiply(Half::Low), &[Slot(0), Constant(8)], 1),
            computed(Operator::Add, &[Slot(1), Slot(2)], 3),
            computed(Operator::Add, &[Slot(3), Constant(8)], 4),
            computed(Operator::MultiplyAdd(Half::Low), &[Slot(0), Constant(8), Slot(4)], 5),
            computed(Operator::Add, &[Source::Address(Place::Symbol(7), 0), Slot(1)], 6),
        ]);
        for slot in 2..6 {
            assert_eq!(found.of(&at(slot)), Base::Slot(2), "{slot}");
        }
        assert_eq!(found.of(&at(6)), Base::Place(Place::Symbol(7)));
        assert_eq!(found.of(&Address { base: Base::Absolute, offset: 0 }), Base::Absolute);
    }

    #[test]
    fn what_goes_on_in_a_loop_is_counted_from_where_it_has_begun() {
        use Source::{Constant, Slot};
        let turn = |first: u32| {
            roots(vec![
                computed(Operator::Add, &[Slot(0), Constant(16)], 1),
                computed(Operator::Add, &[Slot(first), Constant(0)], 1),
                computed(Operator::Add, &[Slot(1), Constant(4)], 2),
                computed(Operator::Add, &[Slot(2), Constant(0)], 1),
                computed(Operator::Add, &[Slot(1), Constant(4)], 1),
            ])
        };
        assert_eq!(turn(0).of(&at(2)), Base::Slot(0));
        // It may be of either.
        assert_eq!(turn(3).of(&at(1)), Base::Slot(1));
    }

    #[test]
    fn what_is_far_away_is_not_the_same() {
        let (shadow, near) = (Source::Constant(1 << 44), Source::Constant(1 << 30));
        let found = roots(vec![
            computed(Operator::Subtract, &[Source::Slot(0), shadow], 1),
            computed(Operator::Subtract, &[Source::Slot(0), near], 2),
        ]);
        assert_eq!(found.of(&at(1)), Base::Absolute);
        assert_eq!(found.of(&at(2)), Base::Slot(0));
        assert_eq!(found.of(&Address { offset: -(1 << 44), ..at(2) }), Base::Absolute);
    }
}
