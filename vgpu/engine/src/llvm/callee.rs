//! Functions that a region calls, as a function of LLVM's: values go in, and whether it has come to its end comes back
//! with what it gives. Nothing has happened if it has not.
//!
//! Nothing in it can fault, so it has no lines.

use std::fmt::Write;

use gangway_simt::{Call, End, From, Passed, Place, Scalar, Target, To};
use rustc_hash::FxHashMap;

use super::lane::{LANE, Lane, Reads, SHARED, SHARED_SIZE, WARP, field};
use super::region::named;
use super::sequence::Declared;
use super::text::{Label, Text, Type, Value, act, held, make, of};
use crate::analysis::unit::{Callee, Unit};

/// What such a function gives.
fn given(results: &[Scalar]) -> String {
    let results: String = results.iter().map(|&ty| format!(", {}", of(ty))).collect();
    format!("{{ i1{results} }}")
}

/// Where an argument or a result is.
pub(super) fn place(number: u32) -> String {
    format!("%argument{number}")
}

/// Writes a function and those that it calls, as far as they have not been written.
pub(super) fn write(
    number: u32,
    callee: &Callee<'_>,
    declared: &mut Declared,
    written: &mut FxHashMap<u32, String>,
) {
    if written.contains_key(&number) {
        return;
    }
    written.insert(number, String::new());
    let unit = &callee.unit;
    for (&number, callee) in &unit.callees {
        write(number, callee, declared, written);
    }
    let reads = Reads::new(unit);
    let mut text = Text::without_lines();
    let labels: FxHashMap<u32, Label> = callee.blocks.iter().map(|&block| (block, text.label())).collect();
    let fails = text.label();
    let lane = Lane { leave: Some(fails), tables: true, ..Lane::new(unit, text, declared, &reads, true) };
    let mut writer = Writer { lane, labels, fails };
    writer.begin(&callee.blocks);
    for &block in &callee.blocks {
        writer.block(block);
    }
    writer.fail();
    let body = writer.lane.text.text;
    let (parameters, results) = unit.passed();
    let list: String =
        (0..).zip(&parameters).map(|(number, &ty)| format!(", {} %given{number}", of(ty))).collect();
    let function = format!(
        "define internal {} @callee{number}(ptr noalias %warp{list}) #2 {{\n{body}}}\n",
        given(&results)
    );
    written.insert(number, function);
}

struct Writer<'a> {
    lane: Lane<'a>,
    labels: FxHashMap<u32, Label>,
    fails: Label,
}

impl Writer<'_> {
    fn text(&mut self) -> &mut Text {
        &mut self.lane.text
    }

    fn begin(&mut self, blocks: &[u32]) {
        let unit = self.lane.unit;
        let first = self.text().label();
        self.text().begin(first);
        let slots = named(unit, blocks, &[]);
        for &slot in &slots {
            let ty = held(unit.code.slots[slot as usize]);
            let _ = writeln!(self.text().text, "  %s{slot} = alloca {ty}");
        }
        let (parameters, results) = unit.passed();
        for (number, &ty) in (0..).zip(parameters.iter().chain(&results)) {
            let _ = writeln!(self.text().text, "  {} = alloca {}", place(number), of(ty));
        }
        let _ = writeln!(self.text().text, "  {LANE} = add i64 0, 0");
        for (name, offset) in [(SHARED, field!(shared)), (SHARED_SIZE, field!(shared_size))] {
            let at = self.text().behind(WARP, Value::wide(offset));
            let _ = writeln!(self.text().text, "  {name} = load i64, ptr {at}");
        }
        self.lane.begin_windows(blocks);
        for (number, &ty) in (0u32..).zip(&parameters) {
            let at = place(number);
            act!(self.lane.text, "store {0} %given{number}, ptr {at}", of(ty));
        }
        for slot in slots {
            let value = Value::constant(of(unit.code.slots[slot as usize]), 0);
            self.lane.set_slot(slot, value);
        }
        for (number, &ty) in (parameters.len() as u32..).zip(&results) {
            let (ty, at) = (of(ty), place(number));
            act!(self.lane.text, "store {ty} 0, ptr {at}");
        }
        self.go(0);
    }

    fn go(&mut self, to: u32) {
        let label = self.labels.get(&to).copied().unwrap_or(self.fails);
        self.text().jump(label);
    }

    fn block(&mut self, number: u32) {
        let unit = self.lane.unit;
        let label = self.labels[&number];
        self.text().begin(label);
        for index in unit.code.blocks[number as usize].operations.clone() {
            self.lane.operation(unit.operation(index));
        }
        match unit.code.blocks[number as usize].end {
            End::Jump(to) => self.go(to),
            End::Branch(guard, yes, no) => {
                let holds = self.lane.guard(guard);
                let [yes, no] = [yes, no].map(|to| self.labels.get(&to).copied().unwrap_or(self.fails));
                self.text().branch(holds, yes, no);
            }
            End::Call { operation, next } => {
                let fails = self.fails;
                self.lane.call_function(operation, fails);
                self.go(next);
            }
            End::Return => self.give(),
            _ => unreachable!("no block of such a function ends in another way: {number}"),
        }
    }

    fn give(&mut self) {
        let (parameters, results) = self.lane.unit.passed();
        let all = given(&results);
        let text = &mut self.lane.text;
        let mut value = make!(text, Type::Bit, "insertvalue {all} poison, i1 true, 0");
        for (number, &ty) in (0u32..).zip(&results) {
            let at = place(parameters.len() as u32 + number);
            let one = make!(text, of(ty), "load {}, ptr {at}", of(ty));
            value = make!(text, Type::Bit, "insertvalue {all} {value}, {} {one}, {}", of(ty), number + 1);
        }
        act!(text, "ret {all} {value}");
    }

    fn fail(&mut self) {
        let (_, results) = self.lane.unit.passed();
        let fails = self.fails;
        let text = self.text();
        text.begin(fails);
        act!(text, "ret {} zeroinitializer", given(&results));
    }
}

impl Lane<'_> {
    /// Calls a function; where that fails, goes to where nothing has happened yet.
    pub fn call_function(&mut self, operation: u32, fails: Label) {
        let unit = self.unit;
        let Some((function, call)) = called(unit, operation) else {
            unreachable!("a block of a region ends with such a call: {operation}")
        };
        let callee = &unit.callees[&function].unit;
        let (parameters, results) = callee.passed();
        let mut list = format!("ptr {WARP}");
        for (argument, &ty) in call.arguments.iter().zip(&parameters) {
            let Passed::Value(from) = argument.passed else { unreachable!("it is a value") };
            let value = match argument.from {
                From::Source(source) => self.value(source, from),
                From::Place(Place::Slot(slot)) => {
                    let value = self.slot(slot);
                    self.fit(value, from)
                }
                From::Place(_) => unreachable!("it is a slot"),
            };
            let value = self.fit(value, ty);
            let _ = write!(list, ", {} {value}", value.ty);
        }
        let all = given(&results);
        let got = make!(self.text, Type::Bit, "call {all} @callee{function}({list})");
        let done = make!(self.text, Type::Bit, "extractvalue {all} {got}, 0");
        let label = self.text.label();
        self.text.likely(done, label, fails);
        self.text.begin(label);
        for (number, (result, &ty)) in call.results.iter().zip(&results).enumerate() {
            let value = make!(self.text, of(ty), "extractvalue {all} {got}, {}", number + 1);
            match result.to {
                To::Nothing => {}
                To::Slot(slot) => self.write(Some(slot), ty, value),
                To::Place(Place::Slot(slot)) => {
                    let value = self.fit(value, unit.code.slots[slot as usize]);
                    self.set_slot(slot, value);
                }
                To::Place(_) => unreachable!("it is a slot"),
            }
        }
    }
}

fn called<'a>(unit: &'a Unit<'_>, operation: u32) -> Option<(u32, &'a Call)> {
    match &unit.operation(operation).kind {
        gangway_simt::Kind::Call(call) => match call.target {
            Target::Function(function) => Some((function, call)),
            Target::Address { .. } => None,
        },
        _ => None,
    }
}
