//! Reductions (OpenACC 3.3 sections 2.5.15 and 2.9.11): private copies, and how they are put together.

use super::directive::{Directive, bytes};
use super::index::{Class, Key, Member, Variable};
use super::writer::Writer;
use crate::error::Complaint;
use crate::pragma::split;

/// A variable of a `reduction` clause.
#[derive(Clone, Debug)]
pub struct Reduction {
    pub variable: Variable,
    operator: Operator,
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
        let tokens = clause.tokens.as_deref().unwrap_or_default();
        let parts = split(tokens, ":");
        let [operator, list, ..] = parts[..] else { continue };
        let words: String = operator.iter().map(|token| token.text.as_str()).collect();
        let operator = Operator::named(&words)
            .ok_or_else(|| Complaint::new(clause.at, format!("`{words}` is no operator of reductions")))?;
        for item in split(list, ",") {
            let Some(range) = bytes(item) else { continue };
            let refuse = |what: &str| {
                let message =
                    format!("a reduction of `{}`, {what}, is not translated", &writer.text[range.clone()]);
                Complaint::new(clause.at, message)
            };
            let key = writer.index.uses_in(&range).next().map(|found| found.key);
            let key = key.or_else(|| named(writer, directive, &item[0].text));
            let variable = key.and_then(|key| writer.index.variable(key)).cloned();
            let variable = variable.ok_or_else(|| refuse("which is no variable"))?;
            if item.len() > 1 && (variable.class != Class::Array || item.iter().any(|token| token.is("."))) {
                return Err(refuse("a part of a variable"));
            }
            match variable.class {
                Class::Pointer => return Err(refuse("a pointer")),
                Class::Record if variable.numbers.is_none() => {
                    return Err(refuse("an object that consists not of numbers alone"));
                }
                _ => {}
            }
            if !found.iter().any(|known: &Reduction| known.variable.key == variable.key) {
                found.push(Reduction { variable, operator });
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
                found.push(Reduction { variable: variable.clone(), operator });
            }
        }
    }
    Ok(found)
}

/// A variable of around that a construct uses, by its name: clang says nothing of what a clause names that it takes
/// for an error.
fn named(writer: &Writer<'_>, directive: &Directive, name: &str) -> Option<Key> {
    let at = directive.range.start;
    let body = writer.whole(writer.statement(directive).ok()?);
    let uses = writer.index.uses_in(&body).map(|found| found.key).filter(|key| *key < at);
    uses.filter(|key| writer.index.variable(*key).is_some_and(|variable| variable.name == name)).max()
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
    fn element(&self) -> &str {
        match self.variable.class {
            Class::Array => self.variable.ty.split('[').next().unwrap_or_default().trim(),
            _ => &self.variable.ty,
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
        let element = self.element();
        if self.variable.class != Class::Array {
            return write(&|name| name.to_owned(), element);
        }
        let text = write(&|name| format!("(({element} *)&{name})[__acc_e]"), element);
        let ty = &self.variable.ty;
        format!(
            "for (unsigned long __acc_e = 0; __acc_e < sizeof(__typeof__({ty})) / sizeof({element}); ++__acc_e) {{ {text} }}"
        )
    }

    /// Gives a copy its first value; `outer` is what it is a copy of, which other gangs may be changing if it is
    /// `shared`.
    pub fn begin(&self, name: &str, outer: &str, shared: bool) -> String {
        self.each(|of, element| {
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
        matches!(self.operator, Operator::Max | Operator::Min)
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

    /// The same of logic where several threads do it at once.
    fn add_truth(&self, into: &str, value: &str) -> String {
        let (is_not, truth) = if self.operator == Operator::LogicalAnd { ("!", 0) } else { ("", 1) };
        format!("if ({is_not}{value}) {{\n#pragma omp atomic write\n{into} = {truth};\n}}")
    }

    /// The same where several threads do it at once.
    pub fn add_atomically(&self, into: &str, value: &str) -> String {
        let is_complex = |ty: &str| ty.contains("_Complex");
        self.each(|of, ty| {
            let (into, value) = (of(into), of(value));
            match self.operator {
                Operator::Add if is_complex(ty) => ["__real__", "__imag__"]
                    .map(|part| format!("\n#pragma omp atomic update\n{part} {into} += {part} {value};\n"))
                    .concat(),
                // clang-22 makes no atomic operation of truth values but those of logic.
                Operator::LogicalAnd | Operator::LogicalOr if !is_complex(ty) => {
                    self.add_truth(&into, &value)
                }
                _ if is_complex(ty) || matches!(ty, "_Bool" | "bool") => {
                    format!("__gangway_acc_alone({})", self.add(&into, &value))
                }
                Operator::Max => {
                    format!("\n#pragma omp atomic compare\nif ({into} < {value}) {{ {into} = {value}; }}\n")
                }
                Operator::Min => {
                    format!("\n#pragma omp atomic compare\nif ({into} > {value}) {{ {into} = {value}; }}\n")
                }
                _ => format!("\n#pragma omp atomic update\n{into} = {};\n", self.combined(&into, &value)),
            }
        })
    }
}
