//! Reductions (OpenACC 3.3 sections 2.5.15 and 2.9.11): private copies, and how they are put together.

use std::borrow::Cow;

use super::directive::{Directive, bytes};
use super::index::{Class, Member, Variable};
use super::items::{Item, with_whole_names};
use super::room;
use super::sections::Section;
use super::slice::{Purpose, Slice};
use super::writer::Writer;
use crate::error::Complaint;

/// A variable of a `reduction` clause.
#[derive(Clone, Debug)]
pub struct Reduction {
    pub variable: Variable,
    operator: Operator,
    /// Copies whose length is known when the program runs.
    pub slice: Option<Slice>,
    /// The elements of an array that it is about, if not of all: the first, and how many.
    part: Option<[u64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Multiply,
    Max,
    Min,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
}

/// The reductions of a directive.
pub fn read(writer: &Writer<'_>, directive: &Directive) -> Result<Vec<Reduction>, Complaint> {
    let mut found = Vec::new();
    for clause in directive.for_gpus().into_iter().filter(|clause| clause.name == "reduction") {
        let Some((words, items)) = clause.reduced() else { continue };
        let operator = Operator::named(&words)
            .ok_or_else(|| Complaint::new(clause.at, format!("`{words}` is no operator of reductions")))?;
        for item in items {
            let item = &with_whole_names(item, &writer.index)[..];
            let Some(range) = bytes(item) else { continue };
            let refuse = |what: &str| {
                let message =
                    format!("a reduction of `{}`, {what}, is not translated", &writer.text[range.clone()]);
                Complaint::new(clause.at, message)
            };
            let key = writer.index.uses_in(&range).next().map(|found| found.key);
            // clang says nothing of what a clause names that it takes for an error.
            let key = key.or_else(|| {
                let body = writer.whole(writer.statement(directive).ok()?);
                let used = writer.variable_named(&item[0].text, &body);
                used.filter(|key| *key < directive.range.start)
            });
            let variable = key.and_then(|key| writer.index.variable(key)).cloned();
            let variable = variable.ok_or_else(|| refuse("which is no variable"))?;
            let read = Item::read("COPY", Vec::new(), item, &writer.index, clause.at)?;
            if item.len() > 1
                && (!matches!(variable.class, Class::Array | Class::Pointer)
                    || item.iter().any(|token| token.is(".")))
            {
                return Err(refuse("a part of a variable"));
            }
            let is_slice =
                room::section(&read, &variable).map_err(|_| refuse("whose rows lie apart"))?.is_some();
            match variable.class {
                _ if is_slice => {}
                Class::Pointer => return Err(refuse("a pointer")),
                Class::Record if variable.numbers.is_none() => {
                    return Err(refuse("an object that consists not of numbers alone"));
                }
                _ => {}
            }
            if !found.iter().any(|known: &Reduction| known.variable.key == variable.key) {
                let at = Some(directive.range.start);
                let slice = writer.slice_of(Purpose::Reduction, at, variable.key).cloned();
                let part = if is_slice { Ok(None) } else { part(writer, &read) };
                let part = part.map_err(|()| refuse("of a section that begins at no number"))?;
                let one = Reduction { variable, operator, slice, part };
                // Lanes would have to take turns.
                if is_slice && !one.is_atomic(&one.element()) {
                    return Err(refuse("for whose elements there is no atomic operation"));
                }
                found.push(one);
            }
        }
    }
    // Those that nobody has said.
    if let Some(Ok(independent)) = writer.independent.get(&directive.range.start) {
        for (key, operator) in &independent.reductions {
            let (Some(variable), Some(operator)) = (writer.index.variable(*key), Operator::named(operator))
            else {
                continue;
            };
            if !found.iter().any(|known| known.variable.key == *key) {
                let variable = variable.clone();
                found.push(Reduction { variable, operator, slice: None, part: None });
            }
        }
    }
    Ok(found)
}

/// The elements of a row that a section names with numbers; none, and so all, of sections that begin at the beginning.
fn part(writer: &Writer<'_>, item: &Item) -> Result<Option<[u64; 2]>, ()> {
    let first = |section: &Section| match &section.first {
        None => Some(0),
        Some(first) => writer.literal(first),
    };
    if let [section @ Section { count: Some(count), .. }] = &item.sections[..]
        && let (Some(first), Some(count)) = (first(section), writer.literal(count))
    {
        return Ok(Some([first, count]));
    }
    if item.sections.iter().all(|section| first(section) == Some(0)) { Ok(None) } else { Err(()) }
}

/// Types of which devices have the greater and the lesser in one operation.
const WHOLE: [&str; 6] = ["int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"];

fn is_truth(ty: &str) -> bool {
    matches!(ty, "_Bool" | "bool")
}

fn is_complex(ty: &str) -> bool {
    ty.contains("_Complex")
}

impl Operator {
    fn named(words: &str) -> Option<Self> {
        Some(match words {
            "+" => Self::Add,
            "*" => Self::Multiply,
            "max" => Self::Max,
            "min" => Self::Min,
            "&" => Self::And,
            "|" => Self::Or,
            "^" => Self::Xor,
            "&&" => Self::LogicalAnd,
            "||" => Self::LogicalOr,
            _ => return None,
        })
    }
}

impl Reduction {
    /// The type of an element, or of the variable.
    fn element(&self) -> Cow<'_, str> {
        let ty = self.variable.ty.as_str();
        match self.variable.class {
            Class::Array => ty.split('[').next().unwrap_or_default().trim().into(),
            Class::Pointer => match ty.strip_suffix('*') {
                Some(element) => element.trim().into(),
                None => format!("__typeof__(*({ty})0)").into(),
            },
            _ => ty.into(),
        }
    }

    /// The declaration of a private copy, before anything is put into it.
    pub fn declared(&self, name: &str) -> String {
        format!("__typeof__({}) {name};", self.variable.ty)
    }

    /// A statement for each element or member, written with what stands for it in a variable, and its type.
    pub fn each(&self, write: impl Fn(&dyn Fn(&str) -> String, &str) -> String) -> String {
        if let Some(members) = &self.variable.numbers {
            let written =
                members.iter().map(|Member { path, ty }| write(&|name| format!("{name}{path}"), ty));
            return written.collect();
        }
        let element = &*self.element();
        if let Some(Slice { low, length, .. }) = &self.slice {
            let text = write(&|name| format!("{name}[{low} + (long)__acc_e]"), element);
            return format!(
                "{{ for (unsigned long __acc_e = 0; __acc_e < {length}; ++__acc_e) {{ {text} }} }}"
            );
        }
        if self.variable.class != Class::Array {
            return write(&|name| name.to_owned(), element);
        }
        let text = write(&|name| format!("(({element} *)&{name})[__acc_e]"), element);
        let (first, behind) = match self.part {
            Some([first, count]) => (first, (first + count).to_string()),
            None => (0, format!("sizeof(__typeof__({})) / sizeof({element})", self.variable.ty)),
        };
        format!("{{ for (unsigned long __acc_e = {first}; __acc_e < {behind}; ++__acc_e) {{ {text} }} }}")
    }

    /// Gives a copy its first value; `outer` is what it is a copy of, which other gangs may be changing if it is
    /// `shared`.
    pub fn begin(&self, name: &str, outer: &str, shared: bool) -> String {
        // What the section leaves out is read all the same.
        let others = if self.part.is_some() {
            format!("__builtin_memcpy(&{name}, &{outer}, sizeof {name}); ")
        } else {
            String::new()
        };
        others
            + &self.each(|of, element| {
                let first = match self.operator {
                    Operator::Add | Operator::Or | Operator::Xor | Operator::LogicalOr => "0".to_owned(),
                    Operator::Multiply | Operator::LogicalAnd => "1".to_owned(),
                    Operator::And => format!("({element})~0ull"),
                    // It changes nothing to take a value twice.
                    Operator::Max | Operator::Min if shared => format!("__gangway_acc_read({})", of(outer)),
                    Operator::Max | Operator::Min => of(outer),
                };
                format!("{} = {first};", of(name))
            })
    }

    /// Whether a copy begins with the value that it is a copy of.
    pub const fn begins_with_outer(&self) -> bool {
        self.part.is_some() || matches!(self.operator, Operator::Max | Operator::Min)
    }

    /// Two elements put together.
    fn combined(&self, one: &str, other: &str) -> String {
        match self.operator {
            Operator::Add => format!("{one} + {other}"),
            Operator::Multiply => format!("{one} * {other}"),
            Operator::And => format!("{one} & {other}"),
            Operator::Or => format!("{one} | {other}"),
            Operator::Xor => format!("{one} ^ {other}"),
            Operator::LogicalAnd => format!("{one} && {other}"),
            Operator::LogicalOr => format!("{one} || {other}"),
            Operator::Max => format!("({one} > {other} ? {one} : {other})"),
            Operator::Min => format!("({one} < {other} ? {one} : {other})"),
        }
    }

    /// `into = into (op) value`, for an element.
    pub fn add(&self, into: &str, value: &str) -> String {
        format!("{into} = {};", self.combined(into, value))
    }

    /// The same for variables.
    pub fn add_all(&self, into: &str, value: &str) -> String {
        self.each(|of, _| self.add(&of(into), &of(value)))
    }

    /// The same of logic where several threads do it at once: one of them may decide it. If none does, the result is
    /// 0 or 1 all the same, also where the variable has had another value (section 2.9.11: it is combined, too).
    fn add_truth(&self, into: &str, value: &str) -> String {
        let (is_not, truth) = if self.operator == Operator::LogicalAnd { ("!", 0) } else { ("", 1) };
        format!(
            "if ({is_not}{value}) {{\n#pragma omp atomic write\n{into} = {truth};\n}} else __gangway_acc_normalise({into})"
        )
    }

    /// Whether there is an atomic operation for it.
    fn is_atomic(&self, ty: &str) -> bool {
        self.operator == Operator::Add || !is_complex(ty)
    }

    /// What the operator does to bits of which each is a truth value.
    const fn of_bits(&self) -> &'static str {
        match self.operator {
            Operator::Add | Operator::Max | Operator::Or | Operator::LogicalOr => "|",
            Operator::Multiply | Operator::Min | Operator::And | Operator::LogicalAnd => "&",
            Operator::Xor => "^",
        }
    }

    /// The same where several threads do it at once.
    pub fn add_atomically(&self, into: &str, value: &str) -> String {
        self.each(|of, ty| {
            let (into, value) = (of(into), of(value));
            match self.operator {
                Operator::Add if is_complex(ty) => ["__real__", "__imag__"]
                    .map(|part| format!("\n#pragma omp atomic update\n{part} {into} += {part} {value};\n"))
                    .concat(),
                // clang-22 makes no atomic operation of truth values, which are bytes of 0 or 1.
                _ if is_truth(ty) => format!(
                    "\n#pragma omp atomic update\n*(unsigned char *)&{into} {}= (unsigned char){value};\n",
                    self.of_bits()
                ),
                Operator::LogicalAnd | Operator::LogicalOr if !is_complex(ty) => {
                    self.add_truth(&into, &value)
                }
                _ if !self.is_atomic(ty) => {
                    format!("__gangway_acc_alone({})", self.add(&into, &value))
                }
                Operator::Max | Operator::Min => {
                    let sign = if self.operator == Operator::Max { "<" } else { ">" };
                    match WHOLE.contains(&ty) {
                        true => format!(
                            "\n#pragma omp atomic compare\nif ({into} {sign} {value}) {{ {into} = {value}; }}\n"
                        ),
                        // LLVM would read others without an atomic operation first.
                        false => format!("__gangway_acc_replace_if({into}, {sign}, {value})"),
                    }
                }
                _ => format!("\n#pragma omp atomic update\n{into} = {};\n", self.combined(&into, &value)),
            }
        })
    }
}
