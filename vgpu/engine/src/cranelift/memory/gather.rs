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
use gangway_device_memory::{FIRST, REACH, WINDOWS};
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
        let Scattered { pointers, offset, wrong } = self.scattered(address, access, guard)?;
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
        let Some(Scattered { pointers, offset, wrong }) = self.scattered(address, access, guard) else {
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
        if self.converged || self.unit.check || access.strong || !space || !self.repeats {
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
    ) -> Option<Scattered> {
        let slot = address.slot()?;
        let offset = address.offset;
        if !self.converged || self.unit.check || access.strong || self.scattered == MOST {
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
        let wrong = match self.checked_before(slot, space, bytes, offset, true) {
            Some(checked) => checked.wrong,
            None => {
                let offsets = self.offsets_ahead(address, space, bytes);
                let wrong = self.is_wrong(&addresses, None, &offsets, bytes);
                let checked = Checked { space, bytes, scattered: true, offsets, wrong };
                self.checked.entry(slot).or_default().push(checked);
                wrong
            }
        };
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
        let wrong = self.is_wrong(addresses, Some(&runs), &(offset..=offset), bytes);
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
    /// An address is in memory if what it is above the beginning of device memory is not negative, and
    /// below its size even if the part without memory is added: one bit pattern tells both of all lanes.
    /// Offsets differ by multiples of the access's bytes, which are a power of two; what is aligned does
    /// not reach beyond the end of memory.
    fn is_wrong(
        &mut self,
        addresses: &[Value],
        runs: Option<&[Value]>,
        offsets: &RangeInclusive<i64>,
        bytes: i64,
    ) -> Value {
        let above = |offset: i64| (offset as u64).wrapping_sub(FIRST);
        let least = constant(&mut self.builder, I64X2, above(*offsets.start()));
        let beyond = FIRST + REACH - WINDOWS;
        let most = constant(&mut self.builder, I64X2, above(*offsets.end()).wrapping_add(beyond));
        let mut all = None;
        for (index, &address) in addresses.iter().enumerate() {
            let low = self.builder.ins().iadd(address, least);
            let high = self.builder.ins().iadd(address, most);
            let mut both = self.builder.ins().bor(low, high);
            if let Some(runs) = runs {
                both = self.builder.ins().band(both, runs[index]);
            }
            all = Some(self.or(all, both));
        }
        let all = all.unwrap_or_else(|| unreachable!("a warp has lanes"));
        let (even, odd) = (self.builder.ins().extractlane(all, 0), self.builder.ins().extractlane(all, 1));
        let all = self.builder.ins().bor(even, odd);
        let allowed = (REACH - 1) & !(bytes as u64 - 1);
        let others = self.builder.ins().band_imm_s(all, !allowed as i64);
        let wrong = self.builder.ins().icmp_imm_s(IntCC::NotEqual, others, 0);
        let (first, last) = (self.pointer(addresses, 0), self.pointer(addresses, LANES - 1));
        let same = self.builder.ins().icmp(IntCC::Equal, first, last);
        self.builder.ins().bor(wrong, same)
    }
}
