//! Indices that a division has made. `collapse`d loops take rows and columns from one counter, and
//! lanes with neighbouring counters mostly have the same row: what is computed from a quotient is
//! then the same in all lanes or in equal steps.
//!
//! Code for a span of operations is made twice for that. The first time all lanes are taken
//! to agree in all quotients, which is checked by those of the first and the last lane before
//! memory is touched. If they do not agree, lanes take turns: those that agree with the first one
//! that is left run the second piece of code, then others. [`Agreement`] is what both rely on.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use gangway_simt::{Compute, Kind, Source as From};
use rustc_hash::FxHashMap;

use crate::abi::LANES;
use crate::analysis::liveness::Set;
use crate::analysis::quotients::{Form, Next, Rate, divides, divisor, form, form_of, is_small};
use crate::analysis::shape::{MOST_STEP, Shape, steps_of};
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::{Input, Output};
use crate::cranelift::state::{Known, Ordered, Source, Steps};
use crate::cranelift::steps::beyond;
use crate::cranelift::value::Lanes;

/// Operations of a span.
const MOST: usize = 96;

/// What becomes of an operation in lanes that agree.
pub(crate) enum Agreed {
    /// Nothing that depends on it.
    Other,
    Result(Known),
    /// Any values in the order of the lanes, which a shift or a mask makes quotients of.
    Lanes(Noted),
}

/// Such values, to be noted when the slot has been written.
pub(crate) struct Noted(Ordered);

/// A span of operations with accesses whose addresses quotients are in.
pub(crate) struct Span {
    pub operations: Range<u32>,
    /// Slots in which lanes may differ that do not agree.
    pub divided: Set,
}

impl Emitter<'_, '_> {
    /// Whether lanes may have to agree in what an operation gives.
    pub fn divides(&self, index: u32) -> bool {
        let operation = self.unit.operation(index);
        let Kind::Compute(compute) = &operation.kind else { return false };
        divides(operation) || self.ordered_of(compute).is_some()
    }

    /// What is known of the first source of an operation, if that is in the order of the lanes.
    fn ordered_of(&self, compute: &Compute) -> Option<&Ordered> {
        let read = compute.sources.first()?;
        let From::Slot(slot) = read.source else { return None };
        let ordered = self.agreement.as_ref()?.ordered.get(&slot)?;
        (self.ty(slot).bits() == read.ty.bits()).then_some(ordered)
    }

    /// The span that begins with the first of some operations, if that divides a value of
    /// equal steps.
    pub fn span_of(&mut self, operations: Range<u32>) -> Option<Span> {
        let unit = self.unit;
        let start = operations.start;
        let operation = unit.operation(start);
        let form = form_of(operation).filter(|&form| form != Form::Wide)?;
        let Kind::Compute(compute) = &operation.kind else { return None };
        let dividend = compute.sources[0];
        let From::Slot(slot) = dividend.source else { return None };
        let known = self.known(slot);
        let Some(Known::Steps(steps)) = self.narrowed(known, dividend.ty) else { return None };
        let small =
            form != Form::Product && divisor(compute).is_some_and(|divisor| is_small(divisor, steps.step));
        if steps.bases.len() != 1 || steps.step == 0 {
            return None;
        }
        if small && !self.is_begun(operations.clone(), Rate::of_steps(steps.step, compute)?) {
            return None;
        }
        let mut divided = Set::new(unit.code.slots.len());
        let (mut end, mut stores) = (None, false);
        for index in operations.take(MOST) {
            let operation = unit.operation(index);
            let address = match &operation.kind {
                Kind::Compute(_) | Kind::Move { .. } | Kind::Repack { .. } | Kind::ConvertAddress { .. } => {
                    None
                }
                // What one lane stores another may load in a later turn.
                Kind::Load { access, address, .. } if !access.strong && !stores => Some(address),
                Kind::Store { access, address, .. } if !access.strong => {
                    stores = true;
                    Some(address)
                }
                _ => break,
            };
            if operation.guard.is_some() {
                break;
            }
            if address.and_then(|address| address.slot()).is_some_and(|base| divided.contains(base)) {
                end = Some(index + 1);
            }
            let mut differs = divides(operation);
            operation.each_slot(&mut |slot, write| differs |= !write && divided.contains(slot));
            if differs {
                operation.each_slot(&mut |slot, write| {
                    if write {
                        divided.insert(slot);
                    }
                });
            }
        }
        Some(Span { operations: start..end?, divided })
    }

    /// Whether a division in several operations begins with the first of some, which takes values of a rate.
    fn is_begun(&self, operations: Range<u32>, first: Rate) -> bool {
        let mut rates: FxHashMap<u32, Rate> = FxHashMap::default();
        for index in operations.clone().take(MOST) {
            let operation = self.unit.operation(index);
            let next = match &operation.kind {
                Kind::Compute(compute) if operation.guard.is_none() => {
                    let rate = match compute.sources.first().map(|read| read.source) {
                        _ if index == operations.start => Some(first),
                        Some(From::Slot(slot)) => rates.get(&slot).copied(),
                        _ => None,
                    };
                    rate.and_then(|rate| rate.after(compute))
                }
                _ => None,
            };
            operation.each_slot(&mut |slot, write| match next {
                Some(Next::Ordered(rate)) if write => drop(rates.insert(slot, rate)),
                _ if write => drop(rates.remove(&slot)),
                _ => {}
            });
            if matches!(next, Some(Next::Quotient { .. })) {
                return true;
            }
        }
        false
    }

    /// What an operation gives in lanes that agree, if it is one on which they have to.
    pub fn agree(&mut self, compute: &Compute) -> Agreed {
        self.try_agree(compute).unwrap_or(Agreed::Other)
    }

    fn try_agree(&mut self, compute: &Compute) -> Option<Agreed> {
        let leader = self.agreement.as_ref()?.leader;
        let register = self.ty(compute.results[0].slot?);
        if register.bits() < 32 {
            return None;
        }
        let (form, sources, dropped) = match self.divided(compute) {
            Some((sources, Next::Ordered(rate))) => {
                let fits = compute.algebra?.ty.bits() == register.bits();
                return fits
                    .then(|| Agreed::Lanes(Noted(Ordered { compute: compute.clone(), sources, rate })));
            }
            Some((sources, Next::Quotient { dropped })) => (Form::Quotient, sources, Some(dropped)),
            None => {
                let form = form(compute).filter(|&form| form != Form::Product)?;
                (form, self.agreeing_sources(compute, form)?, None)
            }
        };
        let step = if dropped.is_some() { 0 } else { self.step_of(form, compute, &sources)? };
        let first = leader.unwrap_or_else(|| self.builder.ins().iconst(I32, 0));
        let value = self.value_in(first, compute, &sources)?;
        let wide = self.builder.func.dfg.value_type(value) == I64;
        if register.is_wide() != wide {
            return None;
        }
        let told = self.told_in(first, compute, &sources, dropped)?;
        if form != Form::Wide && leader.is_none() {
            self.expect_order(compute, &sources);
        }
        let known = |base: Value| match step {
            0 => Known::lanes(Lanes::Uniform(base)),
            _ => Known::Steps(Steps { bases: [base].into(), step }),
        };
        let Some(leader) = leader else {
            let last = self.builder.ins().iconst(I32, LANES as i64 - 1);
            let end = self.told_in(last, compute, &sources, dropped)?;
            let distance = self.builder.ins().isub(end, told);
            let expected = step * (LANES as i64 - 1);
            let other = self.builder.ins().icmp_imm_s(IntCC::NotEqual, distance, expected);
            self.disagree(other);
            return Some(Agreed::Result(known(value)));
        };
        let before = self.times(leader, step, wide);
        let base = self.builder.ins().isub(value, before);
        let ordered = form != Form::Wide;
        let told = if step == 0 { told } else { base };
        self.leave_others(leader, told, step, ordered, (compute, &sources, dropped))?;
        Some(Agreed::Result(known(base)))
    }

    /// What an operation makes of a value that is in the order of the lanes, and of a constant.
    fn divided(&mut self, compute: &Compute) -> Option<(Vec<Source>, Next)> {
        let [value, constant] = &compute.sources[..] else { return None };
        let (source, rate) = match self.ordered_of(compute) {
            Some(ordered) => (Source::Ordered(ordered.clone()), ordered.rate),
            None => {
                let known = self.known_source(value.source, value.ty);
                let Known::Steps(steps) = self.narrowed(known, value.ty)? else { return None };
                let rate = Rate::of_steps(steps.step, compute)?;
                let one = steps.bases.len() == 1 && steps.step != 0;
                (Source::Steps(one.then_some(steps)?), rate)
            }
        };
        let next = rate.after(compute)?;
        let Known::Input(constant) = self.known_source(constant.source, constant.ty) else { return None };
        Some((vec![source, Source::Same(constant)], next))
    }

    /// What lanes that agree have the same of, or in equal steps, in a lane: what an operation gives, or what it depends
    /// on, the bits of its first source that it has not dropped.
    fn told_in(
        &mut self,
        lane: Value,
        compute: &Compute,
        sources: &[Source],
        dropped: Option<u32>,
    ) -> Option<Value> {
        let Some(dropped) = dropped else { return self.value_in(lane, compute, sources) };
        let value = match sources.first()? {
            // What has been shifted out since is part of the order.
            Source::Ordered(ordered) => {
                let Ordered { compute, sources, .. } = unshifted(ordered);
                self.value_in(lane, compute, sources)?
            }
            Source::Steps(steps) => self.stepping_in(lane, steps),
            Source::Same(_) => return None,
        };
        Some(self.builder.ins().ushr_imm_u(value, i64::from(dropped)))
    }

    /// Notes values in the order of the lanes.
    pub fn note_ordered(&mut self, slot: Option<u32>, Noted(ordered): Noted) {
        if let (Some(slot), Some(agreement)) = (slot, &mut self.agreement) {
            agreement.ordered.insert(slot, ordered);
        }
    }

    /// The sources of an operation, if they are known well enough and not all the same.
    fn agreeing_sources(&mut self, compute: &Compute, form: Form) -> Option<Vec<Source>> {
        let mut sources = Vec::with_capacity(3);
        let mut differ = false;
        for read in &compute.sources {
            let known = self.known_source(read.source, read.ty);
            sources.push(match self.narrowed(known, read.ty)? {
                Known::Steps(steps) if steps.bases.len() == 1 => {
                    differ = true;
                    Source::Steps(steps)
                }
                Known::Steps(_) => return None,
                Known::Input(input) => Source::Same(input),
            });
        }
        // Only a dividend may differ.
        let first = !sources.iter().skip(1).any(|source| !matches!(source, Source::Same(_)));
        (differ && (first || form == Form::Wide)).then_some(sources)
    }

    /// What an operation gives in a lane, an `I32`.
    fn value_in(&mut self, lane: Value, compute: &Compute, sources: &[Source]) -> Option<Value> {
        let mut inputs = Vec::with_capacity(sources.len());
        for source in sources {
            inputs.push(match source {
                Source::Same(input) => input.clone(),
                Source::Steps(steps) => Input::Lanes(Lanes::Uniform(self.stepping_in(lane, steps))),
                Source::Ordered(Ordered { compute, sources, .. }) => {
                    Input::Lanes(Lanes::Uniform(self.value_in(lane, compute, sources)?))
                }
            });
        }
        let outputs = self.pure(compute, &inputs)?;
        let Output::Lanes(lanes) = outputs.first else { return None };
        Some(lanes.lane(&mut self.builder, 0))
    }

    fn stepping_in(&mut self, lane: Value, steps: &Steps) -> Value {
        let base = steps.bases[0];
        let wide = self.builder.func.dfg.value_type(base) == I64;
        let offset = self.times(lane, steps.step, wide);
        self.builder.ins().iadd(base, offset)
    }

    /// The steps of what an operation gives in lanes that agree, 0 where it is the same. None where too few lanes
    /// would agree.
    fn step_of(&self, form: Form, compute: &Compute, sources: &[Source]) -> Option<i64> {
        if form == Form::Wide {
            let shape = |source: &Source| match source {
                Source::Steps(steps) => Shape::Steps(steps.step),
                _ => Shape::Uniform,
            };
            let shapes: Vec<Shape> = sources.iter().map(shape).collect();
            return steps_of(compute, &shapes).filter(|step| step.abs() <= MOST_STEP);
        }
        let Source::Steps(Steps { step, .. }) = *sources.first()? else { return None };
        let small = divisor(compute).is_some_and(|divisor| is_small(divisor, step));
        (!small).then_some(if form == Form::Rest { step } else { 0 })
    }

    /// Values of equal steps are in order only as far as they do not wrap around.
    fn expect_order(&mut self, compute: &Compute, sources: &[Source]) {
        if let Some(over) = self.wraps(compute, sources) {
            self.disagree(over);
        }
    }

    /// Whether a dividend wraps around.
    fn wraps(&mut self, compute: &Compute, sources: &[Source]) -> Option<Value> {
        match sources.first()? {
            Source::Steps(steps) => {
                let ty = compute.sources.first()?.ty;
                let (base, step) = (steps.bases[0], steps.step);
                let end = self.builder.ins().iadd_imm_s(base, step * (LANES as i64 - 1));
                Some(self.builder.ins().icmp(beyond(ty.is_signed(), step), end, base))
            }
            Source::Ordered(Ordered { compute, sources, .. }) => self.wraps(compute, sources),
            Source::Same(_) => None,
        }
    }

    fn disagree(&mut self, wrong: Value) {
        let others = self.agreement.as_mut().and_then(|agreement| agreement.wrong.take());
        let wrong = self.or(others, wrong);
        if let Some(agreement) = &mut self.agreement {
            agreement.wrong = Some(wrong);
        }
    }

    /// In a turn, leaves out the lanes that are told something else than steps from a base: those before the leader have
    /// had their turn, and from some lane on all do.
    fn leave_others(
        &mut self,
        leader: Value,
        base: Value,
        step: i64,
        ordered: bool,
        (compute, sources, dropped): (&Compute, &[Source], Option<u32>),
    ) -> Option<()> {
        let wide = self.builder.func.dfg.value_type(base) == I64;
        let agrees = |emitter: &mut Self, lane: Value| {
            let told = emitter.told_in(lane, compute, sources, dropped)?;
            let offset = emitter.times(lane, step, wide);
            let expected = emitter.builder.ins().iadd(base, offset);
            let expected = if step == 0 { base } else { expected };
            Some(emitter.builder.ins().icmp(IntCC::Equal, told, expected))
        };
        let wraps = if ordered { self.wraps(compute, sources) } else { None };
        // Mostly all that are left agree, or all that have agreed in something else.
        let (left, before) = self.agreement.as_ref().map(|agreement| (agreement.left, agreement.last))?;
        let end = match before {
            Some(last) => last,
            None => self.builder.ins().iconst(I32, LANES as i64 - 1),
        };
        let mut all = agrees(self, end)?;
        if let Some(wraps) = wraps {
            all = self.builder.ins().band_not(all, wraps);
        }
        let (some, found) = (self.builder.create_block(), self.builder.create_block());
        self.builder.append_block_param(found, I32);
        self.builder.ins().brif(all, found, &[BlockArg::Value(end)], some, &[]);
        self.builder.seal_block(some);
        self.builder.switch_to_block(some);
        let mut last = leader;
        for distance in [16, 8, 4, 2, 1] {
            let lane = self.builder.ins().iadd_imm_s(last, distance);
            let there = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, lane, end);
            let same = agrees(self, lane)?;
            let both = self.builder.ins().band(there, same);
            last = self.builder.ins().select(both, lane, last);
        }
        if let Some(wraps) = wraps {
            // Then nothing is known but of the leader.
            last = self.builder.ins().select(wraps, leader, last);
        }
        self.builder.ins().jump(found, &[BlockArg::Value(last)]);
        self.builder.seal_block(found);
        self.builder.switch_to_block(found);
        let last = self.builder.block_params(found)[0];
        let builder = &mut self.builder;
        let (one, two) = (builder.ins().iconst(I32, 1), builder.ins().iconst(I32, 2));
        // Of all lanes that is two to the power of 32, which is zero.
        let end = builder.ins().ishl(two, last);
        let begin = builder.ins().ishl(one, leader);
        let lanes = builder.ins().isub(end, begin);
        self.mask = builder.ins().band(left?, lanes);
        if let Some(agreement) = &mut self.agreement {
            agreement.last = Some(last);
        }
        Some(())
    }

    /// The number of a lane times a step.
    fn times(&mut self, lane: Value, step: i64, wide: bool) -> Value {
        let lane = if wide { self.builder.ins().uextend(I64, lane) } else { lane };
        self.builder.ins().imul_imm_s(lane, step)
    }
}

/// What values were before they have been shifted left.
fn unshifted(ordered: &Ordered) -> &Ordered {
    match ordered.sources.first() {
        Some(Source::Ordered(before)) if ordered.rate.left > 0 => unshifted(before),
        _ => ordered,
    }
}
