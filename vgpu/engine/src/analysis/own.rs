//! A lane's own memory, of which unoptimised code makes all its variables.
//!
//! It names that memory by generic addresses, whose space nobody who makes code would know. Where the address of an
//! access is a variable's, so many bytes on, the access is counted from the variable. And where no other address of a
//! variable is taken, nobody else can reach it: each piece of it that is always accessed as a whole is a slot.

use std::collections::BTreeMap;
use std::ops::Range;

use gangway_ptx::{Body, StateSpace};
use gangway_simt::{
    Access, Address, Base, Compute, Function, Kind, Operation, Operator, Place, Scalar, Source, Space,
};

use super::layout::Layout;

/// A slot that lives across blocks takes up to 256 bytes of each warp's frame: no more than these are made, those
/// first that most accesses name.
const MOST_SLOTS: usize = 128;

/// The variables in local memory: where they begin and end behind the frame.
pub(super) type Variables = BTreeMap<u32, u32>;

pub(super) fn variables(body: &Body, layout: &Layout) -> Variables {
    let places = body.variables.iter().zip(&layout.variables);
    let local = places.filter(|(variable, _)| variable.space.plain() == StateSpace::Local);
    let ranges = local.filter_map(|(variable, &place)| {
        let Place::Local(start) = place else { return None };
        Some((start, start.checked_add(u32::try_from(variable.size()?).ok()?)?))
    });
    ranges.collect()
}

/// Counts accesses from the variables that they are to, and makes slots of variables if it may.
pub(super) fn keep(code: &mut Function, variables: &Variables, slots: bool) {
    if variables.is_empty() {
        return;
    }
    let pointers = pointers(code);
    // Which accesses are counted from variables, and by the start of its variable where each is.
    let mut counted = vec![false; code.operations.len()];
    let mut accesses: BTreeMap<u32, Vec<Counted>> = BTreeMap::new();
    for (index, operation) in code.operations.iter_mut().enumerate() {
        let Some((start, offset)) = accessed(operation, index, &pointers, variables) else { continue };
        if let Some((access, address)) = place_of(&mut operation.kind) {
            access.space = Space::Local;
            *address = Address { base: Base::Place(Place::Local(start)), offset: offset.into() };
            accesses.entry(start).or_default().push(Counted { index, offset, access: *access });
        }
        counted[index] = true;
    }
    if !slots {
        return;
    }
    for variable in taken(code, &pointers, &counted) {
        accesses.remove(&variable);
    }
    make_slots(code, accesses.into_values());
}

/// An access that is counted from its variable: the operation, how far behind the start, and what it moves.
struct Counted {
    index: usize,
    offset: u32,
    access: Access,
}

/// Addresses of variables, by the slot that has one and never anything else: the variable, how far behind its start,
/// and the operation that makes it, before any lane has gone elsewhere.
type Pointers = BTreeMap<u32, (u32, i64, usize)>;

fn pointers(code: &Function) -> Pointers {
    let mut writes = vec![0u32; code.slots.len()];
    for operation in &code.operations {
        operation.each_slot(&mut |slot, write| writes[slot as usize] += u32::from(write));
    }
    let goes = |operation: &Operation| matches!(operation.kind, Kind::Go | Kind::Table { .. });
    let straight = code.operations.iter().position(goes).unwrap_or(code.operations.len());
    let mut pointers = Pointers::new();
    for (index, operation) in code.operations[..straight].iter().enumerate() {
        if let Some((slot, start, offset)) = pointer(operation, &pointers)
            && writes[slot as usize] == 1
            && code.slots[slot as usize].is_wide()
        {
            pointers.insert(slot, (start, offset, index));
        }
    }
    pointers
}

/// The slot that an operation gives the address of a variable, if it does so in all lanes and does nothing else.
fn pointer(operation: &Operation, pointers: &Pointers) -> Option<(u32, u32, i64)> {
    if operation.guard.is_some() {
        return None;
    }
    let counted = |source: Source| match source {
        Source::Address(Place::Local(start), offset) => Some((start, offset)),
        Source::Slot(slot) => pointers.get(&slot).map(|&(start, offset, _)| (start, offset)),
        _ => None,
    };
    let (slot, (start, offset)) = match &operation.kind {
        Kind::ConvertAddress { space: Space::Local, source, result, .. } => (*result, counted(*source)?),
        Kind::Move { sources, results } => match (&**sources, &**results) {
            ([read], [write]) => (write.slot, counted(read.source)?),
            _ => return None,
        },
        Kind::Compute(Compute { algebra: Some(algebra), sources, results, carries: false, .. })
            if algebra.operator == Operator::Add && algebra.ty.is_wide() =>
        {
            let ([a, b], [write]) = (&**sources, &**results) else { return None };
            let (start, offset) = counted(a.source)?;
            (write.slot, (start, offset.checked_add(b.source.constant()?)?))
        }
        _ => return None,
    };
    Some((slot?, start, offset))
}

/// The access of a load or a store, and its address.
fn place_of(kind: &mut Kind) -> Option<(&mut Access, &mut Address)> {
    match kind {
        Kind::Load { access, address, .. } | Kind::Store { access, address, .. } => Some((access, address)),
        _ => None,
    }
}

/// Which variable an operation accesses, and how far behind its start.
fn accessed(
    operation: &Operation,
    index: usize,
    pointers: &Pointers,
    variables: &Variables,
) -> Option<(u32, u32)> {
    let (Kind::Load { access, address, .. } | Kind::Store { access, address, .. }) = &operation.kind else {
        return None;
    };
    if access.strong || access.uniform || !matches!(access.space, Space::Generic | Space::Local) {
        return None;
    }
    let (start, offset) = match address.base {
        Base::Slot(slot) => {
            let &(start, offset, made) = pointers.get(&slot)?;
            (made < index).then_some((start, offset))?
        }
        Base::Place(Place::Local(start)) if access.space == Space::Local => (start, 0),
        _ => return None,
    };
    let offset = u32::try_from(offset.checked_add(address.offset)?).ok()?;
    let first = start.checked_add(offset)?;
    let inside = first.checked_add(access.size())? <= *variables.get(&start)?;
    (inside && first.is_multiple_of(access.size())).then_some((start, offset))
}

/// The starts of variables whose addresses are used for more than the accesses that are counted from them.
fn taken(code: &Function, pointers: &Pointers, counted: &[bool]) -> Vec<u32> {
    let mut taken = Vec::new();
    for (index, operation) in code.operations.iter().enumerate() {
        let makes = pointer(operation, pointers)
            .is_some_and(|(slot, ..)| pointers.get(&slot).is_some_and(|&(.., made)| made == index));
        if makes {
            continue;
        }
        operation.each_slot(&mut |slot, write| {
            if let (false, Some(&(start, ..))) = (write, pointers.get(&slot)) {
                taken.push(start);
            }
        });
        let mut named = |place: Place| {
            if let Place::Local(start) = place {
                taken.push(start);
            }
        };
        operation.each_place(&mut named);
        let mut accessed = |address: &Address| {
            if let Base::Place(place) = address.base {
                named(place);
            }
        };
        match &operation.kind {
            Kind::Load { address, .. } | Kind::Store { address, .. } if !counted[index] => accessed(address),
            Kind::Atomic(atomic) => accessed(&atomic.address),
            Kind::Matrix(matrix) => matrix.address.iter().for_each(accessed),
            Kind::Copy { to, from, .. } => [to, from].into_iter().for_each(accessed),
            _ => {}
        }
    }
    taken
}

/// What accesses name of a variable: from where to where, of which type if of one, and which operations.
struct Piece {
    range: Range<u32>,
    ty: Option<Scalar>,
    operations: Vec<usize>,
}

/// Makes slots of variables' pieces.
fn make_slots(code: &mut Function, variables: impl Iterator<Item = Vec<Counted>>) {
    let mut pieces = Vec::new();
    for mut accesses in variables {
        accesses.sort_by_key(|counted| counted.offset);
        let first = pieces.len();
        for Counted { index, offset, access } in accesses {
            let range = offset..offset + access.size();
            let ty = (access.count == 1 && access.ty != Scalar::Predicate).then_some(access.ty);
            match pieces[first..].last_mut() {
                Some(Piece { range: before, ty: of, operations }) if range.start < before.end => {
                    let same = *before == range && of.zip(ty).is_some_and(|(a, b)| a.bits() == b.bits());
                    before.end = before.end.max(range.end);
                    *of = of.filter(|_| same);
                    operations.push(index);
                }
                _ => pieces.push(Piece { range, ty, operations: vec![index] }),
            }
        }
    }
    pieces.retain(|piece| piece.ty.is_some());
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.operations.len()));
    for Piece { ty, operations, .. } in pieces.into_iter().take(MOST_SLOTS) {
        let Some(ty) = ty else { continue };
        let slot = code.slots.len() as u32;
        code.slots.push(ty);
        for index in operations {
            if let Some((_, address)) = place_of(&mut code.operations[index].kind) {
                *address = Address { base: Base::Place(Place::Slot(slot)), offset: 0 };
            }
        }
    }
}
