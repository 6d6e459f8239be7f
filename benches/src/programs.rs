//! Compiles the benchmark programs, once for both libraries, with the stock
//! compiler. `main.rs` calls it before it measures anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const COMPILER: &str = "clang-22";
const OFFLOAD: &[&str] = &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

/// Name of the binary, its source, and the flags beyond `-O2`.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    ("empty", "empty.c", OFFLOAD),
    ("present", "present.c", OFFLOAD),
    ("fresh", "fresh.c", OFFLOAD),
    ("enter_exit", "enter_exit.c", OFFLOAD),
    ("update", "update.c", OFFLOAD),
    ("lookup", "lookup.c", OFFLOAD),
    ("threads", "threads.c", OFFLOAD),
    ("nowait", "nowait.c", OFFLOAD),
    ("nowait_queue", "nowait_queue.c", OFFLOAD),
    ("stream", "stream.c", OFFLOAD),
    ("trivial", "trivial.c", OFFLOAD),
    ("trivial-plain", "trivial.c", &["-Wno-source-uses-openmp"]),
    ("spawn", "spawn.c", &["-static"]),
];

/// Builds every program and answers the folder of the binaries.
pub fn build(root: &Path) -> Result<PathBuf> {
    let sources = root.join("benches/programs");
    let binaries = root.join("build/bench");
    std::fs::create_dir_all(&binaries).with_context(|| format!("cannot create {}", binaries.display()))?;
    for (binary, source, flags) in PROGRAMS {
        let output = Command::new(COMPILER)
            .args(["-O2", "-Wall", "-Wextra", "-Werror"])
            .args(*flags)
            .arg(sources.join(source))
            .arg("-o")
            .arg(binaries.join(binary))
            .output()
            .with_context(|| format!("cannot start {COMPILER}: run scripts/bootstrap.sh"))?;
        if !output.status.success() {
            bail!("{COMPILER} refused {source}:\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(binaries)
}
