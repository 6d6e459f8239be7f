//! Where accesses go, and the checks that they go to memory. Only the ends are checked, and
//! accesses of a block with the same base are checked together.

use std::ops::{Range, RangeInclusive};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use gangway_device_memory::range;
use gangway_simt::{Access, Address, Kind, Space};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::Checked;
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::value::{Lanes, Predicate};
use crate::{grants, windows};

/// Where an access goes whose addresses have a shape.
pub(super) struct Reach {
    /// The first address of each row, or the one of all lanes.
    pub pointers: Vec<Value>,
    /// From lane to lane within a row; 0 if there is one address.
    pub step: i64,
    /// Nonzero where helpers have to do it.
    pub wrong: Value,
}

/// How far apart they may be.
const MOST_APART: i64 = 1 << 24;

/// How far to look for accesses that are checked together.
const AHEAD: usize = 256;

/// Rows of an access that are looked for in the host's memory where it is done; helpers look for
/// more.
const MOST_IN_HOST: usize = 8;

/// Memory is there or not in pieces of this size.
pub(super) const PAGE: i64 = 4096;

impl Emitter<'_, '_> {
    /// An address without its offset, as it is known.
    fn known_address(&mut self, address: &Address) -> (Known, i64) {
        match address.slot() {
            Some(slot) => (self.known(slot), address.offset),
            None => (Known::lanes(self.address(address)), 0),
        }
    }

    /// Where an access goes, if its addresses have a shape that it can be done by.
    pub(super) fn reach(
        &mut self,
        address: &Address,
        access: Access,
        guard: Option<&Predicate>,
        writes: bool,
    ) -> Option<Reach> {
        if !self.converged || access.strong {
            return None;
        }
        if self.partial.is_some() && guard.is_some() {
            return None;
        }
        let space = access.space;
        if space == Space::Parameters || space == Space::Local && self.alone.is_none() {
            return None;
        }
        let (known, offset) = self.known_address(address);
        let (bases, step) = match known {
            Known::Input(Input::Lanes(Lanes::Uniform(address))) => (vec![address], 0),
            Known::Steps(Steps { bases, step }) => (bases.into_vec(), step),
            Known::Input(_) => return None,
        };
        let bytes = i64::from(access.size());
        if let (Space::Local, Some(lane)) = (space, self.alone) {
            if step != 0 || bases.len() != 1 {
                return None;
            }
            let (pointer, wrong) = self.place_of(lane, bases[0], offset, bytes);
            return Some(Reach { pointers: vec![pointer], step, wrong });
        }
        let narrow = self.builder.func.dfg.value_type(bases[0]) == I32;
        // Addresses of 32 bits could wrap around; offsets in shared memory are too small for that.
        if step % bytes != 0 || narrow && space != Space::Shared && step != 0 {
            return None;
        }
        let row = (LANES / bases.len()) as i64;
        let (least, most) = (0.min(step * (row - 1)), 0.max(step * (row - 1)));
        let bases = bases.into_iter().map(|base| {
            // An address of shared memory is one of 32 bits, whatever stands in a wider register.
            let base = match space {
                Space::Shared if !narrow => self.builder.ins().ireduce(I32, base),
                _ => base,
            };
            match self.builder.func.dfg.value_type(base) == I32 {
                true => self.builder.ins().uextend(I64, base),
                false => base,
            }
        });
        let bases: Vec<Value> = bases.collect();
        let slot = address.slot().filter(|_| guard.is_none());
        let before = slot.and_then(|slot| self.checked_before(slot, space, bytes, offset, false, writes));
        let (mut wrong, site) = match before {
            Some(checked) => (checked.wrong, checked.site),
            None => {
                let (offsets, writes) = match slot {
                    Some(_) => self.offsets_ahead(address, space, bytes, writes),
                    None => (offset..=offset, writes),
                };
                let site = self.site_of(address.slot(), writes);
                let wrong = self.check(&bases, &offsets, space, [least, most + bytes], bytes, site);
                if let Some(slot) = slot {
                    let checked = Checked { space, bytes, scattered: false, offsets, writes, site, wrong };
                    self.checked.entry(slot).or_default().push(checked);
                }
                (wrong, site)
            }
        };
        self.site = site;
        let mut pointers = Vec::with_capacity(bases.len());
        for base in bases {
            let place = if offset == 0 { base } else { self.builder.ins().iadd_imm_s(base, offset) };
            pointers.push(match space {
                Space::Shared => {
                    let shared = self.load_fixed_field(I64, field!(shared));
                    self.builder.ins().iadd(shared, place)
                }
                _ => place,
            });
        }
        if let Some(guard) = guard {
            let bits = guard.bits(&mut self.builder);
            let some = self.builder.ins().icmp_imm_s(IntCC::NotEqual, bits, -1);
            wrong = self.builder.ins().bor(wrong, some);
        }
        Some(Reach { pointers, step, wrong })
    }

    /// What an access before has found out about this one's addresses.
    pub(super) fn checked_before(
        &self,
        slot: u32,
        space: Space,
        bytes: i64,
        offset: i64,
        scattered: bool,
        writes: bool,
    ) -> Option<&Checked> {
        let same = |checked: &&Checked| {
            (checked.space, checked.bytes, checked.scattered) == (space, bytes, scattered)
                && (checked.writes || !writes || !self.unit.check)
                && checked.offsets.contains(&offset)
                && offset.wrapping_sub(*checked.offsets.start()) % bytes == 0
        };
        self.checked.get(&slot)?.iter().find(same)
    }

    /// The offsets of this access and of those like it that are made with it, with the same value
    /// of the base, and whether one of them is a store.
    pub(super) fn offsets_ahead(
        &self,
        address: &Address,
        space: Space,
        bytes: i64,
        writes: bool,
    ) -> (RangeInclusive<i64>, bool) {
        let mut stores = writes;
        let (mut least, mut most) = (address.offset, address.offset);
        let base = address.slot();
        for index in self.ahead.clone().take(AHEAD) {
            let operation = self.unit.operation(index);
            if let Kind::Load { access, address: other, .. } | Kind::Store { access, address: other, .. } =
                &operation.kind
                && other.base == address.base
                && operation.guard.is_none()
                && access.space == space
                && i64::from(access.size()) == bytes
                && other.offset.checked_sub(least).is_some_and(|distance| distance % bytes == 0)
                && other.offset.max(most).saturating_sub(other.offset.min(least)) < MOST_APART
            {
                (least, most) = (least.min(other.offset), most.max(other.offset));
                stores |= matches!(operation.kind, Kind::Store { .. });
            }
            let mut writes = false;
            operation.each_slot(&mut |slot, write| writes |= write && base == Some(slot));
            if writes {
                break;
            }
        }
        (least..=most, stores)
    }

    /// Nonzero where an access at any of the offsets from these bases, of the bytes between `ends`,
    /// is not in memory or not aligned.
    fn check(
        &mut self,
        bases: &[Value],
        offsets: &RangeInclusive<i64>,
        space: Space,
        ends: [i64; 2],
        bytes: i64,
        site: u8,
    ) -> Value {
        let length = (offsets.end() - offsets.start()) + (ends[1] - ends[0]);
        let first = offsets.start().wrapping_add(ends[0]);
        let mut starts = Vec::with_capacity(bases.len());
        let (mut outside, mut bits) = (Vec::with_capacity(bases.len()), None);
        for &base in bases {
            let start = if first == 0 { base } else { self.builder.ins().iadd_imm_s(base, first) };
            outside.push(match space {
                Space::Shared => self.is_outside_shared(start, length),
                _ => self.is_outside_memory(start, length, site),
            });
            starts.push(start);
            let address = match offsets.start() % bytes {
                0 => base,
                offset => self.builder.ins().iadd_imm_s(base, offset),
            };
            bits = Some(self.or(bits, address));
        }
        let mut wrong = self.any(&outside);
        let has_host = matches!(space, Space::Global | Space::Generic) && !self.unit.check;
        if has_host && starts.len() <= MOST_IN_HOST {
            wrong = self.look_in_host(wrong, &starts, length);
        }
        let Some(bits) = bits.filter(|_| bytes != 1) else { return wrong };
        let low = self.builder.ins().band_imm_s(bits, bytes - 1);
        let misaligned = self.builder.ins().icmp_imm_s(IntCC::NotEqual, low, 0);
        self.builder.ins().bor(wrong, misaligned)
    }

    fn any(&mut self, conditions: &[Value]) -> Value {
        let any = conditions.iter().fold(None, |any, &condition| Some(self.or(any, condition)));
        any.unwrap_or_else(|| unreachable!("an access has an address"))
    }

    pub(super) fn is_outside_shared(&mut self, start: Value, length: i64) -> Value {
        let size = self.load_fixed_field(I64, field!(shared_size));
        let end = self.builder.ins().iadd_imm_s(start, length);
        let start = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, start, size);
        let end = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, size);
        self.builder.ins().bor(start, end)
    }

    pub(super) fn is_outside_device(&mut self, start: Value, length: i64) -> Value {
        let inside = self.builder.ins().iadd_imm_s(start, (range().first as i64).wrapping_neg());
        let limit = self.number((range().windows - range().first) as i64 - length);
        self.builder.ins().icmp(IntCC::UnsignedGreaterThan, inside, limit)
    }

    /// Whether something is not in device memory, or in check mode not where the site may access.
    pub(super) fn is_outside_memory(&mut self, start: Value, length: i64, site: u8) -> Value {
        if !self.unit.check {
            return self.is_outside_device(start, length);
        }
        let (granted, size) = self.granted(site);
        self.is_outside_range(start, granted, size, length)
    }

    /// Where a site may access memory in check mode, and how much of it: nothing if some has been freed since
    /// that was asked for.
    pub(super) fn granted(&mut self, site: u8) -> (Value, Value) {
        let at = field!(grants) + grants::EACH + i32::from(site) * size_of::<windows::Window>() as i32;
        let start = self.load_at(I64, self.warp, at + windows::START);
        let size = self.load_at(I64, self.warp, at + windows::LENGTH);
        let known = self.load_at(I64, self.warp, field!(grants) + grants::KNOWN);
        let freed = self.load_fixed_field(I64, field!(freed));
        let freed = self.load_at(I64, freed, 0);
        let holds = self.builder.ins().icmp(IntCC::Equal, known, freed);
        let none = self.number(0);
        (start, self.builder.ins().select(holds, size, none))
    }

    /// Where something is outside of device memory, looks for it in the host's memory that the warp
    /// has met: nonzero if it is not there either.
    fn look_in_host(&mut self, outside: Value, starts: &[Value], length: i64) -> Value {
        let (look, known) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(look);
        let ty = self.builder.func.dfg.value_type(outside);
        self.builder.append_block_param(known, ty);
        self.builder.ins().brif(outside, look, &[], known, &[BlockArg::Value(outside)]);
        self.builder.seal_block(look);
        self.builder.switch_to_block(look);
        let mut missing = Vec::with_capacity(starts.len());
        for &start in starts {
            let elsewhere = self.is_outside_windows(start, length);
            // Some may be in device memory, others in the host's.
            missing.push(match starts.len() {
                1 => elsewhere,
                _ => {
                    let outside = self.is_outside_device(start, length);
                    self.builder.ins().band(outside, elsewhere)
                }
            });
        }
        let missing = self.any(&missing);
        self.builder.ins().jump(known, &[BlockArg::Value(missing)]);
        self.builder.seal_block(known);
        self.builder.switch_to_block(known);
        self.builder.block_params(known)[0]
    }

    /// As [`Windows::cover`](crate::windows::Windows::cover) finds it.
    fn is_outside_windows(&mut self, start: Value, length: i64) -> Value {
        let high = self.builder.ins().ushr_imm_u(start, i64::from(windows::LOW_BITS));
        let factor = self.number(windows::FACTOR as i64);
        let product = self.builder.ins().imul(high, factor);
        let place = self.builder.ins().ushr_imm_u(product, i64::from(windows::SHIFT));
        let place = self.builder.ins().band_imm_u(place, windows::PLACES);
        let window = self.builder.ins().iadd(self.warp, place);
        let window_start = self.load_at(I64, window, field!(windows) + windows::START);
        let size = self.load_at(I64, window, field!(windows) + windows::LENGTH);
        self.is_outside_range(start, window_start, size, length)
    }

    /// Whether something of this length is outside of a range of less than 2^63 bytes.
    fn is_outside_range(&mut self, start: Value, range: Value, size: Value, length: i64) -> Value {
        let distance = self.builder.ins().isub(start, range);
        let rest = self.builder.ins().isub(size, distance);
        let rest = self.builder.ins().iadd_imm_s(rest, length.wrapping_neg());
        let either = self.builder.ins().bor(distance, rest);
        self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, either, 0)
    }

    /// Whether lanes that do not run might touch memory in a load that is not there; none if that
    /// could not be found out.
    pub(super) fn stretches(&self, reach: &Reach, space: Space, bytes: i64) -> Option<bool> {
        if self.partial.is_none() || reach.step == 0 || space == Space::Shared {
            return Some(false);
        }
        let within = reach.step > 0 && reach.step * (LANES as i64 - 1) + bytes <= PAGE;
        (within && reach.pointers.len() == 1).then_some(true)
    }

    /// The bits in which the ends of what all lanes load differ: those of numbers of pages only if
    /// lanes that do not run might touch others than those that do.
    pub(super) fn stretch(&mut self, base: Value, bytes: Range<i64>) -> Value {
        let ends = [bytes.start, bytes.end - 1].map(|offset| self.builder.ins().iadd_imm_s(base, offset));
        self.builder.ins().bxor(ends[0], ends[1])
    }

    /// Whether such bits are of other pages.
    pub(super) fn is_beyond_page(&mut self, bits: Value) -> Value {
        self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, bits, PAGE)
    }

    /// Whether lanes that do not run would touch other pages than those that do.
    pub(super) fn elsewhere(&mut self, pointer: Value, step: i64, bytes: i64) -> Value {
        let last = step * (LANES as i64 - 1);
        let lowest = self.builder.ins().ctz(self.mask);
        let leading = self.builder.ins().clz(self.mask);
        let all = self.builder.ins().iconst(I32, LANES as i64 - 1);
        let highest = self.builder.ins().isub(all, leading);
        let ends = [(lowest, 0, 0), (highest, last, bytes - 1)].map(|(lane, unmasked, end)| {
            let lane = self.builder.ins().uextend(I64, lane);
            let offset = self.builder.ins().imul_imm_s(lane, step);
            let runs = self.builder.ins().iadd(pointer, offset);
            let runs = self.builder.ins().iadd_imm_s(runs, end);
            let outer = self.builder.ins().iadd_imm_s(pointer, unmasked + end);
            self.builder.ins().bxor(runs, outer)
        });
        let bits = self.builder.ins().bor(ends[0], ends[1]);
        self.is_beyond_page(bits)
    }
}
