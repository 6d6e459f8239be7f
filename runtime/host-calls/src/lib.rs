//! Host calls: functions of the host that code on devices can run.
//!
//! A device gets a [`Connection`] with the first image that makes host calls. Before that there is no
//! memory, no thread and no call of the back end; a launch asks nothing. What a connection needs
//! of a device stands in one trait ([`CallingDevice`]), which the runtime implements.
//!
//! No lock is held while a function runs.
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | `bell` | what the thread sleeps by that looks for calls |
//! | `served` | who serves a port or a mailbox: one thread at a time |
//! | `recorded` | what traces say of a call |
//! | `device` | what is asked of a device |
//! | `functions` | the host's functions, by number, whoever registers them |
//! | `named` | those of programs, whose number follows from the name |
//! | `fork` | both across `fork` |
//! | `function_table` | the functions whose addresses stand in a table of an image |
//! | [`channel`] | the ports that kernels of a GPU write calls into |
//! | `mailboxes` | one call at a time for each image, of compilers that know no channel |
//! | `workers` | the threads that look for calls and serve them |
//! | [`system`] | the C library and Fortran's, for device code |
//! | `connection` | what one device calls through: directly, by its channel, or by mailboxes |
//! | `loom_tests` | model checks (`make loom`) |

mod bell;
#[doc(hidden)]
pub mod channel;
mod connection;
mod device;
mod fork;
mod function_table;
mod functions;
#[cfg(all(test, loom))]
mod loom_tests;
mod mailboxes;
mod named;
mod recorded;
mod served;
#[doc(hidden)]
pub mod system;
mod workers;

pub use connection::{Connection, forget_lost, under_way};
pub use device::CallingDevice;
pub use function_table::FunctionTable;
pub use functions::{HostCall, OnUnknown, Removed, on_call, on_unknown, register, remove, unregister};
pub use mailboxes::{Held, MailCall, Serving};
pub use named::{
    Clash, Function, OnLeft, Removal, call_by_host, calling_device, names, number, on_left, register_named,
    unregister_named,
};
