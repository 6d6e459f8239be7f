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
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks. The present table and host calls are
//! crates below (`runtime/present`, `runtime/host-calls`).
//!
//! | module | what |
//! |---|---|
//! | `map_kind` | what a construct wants done with an item |
//! | `constants` | memory of the program that cannot be written |
//! | `shape` | how large a launch is to be |
//! | `pool` | device memory that is kept for mapped data |
//! | `turn` | whose turn it is to open a device, or to load its images |
//! | `staging` | pinned memory of the host |
//! | `finisher` | the thread that ends jobs which nobody waits for |
//! | [`regions`] | which kernel a region is |
//! | `requirements` | `requires` clauses |
//! | [`allocations`] | memory that programs have allocated, and how it is freed wrongly |
//! | [`events`] | what observers are told |
//! | `error` | failures, and what went wrong in words |
//! | `items` | list items in a front end's form |
//! | `inside` | pointers inside of what is mapped |
//! | `device` | a numbered device |
//! | `library` | registered libraries |
//! | `notices` | telling devices what is mapped |
//! | `storage` | device memory, from pool, stream or driver |
//! | [`placement`] | the device of a construct that names none |
//! | `late` | what is freed after a host call |
//! | `fault` | the variable next to a refused access |
//! | `environment` | the device data environment of a construct: enter, exit, update |
//! | `kernel` | what a kernel wants of a launch |
//! | `target` | the launch path |
//! | [`queue`] | queues that the program owns |
//! | [`memory`] | routines on device memory |
//! | [`reverse`] | regions that run on the host |
//! | `runtime` | devices, images and regions of a process |

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
mod shape;
mod staging;
mod storage;
mod target;
mod turn;

pub use device::Device;
pub use environment::{report_never_mapped, treat_attach_auto_as_always};
pub use error::{Damage, Error, ErrorKind, HostRange, MappedAction, Result};
pub use fault::Remedy;
pub use gangway_host_calls as host_calls;
pub use gangway_host_calls::FunctionTable;
pub use gangway_present as present;
pub use gangway_present::{Described, Label, ReadLabel, read_labels_with};
pub use inside::name_members_with;
pub use items::{Components, Item, Items, NoItems, Section};
pub use library::{EntryKind, HostEntry, Mailbox, Registration};
pub use map_kind::MapKind;
pub use requirements::Requirements;
pub use runtime::Forking;
pub use runtime::{BackendInfo, KernelQuestions, Runtime, properties};
pub use shape::{GroupMemoryFallback, Shape};
pub use target::{DataOperation, Job};
