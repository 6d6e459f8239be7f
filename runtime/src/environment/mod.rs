//! The device data environment: what happens at the two ends of a construct.
//!
//! A construct is one [`Work`]: [`enter`](Work::enter) makes its list items
//! present, [`exit`](Work::exit) gives them up again, [`update`](Work::update)
//! moves data of present ones. `OpenMP 6.0` section 7.9.6 (map clause) and 7.9.9 (motion
//! clauses) say what has to happen; the comments cite 5.2 where 6.0 agrees.
//!
//! What a construct knows, holds and issues are objects of their own, the parts of its work (`work`).
//! The other modules are the steps, each of which needs several of these.
//!
//! A data construct that finds everything present, and leaves it so, is only counted (`count`), without
//! a job.
//!
//! Order within a construct, which everything here relies on:
//!
//! 1. every item is made present, its copy issued;
//! 2. pointers are attached, now that all pointees have device addresses;
//! 3. entries this construct created are published; only then does it wait for
//!    entries that other threads are still filling. No thread waits while it
//!    holds unpublished entries, so two threads can never wait for each other.

mod attach;
mod cells;
mod count;
mod create;
mod enter;
mod exit;
mod members;
mod private;
mod publish;
mod reports;
mod special;
mod tell;
mod together;
mod update;
mod wanted;
mod work;

pub use attach::treat_attach_auto_as_always;
pub(crate) use cells::room_for;
pub(crate) use count::{Counted, Edge, Progress};
pub(crate) use private::PrivateCopies;
pub use reports::report_never_mapped;
pub(crate) use reports::{report_inner_pointers, reports_are_wanted};
pub(crate) use work::Held;
pub use work::Work;
