//! Compiles the benchmark programs, once for both libraries, with the stock
//! compiler. `main.rs` calls it before it measures anything.

use std::process::Command;

use anyhow::{Context, Result, bail};
use gangway_bench::program::Setting;

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

/// Builds every program.
pub fn build(setting: &Setting) -> Result<()> {
    let sources = setting.root.join("benches/programs");
    for (binary, source, flags) in PROGRAMS {
        let output = Command::new(COMPILER)
            .args(["-O2", "-Wall", "-Wextra", "-Werror"])
            .args(*flags)
            .arg(sources.join(source))
            .arg("-o")
            .arg(setting.build.join(binary))
            .output()
            .with_context(|| format!("cannot start {COMPILER}: run scripts/bootstrap.sh"))?;
        if !output.status.success() {
            bail!("{COMPILER} refused {source}:\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(())
}
