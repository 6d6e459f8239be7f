//! Kernels of GCC, as `libgomp`'s plugins launch them.

mod arenas;
mod entries;
mod geometry;
mod loading;
mod stacks;
mod tables;
mod waves;

pub use arenas::Arenas;
pub use entries::{Entries, Entry, is_gcc};
pub use geometry::WarpBounds;
pub use loading::{describe_device, write_indirect_table};
pub use stacks::{STACK, Stacks};
pub use tables::Tables;
pub use waves::{LANES, WaveBounds};
