//! What compilers' device code wants of whoever loads and launches it, whatever the driver.
//!
//! LLVM and GCC each have a device runtime of their own, with layouts and habits that do not
//! depend on the maker of the GPU. Back ends for GPUs use what is here and keep what is their
//! driver's. Nothing here knows a back end or a driver. Limits come as numbers.
//!
//! # Rooms
//!
//! | Room | What is in it |
//! |---|---|
//! | `launch` | what a device can run, what a construct asks for, and the shape of a launch |
//! | `settings` | what the environment says |
//! | `names` | what users are told of functions |
//! | `image` | an image on a device, of which its back end shows the variables |
//! | `memory` | what a back end does for the memory that kernels of a stream share |
//! | `growing` | such memory, which is replaced when a kernel needs more |
//! | [`llvm`] | kernels of clang and flang: what they share with the host, and their shapes |
//! | [`gcc`] | kernels of GCC: their tables and stacks, and their shapes |
//!
//! Each knows those above it. A back end is asked through two traits: [`LoadedImage`] while images
//! are loaded, [`StreamMemory`] by launches. All calls of them are direct.

pub mod gcc;
mod growing;
mod image;
mod launch;
pub mod llvm;
mod memory;
mod names;
mod settings;

pub use image::LoadedImage;
pub use launch::{Asked, DeviceLimits, Geometry, Wishes};
pub use memory::StreamMemory;
pub use names::told_function;
pub use settings::{Settings, parse_switch};
