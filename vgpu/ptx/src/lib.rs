//! PTX: lexer, parser, typed representation, verifier and printer.
//!
//! The virtual GPU loads every module through [`parse`]: text in, a checked [`Module`]
//! out, or all [`Errors`] with their places and the driver's error codes. What the
//! engines cannot run is refused here, by name, so that nothing is ever run wrongly.
//!
//! The instructions are described in two tables. [`forms`] says which there are and which
//! operands they take; everything else in this crate works from it. [`meaning`] says to which
//! class each operation belongs; the engines work from it, and what a class computes is their
//! business.
//!
//! | Module | What is in it |
//! |---|---|
//! | `error` | what is wrong, where, and the driver's error for it |
//! | `types` | types, state spaces, versions |
//! | `lexer` | from text to tokens |
//! | `special` | the special registers |
//! | `op` | the names of the instructions |
//! | `modifier` | the words after the periods |
//! | [`meaning`] | what each operation means |
//! | [`forms`] | how each instruction is written |
//! | `ir` | the typed representation |
//! | `verify` | what the grammar does not check |
//! | `print` | from the representation to text |
//! | `parser` | from text to the representation |
//! | `limits` | whether a module fits into a device |
//!
//! The text is of unknown origin: no panic, no unbounded memory, no endless loop. The
//! fuzz target `ptx` holds the crate to that, and to this: what is printed reads back
//! as the same module.
#![forbid(unsafe_code)]

mod error;
pub mod forms;
mod ir;
mod lexer;
mod limits;
pub mod meaning;
mod modifier;
mod op;
mod parser;
mod print;
mod special;
mod types;
mod verify;

pub use error::{Code, Error, Errors, Span};
pub use forms::{Expected, Opcode, Role};
pub use ir::*;
pub use limits::{MOST_LOCAL, MOST_STATIC_SHARED, check_sizes};
pub use meaning::{Compute, Meaning};
pub use modifier::{Modifier, Word};
pub use op::Op;
pub use parser::{Outline, Reader, parse, parse_bytes, parse_linked};
pub use print::{Added, Additions, Woven, instruction_text};
pub use special::SpecialRegister;
pub use types::{StateSpace, Type, TypeClass, Version, WORD};
