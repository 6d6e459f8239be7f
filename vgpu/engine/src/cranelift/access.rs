//! Loads, stores, atomics and copies, and local memory.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value};
use gangway_simt::{Access, Address, Atomic, Base, Place, Scalar, Source, Space};

use crate::abi::LANES;
use crate::analysis::shape::Shape;
use crate::cranelift::emit::Emitter;
use crate::cranelift::operations::binary;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::{Lanes, Predicate};
use crate::support::{Access as Described, CHECK, Helper, Operation, Space as In, WATCH};

/// A frame in local memory begins at a multiple of this.
const LOCAL_ALIGN: i64 = 256;
/// Every call takes something, so that endless recursion ends.
const LEAST_LOCAL: u32 = 16;

impl Emitter<'_, '_> {
    /// The address of an access, in the space of the access.
    pub fn address(&mut self, address: &Address) -> Lanes {
        let base = match address.base {
            Base::Slot(slot) => match self.slot(slot) {
                Input::Lanes(lanes) => self.fit(lanes, Scalar::U64),
                Input::Predicate(_) => unreachable!("no address is a predicate"),
            },
            Base::Place(place) => Lanes::Uniform(self.address_of(place)),
            Base::Absolute => Lanes::Uniform(self.number(0)),
        };
        if address.offset == 0 {
            return base;
        }
        let offset = self.constant(Scalar::U64, address.offset as u64);
        binary(&mut self.builder, &base, &offset, |builder, a, b| builder.ins().iadd(a, b))
    }

    /// Tells who watches accesses that lanes are about to make one, at steps from the place that lane 0 has. What
    /// is stored has been passed.
    pub fn tell_of(&mut self, access: Access, store: bool, lanes: Value, first: Value, step: i64) {
        if !self.unit.watch || !access.space.may_race() {
            return;
        }
        let (step, described) = (self.number(step), self.described(access));
        let helper = if store { Helper::WatchStores } else { Helper::WatchLoads };
        self.call(helper, &[lanes, first, step, described]);
    }

    /// What helpers are told about an access.
    fn described(&mut self, access: Access) -> Value {
        let access = Described {
            size: access.ty.size() as u8,
            count: access.count,
            space: In::of(access.space),
            strong: access.strong,
            check: self.unit.check,
            watch: self.unit.watch,
            site: self.site,
            acquire: access.acquire,
            release: access.release,
            narrow: access.narrow,
            operation: None,
        };
        self.number(access.bits())
    }

    pub fn load_memory(
        &mut self,
        address: &Address,
        access: Access,
        results: &[Option<u32>],
        guard: Option<&Predicate>,
    ) {
        let ty = access.ty;
        if let Some(place) = named(address) {
            for (index, &slot) in results.iter().enumerate() {
                let offset = address.offset + i64::from(ty.size()) * index as i64;
                let value = self.load_named(place, offset, ty);
                self.write_lanes(slot, ty, value, guard);
            }
            return;
        }
        self.site = self.site_of(address.slot(), false);
        if self.unit.init
            && self.alone.is_none()
            && let Some(guard) = guard
        {
            return self.load_seldom(address, access, results, guard);
        }
        let uniform = access.space != Space::Generic
            || self.alone.is_some()
            || self.unit.shapes.is_speculative_load(access, address)
            || matches!(address.base, Base::Place(_));
        if let Some(values) = self.load_shaped(address, access, guard, uniform) {
            for (&slot, value) in results.iter().zip(values) {
                self.write_known(slot, ty, value, guard);
            }
            return;
        }
        if !results.iter().any(|&slot| self.is_uniform(slot))
            && let Some(values) = self.load_scattered(address, access, guard)
        {
            for (&slot, value) in results.iter().zip(values) {
                self.write_known(slot, ty, value, guard);
            }
            return;
        }
        let place = self.address(address);
        let values = self.load_lanes(&place, access, guard);
        for (&slot, value) in results.iter().zip(values) {
            let uniform = self.alone.is_some() || self.is_uniform(slot);
            // Somebody may have written between the lanes' loads from one address: all get the
            // first one's.
            let value = match self.converged && uniform {
                true => Lanes::Uniform(self.running_lane(&value, guard)),
                false => value,
            };
            self.write_lanes(slot, ty, value, guard);
        }
    }

    /// Loads for the lanes that a guard lets through, if there are any.
    fn load_seldom(&mut self, address: &Address, access: Access, results: &[Option<u32>], guard: &Predicate) {
        let ty = access.ty;
        let place = self.address(address);
        let (some, after) = (self.builder.create_block(), self.builder.create_block());
        let zero = Lanes::constant(&mut self.builder, ty.is_wide(), 0);
        let mut zeros = Vec::new();
        for &slot in results {
            let values = match self.converged && self.is_uniform(slot) {
                true => [zero.lane(&mut self.builder, 0)].into(),
                false => zero.vectors(&mut self.builder),
            };
            for &value in &values {
                let ty = self.builder.func.dfg.value_type(value);
                self.builder.append_block_param(after, ty);
            }
            zeros.extend(values);
        }
        let running = self.running(Some(guard));
        let arguments =
            |values: &[Value]| values.iter().map(|&value| BlockArg::Value(value)).collect::<Vec<_>>();
        self.builder.set_cold_block(some);
        self.builder.ins().brif(running, some, &[], after, &arguments(&zeros));
        self.builder.seal_block(some);
        self.builder.switch_to_block(some);
        let lanes = self.load_lanes(&place, access, Some(guard));
        let mut loaded = Vec::new();
        for (&slot, value) in results.iter().zip(&lanes) {
            match self.converged && self.is_uniform(slot) {
                true => loaded.push(self.running_lane(value, Some(guard))),
                false => loaded.extend(value.vectors(&mut self.builder)),
            }
        }
        self.builder.ins().jump(after, &arguments(&loaded));
        self.builder.seal_block(after);
        self.builder.switch_to_block(after);
        let mut values = self.builder.block_params(after).to_vec().into_iter();
        let each = zero.vectors(&mut self.builder).len();
        for &slot in results {
            let value = match self.converged && self.is_uniform(slot) {
                true => values.next().map(Lanes::Uniform),
                false => Some(Lanes::Vector(values.by_ref().take(each).collect())),
            };
            let value = value.unwrap_or_else(|| unreachable!("there are parameters for each"));
            self.write_lanes(slot, ty, value, Some(guard));
        }
    }

    /// Begins what is done where a value is not zero, which is seldom. Where both ways go on.
    fn begin_seldom(&mut self, some: Value) -> Label {
        let (then, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(then);
        self.builder.ins().brif(some, then, &[], after, &[]);
        self.builder.seal_block(then);
        self.builder.switch_to_block(then);
        after
    }

    fn end_seldom(&mut self, after: Label) {
        self.builder.ins().jump(after, &[]);
        self.builder.seal_block(after);
        self.builder.switch_to_block(after);
    }

    fn is_uniform(&self, slot: Option<u32>) -> bool {
        slot.is_some_and(|slot| self.unit.shapes.slots[slot as usize] == Shape::Uniform)
    }

    /// Writes what is known of a value of type `ty`, which keeps its steps if the register is not
    /// wider.
    fn write_known(&mut self, slot: Option<u32>, ty: Scalar, value: Known, guard: Option<&Predicate>) {
        match value {
            Known::Steps(steps) => {
                let Some(slot) = slot else { return };
                if self.ty(slot).bits() <= ty.bits() {
                    self.set_slot(slot, Known::Steps(steps), guard);
                } else {
                    let lanes = self.spread(&steps);
                    self.write_lanes(Some(slot), ty, lanes, guard);
                }
            }
            Known::Input(Input::Lanes(lanes)) => self.write_lanes(slot, ty, lanes, guard),
            Known::Input(Input::Predicate(_)) => unreachable!("predicates are not loaded"),
        }
    }

    pub fn load_named(&mut self, place: Place, offset: i64, ty: Scalar) -> Lanes {
        match place {
            Place::Slot(slot) => match self.slot(slot) {
                Input::Lanes(lanes) => lanes,
                Input::Predicate(_) => unreachable!("a variable is no predicate"),
            },
            Place::Argument(number) => {
                let pointer = self.load_at(I64, self.arguments, 8 * number as i32);
                Lanes::load(&mut self.builder, ty.is_wide(), pointer, 0)
            }
            Place::Parameter(start) => {
                let parameters = self.load_field(I64, field!(parameters));
                self.load_scalar(parameters, start as i32 + offset as i32, ty)
            }
            Place::Local(_) | Place::Symbol(_) | Place::Function(_) => unreachable!("these have addresses"),
        }
    }

    /// One value of memory that is always accessible.
    fn load_scalar(&mut self, pointer: Value, offset: i32, ty: Scalar) -> Lanes {
        let (flags, ins) = (crate::cranelift::state::own_memory(), self.builder.ins());
        Lanes::Uniform(match ty.size() {
            1 => ins.uload8(I32, flags, pointer, offset),
            2 => ins.uload16(I32, flags, pointer, offset),
            4 => ins.load(I32, flags, pointer, offset),
            _ => ins.load(I64, flags, pointer, offset),
        })
    }

    /// The address of an access that all lanes make at the same place of memory of their own.
    fn same_own(&self, address: &Lanes, access: Access) -> Option<Value> {
        let own = In::of(access.space) == In::Local && !access.strong;
        match address {
            Lanes::Uniform(address) if own => Some(*address),
            _ => None,
        }
    }

    /// Loads each element of a vector access, zero-extended.
    pub fn load_lanes(&mut self, address: &Lanes, access: Access, guard: Option<&Predicate>) -> Vec<Lanes> {
        let running = self.running(guard);
        let (mut single, mut masked) = (None, None);
        if let Some(address) = self.same_own(address, access) {
            let described = self.described(access);
            self.call(Helper::LoadSame, &[running, address, described]);
        } else {
            address.store(&mut self.builder, self.warp, field!(addresses));
            single = self.single(address, access, running);
            if let Some(single) = &single {
                self.load_single(single, access);
            }
            masked = self.load_masked(address, access, running);
            let described = self.described(access);
            self.call(Helper::Load, &[running, described]);
        }
        let element = |index: usize| field!(values) + (8 * LANES * index) as i32;
        let loaded: Vec<Lanes> = (0..usize::from(access.count))
            .map(|index| Lanes::load(&mut self.builder, access.ty.is_wide(), self.warp, element(index)))
            .collect();
        let loaded = match masked {
            Some(done) => self.loaded_both(done, &loaded),
            None => loaded,
        };
        match single {
            Some(single) => self.loaded(&single, &loaded),
            None => loaded,
        }
    }

    pub fn store_memory(
        &mut self,
        address: &Address,
        access: Access,
        sources: &[Source],
        guard: Option<&Predicate>,
    ) {
        let ty = access.ty;
        let values: Vec<Lanes> = sources.iter().map(|&source| self.value(source, ty)).collect();
        if let Some(place) = named(address) {
            self.store_named(place, ty, values[0].clone(), guard);
            return;
        }
        self.site = self.site_of(address.slot(), true);
        if self.unit.init && self.alone.is_none() && guard.is_some() {
            let place = self.address(address);
            let running = self.running(guard);
            let after = self.begin_seldom(running);
            self.store_lanes(&place, &values, access, guard);
            return self.end_seldom(after);
        }
        let known: Vec<Known> = values.iter().cloned().map(Known::lanes).collect();
        if self.store_shaped(address, &known, access, guard)
            || self.store_scattered(address, &known, access, guard)
        {
            return;
        }
        let address = self.address(address);
        self.store_lanes(&address, &values, access, guard);
    }

    pub fn store_lanes(
        &mut self,
        address: &Lanes,
        values: &[Lanes],
        access: Access,
        guard: Option<&Predicate>,
    ) {
        let inputs: Vec<Input> = values.iter().cloned().map(Input::Lanes).collect();
        self.pass(&inputs);
        let access = Access { count: values.len() as u8, ..access };
        let running = self.running(guard);
        if let Some(address) = self.same_own(address, access) {
            let described = self.described(access);
            self.call(Helper::StoreSame, &[running, address, described]);
            return;
        }
        address.store(&mut self.builder, self.warp, field!(addresses));
        let single = self.single(address, access, running);
        if let Some(single) = &single {
            self.store_single(single, access);
        }
        let described = self.described(access);
        self.call(Helper::Store, &[running, described]);
        if let Some(single) = single {
            self.stored(&single);
        }
    }

    /// Stores to a scalar `.param` variable; values of the caller's are replaced only in the lanes
    /// that run.
    pub fn store_named(&mut self, place: Place, ty: Scalar, value: Lanes, guard: Option<&Predicate>) {
        match place {
            Place::Slot(slot) => self.set_slot(slot, Known::lanes(value), guard),
            Place::Argument(number) => {
                let pointer = self.load_at(I64, self.arguments, 8 * number as i32);
                let running = Predicate::Bits(self.running(guard));
                let old = Lanes::load(&mut self.builder, ty.is_wide(), pointer, 0);
                let value = Lanes::select(&mut self.builder, &running, &value, &old);
                value.store(&mut self.builder, pointer, 0);
            }
            _ => unreachable!("a kernel's parameters are not written, and others have addresses"),
        }
    }

    pub fn atomic(&mut self, atomic: &Atomic, guard: Option<&Predicate>) {
        let ty = atomic.ty;
        let values: Vec<Input> =
            atomic.sources.iter().map(|&source| Input::Lanes(self.value(source, ty))).collect();
        let address = self.address(&atomic.address);
        let is_seldom = self.unit.init && guard.is_some() && atomic.result.is_none();
        let after = is_seldom.then(|| {
            let running = self.running(guard);
            self.begin_seldom(running)
        });
        let is_same = |input: &Input| matches!(input, Input::Lanes(Lanes::Uniform(_)));
        let same = matches!(address, Lanes::Uniform(_)) && values.iter().all(is_same);
        let pass = |emitter: &mut Self| {
            address.store(&mut emitter.builder, emitter.warp, field!(addresses));
            emitter.pass(&values);
        };
        if !same {
            pass(self);
        }
        // Of lanes that all run one is never alone.
        let may_be_alone = guard.is_some() || !self.converged;
        let single = match &values[..] {
            [Input::Lanes(value)] if may_be_alone => {
                let running = self.running(guard);
                self.single_atomic(atomic, [&address, value], running)
            }
            _ => None,
        };
        if same {
            pass(self);
        }
        // Its order is known of the opcode.
        let access = Described {
            operation: Operation::of(atomic),
            watch: self.unit.watch,
            site: self.site_of(atomic.address.slot(), true),
            ..Described::plain(ty.size() as u8, In::of(atomic.space), self.unit.check)
        };
        let access = self.number(access.bits());
        let running = self.running(guard);
        let opcode = self.number(atomic.opcode.into());
        self.call(Helper::Atomic, &[running, access, opcode]);
        if atomic.result.is_some() {
            let mut old = Lanes::load(&mut self.builder, ty.is_wide(), self.warp, field!(results));
            if let Some(single) = &single {
                old = self.loaded(single, &[old]).remove(0);
            }
            self.write_lanes(atomic.result, ty, old, guard);
        } else if let Some(single) = &single {
            self.stored(single);
        }
        if let Some(after) = after {
            self.end_seldom(after);
        }
    }

    /// The copy is done at once, so there is nothing to wait for later.
    pub fn copy(
        &mut self,
        to: &Address,
        from: &Address,
        bytes: u32,
        taken: Source,
        guard: Option<&Predicate>,
    ) {
        let taken = self.value(taken, Scalar::U32);
        let (to, from) = (self.address(to), self.address(from));
        to.store(&mut self.builder, self.warp, field!(addresses));
        self.pass(&[Input::Lanes(from), Input::Lanes(taken)]);
        let running = self.running(guard);
        let check = if self.unit.check { CHECK } else { 0 } | if self.unit.watch { WATCH } else { 0 };
        let (bytes, check) = (self.number(bytes.into()), self.number(check as i64));
        self.call(Helper::Copy, &[running, bytes, check]);
    }

    /// A function may be called so deeply that its stack is full; a kernel may fill it with what it
    /// passes.
    pub fn check_stack(&mut self, lanes: Value) {
        if !self.unit.checks_stack() {
            return;
        }
        let top = self.builder.ins().get_stack_pointer(I64);
        let least = self.load_field(I64, field!(stack_limit));
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, top, least);
        self.call_if(below, Helper::StackOverflow, &[lanes]);
    }

    /// Makes a frame in local memory and copies parameters to it. What the top was before.
    pub fn enter_local(&mut self) -> Value {
        let layout = &self.unit.layout;
        let top = self.load_field(I64, field!(local_top));
        let base = self.builder.ins().iadd_imm_s(top, LOCAL_ALIGN - 1);
        let base = self.builder.ins().band_imm_s(base, -LOCAL_ALIGN);
        self.local_base = base;
        let size = layout.local.max(LEAST_LOCAL).next_multiple_of(16);
        let end = self.builder.ins().iadd_imm_s(base, i64::from(size));
        let most = self.load_field(I64, field!(local_stride));
        let over = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, most);
        self.call_if(over, Helper::StackOverflow, &[self.mask]);
        self.store_field(end, field!(local_top));
        if self.unit.entry {
            let parameters = layout.enters.iter().map(|copied| copied.local + copied.size).max().unwrap_or(0);
            let end = self.builder.ins().iadd_imm_s(base, i64::from(parameters));
            self.store_field(end, field!(local_parameters));
        }
        for copied in &layout.enters {
            let (pointer, stride) = if self.unit.entry {
                let parameters = self.load_field(I64, field!(parameters));
                (self.builder.ins().iadd_imm_s(parameters, i64::from(copied.from)), 0)
            } else {
                (self.load_at(I64, self.arguments, 8 * copied.from as i32), copied.size)
            };
            self.copy_local(Helper::CopyIn, pointer, copied.local, copied.size, stride);
        }
        top
    }

    /// Copies results that are in local memory to where the caller wants them.
    pub fn copy_results(&mut self) {
        for copied in &self.unit.layout.leaves {
            let pointer = self.load_at(I64, self.arguments, 8 * copied.from as i32);
            self.copy_local(Helper::CopyOut, pointer, copied.local, copied.size, copied.size);
        }
    }

    /// Copies between local memory and one copy for each lane, `stride` bytes apart.
    pub fn copy_local(&mut self, helper: Helper, pointer: Value, local: u32, size: u32, stride: u32) {
        let address = self.builder.ins().iadd_imm_s(self.local_base, i64::from(local));
        let (size, stride) = (self.number(size.into()), self.number(stride.into()));
        self.call(helper, &[self.mask, pointer, address, size, stride]);
    }
}

/// Where an access by name goes without an address, if it does.
fn named(address: &Address) -> Option<Place> {
    match address.base {
        Base::Place(place @ (Place::Slot(_) | Place::Argument(_) | Place::Parameter(_))) => Some(place),
        _ => None,
    }
}
