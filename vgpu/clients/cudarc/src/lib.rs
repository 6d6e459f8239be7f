//! A client of the CUDA driver API as others write them: kernels in CUDA C++, compiled by
//! NVRTC at run time, loaded and launched with the `cudarc` crate.
//!
//! Nothing here knows of Gangway: which libcuda.so.1 is loaded decides on what it runs.
//! scripts/clients.sh runs its tests on the virtual GPU, with NVRTC and the CUDA headers
//! from where it has put them (`GANGWAY_CUDA_INCLUDE`).

use std::sync::{Arc, LazyLock};

use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::{CompileOptions, Ptx, compile_ptx_with_opts};

/// The kernels, compiled for the processor `architecture`.
pub fn compile(architecture: &'static str) -> Ptx {
    let include = std::env::var("GANGWAY_CUDA_INCLUDE").expect("GANGWAY_CUDA_INCLUDE names the CUDA headers");
    let options = CompileOptions {
        arch: Some(architecture),
        include_paths: include.split(':').map(str::to_owned).collect(),
        options: vec!["--std=c++17".to_owned(), "--generate-line-info".to_owned()],
        name: Some("kernels.cu".to_owned()),
        ..CompileOptions::default()
    };
    compile_ptx_with_opts(include_str!("kernels.cu"), options).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The first device with the kernels loaded.
pub struct Device {
    pub context: Arc<CudaContext>,
    pub module: Arc<CudaModule>,
}

impl Device {
    pub fn new() -> Device {
        // Compiled once for all tests of a process.
        static KERNELS: LazyLock<Ptx> = LazyLock::new(|| compile("compute_80"));
        let context = CudaContext::new(0).expect("a device");
        let module = context.load_module(KERNELS.clone()).expect("the kernels are loaded");
        Device { context, module }
    }

    pub fn kernel(&self, name: &str) -> CudaFunction {
        self.module.load_function(name).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Default for Device {
    fn default() -> Device {
        Device::new()
    }
}
