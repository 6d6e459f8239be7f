//! Kernels of clang and flang, with LLVM's device runtime.

mod environment;
mod geometry;
mod loading;
mod reductions;
mod replacements;

pub use environment::{Configuration, DeviceEnvironment, NO_LAUNCH_ENVIRONMENT, Reduction};
pub use geometry::KernelBounds;
pub use loading::{configuration, describe_device, write_indirect_table};
pub use reductions::Reductions;
pub use replacements::Replacements;
