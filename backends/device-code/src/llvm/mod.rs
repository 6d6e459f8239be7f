//! Kernels of clang and flang, with LLVM's device runtime.

mod environment;
mod geometry;
mod loading;

pub use environment::{
    Configuration, DeviceEnvironment, LaunchEnvironment, NO_LAUNCH_ENVIRONMENT, Reduction, Replacement,
};
pub use geometry::KernelBounds;
pub use loading::{configuration, describe_device, write_indirect_table};
