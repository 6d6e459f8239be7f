//! The C side of the HSA runtime API as `hsa.h` and `hsa_ext_amd.h` have it, without meaning.
//!
//! Here are the statuses, the handles, the pointers that callers pass, the structures and the
//! numbers of attributes. Nothing in this room knows an object, an agent or an exported function.
//! The sizes of structures are asserted at compile time.

pub mod handle;
pub mod number;
pub mod packet;
pub mod pointer;
pub mod status;
pub mod structure;

pub use handle::Handle;
pub use pointer::{In, List, Out, Text};
pub use status::{Result, Status};
