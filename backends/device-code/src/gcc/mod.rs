//! Kernels of GCC, as `libgomp`'s plugins launch them.

mod entries;
mod geometry;
mod loading;
mod stacks;
mod tables;

pub use entries::{Entries, Entry, is_gcc};
pub use geometry::WarpBounds;
pub use loading::{describe_device, write_indirect_table};
pub use stacks::{STACK, Stacks};
pub use tables::Tables;
