//! Readers for what compilers leave in programs for offloading: offload binaries,
//! device images and entry tables, of clang, of GCC and of CUDA compilers.
//!
//! The runtime calls [`recognise`] for every image that a program registers; it looks
//! at headers only, allocates nothing when the image is sound, and takes well under a
//! microsecond for an ELF image. The `gangway` tool calls [`contents`] for a whole file
//! and [`details`] for one image.
//!
//! Every reader works on a byte slice of unknown origin and must return, with an
//! [`Error`] that says what is wrong at which offset: no panic, no unbounded
//! allocation, no loop that input can make endless. The fuzz targets hold it to that.
//!
//! | Module | What is in it |
//! |---|---|
//! | `error` | what is wrong, where, and what was expected |
//! | `bytes` | reads that say what was being read |
//! | [`amdgpu`] | names of AMD's GPUs |
//! | [`bitcode`] | what LLVM bitcode is for |
//! | `elf` | the ELF header of a device image |
//! | [`fatbin`] | CUDA's fat binaries |
//! | [`offload_binary`] | LLVM's offload binaries |
//! | [`gcn_object`] | a code object of GCC's with what its program says of it |
//! | [`ptx`] | PTX text |
//! | [`ptx_objects`] | several PTX texts in one piece |
//! | `recognise` | what an image is |
//! | `host` | ELF files with their pointers resolved |
//! | `cuda` | where CUDA compilers put fat binaries |
//! | `gcc` | what GCC leaves in a program |
//! | [`entry`] | tables of entries |
//! | `details` | what one image offers |
//! | `contents` | what a file holds for offloading |
//!
//! What the readers cover is the 64-bit little-endian ELF world that Gangway runs in.
#![forbid(unsafe_code)]

pub mod amdgpu;
pub mod bitcode;
mod bytes;
mod contents;
mod cuda;
mod details;
mod elf;
pub mod entry;
mod error;
pub mod fatbin;
mod gcc;
pub mod gcn_object;
mod host;
pub mod offload_binary;
pub mod ptx;
pub mod ptx_objects;
mod recognise;

pub use contents::{Contents, HostTables, Image, Problem, Producer, contents};
pub use details::{Details, Global, Kernel, KernelEnvironment, details};
pub use elf::{Elf, FileType, Machine};
pub use error::Error;
pub use gcc::Target as GccTarget;
pub use host::{needed_libraries, search_paths};
pub use recognise::{ImageKind, recognise};
