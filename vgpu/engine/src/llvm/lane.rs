//! What the code of one lane consists of: its slots, the warp's state, calls of helpers.

use rustc_hash::FxHashMap;

use gangway_simt::{Axis, Guard, Kind, Lanes, Part, Place, Read, Scalar, Source, Special};

use super::granted::Granted;
use super::sequence::{Declared, canonical};
use super::text::{Label, Text, Type, Value, act, held, make, of};
use crate::abi::LANES;
use crate::analysis::liveness::Set;
use crate::analysis::roots::Roots;
use crate::analysis::unit::Unit;
use crate::support::Helper;

/// The offset of a field of the warp's state.
macro_rules! field {
    ($name:ident) => {
        std::mem::offset_of!($crate::abi::Warp, $name) as u64
    };
}
pub(super) use field;

/// What is the same for all lanes and looked up once: the code before the loop over lanes gives these names.
pub(super) const WARP: Value = Value::given(Type::Pointer, "warp");
pub(super) const FRAME: Value = Value::given(Type::Pointer, "frame");
pub(super) const LOCAL_BASE: Value = Value::given(Type::Wide, "local_base");
pub(super) const SHARED: Value = Value::given(Type::Wide, "shared");
pub(super) const SHARED_SIZE: Value = Value::given(Type::Wide, "shared_size");
/// Where local memory ends that is used.
pub(super) const LOCAL_END: Value = Value::given(Type::Wide, "local_end");
/// The fuel that is left, for each lane: what takes all lanes a step takes each of them one here.
pub(super) const FUEL: Value = Value::given(Type::Pointer, "fuel");
/// The lane: its number, and where its own memory begins.
pub(super) const LANE: Value = Value::given(Type::Wide, "lane");
pub(super) const OWN: Value = Value::given(Type::Wide, "own");
/// Where the function's variables are in it.
pub(super) const OWN_FRAME: Value = Value::given(Type::Pointer, "own_frame");

/// How the function's operations read slots, and what they count addresses from.
pub(super) struct Reads {
    /// At all.
    any: Set,
    /// As numbers that are no integers.
    floats: Set,
    /// Slots that hold what arithmetic of 32 bits gives, and nothing else: their NaN is looked for where bits are taken,
    /// and not where they are computed, which would be in each turn of a loop.
    numbers: Set,
    pub roots: Roots,
}

impl Reads {
    #[must_use]
    pub fn new(unit: &Unit<'_>) -> Self {
        let slots = unit.code.slots.len();
        let numbers = super::numbers::numbers(unit);
        let roots = Roots::new(&unit.code);
        let mut reads = Reads { any: Set::new(slots), floats: Set::new(slots), numbers, roots };
        for operation in &unit.code.operations {
            operation.each_slot(&mut |slot, write| {
                if !write {
                    reads.any.insert(slot);
                }
            });
            let Kind::Compute(compute) = &operation.kind else { continue };
            for read in compute.sources.iter().filter(|read| read.ty.is_float()) {
                read.source.slot().into_iter().for_each(|slot| reads.floats.insert(slot));
            }
        }
        reads
    }

    #[must_use]
    pub fn has(&self, slot: u32) -> bool {
        self.any.contains(slot)
    }

    /// Whether a slot's value may have any bits for NaN.
    #[must_use]
    pub fn is_raw(&self, slot: u32) -> bool {
        self.numbers.contains(slot)
    }

    #[must_use]
    pub fn has_float(&self, slot: Option<u32>) -> bool {
        slot.is_some_and(|slot| self.floats.contains(slot))
    }
}

/// Writes the code of a lane.
pub(super) struct Lane<'a> {
    pub unit: &'a Unit<'a>,
    pub text: Text,
    pub declared: &'a mut Declared,
    pub reads: &'a Reads,
    /// All lanes have the same values: this one stands for the warp, and its fuel is the warp's.
    pub same: bool,
    /// Where code goes that cannot do the load that its block begins with.
    pub leave: Option<Label>,
    /// It is run in a function that is called: tables are all that it reads.
    pub tables: bool,
    /// Accesses whose addresses are known to be in memory, by operation.
    pub known: FxHashMap<u32, Reached>,
    /// Check mode: the memory that accesses may go to.
    pub granted: Granted,
}

/// Where an access goes that needs no check.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reached {
    /// So far behind a pointer. What it stores is kept there as well, if that is told of behind the loop's turns.
    Steps { base: Value, distance: Value, offset: i64, kept: Option<Value> },
    /// To its address, whatever that is.
    Address,
}

impl<'a> Lane<'a> {
    /// Of a function of a warp's. With `same` all lanes have the same values.
    pub fn new(
        unit: &'a Unit<'a>,
        text: Text,
        declared: &'a mut Declared,
        reads: &'a Reads,
        same: bool,
    ) -> Self {
        Lane {
            unit,
            text,
            declared,
            reads,
            same,
            leave: None,
            tables: false,
            known: FxHashMap::default(),
            granted: Granted::default(),
        }
    }

    /// The function of a warp's that has been written, with its own location first among `locations`.
    pub fn function(self, name: &str, locations: u32, located: &mut String) -> String {
        self.text.locate(name, located);
        format!(
            "define internal i64 @{name}(ptr noalias %warp, ptr noalias %frame) noinline #0 !dbg !{} {{\n{}}}\n",
            locations - 1,
            self.text.text
        )
    }
}

impl Lane<'_> {
    pub fn ty(&self, slot: u32) -> Scalar {
        self.unit.code.slots[slot as usize]
    }

    /// Where a slot is: LLVM makes values of these places.
    fn place(&mut self, slot: u32) -> String {
        format!("%s{slot}")
    }

    /// What a slot holds.
    pub fn slot(&mut self, slot: u32) -> Value {
        let value = self.raw_slot(slot);
        if self.reads.is_raw(slot) { canonical(&mut self.text, value) } else { value }
    }

    /// The same, with any bits for NaN where that is looked for later.
    pub fn raw_slot(&mut self, slot: u32) -> Value {
        let (ty, held, place) = (of(self.ty(slot)), held(self.ty(slot)), self.place(slot));
        let value = make!(self.text, held, "load {held}, ptr {place}");
        if held == ty { value } else { self.text.convert("bitcast", value, ty) }
    }

    pub fn set_slot(&mut self, slot: u32, value: Value) {
        let (held, place) = (held(self.ty(slot)), self.place(slot));
        let value = if held == value.ty { value } else { self.text.convert("bitcast", value, held) };
        act!(self.text, "store {held} {value}, ptr {place}");
    }

    pub fn guard(&mut self, guard: Guard) -> Value {
        let holds = self.slot(guard.slot);
        if guard.negated { self.not(holds) } else { holds }
    }

    fn not(&mut self, holds: Value) -> Value {
        self.text.binary("xor", holds, Value::constant(Type::Bit, 1))
    }

    /// The value of a source: its slot as it is, which may be wider than `ty`.
    pub fn source(&mut self, source: Source, ty: Scalar) -> Value {
        match source {
            Source::Slot(slot) => self.slot(slot),
            Source::Not(slot) => {
                let holds = self.slot(slot);
                self.not(holds)
            }
            Source::Constant(value) if ty == Scalar::Predicate => {
                Value::constant(Type::Bit, u64::from(value != 0))
            }
            Source::Constant(value) => {
                let bits = if ty.bits() >= 64 { value } else { value & ((1 << ty.bits()) - 1) };
                Value::constant(of(ty), bits)
            }
            Source::Address(place, offset) => {
                let address = self.address_of(place);
                let address = self.text.binary("add", address, Value::wide(offset as u64));
                self.fit(address, ty)
            }
            Source::Special(special) => {
                let value = self.special(special);
                self.fit(value, ty)
            }
        }
    }

    pub fn read(&mut self, read: Read) -> Value {
        self.source(read.source, read.ty)
    }

    /// The value of a source in exactly the bits of `ty`, zero above.
    pub fn value(&mut self, source: Source, ty: Scalar) -> Value {
        let value = self.source(source, ty);
        self.fit(value, ty)
    }

    /// The low bits of a value, in the form that values of `ty` have.
    pub fn fit(&mut self, value: Value, ty: Scalar) -> Value {
        let value = match (value.ty.is_wide(), ty.is_wide()) {
            (true, false) => self.text.convert("trunc", value, Type::Word),
            (false, true) => self.text.convert("zext", value, Type::Wide),
            _ => value,
        };
        if ty.bits() >= 32 {
            return value;
        }
        self.text.binary("and", value, Value::word((1 << ty.bits()) - 1))
    }

    /// Writes a value of type `ty` to a slot, if somebody wants it: extended by the type's sign where the slot
    /// is wider.
    pub fn write(&mut self, slot: Option<u32>, ty: Scalar, value: Value) {
        let Some(slot) = slot else { return };
        let to = self.ty(slot);
        let value = if ty == Scalar::Predicate || to.bits() <= ty.bits() {
            value
        } else {
            let narrow = ty.bits() < 32 && ty.is_signed();
            let value = if narrow {
                let shift = Value::word(32 - ty.bits());
                let high = self.text.binary("shl", value, shift);
                self.text.binary("ashr", high, shift)
            } else {
                value
            };
            match (to.is_wide(), to.bits()) {
                (true, _) => {
                    let name = if ty.is_signed() { "sext" } else { "zext" };
                    self.text.convert(name, value, Type::Wide)
                }
                (false, 16) if narrow => self.text.binary("and", value, Value::word(0xffff)),
                _ => value,
            }
        };
        // What is wider than the slot is cut, as the slot's value is when it is read.
        let value = match (value.ty, of(to)) {
            (Type::Wide, Type::Word) => self.text.convert("trunc", value, Type::Word),
            (Type::Word, Type::Wide) => self.text.convert("zext", value, Type::Wide),
            _ => value,
        };
        self.set_slot(slot, value);
    }

    /// A field of the warp's state.
    pub fn field(&mut self, ty: Type, offset: u64) -> Value {
        let at = self.text.behind(WARP, Value::wide(offset));
        self.text.load(ty, at)
    }

    /// The address of a place in its own space.
    pub fn address_of(&mut self, place: Place) -> Value {
        match place {
            Place::Function(number) => Value::wide(gangway_device_memory::function_address(number)),
            Place::Symbol(index) => {
                let table = self.field(Type::Pointer, field!(symbols));
                let at = self.text.behind(table, Value::wide(8 * u64::from(index)));
                self.text.load(Type::Wide, at)
            }
            Place::Local(offset) => self.text.binary("add", LOCAL_BASE, Value::wide(offset.into())),
            Place::Slot(_) | Place::Argument(_) | Place::Parameter(_) => {
                unreachable!("what has a place of another kind has no address that anybody takes")
            }
        }
    }

    fn special(&mut self, special: Special) -> Value {
        let element = |base: u64, axis: Axis| base + 4 * axis as u64;
        let offset = match special {
            Special::Thread(axis) => {
                let first = field!(thread) + (4 * LANES * axis as usize) as u64;
                let at = self.cell(first, 4);
                return self.text.load(Type::Word, at);
            }
            Special::Lane => return self.text.convert("trunc", LANE, Type::Word),
            Special::LaneMask(lanes) => return self.lane_mask(lanes),
            Special::Clock(_) | Special::Time(_) => unreachable!("no region has the time"),
            Special::Grid => return self.field(Type::Wide, field!(grid_id)),
            Special::Shared => return self.text.convert("trunc", SHARED_SIZE, Type::Word),
            Special::Threads(axis) => element(field!(threads), axis),
            Special::Block(axis) => element(field!(block), axis),
            Special::Blocks(axis) => element(field!(grid), axis),
            Special::Warp => field!(warp_index),
            Special::Warps => field!(warps),
            Special::Processor => field!(worker),
            Special::Processors => field!(workers),
            Special::DynamicShared => field!(dynamic_shared),
            Special::Workspace(Part::High) => field!(workspace) + 4,
            Special::Workspace(Part::Low) => field!(workspace),
            Special::Workspace(Part::Whole) => return self.field(Type::Wide, field!(workspace)),
        };
        self.field(Type::Word, offset)
    }

    fn lane_mask(&mut self, lanes: Lanes) -> Value {
        let lane = self.text.convert("trunc", LANE, Type::Word);
        let own = self.text.binary("shl", Value::word(1), lane);
        let before = self.text.binary("sub", own, Value::word(1));
        let all = |text: &mut Text, value: Value| text.binary("xor", value, Value::word(u32::MAX));
        match lanes {
            Lanes::Own => own,
            Lanes::Before => before,
            Lanes::UpToOwn => self.text.binary("or", own, before),
            Lanes::FromOwn => all(&mut self.text, before),
            Lanes::Behind => {
                let up = self.text.binary("or", own, before);
                all(&mut self.text, up)
            }
        }
    }

    /// Where the lane's value is in a field with one of so many bytes for each.
    pub fn cell(&mut self, field: u64, bytes: u64) -> Value {
        let at = self.text.binary("mul", LANE, Value::wide(bytes));
        let at = self.text.binary("add", at, Value::wide(field));
        self.text.behind(WARP, at)
    }

    /// The lane's bit.
    pub fn bit(&mut self) -> Value {
        self.text.binary("shl", Value::wide(1), LANE)
    }

    /// Calls a helper, which is seldom; what it gives.
    pub fn call(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let table = self.field(Type::Pointer, field!(helpers));
        let at = self.text.behind(table, Value::wide(8 * helper as u64));
        let entry = self.text.load(Type::Pointer, at);
        let given: String = arguments.iter().map(|argument| format!(", i64 {argument}")).collect();
        make!(self.text, Type::Wide, "call i64 {entry}(ptr {WARP}{given}) #1")
    }

    /// Puts a value where helpers look for the lane's.
    pub fn pass(&mut self, value: Value, field: u64) {
        match value.ty {
            Type::Bit => {
                let bit = self.text.convert("zext", value, Type::Wide);
                let bits = self.text.binary("shl", bit, LANE);
                let bits = self.text.convert("trunc", bits, Type::Word);
                let at = self.text.behind(WARP, Value::wide(field));
                self.text.store(bits, at);
            }
            ty => {
                let at = self.cell(field, u64::from(ty.bits() / 8));
                self.text.store(value, at);
            }
        }
    }

    /// Takes what a helper has left for the lane.
    pub fn take(&mut self, ty: Type, field: u64) -> Value {
        if ty == Type::Bit {
            let bits = self.field(Type::Word, field);
            let lane = self.text.convert("trunc", LANE, Type::Word);
            let bits = self.text.binary("lshr", bits, lane);
            return self.text.convert("trunc", bits, Type::Bit);
        }
        let at = self.cell(field, u64::from(ty.bits() / 8));
        self.text.load(ty, at)
    }

    /// Goes to a block, and takes what a step back costs from the fuel if it is one.
    pub fn go(&mut self, to: Label, cost: Option<i64>) {
        match cost {
            Some(cost) => self.spend(Value::wide(cost as u64), to),
            None => self.text.jump(to),
        }
    }

    /// Takes from the fuel, and goes to a block.
    pub fn spend(&mut self, cost: Value, to: Label) {
        let fuel = self.text.load(Type::Wide, FUEL);
        let fuel = self.text.binary("sub", fuel, cost);
        self.text.store(fuel, FUEL);
        let spent = self.text.compare("slt", fuel, Value::wide(0));
        let pause = self.text.label();
        let Some(freed) = self.has_freed() else {
            self.text.seldom(spent, pause, to);
            self.text.begin(pause);
            self.pause();
            return self.text.jump(to);
        };
        let either = self.text.binary("or", spent, freed);
        let (seldom, forget) = (self.text.label(), self.text.label());
        self.text.seldom(either, seldom, to);
        self.text.begin(seldom);
        self.text.branch(spent, pause, forget);
        self.text.begin(pause);
        self.pause();
        self.text.jump(forget);
        self.text.begin(forget);
        self.forget_windows();
        self.text.jump(to);
    }

    /// Lets others run.
    fn pause(&mut self) {
        self.put_fuel();
        self.call(Helper::Turn, &[]);
        self.take_fuel();
    }

    /// Takes the warp's fuel, for all its lanes if each runs by itself.
    pub fn take_fuel(&mut self) {
        let mut fuel = self.field(Type::Wide, field!(fuel));
        if !self.same {
            fuel = self.text.binary("mul", fuel, Value::wide(LANES as u64));
        }
        self.text.store(fuel, FUEL);
    }

    /// Gives back what is left.
    pub fn put_fuel(&mut self) {
        let mut fuel = self.text.load(Type::Wide, FUEL);
        if !self.same {
            fuel = self.text.binary("ashr", fuel, Value::wide(LANES.trailing_zeros().into()));
        }
        let at = self.text.behind(WARP, Value::wide(field!(fuel)));
        self.text.store(fuel, at);
    }
}
