//! Programs of GCC's where the driver pins no memory of the host, since others have all of it.

mod support;

use gangway_commands::{Folder, Run, stage};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A driver's functions that pin memory and have none. It stands before the virtual GPU's.
const DRIVER: &str = "\
#include <stddef.h>
int cuMemHostAlloc(void **pointer, size_t size, unsigned flags) { return 2; }
int cuMemAllocHost_v2(void **pointer, size_t size) { return 2; }
int cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags) { return 2; }
";

fn shared(source: &str, output: &Path, flags: &[&str]) {
    let file = output.with_extension("c");
    std::fs::write(&file, source).unwrap();
    let mut command = gangway_compilers::gcc();
    command.args(["-shared", "-fPIC", "-Wl,--no-as-needed"]).arg(&file).args(flags).arg("-o").arg(output);
    command.run().succeeded();
}

/// Makes the driver in a folder. Symbols that it lacks are found in what it needs: a file without a
/// name of its own, which is needed by its path, and is the virtual GPU's driver afterwards.
fn driver(folder: &Path) -> PathBuf {
    let real = folder.join("real.so");
    shared("", &real, &[]);
    shared(DRIVER, &folder.join("libcuda.so.1"), &[real.to_str().unwrap()]);
    std::fs::remove_file(&real).unwrap();
    std::os::unix::fs::symlink(stage().join("lib/gangway/vgpu/libcuda.so.1"), &real).unwrap();
    folder.to_owned()
}

#[test]
fn regions_need_no_pinned_memory() {
    let folder = Folder::new();
    let driver = driver(&folder);
    let libraries = stage().join("lib/gangway");
    for source in ["structures.c", "nowait.c", "openacc/data.c", "openacc/queues.c"] {
        let program = support::Program::new(source, &["-pthread"]);
        Command::new(&program.file)
            .env_clear()
            .env("LD_PRELOAD", libraries.join("libgangway-gomp.so"))
            .env("LD_LIBRARY_PATH", std::env::join_paths([&driver, &libraries]).unwrap())
            .envs([("OMP_TARGET_OFFLOAD", "MANDATORY"), ("ACC_DEVICE_TYPE", "nvidia")])
            .run()
            .printed("passed\n");
    }
}
