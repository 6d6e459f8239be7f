//! The C side of the CUDA driver API as `cuda.h` has it, without meaning.
//!
//! Here are the results, the handles, the pointers that callers pass, the structures and the
//! numbers of attributes and flags. Nothing in this room knows an object, a device or an
//! exported function. The sizes of structures are asserted at compile time.

pub mod device_attribute;
pub mod handle;
pub mod number;
pub mod pointer;
pub mod status;
pub mod structure;

pub use device_attribute::DeviceAttribute;
pub use handle::{
    CUcontext, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUkernel, CUlibrary, CUlinkState,
    CUmemoryPool, CUmodule, CUstream, CUuserObject, Handle, kind,
};
pub use pointer::{In, Out, Text, Untyped};
pub use status::{Result, Status};
pub use structure::*;
