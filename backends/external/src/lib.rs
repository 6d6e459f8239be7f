//! Back ends outside Gangway: shared libraries named `libgangway-rtl-<name>.so`.
//!
//! They are written against the C header `gangway/rtl.h` (`include/` here) and
//! adapted to the back-end traits, so that the runtime does not know the
//! difference. [`discover`] is called when a program starts and only lists
//! directories; a library is opened at the first question that needs it.
//! One that cannot be used (not loadable, another version, something mandatory
//! missing) is a back end without devices, whose
//! [`why_absent`](gangway_backend::Backend::why_absent) says why.
//!
//! | Module | What is in it |
//! |---|---|
//! | `abi` | the types of `gangway/rtl.h` |
//! | `status` | the status that a function returns, as a result |
//! | `discovery` | which libraries there are |
//! | `library` | an opened library, and its functions |
//! | `services` | functions that a library calls |
//! | `opened` | an opened device, for all that is made of it |
//! | `module` | an image on a device |
//! | `stream` | what is asked of a stream |
//! | `device` | what is asked of a device |
//! | `backend` | what is asked of the back end |
//!
//! How to write one is told in `docs/writing-a-back-end.md`.

mod abi;
mod backend;
mod device;
mod discovery;
mod library;
mod module;
mod opened;
mod services;
mod status;
mod stream;

pub use backend::ExternalBackend;

use std::ffi::OsString;
use std::path::PathBuf;

/// The external back ends of this process: those in the directories of `path`, which is
/// the value of `GANGWAY_RTL_PATH`, then those beside the library this code is linked
/// into.
#[must_use]
pub fn discover(path: Option<OsString>) -> Vec<ExternalBackend> {
    discover_in(&discovery::directories(path))
}

/// The external back ends in `directories`; of each name the first.
#[must_use]
pub fn discover_in(directories: &[PathBuf]) -> Vec<ExternalBackend> {
    let found = discovery::libraries(directories);
    found.into_iter().map(|(name, path)| ExternalBackend::new(name, path)).collect()
}
