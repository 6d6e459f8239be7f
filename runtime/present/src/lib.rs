//! The present table: which host ranges have storage on a device.
//!
//! One table per device. A launch with present arguments reads it without a
//! lock and without writing anything but the reference count of the entries it
//! uses:
//!
//! * The [`table`] keeps the ranges ordered by address. Readers run against a
//!   version counter and repeat if a writer came in between; writers take a
//!   short lock that is never held across an allocation or a copy.
//! * An [`entry`] is one mapped range. Entries are recycled but never freed while
//!   the table lives, so a reader that raced with a removal looks at an entry of
//!   the wrong generation, not at freed memory.
//!
//! OpenMP 6.0 section 7.9.6 (map clause) is the specification; the hold count is
//! OpenACC 3.3's structured reference counter (section 2.6.7).
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | `state` | the one word that decides an entry's fate: both reference counts, the threads that are unmapping it, its phase and its generation |
//! | `label` | the compilers' descriptions of variables |
//! | `stream` | streams, as the runtime holds them |
//! | `left` | attached pointers that the construct which fills the entry has to write |
//! | `stock` | objects that are recycled |
//! | `ready` | the point in a stream from which on the contents of new entries are valid |
//! | `block` | device memory that several small entries share |
//! | `entry` | one mapped range, the pointers in it that are attached, and what is copied back behind all constructs that use it |
//! | `leaves` | short sorted arrays of entries |
//! | `answers` | what a table answers |
//! | `table` | the entries of a device, from their insertion to their removal |
//! | `recent` | a thread's memory of its last answers |
//! | `loom_tests` | model checks (`make loom`) |

mod answers;
mod block;
mod entry;
mod label;
mod leaves;
mod left;
#[cfg(all(test, loom))]
mod loom_tests;
mod ready;
mod recent;
mod state;
mod stock;
mod stream;
mod table;

pub use answers::{Finished, NotAssociated, PartsTaken, Relation, Removed};
pub use block::BlockRef;
pub use entry::{Attached, Attachment, Detached, Entry, EntryRef, NewEntry, OwedCopy, PartOfBlock, Pointee};
pub use label::{Described, Label, ReadLabel, read_labels_with};
pub use ready::{Point, ReadyRef};
pub use recent::{Gap, Recent};
pub use state::{Counter, Phase, Release, Snapshot};
pub use stream::StreamRef;
#[cfg(not(loom))]
pub use table::TableLocks;
pub use table::{Batch, Dangling, DeferredRef, MadeWhen, PresentTable, Together};
