//! Kernels of GCC, as `libgomp`'s plugins launch them.

mod entries;
mod geometry;
mod loading;

pub use entries::{Entries, Entry, is_gcc};
pub use geometry::WarpBounds;
pub use loading::{describe_device, write_indirect_table};
