//! The present table: which host ranges have storage on a device.
//!
//! One table per device. A launch with present arguments reads it without a
//! lock and without writing anything but the reference count of the entries it
//! uses:
//!
//! * [`table`] has what becomes of entries, from their insertion to their removal.
//! * [`index`] keeps the ranges ordered by address. Readers run against a
//!   version counter and repeat if a writer came in between; writers take a
//!   short lock that is never held across an allocation or a copy.
//! * [`recent`] is a thread's memory of its last answers.
//! * [`entry`] is one mapped range. Entries are recycled but never freed while
//!   the table lives, so a reader that raced with a removal looks at an entry of
//!   the wrong generation, not at freed memory.
//! * [`ready`] is the point in a stream from which on the contents of new entries are
//!   valid. It retires when the construct that made them is done.
//! * [`batch`] has entries that come and go together, and [`deferred`] those that nobody but the
//!   region that maps them asks for, and that are never made.
//! * [`block`] is device memory that several small entries share.
//! * [`attachment`] has the pointers in an entry that have been made to point to others, and
//!   [`pointee`] those of them that point to what has gone.
//! * [`left`] has those of them that the construct which fills the entry has to write.
//! * [`owed`] has what is copied back behind all constructs that use an entry.
//! * [`reverse`] finds the host address of a device address.
//! * [`state`] is the one word that decides an entry's fate: both reference
//!   counts, the threads that are unmapping it, its phase and its generation.
//!
//! OpenMP 6.0 section 7.9.6 (map clause) is the specification; the hold count is
//! OpenACC 3.3's structured reference counter (section 2.6.7).

mod attachment;
mod batch;
mod block;
mod deferred;
mod entry;
#[cfg(not(loom))]
mod fork;
mod index;
mod label;
mod leaves;
mod left;
#[cfg(all(test, loom))]
mod loom_tests;
mod owed;
mod pointee;
mod ready;
mod recent;
mod reverse;
mod state;
mod stock;
mod stream;
mod table;
mod writer;

pub use attachment::{Attached, Attachment, Detached};
pub use batch::{Batch, Together};
pub use block::BlockRef;
pub use deferred::{DeferredRef, MadeWhen};
pub use entry::{Entry, EntryRef, NewEntry, PartOfBlock};
#[cfg(not(loom))]
pub use fork::TableLocks;
pub use index::Relation;
pub use label::{Described, Label, ReadLabel, read_labels_with};
pub use owed::OwedCopy;
pub use pointee::{Dangling, Pointee};
pub use ready::{Point, ReadyRef};
pub use recent::Recent;
pub use state::{Counter, Phase, Release, Snapshot};
pub use stream::StreamRef;
pub use table::{Finished, NotAssociated, PartsTaken, PresentTable, Removed};
