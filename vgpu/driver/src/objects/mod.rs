//! What handles stand for.

pub mod context;
pub mod device;
pub mod graph;
pub mod memory;
pub mod pool;
pub mod process;
pub mod program;
pub mod stream;
pub mod table;
pub mod work;
