//! Running kernels: blocks, warps, and who runs them.

mod interpret;

pub(crate) use interpret::Interpreter;
