//! AMD's HSA code objects, versions 3 to 6: what a runtime needs to load one and to launch its kernels.
//!
//! [`CodeObject::read`] takes the bytes of a linked image, of unknown origin, and checks everything
//! that it hands out: offsets, sizes, addresses, what metadata and descriptors say of each other. An
//! [`Error`] says what is wrong and where. There is no panic on any bytes, no loop that input can
//! make endless, and no allocation larger than the input deserves. Property tests and a fuzz target hold
//! it to that. The formats are described in LLVM's "User Guide for AMDGPU Backend".
//!
//! | Module | What is in it |
//! |---|---|
//! | `error` | what is wrong, and where |
//! | `bytes` | reads that say what was being read |
//! | [`target`] | the processor and its features |
//! | [`descriptor`] | kernel descriptors |
//! | [`metadata`] | the note in MessagePack |
//! | [`segment`] | what is loaded where |
//! | [`dynamic`] | symbols and relocations |
//! | `code_object` | all of it |
#![forbid(unsafe_code)]

mod bytes;
mod code_object;
pub mod descriptor;
pub mod dynamic;
mod error;
pub mod metadata;
pub mod segment;
pub mod target;

pub use code_object::{CodeObject, Kernel};
pub use descriptor::Descriptor;
pub use dynamic::{Relocation, RelocationKind, Symbol, SymbolKind};
pub use error::Error;
pub use metadata::{Argument, KernelMetadata, Metadata, ValueKind};
pub use segment::{Access, Segment};
pub use target::{Feature, Target, Version};
