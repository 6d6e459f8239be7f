//! AMD's GCN and CDNA machine code: bytes to typed instructions, and LLVM's text of them.
//!
//! [`Decoder::decode`] reads one instruction of a [`Gpu`] from bytes of unknown origin. It returns
//! an [`Instruction`], or a [`Refusal`] that says what is wrong; there is no panic on any bytes.
//! An instruction has its [`Row`] of the one table, which says what it reads and writes besides its
//! operands: SCC, EXEC, VCC, M0, the floating-point mode, memory, where it goes on. Its
//! `Display` is the text that `llvm-objdump` prints; tests hold the two to each other over whole
//! libraries and over millions of random words.
//!
//! What LLVM prints with a complaint in a comment (a register that the place cannot have, a pair
//! that begins at an odd number, an exchange of lanes that the processor lacks) is refused, and so
//! are instructions of graphics.
//!
//! | Module | What is in it |
//! |---|---|
//! | `gpu` | processors, and sets of them |
//! | [`table`] | opcodes, operands, modifiers, effects |
//! | `error` | why bytes are no instruction |
//! | [`operand`] | registers and constants |
//! | [`instruction`] | instructions as values |
//! | `decode` | bytes to instructions |
//! | `print` | instructions to text |
#![forbid(unsafe_code)]

mod decode;
mod error;
mod gpu;
pub mod instruction;
pub mod operand;
mod print;
pub mod table;

pub use decode::Decoder;
pub use error::Refusal;
pub use gpu::{Gpu, Gpus};
pub use instruction::{Form, Instruction};
pub use operand::{Operand, Operands};
pub use table::{Effects, Encoding, Row};
