//! The programs, compiled once, and commands that run them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use gangway_bench::driver::Driver;
use gangway_bench::process::{compile, output};

/// Whose runtime a program gets for its devices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    Stock,
    Gangway,
}

/// The compiled programs, the driver and the library that makes the difference.
pub struct Programs {
    folder: PathBuf,
    driver: Driver,
    front: PathBuf,
}

/// Sources below `benches`, the programs that they become, and what they need besides.
const SOURCES: &[(&str, &str, &str)] = &[
    ("gpu/regions.c", "regions", "-ldl"),
    ("gomp/floor.c", "floor", "-ldl"),
    ("gomp/mapping.c", "mapping", "-lm"),
    ("gomp/present.c", "present-data", "-lm"),
    ("gomp/stream.c", "stream", "-ldl"),
    ("gomp/stream_acc.c", "stream-acc", "-ldl"),
    ("gomp/descriptors.f90", "descriptors", "-lm"),
    ("programs/threads.c", "one-thread", "-DTHREADS=1"),
    ("programs/threads.c", "two-threads", "-DTHREADS=2"),
];

impl Programs {
    /// Compiles them into a folder.
    pub fn build(root: &Path, folder: &Path, driver: Driver, front: PathBuf) -> Result<Self> {
        if !front.is_file() {
            bail!("there is no {}: run `make build`", front.display());
        }
        for (source, program, flag) in SOURCES {
            let source = root.join("benches").join(source);
            let compiler = gangway_compilers::name(gangway_compilers::Language::of(&source));
            let openacc = source.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_acc"));
            let model = if openacc { "-fopenacc" } else { "-fopenmp" };
            compile(Command::new(compiler), &source, &folder.join(program), |command| {
                command.args(["-O2", model, "-foffload=nvptx-none", flag])
            })?;
        }
        let this = Self { folder: folder.to_owned(), driver, front };
        this.verify()?;
        Ok(this)
    }

    /// A command for a program under one of the runtimes.
    pub fn command(&self, program: &str, runtime: Runtime, null_kernels: bool) -> Command {
        let mut command = self.driver.counted_alone(&self.folder.join(program), null_kernels);
        if runtime == Runtime::Gangway {
            command.env("LD_PRELOAD", &self.front);
        }
        command
    }

    /// The front end is there where it should be, and only there.
    fn verify(&self) -> Result<()> {
        for runtime in [Runtime::Stock, Runtime::Gangway] {
            let mut command = self.command("regions", runtime, true);
            let listing = output(command.env("LD_TRACE_LOADED_OBJECTS", "1"))?;
            if listing.contains("libgangway-gomp.so") != (runtime == Runtime::Gangway) {
                bail!("the loader takes the wrong libraries:\n{listing}");
            }
        }
        Ok(())
    }
}
