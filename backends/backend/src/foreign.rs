//! What a back end says about the runtime underneath it.
//!
//! A program that mixes OpenMP with CUDA, HIP or another *foreign runtime* asks
//! for its handles through `interop` constructs (OpenMP 6.0 chapter 16). The
//! identifiers are those of the OpenMP Additional Definitions document, version 2.

/// A foreign runtime, by its number in the OpenMP Additional Definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum ForeignRuntimeKind {
    /// CUDA runtime API.
    Cuda = 1,
    /// CUDA driver API.
    CudaDriver = 2,
    /// OpenCL.
    OpenCl = 3,
    /// SYCL.
    Sycl = 4,
    /// HIP.
    Hip = 5,
    /// Level Zero.
    LevelZero = 6,
    /// HSA.
    Hsa = 7,
}

/// Who makes the foreign runtime, by number in the OpenMP Additional Definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Vendor {
    /// AMD.
    Amd = 1,
    /// Arm.
    Arm = 2,
    /// Barcelona Supercomputing Center.
    Bsc = 3,
    /// Fujitsu.
    Fujitsu = 4,
    /// GNU.
    Gnu = 5,
    /// HPE.
    Hpe = 6,
    /// IBM.
    Ibm = 7,
    /// Intel.
    Intel = 8,
    /// LLVM.
    Llvm = 9,
    /// NEC.
    Nec = 10,
    /// NVIDIA.
    Nvidia = 11,
    /// Texas Instruments.
    Ti = 12,
}

/// The runtime underneath one opened device. Handles are the foreign runtime's
/// own, as integers; 0 where it has no such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignRuntime {
    /// Which it is.
    pub kind: ForeignRuntimeKind,
    /// Who makes it.
    pub vendor: Vendor,
    /// Platform (`cl_platform_id`, `ze_driver_handle_t`, …).
    pub platform: usize,
    /// Device (`CUdevice`, `hsa_agent_t`, …); `None` where there is no handle, as
    /// a valid one may be 0.
    pub device: Option<usize>,
    /// Context (`CUcontext`, `cl_context`, …).
    pub context: usize,
}
