//! What is OpenACC, and no compiler's ABI, between the front ends and the runtime.
//!
//! A front end has the layouts and names of one compiler's programs; `frontends/gomp` has GCC's.
//! Here is what they have in common: which device a thread uses, asynchronous queues, the
//! `acc_*` routines, and the profiling interface. What is not OpenACC's alone (the one runtime,
//! messages, start and end of the process) stands in `frontends/frontend`.
//!
//! Data has two reference counts. Those of `data` and compute constructs are *structured*, which
//! the runtime counts with [`HOLD`](gangway_runtime::MapKind::HOLD); those of `enter data` and
//! the routines are *dynamic* (OpenACC 3.3 section 2.6.7).
//!
//! Programs of GCC have the routines of OpenACC 2.6, programs of clang those of 3.3. Where the two differ, or libgomp
//! refuses what 3.3 allows, the host's library decides ([`OPENACC`](gangway_frontend::host::Host::OPENACC)).
//!
//! A routine that is called with what it cannot use ends the program with a message
//! ([`mistake`](failure::mistake)): the specification leaves it no way to fail.
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | [`device_type`] | types of devices by number and name |
//! | [`dimensions`] | gangs, workers and lanes that are left open: `GOMP_OPENACC_DIM` |
//! | [`debug`] | what `GOMP_DEBUG` has printed |
//! | [`words`] | what libgomp says of the runtime's errors |
//! | [`profiling`] | callbacks for what happens, and what they are told |
//! | [`failure`] | the end of a program that cannot go on |
//! | [`thread`] | what a thread knows: its device, whether it is bound to the host |
//! | [`device`] | `acc_init`, `acc_set_device_type`, `acc_get_device_num` and kin |
//! | [`queues`] | asynchronous queues, and the thread's default one |
//! | [`waits`] | `acc_wait`, `acc_async_test` and kin, and the `wait` directive |
//! | `datum` | one list item as a construct's |
//! | [`present`] | what is on the device: `acc_deviceptr`, `acc_is_present`, `acc_map_data` |
//! | [`data`] | `acc_copyin`, `acc_copyout`, `acc_update_self`, `acc_attach` and kin |
//! | [`memory`] | `acc_malloc`, `acc_memcpy_to_device`, `acc_memcpy_d2d` and kin |
//! | [`property`] | `acc_get_property` and its text |
//! | [`interop`] | streams and contexts of CUDA's |
//! | [`shutdown`] | `acc_shutdown`, `acc_shutdown_device` |

pub mod data;
mod datum;
pub mod debug;
pub mod device;
pub mod device_type;
pub mod dimensions;
pub mod failure;
pub mod interop;
pub mod memory;
pub mod present;
pub mod profiling;
pub mod property;
pub mod queues;
pub mod shutdown;
pub mod thread;
pub mod waits;
pub mod words;

/// Takes the locks of this crate, for a fork.
#[must_use]
pub fn hold() -> Box<dyn std::any::Any> {
    let state = (device::hold(), queues::hold(), present::hold(), memory::hold());
    Box::new((profiling::hold(), state, property::hold(), thread::hold()))
}
