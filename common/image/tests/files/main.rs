//! The readers against real files, which the installed compilers make on the spot.

mod clang;
mod corrupt;
mod cuda;
mod gcc;
mod support;
