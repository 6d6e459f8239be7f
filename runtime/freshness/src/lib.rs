//! Which side wrote each byte of mapped data last.
//!
//! A [`Ledger`] has a [`Pair`] for each range of the host that has storage on a device. Whoever watches a program
//! tells it what was mapped, copied, read and written, and hears which of that was a mistake: a read of what the
//! other side has newer, or a copy over what is newer where it goes.
//!
//! Accesses are known in two ways, which may be mixed. Exact ones come with their range. Others show when contents
//! are compared with what they were: then a value that was written again is not seen, and after a kernel whose
//! writes are not known, nobody knows who wrote last where the host had. Such bytes are [`Newest::Unsure`], and no
//! mistake is made of them.
//!
//! | Module | What is in it |
//! |---|---|
//! | `pair` | a range of the host and its storage, byte by byte |
//! | `ledger` | all pairs, by the addresses of both sides |
//!
//! Each uses those above it only.
//!
//! The crate knows no devices and reads no memory: contents are passed to it. Nothing here allocates when an access
//! is told, so signal handlers may tell them.

mod ledger;
mod pair;

pub use ledger::{Access, Key, Ledger};
pub use pair::{CopyBack, CopyTo, Newest, Origin, Pair, Stale};
