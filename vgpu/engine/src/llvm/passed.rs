//! Where accesses are watched: what a copy of a counted loop goes through, told of behind its turns.
//!
//! A turn's accesses are told of out of their order then. That makes no difference to who hears of it where no two
//! instructions access the same memory in different turns, or none writes. Values are told as well, so a copy keeps what
//! it stores: what stands in memory behind the turns may be another thread's.

use std::fmt::Write;

use super::going::{Line, Planned};
use super::lane::Lane;
use super::text::{Type, Value, make};
use super::told::told;
use crate::analysis::loops::Innermost;
use crate::analysis::unit::Unit;
use crate::lines;

/// So many turns are told of together.
pub(super) const TURNS: u64 = 512;
/// Fewer are told of by their lines.
pub(super) const LEAST: u64 = 16;
/// Bytes that a region keeps of what it stores, at most.
const MOST_KEPT: u64 = 32 << 10;

/// What is told of behind the turns of a copy.
#[derive(Default)]
pub(super) struct Passed {
    /// Operations.
    all: Vec<u32>,
    /// Accesses that must not reach the same memory, by their numbers in the plan.
    apart: Vec<(usize, usize)>,
}

/// The operations of loops whose values are kept, with the bytes of each.
fn kept<'u>(unit: &'u Unit<'_>, loops: &'u [Innermost]) -> impl Iterator<Item = (u32, u64)> + 'u {
    let blocks = loops.iter().flat_map(|inner| &inner.always);
    let operations = blocks.flat_map(|&block| unit.code.blocks[block as usize].operations.clone());
    let stores = operations.filter_map(|index| match told(unit.operation(index)) {
        Some((access, true)) => Some((index, u64::from(access.size()))),
        _ => None,
    });
    let mut room = MOST_KEPT;
    stores.take_while(move |&(_, bytes)| {
        let has = room.checked_sub(TURNS * bytes);
        room = has.unwrap_or(0);
        has.is_some()
    })
}

/// Writes the places where a region keeps what its loops store, where its code begins.
pub(super) fn begin(unit: &Unit<'_>, loops: &[Innermost], text: &mut String) {
    if unit.watch {
        for (operation, bytes) in kept(unit, loops) {
            let _ = writeln!(text, "  %kept{operation} = alloca [{} x i8], align 16", TURNS * bytes);
        }
    }
}

/// How two accesses lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    /// They access the same memory in the same turn alone.
    Always,
    /// That has to be looked at.
    Maybe,
}

fn apart(one: &Planned, other: &Planned) -> Apart {
    let ends =
        [one, other].map(|planned| (planned.offset, planned.offset.saturating_add(planned.bytes as i64)));
    let [a, b] = ends;
    let extent = a.1.max(b.1).saturating_sub(a.0.min(b.0));
    let within = one.line.step().is_some_and(|step| extent <= step);
    match one.line == other.line && within && (a == b || a.1 <= b.0 || b.1 <= a.0) {
        true => Apart::Always,
        false => Apart::Maybe,
    }
}

/// Elements that follow each other, of which the next one reads mostly the same.
fn are_read_again(own: &Planned, next: &Planned) -> bool {
    let follow = own.line.step() == Some(own.bytes as i64) && own.bytes == next.bytes;
    let near = own.offset.abs_diff(next.offset) <= lines::BYTES;
    own.line == next.line && follow && near && !own.writes && !next.writes
}

/// Of operations that go through the same memory one behind the other, who comes to a place first: what is told is of the
/// same accesses as if it were told in the turns. Where both come in one turn it goes by the order of the operations.
fn in_time(accesses: &[Planned], operation: u32) -> (usize, i64) {
    let Some(own) = accesses.iter().find(|planned| planned.operation == operation) else { return (0, 0) };
    let group = accesses.iter().position(|planned| planned.line == own.line).unwrap_or(0);
    let up = own.line.step().is_none_or(|step| step >= 0);
    (group, if up { own.offset.saturating_neg() } else { own.offset })
}

/// What is told of behind the turns; none where the loop has to tell of it in its order.
pub(super) fn passed(
    unit: &Unit<'_>,
    inner: &Innermost,
    loops: &[Innermost],
    accesses: &[Planned],
) -> Option<Passed> {
    let mut passed = Passed::default();
    if !unit.watch {
        return Some(passed);
    }
    let (mut stores, mut others) = (false, false);
    for &block in &inner.blocks {
        for index in unit.code.blocks[block as usize].operations.clone() {
            let operation = unit.operation(index);
            let Some((access, writes)) = told(operation) else { continue };
            let each_turn = operation.guard.is_none() && inner.always.contains(&block);
            let planned = accesses.iter().find(|planned| planned.operation == index);
            let fits = |planned: &Planned| {
                let step = planned.line.step();
                let once = step.is_some_and(|step| step >= planned.bytes as i64);
                let keeps = || access.count == 1 && kept(unit, loops).any(|(kept, _)| kept == index);
                matches!(planned.bytes, 4 | 8 | 16) && (!writes || once && keeps())
            };
            stores |= writes;
            match planned.filter(|_| each_turn).is_some_and(fits) {
                true => passed.all.push(index),
                false => others = true,
            }
        }
    }
    passed.all.sort_by_cached_key(|&operation| in_time(accesses, operation));
    if !stores {
        return Some(passed);
    }
    if others {
        return None;
    }
    for (number, one) in accesses.iter().enumerate() {
        for (other, planned) in accesses.iter().enumerate().skip(number + 1) {
            if (one.writes || planned.writes) && apart(one, planned) == Apart::Maybe {
                passed.apart.push((number, other));
            }
        }
    }
    Some(passed)
}

impl Passed {
    /// Whether an operation is told of behind the turns.
    pub fn has(&self, operation: u32) -> bool {
        self.all.contains(&operation)
    }
}

impl Lane<'_> {
    /// Where an operation keeps what it stores in a turn, if it does.
    pub fn kept_in_turn(&mut self, passed: &Passed, operation: u32, turn: Value) -> Option<Value> {
        let (access, writes) = told(self.unit.operation(operation))?;
        if !writes || !passed.has(operation) {
            return None;
        }
        let text = &mut self.text;
        let distance = text.binary("mul", turn, Value::wide(access.size().into()));
        Some(make!(text, Type::Pointer, "getelementptr i8, ptr %kept{operation}, i64 {distance}"))
    }

    /// Whether accesses are to different memory that have to be.
    pub fn are_apart(&mut self, passed: &Passed, accesses: &[Planned], last: Value, holds: Value) -> Value {
        let mut all = holds;
        for &(one, other) in &passed.apart {
            let [a, b] = [one, other].map(|number| self.ends(&accesses[number], last));
            let before = self.text.compare("ule", a.1, b.0);
            let behind = self.text.compare("ule", b.1, a.0);
            let apart = self.text.binary("or", before, behind);
            all = self.text.binary("and", all, apart);
        }
        all
    }

    /// Where an access begins and ends in all turns.
    fn ends(&mut self, planned: &Planned, last: Value) -> (Value, Value) {
        let Line { first, step } = planned.line;
        let first = self.text.binary("add", first, Value::wide(planned.offset as u64));
        let span = self.text.binary("mul", step, last);
        let other = self.text.binary("add", first, span);
        let up = self.text.compare("sge", step, Value::wide(0));
        let (low, high) = (self.text.select(up, first, other), self.text.select(up, other, first));
        (low, self.text.binary("add", high, Value::wide(planned.bytes)))
    }

    /// Tells of what a copy has gone through in so many turns; in more up to a block, if it is left behind that.
    pub fn tell_of_turns(
        &mut self,
        passed: &Passed,
        accesses: &[Planned],
        turns: Value,
        (last, begun): (u32, Value),
    ) {
        let blocks = &self.unit.code.blocks;
        let end = blocks[last as usize].operations.end;
        for (number, &operation) in passed.all.iter().enumerate() {
            let Some(planned) = accesses.iter().find(|planned| planned.operation == operation) else {
                continue;
            };
            // Ways go up within a turn.
            let turns = if operation < end { begun } else { turns };
            self.text.at(Some(operation));
            let Line { first, step } = planned.line;
            let first = self.text.binary("add", first, Value::wide(planned.offset as u64));
            // Once is enough where it is the same place.
            let count = match step.bits() {
                Some(0) => {
                    self.declared.insert("declare i64 @llvm.umin.i64(i64, i64)".to_owned());
                    make!(self.text, Type::Wide, "call i64 @llvm.umin.i64(i64 {turns}, i64 1)")
                }
                _ => turns,
            };
            let stored = planned
                .writes
                .then(|| make!(self.text, Type::Pointer, "getelementptr i8, ptr %kept{operation}, i64 0"));
            // What is told of together is so where a copy is left in the midst of a turn, too.
            let next = passed.all.get(number + 1);
            let next = next.and_then(|next| accesses.iter().find(|planned| planned.operation == *next));
            let more = next.is_some_and(|next| are_read_again(planned, next));
            self.tell_of_passed(operation, [first, step, count], stored, more);
        }
        self.text.at(None);
    }
}
