//! Turns the rows of the table into what parser and verifier look things up in.
//!
//! This happens once per process, when the first module is parsed.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::{Row, rows};
use crate::meaning::{self, Meaning};
use crate::modifier::{Modifier, Word};
use crate::op::Op;
use crate::types::{StateSpace, Type, Version};

/// What `@name` stands for in a row's modifiers.
pub const ALIASES: &[(&str, &str)] = &[
    ("int", "u16|u32|u64|s16|s32|s64"),
    ("int8", "u8|u16|u32|u64|s8|s16|s32|s64"),
    ("value", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("memory", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("rnd", "rn|rz|rm|rp"),
    ("irnd", "rni|rzi|rmi|rpi"),
    ("order", "eq|ne|lt|le|gt|ge"),
    ("fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("video", "u32|s32 u32|s32 u32|s32"),
    ("space", "const|global|local|param|param::entry|param::func|shared|shared::cta"),
    ("writable", "global|local|param|param::func|shared|shared::cta"),
    ("evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"),
    ("ahead", "L2::64B|L2::128B|L2::256B"),
    ("order_", "relaxed|acquire|release|acq_rel^60:70"),
    ("scope_", "cta|gpu|sys^50:60"),
    ("atomspace", "global|shared|shared::cta"),
];

/// How an operand is used and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Source,
    Destination,
    /// The `p` of `d|p`.
    SecondDestination,
    Constant,
    Address,
    /// One register, or one vector in braces.
    VectorDestination,
    VectorSource,
    MoveDestination,
    MoveSource,
    /// A matrix's part of so many registers, in braces.
    FragmentDestination(u8),
    FragmentSource(u8),
    Label,
    Targets,
    Call,
}

impl Role {
    #[must_use]
    pub const fn writes(self) -> bool {
        use Role::*;
        matches!(
            self,
            Destination | SecondDestination | VectorDestination | MoveDestination | FragmentDestination(_)
        )
    }

    /// The registers of a fragment.
    #[must_use]
    pub const fn fragment(self) -> Option<u8> {
        match self {
            Self::FragmentDestination(registers) | Self::FragmentSource(registers) => Some(registers),
            _ => None,
        }
    }

    /// Whether a vector may stand there, in braces.
    #[must_use]
    pub const fn takes_vectors(self) -> bool {
        use Role::*;
        matches!(self, VectorDestination | VectorSource | MoveDestination | MoveSource)
            || self.fragment().is_some()
    }
}

/// What an operand of one opcode must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expected {
    pub role: Role,
    /// `None` for addresses, labels and calls.
    pub ty: Option<Type>,
    /// The register may be wider than the type.
    pub relaxed: bool,
    pub optional: bool,
    pub sink: bool,
    pub negatable: bool,
}

#[derive(Clone, Copy, Debug)]
enum TypeOf {
    None,
    Modifier(usize),
    Widened(usize),
    Is(Type),
}

#[derive(Clone, Debug)]
struct Slot {
    choices: Vec<Modifier>,
    optional: bool,
    requires: Option<(Version, u16)>,
}

/// A compiled row.
#[derive(Clone, Debug)]
pub struct Form {
    pub row: &'static Row,
    slots: Vec<Slot>,
    /// How many of the slots, the first ones, keep their places.
    fixed: usize,
    operands: Vec<(Expected, TypeOf)>,
}

/// An instruction with its modifiers, as many instructions of a module share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opcode {
    pub op: Op,
    /// What it does, by the name and the modifiers.
    pub meaning: Meaning,
    /// In the order of the form, whatever order the source text has.
    pub modifiers: Box<[Modifier]>,
    /// What the operands must be, one for each position.
    pub expected: Box<[Expected]>,
    /// The PTX version, the processor, and the processor from which on it is gone.
    pub since: Version,
    pub processor: u16,
    pub until: Option<u16>,
}

impl Opcode {
    #[must_use]
    pub fn has(&self, word: Word) -> bool {
        self.modifiers.contains(&Modifier::Word(word))
    }

    /// The first of `words` that is among the modifiers.
    #[must_use]
    pub fn first_of(&self, words: &[Word]) -> Option<Word> {
        self.words().find(|word| words.contains(word))
    }

    pub fn words(&self) -> impl Iterator<Item = Word> + '_ {
        self.modifiers.iter().filter_map(|modifier| match modifier {
            Modifier::Word(word) => Some(*word),
            _ => None,
        })
    }

    /// The `index`-th type among the modifiers, the result's first.
    #[must_use]
    pub fn ty(&self, index: usize) -> Option<Type> {
        self.types().nth(index)
    }

    pub fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.modifiers.iter().filter_map(|modifier| match modifier {
            Modifier::Type(ty) => Some(*ty),
            _ => None,
        })
    }

    /// The state space that an access names; `Generic` where it names none.
    #[must_use]
    pub fn space(&self) -> StateSpace {
        let named = self.modifiers.iter().find_map(|modifier| match modifier {
            Modifier::Space(space) => Some(space.plain()),
            _ => None,
        });
        named.unwrap_or(StateSpace::Generic)
    }

    /// How many elements a vector access moves.
    #[must_use]
    pub fn vector(&self) -> usize {
        if self.has(Word::V4) {
            4
        } else if self.has(Word::V2) {
            2
        } else {
            1
        }
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.op.text())?;
        for modifier in &self.modifiers {
            write!(f, ".{}", modifier.text())?;
        }
        Ok(())
    }
}

impl Form {
    fn compile(row: &'static Row) -> Self {
        let mut slots = Vec::new();
        let mut fixed = 0;
        for word in expand(row.modifiers).split_whitespace() {
            match word {
                "/" => fixed = slots.len(),
                word => slots.push(slot(word)),
            }
        }
        let operands = row.operands.split_whitespace().map(operand).collect();
        Form { row, slots, fixed, operands }
    }

    /// The opcode, when the modifiers are as the row says, in any order that PTX allows. A row
    /// that the table of meanings does not know matches nothing, which a test finds.
    fn matches(&self, modifiers: &[Modifier]) -> Option<Opcode> {
        let chosen = assign(&self.slots, self.fixed, modifiers)?;
        let (mut since, mut processor) = (self.row.since, self.row.processor);
        for (slot, choice) in self.slots.iter().zip(&chosen) {
            if let (Some((version, sm)), Some(_)) = (slot.requires, choice) {
                since = since.max(version);
                processor = processor.max(sm);
            }
        }
        let modifiers: Box<[Modifier]> = chosen.into_iter().flatten().collect();
        let mut opcode = Opcode {
            op: self.row.op,
            meaning: meaning::of(self.row.op, &modifiers)?,
            modifiers,
            expected: Box::default(),
            since,
            processor,
            until: self.row.until,
        };
        let expected = self.operands.iter().map(|&(mut expected, ty)| {
            expected.ty = match ty {
                TypeOf::None => None,
                TypeOf::Modifier(index) => opcode.ty(index),
                TypeOf::Widened(index) => opcode.ty(index).and_then(Type::widened),
                TypeOf::Is(ty) => Some(ty),
            };
            expected
        });
        opcode.expected = expected.collect();
        Some(opcode)
    }

    /// Every sequence of modifiers that the form allows, for tests that go through all
    /// instructions; of forms with very many, the first thousands.
    #[must_use]
    pub fn spellings(&self) -> Vec<Vec<Modifier>> {
        let mut all = vec![Vec::new()];
        for slot in &self.slots {
            let mut longer = Vec::new();
            for start in all {
                if slot.optional {
                    longer.push(start.clone());
                }
                for &choice in &slot.choices {
                    let mut with = start.clone();
                    with.push(choice);
                    longer.push(with);
                }
            }
            longer.truncate(4000);
            all = longer;
        }
        all
    }

    /// The form as a reader would write it, for messages: `add{.sat}.s32`.
    #[must_use]
    pub fn syntax(&self) -> String {
        let mut text = self.row.op.text().to_owned();
        for slot in &self.slots {
            let words: Vec<_> = slot.choices.iter().map(|choice| choice.text()).collect();
            let (open, close) = match (slot.optional, words.len()) {
                (true, _) => ("{.", "}"),
                (false, 1) => (".", ""),
                (false, _) => (".(", ")"),
            };
            text += &format!("{open}{}{close}", words.join("|"));
        }
        text
    }
}

/// More modifiers than any form has.
const MOST_MODIFIERS: usize = 16;

/// Gives each slot its modifier, or none; `None` when not all modifiers find a slot or a
/// slot finds no modifier.
///
/// The first `fixed` slots take what stands first. Otherwise the order is free, as it is
/// for NVIDIA's assembler, but for types, spaces and the layouts of matrices: the first type is
/// the first slot's.
fn assign(slots: &[Slot], fixed: usize, modifiers: &[Modifier]) -> Option<Vec<Option<Modifier>>> {
    if modifiers.len() > MOST_MODIFIERS {
        return None;
    }
    let mut chosen = Vec::with_capacity(slots.len());
    search(slots, fixed, modifiers, 0, &mut chosen).then_some(chosen)
}

/// Fills the slots after those in `chosen`. The bits of `used` say which modifiers have a
/// slot already.
fn search(
    slots: &[Slot],
    fixed: usize,
    modifiers: &[Modifier],
    used: u32,
    chosen: &mut Vec<Option<Modifier>>,
) -> bool {
    let Some(slot) = slots.get(chosen.len()) else {
        return used.count_ones() as usize == modifiers.len();
    };
    let in_place = chosen.len() < fixed;
    let unused = |at: &usize| used & (1 << at) == 0;
    // Of a kind whose order counts only the first may be taken.
    let mut passed = [false; 3];
    for at in (0..modifiers.len()).filter(unused) {
        let ordered = match modifiers[at] {
            Modifier::Type(_) => Some(0),
            Modifier::Space(_) => Some(1),
            Modifier::Word(Word::Row | Word::Col) => Some(2),
            Modifier::Word(_) => None,
        };
        let first = !ordered.is_some_and(|kind| std::mem::replace(&mut passed[kind], true));
        if first && slot.choices.contains(&modifiers[at]) {
            chosen.push(Some(modifiers[at]));
            if search(slots, fixed, modifiers, used | 1 << at, chosen) {
                return true;
            }
            chosen.pop();
        }
        if in_place {
            break;
        }
    }
    if !slot.optional {
        return false;
    }
    chosen.push(None);
    let found = search(slots, fixed, modifiers, used, chosen);
    if !found {
        chosen.pop();
    }
    found
}

fn expand(text: &str) -> String {
    let mut expanded = text.to_owned();
    while let Some(at) = expanded.find('@') {
        let name: String =
            expanded[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let (_, meaning) = ALIASES.iter().find(|(alias, _)| *alias == name).expect("an alias of the table");
        let after = &expanded[at + 1 + name.len()..];
        // `@scope_?` with a requirement in the alias: the question mark goes before it.
        expanded = match (meaning.split_once('^'), after.strip_prefix('?')) {
            (Some((choices, requires)), Some(after)) => {
                format!("{}{choices}?^{requires}{after}", &expanded[..at])
            }
            _ => format!("{}{meaning}{after}", &expanded[..at]),
        };
    }
    expanded
}

fn slot(word: &str) -> Slot {
    let (word, requires) = match word.split_once('^') {
        Some((word, requires)) => (word, Some(requires)),
        None => (word, None),
    };
    let requires = requires.map(|text| {
        let (version, processor) = text.split_once(':').expect("VERSION:PROCESSOR");
        let version: u16 = version.parse().expect("a PTX version");
        (Version::new(version / 10, version % 10), processor.parse().expect("a processor"))
    });
    let optional = word.ends_with('?');
    let modifier = |text| Modifier::from_text(text).unwrap_or_else(|| panic!("no modifier '{text}'"));
    Slot { choices: word.trim_end_matches('?').split('|').map(modifier).collect(), optional, requires }
}

fn operand(text: &'static str) -> (Expected, TypeOf) {
    let mut expected = Expected {
        role: Role::Source,
        ty: None,
        relaxed: false,
        optional: false,
        sink: false,
        negatable: false,
    };
    let mut rest = text;
    let flag = |rest: &mut &'static str, mark: char| match rest.strip_suffix(mark) {
        Some(shorter) => {
            *rest = shorter;
            true
        }
        None => false,
    };
    expected.optional = flag(&mut rest, '?');
    expected.sink = flag(&mut rest, '_');
    expected.negatable = flag(&mut rest, '!');
    expected.relaxed = flag(&mut rest, '~');
    if let Some(second) = rest.strip_prefix('|') {
        (expected.role, expected.optional, expected.sink, rest) =
            (Role::SecondDestination, true, true, second);
    } else if let Some(written) = rest.strip_prefix('=') {
        (expected.role, rest) = (Role::Destination, written);
    } else if let Some(constant) = rest.strip_prefix('#') {
        (expected.role, rest) = (Role::Constant, constant);
    }
    let written = expected.role == Role::Destination;
    if let Some((count, ty)) = rest.split_once('*') {
        let count = count.parse().unwrap_or_else(|_| panic!("no number of registers '{count}'"));
        expected.role = if written { Role::FragmentDestination(count) } else { Role::FragmentSource(count) };
        rest = ty;
    }
    let ty = match rest {
        "{}" => {
            expected.role = if written { Role::VectorDestination } else { Role::VectorSource };
            (expected.relaxed, expected.sink) = (true, written);
            TypeOf::Modifier(0)
        }
        "mov" => {
            expected.role = if written { Role::MoveDestination } else { Role::MoveSource };
            TypeOf::Modifier(0)
        }
        "[]" | "label" | "targets" | "call" => {
            expected.role = match rest {
                "[]" => Role::Address,
                "label" => Role::Label,
                "targets" => Role::Targets,
                _ => Role::Call,
            };
            TypeOf::None
        }
        "t" => TypeOf::Modifier(0),
        "u" => TypeOf::Modifier(1),
        "v" => TypeOf::Modifier(2),
        "t+" => TypeOf::Widened(0),
        ty => TypeOf::Is(Type::from_text(ty).unwrap_or_else(|| panic!("no type '{ty}'"))),
    };
    (expected, ty)
}

/// All compiled forms.
pub struct Table {
    forms: Vec<Form>,
    by_name: FxHashMap<&'static str, Vec<usize>>,
}

impl Table {
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// The forms with this name; empty for a name that no form has.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Form> {
        self.by_name.get(name).into_iter().flatten().map(|&index| &self.forms[index])
    }

    /// The opcode for a name and its modifiers.
    #[must_use]
    pub fn find(&self, name: &str, modifiers: &[Modifier]) -> Option<Opcode> {
        self.named(name).find_map(|form| form.matches(modifiers))
    }
}

/// The table of this process.
#[must_use]
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let forms: Vec<Form> = rows().map(Form::compile).collect();
        let mut by_name: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (index, form) in forms.iter().enumerate() {
            by_name.entry(form.row.op.text()).or_default().push(index);
        }
        Table { forms, by_name }
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_compiles_and_is_found_by_its_spellings() {
        let mut count = 0;
        for form in table().forms() {
            for modifiers in form.spellings() {
                let found = table().find(form.row.op.text(), &modifiers);
                let found = found.unwrap_or_else(|| panic!("{} {modifiers:?}", form.syntax()));
                for expected in &found.expected {
                    let typed = expected.ty.is_some();
                    let untyped =
                        matches!(expected.role, Role::Address | Role::Label | Role::Targets | Role::Call);
                    assert!(typed != untyped || found.op == Op::Isspacep, "{found}: {expected:?}");
                }
                count += 1;
            }
        }
        assert!(count > 5000, "only {count} spellings");
    }

    /// [`Form::spellings`] ends early where a form has very many, so that later choices of its
    /// first slots would not be tried.
    #[test]
    fn every_choice_of_every_slot_is_found() {
        for form in table().forms() {
            for (number, slot) in form.slots.iter().enumerate() {
                let (first, last) = (slot.choices.first(), slot.choices.last());
                assert!(first.is_some() && last.is_some(), "{}", form.syntax());
                let choices = slot.choices.iter().map(|&choice| Some(choice));
                for choice in choices.chain(slot.optional.then_some(None)) {
                    // With as few other modifiers as there can be, and with as many.
                    for all in [false, true] {
                        let others = form.slots.iter().enumerate().filter_map(|(other, slot)| match () {
                            () if other == number => choice,
                            () if all => slot.choices.last().copied(),
                            () if slot.optional => None,
                            () => slot.choices.first().copied(),
                        });
                        let modifiers: Vec<Modifier> = others.collect();
                        let found = table().find(form.row.op.text(), &modifiers);
                        let found = found.unwrap_or_else(|| panic!("{} {modifiers:?}", form.syntax()));
                        assert_eq!(*found.modifiers, modifiers[..], "{}", form.syntax());
                    }
                }
            }
        }
    }

    #[test]
    fn no_two_forms_claim_the_same_spelling_with_other_operands() {
        for form in table().forms() {
            for modifiers in form.spellings() {
                let matching = table().named(form.row.op.text()).filter_map(|form| form.matches(&modifiers));
                let mut matching = matching.map(|opcode| opcode.expected);
                let first = matching.next();
                assert!(
                    matching.all(|other| Some(&other) == first.as_ref()),
                    "{} {modifiers:?}",
                    form.syntax()
                );
            }
        }
    }

    #[test]
    fn requirements_of_a_choice_count_only_with_it() {
        let word = |word| Modifier::Word(word);
        let add = Modifier::Word(Word::Add);
        let plain = table().find("atom", &[add, Modifier::Type(Type::U32)]).expect("atom.add.u32");
        assert_eq!((plain.since, plain.processor), (Version::new(1, 1), 0));
        let ordered = [word(Word::Relaxed), word(Word::Gpu), add, Modifier::Type(Type::U32)];
        let ordered = table().find("atom", &ordered).expect("atom.relaxed.gpu.add.u32");
        assert_eq!((ordered.since, ordered.processor), (Version::new(6, 0), 70));
    }

    #[test]
    fn opcodes_tell_what_they_say() {
        let modifiers =
            ["global", "nc", "v4", "f32"].map(|text| Modifier::from_text(text).expect("a modifier"));
        let load = table().find("ld", &modifiers).expect("ld.global.nc.v4.f32");
        assert_eq!((load.space(), load.vector(), load.ty(0)), (StateSpace::Global, 4, Some(Type::F32)));
        assert_eq!(load.to_string(), "ld.global.nc.v4.f32");
        assert!(load.has(Word::Nc) && !load.has(Word::Volatile));
        assert!(table().find("ld", &modifiers[..2]).is_none());
    }
}
