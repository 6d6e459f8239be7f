//! The exported functions, a module for each family of them.
//!
//! They are thin: what they do is in the modules that they call. Each stands in the table of
//! what the library exports, [`exports`](crate::api::exports).

mod capture;
mod context;
mod copy;
mod device;
mod driver;
pub(crate) mod entry;
mod event;
pub(crate) mod exports;
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
pub(crate) mod node_parameters;
mod peer;
mod pointer;
mod pool;
mod primary;
mod private_tables;
mod stream;
mod symbols;

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
