//! What the front ends share, and what is of no specification: the process, and what its user is told.
//!
//! A front end (`frontends/omptarget`, `frontends/gomp`) has the layouts and names that one
//! compiler's programs use. What a specification says stands in a crate of its own
//! (`frontends/openmp`, `frontends/openacc`). All of them use this one: the exports and the wall between
//! Rust and C, the one runtime, what the host's library answers, when the host takes over,
//! what a construct tells, and how the process starts, forks and ends.
//!
//! # What a front end supplies
//!
//! - an implementation of [`Host`](host::Host), which is named where its library is asked:
//!   most routines, [`process::start`];
//! - [`Words`](words::Words): what its users can do about errors;
//! - one [`FrontEnd`](process::FrontEnd), its part in the start and end of the process;
//! - a table of what it exports, made with [`export!`].
//!
//! Several front ends may be in one process: the runtime and its devices are the same, each
//! asks its own library. The policy is the process's, and that of the first.
//!
//! Every function that is exported runs inside [`guard::guard`]: nothing unwinds into C. The
//! names that it is exported under, and the versions of the names, are its front end's
//! ([`export!`]).
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks, as it does for the other front ends. None
//! of their crates is used here.
//!
//! | module | what |
//! |---|---|
//! | [`guard`] | the wall between Rust and C |
//! | [`caller`] | exports, and where a call came from |
//! | [`environment`] | variables of the environment |
//! | [`words`] | errors in the words of a language and of its compiler |
//! | [`host`] | what the host's library answers |
//! | [`message`] | lines on standard error |
//! | [`state`] | the one runtime |
//! | `ending` | the end of the process |
//! | [`repeats`] | warnings that come again |
//! | [`policy`] | when the host takes over, and when the program ends |
//! | [`devices`] | which devices there are, and making one ready |
//! | `profile` | `LIBOMPTARGET_PROFILE` |
//! | [`trace`] | `GANGWAY_TRACE`, `GANGWAY_REPORT` |
//! | `steps` | the runtime's steps, timed for the two |
//! | [`information`] | `LIBOMPTARGET_INFO` |
//! | [`construct`] | a construct: what users are told of it, its run and its completion |
//! | `errno` | `errno` of the program, kept |
//! | [`host_accesses`] | what the program's own threads do with memory, for checks |
//! | [`race_check`] | the same, for devices that look for races (`GANGWAY_CHECK=race`) |
//! | `map_check` | which side wrote mapped data last (`GANGWAY_CHECK=map`) |
//! | `members` | names of members of structures, for messages |
//! | [`fork`] | a forked child gets a library that works |
//! | [`process`] | start and end: back ends, observers, front ends |
//! | [`libraries`] | libraries with device code come and go |

pub mod caller;
pub mod construct;
pub mod devices;
mod ending;
pub mod environment;
mod errno;
pub mod fork;
pub mod guard;
pub mod host;
pub mod host_accesses;
pub mod information;
pub mod libraries;
mod map_check;
mod members;
pub mod message;
pub mod policy;
pub mod process;
mod profile;
pub mod race_check;
pub mod repeats;
pub mod state;
mod steps;
pub mod trace;
pub mod words;
