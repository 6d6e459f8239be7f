//! What the tests that use the staged library share.
#![allow(dead_code, reason = "each test uses its part")]

use gangway_commands::{Folder, Ran, Run, gangway, stage};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The real libgomp.
pub const STOCK: &str = "/usr/lib/x86_64-linux-gnu/libgomp.so.1";

/// Every region has to offload.
pub const MANDATORY: (&str, &str) = ("OMP_TARGET_OFFLOAD", "MANDATORY");

/// A source of these tests.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// A program of these tests that stock GCC has compiled, in a folder of its own.
pub struct Program {
    pub folder: Folder,
    pub file: PathBuf,
}

impl Program {
    /// Those in `openacc` are OpenACC's, the others OpenMP's.
    pub fn new(name: &str, flags: &[&str]) -> Self {
        Self::built(name, &[&["-foffload=nvptx-none"], flags].concat())
    }

    /// As [`new`](Self::new), for AMD's GPUs.
    pub fn for_amd(name: &str, flags: &[&str]) -> Self {
        let target = ["-foffload=amdgcn-amdhsa", "-foffload-options=amdgcn-amdhsa=-march=gfx906"];
        Self::built(name, &[&target, flags].concat())
    }

    fn built(name: &str, flags: &[&str]) -> Self {
        let folder = Folder::new();
        let openacc = name.starts_with("openacc/") || name.contains("_acc.");
        let model = if openacc { "-fopenacc" } else { "-fopenmp" };
        let source = source(name);
        let mut command = Command::new(gangway_compilers::name(gangway_compilers::Language::of(&source)));
        command.args(["-O2", model, "-Wall"]).arg(&source).args(flags);
        command.args(["-o", "program"]).current_dir(&*folder).run().succeeded();
        Self { file: folder.path("program"), folder }
    }

    pub fn run(&self, options: &[&str], variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        run(&self.file, options, variables, arguments)
    }

    /// Runs it under stock libgomp, whose plugin finds the virtual GPU's driver.
    pub fn run_stock(&self) -> Ran {
        let mut command = Command::new(&self.file);
        command.env_clear().env("LD_LIBRARY_PATH", stage().join("lib/gangway/vgpu"));
        command.envs([MANDATORY]).current_dir(&*self.folder).run()
    }

    /// Runs it; it says that all is well, and Gangway's report has kernels.
    #[track_caller]
    pub fn offloads(&self, options: &[&str], variables: &[(&str, &str)]) {
        let report = ["--report=json", "--report-file", "report.json"];
        self.run(&[&report, options].concat(), variables, &[]).printed("passed\n");
        let report = self.folder.text("report.json");
        assert!(report.contains("omp_fn"), "no kernel has run on Gangway:\n{report}");
    }

    /// What `GOMP_DEBUG` says about launches with a runtime; ours says of some calls what they need.
    pub fn launches(&self, runtime: &str, variables: &[(&str, &str)], resources: usize) -> Vec<String> {
        let variables = [variables, &[("GOMP_DEBUG", "1")]].concat();
        let ran = self.run(&["--gcc-runtime", runtime], &variables, &[]).printed("passed\n");
        let lines = |part: &'static str| ran.stderr.lines().filter(move |line| line.contains(part));
        let expected = if runtime == "gangway" { resources } else { 0 };
        assert_eq!(lines(" registers a thread, ").count(), expected, "{ran}");
        lines(": launch ").map(str::to_owned).collect()
    }
}

/// A shared library for NVIDIA's GPUs that clang builds of a source of these tests, in a folder.
pub fn clang_library(name: &str) -> Folder {
    let (folder, source) = (Folder::new(), source(name));
    let mut command = gangway();
    command.args(["cc", "-O2", "-fopenmp", "--offload-arch=sm_80", "-shared", "-fPIC"]).arg(&source);
    let library = format!("lib{}.so", source.file_stem().unwrap().to_str().unwrap());
    command.args(["-o", &library]).current_dir(&*folder).run().succeeded();
    folder
}

/// Runs a program with `gangway run` on the virtual GPU, and nothing else in its environment
/// but `variables`.
pub fn run(program: &Path, options: &[&str], variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = gangway();
    command.args(["run", "--device", "vgpu"]).args(options);
    command.arg("--").arg(program).args(arguments);
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
    command.current_dir(program.parent().unwrap()).run()
}
