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

impl ForeignRuntimeKind {
    /// All of them, by number from 1.
    const ALL: [Self; 7] =
        [Self::Cuda, Self::CudaDriver, Self::OpenCl, Self::Sycl, Self::Hip, Self::LevelZero, Self::Hsa];

    /// The one of a number.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as i32 == number)
    }
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

impl Vendor {
    /// All of them, by number from 1.
    const ALL: [Self; 12] = [
        Self::Amd,
        Self::Arm,
        Self::Bsc,
        Self::Fujitsu,
        Self::Gnu,
        Self::Hpe,
        Self::Ibm,
        Self::Intel,
        Self::Llvm,
        Self::Nec,
        Self::Nvidia,
        Self::Ti,
    ];

    /// The one of a number.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|&vendor| vendor as i32 == number)
    }
}

/// The runtime underneath one opened device. Handles are the foreign runtime's
/// own, as integers, of which any may be valid; `None` where it has no such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignRuntime {
    /// Which it is.
    pub kind: ForeignRuntimeKind,
    /// Who makes it.
    pub vendor: Vendor,
    /// Platform (`cl_platform_id`, `ze_driver_handle_t`, …).
    pub platform: Option<usize>,
    /// Device (`CUdevice`, `hsa_agent_t`, …).
    pub device: Option<usize>,
    /// Context (`CUcontext`, `cl_context`, …).
    pub context: Option<usize>,
}

impl ForeignRuntime {
    /// The same handles as those of the foreign runtime with a number; `None` if they are
    /// none of its. CUDA's two interfaces have devices, contexts and streams in common.
    #[must_use]
    pub fn seen_as(self, number: i32) -> Option<Self> {
        use ForeignRuntimeKind::{Cuda, CudaDriver};
        let kind = ForeignRuntimeKind::from_number(number)?;
        let same = kind == self.kind || matches!((self.kind, kind), (Cuda, CudaDriver) | (CudaDriver, Cuda));
        same.then_some(Self { kind, ..self })
    }

    /// As [`seen_as`](Self::seen_as), for a program of HIP, too: on NVIDIA's devices its handles are
    /// those of CUDA.
    #[must_use]
    pub fn seen_through_hip(self, number: i32) -> Option<Self> {
        use ForeignRuntimeKind::{Cuda, CudaDriver, Hip};
        let hip = number == Hip as i32 && matches!(self.kind, Cuda | CudaDriver);
        if hip { Some(Self { kind: Hip, ..self }) } else { self.seen_as(number) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_one_interface_of_cuda_are_those_of_the_other() {
        let cuda = ForeignRuntime {
            kind: ForeignRuntimeKind::Cuda,
            vendor: Vendor::Nvidia,
            platform: None,
            device: Some(0),
            context: Some(1),
        };
        let driver = ForeignRuntime { kind: ForeignRuntimeKind::CudaDriver, ..cuda };
        assert_eq!((cuda.seen_as(1), cuda.seen_as(2)), (Some(cuda), Some(driver)));
        assert_eq!((driver.seen_as(1), driver.seen_as(2)), (Some(cuda), Some(driver)));
        assert_eq!((cuda.seen_as(5), cuda.seen_as(0), cuda.seen_as(99)), (None, None, None));
    }

    #[test]
    fn numbers_lead_to_what_they_are_the_number_of() {
        for number in -1..=20 {
            let kind = ForeignRuntimeKind::from_number(number);
            assert_eq!(kind.map(|kind| kind as i32), (1..=7).contains(&number).then_some(number));
            let vendor = Vendor::from_number(number);
            assert_eq!(vendor.map(|vendor| vendor as i32), (1..=12).contains(&number).then_some(number));
        }
    }
}
