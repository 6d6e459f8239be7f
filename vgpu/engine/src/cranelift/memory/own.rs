//! Accesses of each lane's own memory in converged code, and of one lane's that runs alone: arrays on the
//! stack, private copies of reductions.
//!
//! What is at an offset of one lane is not what is there of another one, so that even an access at one
//! offset is one for each lane. No two lanes share a place.

use std::ops::RangeInclusive;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_simt::{Access, Address, Space};

use super::gather::Scattered;
use super::narrow::narrow;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::Checked;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::{Lanes, cast, constant};
use crate::support::FIRST_LOCAL;

/// Where the lanes' accesses to their own memory go.
pub(super) struct Own {
    /// Of each lane, counted from where its own memory begins and without the offset that all have: vectors of 32 bits.
    pub starts: Vec<Value>,
    pub offset: i32,
    /// Nonzero where helpers have to do it.
    pub wrong: Value,
}

impl Emitter<'_, '_> {
    /// Where accesses of the lanes' own memory go whose base stands in a slot, as pointers, if they are done here.
    pub(super) fn scattered_own(
        &mut self,
        address: &Address,
        slot: u32,
        access: Access,
    ) -> Option<Scattered> {
        let Own { starts, offset, wrong } = self.own(address, slot, access)?;
        let stride = self.load_fixed_field(I64, field!(local_stride));
        let mut own = self.load_fixed_field(I64, field!(local));
        let pointers = std::array::from_fn(|lane| {
            if lane > 0 {
                own = self.builder.ins().iadd(own, stride);
            }
            let start = self.builder.ins().extractlane(starts[lane / 4], (lane % 4) as u8);
            let start = self.builder.ins().uextend(I64, start);
            self.builder.ins().iadd(own, start)
        });
        Some(Scattered { pointers, offset, wrong })
    }

    /// Where accesses of the lanes' own memory go whose base stands in a slot, if they are done here.
    pub(super) fn own(&mut self, address: &Address, slot: u32, access: Access) -> Option<Own> {
        let addresses = match self.known(slot) {
            Known::Input(Input::Lanes(Lanes::Vector(addresses))) => addresses,
            known @ Known::Steps(_) => self.lanes_of(&known).vectors(&mut self.builder),
            Known::Input(_) => return None,
        };
        self.scattered += 1;
        let (offset, bytes) = (address.offset, i64::from(access.size()));
        let before = self.checked_before(slot, Space::Local, bytes, offset, true, true).cloned();
        let offsets = match &before {
            Some(checked) => checked.offsets.clone(),
            None => self.offsets_ahead(address, Space::Local, bytes, true).0,
        };
        // An access at the least of the offsets, counted from where local memory begins to be used.
        let above = offsets.start().wrapping_sub(FIRST_LOCAL as i64) as u32;
        let above = constant(&mut self.builder, I32X4, above.into());
        let starts: Vec<Value> = self
            .narrow_addresses(&addresses)
            .into_iter()
            .map(|four| self.builder.ins().iadd(four, above))
            .collect();
        let wrong = match before {
            Some(checked) => checked.wrong,
            None => {
                let wrong = self.is_not_own(&starts, &offsets, bytes);
                let (space, scattered, writes, site) = (Space::Local, true, true, self.site);
                let offsets = offsets.clone();
                let checked = Checked { space, bytes, scattered, offsets, writes, site, wrong };
                self.checked.entry(slot).or_default().push(checked);
                wrong
            }
        };
        let offset = offset - offsets.start() + FIRST_LOCAL as i64;
        Some(Own { starts, offset: offset as i32, wrong })
    }

    /// Where an access of one lane's own memory goes, and nonzero if helpers have to do it.
    pub(super) fn place_of(&mut self, lane: Value, base: Value, offset: i64, bytes: i64) -> (Value, Value) {
        let base = match self.builder.func.dfg.value_type(base) == I64 {
            true => self.builder.ins().ireduce(I32, base),
            false => base,
        };
        let above = (offset as i32).wrapping_sub(FIRST_LOCAL as i32);
        let start = self.builder.ins().iadd_imm_s(base, i64::from(above));
        let wrong = self.is_beyond_own(start, bytes);
        let stride = self.load_fixed_field(I64, field!(local_stride));
        let own = self.load_fixed_field(I64, field!(local));
        let before = self.builder.ins().imul(lane, stride);
        let own = self.builder.ins().iadd(own, before);
        let start = self.builder.ins().uextend(I64, start);
        let start = self.builder.ins().iadd_imm_s(start, FIRST_LOCAL as i64);
        (self.builder.ins().iadd(own, start), wrong)
    }

    /// What is left of addresses of local memory: wider registers are truncated.
    fn narrow_addresses(&mut self, addresses: &[Value]) -> Vec<Value> {
        if self.builder.func.dfg.value_type(addresses[0]) != I64X2 {
            return addresses.to_vec();
        }
        addresses.chunks(2).map(|pair| narrow(&mut self.builder, [pair[0], pair[1]])).collect()
    }

    /// Nonzero where an access at one of the offsets is not within what is used of local memory, or not
    /// aligned. `starts` is where accesses at the least offset begin.
    fn is_not_own(&mut self, starts: &[Value], offsets: &RangeInclusive<i64>, bytes: i64) -> Value {
        let last = self.last_own(bytes + (offsets.end() - offsets.start()));
        // Within 31 bits no difference of a start wraps around, and a sign tells of each that is behind the last one.
        let least = self.number(-1);
        let last = self.builder.ins().smax(last, least);
        let most = self.number(i32::MAX.into());
        let last = self.builder.ins().smin(last, most);
        let last = self.builder.ins().ireduce(I32, last);
        let last = self.builder.ins().splat(I32X4, last);
        let (mut bits, mut room) = (None, None);
        for &four in starts {
            let left = self.builder.ins().isub(last, four);
            bits = Some(self.or(bits, four));
            room = Some(self.or(room, left));
        }
        let (Some(bits), Some(room)) = (bits, room) else { unreachable!("a warp has lanes") };
        let sign = constant(&mut self.builder, I32X4, 1 << 31);
        let room = self.builder.ins().band(room, sign);
        let all = self.builder.ins().bor(bits, room);
        let all = cast(&mut self.builder, I64X2, all);
        let [low, high] = [0, 1].map(|half| self.builder.ins().extractlane(all, half));
        let all = self.builder.ins().bor(low, high);
        let wrong = (1 << 31) | (bytes - 1);
        let wrong = self.builder.ins().band_imm_s(all, wrong << 32 | wrong);
        self.builder.ins().icmp_imm_s(IntCC::NotEqual, wrong, 0)
    }

    /// The last place where something of this length begins that ends within what is used of local memory, an `I64`
    /// counted from where local memory begins to be used.
    fn last_own(&mut self, length: i64) -> Value {
        let top = self.load_field(I64, field!(local_top));
        let stride = self.load_fixed_field(I64, field!(local_stride));
        let top = self.builder.ins().umin(top, stride);
        self.builder.ins().iadd_imm_s(top, -(FIRST_LOCAL as i64 + length))
    }

    /// Nonzero if an access does not end within what is used of local memory, or is not aligned. Where it begins is
    /// counted from where local memory begins to be used, modulo the size of an address: what is before that is far
    /// behind.
    fn is_beyond_own(&mut self, start: Value, bytes: i64) -> Value {
        let last = self.last_own(bytes);
        let place = self.builder.ins().uextend(I64, start);
        let outside = self.builder.ins().icmp(IntCC::SignedGreaterThan, place, last);
        let low = self.builder.ins().band_imm_s(start, bytes - 1);
        let misaligned = self.builder.ins().icmp_imm_s(IntCC::NotEqual, low, 0);
        self.builder.ins().bor(outside, misaligned)
    }
}
