//! The offload half of libgomp's ABI, OpenMP's and OpenACC's, as GCC's programs use it, on the
//! Gangway runtime.
//!
//! `libgangway-gomp.so` stands in front of `libgomp.so.1`. It defines what concerns devices,
//! with libgomp's symbol versions, and leads to the functions here, which are in one library with
//! those of other compilers: a process has one runtime. The host's threads, tasks and ICVs stay libgomp's, which
//! is asked where they matter ([`libgomp`]).
//!
//! The functions are ordinary ones with the C calling convention; `exports` is the table of
//! the names that they are exported under. Every one runs inside
//! [`guard`](gangway_frontend::guard::guard): nothing unwinds into C.
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | [`abi`] | the C layouts and numbers |
//! | `words` | errors in the words of GCC's users |
//! | `debug` | what `GOMP_DEBUG` has printed |
//! | `private_arrays` | first-private arrays with descriptors |
//! | `links` | `declare target link` variables |
//! | [`libgomp`] | what is asked of the real libgomp |
//! | [`table`] | the arrays of a construct as list items |
//! | `arrays` | those that may have iterators |
//! | `structured` | the arrays of structured data |
//! | [`openacc`] | `GOACC_parallel_keyed` and kin, and Fortran's `acc_*_h_` |
//! | `stack` | the stack of the calling thread |
//! | `limits` | teams and threads that the environment says, or device code |
//! | `images` | the device images that the runtime has |
//! | `device_image` | what a registration says of device code |
//! | `dependences` | what `depend` clauses name |
//! | `pending` | constructs that nobody waits for, and the threads that see to them |
//! | `open` | those of a thread outside of parallel regions |
//! | `routine_tasks` | tasks for the asynchronous memory routines |
//! | `front_end` | its part in the process's start and end, and what libgomp answers |
//! | `reverse` | regions of `device(ancestor: 1)` |
//! | [`register`] | `GOMP_offload_register_ver` and its counterpart |
//! | [`tasks`] | tasks for such constructs, and the functions that wait for tasks |
//! | `construct` | what all constructs have in common |
//! | [`interop`] | `GOMP_interop` and the routines that ask for properties |
//! | [`target`] | `GOMP_target_ext` |
//! | [`data`] | `GOMP_target_data_ext`, `GOMP_target_update_ext` and kin |
//! | [`before_gcc_5`] | their older forms |
//! | [`fortran`] | Fortran's names of routines |
//! | `exports` | which name is which function |
#![allow(non_snake_case, reason = "the names are the ABI's")]

pub mod abi;
mod arrays;
pub mod before_gcc_5;
mod construct;
pub mod data;
mod debug;
mod dependences;
mod device_image;
mod exports;
pub mod fortran;
mod front_end;
mod images;
pub mod interop;
pub mod libgomp;
mod limits;
mod links;
mod open;
pub mod openacc;
mod pending;
mod private_arrays;
pub mod register;
mod reverse;
mod routine_tasks;
mod stack;
mod structured;
pub mod table;
pub mod target;
pub mod tasks;
mod words;
