//! Random programs of map clauses: constructs whose items overlap, nest, share
//! entries, come out of mappers, and are more than a launch has inline slots for.

use super::construct::{Access, Expand, FROM_THE_FUTURE, ListItem};
use gangway_runtime::{Components, Item, MapKind};
use proptest::prelude::*;

/// The host's memory: four variables of 64 bytes with gaps, and a structure of a
/// pointer, a field `x` of 8 bytes and a field `y` of 16.
#[repr(align(64))]
pub struct Arena(pub [u8; 448]);

const VARIABLE: usize = 64;
const SPACING: usize = 96;
const STRUCTURE: usize = 384;
const STRUCTURE_SIZE: usize = 32;
const POINTEE_VARIABLE: usize = 3;

/// Offset and size in a variable: the whole, halves, nested and overlapping parts,
/// sections without a byte. The last one reaches into what follows.
const SECTIONS: [(usize, usize); 12] = [
    (0, 64),
    (0, 32),
    (32, 32),
    (16, 16),
    (0, 0),
    (20, 0),
    (64, 0),
    (8, 40),
    (20, 4),
    (0, 4),
    (24, 40),
    (48, 64),
];

/// Members of a variable that is mapped as a structure member by member, at most.
const MEMBERS: usize = 32;

/// Something a map clause says.
#[derive(Debug, Clone)]
pub enum Clause {
    /// A section of a variable.
    Section { variable: usize, section: usize, bits: MapKind },
    /// A variable as a structure of which one part is mapped too.
    Member { variable: usize, section: usize, whole: MapKind, part: MapKind },
    /// The structure, its `x`, and what its pointer points to.
    Structure { bits: MapKind, x: MapKind, pointee: usize, pointee_bits: MapKind, form: PointerForm },
    /// A variable as a structure of which many members are mapped singly: one
    /// parameter, many list items.
    Members { variable: usize, count: usize, bits: MapKind },
    /// Many parts of a variable, each a parameter.
    Parts { variable: usize, count: usize, bits: MapKind },
    /// A section with a user-defined mapper.
    Mapped { variable: usize, section: usize, bits: MapKind, mapper: Mapper },
    /// A map type from the future.
    Unknown { variable: usize },
}

#[derive(Debug, Clone, Copy)]
pub enum Mapper {
    /// Both halves, one after the other.
    Halves,
    /// The first half alone.
    FirstHalf,
    /// The whole as a structure, of which the second half is a member.
    Member,
}

impl Mapper {
    fn function(self) -> Expand {
        match self {
            Self::Halves => halves,
            Self::FirstHalf => first_half,
            Self::Member => member,
        }
    }
}

fn halves(item: &Item, to: &mut Components) {
    let half = item.size / 2;
    to.push(Item { size: half, ..*item });
    to.push(Item { begin: item.begin + half, size: item.size - half, ..*item });
}

fn first_half(item: &Item, to: &mut Components) {
    to.push(Item { size: item.size / 2, ..*item });
}

fn member(item: &Item, to: &mut Components) {
    let half = item.size / 2;
    to.push(Item { kind: item.kind.without(COPIES), ..*item });
    let kind = item.kind.member_of(0);
    to.push(Item { begin: item.begin + half, size: item.size - half, kind, ..*item });
}

/// What says that data is moved.
const COPIES: MapKind = MapKind::TO.with(MapKind::FROM).with(MapKind::ALWAYS);

#[derive(Debug, Clone, Copy)]
pub enum PointerForm {
    None,
    Attach,
    AttachAlways,
    PointerAndPointee,
}

#[derive(Debug, Clone)]
pub enum Step {
    Begin(Vec<Clause>),
    End(Vec<Clause>),
    Update(Vec<Clause>),
    Launch(Vec<Clause>),
    /// The host computes: changes a variable, the structure's fields, the pointer.
    Host {
        variable: usize,
        value: u8,
    },
}

/// Where the parts of the arena are.
#[derive(Clone, Copy)]
pub struct Addresses(pub usize);

impl Addresses {
    fn variable(self, number: usize) -> usize {
        self.0 + number * SPACING
    }

    pub fn items(self, clauses: &[Clause], less: MapKind, kernel: bool) -> Vec<ListItem> {
        let mut items = Vec::new();
        for clause in clauses {
            self.add(clause, less, kernel, &mut items);
        }
        items
    }

    fn add(self, clause: &Clause, less: MapKind, kernel: bool, items: &mut Vec<ListItem>) {
        let structure_number = items.len();
        let section = |variable: usize, section: usize, bits: MapKind| {
            let ((offset, size), base) = (SECTIONS[section], self.variable(variable));
            ListItem { base, ..ListItem::section(base + offset, size, bits.without(less)) }
        };
        // A kernel that keeps to what is mapped: implicit maps may be larger than that.
        let parameter = |item: ListItem| {
            let reachable = !item.kind.has(MapKind::IMPLICIT);
            match (kernel, reachable) {
                (false, _) => item,
                (true, true) => item.parameter(Access::Increment),
                (true, false) => item.parameter(Access::None),
            }
        };
        match *clause {
            Clause::Section { variable, section: number, bits } => {
                items.push(parameter(section(variable, number, bits)));
            }
            Clause::Member { variable, section: number, whole, part } => {
                items.push(section(variable, 0, whole));
                let part = section(variable, number, part);
                items.push(parameter(ListItem { kind: part.kind.member_of(structure_number), ..part }));
            }
            Clause::Structure { bits, x, pointee, pointee_bits, form } => {
                let structure = self.0 + STRUCTURE;
                items.push(ListItem::section(structure, STRUCTURE_SIZE, bits.without(less)));
                let x = ListItem::section(structure + 8, 8, x.without(less).member_of(structure_number));
                items.push(parameter(ListItem { base: structure, ..x }));
                let target = section(POINTEE_VARIABLE, pointee, pointee_bits);
                match form {
                    PointerForm::None => {}
                    PointerForm::PointerAndPointee => {
                        let kind = (target.kind | MapKind::POINTER_AND_POINTEE).member_of(structure_number);
                        let pair = ListItem { base: structure, kind, ..target };
                        // SAFETY: the structure begins with the pointer.
                        let pointer = unsafe { *(structure as *const usize) };
                        // Copying back what was never written leaves no good pointer.
                        let good = (self.0..structure).contains(&pointer);
                        items.push(if good { parameter(pair) } else { pair });
                    }
                    PointerForm::Attach | PointerForm::AttachAlways => {
                        items.push(parameter(target));
                        let always = if matches!(form, PointerForm::AttachAlways) {
                            MapKind::ALWAYS
                        } else {
                            MapKind::ALLOC
                        };
                        let attach = ListItem::section(target.begin, 8, MapKind::ATTACH | always);
                        items.push(ListItem { base: structure, ..attach });
                    }
                }
            }
            Clause::Members { variable, count, bits } => {
                let whole = section(variable, 0, bits.without(COPIES));
                items.push(parameter(whole));
                let size = VARIABLE / MEMBERS;
                items.extend((0..count).map(|number| {
                    let member = whole.begin + number * size;
                    let bits = bits.without(less).member_of(structure_number);
                    ListItem { base: whole.base, ..ListItem::section(member, size, bits) }
                }));
            }
            Clause::Parts { variable, count, bits } => {
                let base = self.variable(variable);
                items.extend((0..count).map(|number| {
                    parameter(ListItem {
                        base,
                        ..ListItem::section(base + 2 * number, 2, bits.without(less | MapKind::PRESENT))
                    })
                }));
            }
            Clause::Mapped { variable, section: number, bits, mapper } => {
                let item = section(variable, number, bits);
                let item = ListItem { mapper: Some(mapper.function()), ..item };
                items.push(if kernel { item.parameter(Access::None) } else { item });
            }
            Clause::Unknown { variable } => {
                let item = section(variable, 0, MapKind::TO);
                items.push(ListItem { kind: item.kind | FROM_THE_FUTURE, ..item });
            }
        }
    }
}

/// Map types: some bits often, some rarely.
fn any_bits() -> impl Strategy<Value = MapKind> {
    let rare = |kind: MapKind| prop_oneof![7 => Just(MapKind::ALLOC), 1 => Just(kind)];
    let common = prop_oneof![
        Just(MapKind::ALLOC),
        Just(MapKind::TO),
        Just(MapKind::FROM),
        Just(MapKind::TO | MapKind::FROM),
        Just(MapKind::TO | MapKind::FROM)
    ];
    let rest = (
        rare(MapKind::ALWAYS),
        rare(MapKind::PRESENT),
        rare(MapKind::HOLD),
        rare(MapKind::IMPLICIT),
        rare(MapKind::DELETE),
    );
    (common, rest).prop_map(|(a, (b, c, d, e, f))| a | b | c | d | e | f)
}

// Boxed, like the next: unboxed strategies would fill a test's stack.
fn any_clause() -> BoxedStrategy<Clause> {
    let variable = 0..4usize;
    let mapper = prop_oneof![Just(Mapper::Halves), Just(Mapper::FirstHalf), Just(Mapper::Member)];
    let form = prop_oneof![
        Just(PointerForm::None),
        Just(PointerForm::Attach),
        Just(PointerForm::AttachAlways),
        Just(PointerForm::PointerAndPointee)
    ];
    prop_oneof![
        12 => (variable.clone(), 0..SECTIONS.len(), any_bits())
            .prop_map(|(variable, section, bits)| Clause::Section { variable, section, bits }),
        3 => (variable.clone(), 1..4usize, any_bits(), any_bits())
            .prop_map(|(variable, section, whole, part)| Clause::Member { variable, section, whole, part }),
        4 => (any_bits(), any_bits(), 0..5usize, any_bits(), form)
            .prop_map(|(bits, x, pointee, pointee_bits, form)| {
                Clause::Structure { bits, x, pointee, pointee_bits, form }
            }),
        2 => (variable.clone(), 1..=MEMBERS, any_bits())
            .prop_map(|(variable, count, bits)| Clause::Members { variable, count, bits }),
        1 => (variable.clone(), 1..=MEMBERS, any_bits())
            .prop_map(|(variable, count, bits)| Clause::Parts { variable, count, bits }),
        4 => (variable.clone(), 0..SECTIONS.len(), any_bits(), mapper)
            .prop_map(|(variable, section, bits, mapper)| Clause::Mapped { variable, section, bits, mapper }),
        1 => variable.prop_map(|variable| Clause::Unknown { variable }),
    ]
    .boxed()
}

/// The clauses of a construct. Often several of them are about the same variable, or
/// say the same twice with other map types: its items share entries.
fn any_clauses() -> BoxedStrategy<Vec<Clause>> {
    let independent = || prop::collection::vec(any_clause(), 1..9);
    let on_one_variable = (any_clause(), prop::collection::vec((0..SECTIONS.len(), any_bits()), 1..6))
        .prop_map(|(first, others)| {
            let variable = first.variable();
            let section = |(section, bits)| Clause::Section { variable, section, bits };
            std::iter::once(first).chain(others.into_iter().map(section)).collect()
        });
    prop_oneof![3 => independent(), 2 => on_one_variable].boxed()
}

pub fn any_step() -> impl Strategy<Value = Step> {
    let clauses = any_clauses;
    prop_oneof![
        4 => clauses().prop_map(Step::Begin),
        4 => clauses().prop_map(Step::End),
        2 => clauses().prop_map(Step::Update),
        3 => clauses().prop_map(Step::Launch),
        3 => (0..6usize, any::<u8>()).prop_map(|(variable, value)| Step::Host { variable, value }),
    ]
}

impl Clause {
    fn variable(&self) -> usize {
        match *self {
            Self::Section { variable, .. }
            | Self::Member { variable, .. }
            | Self::Members { variable, .. }
            | Self::Parts { variable, .. }
            | Self::Mapped { variable, .. }
            | Self::Unknown { variable } => variable,
            Self::Structure { .. } => POINTEE_VARIABLE,
        }
    }
}

/// What the host does between constructs.
pub fn compute(host: &mut [u8], address: usize, variable: usize, value: u8) {
    match variable {
        0..4 => {
            let begin = variable * SPACING;
            host[begin..begin + VARIABLE].fill(value);
            host[begin] = value.wrapping_add(17);
        }
        4 => host[STRUCTURE + 8..STRUCTURE + STRUCTURE_SIZE].fill(value),
        _ => {
            let target = address + POINTEE_VARIABLE * SPACING + usize::from(value % 2) * 16;
            host[STRUCTURE..STRUCTURE + 8].copy_from_slice(&target.to_ne_bytes());
        }
    }
}
