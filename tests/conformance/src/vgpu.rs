//! What the targets for the virtual GPU have in common: programs for both kinds of devices, built by the staged
//! command, and Gangway's library with the devices of one back end.
//!
//! Called by `tests/vgpu.rs` and `tests/checked.rs`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::build::{self, Builder, Built, Devices, NVIDIA_FLAGS};
use crate::corpus::Program;
use crate::execute::{Offload, OffloadLibrary, Outcome};
use crate::header::Reference;
use crate::toolchain::{Toolchain, offload_library};
use crate::verdict::{self, Side};

/// As many as the CPU back end has, so that programs that number devices print the same.
const VIRTUAL_GPUS: &str = "4";

/// What the caller may say of how kernels run.
const PASSED: [&str; 4] =
    ["GANGWAY_VGPU_ENGINE", "GANGWAY_VGPU_TIER", "GANGWAY_VGPU_WORKERS", "GANGWAY_VGPU_CACHE"];

/// For messages.
const CPUS: &str = "CPU devices";

/// The GPUs that programs are compiled for, besides CPUs.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// For messages.
    name: &'static str,
    flags: [&'static str; 2],
    backend: &'static str,
    /// The folder of the archive that is linked into images.
    triple: &'static str,
    /// What the virtual AMD GPU is.
    processor: Option<&'static str>,
    /// What is known not to work.
    pub expectations: &'static str,
    /// Of how many tests one runs, if all are not asked for.
    pub share: usize,
}

impl Target {
    pub const NVIDIA: Self = Self {
        name: "virtual GPU",
        flags: NVIDIA_FLAGS,
        backend: "cuda",
        triple: "nvptx64-nvidia-cuda",
        processor: None,
        expectations: "vgpu-expectations.txt",
        share: 4,
    };
    const GFX90A: Self = Self {
        name: "virtual AMD GPU",
        flags: ["-fopenmp", "--offload-arch=gfx90a,x86_64"],
        backend: "hsa",
        triple: "amdgcn-amd-amdhsa",
        processor: Some("gfx90a"),
        expectations: "amd-expectations.txt",
        share: 12,
    };
    const GFX906: Self = Self {
        flags: ["-fopenmp", "--offload-arch=gfx906,x86_64"],
        processor: Some("gfx906"),
        ..Self::GFX90A
    };

    /// The one that `GANGWAY_CONFORMANCE_GPU` names: NVIDIA's if it is not set.
    ///
    /// # Errors
    /// It names another one.
    pub fn wanted() -> Result<Self, String> {
        match env::var("GANGWAY_CONFORMANCE_GPU").as_deref() {
            Err(_) | Ok("sm_80") => Ok(Self::NVIDIA),
            Ok("gfx90a") => Ok(Self::GFX90A),
            Ok("gfx906") => Ok(Self::GFX906),
            Ok(other) => Err(format!("GANGWAY_CONFORMANCE_GPU={other}: expected sm_80, gfx90a or gfx906")),
        }
    }
}

/// The staged installation.
#[derive(Debug)]
pub struct Installation {
    target: Target,
    toolchain: Toolchain,
    stage: PathBuf,
    /// Where programs are kept.
    cache: PathBuf,
    /// Of the command that compiles the programs.
    version: OnceLock<Result<String, String>>,
}

impl Installation {
    /// `folder` is one of cargo's for tests.
    pub fn find(folder: &str, target: Target) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().unwrap_or(root);
        let stage = env::var_os("GANGWAY_STAGE").map(PathBuf::from);
        Self {
            target,
            toolchain: Toolchain::find(),
            stage: stage.unwrap_or_else(|| root.join("build/stage")),
            cache: Path::new(folder).join("conformance"),
            version: OnceLock::new(),
        }
    }

    fn libraries(&self) -> PathBuf {
        self.stage.join("lib/gangway")
    }

    pub fn command(&self) -> PathBuf {
        self.stage.join("bin/gangway")
    }

    /// Builds a program; `watched` is for [`Devices::All`].
    pub fn build(&self, program: &Program, level: &str, watched: bool) -> Result<Built, String> {
        let command = self.command();
        let version = self.version.get_or_init(|| build::version_of(&command)).clone();
        let version = version.map_err(|error| format!("{error}: run `cargo xtask stage`"))?;
        let files = vec![
            self.libraries().join(self.target.triple).join("libompdevice.a"),
            self.libraries().join("libgangway-host-openmp.a"),
        ];
        let devices = Devices::All { command, flags: self.target.flags, version, files, watched };
        Builder { toolchain: &self.toolchain, cache: self.cache.clone(), devices }.build(program, level)
    }

    /// Runs the program on CPU devices, where it has to end as its header says and to print something.
    pub fn run_on_cpus(&self, program: &Program, built: &Built) -> Result<Outcome, String> {
        let outcome = self.cpus()?.run(&program.header, built, Offload::AsHeaderSays)?;
        let side = Side { name: CPUS, outcome: &outcome };
        verdict::check_status(side, program.header.status)?;
        verdict::check_not_empty(side)?;
        Ok(outcome)
    }

    /// The virtual GPU's outcome has to be the header's, and what the CPU devices printed.
    pub fn compare(&self, program: &Program, cpu: &Outcome, gpu: Side) -> Result<(), String> {
        verdict::check_status(gpu, program.header.status)?;
        match program.header.reference() {
            Reference::Stock => verdict::check_output(Side { name: CPUS, outcome: cpu }, gpu),
            Reference::ExpectedStockDiffers | Reference::ExpectedStockUnusable => {
                let path = program.expected_output();
                let text =
                    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                verdict::check_text("expected", &text, gpu)
            }
        }
    }

    /// Gangway's library with CPU devices.
    fn cpus(&self) -> Result<OffloadLibrary, String> {
        self.library(CPUS, "cpu", None)
    }

    /// Gangway's library with virtual GPUs.
    pub fn virtual_gpus(&self) -> Result<OffloadLibrary, String> {
        self.library(self.target.name, self.target.backend, Some(self.libraries().join("vgpu")))
    }

    /// Gangway's library, with the devices of one back end.
    fn library(
        &self,
        name: &'static str,
        device: &str,
        driver: Option<PathBuf>,
    ) -> Result<OffloadLibrary, String> {
        let directory = self.libraries();
        if !directory.join(offload_library()).is_file() {
            let file = directory.join(offload_library());
            return Err(format!(
                "{} is missing: run `cargo xtask stage`, or set GANGWAY_STAGE",
                file.display()
            ));
        }
        // Programs have none of this process's environment but what says how kernels run.
        let passed = PASSED.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
        let mut environment: Vec<(&'static str, OsString)> = passed.collect();
        environment
            .extend([("GANGWAY_DEVICE", device.into()), ("GANGWAY_VGPU_DEVICES", VIRTUAL_GPUS.into())]);
        environment.extend(self.target.processor.map(|name| ("GANGWAY_VGPU_PROCESSOR", name.into())));
        let engine = env::var_os("GANGWAY_VGPU_ENGINE");
        environment.extend(engine.map(|engine| ("GANGWAY_VGPU_ENGINE", engine)));
        Ok(OffloadLibrary {
            name,
            directory,
            driver,
            libomp: self.toolchain.stock_libraries()?.to_owned(),
            leaves_no_files: true,
            preloaded: Vec::new(),
            environment,
            checker: None,
        })
    }
}
