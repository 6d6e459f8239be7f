//! The offload half of libgomp's ABI, as GCC 12's programs use it, on the Gangway runtime.
//!
//! `libgangway-gomp.so` stands in front of `libgomp.so.1`. It defines what concerns devices,
//! with libgomp's symbol versions. The host's threads, tasks and ICVs stay libgomp's, which
//! is asked where they matter ([`libgomp`]).
//!
//! The functions are ordinary ones with the C calling convention; `exports` is the table of
//! the names that they are exported under. Every one runs inside
//! [`guard`](gangway_openmp::guard::guard): nothing unwinds into C.
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | [`abi`] | the C layouts and numbers |
//! | `links` | `declare target link` variables |
//! | [`table`] | the arrays of a construct as list items |
//! | [`libgomp`] | what is asked of the real libgomp |
//! | `images` | the device images that the runtime has |
//! | `front_end` | its part in the process's start and end, and what libgomp answers |
//! | [`register`] | `GOMP_offload_register_ver` and kin |
//! | `tasks` | constructs that nobody waits for |
//! | `construct` | what all constructs have in common |
//! | [`target`] | `GOMP_target_ext` and its older form |
//! | [`data`] | `GOMP_target_data_ext`, `GOMP_target_update_ext` and kin |
//! | [`fortran`] | Fortran's names of routines |
//! | `exports` | which name is which function |
#![allow(non_snake_case, reason = "the names are the ABI's")]

pub mod abi;
mod construct;
pub mod data;
mod exports;
pub mod fortran;
mod front_end;
mod images;
pub mod libgomp;
mod links;
pub mod register;
pub mod table;
pub mod target;
mod tasks;
