//! What code is made for: devices and processors.

use std::path::PathBuf;

use super::request::Request;

pub const CPU_TRIPLE: &str = "x86_64-pc-linux-gnu";
pub const GPU_TRIPLE: &str = "nvptx64-nvidia-cuda";
pub const AMD_TRIPLE: &str = "amdgcn-amd-amdhsa";

/// Whose GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuKind {
    Nvidia,
    Amd,
}

impl GpuKind {
    pub fn of_triple(triple: &str) -> Option<Self> {
        match triple.split('-').next() {
            Some("nvptx64" | "nvptx") => Some(Self::Nvidia),
            Some("amdgcn") => Some(Self::Amd),
            _ => None,
        }
    }

    /// By the name that the compilers give a processor.
    pub fn of_processor(name: &str) -> Option<Self> {
        let kinds = [("sm_", Self::Nvidia), ("gfx", Self::Amd)];
        kinds.into_iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, kind)| kind)
    }

    pub const fn triple(self) -> &'static str {
        match self {
            Self::Nvidia => GPU_TRIPLE,
            Self::Amd => AMD_TRIPLE,
        }
    }
}

/// What code is made for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Target {
    pub cpu: bool,
    /// NVIDIA's GPUs.
    pub gpus: Vec<String>,
    pub amd_gpus: Vec<String>,
    /// The user has chosen triples, and with them what they are compiled for.
    pub chosen: Vec<String>,
    /// There are kernels of CUDA's language, and no OpenMP.
    pub kernel_language: bool,
    /// Images are LLVM bitcode.
    pub bitcode: bool,
    /// A real CUDA toolkit.
    pub cuda: Option<PathBuf>,
}

impl Target {
    /// Nothing, for a call without OpenMP, OpenACC and kernels of CUDA's language.
    pub fn of(request: &Request) -> Option<Self> {
        request.offloads().then(|| Self::asked(request))
    }

    /// What the arguments name. The CPU if they name nothing: compiling for a GPU, too, would
    /// double the time, and not all that a CPU runs can be compiled for a GPU.
    pub fn asked(request: &Request) -> Self {
        let chosen = request.triples.clone().unwrap_or_default();
        let cpu = if request.triples.is_some() {
            chosen.iter().any(|triple| triple.starts_with("x86_64"))
        } else {
            request.cpu || request.gpus.is_empty() && request.amd_gpus.is_empty()
        };
        let kernel_language = request.kernel_language && !request.openmp && !request.openacc;
        let (gpus, amd_gpus) = (request.gpus.clone(), request.amd_gpus.clone());
        let (bitcode, cuda) = (request.bitcode, request.cuda.clone());
        Self { cpu, gpus, amd_gpus, chosen, kernel_language, bitcode, cuda }
    }

    /// What links the code for CPU devices is to leave LLVM bitcode.
    pub fn links_bitcode_for_cpu(&self) -> bool {
        self.bitcode && self.cpu
    }

    /// There is code for a GPU of NVIDIA's.
    pub fn gpu(&self) -> bool {
        !self.gpus.is_empty() || self.has_chosen(GpuKind::Nvidia)
    }

    /// There is code for a GPU of AMD's.
    pub fn amd(&self) -> bool {
        !self.amd_gpus.is_empty() || self.has_chosen(GpuKind::Amd)
    }

    fn has_chosen(&self, kind: GpuKind) -> bool {
        self.chosen.iter().any(|triple| GpuKind::of_triple(triple) == Some(kind))
    }

    /// There is code for a GPU, whoever's.
    pub fn any_gpu(&self) -> bool {
        self.gpu() || self.amd()
    }

    /// The triples of the GPUs that there is code for.
    pub fn gpu_triples(&self) -> impl Iterator<Item = &'static str> {
        let nvidias = self.gpu().then_some(GPU_TRIPLE);
        nvidias.into_iter().chain(self.amd().then_some(AMD_TRIPLE))
    }
}
