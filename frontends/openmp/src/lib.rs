//! What is OpenMP, and no compiler's ABI, between the front ends and the runtime.
//!
//! A front end (`frontends/omptarget`) has the layouts and names that one compiler's
//! programs use. Here is what they have in common: when the host takes over, how devices
//! are numbered, what the `omp_*` routines do, what users are told, and how the process
//! starts and ends.
//!
//! # What a front end supplies
//!
//! - an implementation of [`Host`](host::Host), which is named where its library is asked:
//!   [`devices::destination`], [`interop::get`], most routines, [`process::start`];
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
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | [`guard`] | the wall between Rust and C |
//! | [`caller`] | exports, and where a call came from |
//! | `environment` | variables of the environment |
//! | [`host`] | what the host's library answers |
//! | [`message`] | lines on standard error |
//! | [`state`] | the one runtime |
//! | `ending` | the end of the process |
//! | `repeats` | warnings that come again |
//! | [`policy`] | when the host takes over, and when the program ends |
//! | [`devices`] | device numbers and names, and where a construct runs |
//! | [`host_call`] | functions of the host that device code calls |
//! | [`reverse_offload`] | data of regions that devices have the host run |
//! | [`memory`] | `omp_target_alloc`, `omp_target_memcpy` and kin |
//! | [`asynchronous`] | `omp_target_memcpy_async` and kin |
//! | [`interop`] | interoperability objects |
//! | `profile` | `LIBOMPTARGET_PROFILE` |
//! | `trace` | `GANGWAY_TRACE`, `GANGWAY_REPORT` |
//! | `steps` | the runtime's steps, timed for the two |
//! | [`information`] | `LIBOMPTARGET_INFO` |
//! | [`construct`] | what the two and the profile tell of a construct |
//! | `members` | names of members of structures, for messages |
//! | `fork` | a forked child gets a library that works |
//! | [`process`] | start and end: back ends, observers, front ends |
//! | [`libraries`] | libraries with device code come and go |

pub mod asynchronous;
pub mod caller;
pub mod construct;
pub mod devices;
mod ending;
pub mod environment;
mod fork;
pub mod guard;
pub mod host;
pub mod host_call;
pub mod information;
pub mod interop;
pub mod libraries;
mod members;
pub mod memory;
pub mod message;
pub mod policy;
pub mod process;
mod profile;
mod repeats;
pub mod reverse_offload;
pub mod state;
mod steps;
pub mod trace;
