//! Gangway's offload runtime: images, device numbering, the present table,
//! launches.
//!
//! It knows neither a compiler's ABI nor a device's driver. A *front end*
//! (`frontends/`) turns a compiler's calls into calls of [`Runtime`]; a *back
//! end* (`backends/`) does what the runtime asks of a device. All validation is
//! here: the front ends pass on what the compiler said, the back ends trust what
//! they are given.
//!
//! # The path of a target region
//!
//! [`Runtime::run`] finds the region ([`regions`]), takes a [`Job`], which makes
//! the arguments present (`environment`), writes their device addresses
//! into the session's table, launches, and issues the unmapping;
//! [`Job::complete`] waits and ends it. With present arguments no step of it
//! locks, allocates or copies.
//!
//! On request the runtime chooses the device of a construct that names none, before the job
//! begins ([`placement`], [`Runtime::choose`]).
//!
//! # Threads
//!
//! Everything may be called from any thread at any time. Locks are held for
//! registration, for loading images and for changing (not for reading) the
//! present table; never across an allocation, a copy or a kernel.

pub mod allocations;
mod constants;
mod device;
mod environment;
mod error;
pub mod events;
mod fault;
mod finisher;
mod inside;
mod items;
mod kernel;
mod late;
mod library;
mod map_kind;
pub mod memory;
mod notices;
pub mod placement;
mod pool;
pub mod queue;
pub mod regions;
mod requirements;
pub mod reverse;
mod runtime;
mod staging;
mod storage;
mod target;
mod turn;

pub use device::Device;
pub use environment::{report_never_mapped, treat_attach_auto_as_always};
pub use error::{Error, ErrorKind, HostRange, MappedAction, Result};
pub use gangway_host_calls as host_calls;
pub use gangway_host_calls::FunctionTable;
pub use gangway_present as present;
pub use gangway_present::{Described, Label, ReadLabel, read_labels_with};
pub use inside::name_members_with;
pub use items::{Components, Damage, Item, Items, NoItems, Section};
pub use library::{EntryKind, HostEntry, Mailbox, Registration};
pub use map_kind::MapKind;
pub use requirements::Requirements;
pub use runtime::Forking;
pub use runtime::{BackendInfo, KernelQuestions, Runtime, properties};
pub use target::{DataOperation, GroupMemoryFallback, Job, Shape};
