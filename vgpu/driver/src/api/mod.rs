//! The exported functions, a module for each family of them.
//!
//! They are thin: they check what a caller passes, turn handles into objects and structures
//! into values, and call [`objects`](crate::objects). Each stands in the table of what the
//! library exports, [`exports`], and runs inside the guard of [`entry`]. What several families
//! need stands beside them: `arguments` of launches, `jit` options, `image`s, and the structures
//! of copies, nodes and pools.

pub(crate) mod entry;
pub(crate) mod exports;

mod arguments;
mod copy_structure;
mod image;
mod jit;
mod node_parameters;
mod pool_properties;
mod private_tables;
mod symbols;

mod capture;
mod context;
mod copy;
mod device;
mod driver;
mod event;
mod fill;
mod function;
mod graph;
mod graph_exec;
mod graph_memory;
mod graph_node;
mod launch;
mod library;
mod link;
mod memory;
mod module;
mod peer;
mod pointer;
mod pool;
mod primary;
mod stream;

pub use capture::*;
pub use context::*;
pub use copy::*;
pub use device::*;
pub use driver::*;
pub use event::*;
pub use fill::*;
pub use function::*;
pub use graph::*;
pub use graph_exec::*;
pub use graph_memory::*;
pub use graph_node::*;
pub use launch::*;
pub use library::*;
pub use link::*;
pub use memory::*;
pub use module::*;
pub use peer::*;
pub use pointer::*;
pub use pool::*;
pub use primary::*;
pub use stream::*;
