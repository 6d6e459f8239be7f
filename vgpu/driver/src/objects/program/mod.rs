//! Programs: images, modules, functions, libraries and links.

pub mod function;
pub mod jit;
pub mod library;
pub mod link;
pub mod module;
pub mod occupancy;
