//! From what a program hands to the driver to one module that can be loaded.
//!
//! [`read`] recognises an image (PTX text, a fat binary, an archive, our own linked image), chooses
//! the PTX that suits the device and parses it. [`link`] joins what was read, as the driver's
//! `cuLink*` functions do. [`container::pack`] makes the image that `cuLinkComplete` hands out.
//! [`load`] is all of it for one image, as `cuModuleLoadData` needs it.
//!
//! Everything here works on bytes of unknown origin, so it must return an error that
//! says what is wrong: no panic, no unbounded memory. What the virtual GPU cannot run
//! (machine code, NVVM IR) is refused by name, with the driver's error code. The fuzz
//! target `link` holds the crate to that.
//!
//! The driver hands images over as pointers without a length; [`pointer`] turns them
//! into slices, and is the only place with unsafe code.
//!
//! | Module | What is in it |
//! |---|---|
//! | `error` | what can be wrong, and the driver's error for it |
//! | [`container`] | the linked image |
//! | `image` | what a program may hand over as code |
//! | [`pointer`] | images by pointer |
//! | `provided` | functions that no input defines |
//! | `input` | what is linked |
//! | `resolve` | which definition each name stands for |
//! | `copy` | from an input into the result |
//! | `link` | joins modules |
//! | `load` | from an image to modules |
#![deny(unsafe_code)]
#![warn(clippy::must_use_candidate, clippy::use_self)]

pub mod container;
mod copy;
mod error;
mod image;
mod input;
mod link;
mod load;
pub mod pointer;
mod provided;
mod resolve;

pub use error::{Code, ImageError, LinkError, LinkErrors, LoadError};
pub use image::{Image, Member, recognise};
pub use input::Input;
pub use link::link;
pub use load::{load, read};
pub use provided::{PROVIDED, Provided, provided};
