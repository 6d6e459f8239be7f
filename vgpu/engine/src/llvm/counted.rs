//! Loops whose turns can be counted before, without the checks of what goes through memory in equal steps.
//!
//! Before such a loop it is found out how often it goes round for sure, and where accesses begin and end in that
//! time. If all are in memory that is accessed here, a copy of the loop does these turns without looking, so that LLVM
//! may do several at once. What is looked up in tables by an index is not looked at either, as far as a table's place
//! says that no index leads out of what is reserved for memory: see [`near`](super::near). Where the loop is left behind
//! its turns alone, the copy does its last turn, too, and then looks whether it is left. Elsewhere that turn is not even
//! begun by the copy. What is left is the loop's as it is written.
//!
//! A copy does at most [`CHUNK`] turns before it looks at the fuel.

use gangway_simt::{
    Access, Address, Algebra, Base, Compute, End, Half, IntOrder, Kind, Operation, Operator, Place, Read,
    Scalar, Source, Space, Write,
};
use rustc_hash::FxHashMap;

use gangway_device_memory::range;

use super::going::{Line, Planned};
use super::lane::{Lane, Reached};
use super::near::{Inside, Near, Nearby};
use super::passed::{self, Passed, passed};
use super::text::{Label, Text, Type, Value, act, make, of};
use super::told::told;
use crate::analysis::loops::Innermost;
use crate::analysis::unit::Unit;

/// So many turns at once.
const CHUNK: u64 = 1 << 16;
/// Fewer are not worth to look at them.
const LEAST: u64 = 4;
/// No step of an address is larger: sums of a chunk's stay within 64 bits.
const MOST_STEP: u64 = 1 << 40;

/// What is known of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Line(Line),
    Near(Near),
    /// It holds where these are in this order.
    Test(Test),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    order: IntOrder,
    a: Line,
    b: Line,
}

pub(super) type State = FxHashMap<u32, Known>;

/// What has to hold for all turns, and what is done then.
#[derive(Default)]
pub(super) struct Plan {
    /// The loop goes on where these hold.
    tests: Vec<Test>,
    /// One of them is elsewhere than behind a turn.
    leaves_within: bool,
    /// Blocks behind which the loop may be left besides, as where something that nothing has written is come upon.
    exits: Vec<u32>,
    /// Values of 32 bits that are widened, signed or not: they must not go beyond what their type holds.
    widened: Vec<(Line, bool)>,
    accesses: Vec<Planned>,
    nearby: Vec<Nearby>,
}

/// Accesses that go on together: what they reach in a turn, and where they have to be aligned.
pub(super) struct Group {
    line: Line,
    base: Base,
    /// Some of them do.
    writes: bool,
    start: i64,
    end: i64,
    /// Distances from the line, and to how many bytes those are aligned.
    aligned: Vec<(u64, u64)>,
}

/// Bytes that the processor fetches at once, how far ahead it is told to, and how many it is told then.
const LINE: u64 = 64;
const AHEAD: u64 = 2048;
const LINES_AHEAD: u64 = 4;

/// Accesses of a group are no farther apart.
const MOST_APART: i64 = 1 << 20;

fn groups(accesses: &[Planned]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &Planned { line, base, writes, offset, bytes, .. } in accesses {
        let aligned = (offset as u64 & (bytes - 1), bytes);
        let end = offset.saturating_add(bytes as i64);
        let near = |group: &&mut Group| {
            let (start, end) = (group.start.min(offset), group.end.max(end));
            group.line == line && end.checked_sub(start).is_some_and(|apart| apart <= MOST_APART)
        };
        match groups.iter_mut().find(near) {
            Some(group) => {
                (group.start, group.end) = (group.start.min(offset), group.end.max(end));
                group.writes |= writes;
                if !group.aligned.contains(&aligned) {
                    group.aligned.push(aligned);
                }
            }
            None => groups.push(Group { line, base, writes, start: offset, end, aligned: vec![aligned] }),
        }
    }
    groups
}

fn inverse(order: IntOrder) -> IntOrder {
    use IntOrder as O;
    match order {
        O::Equal => O::NotEqual,
        O::NotEqual => O::Equal,
        O::LessSigned => O::GreaterEqualSigned,
        O::LessEqualSigned => O::GreaterSigned,
        O::GreaterSigned => O::LessEqualSigned,
        O::GreaterEqualSigned => O::LessSigned,
        O::LessUnsigned => O::GreaterEqualUnsigned,
        O::LessEqualUnsigned => O::GreaterUnsigned,
        O::GreaterUnsigned => O::LessEqualUnsigned,
        O::GreaterEqualUnsigned => O::LessUnsigned,
    }
}

/// The order of the same values the other way round.
fn mirrored(order: IntOrder) -> IntOrder {
    use IntOrder as O;
    match order {
        O::Equal | O::NotEqual => order,
        O::LessSigned => O::GreaterSigned,
        O::LessEqualSigned => O::GreaterEqualSigned,
        O::GreaterSigned => O::LessSigned,
        O::GreaterEqualSigned => O::LessEqualSigned,
        O::LessUnsigned => O::GreaterUnsigned,
        O::LessEqualUnsigned => O::GreaterEqualUnsigned,
        O::GreaterUnsigned => O::LessUnsigned,
        O::GreaterEqualUnsigned => O::LessEqualUnsigned,
    }
}

const fn whole(ty: Scalar) -> bool {
    matches!(ty.bits(), 32 | 64) && !matches!(ty, Scalar::Predicate)
}

/// Who writes a region with loops.
pub(super) trait Counted<'a> {
    fn lane(&mut self) -> &mut Lane<'a>;

    /// The loops, in the order of their numbers.
    fn loops(&self) -> &'a [Innermost];

    fn inner(&self, index: usize) -> &'a Innermost {
        &self.loops()[index]
    }

    /// Where a block begins, and where a loop is entered.
    fn begin_of(&self, block: u32) -> Label;
    fn before(&self, index: usize) -> Label;

    /// Writes what a block does.
    fn write(&mut self, block: u32);

    /// Goes from a loop's block to one outside of it.
    fn leave(&mut self, from: u32, to: u32);

    fn code<'b>(&'b mut self) -> &'b mut Text
    where
        'a: 'b,
    {
        &mut self.lane().text
    }

    fn of(&mut self) -> &'a Unit<'a> {
        self.lane().unit
    }

    /// Writes what is before a loop: the copy, if there is one.
    fn counted(&mut self, index: usize) {
        let inner = self.inner(index);
        self.code().at(None);
        let (before, head) = (self.before(index), self.begin_of(inner.head));
        self.code().begin(before);
        let (unit, loops) = (self.of(), self.loops());
        let plan = self.plan(inner);
        let passed = plan.as_ref().and_then(|plan| passed(unit, inner, loops, &plan.accesses));
        match plan.zip(passed) {
            Some((plan, passed)) => self.copy(index, inner, plan, &passed),
            None => self.code().jump(head),
        }
    }

    /// What is known of a loop; none if nobody knows how often it goes round.
    fn plan(&mut self, inner: &Innermost) -> Option<Plan> {
        let unit = self.of();
        let mut plan = Plan::default();
        let mut states: FxHashMap<u32, State> = FxHashMap::default();
        let start = self.start(inner);
        for &number in &inner.blocks {
            let mut state = if number == inner.head {
                start.clone()
            } else {
                joined(
                    inner,
                    number,
                    |from| unit.code.blocks[from as usize].end.leads(|to| to == number),
                    &states,
                )
            };
            let block = &unit.code.blocks[number as usize];
            for index in block.operations.clone() {
                self.pass(index, &mut state, &mut plan);
            }
            if let End::Call { operation, .. } = block.end {
                self.pass(operation, &mut state, &mut plan);
            }
            if let End::Branch(guard, yes, no) = block.end {
                let [stays, other] = [yes, no].map(|to| stays(inner, number, to));
                match state.get(&guard.slot) {
                    _ if stays && other => {}
                    Some(&Known::Test(test)) => {
                        // The loop goes on where the guard holds, or where it does not.
                        let order = if guard.negated == stays { inverse(test.order) } else { test.order };
                        plan.tests.push(Test { order, ..test });
                        plan.leaves_within |= number != inner.latch;
                    }
                    _ if unit.init && number != inner.latch && stays != other => plan.exits.push(number),
                    _ => return None,
                }
            }
            states.insert(number, state);
        }
        let is_counted = plan.exits.is_empty() || !plan.tests.is_empty();
        is_counted.then_some(plan)
    }

    /// What is known where a turn begins: what the loop does not write, and what it adds the same to each time.
    fn start(&mut self, inner: &Innermost) -> State {
        let unit = self.of();
        let mut written: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        let mut all = Vec::new();
        for &number in &inner.blocks {
            for (index, _) in unit.code.blocks[number as usize].each_operation() {
                unit.operation(index).each_slot(&mut |slot, write| {
                    all.push(slot);
                    if write {
                        written.entry(slot).or_default().push((number, index));
                    }
                });
            }
        }
        all.sort_unstable();
        all.dedup();
        let mut state = State::default();
        for slot in all {
            if !whole(unit.code.slots[slot as usize]) {
                continue;
            }
            let step = match written.get(&slot).map(Vec::as_slice) {
                None => Some(Value::constant(of(unit.code.slots[slot as usize]), 0)),
                Some(&[(number, index)]) if inner.always.contains(&number) => {
                    self.step(unit.operation(index), slot, |slot| !written.contains_key(&slot))
                }
                Some(_) => None,
            };
            if let Some(step) = step {
                let first = self.lane().slot(slot);
                state.insert(slot, Known::Line(Line { first, step }));
            }
        }
        state
    }

    /// What an operation adds to a slot each time.
    fn step(&mut self, operation: &Operation, slot: u32, is_fixed: impl Fn(u32) -> bool) -> Option<Value> {
        let Operation { guard: None, kind: Kind::Compute(compute) } = operation else { return None };
        let Algebra { operator, ty } = compute.algebra?;
        let [a, b] = &compute.sources[..] else { return None };
        let bits = self.lane().ty(slot).bits();
        let written = compute.results[0].slot == Some(slot) && compute.results[0].ty.bits() == bits;
        if !written || ty.bits() != bits || a.ty.bits() != bits || b.ty.bits() != bits {
            return None;
        }
        let own = |read: &Read| read.source == Source::Slot(slot);
        let (by, negative) = match operator {
            Operator::Add if own(a) => (b, false),
            Operator::Add if own(b) => (a, false),
            Operator::Subtract if own(a) => (b, true),
            _ => return None,
        };
        let value = match by.source {
            Source::Constant(bits) => Value::constant(of(ty), bits),
            Source::Slot(other) if is_fixed(other) && self.lane().ty(other).bits() == bits => {
                self.lane().slot(other)
            }
            _ => return None,
        };
        if !negative {
            return Some(value);
        }
        Some(match value.bits() {
            Some(bits) => Value::constant(value.ty, bits.wrapping_neg()),
            None => self.code().binary("sub", Value::constant(value.ty, 0), value),
        })
    }

    /// Goes past an operation.
    fn pass(&mut self, index: u32, state: &mut State, plan: &mut Plan) {
        let unit = self.of();
        let operation = unit.operation(index);
        let mut found: Vec<(u32, Known)> = Vec::new();
        match &operation.kind {
            Kind::Compute(compute) => found = self.computed(compute, state, plan),
            Kind::Move { sources, results } => {
                for (read, &result) in sources.iter().zip(results) {
                    let known = self.line(*read, state).map(Known::Line);
                    let known = known.or_else(|| self.near(*read, state).map(Known::Near));
                    if let (Some(known), Some(slot)) = (known, self.takes(result, read.ty)) {
                        found.push((slot, known));
                    }
                }
            }
            Kind::Load { access, address, results } => {
                if results.iter().flatten().any(|&slot| self.lane().reads.has(slot)) {
                    self.access(index, *access, address, false, state, plan);
                }
                let near = Near::of(access.ty).map(Known::Near);
                let wide = results.iter().flatten().filter(|&&slot| self.lane().ty(slot).bits() == 64);
                found.extend(wide.filter_map(|&slot| Some((slot, near?))));
            }
            Kind::Store { access, address, .. } => self.access(index, *access, address, true, state, plan),
            _ => {}
        }
        operation.each_slot(&mut |slot, write| {
            if write {
                state.remove(&slot);
            }
        });
        if operation.guard.is_none() {
            state.extend(found);
        }
    }

    /// The slot that a value is written to as it is.
    fn takes(&mut self, result: Write, ty: Scalar) -> Option<u32> {
        result.slot.filter(|&slot| result.ty.bits() == ty.bits() && self.lane().ty(slot).bits() == ty.bits())
    }

    fn line(&mut self, read: Read, state: &State) -> Option<Line> {
        if !whole(read.ty) {
            return None;
        }
        match read.source {
            Source::Constant(bits) => Some(Line::fixed(Value::constant(of(read.ty), bits))),
            Source::Slot(slot) => match state.get(&slot) {
                Some(&Known::Line(line)) if line.first.ty == of(read.ty) => Some(line),
                _ => None,
            },
            Source::Special(_) => Some(Line::fixed(self.lane().value(read.source, read.ty))),
            Source::Address(Place::Symbol(_) | Place::Local(_) | Place::Function(_), _) => {
                Some(Line::fixed(self.lane().value(read.source, read.ty)))
            }
            Source::Address(..) | Source::Not(_) => None,
        }
    }

    fn computed(&mut self, compute: &Compute, state: &State, plan: &mut Plan) -> Vec<(u32, Known)> {
        self.try_computed(compute, state, plan)
            .or_else(|| self.computed_near(compute, state))
            .unwrap_or_default()
    }

    /// What a source of 64 bits is near to.
    fn near(&mut self, read: Read, state: &State) -> Option<Near> {
        if let Source::Slot(slot) = read.source
            && let Some(&Known::Near(near)) = state.get(&slot)
        {
            return (read.ty.bits() == 64).then_some(near);
        }
        let line = self.line(read, state).filter(|line| line.is_fixed() && line.first.ty == Type::Wide)?;
        Some(Near::to(line.first))
    }

    /// The sum of an index and what it is an index of, and what is before that.
    fn computed_near(&mut self, compute: &Compute, state: &State) -> Option<Vec<(u32, Known)>> {
        let Algebra { operator, ty } = compute.algebra?;
        let sources = &compute.sources;
        let constant = |index: usize| sources[index].source.constant().map(|bits| bits as u64);
        let result = match operator {
            Operator::Convert { to, exact: true } if to.bits() == 64 => {
                Near::of(ty).or_else(|| self.near(sources[0], state))?
            }
            Operator::Multiply(Half::Both) if ty.bits() == 32 => self.times(Near::of(ty)?, constant(1)?)?,
            Operator::MultiplyAdd(Half::Both) if ty.bits() == 32 => {
                let product = self.times(Near::of(ty)?, constant(1)?)?;
                let more = self.near(sources[2], state)?;
                self.plus(product, more)?
            }
            _ if ty.bits() != 64 => return None,
            Operator::Add => {
                let (a, b) = (self.near(sources[0], state)?, self.near(sources[1], state)?);
                self.plus(a, b)?
            }
            Operator::Multiply(Half::Low) => {
                let near = self.near(sources[0], state)?;
                self.times(near, constant(1)?)?
            }
            Operator::MultiplyAdd(Half::Low) => {
                let near = self.near(sources[0], state)?;
                let (product, more) = (self.times(near, constant(1)?)?, self.near(sources[2], state)?);
                self.plus(product, more)?
            }
            Operator::ShiftLeft => {
                let by = constant(1).filter(|by| (0..64).contains(by))?;
                let near = self.near(sources[0], state)?;
                self.times(near, 1 << by)?
            }
            _ => return None,
        };
        let &[write] = &compute.results[..] else { return None };
        let slot = self.takes(write, Scalar::U64)?;
        (!result.is_fixed()).then(|| vec![(slot, Known::Near(result))])
    }

    fn times(&mut self, near: Near, factor: u64) -> Option<Near> {
        let base = self.binary("mul", near.base, Value::wide(factor));
        near.times(factor, base)
    }

    fn plus(&mut self, a: Near, b: Near) -> Option<Near> {
        let base = self.binary("add", a.base, b.base);
        a.plus(b, base)
    }

    fn try_computed(
        &mut self,
        compute: &Compute,
        state: &State,
        plan: &mut Plan,
    ) -> Option<Vec<(u32, Known)>> {
        let Algebra { operator, ty } = compute.algebra?;
        if !whole(ty) {
            return None;
        }
        let lines: Vec<Line> = match operator {
            // The amount of a shift has a type of its own.
            Operator::ShiftLeft => vec![self.line(compute.sources[0], state)?],
            _ => compute.sources.iter().map(|&read| self.line(read, state)).collect::<Option<_>>()?,
        };
        if let Operator::Compare(order) = operator {
            let &[a, b] = &lines[..] else { return None };
            let orders = [order, inverse(order)];
            let results = compute.results.iter().zip(orders);
            let known = |order| Known::Test(Test { order, a, b });
            return Some(results.filter_map(|(result, order)| Some((result.slot?, known(order)))).collect());
        }
        let line_of = |index: usize| lines.get(index).copied();
        let result = match operator {
            Operator::Add => self.sum("add", line_of(0)?, line_of(1)?)?,
            Operator::Subtract => self.sum("sub", line_of(0)?, line_of(1)?)?,
            Operator::Sum => {
                let two = self.sum("add", line_of(0)?, line_of(1)?)?;
                self.sum("add", two, line_of(2)?)?
            }
            Operator::Multiply(Half::Low) => self.product(line_of(0)?, line_of(1)?)?,
            Operator::MultiplyAdd(Half::Low) => {
                let product = self.product(line_of(0)?, line_of(1)?)?;
                self.sum("add", product, line_of(2)?)?
            }
            Operator::Multiply(Half::Both) | Operator::MultiplyAdd(Half::Both) => {
                let [a, b] = [line_of(0)?, line_of(1)?].map(|line| self.widen(line, ty.is_signed(), plan));
                let product = self.product(a?, b?)?;
                match line_of(2) {
                    Some(line) => self.sum("add", product, line)?,
                    None => product,
                }
            }
            Operator::ShiftLeft => {
                let by =
                    compute.sources[1].source.constant().filter(|&by| (0..ty.bits().into()).contains(&by))?;
                let line = line_of(0)?;
                let factor = Value::constant(line.first.ty, 1 << by);
                self.product(line, Line::fixed(factor))?
            }
            Operator::Convert { to, exact: true } if to.bits() == ty.bits() => line_of(0)?,
            Operator::Convert { to, exact: true } if to.bits() == 64 => {
                self.widen(line_of(0)?, ty.is_signed(), plan)?
            }
            Operator::Convert { to, exact: true } if to.bits() == 32 => {
                let line = line_of(0)?;
                Line { first: self.narrow(line.first), step: self.narrow(line.step) }
            }
            _ => return None,
        };
        let &[write] = &compute.results[..] else { return None };
        let slot = write.slot.filter(|&slot| {
            write.ty.bits() == self.lane().ty(slot).bits() && super::text::of(write.ty) == result.first.ty
        })?;
        Some(vec![(slot, Known::Line(result))])
    }

    fn narrow(&mut self, value: Value) -> Value {
        match value.bits() {
            Some(bits) => Value::word(bits as u32),
            None => self.code().convert("trunc", value, Type::Word),
        }
    }

    fn binary(&mut self, name: &str, a: Value, b: Value) -> Value {
        let known = match (name, a.bits(), b.bits()) {
            ("mul", Some(a), Some(b)) => Some(a.wrapping_mul(b)),
            ("add", Some(a), Some(b)) => Some(a.wrapping_add(b)),
            ("sub", Some(a), Some(b)) => Some(a.wrapping_sub(b)),
            ("mul", Some(0), _) | ("mul", _, Some(0)) => Some(0),
            ("mul", _, Some(1)) | ("add" | "sub", _, Some(0)) => return a,
            ("mul", Some(1), _) | ("add", Some(0), _) => return b,
            _ => None,
        };
        match known {
            Some(bits) => Value::constant(a.ty, bits),
            None => self.code().binary(name, a, b),
        }
    }

    fn sum(&mut self, name: &str, a: Line, b: Line) -> Option<Line> {
        if a.first.ty != b.first.ty {
            return None;
        }
        Some(Line { first: self.binary(name, a.first, b.first), step: self.binary(name, a.step, b.step) })
    }

    fn product(&mut self, a: Line, b: Line) -> Option<Line> {
        let (line, by) = match (a.is_fixed(), b.is_fixed()) {
            (_, true) => (a, b.first),
            (true, _) => (b, a.first),
            _ => return None,
        };
        if line.first.ty != by.ty {
            return None;
        }
        Some(Line { first: self.binary("mul", line.first, by), step: self.binary("mul", line.step, by) })
    }

    /// 64 bits of 32.
    fn widen(&mut self, line: Line, signed: bool, plan: &mut Plan) -> Option<Line> {
        if line.first.ty != Type::Word {
            return None;
        }
        if !line.is_fixed() {
            plan.widened.push((line, signed));
        }
        Some(Line { first: self.extended(line.first, signed), step: self.extended(line.step, true) })
    }

    fn extended(&mut self, value: Value, signed: bool) -> Value {
        match value.bits() {
            Some(bits) if signed => Value::wide(bits as i32 as i64 as u64),
            Some(bits) => Value::wide(bits),
            None if value.ty.is_wide() => value,
            None => self.code().convert(if signed { "sext" } else { "zext" }, value, Type::Wide),
        }
    }

    /// Notes an access whose address goes on in equal steps.
    fn access(
        &mut self,
        operation: u32,
        access: Access,
        address: &Address,
        writes: bool,
        state: &State,
        plan: &mut Plan,
    ) {
        let (Base::Slot(slot), Space::Generic | Space::Global | Space::Constant) =
            (address.base, access.space)
        else {
            return;
        };
        let (offset, bytes) = (address.offset, u64::from(access.size()));
        match state.get(&slot) {
            Some(&Known::Line(line)) if line.first.ty == Type::Wide => {
                let base = self.lane().reads.roots.of(address);
                plan.accesses.push(Planned { operation, base, writes, line, offset, bytes });
            }
            // In check mode an index may lead out of its table, and is looked at. Where accesses are watched it is told of.
            Some(&Known::Near(near)) if !self.of().check && !self.of().watch => {
                plan.nearby.push(Nearby { operation, near, offset, bytes })
            }
            _ => {}
        }
    }

    /// Whether accesses are to memory by any index, of those that may be.
    fn is_inside(&mut self, nearby: &[Nearby], mut holds: Value) -> Value {
        let mut seen: Vec<(Value, Inside)> = Vec::new();
        for nearby in nearby {
            let base = nearby.near.base;
            let Some(inside) = nearby.inside().filter(|&inside| !seen.contains(&(base, inside))) else {
                continue;
            };
            seen.push((base, inside));
            let distance = self.binary("add", base, Value::wide(inside.add));
            let fits = self.code().compare("ule", distance, Value::wide(inside.most));
            let place = self.binary("add", base, Value::wide(inside.offset));
            let low = self.code().binary("and", place, Value::wide(inside.low_bits));
            let aligned = self.code().compare("eq", low, Value::wide(0));
            holds = self.all(vec![holds, fits, aligned]);
        }
        holds
    }

    /// How many turns a test holds for, from the first on; at least.
    fn turns(&mut self, test: Test) -> Option<Value> {
        use IntOrder as O;
        let Test { mut order, mut a, mut b } = test;
        if a.first.ty != b.first.ty {
            return None;
        }
        if a.is_fixed() && b.is_fixed() {
            let holds = self.code().compare(super::sequence::order(order), a.first, b.first);
            return Some(self.code().select(holds, Value::wide(CHUNK), Value::wide(0)));
        }
        if a.is_fixed() {
            (order, a, b) = (mirrored(order), b, a);
        }
        if !b.is_fixed() {
            return None;
        }
        let step = match a.first.ty {
            Type::Word => i64::from(a.step.bits()? as i32),
            _ => a.step.bits()? as i64,
        };
        let (up, by) = (step > 0, step.unsigned_abs());
        let signed =
            matches!(order, O::LessSigned | O::LessEqualSigned | O::GreaterSigned | O::GreaterEqualSigned);
        let (from, to) = if up { (a.first, b.first) } else { (b.first, a.first) };
        let (distance, holds, last) = match order {
            O::NotEqual => {
                let distance = self.code().binary("sub", to, from);
                let distance = self.extended(distance, false);
                (distance, self.code().compare("ne", distance, Value::wide(0)), false)
            }
            O::LessSigned | O::LessUnsigned | O::LessEqualSigned | O::LessEqualUnsigned if up => {
                let holds = self.code().compare(super::sequence::order(order), a.first, b.first);
                let [from, to] = [from, to].map(|value| self.extended(value, signed));
                let last = matches!(order, O::LessEqualSigned | O::LessEqualUnsigned);
                (self.code().binary("sub", to, from), holds, last)
            }
            O::GreaterSigned | O::GreaterUnsigned | O::GreaterEqualSigned | O::GreaterEqualUnsigned
                if !up =>
            {
                let holds = self.code().compare(super::sequence::order(order), a.first, b.first);
                let [from, to] = [from, to].map(|value| self.extended(value, signed));
                let last = matches!(order, O::GreaterEqualSigned | O::GreaterEqualUnsigned);
                (self.code().binary("sub", to, from), holds, last)
            }
            // It goes up to the highest number that there is.
            O::GreaterUnsigned | O::GreaterEqualUnsigned if a.first.ty == Type::Wide => {
                let holds = self.code().compare(super::sequence::order(order), a.first, b.first);
                (self.code().binary("sub", Value::wide(u64::MAX), a.first), holds, true)
            }
            _ => return None,
        };
        let distance = if last { distance } else { self.code().binary("sub", distance, Value::wide(1)) };
        let whole = self.code().binary("udiv", distance, Value::wide(by));
        let count = self.code().binary("add", whole, Value::wide(1));
        Some(self.code().select(holds, count, Value::wide(0)))
    }

    /// Whether accesses are in memory that is accessed here, the first time and the last.
    fn fits(&mut self, group: &Group, last: Value, holds: Value) -> Value {
        let Group { line, base, writes, start, end, ref aligned } = *group;
        let bytes = (end - start) as u64;
        let first = self.binary("add", line.first, Value::wide(start as u64));
        let mut all = vec![holds];
        let mut ends = vec![first];
        if !line.is_fixed() {
            let span = self.binary("mul", line.step, last);
            ends.push(self.binary("add", first, span));
        }
        if self.of().check {
            let granted = self.lane().are_granted(base, writes, &ends, bytes, holds);
            all.push(granted);
            ends.clear();
        }
        for end in ends {
            let distance = self.code().binary("sub", end, Value::wide(range().first));
            all.push(self.code().compare(
                "ule",
                distance,
                Value::wide(range().windows - range().first - bytes),
            ));
        }
        let wide = self.binary("add", line.step, Value::wide(MOST_STEP));
        all.push(self.code().compare("ult", wide, Value::wide(2 * MOST_STEP)));
        for &(offset, bytes) in aligned {
            let place = self.binary("add", line.first, Value::wide(offset));
            let bits = self.code().binary("or", place, line.step);
            let low = self.code().binary("and", bits, Value::wide(bytes - 1));
            all.push(self.code().compare("eq", low, Value::wide(0)));
        }
        self.all(all)
    }

    fn all(&mut self, conditions: Vec<Value>) -> Value {
        let mut conditions = conditions.into_iter();
        let first = conditions.next().unwrap_or(Value::constant(Type::Bit, 1));
        conditions.fold(first, |all, other| self.code().binary("and", all, other))
    }

    /// Whether the loop looks up what others than its steps lead to: LLVM makes no vectors of it.
    fn looks_up(&mut self, inner: &Innermost, planned: &[Planned]) -> bool {
        let unit = self.of();
        let mut operations =
            inner.blocks.iter().flat_map(|&block| unit.code.blocks[block as usize].operations.clone());
        operations.any(|index| {
            let loads =
                matches!(&unit.operation(index).kind, Kind::Load { address, .. } if address.slot().is_some());
            loads && planned.iter().all(|planned| planned.operation != index)
        })
    }

    /// Has the processor fetch what steps lead to later: in short loops, what the next ones read. Processors notice
    /// by themselves what goes on for long alone.
    fn fetch_ahead(&mut self, planned: &[Planned], bases: &FxHashMap<u32, Value>) {
        for group in groups(planned) {
            let first = planned.iter().find(|planned| planned.line == group.line);
            let (Some(step), Some(first)) = (group.line.step.bits(), first) else { continue };
            if !(1..=LINE).contains(&step) {
                continue;
            }
            self.lane().declared.insert("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)".to_owned());
            for line in 0..LINES_AHEAD {
                let at = self.code().behind(bases[&first.operation], Value::wide(AHEAD + LINE * line));
                act!(self.lane().text, "call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)");
            }
        }
    }

    /// Leaves the copy behind a block of a turn that is not its last one.
    fn leave_early(&mut self, index: usize, from: u32, to: u32, plan: &Plan, passed: &Passed) {
        let place = turn(index);
        let turn = make!(self.lane().text, Type::Wide, "load i64, ptr {place}");
        let begun = self.code().binary("add", turn, Value::wide(1));
        self.lane().tell_of_turns(passed, &plan.accesses, turn, (from, begun));
        let head = self.inner(index).head;
        let operations = &self.of().code.blocks[head as usize].operations;
        self.code().at((!operations.is_empty()).then_some(operations.start));
        let cost = self.of().fuel.step(head);
        let cost = self.binary("mul", turn, Value::wide(cost as u64));
        let spent = self.code().label();
        self.lane().spend(cost, spent);
        self.code().at(None);
        self.code().begin(spent);
        self.leave(from, to);
    }

    /// Writes the copy.
    fn copy(&mut self, index: usize, inner: &Innermost, plan: Plan, passed: &Passed) {
        let head = self.begin_of(inner.head);
        // With the last turn, if the copy does that, there are no more than are told of together.
        let (chunk, least) = match self.of().watch {
            true => (passed::TURNS - 1, passed::LEAST),
            false => (CHUNK, LEAST),
        };
        let mut count = Value::wide(chunk);
        for test in &plan.tests {
            let Some(turns) = self.turns(*test) else { return self.code().jump(head) };
            self.lane().declared.insert("declare i64 @llvm.umin.i64(i64, i64)".to_owned());
            let text = self.code();
            count = make!(text, Type::Wide, "call i64 @llvm.umin.i64(i64 {count}, i64 {turns})");
        }
        let one = Value::wide(1);
        let whole = !plan.tests.is_empty() && !plan.leaves_within;
        let (turns, last) = match whole {
            true => (self.code().binary("add", count, one), count),
            false => (count, self.code().binary("sub", count, one)),
        };
        let mut holds = self.code().compare("uge", turns, Value::wide(least));
        for &(line, signed) in &plan.widened {
            let first = self.extended(line.first, signed);
            let step = self.extended(line.step, true);
            let span = self.binary("mul", step, last);
            let mut end = self.binary("add", first, span);
            if signed {
                end = self.code().binary("add", end, Value::wide(1 << 31));
            }
            let within = self.code().compare("ult", end, Value::wide(1 << 32));
            holds = self.code().binary("and", holds, within);
        }
        for group in groups(&plan.accesses) {
            holds = self.fits(&group, last, holds);
        }
        holds = self.is_inside(&plan.nearby, holds);
        holds = self.lane().are_apart(passed, &plan.accesses, last, holds);
        let (begin, done, again) = (self.code().label(), self.code().label(), self.code().label());
        self.code().branch(holds, begin, head);
        self.code().begin(begin);
        let mut bases: FxHashMap<u32, Value> = FxHashMap::default();
        let mut made: Vec<(Value, Value)> = Vec::new();
        for planned in &plan.accesses {
            let first = planned.line.first;
            let base = made.iter().find(|&&(other, _)| other == first).map(|&(_, base)| base);
            let base = base.unwrap_or_else(|| {
                let base = self.code().convert("inttoptr", first, Type::Pointer);
                made.push((first, base));
                base
            });
            bases.insert(planned.operation, base);
        }
        let place = turn(index);
        act!(self.lane().text, "store i64 0, ptr {place}");
        let labels: FxHashMap<u32, Label> =
            inner.blocks.iter().map(|&block| (block, self.lane().text.label())).collect();
        if self.looks_up(inner, &plan.accesses) {
            self.fetch_ahead(&plan.accesses, &bases);
        }
        let next = self.code().label();
        let first = labels[&inner.head];
        self.code().jump(first);
        for &number in &inner.blocks {
            self.code().at(None);
            self.code().begin(labels[&number]);
            if number == inner.head {
                let turn = make!(self.lane().text, Type::Wide, "load i64, ptr {place}");
                for planned in &plan.accesses {
                    let Planned { operation, offset, .. } = *planned;
                    if self.of().watch
                        && !passed.has(operation)
                        && told(self.of().operation(operation)).is_some()
                    {
                        continue;
                    }
                    let distance = self.binary("mul", turn, planned.line.step);
                    let kept = self.lane().kept_in_turn(passed, operation, turn);
                    let reached = Reached::Steps { base: bases[&operation], distance, offset, kept };
                    self.lane().known.insert(operation, reached);
                }
                for nearby in plan.nearby.iter().filter(|nearby| nearby.inside().is_some()) {
                    self.lane().known.insert(nearby.operation, Reached::Address);
                }
            }
            self.write(number);
            let to = |to: u32| if to == inner.head { next } else { labels[&to] };
            match self.of().code.blocks[number as usize].end {
                End::Branch(guard, yes, no) => match [yes, no].map(|to| stays(inner, number, to)) {
                    [true, true] => {
                        let holds = self.lane().guard(guard);
                        self.code().branch(holds, to(yes), to(no));
                    }
                    [stays, _] if plan.exits.contains(&number) => {
                        let holds = self.lane().guard(guard);
                        let leaves = self.code().label();
                        match stays {
                            true => self.code().likely(holds, to(yes), leaves),
                            false => self.code().seldom(holds, leaves, to(no)),
                        }
                        self.code().begin(leaves);
                        self.leave_early(index, number, if stays { no } else { yes }, &plan, passed);
                    }
                    [true, false] => self.code().jump(to(yes)),
                    _ => self.code().jump(to(no)),
                },
                End::Jump(only) | End::Call { next: only, .. } => self.code().jump(to(only)),
                _ => unreachable!("no block of a region ends in another way: {number}"),
            }
        }
        self.lane().known.clear();
        self.code().at(None);
        self.code().begin(next);
        let turn = make!(self.lane().text, Type::Wide, "load i64, ptr {place}");
        let turn = self.code().binary("add", turn, Value::wide(1));
        act!(self.lane().text, "store i64 {turn}, ptr {place}");
        let over = self.code().compare("eq", turn, turns);
        self.code().branch(over, done, first);
        self.code().begin(done);
        self.lane().tell_of_turns(passed, &plan.accesses, turns, (inner.latch, turns));
        let operations = &self.of().code.blocks[inner.head as usize].operations;
        let start = (!operations.is_empty()).then_some(operations.start);
        self.code().at(start);
        let cost = self.of().fuel.step(inner.head);
        let cost = self.binary("mul", count, Value::wide(cost as u64));
        self.lane().spend(cost, again);
        self.code().at(None);
        self.code().begin(again);
        let before = self.before(index);
        match self.of().code.blocks[inner.latch as usize].end {
            End::Branch(guard, yes, no) if whole => {
                let holds = self.lane().guard(guard);
                let ways = [yes, no].map(|to| (to, self.code().label()));
                self.code().branch(holds, ways[0].1, ways[1].1);
                for (to, label) in ways {
                    self.code().begin(label);
                    if to == inner.head {
                        self.code().at(start);
                        let cost = self.of().fuel.step(inner.head);
                        self.lane().go(before, Some(cost));
                        self.code().at(None);
                    } else {
                        self.leave(inner.latch, to);
                    }
                }
            }
            _ => {
                let more = self.code().compare("eq", count, Value::wide(chunk));
                self.code().branch(more, before, head);
            }
        }
    }
}

/// Whether the loop goes on where a block goes to another one.
fn stays(inner: &Innermost, from: u32, to: u32) -> bool {
    inner.blocks.contains(&to) && (to != inner.head || from == inner.latch)
}

/// What is known at a block's beginning: what all ways to it agree in.
fn joined(
    inner: &Innermost,
    number: u32,
    leads: impl Fn(u32) -> bool,
    states: &FxHashMap<u32, State>,
) -> State {
    let mut ways = inner.blocks.iter().filter(|&&from| from < number && leads(from));
    let Some(first) = ways.next() else { return State::default() };
    let mut state = states.get(first).cloned().unwrap_or_default();
    for way in ways {
        let other = states.get(way);
        state.retain(|slot, known| other.is_some_and(|other| other.get(slot) == Some(known)));
    }
    state
}

/// Where the number of a loop's turn is.
pub(super) fn turn(index: usize) -> String {
    format!("%turn{index}")
}

/// The loop that is entered where a block goes to another one, or somebody from outside.
pub(super) fn entered(loops: &[Innermost], from: Option<u32>, to: u32) -> Option<usize> {
    loops.iter().position(|inner| inner.head == to && from.is_none_or(|from| !inner.blocks.contains(&from)))
}
