//! Loads and stores of a lane. An address is checked, and a helper does the access where it is not in memory that
//! is accessed here: it finds out where that is, or what the fault is.

use gangway_device_memory::{LOCAL_SIZE, LOCAL_WINDOW, range};
use gangway_simt::{Access, Address, Base, Kind, Place, Scalar, Source, Space};

use rustc_hash::FxHashMap;

use super::callee;
use super::lane::{LOCAL_END, Lane, OWN, OWN_FRAME, Reached, SHARED, SHARED_SIZE, WARP, field};
use super::text::{Label, Text, Type, Value, act, make, of};
use crate::abi::{ALL, LANES};
use crate::analysis::called::table;
use crate::support::{Access as Described, FIRST_LOCAL, Helper, Space as In};

/// An access whose address has been checked, where it is done here.
struct Checked {
    address: Value,
    /// Where it is done, as a number and as a pointer.
    place: Value,
    pointer: Value,
    slow: Label,
    done: Label,
}

impl Lane<'_> {
    /// The address of an access, in the space of the access.
    fn address(&mut self, address: &Address) -> Value {
        let base = match address.base {
            Base::Slot(slot) => {
                let base = self.slot(slot);
                self.fit(base, Scalar::U64)
            }
            Base::Place(place) => self.address_of(place),
            Base::Absolute => Value::wide(0),
        };
        if address.offset == 0 {
            return base;
        }
        self.text.binary("add", base, Value::wide(address.offset as u64))
    }

    /// The variable that an access is looked at by, and its size: where nothing else may be read, or the access names it.
    pub fn table(&self, address: &Address, writes: bool) -> Option<(u32, u64)> {
        let symbol = match address.base {
            Base::Slot(slot) if self.tables => table(&self.unit.code, slot)?,
            Base::Place(Place::Symbol(symbol)) if self.unit.check && !writes => symbol,
            _ => return None,
        };
        Some((symbol, self.unit.bytes_of(symbol)?))
    }

    /// Checks where an access goes; the code that is written next does it there.
    fn check(&mut self, address: &Address, access: Access, writes: bool) -> Checked {
        let bytes = u64::from(access.size());
        let table = self.table(address, writes);
        let granted = self.unit.check && table.is_none() && !In::of(access.space).is_narrow();
        let window = granted.then(|| self.window(address, access, writes));
        let may_be_own =
            access.space == Space::Generic && !self.same && self.unit.shapes.is_local_address(address);
        let address = self.address(address);
        if let Some(window) = window {
            return self.check_granted(window, address);
        }
        if let Some((symbol, size)) = table {
            let start = self.address_of(Place::Symbol(symbol));
            let offset = self.text.binary("sub", address, start);
            let outside = match size.checked_sub(bytes) {
                Some(last) => self.text.compare("ugt", offset, Value::wide(last)),
                None => Value::constant(Type::Bit, 1),
            };
            let low = self.text.binary("and", address, Value::wide(bytes - 1));
            let odd = self.text.compare("ne", low, Value::wide(0));
            let wrong = self.text.binary("or", outside, odd);
            return self.checked(wrong, address, address);
        }
        let (wrong, place) = match In::of(access.space) {
            In::Generic | In::Global => {
                // What is not aligned has low bits, which are the highest of the rotated distance.
                let distance = self.text.binary("sub", address, Value::wide(range().first));
                let most = range().windows - range().first - bytes;
                let turned = self.turned(distance, bytes);
                let most = Value::wide(most >> bytes.trailing_zeros());
                let wrong = self.text.compare("ugt", turned, most);
                if may_be_own { self.or_own(address, bytes, wrong) } else { (wrong, address) }
            }
            In::Shared => {
                let text = &mut self.text;
                let start = text.binary("and", address, Value::wide(u32::MAX.into()));
                let end = text.binary("add", start, Value::wide(bytes));
                let outside = text.compare("ugt", end, SHARED_SIZE);
                let low = text.binary("and", start, Value::wide(bytes - 1));
                let odd = text.compare("ne", low, Value::wide(0));
                let wrong = text.binary("or", outside, odd);
                (wrong, text.binary("add", SHARED, start))
            }
            In::Local => self.own(address, bytes),
        };
        self.checked(wrong, address, place)
    }

    /// Where an address of the lane's own memory is, and whether it is none.
    fn own(&mut self, address: Value, bytes: u64) -> (Value, Value) {
        let text = &mut self.text;
        // What is before the memory that is used is far behind it.
        let start = text.binary("sub", address, Value::wide(FIRST_LOCAL));
        let start = text.binary("and", start, Value::wide(u32::MAX.into()));
        let end = text.binary("add", start, Value::wide(FIRST_LOCAL + bytes));
        let outside = text.compare("ugt", end, LOCAL_END);
        let low = text.binary("and", start, Value::wide(bytes - 1));
        let odd = text.compare("ne", low, Value::wide(0));
        let wrong = text.binary("or", outside, odd);
        let own = text.binary("add", OWN, start);
        (wrong, text.binary("add", own, Value::wide(FIRST_LOCAL)))
    }

    /// Where a generic address is, which may be one of the lane's own memory, and whether it is neither that nor where
    /// it is `wrong` not to be.
    fn or_own(&mut self, address: Value, bytes: u64, wrong: Value) -> (Value, Value) {
        let offset = self.text.binary("sub", address, Value::wide(LOCAL_WINDOW));
        let is_own = self.text.compare("ult", offset, Value::wide(LOCAL_SIZE));
        let (outside, own) = self.own(offset, bytes);
        let choose = |text: &mut Text, a: Value, b: Value| {
            make!(text, a.ty, "select i1 {is_own}, {} {a}, {} {b}", a.ty, b.ty)
        };
        (choose(&mut self.text, outside, wrong), choose(&mut self.text, own, address))
    }

    /// Where an access is that is counted from a variable in the lane's own memory, and within that.
    fn in_variable(&mut self, address: &Address, access: Access) -> Option<Value> {
        let Base::Place(Place::Local(start)) = address.base else { return None };
        let first = u64::from(start).checked_add_signed(address.offset)?;
        let bytes = u64::from(access.size());
        let known = first + bytes <= self.unit.layout.local.into() && first.is_multiple_of(bytes);
        let known = known && access.space == Space::Local && !self.same;
        known.then(|| self.text.behind(OWN_FRAME, Value::wide(first)))
    }

    /// The same in check mode. Where the region knows of no range, it asks for one first.
    fn check_granted(&mut self, window: usize, address: Value) -> Checked {
        let outside = self.is_outside_window(window, address);
        let text = &mut self.text;
        let (renew, slow, fast, done) = (text.label(), text.label(), text.label(), text.label());
        text.seldom(outside, renew, fast);
        text.begin(renew);
        self.renew_window(window, address);
        let outside = self.is_outside_window(window, address);
        let text = &mut self.text;
        text.branch(outside, slow, fast);
        text.begin(fast);
        let pointer = text.convert("inttoptr", address, Type::Pointer);
        Checked { address, place: address, pointer, slow, done }
    }

    fn checked(&mut self, wrong: Value, address: Value, place: Value) -> Checked {
        let text = &mut self.text;
        let (slow, fast, done) = (text.label(), text.label(), text.label());
        text.seldom(wrong, slow, fast);
        text.begin(fast);
        let pointer = text.convert("inttoptr", place, Type::Pointer);
        Checked { address, place, pointer, slow, done }
    }

    /// What helpers are told about an access.
    fn described(&mut self, address: &Address, access: Access, writes: bool) -> Value {
        let plain = Described::plain(access.ty.size() as u8, In::of(access.space), self.unit.check);
        let site = if self.unit.check { self.site(address, writes) } else { 0 };
        let described = Described { count: access.count, site, watch: self.unit.watch, ..plain };
        Value::wide(described.bits() as u64)
    }

    /// Where an element of the lane is that helpers load or store.
    pub const fn element(index: usize) -> u64 {
        field!(values) + (8 * LANES * index) as u64
    }

    /// The operation whose fault one could be; `loads` are those that slots have been loaded by.
    pub fn line_of(&self, index: u32, loads: &mut FxHashMap<u32, u32>) -> u32 {
        let operation = self.unit.operation(index);
        let (mut line, mut written) = (index, Vec::new());
        let computes = matches!(operation.kind, Kind::Compute(_) | Kind::Move { .. } | Kind::Repack { .. });
        operation.each_slot(&mut |slot, write| match loads.get(&slot) {
            _ if write => written.push(slot),
            Some(&load) if computes => line = load,
            _ => {}
        });
        let steps = matches!(self.known.get(&index), Some(Reached::Steps { .. }));
        let unchecked = matches!(operation.kind, Kind::Load { .. }) && steps;
        for slot in written {
            if unchecked {
                loads.insert(slot, index);
            } else {
                loads.remove(&slot);
            }
        }
        line
    }

    /// Where an access of the operation that is written is known to go, and whether in steps.
    fn reached(&mut self, address: &Address) -> Option<(Value, bool)> {
        Some(match *self.known.get(&self.text.operation()?)? {
            Reached::Steps { base, distance, offset, .. } => {
                let at = self.text.behind(base, distance);
                (self.text.behind(at, Value::wide(offset as u64)), true)
            }
            Reached::Address => {
                let address = self.address(address);
                (self.text.convert("inttoptr", address, Type::Pointer), false)
            }
        })
    }

    /// Where the operation that is written keeps what it stores.
    fn kept(&self) -> Option<Value> {
        match self.known.get(&self.text.operation()?)? {
            Reached::Steps { kept, .. } => *kept,
            Reached::Address => None,
        }
    }

    /// Puts an address or a value where helpers look for it: the lane's, or all lanes'.
    pub fn pass_to_store(&mut self, value: Value, field: u64) {
        if !self.same {
            return self.pass(value, field);
        }
        let (ty, at) = (value.ty, self.text.behind(WARP, Value::wide(field)));
        let all = format!("<{LANES} x {ty}>");
        let one = make!(self.text, ty, "insertelement {all} poison, {ty} {value}, i64 0");
        let each =
            make!(self.text, ty, "shufflevector {all} {one}, {all} poison, <{LANES} x i32> zeroinitializer");
        act!(self.text, "store {all} {each}, ptr {at}, align 8");
    }

    pub fn load_memory(&mut self, address: &Address, access: Access, results: &[Option<u32>]) {
        let ty = access.ty;
        if let Base::Place(place @ (Place::Slot(_) | Place::Parameter(_) | Place::Argument(_))) = address.base
        {
            for (index, &slot) in (0i64..).zip(results) {
                let offset = address.offset + i64::from(ty.size()) * index;
                let value = self.load_named(place, offset, ty);
                self.write(slot, ty, value);
            }
            return;
        }
        if let Some((pointer, steps)) = self.reached(address) {
            for (index, &slot) in (0u64..).zip(results) {
                let at = self.text.behind(pointer, Value::wide(index * u64::from(ty.size())));
                let float = self.reads.has_float(slot);
                let value = match steps {
                    true => self.load_plain(at, ty, float),
                    false if float && ty.size() >= 4 => self.load_apart(at, ty),
                    false => self.load_value(at, ty, float, ""),
                };
                self.write(slot, ty, value);
            }
            return;
        }
        if let Some(pointer) = self.in_variable(address, access) {
            for (index, &slot) in (0u64..).zip(results) {
                let at = self.text.behind(pointer, Value::wide(index * u64::from(ty.size())));
                let value = self.load_plain(at, ty, self.reads.has_float(slot));
                self.write(slot, ty, value);
            }
            return;
        }
        let checked = self.check(address, access, false);
        self.tell_of(address, access, checked.place, None);
        // A load whose value nobody needs may have to be done all the same, for its fault.
        let needed = results.iter().flatten().any(|&slot| self.reads.has(slot));
        let how = if needed { "" } else { "volatile " };
        let mut loaded = Vec::new();
        for index in 0..u64::from(access.count) {
            let at = self.text.behind(checked.pointer, Value::wide(index * u64::from(ty.size())));
            let float = self.reads.has_float(results[index as usize]);
            loaded.push(self.load_value(at, ty, float, how));
        }
        let fast = self.text.label();
        self.text.jump(fast);
        self.text.begin(fast);
        self.text.jump(checked.done);
        self.text.begin(checked.slow);
        if let Some(leave) = self.leave {
            self.text.jump(leave);
            self.text.begin(checked.done);
            for (&slot, value) in results.iter().zip(loaded) {
                self.write(slot, ty, value);
            }
            return;
        }
        // Where accesses are watched all lanes are told of.
        let all = self.same && self.unit.watch;
        match all {
            true => self.pass_to_store(checked.address, field!(addresses)),
            false => self.pass(checked.address, field!(addresses)),
        }
        let (bit, described) = (self.bit(), self.described(address, access, false));
        let bit = if all { Value::wide(ALL.into()) } else { bit };
        self.call(Helper::Load, &[bit, described]);
        let slow: Vec<Value> =
            (0..usize::from(access.count)).map(|index| self.take(of(ty), Self::element(index))).collect();
        let behind = self.text.label();
        self.text.jump(behind);
        self.text.begin(behind);
        self.text.jump(checked.done);
        self.text.begin(checked.done);
        let values: Vec<Value> = loaded
            .iter()
            .zip(&slow)
            .map(|(&a, &b)| make!(self.text, a.ty, "phi {} [ {a}, {fast} ], [ {b}, {behind} ]", a.ty))
            .collect();
        for (&slot, value) in results.iter().zip(values) {
            self.write(slot, ty, value);
        }
    }

    /// One value, zero-extended, of which LLVM knows all.
    fn load_plain(&mut self, at: Value, ty: Scalar, float: bool) -> Value {
        let size = ty.size();
        match (float, size) {
            (_, 1 | 2) => {
                let narrow = make!(self.text, Type::Word, "load i{}, ptr {at}", 8 * size);
                make!(self.text, Type::Word, "zext i{} {narrow} to i32", 8 * size)
            }
            (true, 4) => {
                let value = self.text.load(Type::Single, at);
                self.text.convert("bitcast", value, Type::Word)
            }
            (true, _) => {
                let value = self.text.load(Type::Double, at);
                self.text.convert("bitcast", value, Type::Wide)
            }
            (false, _) => self.text.load(of(ty), at),
        }
    }

    /// A number that is no integer, by an instruction of its own, as with [`Self::load_value`]: another one may have a
    /// load in steps in it. Loops with this are unrolled, those with an assembler's text are not.
    fn load_apart(&mut self, at: Value, ty: Scalar) -> Value {
        let (kind, name) = if ty.is_wide() { (Type::Double, "f64") } else { (Type::Single, "f32") };
        self.declared.insert(format!("declare {kind} @llvm.arithmetic.fence.{name}({kind})"));
        let value = self.text.load(kind, at);
        let value = make!(self.text, kind, "call {kind} @llvm.arithmetic.fence.{name}({kind} {value})");
        self.text.convert("bitcast", value, of(ty))
    }

    /// One value, zero-extended, in a register of the kind that it is used in. An instruction of the processor that
    /// loads and computes would be another operation's than the load, and so would its fault be: so nothing is known
    /// of what has been loaded.
    fn load_value(&mut self, at: Value, ty: Scalar, float: bool, how: &str) -> Value {
        let size = ty.size();
        if size < 4 {
            let narrow = make!(self.text, Type::Word, "load {how}i{}, ptr {at}", 8 * size);
            return make!(self.text, Type::Word, "zext i{} {narrow} to i32", 8 * size);
        }
        let (kind, register) = match (float, ty.is_wide()) {
            (false, false) => (Type::Word, "r"),
            (false, true) => (Type::Wide, "r"),
            (true, false) => (Type::Single, "x"),
            (true, true) => (Type::Double, "x"),
        };
        let value = make!(self.text, kind, "load {how}{kind}, ptr {at}");
        let value = make!(self.text, kind, "call {kind} asm \"\", \"={register},0\"({kind} {value})");
        if float { self.text.convert("bitcast", value, of(ty)) } else { value }
    }

    fn load_named(&mut self, place: Place, offset: i64, ty: Scalar) -> Value {
        match place {
            Place::Slot(slot) => self.slot(slot),
            Place::Argument(number) => {
                let place = callee::place(number);
                make!(self.text, of(ty), "load {}, ptr {place}", of(ty))
            }
            Place::Parameter(start) => {
                let parameters = self.field(Type::Pointer, field!(parameters));
                let offset = i64::from(start) + offset;
                let at = self.text.behind(parameters, Value::wide(offset as u64));
                let size = ty.size();
                match size {
                    1 | 2 => {
                        let narrow = make!(self.text, Type::Word, "load i{}, ptr {at}, align 1", 8 * size);
                        make!(self.text, Type::Word, "zext i{} {narrow} to i32", 8 * size)
                    }
                    _ => make!(self.text, of(ty), "load {}, ptr {at}, align 1", of(ty)),
                }
            }
            _ => unreachable!("these have addresses, or no region accesses them"),
        }
    }

    pub fn store_memory(&mut self, address: &Address, access: Access, sources: &[Source]) {
        let ty = access.ty;
        let values: Vec<Value> = sources.iter().map(|&source| self.value(source, ty)).collect();
        if let Base::Place(Place::Slot(slot)) = address.base {
            return self.set_slot(slot, values[0]);
        }
        if let Base::Place(Place::Argument(number)) = address.base {
            let (value, place) = (values[0], callee::place(number));
            return act!(self.text, "store {} {value}, ptr {place}", value.ty);
        }
        if let Some((pointer, _)) = self.reached(address) {
            if let Some(kept) = self.kept() {
                self.store_at(kept, ty, &values);
            }
            return self.store_at(pointer, ty, &values);
        }
        if let Some(pointer) = self.in_variable(address, access) {
            return self.store_at(pointer, ty, &values);
        }
        let checked = self.check(address, access, true);
        self.tell_of(address, access, checked.place, Some(&values));
        self.store_at(checked.pointer, ty, &values);
        self.text.jump(checked.done);
        self.text.begin(checked.slow);
        self.pass_to_store(checked.address, field!(addresses));
        for (index, &value) in values.iter().enumerate() {
            self.pass_to_store(value, Self::element(index));
        }
        // A generic address may be one of each lane's own memory.
        let (bit, described) = (self.bit(), self.described(address, access, true));
        let bit = if self.same { Value::wide(ALL.into()) } else { bit };
        self.call(Helper::Store, &[bit, described]);
        self.text.jump(checked.done);
        self.text.begin(checked.done);
    }
    fn store_at(&mut self, pointer: Value, ty: Scalar, values: &[Value]) {
        for (index, &value) in (0u64..).zip(values) {
            let at = self.text.behind(pointer, Value::wide(index * u64::from(ty.size())));
            match ty.size() {
                size @ (1 | 2) => {
                    let narrow = make!(self.text, Type::Word, "trunc i32 {value} to i{}", 8 * size);
                    act!(self.text, "store i{} {narrow}, ptr {at}", 8 * size);
                }
                _ => self.text.store(value, at),
            }
        }
    }
}
