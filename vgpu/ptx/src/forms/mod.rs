//! The instruction forms: one table row for each way to write an instruction.
//!
//! A [`Row`] gives the name, the modifiers in order, the operands, and which PTX
//! version and processor brought it. Parser, verifier and printer know instructions
//! only through these rows, so what no row describes is refused. What an operation means is not
//! said here but in [`meaning`](crate::meaning).
//!
//! Modifiers are separated by blanks: `a|b` is a choice, `?` makes it optional,
//! `^60:70` adds a requirement (PTX 6.0, sm_70) when the choice is used, and `@name`
//! stands for a list in [`compile::ALIASES`]. A program may write them in any order, but
//! types and spaces keep theirs, and what stands before `/` belongs to the name: it
//! comes first.
//!
//! Operands are separated by blanks as well:
//!
//! | written      | meaning                                                              |
//! |--------------|----------------------------------------------------------------------|
//! | `t` `u` `v`  | a value of the first, second, third type among the modifiers         |
//! | `b32`...     | a value of that type                                                 |
//! | `t+`         | of the type twice as wide                                            |
//! | `=t`         | a register that is written; `_` after it allows the sink `_`         |
//! | `\|pred`     | the optional second half of a destination pair, `d\|p`               |
//! | `pred!`      | a predicate that may be negated                                      |
//! | `#u32`       | a constant                                                           |
//! | `{}` `={}`   | one value, or as many in braces as `.v2`, `.v4` say; relaxed widths  |
//! | `4*b32` `=4*b32` | a fragment of a matrix: so many registers of that type, in braces |
//! | `t~` `=t~`   | the register may be wider than the type                              |
//! | `[]`         | an address in brackets                                               |
//! | `mov` `=mov` | whatever `mov` moves: also addresses and packed vectors              |
//! | `label` `targets` `call` | a branch target, a list of them, the parts of a call     |
//! | `?`          | at the end: optional                                                 |

pub mod compile;
mod control;
mod float;
mod integer;
mod matrix;
mod memory;
mod unsupported;

pub use compile::{Expected, Form, Opcode, Role, table};
pub use unsupported::RefusedOp;
pub(crate) use unsupported::{is_unsupported_word, unsupported_form, unsupported_instruction};

use crate::op::Op;
use crate::types::Version;

/// One way to write an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub op: Op,
    pub modifiers: &'static str,
    pub operands: &'static str,
    pub since: Version,
    /// The lowest processor, `80` for `sm_80`.
    pub processor: u16,
    /// The processor that no longer has it.
    pub until: Option<u16>,
}

/// A row for every PTX version and processor.
const fn row(op: Op, modifiers: &'static str, operands: &'static str) -> Row {
    Row { op, modifiers, operands, since: Version::new(1, 0), processor: 0, until: None }
}

impl Row {
    /// Restricts it to PTX `version` (60 is 6.0) and to `processor` and those above.
    const fn since(mut self, version: u16, processor: u16) -> Self {
        self.since = Version::new(version / 10, version % 10);
        self.processor = processor;
        self
    }

    /// Restricts it to processors below `processor`.
    const fn until(mut self, processor: u16) -> Self {
        self.until = Some(processor);
        self
    }
}

/// Every form, grouped as the chapters of the PTX ISA are.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [integer::ROWS, float::ROWS, memory::ROWS, control::ROWS, matrix::ROWS].into_iter().flatten()
}
