//! The copies of a construct whose length is known when the program runs ([`super::slice`]), and the memory of a GPU
//! that they are in: the construct has it for itself, and each gang takes a part of it while it runs.

use std::ops::Range;

use super::directive::Directive;
use super::index::{Class, Key, Variable};
use super::items::Item;
use super::nest::{Assigned, Levels};
use super::sections::Section;
use super::slice::{OWN, Purpose, Slice};
use super::writer::{Names, Writer};
use crate::error::Complaint;

/// What a construct with such copies needs.
pub struct Slices {
    pub all: Vec<Slice>,
    /// The declarations of the numbers.
    pub declared: String,
    /// All names of these.
    pub names: Vec<String>,
}

impl Slices {
    /// Declares memory for all gangs of a construct, of which each takes a part; how many bytes it has.
    pub fn make_room(&mut self) -> String {
        self.declared += &format!(
            "const unsigned __acc_parts = __gangway_acc_parts({OWN_BYTES}); \
             char *{ROOM} = (char *)__gangway_acc_room({OWN_BYTES} * __acc_parts); "
        );
        self.names.push("__acc_parts".to_owned());
        format!("{OWN_BYTES} * __acc_parts")
    }
}

/// How many bytes a gang needs, or a routine that threads call.
pub const OWN_BYTES: &str = "__acc_own_bytes";

/// The name of the memory's address, which the device knows nothing of, and of what stands for it there.
pub const ROOM: &str = "__acc_room";
pub const ROOM_ON_DEVICE: &str = "__acc_room_there";

/// Whether a clause's item is such a copy.
pub fn section<'i>(item: &'i Item, variable: &Variable) -> Result<Option<Option<&'i Section>>, Complaint> {
    let wrong = || Complaint::new(item.at, "a private copy of rows that lie apart is not translated");
    match (&item.sections[..], variable.class) {
        ([], Class::Array) if variable.is_vla && variable.rows.is_none() => Ok(Some(None)),
        ([], Class::Array) if variable.is_vla => Err(wrong()),
        ([one], Class::Pointer) if variable.rows.is_none() => Ok(Some(Some(one))),
        ([_, _, ..], Class::Pointer) | ([_], Class::Pointer) => Err(wrong()),
        _ => Ok(None),
    }
}

impl Writer<'_> {
    /// The copies of such kind that a directive's clauses ask for.
    fn sections(
        &self,
        directive: &Directive,
        purpose: Purpose,
    ) -> Result<Vec<(Variable, Item, Option<Section>)>, Complaint> {
        let mut found = Vec::new();
        for clause in directive.for_gpus().into_iter().filter(|clause| clause.name == purpose.clause()) {
            let items = match purpose {
                Purpose::Reduction => clause.reduced().map(|(_, items)| items).unwrap_or_default(),
                _ => clause.items(),
            };
            for tokens in items {
                let item = Item::read("COPYIN", Vec::new(), tokens, &self.index, clause.at)?;
                let Some(variable) = item.key.and_then(|key| self.index.variable(key)) else { continue };
                if let Some(section) = section(&item, variable)? {
                    let section = section.cloned();
                    found.push((variable.clone(), item, section));
                }
            }
        }
        Ok(found)
    }

    /// What copies begin with has to be on the device, and what they are put together into: items for that, which
    /// are not named by others.
    pub fn origins(
        &self,
        directive: &Directive,
        body: &Range<usize>,
        explicit: &[Item],
    ) -> Result<Vec<Item>, Complaint> {
        let first = self.sections(directive, Purpose::FirstPrivate)?;
        let mut items: Vec<Item> = first.into_iter().map(|(_, item, _)| item).collect();
        for one in [directive].into_iter().chain(self.loops_in(body)) {
            for (_, item, _) in self.sections(one, Purpose::Reduction)? {
                let is_known = |known: &Item| known.key == item.key;
                if !explicit.iter().any(is_known) && !items.iter().any(is_known) {
                    // The result is copied back (section 2.5.15).
                    items.push(Item { kind: "COPY", ..item });
                }
            }
        }
        Ok(items)
    }

    fn loops_in(&self, body: &Range<usize>) -> impl Iterator<Item = &Directive> {
        self.source.directives.iter().filter(|one| one.is_loop && body.contains(&one.range.start))
    }

    /// Such copies in a routine, which has memory for those that are put together by threads of one gang.
    pub fn check_slices(&self, directive: &Directive, levels: Levels) -> Result<(), Complaint> {
        for purpose in [Purpose::Private, Purpose::Reduction] {
            let is_there = purpose == Purpose::Reduction && !levels.has_gangs();
            if let Some((_, item, _)) = self.sections(directive, purpose)?.first().filter(|_| !is_there) {
                let message = "a private copy whose length is known when the program runs is not translated in a routine";
                return Err(Complaint::new(item.at, message));
            }
        }
        Ok(())
    }

    /// The copies of a construct, or of none in a routine, and of the loops in it. `workers` and `lanes` are the most that
    /// there are.
    pub fn slices(
        &mut self,
        construct: Option<&Directive>,
        body: &Range<usize>,
        assigned: &Assigned,
        names: &Names,
        [workers, lanes]: [&str; 2],
    ) -> Result<Option<Slices>, Complaint> {
        let mut asked = Vec::new();
        for one in construct.into_iter().chain(self.loops_in(body)) {
            for purpose in Purpose::ALL {
                for found in self.sections(one, purpose)? {
                    asked.push((one.range.start, purpose, found));
                }
            }
        }
        if asked.is_empty() {
            return Ok(None);
        }
        let (mut all, mut declared, mut passed) = (Vec::new(), String::new(), Vec::new());
        let mut end = "0".to_owned();
        for (at, purpose, (variable, item, section)) in asked {
            let inner = self.index.uses_in(&item.whole).find(|found| body.contains(&found.key));
            if let Some(found) = inner {
                let message = match found.key == variable.key {
                    true => {
                        "a pointer of which a clause names a section has to be declared before the construct"
                    }
                    false => "the length of a private copy has to be known where the construct begins",
                };
                return Err(Complaint::new(found.range.start, message));
            }
            let copies = match self.levels_around(at, assigned) {
                levels if levels.has(Levels::VECTOR) => {
                    format!("(unsigned long)({workers}) * (unsigned long)({lanes})")
                }
                levels if levels.has(Levels::WORKER) => format!("(unsigned long)({workers})"),
                _ => "1".to_owned(),
            };
            let object = names.get(&variable.key).cloned().unwrap_or_else(|| variable.path.clone());
            let stem = self.fresh("n", &variable.name);
            let [low, length, bytes, offset] =
                ["low", "length", "bytes", "offset"].map(|what| format!("{stem}_{what}"));
            let read = |range: &Option<Range<usize>>, without: &str| {
                range.as_ref().map_or(without.to_owned(), |range| self.expression(range, names))
            };
            let whole = format!("sizeof({object}) / sizeof({object}[0])");
            let (first, count) = match &section {
                None => ("0".to_owned(), whole),
                Some(section) => (read(&section.first, "0"), read(&section.count, "0")),
            };
            declared += &format!(
                "const long {low} = (long)({first}); const unsigned long {length} = (unsigned long)({count}); \
                 const unsigned long {bytes} = ({length} * sizeof({object}[0]) + 15) / 16 * 16; \
                 const unsigned long {offset} = {end}; "
            );
            end = format!("{offset} + {bytes} * {copies}");
            passed.extend([low.clone(), length.clone(), bytes.clone(), offset.clone()]);
            all.push(Slice { key: variable.key, at, purpose, object, low, length, bytes, offset });
        }
        declared += &format!("const unsigned long {OWN_BYTES} = {end}; ");
        passed.push(OWN_BYTES.to_owned());
        Ok(Some(Slices { all, declared, names: passed }))
    }

    /// The copy that a clause asks for a variable: of the directive at a byte, or of any.
    pub fn slice_of(&self, purpose: Purpose, at: Option<usize>, key: Key) -> Option<&Slice> {
        let is_asked = |slice: &&Slice| {
            slice.purpose == purpose && slice.key == key && at.is_none_or(|at| slice.at == at)
        };
        self.slices.iter().find(is_asked)
    }

    /// The levels of a loop and of those around it.
    fn levels_around(&self, at: usize, assigned: &Assigned) -> Levels {
        let around = assigned.levels.iter().filter(|(begin, _)| {
            let statement = self.directives.get(begin).and_then(|one| self.statement(one).ok());
            **begin == at
                || statement.is_some_and(|statement| (**begin..self.whole(statement).end).contains(&at))
        });
        around.fold(Levels::NONE, |all, (_, levels)| all | *levels)
    }
}

/// A kernel's text, with a part of the memory for each gang.
pub fn around(text: &str, one: &str, writer: &mut Writer<'_>) -> String {
    let (taken, own) = (writer.fresh("s", "taken"), writer.fresh("s", "part"));
    format!(
        "static unsigned {taken}[__GANGWAY_ACC_PARTS]; static __gangway_acc_shared unsigned {own}; \
         if ({one}) *__gangway_acc_seen_by_all(&{own}) = __gangway_acc_take({taken}, __acc_parts); \
         __gangway_acc_gang_barrier(); \
         char *const {OWN} = {ROOM_ON_DEVICE} + *__gangway_acc_seen_by_all(&{own}) * {OWN_BYTES}; \
         {{ {text} }} \
         __gangway_acc_gang_barrier(); \
         if ({one}) __gangway_acc_leave({taken}, *__gangway_acc_seen_by_all(&{own}));"
    )
}
