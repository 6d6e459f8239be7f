//! Accesses whose addresses have no shape: each lane's is done here, by scalars.
//!
//! Helpers take addresses and values through memory, which costs several times what the accesses do:
//! a vector that is read where scalars have been written waits for them. Here all addresses are
//! looked at together first, in vectors. Where one is not in device memory or not aligned, where
//! all lanes share a place, as in GCC's code, helpers do it. Lanes that do not run access something of the
//! engine's: in converged code under a condition or a guard, and loads in loops of masked code.

use std::ops::RangeInclusive;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64X2;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value};
use gangway_device_memory::range;
use gangway_simt::{Access, Address, Space};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::Checked;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::{Lanes, Predicate, constant, widen_mask};

/// Accesses of a function that are done here: each is some hundred of Cranelift's instructions.
const MOST: u32 = 64;

/// Loads of a function under a mask that are done here.
const MOST_MASKED: u32 = 24;

/// Where the lanes' accesses go.
pub(super) struct Scattered {
    /// Without the offset that all have.
    pub pointers: [Value; LANES],
    pub offset: i32,
    /// Nonzero where helpers have to do it.
    pub wrong: Value,
}

impl Emitter<'_, '_> {
    /// Loads each element for all lanes, zero-extended, if it is an access of the kind.
    pub fn load_scattered(
        &mut self,
        address: &Address,
        access: Access,
        guard: Option<&Predicate>,
    ) -> Option<Vec<Known>> {
        let Scattered { pointers, offset, wrong } = self.scattered(address, access, guard, false)?;
        let (slow, done) = self.part(wrong);
        let values = self.load_each(pointers, offset, access);
        for &value in &values {
            let ty = self.builder.func.dfg.value_type(value);
            self.builder.append_block_param(done, ty);
        }
        let arguments: Vec<BlockArg> = values.iter().map(|&value| BlockArg::Value(value)).collect();
        self.builder.ins().jump(done, &arguments);
        self.builder.switch_to_block(slow);
        let place = self.address(address);
        let loaded = self.load_lanes(&place, access, guard);
        Some(self.loaded_both(done, &loaded).into_iter().map(Known::lanes).collect())
    }

    /// Stores for all lanes, one after the other, if it is an access of the kind; whether it is.
    pub fn store_scattered(
        &mut self,
        address: &Address,
        values: &[Known],
        access: Access,
        guard: Option<&Predicate>,
    ) -> bool {
        let Some(Scattered { pointers, offset, wrong }) = self.scattered(address, access, guard, true) else {
            return false;
        };
        let (slow, done) = self.part(wrong);
        let lanes: Vec<Lanes> = values.iter().map(|value| self.lanes_of(value)).collect();
        for (lane, pointer) in pointers.into_iter().enumerate() {
            for (element, lanes) in (0i32..).zip(&lanes) {
                let value = lanes.lane(&mut self.builder, lane);
                self.store_value(value, pointer, offset + element * access.ty.size() as i32, access.ty);
            }
        }
        self.store_slowly(slow, done, address, values, access, guard);
        true
    }

    /// Loads for the lanes that run, in a loop of masked code; what else is not right for that is done by
    /// the code made next. Where both go on, and what is loaded here.
    pub(crate) fn load_masked(&mut self, address: &Lanes, access: Access, running: Value) -> Option<Label> {
        let space = matches!(access.space, Space::Global | Space::Generic | Space::Constant);
        let Lanes::Vector(addresses) = address else { return None };
        if self.converged || self.unit.watch || access.strong || !space || !self.repeats {
            return None;
        }
        if self.scattered == MOST_MASKED || self.builder.func.dfg.value_type(addresses[0]) != I64X2 {
            return None;
        }
        self.scattered += 1;
        let bytes = i64::from(access.size());
        let (addresses, wrong) = self.of_running(addresses, running, 0, bytes);
        let (slow, done) = self.part(wrong);
        let pointers = self.pointers(&addresses);
        let values = self.load_each(pointers, 0, access);
        for &value in &values {
            let ty = self.builder.func.dfg.value_type(value);
            self.builder.append_block_param(done, ty);
        }
        let arguments: Vec<BlockArg> = values.iter().map(|&value| BlockArg::Value(value)).collect();
        self.builder.ins().jump(done, &arguments);
        self.builder.switch_to_block(slow);
        Some(done)
    }

    /// Goes on behind both ways, with what has been loaded on either.
    pub(crate) fn loaded_both(&mut self, done: Label, slow: &[Lanes]) -> Vec<Lanes> {
        let values: Vec<Value> = slow.iter().flat_map(|lanes| lanes.vectors(&mut self.builder)).collect();
        let arguments: Vec<BlockArg> = values.iter().map(|&value| BlockArg::Value(value)).collect();
        self.builder.ins().jump(done, &arguments);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        let results = self.builder.block_params(done).to_vec();
        results.chunks(results.len() / slow.len()).map(|values| Lanes::Vector(values.into())).collect()
    }

    /// Loads each element for all lanes, one after the other, as vectors.
    fn load_each(&mut self, pointers: [Value; LANES], offset: i32, access: Access) -> Vec<Value> {
        let mut values = Vec::new();
        for element in 0..i32::from(access.count) {
            let offset = offset + element * access.ty.size() as i32;
            let lanes = pointers.map(|pointer| self.load_value(pointer, offset, access.ty));
            values.extend(Lanes::from_scalars(&mut self.builder, &lanes).vectors(&mut self.builder));
        }
        values
    }

    fn pointer(&mut self, addresses: &[Value], lane: usize) -> Value {
        self.builder.ins().extractlane(addresses[lane / 2], (lane % 2) as u8)
    }

    fn pointers(&mut self, addresses: &[Value]) -> [Value; LANES] {
        std::array::from_fn(|lane| self.pointer(addresses, lane))
    }

    /// Where an access goes that is done here.
    fn scattered(
        &mut self,
        address: &Address,
        access: Access,
        guard: Option<&Predicate>,
        writes: bool,
    ) -> Option<Scattered> {
        let slot = address.slot()?;
        let offset = address.offset;
        let watched = self.unit.watch && access.space != Space::Local;
        if !self.converged || watched || access.strong || self.scattered == MOST {
            return None;
        }
        let some = self.partial.is_some() || guard.is_some();
        // Turns are seldom taken, and a lane that is alone has scalars.
        if some && (self.agreement.is_some() || self.alone.is_some()) {
            return None;
        }
        if access.space == Space::Local {
            return if some { None } else { self.scattered_own(address, slot, access) };
        }
        if !matches!(access.space, Space::Global | Space::Generic | Space::Constant) {
            return None;
        }
        let near = i32::try_from(offset).ok()?;
        let Known::Input(Input::Lanes(Lanes::Vector(addresses))) = self.known(slot) else { return None };
        if self.builder.func.dfg.value_type(addresses[0]) != I64X2 {
            return None;
        }
        self.scattered += 1;
        let bytes = i64::from(access.size());
        if some {
            let running = self.running(guard);
            let (addresses, wrong) = self.of_running(&addresses, running, offset, bytes);
            return Some(Scattered { pointers: self.pointers(&addresses), offset: near, wrong });
        }
        let space = access.space;
        let (wrong, site) = match self.checked_before(slot, space, bytes, offset, true, writes) {
            Some(checked) => (checked.wrong, checked.site),
            None => {
                let (offsets, writes) = self.offsets_ahead(address, space, bytes, writes);
                let site = self.site_of(Some(slot), writes);
                let wrong = self.is_wrong(&addresses, None, &offsets, bytes, site);
                let checked = Checked { space, bytes, scattered: true, offsets, writes, site, wrong };
                self.checked.entry(slot).or_default().push(checked);
                (wrong, site)
            }
        };
        self.site = site;
        let pointers = self.pointers(&addresses);
        Some(Scattered { pointers, offset: near, wrong })
    }

    /// The addresses of lanes that run, and for others those of memory of the engine's, less an offset; nonzero
    /// where helpers have to do the access at that offset.
    fn of_running(
        &mut self,
        addresses: &[Value],
        running: Value,
        offset: i64,
        bytes: i64,
    ) -> (Vec<Value>, Value) {
        let runs: Vec<Value> = Predicate::Bits(running)
            .each(&mut self.builder)
            .iter()
            .flat_map(|&four| widen_mask(&mut self.builder, four))
            .collect();
        let wrong = self.is_wrong(addresses, Some(&runs), &(offset..=offset), bytes, self.site);
        let own = self.builder.ins().iadd_imm_s(self.warp, i64::from(field!(values)).wrapping_sub(offset));
        let own = self.builder.ins().splat(I64X2, own);
        let each = addresses.iter().zip(&runs);
        let addresses = each.map(|(&address, &runs)| self.builder.ins().blendv(runs, address, own)).collect();
        (addresses, wrong)
    }

    /// Nonzero where an address plus an offset, between the least and the most, is not in device
    /// memory or not aligned, or where the first and the last lane have the same. Lanes that do not run are
    /// left out where `runs` says which do.
    ///
    /// An address is in memory if neither what it is above the beginning of device memory is negative, nor what
    /// it is below the end: one bit of all lanes tells. Offsets differ by multiples of the access's bytes, which
    /// are a power of two that divides both bounds, so that both distances have what an address lacks to be aligned.
    fn is_wrong(
        &mut self,
        addresses: &[Value],
        runs: Option<&[Value]>,
        offsets: &RangeInclusive<i64>,
        bytes: i64,
        site: u8,
    ) -> Value {
        if self.unit.check {
            return self.is_not_granted(addresses, runs, offsets, bytes, site);
        }
        let bound = |bound: u64, offset: i64| bound.wrapping_sub(offset as u64);
        let least = constant(&mut self.builder, I64X2, bound(range().first, *offsets.start()));
        let most = constant(&mut self.builder, I64X2, bound(range().windows - bytes as u64, *offsets.end()));
        let mut all = None;
        for (index, &address) in addresses.iter().enumerate() {
            let low = self.builder.ins().isub(address, least);
            let high = self.builder.ins().isub(most, address);
            let mut both = self.builder.ins().bor(low, high);
            if let Some(runs) = runs {
                both = self.builder.ins().band(both, runs[index]);
            }
            all = Some(self.or(all, both));
        }
        let all = all.unwrap_or_else(|| unreachable!("a warp has lanes"));
        let (even, odd) = (self.builder.ins().extractlane(all, 0), self.builder.ins().extractlane(all, 1));
        let all = self.builder.ins().bor(even, odd);
        let others = self.builder.ins().band_imm_s(all, i64::MIN | (bytes - 1));
        let wrong = self.builder.ins().icmp_imm_s(IntCC::NotEqual, others, 0);
        let same = self.is_same_at_ends(addresses);
        self.builder.ins().bor(wrong, same)
    }

    fn is_same_at_ends(&mut self, addresses: &[Value]) -> Value {
        let (first, last) = (self.pointer(addresses, 0), self.pointer(addresses, LANES - 1));
        self.builder.ins().icmp(IntCC::Equal, first, last)
    }

    /// The same of check mode: not where the site may access. The distance from where that begins and the one to
    /// its end are negative for what is outside.
    fn is_not_granted(
        &mut self,
        addresses: &[Value],
        runs: Option<&[Value]>,
        offsets: &RangeInclusive<i64>,
        bytes: i64,
        site: u8,
    ) -> Value {
        let (start, size) = self.granted(site);
        let least = self.builder.ins().iadd_imm_s(start, offsets.start().wrapping_neg());
        let end = self.builder.ins().iadd(start, size);
        let most = self.builder.ins().iadd_imm_s(end, offsets.end().wrapping_add(bytes).wrapping_neg());
        let [least, most] = [least, most].map(|bound| self.builder.ins().splat(I64X2, bound));
        // What is below the beginning of a range that is aligned itself tells how the others are.
        let (mut outside, mut bits) = (None, None);
        for (index, &address) in addresses.iter().enumerate() {
            let mut low = self.builder.ins().isub(address, least);
            let mut high = self.builder.ins().isub(most, address);
            if let Some(runs) = runs {
                low = self.builder.ins().band(low, runs[index]);
                high = self.builder.ins().band(high, runs[index]);
            }
            bits = Some(self.or(bits, low));
            outside = Some(self.or(outside, high));
        }
        let halves = |emit: &mut Self, all: Option<Value>| {
            let all = all.unwrap_or_else(|| unreachable!("a warp has lanes"));
            let (even, odd) =
                (emit.builder.ins().extractlane(all, 0), emit.builder.ins().extractlane(all, 1));
            emit.builder.ins().bor(even, odd)
        };
        let (bits, outside) = (halves(self, bits), halves(self, outside));
        let outside = self.builder.ins().bor(outside, bits);
        let outside = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, outside, 0);
        let bits = self.builder.ins().bor(bits, start);
        let low = self.builder.ins().band_imm_s(bits, bytes - 1);
        let misaligned = self.builder.ins().icmp_imm_s(IntCC::NotEqual, low, 0);
        let same = self.is_same_at_ends(addresses);
        let wrong = self.builder.ins().bor(outside, misaligned);
        self.builder.ins().bor(wrong, same)
    }
}
