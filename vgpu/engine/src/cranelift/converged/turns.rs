//! Spans of operations with indices that a division has made: code for all lanes, which
//! agree in quotients, and code for turns of those that do.

use std::ops::Range;

use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Type as Clif, Value};
use gangway_simt::Kind;

use super::Converged;
use crate::abi::ALL;
use crate::analysis::liveness::Set;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::Agreement;
use crate::cranelift::state::{Known, Steps};
use crate::cranelift::turns::Span;
use crate::cranelift::value::{Lanes, Predicate, constant};

/// How a slot is handed on behind a span.
#[derive(Clone, Copy)]
enum Form {
    Uniform,
    Truth,
    Steps(i64),
    /// Lanes that have had their turn keep what they have.
    Lanes,
    Bits,
}

impl Form {
    const fn is_each_lane(self) -> bool {
        matches!(self, Form::Lanes | Form::Bits)
    }
}

/// A slot that is written in a span and read behind it.
struct Kept {
    slot: u32,
    form: Form,
    types: Vec<Clif>,
}

impl Converged<'_, '_> {
    /// Emits a span that begins with the first of some operations of a block, if it is one.
    /// The number of the operation behind it.
    pub(super) fn turns(&mut self, block: u32, operations: Range<u32>) -> Option<u32> {
        if self.rows != 1 || self.emit.partial.is_some() {
            return None;
        }
        let Span { operations, divided } = self.emit.span_of(operations)?;
        let (known, checked, all) = (self.emit.snapshot(), self.emit.checked.clone(), self.emit.mask);
        let (others, done) = (self.cold_label(), self.label());

        self.emit.agreement = Some(Agreement::default());
        self.span(block, operations.clone(), Some(others));
        self.emit.agreement = None;
        let mut kept = Vec::new();
        let mut values = Vec::new();
        for slot in self.written_in(operations.clone()) {
            if self.emit.is_read_behind(block, slot, operations.end) {
                let form = self.form_of(slot, &divided);
                let parts = self.parts_of(slot, form);
                let types = parts.iter().map(|&part| self.emit.builder.func.dfg.value_type(part)).collect();
                kept.push(Kept { slot, form, types });
                values.push(parts);
            }
        }
        for &ty in kept.iter().flat_map(|kept| &kept.types) {
            self.emit.builder.append_block_param(done, ty);
        }
        self.emit.builder.ins().jump(done, &arguments(&values));
        self.emit.builder.seal_block(others);

        self.switch(others);
        self.emit.restore(known.clone());
        self.emit.checked.clone_from(&checked);
        self.take_turns(block, operations.clone(), &kept, done);

        self.emit.builder.seal_block(done);
        self.switch(done);
        self.emit.restore(known);
        self.emit.checked = checked;
        self.emit.mask = all;
        let parameters = self.emit.builder.block_params(done).to_vec();
        let mut parameters = &parameters[..];
        for Kept { slot, form, types } in kept {
            let (own, rest) = parameters.split_at(types.len());
            parameters = rest;
            let value = match form {
                Form::Uniform => Known::lanes(Lanes::Uniform(own[0])),
                Form::Truth => Known::Input(Input::Predicate(Predicate::Uniform(own[0]))),
                Form::Steps(step) => Known::Steps(Steps { bases: own.into(), step }),
                Form::Lanes => Known::lanes(Lanes::Vector(own.into())),
                Form::Bits => Known::Input(Input::Predicate(Predicate::Bits(own[0]))),
            };
            self.emit.set_slot(slot, value, None);
        }
        Some(operations.end)
    }

    /// The code of turns: as long as there are lanes left, those that agree with the first of them.
    fn take_turns(&mut self, block: u32, operations: Range<u32>, kept: &[Kept], done: Label) {
        let turn = self.label();
        self.emit.builder.append_block_param(turn, I32);
        let mut first = vec![self.emit.builder.ins().iconst(I32, i64::from(ALL))];
        for &ty in kept.iter().filter(|kept| kept.form.is_each_lane()).flat_map(|kept| &kept.types) {
            self.emit.builder.append_block_param(turn, ty);
            first.push(constant(&mut self.emit.builder, ty, 0));
        }
        self.emit.builder.ins().jump(turn, &arguments(&[first]));
        self.switch(turn);
        let parameters = self.emit.builder.block_params(turn).to_vec();
        let (left, mut before) = (parameters[0], &parameters[1..]);
        self.emit.mask = left;
        let leader = self.emit.builder.ins().ctz(left);
        self.emit.agreement = Some(Agreement::with(leader, left));
        self.emit.partial = Some(Vec::new());
        self.span(block, operations, None);
        self.emit.partial = None;
        self.emit.agreement = None;
        let ran = self.emit.mask;
        let (mut next, mut last) = (Vec::new(), Vec::new());
        for Kept { slot, form, types } in kept {
            let mut parts = self.parts_of(*slot, *form);
            if form.is_each_lane() {
                let (own, rest) = before.split_at(types.len());
                before = rest;
                parts = self.chosen(ran, *form, &parts, own);
                next.extend_from_slice(&parts);
            }
            last.push(parts);
        }
        let builder = &mut self.emit.builder;
        let left = builder.ins().band_not(left, ran);
        next.insert(0, left);
        builder.ins().brif(left, turn, &arguments(&[next]), done, &arguments(&last));
        builder.seal_block(turn);
    }

    /// Emits the operations of a span. `others` is where code for lanes that do not agree is.
    fn span(&mut self, block: u32, operations: Range<u32>, others: Option<Label>) {
        self.emit.ahead = operations.clone();
        let Range { start: mut index, end } = operations;
        while index < end {
            self.at(index);
            let kind = &self.emit.unit.operation(index).kind;
            if matches!(kind, Kind::Load { .. } | Kind::Store { .. }) {
                self.settle(others);
            }
            if let Some(next) = self.emit.batch(block, index..end) {
                index = next;
                continue;
            }
            self.emit.operation(index);
            if matches!(kind, Kind::Store { .. }) {
                // What has been stored is not stored again: lanes have to agree before.
                self.emit.agreement = None;
            }
            index += 1;
        }
        self.settle(others);
    }

    /// Goes elsewhere if lanes do not agree in what they have to so far.
    fn settle(&mut self, others: Option<Label>) {
        let wrong = self.emit.agreement.as_mut().and_then(|agreement| agreement.wrong.take());
        if let (Some(wrong), Some(others)) = (wrong, others) {
            let agreed = self.label();
            self.emit.builder.ins().brif(wrong, others, &[], agreed, &[]);
            self.emit.builder.seal_block(agreed);
            self.switch(agreed);
        }
    }

    /// The slots that operations write, each once.
    fn written_in(&self, operations: Range<u32>) -> Vec<u32> {
        let unit = self.emit.unit;
        let mut written = Vec::new();
        let mut seen = Set::new(unit.code.slots.len());
        for index in operations {
            self.emit.each_access(index, &mut |slot, write| {
                if write && !seen.contains(slot) {
                    seen.insert(slot);
                    written.push(slot);
                }
            });
        }
        written
    }

    fn form_of(&mut self, slot: u32, divided: &Set) -> Form {
        match self.emit.known(slot) {
            Known::Steps(steps) if !divided.contains(slot) => Form::Steps(steps.step),
            Known::Input(Input::Lanes(Lanes::Uniform(_))) if !divided.contains(slot) => Form::Uniform,
            Known::Input(Input::Predicate(Predicate::Uniform(_))) if !divided.contains(slot) => Form::Truth,
            Known::Input(Input::Predicate(_)) => Form::Bits,
            Known::Steps(_) | Known::Input(Input::Lanes(_)) => Form::Lanes,
        }
    }

    /// What a slot holds, in a form.
    fn parts_of(&mut self, slot: u32, form: Form) -> Vec<Value> {
        let known = self.emit.known(slot);
        let builder = &mut self.emit.builder;
        match (known, form) {
            (Known::Steps(steps), Form::Uniform | Form::Steps(_)) => steps.bases.into(),
            (Known::Steps(steps), _) => self.emit.spread(&steps).vectors(&mut self.emit.builder).into(),
            (Known::Input(Input::Lanes(lanes)), Form::Uniform | Form::Steps(_)) => {
                vec![lanes.lane(builder, 0)]
            }
            (Known::Input(Input::Lanes(lanes)), _) => lanes.vectors(builder).into(),
            (Known::Input(Input::Predicate(predicate)), Form::Truth) => vec![predicate.uniform(builder)],
            (Known::Input(Input::Predicate(predicate)), _) => vec![predicate.bits(builder)],
        }
    }

    /// What lanes have that ran just now or before.
    fn chosen(&mut self, ran: Value, form: Form, now: &[Value], before: &[Value]) -> Vec<Value> {
        let builder = &mut self.emit.builder;
        let running = Predicate::Bits(ran);
        if matches!(form, Form::Bits) {
            let now = builder.ins().band(now[0], ran);
            let before = builder.ins().band_not(before[0], ran);
            return vec![builder.ins().bor(now, before)];
        }
        let (now, before) = (Lanes::Vector(now.into()), Lanes::Vector(before.into()));
        Lanes::select(builder, &running, &now, &before).vectors(builder).into()
    }
}

fn arguments(values: &[Vec<Value>]) -> Vec<BlockArg> {
    values.iter().flatten().copied().map(BlockArg::Value).collect()
}
