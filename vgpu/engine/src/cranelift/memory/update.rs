//! Updates of each lane's own memory: a load, an operation on what has been loaded, and a store of the result to the
//! same place, as in private copies of arrays that are reduced.
//!
//! Apart, each of the two accesses would be done for all lanes: as many pointers live from the one to the other, and
//! scalars are made to vectors and taken apart again. No two lanes share a place, so that each lane may do all of it
//! before the next one begins. Then it is one or two instructions of the processor.

use std::ops::Range;

use cranelift_codegen::ir::types::{I32, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, SourceLoc, Value};
use gangway_simt::{Access, Address, Compute, Kind, Operation, Source, Space};

use super::own::Own;
use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::{Input, Output};
use crate::cranelift::state::field;
use crate::cranelift::value::{Lanes, Predicate, cast};

/// The operations of an update.
const OPERATIONS: u32 = 3;

/// An update: of what its operations leave in registers nothing is read later.
struct Update<'u> {
    address: &'u Address,
    slot: u32,
    load: Access,
    loaded: u32,
    compute: &'u Compute,
    /// The register that is stored.
    result: u32,
    store: Access,
}

impl<'a> Emitter<'a, '_> {
    /// Emits the operations at the beginning of a part of a block as an update, if they are one. The number of the
    /// operation behind them.
    pub fn update_own(&mut self, block: u32, operations: &Range<u32>) -> Option<u32> {
        let start = operations.start;
        let update = self.update(block, operations)?;
        let sources: Vec<Input> = update.compute.sources.iter().map(|&read| self.read(read)).collect();
        let is_lane =
            |input: &Input| !matches!(input, Input::Predicate(Predicate::Bits(_) | Predicate::Each(_)));
        if !sources.iter().all(is_lane) || !self.computes_one(&update, &sources) {
            return None;
        }
        self.ahead.start = start;
        self.site = self.site_of(Some(update.slot), false);
        let Own { starts, offset, wrong } = self.own(update.address, update.slot, update.load)?;
        let (slow, done) = self.part(wrong);
        let starts = self.each_start(&starts);
        let stride = self.load_fixed_field(I64, field!(local_stride));
        let mut own = self.load_fixed_field(I64, field!(local));
        for (lane, start) in starts.into_iter().enumerate() {
            let pointer = self.builder.ins().iadd(own, start);
            let loaded = Lanes::Uniform(self.load_value(pointer, offset, update.load.ty));
            let sources: Vec<Input> = sources.iter().map(|source| self.of_lane(source, lane)).collect();
            if let Some(updated) = self.updated(&update, &sources, loaded) {
                let value = updated.lane(&mut self.builder, 0);
                self.store_value(value, pointer, offset, update.store.ty);
            }
            own = self.builder.ins().iadd(own, stride);
        }
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        let place = self.address(update.address);
        let mut loaded = self.load_lanes(&place, update.load, None).into_iter();
        let updated = loaded.next().and_then(|loaded| self.updated(&update, &sources, loaded));
        self.builder.set_srcloc(SourceLoc::new(start + OPERATIONS - 1));
        self.site = self.site_of(Some(update.slot), true);
        if let Some(updated) = updated {
            self.store_lanes(&place, &[updated], update.store, None);
        }
        self.builder.ins().jump(done, &[]);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        Some(start + OPERATIONS)
    }

    /// The update that some operations begin with.
    fn update(&mut self, block: u32, operations: &Range<u32>) -> Option<Update<'a>> {
        let lanes_go_apart = self.partial.is_some() || self.alone.is_some() || self.agreement.is_some();
        if !self.converged || lanes_go_apart || operations.len() < OPERATIONS as usize {
            return None;
        }
        let (unit, start) = (self.unit, operations.start);
        let plain =
            |operation: &Operation| operation.guard.is_none() && !unit.shapes.is_speculative(operation);
        let [load, compute, store] = [0, 1, 2].map(|number| unit.operation(start + number));
        if ![load, compute, store].into_iter().all(plain) {
            return None;
        }
        let Kind::Load { access: load, address, results } = &load.kind else { return None };
        let Kind::Compute(compute) = &compute.kind else { return None };
        let Kind::Store { access: store, address: place, sources } = &store.kind else { return None };
        let (&[Some(loaded)], &[Source::Slot(result)]) = (&results[..], &sources[..]) else { return None };
        let own = [load, store].into_iter().all(|access| access.space == Space::Local && !access.strong);
        let slot = address.slot()?;
        let written: Vec<u32> = compute.results.iter().filter_map(|result| result.slot).collect();
        let is_update = own
            && address == place
            && load.size() == store.size()
            && !compute.carries
            && written == [result]
            && compute.results[0].slot == Some(result)
            && slot != loaded
            && slot != result
            && compute.sources.iter().any(|read| read.source == Source::Slot(loaded));
        let end = start + OPERATIONS;
        let lasts = [loaded, result].into_iter().any(|slot| self.is_read_behind(block, slot, end));
        let (load, store) = (*load, *store);
        (is_update && !lasts).then_some(Update { address, slot, load, loaded, compute, result, store })
    }

    /// Whether there is a sequence for the operation of one lane.
    fn computes_one(&mut self, update: &Update<'_>, sources: &[Input]) -> bool {
        // What it is of does not matter: nobody uses it.
        let any = match update.load.ty.is_wide() {
            true => self.warp,
            false => self.builder.ins().ireduce(I32, self.warp),
        };
        let sources: Vec<Input> = sources.iter().map(|source| self.of_lane(source, 0)).collect();
        self.updated(update, &sources, Lanes::Uniform(any)).is_some()
    }

    /// What is stored if this has been loaded.
    fn updated(&mut self, update: &Update<'_>, sources: &[Input], loaded: Lanes) -> Option<Lanes> {
        let Update { load, compute, store, .. } = update;
        let (from, to) = (self.ty(update.loaded), self.ty(update.result));
        let loaded = loaded.extend(&mut self.builder, load.ty, from);
        let sources = compute.sources.iter().zip(sources).map(|(read, source)| match read.source {
            Source::Slot(slot) if slot == update.loaded => Input::Lanes(loaded.clone()),
            _ => source.clone(),
        });
        let sources: Vec<Input> = sources.collect();
        let Output::Lanes(lanes) = self.pure(compute, &sources)?.first else { return None };
        let lanes = lanes.extend(&mut self.builder, compute.results[0].ty, to);
        Some(self.fit(lanes, store.ty))
    }

    /// Each lane's of some numbers of 32 bits in vectors, with 64 bits. They leave the vectors two at a time.
    fn each_start(&mut self, starts: &[Value]) -> Vec<Value> {
        let mut each = Vec::with_capacity(LANES);
        for &four in starts {
            let four = cast(&mut self.builder, I64X2, four);
            for half in [0, 1] {
                let both = self.builder.ins().extractlane(four, half);
                let low = self.builder.ins().ireduce(I32, both);
                each.push(self.builder.ins().uextend(I64, low));
                each.push(self.builder.ins().ushr_imm_u(both, 32));
            }
        }
        each
    }

    /// The same of one lane.
    fn of_lane(&mut self, input: &Input, lane: usize) -> Input {
        match input {
            Input::Lanes(lanes) => Input::Lanes(Lanes::Uniform(lanes.lane(&mut self.builder, lane))),
            Input::Predicate(predicate) => Input::Predicate(predicate.clone()),
        }
    }
}
