//! Sequences as text, a line for each value:
//!
//! ```text
//! %0 = parameter i32 lanes
//! %1 = parameter i32
//! %2 = constant i32 0x5
//! %3 = shl %0 %2
//! %4 = add %3 %1
//! result %4
//! ```
//!
//! A type stands only where nothing else tells it; `lanes` is a value of each lane's own. What
//! follows a `;` is a comment.

use std::fmt;
use std::str::FromStr;

use crate::op::Op;
use crate::sequence::{Definition, Sequence, Value};
use crate::types::{Element, Extent, Type};

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (value, definition) in self.values() {
            write!(f, "%{} = {}", value.0, definition.op.name())?;
            match definition.op {
                Op::Parameter(_) => {
                    let extent = if definition.ty.is_one() { "" } else { " lanes" };
                    write!(f, " {}{extent}", definition.ty.element.name())?;
                }
                Op::Constant(bits) => write!(f, " {} {bits:#x}", definition.ty.element.name())?,
                _ => definition.operands().iter().try_for_each(|operand| write!(f, " %{}", operand.0))?,
            }
            writeln!(f)?;
        }
        self.results.iter().try_for_each(|result| writeln!(f, "result %{}", result.0))
    }
}

/// Why text is no sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Sequence {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut sequence = Sequence::default();
        for (index, line) in text.lines().enumerate() {
            let code = line.split(';').next().unwrap_or_default();
            let words: Vec<&str> = code.split_whitespace().collect();
            let parsed = match &*words {
                [] => Ok(()),
                ["result", results @ ..] => results.iter().try_for_each(|word| {
                    let result = value(word, &sequence)?;
                    sequence.results.push(result);
                    Ok(())
                }),
                [name, "=", op, rest @ ..] => definition(name, op, rest, &sequence)
                    .map(|definition| sequence.definitions.push(definition)),
                _ => Err(format!("'{}' is neither a definition nor a result", line.trim())),
            };
            parsed.map_err(|what| ParseError { line: index + 1, what })?;
        }
        Ok(sequence)
    }
}

/// A value that is defined already.
fn value(word: &str, sequence: &Sequence) -> Result<Value, String> {
    let number = word.strip_prefix('%').and_then(|digits| digits.parse::<u32>().ok());
    match number {
        Some(number) if (number as usize) < sequence.definitions.len() => Ok(Value(number)),
        Some(_) => Err(format!("{word} is not defined yet")),
        None => Err(format!("'{word}' is no value")),
    }
}

fn element(word: &str) -> Result<Element, String> {
    let found = Element::ALL.into_iter().find(|element| element.name() == word);
    found.ok_or_else(|| format!("'{word}' is no type"))
}

fn definition(name: &str, op: &str, rest: &[&str], sequence: &Sequence) -> Result<Definition, String> {
    let next = sequence.definitions.len() as u32;
    if name.strip_prefix('%') != Some(&*next.to_string()) {
        return Err(format!("'{name}' is defined where %{next} is expected"));
    }
    let none = [Value(0); 3];
    match (op, rest) {
        ("parameter", [ty]) => {
            Ok(Definition { op: Op::Parameter(next), operands: none, ty: Type::one(element(ty)?) })
        }
        ("parameter", [ty, "lanes"]) => {
            Ok(Definition { op: Op::Parameter(next), operands: none, ty: Type::lanes(element(ty)?) })
        }
        ("constant", [ty, bits]) => {
            let digits = bits.strip_prefix("0x").ok_or_else(|| format!("'{bits}' does not begin with 0x"))?;
            let bits = u64::from_str_radix(digits, 16).map_err(|error| format!("'{bits}': {error}"))?;
            Ok(Definition { op: Op::Constant(bits), operands: none, ty: Type::one(element(ty)?) })
        }
        _ => {
            let known = Op::from_name(op).ok_or_else(|| format!("there is no operation '{op}'"))?;
            let operands: Vec<Value> =
                rest.iter().map(|word| value(word, sequence)).collect::<Result<_, _>>()?;
            let elements: Vec<Element> = operands.iter().map(|&operand| sequence.element(operand)).collect();
            if !known.operands().take(&elements) {
                let elements: Vec<&str> = elements.iter().map(|element| element.name()).collect();
                return Err(format!("'{op}' does not take ({})", elements.join(", ")));
            }
            let extent = operands.iter().map(|&operand| sequence.ty(operand).extent).max();
            let mut three = none;
            three[..operands.len()].copy_from_slice(&operands);
            let element = known.result(&elements).ok_or_else(|| format!("'{op}' gives nothing"))?;
            let ty = Type { element, extent: extent.unwrap_or(Extent::One) };
            Ok(Definition { op: known, operands: three, ty })
        }
    }
}
