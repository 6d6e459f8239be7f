//! What is OpenMP, and no compiler's ABI, between the front ends and the runtime.
//!
//! A front end (`frontends/omptarget`) has the layouts and names that one compiler's
//! programs use. Here is what they have in common: when the host takes over, how devices
//! are numbered, what the `omp_*` routines do, what users are told, and how the process
//! starts and ends. The library that runs the host's threads is the front end's too; it is
//! asked through [`host::Host`].
//!
//! The modules are layers: each uses only those above it in this table.
//!
//! | module | what |
//! |---|---|
//! | [`guard`], [`caller`], [`environment`], [`host`] | nothing unwinds into C; where a call came from; variables; what the host's library answers |
//! | [`message`] | lines on standard error |
//! | [`state`] | the one runtime |
//! | [`ending`] | the end of the process |
//! | [`policy`] | when the host takes over, and when the program ends |
//! | [`devices`] | device numbers, names, and where a construct runs |
//! | [`memory`], [`asynchronous`], [`interop`] | the routines |
//! | [`profile`], `trace`, [`information`] | what users ask to be told |
//! | `fork` | a forked child gets a library that works |
//! | [`process`] | start and end: back ends, observers, front ends |
//! | [`libraries`] | libraries with device code come and go |

pub mod asynchronous;
pub mod caller;
pub mod devices;
pub mod ending;
pub mod environment;
mod fork;
pub mod guard;
pub mod host;
pub mod information;
pub mod interop;
pub mod libraries;
pub mod memory;
pub mod message;
pub mod policy;
pub mod process;
pub mod profile;
pub mod state;
mod trace;
