//! Check mode: the ranges of memory that a region may access, as it remembers them.
//!
//! What a warp remembers for each site ([`grants`]) is looked at once where a region begins. From then on the region
//! has a window for all accesses of a kind that are counted from the same pointer: the first place that such an access
//! may have, and how many there are. So an access is looked at as without the check, and only the bounds are others.
//! What is in no window asks for one, and goes to a helper if there is none: that finds out what the fault is.
//!
//! Windows hold until memory has been freed, which is looked at where a loop begins again. Between two such places a
//! region waits for nobody, so whoever frees meanwhile has not been told to.

use std::fmt::Write;

use gangway_simt::{Access, Address, Base, Kind, Place};

use super::granted::{Granted, Window};
use super::lane::{Lane, field};
use super::text::{Type, Value, make};
use crate::analysis::unit::Unit;
use crate::grants::{self, SITES};
use crate::support::{Helper, Space as In};
use crate::windows;

/// Where the counter of what has been freed is, and what it was when windows were last renewed.
const FREED: &str = "%freed";
const SEEN: &str = "%freed_seen";

/// Where a warp remembers what accesses from a base may access: from the other end on than Cranelift's.
fn site(unit: &Unit<'_>, base: Base, writes: bool) -> u8 {
    const EACH: usize = SITES / 2;
    let number = match base {
        Base::Slot(slot) => slot,
        Base::Place(Place::Symbol(symbol)) => symbol,
        Base::Place(_) | Base::Absolute => 0,
    };
    grants::number(unit.index, EACH - 1 - number as usize % EACH, writes)
}

impl Lane<'_> {
    /// What the accesses of blocks need.
    fn granted_to(&self, blocks: &[u32]) -> Granted {
        let (unit, roots) = (self.unit, &self.reads.roots);
        let mut granted = Granted::default();
        for &block in blocks {
            for index in unit.code.blocks[block as usize].operations.clone() {
                let (access, address, writes) = match &unit.operation(index).kind {
                    Kind::Load { access, address, .. } => (access, address, false),
                    Kind::Store { access, address, .. } => (access, address, true),
                    _ => continue,
                };
                let named = matches!(
                    address.base,
                    Base::Place(Place::Slot(_) | Place::Argument(_) | Place::Parameter(_))
                );
                if named || In::of(access.space).is_narrow() || self.table(address, writes).is_some() {
                    continue;
                }
                let bytes = access.size().into();
                granted.add(Window { base: roots.of(address), writes, bytes });
            }
        }
        granted
    }

    /// Takes what the warp remembers, where a region's code begins.
    pub fn begin_windows(&mut self, blocks: &[u32]) {
        if !self.unit.check {
            return;
        }
        self.granted = self.granted_to(blocks);
        if self.granted.windows.is_empty() {
            return;
        }
        let freed = self.field(Type::Pointer, field!(freed));
        let _ = writeln!(self.text.text, "  {FREED} = getelementptr i8, ptr {freed}, i64 0");
        let _ = writeln!(self.text.text, "  {SEEN} = alloca i64");
        let holds = self.holds();
        let now = self.freed();
        self.text.act(format_args!("store i64 {now}, ptr {SEEN}"));
        for number in 0..self.granted.windows.len() {
            let _ = writeln!(self.text.text, "  %start{number} = alloca i64\n  %places{number} = alloca i64");
            let Window { base, writes, .. } = self.granted.windows[number];
            let (start, length) = self.remembered(site(self.unit, base, writes), holds);
            self.set_window(number, start, length);
        }
    }

    /// How often memory has been freed.
    fn freed(&mut self) -> Value {
        make!(self.text, Type::Wide, "load volatile i64, ptr {FREED}")
    }

    /// Whether nothing has been freed since the warp was told what it remembers.
    fn holds(&mut self) -> Value {
        let known = self.field(Type::Wide, field!(grants) + grants::KNOWN as u64);
        let now = self.freed();
        self.text.compare("eq", known, now)
    }

    /// The range that the warp remembers for a site, empty where that holds no more.
    fn remembered(&mut self, site: u8, holds: Value) -> (Value, Value) {
        let at = field!(grants) + grants::EACH as u64 + u64::from(site) * size_of::<windows::Window>() as u64;
        let start = self.field(Type::Wide, at + windows::START as u64);
        let length = self.field(Type::Wide, at + windows::LENGTH as u64);
        (start, self.text.select(holds, length, Value::wide(0)))
    }

    /// A window of a range: of aligned places in it.
    fn set_window(&mut self, number: usize, start: Value, length: Value) {
        let bytes = self.granted.windows[number].bytes;
        let text = &mut self.text;
        let first = text.binary("add", start, Value::wide(bytes - 1));
        let first = text.binary("and", first, Value::wide(bytes.wrapping_neg()));
        let skipped = text.binary("sub", first, start);
        let needed = text.binary("add", skipped, Value::wide(bytes));
        let rest = text.binary("sub", length, needed);
        let some = text.compare("uge", length, needed);
        let places = text.binary("lshr", rest, Value::wide(bytes.trailing_zeros().into()));
        let places = text.binary("add", places, Value::wide(1));
        let places = text.select(some, places, Value::wide(0));
        text.act(format_args!("store i64 {first}, ptr %start{number}"));
        text.act(format_args!("store i64 {places}, ptr %places{number}"));
    }

    /// The window of an access.
    pub fn window(&self, address: &Address, access: Access, writes: bool) -> usize {
        let base = self.reads.roots.of(address);
        self.granted.find(Window { base, writes, bytes: access.size().into() })
    }

    /// Whether an address is none of a window's places.
    pub fn is_outside_window(&mut self, number: usize, address: Value) -> Value {
        let bytes = self.granted.windows[number].bytes;
        let start = make!(self.text, Type::Wide, "load i64, ptr %start{number}");
        let places = make!(self.text, Type::Wide, "load i64, ptr %places{number}");
        let distance = self.text.binary("sub", address, start);
        let place = self.turned(distance, bytes);
        self.text.compare("uge", place, places)
    }

    /// Asks for the window around an address.
    pub fn renew_window(&mut self, number: usize, address: Value) {
        let Window { base, writes, .. } = self.granted.windows[number];
        let (start, length) = self.granted_around(address, site(self.unit, base, writes));
        self.set_window(number, start, length);
    }

    fn granted_around(&mut self, address: Value, site: u8) -> (Value, Value) {
        self.call(Helper::Grant, &[address, Value::wide(site.into())]);
        let at = field!(grants) + grants::GIVEN as u64;
        let start = self.field(Type::Wide, at + windows::START as u64);
        (start, self.field(Type::Wide, at + windows::LENGTH as u64))
    }

    /// What a helper has to be told about where the warp remembers an access.
    pub fn site(&self, address: &Address, writes: bool) -> u8 {
        site(self.unit, self.reads.roots.of(address), writes)
    }

    /// Whether something has been freed since windows were renewed; none where there are none.
    pub fn has_freed(&mut self) -> Option<Value> {
        if self.granted.windows.is_empty() {
            return None;
        }
        let now = self.freed();
        let seen = make!(self.text, Type::Wide, "load i64, ptr {SEEN}");
        Some(self.text.compare("ne", now, seen))
    }

    /// Forgets all windows.
    pub fn forget_windows(&mut self) {
        if self.granted.windows.is_empty() {
            return;
        }
        let now = self.freed();
        self.text.act(format_args!("store i64 {now}, ptr {SEEN}"));
        for number in 0..self.granted.windows.len() {
            self.text.act(format_args!("store i64 0, ptr %places{number}"));
        }
    }

    /// Whether `bytes` from each of these places on are in one range that accesses from a base may access, as far as
    /// that has to be known: where `asked` holds. The first place says in which.
    pub fn are_granted(
        &mut self,
        base: Base,
        writes: bool,
        places: &[Value],
        bytes: u64,
        asked: Value,
    ) -> Value {
        let site = site(self.unit, base, writes);
        let (here, renew, known) = (self.text.label(), self.text.label(), self.text.label());
        self.text.jump(here);
        self.text.begin(here);
        let holds = self.holds();
        let (start, length) = self.remembered(site, holds);
        let inside = self.are_within(places, bytes, start, length);
        let outside = self.text.binary("xor", inside, Value::constant(Type::Bit, 1));
        let outside = self.text.binary("and", outside, asked);
        self.text.seldom(outside, renew, known);
        self.text.begin(renew);
        let (start, length) = self.granted_around(places[0], site);
        let renewed = self.are_within(places, bytes, start, length);
        self.text.jump(known);
        self.text.begin(known);
        make!(self.text, Type::Bit, "phi i1 [ {inside}, {here} ], [ {renewed}, {renew} ]")
    }

    fn are_within(&mut self, places: &[Value], bytes: u64, start: Value, length: Value) -> Value {
        let text = &mut self.text;
        let last = text.binary("sub", length, Value::wide(bytes));
        let mut all = text.compare("uge", length, Value::wide(bytes));
        for &place in places {
            let distance = text.binary("sub", place, start);
            let within = text.compare("ule", distance, last);
            all = text.binary("and", all, within);
        }
        all
    }

    /// A distance in places of so many bytes, a power of two. What is none has low bits, which are the highest then.
    pub fn turned(&mut self, distance: Value, bytes: u64) -> Value {
        let shift = bytes.trailing_zeros();
        if shift == 0 {
            return distance;
        }
        self.declared.insert("declare i64 @llvm.fshr.i64(i64, i64, i64)".to_owned());
        make!(self.text, Type::Wide, "call i64 @llvm.fshr.i64(i64 {distance}, i64 {distance}, i64 {shift})")
    }
}
