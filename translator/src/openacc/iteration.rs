//! Variables of around that each iteration of a partitioned loop writes before it reads them. Threads that share one would
//! read what another has written meanwhile.
//!
//! Who says `independent`, or lets a loop of `parallel` be so, says that no iteration needs what another has written
//! (OpenACC 3.3 section 2.9.6). So each has a copy. What is read behind the loop is the last iteration's value, as in the
//! loop of one thread. Where iterations write the variable only sometimes, and it is read behind, it stays what it is: one
//! of them may be the only one that does.
//!
//! Variables in registers are each thread's in any case, and so is what they have behind the loop, as with GCC.

use std::ops::Range;

use super::directive::{Directive, Name};
use super::header::Header;
use super::index::{Class, Doing, Key, Variable};
use super::writer::{Names, Writer};
use crate::ast::Node;

/// Such a variable.
pub struct OfIteration {
    pub variable: Variable,
    /// What gets the last iteration's value, if it is read behind.
    pub outer: Option<String>,
}

/// Whether an iteration is the last one, of loops whose numbers in it these are.
pub fn is_last(numbers: &[String]) -> String {
    let each = numbers.iter().enumerate().map(|(at, number)| format!("({number}) == __acc_n{at} - 1"));
    each.collect::<Vec<_>>().join(" && ")
}

impl<'w> Writer<'w> {
    /// Those of a directive's loops that are in memory which others have, too. `body` is what they do.
    pub fn of_iterations(
        &self,
        directive: &Directive,
        (heads, body): (&[Header], Node<'w>),
        names: &Names,
    ) -> Vec<OfIteration> {
        let range = self.whole(body);
        let Some(whole) = heads.first().map(|head| head.at..range.end) else { return Vec::new() };
        let mut written: Vec<Key> = self
            .index
            .uses_in(&range)
            .filter(|found| found.doing == Doing::Writes && !range.contains(&found.key))
            .map(|found| found.key)
            .collect();
        written.sort_unstable();
        written.dedup();
        let is_in_memory = |key: &Key| names.get(key).is_some_and(|name| name.ends_with(']'));
        written.retain(|key| is_in_memory(key) && !self.belongs_elsewhere(*key, directive, &range));
        let found = written.into_iter().filter_map(|key| {
            let variable = self.index.variable(key)?;
            let is_plain = matches!(variable.class, Class::Scalar | Class::Record) && !variable.is_reference;
            let flow = self.flow(key, range.start).filter(|_| is_plain)?;
            if !flow.is_written_first(&range) || !flow.values.iter().any(|(at, _)| range.contains(at)) {
                return None;
            }
            let is_needed = variable.is_static || self.visible.contains(&key) || flow.is_read_behind(&whole);
            let is_settled = !is_needed || flow.is_assigned_by(body);
            let outer = names.get(&key).filter(|_| is_needed).cloned();
            is_settled.then(|| OfIteration { variable: variable.clone(), outer })
        });
        found.collect()
    }

    /// Whether a clause of the loop says what becomes of a variable, a reduction in it puts its values together, or an
    /// atomic construct is about it.
    fn belongs_elsewhere(&self, key: Key, directive: &Directive, body: &Range<usize>) -> bool {
        let lists = |one: &Directive, name| self.listed(one, name).contains(&key);
        let mut inside = self.source.directives.iter().filter(|one| body.contains(&one.range.start));
        lists(directive, "private")
            || lists(directive, "reduction")
            || inside.any(|one| match one.name {
                Name::Atomic => self.statement(one).is_ok_and(|statement| {
                    self.index.uses_in(&self.whole(statement)).any(|found| found.key == key)
                }),
                _ => lists(one, "reduction"),
            })
    }
}
