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
#![deny(unsafe_code)]
#![warn(clippy::must_use_candidate, clippy::use_self)]

pub mod container;
mod copy;
mod error;
mod image;
mod link;
mod load;
pub mod pointer;
mod provided;
mod resolve;

pub use error::{Code, ImageError, LinkError, LinkErrors, LoadError};
pub use image::{Image, Member, recognise};
pub use link::{Input, link};
pub use load::{load, read};
pub use provided::{PROVIDED, Provided, provided};
