//! Kernels of GCC, as `libgomp`'s plugins launch them.

mod geometry;

pub use geometry::WarpBounds;
