//! The function of a region: a loop over the lanes, in which each takes what it has from the frame, runs, and puts
//! back what it has written.
//!
//! Slots are places in memory that LLVM makes values of. What all lanes share, or has equal steps from lane to lane,
//! is taken before the loop: converged code has put down the first lanes' values alone.

use std::fmt::Write;

use gangway_simt::{End, Scalar};
use rustc_hash::FxHashMap;

use super::counted::{Counted, entered, turn};
use super::lane::{FRAME, FUEL, LANE, LOCAL_BASE, Lane, OWN, OWN_FRAME, Reads, SHARED, SHARED_SIZE, field};
use super::sequence::Declared;
use super::text::{Label, Text, Type, Value, act, held, make, of};
use crate::abi::LANES;
use crate::analysis::lanewise::Region;
use crate::analysis::liveness::Set;
use crate::analysis::loops::Innermost;
use crate::analysis::shape::Shape;
use crate::analysis::unit::Unit;
use crate::frame::in_frame;

/// How a slot is handed over that a region needs: in the form of its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handed {
    /// One value at the beginning of its home.
    Same,
    /// One value for each row, where its first lane's is.
    Steps(i64),
    /// A value for each lane.
    Each,
    /// A bit for each lane.
    Bits,
}

fn handed(unit: &Unit<'_>, slot: u32) -> Handed {
    match (unit.code.slots[slot as usize], unit.shapes.slots[slot as usize]) {
        (Scalar::Predicate, _) => Handed::Bits,
        (_, Shape::Uniform) => Handed::Same,
        (_, Shape::Steps(step)) => Handed::Steps(step),
        _ => Handed::Each,
    }
}

/// All slots that blocks name, and others.
pub(super) fn named<'a>(
    unit: &Unit<'_>,
    blocks: &[u32],
    others: impl IntoIterator<Item = &'a u32>,
) -> Vec<u32> {
    let mut named = Set::new(unit.code.slots.len());
    for &number in blocks {
        let block = &unit.code.blocks[number as usize];
        for (index, _) in block.each_operation() {
            unit.operation(index).each_slot(&mut |slot, _| named.insert(slot));
        }
        if let End::Branch(guard, ..) = block.end {
            named.insert(guard.slot);
        }
    }
    others.into_iter().for_each(|&slot| named.insert(slot));
    named.iter().collect()
}

/// Writes the function with this signature: warp, frame. `locations` is where the numbers of debug locations
/// begin.
pub(super) fn write(
    unit: &Unit<'_>,
    region: &Region,
    name: &str,
    locations: u32,
    reads: &Reads,
    declared: &mut Declared,
    located: &mut String,
) -> String {
    let mut text = Text::new(locations);
    let (next, done) = (text.label(), text.label());
    let lane = Lane::new(unit, text, declared, reads, false);
    let mut writer = Writer { lane, region, labels: FxHashMap::default(), before: Vec::new(), next, done };
    writer.begin();
    writer.body();
    for index in 0..region.loops.len() {
        writer.counted(index);
    }
    writer.end();
    writer.lane.function(name, locations, located)
}

struct Writer<'a> {
    lane: Lane<'a>,
    region: &'a Region,
    labels: FxHashMap<u32, Label>,
    /// Where loops are entered, before their heads.
    before: Vec<Label>,
    /// Where the next lane begins, and where one goes that has come through.
    next: Label,
    done: Label,
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

    fn write(&mut self, number: u32) {
        let mut loads = FxHashMap::default();
        for index in self.lane.unit.code.blocks[number as usize].operations.clone() {
            let line = self.lane.line_of(index, &mut loads);
            self.text().at(Some(line));
            self.lane.operation(self.lane.unit.operation(index));
        }
    }
}

impl Writer<'_> {
    fn text(&mut self) -> &mut Text {
        &mut self.lane.text
    }

    /// Gives something a name that the code of lanes knows it by.
    fn name(&mut self, name: Value, instruction: std::fmt::Arguments<'_>) {
        let text = self.text();
        let _ = writeln!(text.text, "  {name} = {instruction}");
    }

    /// Where a slot's value of a lane is in the frame.
    fn home(&mut self, slot: u32, lane: Value) -> Value {
        let unit = self.lane.unit;
        let bytes = if unit.code.slots[slot as usize].is_wide() { 8 } else { 4 };
        let home = Value::wide(unit.homes[slot as usize] as u64);
        let text = self.text();
        let at = text.binary("mul", lane, Value::wide(bytes));
        let at = text.binary("add", at, home);
        text.behind(FRAME, at)
    }

    fn named(&self) -> Vec<u32> {
        let region = self.region;
        named(self.lane.unit, &region.blocks, region.enters.iter().chain(&region.leaves))
    }

    /// What is before the loop, and the beginning of that.
    fn begin(&mut self) {
        let unit = self.lane.unit;
        let first = self.text().label();
        self.text().begin(first);
        for slot in self.named() {
            let ty = held(unit.code.slots[slot as usize]);
            let _ = writeln!(self.text().text, "  %s{slot} = alloca {ty}");
        }
        self.name(FUEL, format_args!("alloca i64"));
        for index in 0..self.region.loops.len() {
            let _ = writeln!(self.lane.text.text, "  {} = alloca i64", turn(index));
        }
        let leaves = self.region.leaves.iter().filter(|&&slot| handed(unit, slot) == Handed::Bits);
        for &slot in leaves {
            let _ =
                writeln!(self.lane.text.text, "  %bits{slot} = alloca i32\n  store i32 0, ptr %bits{slot}");
        }
        self.lane.take_fuel();
        let base = self.text().behind(FRAME, Value::wide(in_frame!(local_base) as u64));
        self.name(LOCAL_BASE, format_args!("load i64, ptr {base}"));
        for (name, offset) in [(SHARED, field!(shared)), (SHARED_SIZE, field!(shared_size))] {
            let at = self.text().behind(super::lane::WARP, Value::wide(offset));
            self.name(name, format_args!("load i64, ptr {at}"));
        }
        let own = self.lane.field(Type::Wide, field!(local));
        let stride = self.lane.field(Type::Wide, field!(local_stride));
        let top = self.lane.field(Type::Wide, field!(local_top));
        self.lane.declared.insert("declare i64 @llvm.umin.i64(i64, i64)".to_owned());
        self.name(super::lane::LOCAL_END, format_args!("call i64 @llvm.umin.i64(i64 {top}, i64 {stride})"));
        self.lane.begin_windows(&self.region.blocks);
        let enters: Vec<(u32, Handed)> =
            self.region.enters.iter().map(|&slot| (slot, handed(unit, slot))).collect();
        let shared: Vec<(u32, Value)> =
            enters.iter().filter_map(|&(slot, form)| self.before(slot, form)).collect();
        for &block in &self.region.blocks {
            let label = self.text().label();
            self.labels.insert(block, label);
        }
        self.before = self.region.loops.iter().map(|_| self.lane.text.label()).collect();
        let head = self.place(None, self.region.head);
        let (done, next) = (self.done, self.next);
        self.text().jump(next);
        self.text().begin(next);
        let behind = Value::given(Type::Wide, "next");
        self.name(LANE, format_args!("phi i64 [ 0, {first} ], [ {behind}, {done} ]"));
        let before = self.text().binary("mul", LANE, stride);
        self.name(OWN, format_args!("add i64 {own}, {before}"));
        let frame = self.text().binary("add", OWN, LOCAL_BASE);
        self.name(OWN_FRAME, format_args!("inttoptr i64 {frame} to ptr"));
        for slot in self.named() {
            let value = match enters.iter().find(|&&(other, _)| other == slot) {
                // What a register holds that nothing has written.
                None => Value::constant(of(unit.code.slots[slot as usize]), 0),
                Some(&(_, form)) => {
                    let before = shared.iter().find(|&&(other, _)| other == slot).map(|&(_, value)| value);
                    self.of_lane(slot, form, before)
                }
            };
            self.lane.set_slot(slot, value);
        }
        self.text().jump(head);
    }

    /// Takes what is the same in the whole loop: the one value, or the one of the only row; the bits of all
    /// lanes.
    fn before(&mut self, slot: u32, form: Handed) -> Option<(u32, Value)> {
        let unit = self.lane.unit;
        let ty = of(unit.code.slots[slot as usize]);
        let first = match form {
            Handed::Each => return None,
            Handed::Same => ty,
            Handed::Bits => Type::Word,
            Handed::Steps(_) if usize::from(unit.row) == LANES => ty,
            Handed::Steps(_) => {
                // The first lanes' values would be written over by lanes that are done.
                let rows = LANES / usize::from(unit.row);
                let _ = writeln!(self.lane.text.text, "  %rows{slot} = alloca [{rows} x {ty}]");
                for row in 0..rows {
                    let at = self.home(slot, Value::wide((row * usize::from(unit.row)) as u64));
                    let value = self.text().load(ty, at);
                    let text = self.text();
                    let to = make!(text, Type::Pointer, "getelementptr {ty}, ptr %rows{slot}, i64 {row}");
                    text.store(value, to);
                }
                return None;
            }
        };
        let at = self.home(slot, Value::wide(0));
        Some((slot, self.text().load(first, at)))
    }

    /// What a lane has in a slot that the region needs.
    fn of_lane(&mut self, slot: u32, form: Handed, before: Option<Value>) -> Value {
        let unit = self.lane.unit;
        let ty = of(unit.code.slots[slot as usize]);
        match (form, before) {
            (Handed::Bits, Some(bits)) => {
                let text = self.text();
                let lane = text.convert("trunc", LANE, Type::Word);
                let bits = text.binary("lshr", bits, lane);
                text.convert("trunc", bits, Type::Bit)
            }
            (Handed::Steps(step), before) => {
                let row = u64::from(unit.row);
                let text = self.text();
                let place = text.binary("and", LANE, Value::wide(row - 1));
                let base = before.unwrap_or_else(|| {
                    let number = text.binary("lshr", LANE, Value::wide(u64::from(row.trailing_zeros())));
                    let at = make!(text, Type::Pointer, "getelementptr {ty}, ptr %rows{slot}, i64 {number}");
                    text.load(ty, at)
                });
                let place = if ty == Type::Word { text.convert("trunc", place, ty) } else { place };
                let distance = text.binary("mul", place, Value::constant(ty, step as u64));
                text.binary("add", base, distance)
            }
            (_, Some(value)) => value,
            (_, None) => {
                let at = self.home(slot, LANE);
                self.text().load(ty, at)
            }
        }
    }

    fn body(&mut self) {
        let (unit, region) = (self.lane.unit, self.region);
        for &number in &region.blocks {
            let block = &unit.code.blocks[number as usize];
            let label = self.labels[&number];
            self.text().at(None);
            self.text().begin(label);
            self.write(number);
            // Who asks where the warp is that gives way is told the loop.
            match block.end {
                End::Jump(to) => self.go(number, to),
                End::Branch(guard, yes, no) => {
                    let holds = self.lane.guard(guard);
                    let (taken, passed) = (self.text().label(), self.text().label());
                    self.text().branch(holds, taken, passed);
                    self.text().begin(taken);
                    self.go(number, yes);
                    self.text().begin(passed);
                    self.go(number, no);
                }
                _ => unreachable!("no block of a region ends in another way: {}", region.head),
            }
        }
    }

    /// Where a lane goes that goes to a block from another one, or begins.
    fn place(&self, from: Option<u32>, to: u32) -> Label {
        let Some(&label) = self.labels.get(&to) else { return self.done };
        entered(&self.region.loops, from, to).map_or(label, |index| self.before[index])
    }

    fn go(&mut self, from: u32, to: u32) {
        let inside = self.labels.contains_key(&to);
        let cost = (inside && to <= from).then(|| self.lane.unit.fuel.step(to));
        if cost.is_some() {
            let head = &self.lane.unit.code.blocks[to as usize].operations;
            self.text().at((!head.is_empty()).then_some(head.start));
        }
        let place = self.place(Some(from), to);
        self.lane.go(place, cost);
    }

    /// What a lane does that has come through, and what is behind the loop.
    fn end(&mut self) {
        let unit = self.lane.unit;
        let (next, done, behind) = (self.next, self.done, self.text().label());
        self.text().at(None);
        self.text().begin(done);
        for &slot in &self.region.leaves {
            let value = self.lane.slot(slot);
            if handed(unit, slot) == Handed::Bits {
                let text = self.text();
                let lane = text.convert("trunc", LANE, Type::Word);
                let bit = text.convert("zext", value, Type::Word);
                let bit = text.binary("shl", bit, lane);
                let others = make!(text, Type::Word, "load i32, ptr %bits{slot}");
                let all = text.binary("or", others, bit);
                act!(text, "store i32 {all}, ptr %bits{slot}");
            } else {
                let at = self.home(slot, LANE);
                self.text().store(value, at);
            }
        }
        self.name(Value::given(Type::Wide, "next"), format_args!("add i64 {LANE}, 1"));
        let again = Value::given(Type::Wide, "next");
        let last = self.text().compare("eq", again, Value::wide(LANES as u64));
        self.text().branch(last, behind, next);
        self.text().begin(behind);
        for &slot in self.region.leaves.iter().filter(|&&slot| handed(unit, slot) == Handed::Bits) {
            let bits = make!(self.lane.text, Type::Word, "load i32, ptr %bits{slot}");
            let at = self.lane.text.behind(FRAME, Value::wide(unit.homes[slot as usize] as u64));
            self.lane.text.store(bits, at);
        }
        self.lane.put_fuel();
        act!(self.lane.text, "ret i64 0");
    }
}
