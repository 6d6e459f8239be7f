//! Where accesses are watched: what is told of those of a region in which all lanes do the same.
//!
//! As in Cranelift's code, the words of a line that an instruction accesses are marked, and told of together
//! ([`lines`]). What a counted loop goes through in steps is told of behind its turns, in one call for each
//! instruction ([`passed`](super::passed)).

use gangway_device_memory::range;
use gangway_simt::{Access, Address, Base, Kind, Operation, Place, Space};

use super::lane::{Lane, WARP, field};
use super::text::{Label, Type, Value};
use crate::abi::ALL;
use crate::lines;
use crate::support::{Access as Described, Helper, Space as In};

/// Whether an operation is an access that is told of where accesses are watched; whether it writes.
pub(super) fn told(operation: &Operation) -> Option<(Access, bool)> {
    let (&access, address, writes) = match &operation.kind {
        Kind::Load { access, address, .. } => (access, address, false),
        Kind::Store { access, address, .. } => (access, address, true),
        _ => return None,
    };
    is_told(access, address).then_some((access, writes))
}

fn is_told(access: Access, address: &Address) -> bool {
    let named =
        matches!(address.base, Base::Place(Place::Slot(_) | Place::Parameter(_) | Place::Argument(_)));
    !named && access.space.may_race()
}

impl Lane<'_> {
    /// What those are told who hear of an access.
    fn watched(access: Access, more: bool) -> Value {
        let plain = Described::plain(access.ty.size() as u8, In::of(access.space), false);
        Value::wide(Described { count: access.count, watch: true, acquire: more, ..plain }.bits() as u64)
    }

    /// Tells that all lanes are about to access a place, and what they store there.
    pub fn tell_of(&mut self, address: &Address, access: Access, place: Value, stored: Option<&[Value]>) {
        if !self.unit.watch || !is_told(access, address) {
            return;
        }
        let after = self.text.label();
        if self.unit.init && access.space == Space::Global {
            // Shadows are accessed as well as memory, and nobody asks for them.
            let above = self.text.binary("sub", place, Value::wide(range().first));
            let shadow = self.text.compare("ult", above, Value::wide(range().base - range().first));
            let seen = self.text.label();
            self.text.branch(shadow, after, seen);
            self.text.begin(seen);
        }
        match (self.text.operation(), access.size(), stored) {
            (Some(operation), 4 | 8 | 16, None) => self.mark(operation, access, place, None, after),
            (Some(operation), 4 | 8, Some(&[value])) => {
                self.mark(operation, access, place, Some(value), after);
            }
            _ => self.tell(access, place, stored, after),
        }
        self.text.begin(after);
    }

    /// Tells of an access at once.
    fn tell(&mut self, access: Access, place: Value, stored: Option<&[Value]>, after: Label) {
        for (index, &value) in stored.unwrap_or_default().iter().enumerate() {
            self.pass_to_store(value, Self::element(index));
        }
        let helper = if stored.is_some() { Helper::WatchStores } else { Helper::WatchLoads };
        self.call(helper, &[Value::wide(ALL.into()), place, Value::wide(0), Self::watched(access, false)]);
        self.text.jump(after);
    }

    /// Marks words of a line, and what is stored to them.
    fn mark(&mut self, operation: u32, access: Access, place: Value, stored: Option<Value>, after: Label) {
        let (function, bytes) = (self.unit.index, u64::from(access.size()));
        let number = lines::of(function, operation);
        let at = |field: i32| field!(lines) + (lines::place(number) + field) as u64;
        let instruction = Value::wide(lines::number(function, operation));
        let line = self.text.binary("and", place, Value::wide(lines::BYTES.wrapping_neg()));
        let known = self.field(Type::Wide, at(lines::ADDRESS));
        let mut other = self.text.binary("xor", line, known);
        let known = self.field(Type::Wide, at(lines::INSTRUCTION));
        let differ = self.text.binary("xor", instruction, known);
        other = self.text.binary("or", other, differ);
        let known = self.field(Type::Word, at(lines::LANES));
        let differ = self.text.binary("xor", known, Value::word(ALL));
        let differ = self.text.convert("zext", differ, Type::Wide);
        other = self.text.binary("or", other, differ);
        let within = self.text.binary("and", place, Value::wide(lines::BYTES - 1));
        let word = self.text.binary("lshr", within, Value::wide(2));
        let word = self.text.convert("trunc", word, Type::Word);
        let words = self.text.binary("shl", Value::word((1 << (bytes / 4)) - 1), word);
        let store = stored.map(|value| {
            let within = self.text.binary("add", within, Value::wide(at(lines::VALUES)));
            (value, self.text.behind(WARP, within))
        });
        if let Some((value, kept)) = store {
            // Of two values of a word both are told of: others may write the second one.
            let known = self.text.load(value.ty, kept);
            let differ = self.text.compare("ne", value, known);
            let marked = self.field(Type::Word, at(lines::WORDS));
            let marked = self.text.binary("and", marked, words);
            let again = self.text.select(differ, marked, Value::word(0));
            let again = self.text.convert("zext", again, Type::Wide);
            other = self.text.binary("or", other, again);
        }
        let [begin, mark, tell] = [(); 3].map(|()| self.text.label());
        let other = self.text.compare("ne", other, Value::wide(0));
        self.text.seldom(other, begin, mark);
        self.text.begin(begin);
        let (number, writes) = (Value::wide(number as u64), Value::wide(stored.is_some().into()));
        let all = Value::wide(ALL.into());
        let begun = self.call(Helper::BeginLine, &[all, place, number, instruction, writes]);
        let begun = self.text.compare("ne", begun, Value::wide(0));
        self.text.branch(begun, mark, tell);
        self.text.begin(tell);
        self.tell(access, place, stored.as_ref().map(std::slice::from_ref), after);
        self.text.begin(mark);
        let before = self.field(Type::Word, at(lines::WORDS));
        let words = self.text.binary("or", before, words);
        let marked = self.text.behind(WARP, Value::wide(at(lines::WORDS)));
        self.text.store(words, marked);
        if let Some((value, kept)) = store {
            self.text.store(value, kept);
        }
        self.text.jump(after);
    }

    /// Tells what an operation has accessed, `count` times in steps. `stored` is where what it has stored stands. With `more`
    /// it is told of with the next one.
    pub fn tell_of_passed(
        &mut self,
        operation: u32,
        [first, step, count]: [Value; 3],
        stored: Option<Value>,
        more: bool,
    ) {
        let Some((access, _)) = told(self.unit.operation(operation)) else { return };
        self.text.at(Some(operation));
        let stored = match stored {
            Some(stored) => self.text.convert("ptrtoint", stored, Type::Wide),
            None => Value::wide(0),
        };
        let described = Self::watched(access, more);
        self.call(Helper::WatchPassed, &[first, step, count, described, stored]);
    }
}
