//! What `GANGWAY_CHECK` knows of mapped sections, for checked devices and the crash report.
//!
//! Each block of device memory stands between [guards]. With `2`, [pages] of the host behind mapped
//! variables cannot be touched while a kernel runs, and neither can a page behind each block.

mod block;
pub(crate) mod guards;
mod lock;
mod maps;
mod pages;
mod place;
mod state;

pub(crate) use block::Block;
pub(crate) use place::Place;
pub(crate) use state::{HostData, STATE, damage_on, fenced_at, lift, protect, protected_at, survive_forks};

/// What to do about accesses beside a section.
pub(crate) const MEND: &str = "an index leaves the section; map all that is used, or mend the index";
