//! Loads that follow each other with nothing but arithmetic in between. Their conditions are
//! checked for all of them at once. Then they are done for four lanes after another, together with
//! the arithmetic.
//!
//! One by one, each load would be done for all lanes before the next, and several of them need more
//! registers than there are. Nothing writes memory between the loads of a batch. So Cranelift may
//! be told that what they load does not change, and it puts each load where the value is used. Two
//! things limit this. The addresses are parameters of a block that begins with the batch, so that
//! no load moves to before it. At the end the values become parameters of another block, so that
//! no load moves beyond it. The order of those parameters is the order in which all is done.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    BlockArg, InstBuilder, SourceLoc, StackSlot, StackSlotData, StackSlotKind, Value,
};
use gangway_simt::{Access, Address, Base, End, Kind, Place, Source, Space};
use rustc_hash::FxHashMap;

use super::reach::PAGE;
use crate::abi::LANES;
use crate::analysis::liveness::Set;
use crate::analysis::shape::Shape;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::Known;
use crate::cranelift::value::{Lanes, Predicate, QUADS, cast, constant};
use crate::support::Helper;

/// Loads of a batch: each takes a register for the address of each row.
const MOST_LOADS: usize = 12;
/// Operations of a batch.
const MOST: u32 = 256;
/// Bytes that all lanes load at most.
const ALL_LANES: usize = 8 * LANES;

/// A load of a batch.
struct Load {
    index: u32,
    access: Access,
    /// The register with the address, and what was in it at that place.
    base: (u32, Known),
    /// The first address of each row; while the batch is done, as parameters of the block in which
    /// that begins.
    pointers: Vec<Value>,
    /// Nonzero where a helper has to do it.
    wrong: Value,
    /// Where it remembers in check mode what it may access.
    site: u8,
    /// Where some lanes do not run: the address without its offset, and the offset.
    stretch: Option<(Value, i64)>,
}

/// Ranges of bytes that lie beside each other as these do in their pages, less than twice as long,
/// and so that some of those go beyond the end of a page only if some of these do. Ranges at
/// distances of whole pages are the same one, and those that overlap become one.
fn within_pages(ranges: &[Range<i64>]) -> Vec<Range<i64>> {
    let middle = PAGE / 2;
    let mut moved: Vec<Range<i64>> = ranges
        .iter()
        .map(|range| {
            let start = (range.start + middle).rem_euclid(PAGE) - middle;
            start..start + (range.end - range.start)
        })
        .collect();
    moved.sort_unstable_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<i64>> = Vec::new();
    let mut first = 0;
    for range in moved {
        match joined.last_mut() {
            Some(last) if range.start < last.end && range.end - last.start < 2 * first => {
                last.end = last.end.max(range.end);
            }
            _ => {
                first = range.end - range.start;
                joined.push(range);
            }
        }
    }
    joined
}

impl Emitter<'_, '_> {
    /// Emits the operations at the beginning of a part of a block as a batch, if they can be one.
    /// The number of the operation where it ends.
    pub fn batch(&mut self, block: u32, operations: Range<u32>) -> Option<u32> {
        let extent = self.extent(operations)?;
        let (mut loads, mut later) = (Vec::new(), Vec::new());
        let mut written = Set::new(self.unit.code.slots.len());
        for index in extent.clone() {
            self.builder.set_srcloc(SourceLoc::new(index));
            if self.is_candidate(index)
                && let Some(load) = self.begin(index)
            {
                loads.push(load);
            } else if self.is_candidate(index) || self.is_early(index) {
                self.operation(index);
                continue;
            }
            self.each_access(index, &mut |slot, write| {
                if write {
                    written.insert(slot);
                }
            });
            later.push(index);
        }
        self.make_ready(&mut loads);
        let pointer = loads.first().map(|load| load.pointers[0]);
        let mut loads = loads.into_iter().peekable();
        for index in later {
            self.builder.set_srcloc(SourceLoc::new(index));
            match loads.next_if(|load| load.index == index) {
                Some(load) => self.finish(&load),
                None => self.operation(index),
            }
        }
        if let Some(pointer) = pointer {
            self.pin(block, extent.end, &written, pointer);
        }
        Some(extent.end)
    }

    pub fn each_access(&self, index: u32, tell: &mut dyn FnMut(u32, bool)) {
        self.unit.operation(index).each_slot(tell);
    }

    fn has_general_result(&self, index: u32) -> bool {
        let mut general = false;
        self.each_access(index, &mut |slot, write| {
            general |= write && self.unit.shapes.slots[slot as usize] == Shape::General;
        });
        general
    }

    /// Whether an operation of a batch comes before those that are done for four lanes after another.
    fn is_early(&self, index: u32) -> bool {
        self.loads_alike(index) || !self.has_general_result(index)
    }

    /// Whether an operation loads one value for all lanes of a row.
    fn loads_alike(&self, index: u32) -> bool {
        let operation = self.unit.operation(index);
        let Kind::Load { access, address: Address { base: Base::Slot(base), .. }, .. } = &operation.kind
        else {
            return false;
        };
        operation.guard.is_none()
            && access.count == 1
            && !access.strong
            && matches!(access.space, Space::Global | Space::Shared)
            && matches!(self.unit.shapes.slots[*base as usize], Shape::Uniform | Shape::Steps(0))
    }

    /// The operations that can be a batch. First come those whose results have a shape and those that load one
    /// value for many lanes, then the others: so none of the first kind may depend on the second, or replace what that reads.
    fn extent(&self, operations: Range<u32>) -> Option<Range<u32>> {
        if !self.converged || self.unit.watch || !self.is_candidate(operations.start) {
            return None;
        }
        let slots = self.unit.code.slots.len();
        let most = MOST_LOADS * usize::from(self.unit.row) / LANES;
        let (mut read, mut written) = (Set::new(slots), Set::new(slots));
        let mut loads = 0;
        let mut end = operations.start;
        for index in operations.clone().take(MOST as usize) {
            let candidate = self.is_candidate(index);
            if !candidate && !self.computes(index) && !self.loads_alike(index) || loads == most && candidate {
                break;
            }
            let computed = !candidate && !self.is_early(index);
            let mut follows = true;
            if !computed {
                self.each_access(index, &mut |slot, write| {
                    follows &= !(written.contains(slot) || write && read.contains(slot));
                });
            }
            if !follows {
                break;
            }
            loads += usize::from(candidate);
            self.each_access(index, &mut |slot, write| {
                if write && (candidate || computed) {
                    written.insert(slot);
                } else if computed {
                    read.insert(slot);
                }
            });
            end = index + 1;
        }
        (loads > 1).then_some(operations.start..end)
    }

    /// Whether an operation depends on slots only and has no effect but on them.
    fn computes(&self, index: u32) -> bool {
        let operation = self.unit.operation(index);
        if operation.guard.is_some()
            || self.unit.shapes.is_speculative(operation)
            || self.agreement.is_some() && self.divides(index)
        {
            return false;
        }
        let lasts = |source: Source| !matches!(source, Source::Special(special) if special.is_time());
        match &operation.kind {
            Kind::Compute(compute) => compute.sources.iter().all(|read| lasts(read.source)),
            Kind::Move { sources, .. } => sources.iter().all(|read| lasts(read.source)),
            Kind::Repack { sources, .. } => sources.iter().all(|&source| lasts(source)),
            Kind::ConvertAddress { source, .. } => lasts(*source),
            Kind::Load { access, address, .. } => {
                !access.uniform && matches!(address.base, Base::Place(Place::Slot(_) | Place::Parameter(_)))
            }
            _ => false,
        }
    }

    /// Whether an operation looks like a load of consecutive elements, one for each lane.
    fn is_candidate(&self, index: u32) -> bool {
        let operation = self.unit.operation(index);
        let Kind::Load { access, address: Address { base: Base::Slot(base), .. }, .. } = &operation.kind
        else {
            return false;
        };
        let size = access.ty.size();
        !access.uniform
            && operation.guard.is_none()
            && access.count == 1
            && matches!(size, 4 | 8)
            && !access.strong
            && !matches!(access.space, Space::Local | Space::Parameters)
            && self.steps_by(*base, size.into())
            && self.has_general_result(index)
    }

    /// Whether a slot holds values in such steps, as a rule or while lanes agree.
    fn steps_by(&self, slot: u32, size: i64) -> bool {
        let now = || match self.noted(slot) {
            Some(Known::Steps(steps)) => steps.step == size,
            _ => false,
        };
        self.unit.shapes.slots[slot as usize] == Shape::Steps(size) || self.agreement.is_some() && now()
    }

    /// Finds where a load goes.
    fn begin(&mut self, index: u32) -> Option<Load> {
        let Kind::Load { access, address, .. } = &self.unit.operation(index).kind else { return None };
        let access = *access;
        let slot = address.slot()?;
        let base = (slot, self.known(slot));
        self.ahead.start = index;
        let reach = self.reach(address, access, None, false)?;
        let size = i64::from(access.ty.size());
        let stretches = self.stretches(&reach, access.space, size)?;
        let start = match (&base.1, stretches) {
            (Known::Steps(steps), true) => steps.bases.first().copied(),
            _ => None,
        };
        // Of a narrow address the pointer is what it has been made to.
        let stretch = stretches.then(|| match start {
            Some(start) if self.builder.func.dfg.value_type(start) == I64 => (start, address.offset),
            _ => (reach.pointers[0], 0),
        });
        let load = Load {
            index,
            access,
            base,
            pointers: reach.pointers,
            wrong: reach.wrong,
            site: self.site,
            stretch,
        };
        (reach.step == size).then_some(load)
    }

    /// Goes to a block that has the addresses for parameters: those of memory, or, where something
    /// is wrong, those of what helpers have loaded lane by lane.
    fn make_ready(&mut self, loads: &mut [Load]) {
        let mut wrong = None;
        for load in &*loads {
            wrong = Some(self.or(wrong, load.wrong));
        }
        let Some(mut wrong) = wrong else { return };
        let mut stretches: FxHashMap<Value, Vec<Range<i64>>> = FxHashMap::default();
        let mut bases = Vec::new();
        for load in &*loads {
            if let Some((base, offset)) = load.stretch {
                let bytes = LANES as i64 * i64::from(load.access.ty.size());
                let ranges = stretches.entry(base).or_default();
                if ranges.is_empty() {
                    bases.push(base);
                }
                ranges.push(offset..offset + bytes);
            }
        }
        let mut bits = None;
        for base in bases {
            for range in within_pages(&stretches[&base]) {
                let more = self.stretch(base, range);
                bits = Some(self.or(bits, more));
            }
        }
        if let Some(bits) = bits {
            let beyond = self.is_beyond_page(bits);
            wrong = self.builder.ins().bor(wrong, beyond);
        }
        let (slow, ready) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        let pointers: Vec<Value> = loads.iter().flat_map(|load| load.pointers.iter().copied()).collect();
        for _ in &pointers {
            self.builder.append_block_param(ready, I64);
        }
        self.builder.ins().brif(wrong, slow, &[], ready, &arguments(&pointers));
        self.builder.seal_block(slow);
        self.builder.switch_to_block(slow);
        let pointers: Vec<Value> =
            loads.iter().enumerate().flat_map(|(number, load)| self.load_slowly(load, number)).collect();
        self.builder.ins().jump(ready, &arguments(&pointers));
        self.builder.seal_block(ready);
        self.builder.switch_to_block(ready);
        let mut parameters = self.builder.block_params(ready).to_vec().into_iter();
        for pointer in loads.iter_mut().flat_map(|load| &mut load.pointers) {
            *pointer = parameters.next().expect("a parameter for each pointer");
        }
    }

    /// Has a helper do one of the loads, if it is that one that something is wrong with: where its
    /// values are.
    fn load_slowly(&mut self, load: &Load, number: usize) -> Vec<Value> {
        let ty = load.access.ty;
        let Kind::Load { address, .. } = &self.unit.operation(load.index).kind else {
            unreachable!("a batch has loads");
        };
        let (slow, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.set_cold_block(done);
        for _ in &load.pointers {
            self.builder.append_block_param(done, I64);
        }
        self.builder.set_srcloc(SourceLoc::new(load.index));
        let scratch = self.scratch();
        if load.stretch.is_some() {
            // Nothing else is wrong, mostly: then only lanes that run load.
            let size = i64::from(ty.size());
            let (there, row) = (self.builder.create_block(), self.builder.create_block());
            self.builder.set_cold_block(there);
            self.builder.set_cold_block(row);
            self.builder.ins().brif(load.wrong, slow, &[], there, &[]);
            self.builder.seal_block(there);
            self.builder.switch_to_block(there);
            let elsewhere = self.elsewhere(load.pointers[0], size, size);
            self.builder.ins().brif(elsewhere, row, &[], done, &arguments(&load.pointers));
            self.builder.seal_block(row);
            self.builder.switch_to_block(row);
            let start = self.builder.ins().stack_addr(I64, scratch, (ALL_LANES * number) as i32);
            let size = self.number(size);
            self.call(Helper::LoadRow, &[self.mask, load.pointers[0], start, size]);
            self.builder.ins().jump(done, &arguments(&[start]));
        } else {
            self.builder.ins().brif(load.wrong, slow, &[], done, &arguments(&load.pointers));
        }
        self.builder.seal_block(slow);
        self.builder.switch_to_block(slow);
        let before = self.known(load.base.0);
        self.note(load.base.0, load.base.1.clone());
        let place = self.address(address);
        self.site = load.site;
        let lanes = self.load_lanes(&place, load.access, None);
        self.note(load.base.0, before);
        let start = self.builder.ins().stack_addr(I64, scratch, (ALL_LANES * number) as i32);
        lanes[0].store(&mut self.builder, start, 0);
        let row = LANES / load.pointers.len() * ty.size() as usize;
        let rows = 0..load.pointers.len();
        let pointers: Vec<Value> =
            rows.map(|number| self.builder.ins().iadd_imm_s(start, (row * number) as i64)).collect();
        self.builder.ins().jump(done, &arguments(&pointers));
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        self.builder.block_params(done).to_vec()
    }

    /// Where helpers' results are put. All batches of a function use the same.
    fn scratch(&mut self) -> StackSlot {
        match self.scratch {
            Some(slot) => slot,
            None => {
                let size = (ALL_LANES * MOST_LOADS) as u32;
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
                *self.scratch.insert(self.builder.create_sized_stack_slot(data))
            }
        }
    }

    /// Loads, as far as the results are used, and wherever they are.
    fn finish(&mut self, load: &Load) {
        let Kind::Load { results, .. } = &self.unit.operation(load.index).kind else {
            unreachable!("a batch has loads");
        };
        let ty = load.access.ty;
        // What is loaded stays as it is until the batch ends; what is not there is a signal all the
        // same.
        let flags = crate::cranelift::state::own_memory().with_readonly().with_can_move();
        // Loaded as a type that no instruction computes with: a load that is part of an instruction
        // of the processor for something else would not be found when it faults.
        let (loaded, vector, per) = if ty.size() == 8 { (I32X4, I64X2, 2) } else { (I64X2, I32X4, 4) };
        let row = LANES / load.pointers.len();
        let values = (0..LANES).step_by(per).map(|lane| {
            let offset = (lane % row) as i32 * ty.size() as i32;
            let value = self.builder.ins().load(loaded, flags, load.pointers[lane / row], offset);
            cast(&mut self.builder, vector, value)
        });
        let lanes = Lanes::Vector(values.collect());
        self.write_lanes(results[0], ty, lanes, None);
    }

    /// Finds which operation reads each slot last in a block, once for all of its batches.
    fn find_last_reads(&mut self, block: u32) {
        if self.last_reads.as_ref().is_some_and(|(of, _)| *of == block) {
            return;
        }
        let graph = &self.unit.code.blocks[block as usize];
        let mut reads = FxHashMap::default();
        for (index, _) in graph.each_operation() {
            self.each_access(index, &mut |slot, write| {
                if !write {
                    reads.insert(slot, index);
                }
            });
        }
        if let End::Branch(guard, ..) = graph.end {
            reads.insert(guard.slot, u32::MAX);
        }
        self.last_reads = Some((block, reads));
    }

    /// Whether what a slot holds before an operation of a block is needed there or later.
    pub fn is_read_behind(&mut self, block: u32, slot: u32, end: u32) -> bool {
        self.find_last_reads(block);
        let reads = &self.last_reads.as_ref().expect("they were just found").1;
        reads.get(&slot).is_some_and(|&last| last >= end)
            || self.unit.liveness.leaves(&self.unit.code.blocks[block as usize], slot)
    }

    /// Has all values computed that somebody needs behind the batch, those of the first lanes
    /// first. The pointer is any of the batch's, which is not null; Cranelift does not know that,
    /// and so takes the parameters for values of their own.
    fn pin(&mut self, block: u32, end: u32, written: &Set, pointer: Value) {
        let unit = self.unit;
        let graph = &unit.code.blocks[block as usize];
        self.find_last_reads(block);
        let reads = &self.last_reads.as_ref().expect("they were just found").1;
        let kept: Vec<u32> = written
            .iter()
            .filter(|slot| {
                reads.get(slot).is_some_and(|&last| last >= end) || unit.liveness.leaves(graph, *slot)
            })
            .filter(|&slot| !parts(self.noted(slot)).is_empty())
            .collect();
        if kept.is_empty() {
            return;
        }
        let (never, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(never);
        // Which part of which slot, lane after lane.
        let mut order = Vec::new();
        for quad in 0..QUADS {
            for &slot in &kept {
                let count = parts(self.noted(slot)).len();
                let each = count.div_ceil(QUADS);
                order.extend((quad * each..count.min((quad + 1) * each)).map(|part| (slot, part)));
            }
        }
        let values: Vec<Value> = order.iter().map(|&(slot, part)| parts(self.noted(slot))[part]).collect();
        for &value in &values {
            let ty = self.builder.func.dfg.value_type(value);
            self.builder.append_block_param(next, ty);
        }
        let null = self.builder.ins().icmp_imm_u(IntCC::Equal, pointer, 0);
        self.builder.ins().brif(null, never, &[], next, &arguments(&values));
        self.builder.seal_block(never);
        self.builder.switch_to_block(never);
        let zero = |value: &Value| {
            let ty = self.builder.func.dfg.value_type(*value);
            constant(&mut self.builder, ty, 0)
        };
        let zeros: Vec<Value> = values.iter().map(zero).collect();
        self.builder.ins().jump(next, &arguments(&zeros));
        self.builder.seal_block(next);
        self.builder.switch_to_block(next);
        let parameters = self.builder.block_params(next).to_vec();
        for (&(slot, part), parameter) in order.iter().zip(parameters) {
            parts_mut(self.noted_mut(slot))[part] = parameter;
        }
    }
}

fn arguments(values: &[Value]) -> Vec<BlockArg> {
    values.iter().copied().map(BlockArg::Value).collect()
}

/// The values of which what a slot holds consists, if lanes differ in it.
fn parts(known: Option<&Known>) -> &[Value] {
    match known {
        Some(Known::Input(Input::Lanes(Lanes::Vector(parts)))) => parts,
        Some(Known::Input(Input::Predicate(Predicate::Each(parts)))) => &**parts,
        Some(Known::Input(Input::Predicate(Predicate::Bits(bits)))) => std::slice::from_ref(bits),
        _ => &[],
    }
}

fn parts_mut(known: Option<&mut Known>) -> &mut [Value] {
    match known {
        Some(Known::Input(Input::Lanes(Lanes::Vector(parts)))) => parts,
        Some(Known::Input(Input::Predicate(Predicate::Each(parts)))) => &mut **parts,
        Some(Known::Input(Input::Predicate(Predicate::Bits(bits)))) => std::slice::from_mut(bits),
        _ => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_pages() {
        let long = |start: i64| start..start + 128;
        // Those of a stencil: a point's neighbours in its row, in others, and in other planes.
        let stencil = [0, -4, 4, -640, 640, -102_400, 102_400].map(long);
        assert_eq!(within_pages(&stencil), [long(-640), -4..132, long(640)]);
        assert_eq!(within_pages(&[long(8)]), [long(8)]);
        assert_eq!(within_pages(&[long(4092), long(0), long(900)]), [-4..128, long(900)]);
        // A chain of many is no range of any length.
        let chain: Vec<_> = (0..20).map(|link| long(100 * link)).collect();
        assert!(within_pages(&chain).iter().all(|range| range.end - range.start < 256));
    }

    /// Where one of the ranges goes beyond the end of a page, so does one of what is made of them.
    #[test]
    fn no_end_of_a_page_is_overlooked() {
        let beyond = |base: i64, range: &Range<i64>| {
            (base + range.start).div_euclid(PAGE) != (base + range.end - 1).div_euclid(PAGE)
        };
        let mut random = 1u64;
        for _ in 0..200 {
            let mut next = |most: u64| {
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                (random >> 33) % most
            };
            let ranges: Vec<_> = (0..1 + next(11))
                .map(|_| {
                    let start = next(40_000) as i64 - 20_000;
                    start..start + if next(2) == 0 { 128 } else { 256 }
                })
                .collect();
            let joined = within_pages(&ranges);
            assert!(joined.len() <= ranges.len());
            for base in 0..PAGE {
                let some = ranges.iter().any(|range| beyond(base, range));
                assert!(!some || joined.iter().any(|range| beyond(base, range)), "{ranges:?} at {base}");
            }
        }
    }
}
