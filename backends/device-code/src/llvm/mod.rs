//! Kernels of clang and flang, with LLVM's device runtime.

mod environment;
mod geometry;

pub use environment::{
    BUFFER_LENGTH, CONFIGURATION_SIZE, Configuration, DEVICE_ENVIRONMENT, DeviceEnvironment, INDIRECT_TABLE,
    KERNEL_ENVIRONMENT, LaunchEnvironment, NO_LAUNCH_ENVIRONMENT, Reduction, Replacement,
};
pub use geometry::KernelBounds;
