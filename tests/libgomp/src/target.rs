//! What holds on the machine that the tests run on: the effective targets.
//!
//! The answers are those of GCC 12 to 16 with nvptx or amdgcn offloading on x86-64 Linux with a
//! device that has memory of its own, which is what the virtual GPU is. Called
//! by `plan` through `selector::Facts`. It must never answer for a name that it
//! does not know.

use anyhow::{Result, bail};

use crate::arguments::Device;
use crate::selector::{Facts, glob};
use crate::suite::{Language, Model, Suite};

/// The triplet of Debian's compiler, as DejaGnu has it.
const TRIPLET: &str = "x86_64-pc-linux-gnu";

/// One test's view of the machine: some answers depend on suite and options.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub suite: &'static Suite,
    pub device: Device,
    /// All options that the test is compiled with so far.
    pub options: &'a [String],
}

impl Facts for Target<'_> {
    fn effective_target(&self, name: &str) -> Result<bool> {
        let openacc = self.suite.model == Model::OpenAcc;
        let offloads = self.device.is_gpu();
        let (nvidia, amd) = (self.device == Device::Nvidia, self.device == Device::Amd);
        Ok(match name {
            "c" => self.suite.language == Language::C,
            "c++" => self.suite.language == Language::Cxx,
            "__OPTIMIZE__" => self.optimises(),

            // The device.
            "offload_device" | "offload_device_nonshared_as" => offloads,
            "offload_device_nvptx" | "openacc_nvidia_accel_present" => nvidia,
            "openacc_nvidia_accel_selected" => openacc && nvidia,
            "offload_device_gcn" | "openacc_radeon_accel_present" | "offload_target_amdgcn" => amd,
            "openacc_radeon_accel_selected" => openacc && amd,
            "openacc_host_selected" => openacc && !offloads,
            // The compiler has code for it, except of OpenACC's tests for the host.
            "offload_target_any" | "offloading_enabled" => offloads || !openacc,
            "offload_target_nvptx" => !amd && (offloads || !openacc),
            // What a region changes on the host is the host's variable.
            "offload_device_shared_as" => !offloads,
            "offload_device_intel_mic"
            | "offload_device_any_intel_mic"
            | "offload_target_amdgcn_with_xnack" => false,

            // The device has memory of its own; what is managed, both sides see.
            "omp_usm" => false,
            "omp_managedmem" => offloads,

            // GCC brings a `cuda.h`, and `-lcuda` is the virtual GPU.
            "openacc_cuda" | "openacc_libcuda" => nvidia,
            // These belong to NVIDIA's toolkit and to ROCm; cuBLAS is machine code only.
            "openacc_cudart" | "openacc_libcudart" | "openacc_cublas" | "openacc_libcublas" => false,
            "gomp_hip_header_amd"
            | "gomp_hip_header_nvidia"
            | "gomp_hipfort_module"
            | "gomp_libamdhip64"
            | "gomp_libhipblas" => false,
            "nonstandard_math_functions" | "init_priority" | "exceptions" => true,

            // The host.
            "lp64" | "size32plus" | "tls" | "tls_runtime" | "sync_int_long" | "sync_char_short"
            | "alloca" | "large_long_double" | "shared" | "fpic" | "pthread" | "weak_undefined"
            | "__float128" | "vect_simd_clones" | "sse2_runtime" | "lto" | "fd_truncate" => true,
            "avx_runtime" => std::arch::is_x86_feature_detected!("avx"),
            "aarch64_tiny" => false,
            // The original harness runs these only where GCC_TEST_RUN_EXPENSIVE is set.
            "run_expensive_tests" => false,
            _ => bail!("the effective target `{name}` is not known"),
        })
    }

    fn triplet(&self, pattern: &str) -> bool {
        glob(pattern, TRIPLET)
    }

    fn option(&self, pattern: &str) -> bool {
        self.options.iter().any(|option| glob(pattern, option))
    }
}

impl Target<'_> {
    fn optimises(&self) -> bool {
        let level = self.options.iter().rev().find(|option| is_level(option));
        level.is_some_and(|option| option != "-O0")
    }

    /// Whether an xfail-like list of options applies: one of the `included`
    /// is there (each may be several options, which all have to be), and none
    /// of the `excluded`.
    pub fn options_match(&self, included: &[String], excluded: &[String]) -> bool {
        let all_there =
            |options: &String| options.split_whitespace().all(|option| option == "*" || self.option(option));
        included.iter().any(all_there)
            && !excluded.iter().filter(|options| !options.trim().is_empty()).any(all_there)
    }
}

/// Whether the option sets a level of optimisation.
pub fn is_level(option: &str) -> bool {
    matches!(option.strip_prefix("-O"), Some("" | "0" | "1" | "2" | "3" | "s" | "fast" | "g" | "z"))
}

#[cfg(test)]
mod tests {
    use super::Target;
    use crate::arguments::Device;
    use crate::selector::Facts;
    use crate::suite::SUITES;

    fn options(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn answers_depend_on_the_suite() {
        let [c, cxx, .., acc, _, _] = &SUITES;
        let target = |suite| Target { suite, device: Device::Nvidia, options: &[] };
        let amd = Target { suite: acc, device: Device::Amd, options: &[] };
        assert!(amd.effective_target("openacc_radeon_accel_selected").unwrap());
        assert!(!amd.effective_target("openacc_nvidia_accel_present").unwrap());
        assert!(!amd.effective_target("offload_target_nvptx").unwrap());
        let on_host = Target { suite: acc, device: Device::Host, options: &[] };
        assert!(on_host.effective_target("openacc_host_selected").unwrap());
        assert!(!on_host.effective_target("openacc_nvidia_accel_selected").unwrap());
        assert!(target(c).effective_target("c").unwrap() && !target(cxx).effective_target("c").unwrap());
        assert!(!target(c).effective_target("openacc_nvidia_accel_selected").unwrap());
        assert!(target(acc).effective_target("openacc_nvidia_accel_selected").unwrap());
        assert!(target(c).effective_target("no_such_thing").is_err());
    }

    #[test]
    fn the_last_level_counts() {
        for (text, optimises) in
            [("", false), ("-O0", false), ("-O2", true), ("-O2 -O0", false), ("-O0 -O1", true)]
        {
            let options = options(text);
            let target = Target { suite: &SUITES[0], device: Device::Nvidia, options: &options };
            assert_eq!(target.effective_target("__OPTIMIZE__").unwrap(), optimises, "{text}");
        }
    }

    #[test]
    fn lists_of_options() {
        let options = options("-O2 -DACC_MEM_SHARED=0");
        let target = Target { suite: &SUITES[0], device: Device::Nvidia, options: &options };
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        assert!(target.options_match(&list(&["*"]), &[]));
        assert!(target.options_match(&list(&["*"]), &list(&[""])));
        assert!(target.options_match(&list(&["-O0", "-O2"]), &list(&["-DACC_MEM_SHARED=1"])));
        assert!(!target.options_match(&list(&["*"]), &list(&["-DACC_MEM_SHARED=0"])));
        assert!(!target.options_match(&list(&["-O2 -g"]), &[]));
    }
}
