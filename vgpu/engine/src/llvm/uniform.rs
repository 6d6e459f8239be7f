//! The function of a region in which all lanes do the same: scalar code, as of a thread of the host's.
//!
//! It is given the one value of each slot, and gives the number of the exit by which it has left the region, with the
//! values that are needed there. What it cannot do it leaves to ordinary code before it has begun with it: a load
//! whose address is not in memory that is accessed here may be one of each lane's own. Stores are done by a helper then,
//! for all lanes.
//!
//! Innermost loops whose turns can be counted are there twice: see [`counted`](super::counted).

use std::fmt::Write;

use gangway_simt::End;
use rustc_hash::FxHashMap;

use super::counted::{Counted, entered, turn};
use super::lane::{FRAME, FUEL, LANE, LOCAL_BASE, Lane, Reads, SHARED, SHARED_SIZE, WARP, field};
use super::passed;
use super::region::named;
use super::sequence::Declared;
use super::text::{Label, Text, Type, Value, act, held, of};
use crate::analysis::loops::Innermost;
use crate::analysis::uniform::{Uniform, leaves_before};
use crate::analysis::unit::Unit;
use crate::frame::in_frame;

/// Writes the function with this signature: warp, frame; it gives the number of an exit. `locations` is where the
/// numbers of debug locations begin.
pub(super) fn write(
    unit: &Unit<'_>,
    region: &Uniform,
    name: &str,
    locations: u32,
    reads: &Reads,
    declared: &mut Declared,
    located: &mut String,
) -> String {
    let mut text = Text::new(locations);
    let labels = region.blocks.iter().map(|&block| (block, text.label())).collect();
    let exits = region.exits.iter().map(|_| text.label()).collect();
    let before = region.loops.iter().map(|_| text.label()).collect();
    let lane = Lane::new(unit, text, declared, reads, true);
    let mut writer = Writer { lane, region, labels, exits, before };
    writer.begin();
    for &block in &region.blocks {
        writer.block(block);
    }
    for index in 0..region.loops.len() {
        writer.counted(index);
    }
    writer.end();
    writer.lane.function(name, locations, located)
}

struct Writer<'a> {
    lane: Lane<'a>,
    region: &'a Uniform,
    labels: FxHashMap<u32, Label>,
    exits: Vec<Label>,
    /// Where loops are entered, before their heads.
    before: Vec<Label>,
}

impl<'a> Counted<'a> for Writer<'a> {
    fn lane(&mut self) -> &mut Lane<'a> {
        &mut self.lane
    }

    fn loops(&self) -> &'a [Innermost] {
        &self.region.loops
    }

    fn begin_of(&self, block: u32) -> Label {
        self.labels[&block]
    }

    fn before(&self, index: usize) -> Label {
        self.before[index]
    }

    fn leave(&mut self, from: u32, to: u32) {
        self.go(from, to);
    }

    fn write(&mut self, block: u32) {
        self.operations(block);
    }
}

impl<'a> Writer<'a> {
    fn text(&mut self) -> &mut Text {
        &mut self.lane.text
    }

    fn unit(&self) -> &'a Unit<'a> {
        self.lane.unit
    }

    fn home(&mut self, slot: u32) -> Value {
        let home = Value::wide(self.unit().homes[slot as usize] as u64);
        self.text().behind(FRAME, home)
    }

    /// What is done once, and the way to the head.
    fn begin(&mut self) {
        let unit = self.unit();
        let first = self.text().label();
        self.text().begin(first);
        let slots = named(unit, &self.region.blocks, &self.region.enters);
        for &slot in &slots {
            let ty = held(unit.code.slots[slot as usize]);
            let _ = writeln!(self.text().text, "  %s{slot} = alloca {ty}");
        }
        let _ = writeln!(self.text().text, "  {FUEL} = alloca i64\n  {LANE} = add i64 0, 0");
        for index in 0..self.region.loops.len() {
            let _ = writeln!(self.text().text, "  {} = alloca i64", turn(index));
        }
        passed::begin(unit, &self.region.loops, &mut self.lane.text.text);
        self.lane.take_fuel();
        let base = self.text().behind(FRAME, Value::wide(in_frame!(local_base) as u64));
        let _ = writeln!(self.text().text, "  {LOCAL_BASE} = load i64, ptr {base}");
        for (name, offset) in [(SHARED, field!(shared)), (SHARED_SIZE, field!(shared_size))] {
            let at = self.text().behind(WARP, Value::wide(offset));
            let _ = writeln!(self.text().text, "  {name} = load i64, ptr {at}");
        }
        self.lane.begin_windows(&self.region.blocks);
        for slot in slots {
            let ty = of(unit.code.slots[slot as usize]);
            // What a register holds that nothing has written.
            let mut value = Value::constant(ty, 0);
            if self.region.enters.contains(&slot) {
                let home = self.home(slot);
                value = match ty {
                    Type::Bit => {
                        let bits = self.text().load(Type::Word, home);
                        self.text().convert("trunc", bits, Type::Bit)
                    }
                    ty => self.text().load(ty, home),
                };
            }
            self.lane.set_slot(slot, value);
        }
        let head = self.place(None, self.region.head);
        self.text().jump(head);
    }

    /// Where code goes that goes to a block from another one, or from outside.
    fn place(&self, from: Option<u32>, to: u32) -> Label {
        let outside = |block: u32| self.region.exit(block).map(|exit| self.exits[exit]);
        let Some(&label) = self.labels.get(&to) else {
            return outside(to).unwrap_or_else(|| unreachable!("a way out of the region has an exit: {to}"));
        };
        entered(&self.region.loops, from, to).map_or(label, |index| self.before[index])
    }

    fn block(&mut self, number: u32) {
        let unit = self.unit();
        self.text().at(None);
        let label = self.labels[&number];
        self.text().begin(label);
        self.operations(number);
        // Who asks where the warp is that gives way is told the loop.
        match unit.code.blocks[number as usize].end {
            End::Jump(to) | End::Call { next: to, .. } => self.go(number, to),
            End::Branch(guard, yes, no) => {
                let holds = self.lane.guard(guard);
                let (taken, passed) = (self.text().label(), self.text().label());
                self.text().branch(holds, taken, passed);
                self.text().begin(taken);
                self.go(number, yes);
                self.text().begin(passed);
                self.go(number, no);
            }
            _ => unreachable!("no block of a region ends in another way: {number}"),
        }
    }

    /// Writes a block's operations, and the call at its end if there is one.
    fn operations(&mut self, number: u32) {
        let unit = self.unit();
        let block = &unit.code.blocks[number as usize];
        let calls = match block.end {
            End::Call { operation, .. } => Some((operation, self.before_call(number))),
            _ => None,
        };
        let leave = leaves_before(&unit.shapes, &unit.code, number).then(|| self.region.exit(number));
        self.lane.leave = leave.flatten().map(|exit| self.exits[exit]);
        // A processor's instruction that computes may load as well what was loaded without a check: so it has the line of
        // that load, and its fault is the load's.
        let mut loads = FxHashMap::default();
        for index in block.operations.clone() {
            let line = self.lane.line_of(index, &mut loads);
            self.text().at(Some(line));
            self.lane.operation(unit.operation(index));
            self.lane.leave = None;
        }
        let Some((operation, before)) = calls else { return };
        self.text().at(Some(operation));
        let (fails, done) = (self.text().label(), self.text().label());
        self.lane.call_function(operation, fails);
        self.text().jump(done);
        self.text().begin(fails);
        for (slot, value) in before {
            self.lane.set_slot(slot, value);
        }
        if let Some(exit) = self.region.exit(number) {
            let exit = self.exits[exit];
            self.text().jump(exit);
        }
        self.text().begin(done);
    }

    /// What slots hold where a block begins that it may write before the call at its end.
    fn before_call(&mut self, number: u32) -> Vec<(u32, Value)> {
        let unit = self.unit();
        let mut written = Vec::new();
        for index in unit.code.blocks[number as usize].operations.clone() {
            unit.operation(index).each_slot(&mut |slot, write| {
                if write && unit.liveness.enters(number, slot) && !written.contains(&slot) {
                    written.push(slot);
                }
            });
        }
        written.into_iter().map(|slot| (slot, self.lane.slot(slot))).collect()
    }

    fn go(&mut self, from: u32, to: u32) {
        let unit = self.unit();
        let cost = (to <= from).then(|| unit.fuel.step(to));
        if cost.is_some() {
            let head = &unit.code.blocks[to as usize].operations;
            self.text().at((!head.is_empty()).then_some(head.start));
        }
        let place = self.place(Some(from), to);
        self.lane.go(place, cost);
    }

    /// The exits.
    fn end(&mut self) {
        let unit = self.unit();
        let region = self.region;
        self.text().at(None);
        for (number, exit) in region.exits.iter().enumerate() {
            let label = self.exits[number];
            self.text().begin(label);
            for &slot in &exit.leaves {
                let mut value = self.lane.slot(slot);
                if of(unit.code.slots[slot as usize]) == Type::Bit {
                    value = self.text().convert("sext", value, Type::Word);
                }
                let home = self.home(slot);
                self.text().store(value, home);
            }
            self.lane.put_fuel();
            act!(self.lane.text, "ret i64 {number}");
        }
    }
}
