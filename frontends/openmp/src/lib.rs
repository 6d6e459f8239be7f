//! What is OpenMP, and no compiler's ABI, between the front ends and the runtime.
//!
//! A front end (`frontends/omptarget`) has the layouts and names that one compiler's
//! programs use. Here is what they have in common: how devices are numbered, where a construct runs,
//! and what the `omp_*` routines do. What is not OpenMP's alone (the one runtime, messages, start and
//! end of the process) stands in `frontends/frontend`.
//!
//! # What a front end supplies
//!
//! An implementation of [`Host`](gangway_frontend::host::Host), which is named where its library is
//! asked: [`devices::destination`], [`interop::get`], most routines, [`start`].
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | [`words`] | what to do about errors |
//! | [`devices`] | device numbers and names, and where a construct runs |
//! | [`host_call`] | functions of the host that device code calls |
//! | [`reverse_offload`] | data of regions that devices have the host run |
//! | [`memory`] | `omp_target_alloc`, `omp_target_memcpy` and kin |
//! | [`asynchronous`] | `omp_target_memcpy_async` and kin |
//! | [`interop`] | interoperability objects |

pub mod asynchronous;
pub mod devices;
pub mod host_call;
pub mod interop;
pub mod memory;
pub mod reverse_offload;
pub mod words;

use gangway_frontend::host::Host;
use gangway_frontend::process::{self, FrontEnd};

/// As [`process::start`], for a front end whose programs use the routines of this crate: their locks
/// are taken at forks. Called by every registration.
pub fn start<H: Host>(front_end: &'static FrontEnd) {
    gangway_frontend::fork::hold_shared(|| Box::new((devices::hold(), interop::hold())));
    process::start::<H>(front_end);
}
