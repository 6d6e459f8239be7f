//! The copies of a construct whose length is known when the program runs ([`super::slice`]), and the memory of a GPU
//! that they are in: the construct has it for itself, and each gang takes a part of it while it runs.

use std::ops::Range;

use super::directive::Directive;
use super::index::{Class, Variable};
use super::items::Item;
use super::nest::{Assigned, Levels};
use super::sections::Section;
use super::slice::{OWN, Slice};
use super::writer::{Names, Writer};
use crate::error::Complaint;

/// What a construct with such copies needs.
pub struct Slices {
    pub all: Vec<Slice>,
    /// The declarations of the numbers, and of the memory.
    pub declared: String,
    /// All names of these.
    pub names: Vec<String>,
    /// Bytes of the memory.
    pub total: String,
}

/// The name of the memory's address, which the device knows nothing of, and of what stands for it there.
pub const ROOM: &str = "__acc_room";
pub const ROOM_ON_DEVICE: &str = "__acc_room_there";

/// Whether a clause's item is such a copy.
fn section<'i>(item: &'i Item, variable: &Variable) -> Result<Option<Option<&'i Section>>, Complaint> {
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
    /// The copies of known kind that a directive's clauses of a name ask for.
    fn sections(
        &self,
        directive: &Directive,
        name: &str,
    ) -> Result<Vec<(Variable, Item, Option<Section>)>, Complaint> {
        let mut found = Vec::new();
        for clause in directive.for_gpus().into_iter().filter(|clause| clause.name == name) {
            for tokens in clause.items() {
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

    /// What copies begin with has to be on the device: items for that.
    pub fn origins(&self, directive: &Directive) -> Result<Vec<Item>, Complaint> {
        Ok(self.sections(directive, "firstprivate")?.into_iter().map(|(_, item, _)| item).collect())
    }

    /// Such copies in a routine, for which nobody has made room.
    pub fn check_no_slices(&self, directive: &Directive) -> Result<(), Complaint> {
        match self.sections(directive, "private")?.first() {
            Some((_, item, _)) => Err(Complaint::new(
                item.at,
                "a private copy whose length is known when the program runs is not translated in a routine",
            )),
            None => Ok(()),
        }
    }

    /// The copies of a construct and of the loops in it. `workers` and `lanes` are the most that there are.
    pub fn slices(
        &mut self,
        directive: &Directive,
        body: &Range<usize>,
        assigned: &Assigned,
        names: &Names,
        [workers, lanes]: [&str; 2],
    ) -> Result<Option<Slices>, Complaint> {
        let inside = self.source.directives.iter().filter(|one| body.contains(&one.range.start));
        let loops: Vec<&Directive> = inside.filter(|one| one.is_loop).collect();
        let mut asked = Vec::new();
        for (one, name) in [(directive, "private"), (directive, "firstprivate")]
            .into_iter()
            .chain(loops.into_iter().map(|one| (one, "private")))
        {
            for found in self.sections(one, name)? {
                asked.push((one.range.start, name == "firstprivate", found));
            }
        }
        if asked.is_empty() {
            return Ok(None);
        }
        let (mut all, mut declared, mut passed) = (Vec::new(), String::new(), Vec::new());
        let mut end = "0".to_owned();
        for (at, is_first, (variable, item, section)) in asked {
            let inner = self.index.uses_in(&item.whole).find(|found| body.contains(&found.key));
            if let Some(found) = inner {
                let message = "the length of a private copy has to be known where the construct begins";
                return Err(Complaint::new(found.range.start, message));
            }
            let copies = match self.levels_around(at, assigned) {
                levels if levels.has(Levels::VECTOR) => {
                    format!("(unsigned long)({workers}) * (unsigned long)({lanes})")
                }
                levels if levels.has(Levels::WORKER) => format!("(unsigned long)({workers})"),
                _ => "1".to_owned(),
            };
            let object = names.get(&variable.key).cloned().unwrap_or_else(|| variable.qualified());
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
            all.push(Slice { key: variable.key, at, is_first, object, low, length, bytes, offset });
        }
        declared += &format!(
            "const unsigned long __acc_own_bytes = {end}; \
             const unsigned __acc_parts = __gangway_acc_parts(__acc_own_bytes); \
             char *{ROOM} = (char *)__gangway_acc_room(__acc_own_bytes * __acc_parts); "
        );
        passed.extend(["__acc_own_bytes".to_owned(), "__acc_parts".to_owned()]);
        let total = "__acc_own_bytes * __acc_parts".to_owned();
        Ok(Some(Slices { all, declared, names: passed, total }))
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
         char *const {OWN} = {ROOM_ON_DEVICE} + *__gangway_acc_seen_by_all(&{own}) * __acc_own_bytes; \
         {{ {text} }} \
         __gangway_acc_gang_barrier(); \
         if ({one}) __gangway_acc_leave({taken}, *__gangway_acc_seen_by_all(&{own}));"
    )
}
