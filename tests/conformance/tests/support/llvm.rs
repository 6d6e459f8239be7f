//! Where Debian has the releases of LLVM, and how their clang is brought to compile for GPUs alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::{Run, stage};

/// The GPU that programs are compiled for.
pub const GPU: &str = "sm_80";

/// The releases whose GPU code takes Gangway's device runtime.
pub const WITH_GPU: [u32; 2] = [22, 23];

pub fn llvm(release: u32) -> PathBuf {
    PathBuf::from(format!("/usr/lib/llvm-{release}"))
}

/// LLVM's own device runtime: Debian has it for some releases.
pub fn device_runtime(release: u32) -> PathBuf {
    let library = llvm(release).join("lib");
    let bitcode = library.join(format!("libomptarget-nvptx-{GPU}.bc"));
    if bitcode.is_file() { bitcode } else { library.join("nvptx64-nvidia-cuda/libompdevice.a") }
}

/// What has clang find it, and as much of a CUDA toolkit as clang looks for, with a library of its own
/// bitcode. That is made in the folder.
pub fn with_device_runtime(release: u32, folder: &Path) -> Vec<String> {
    let toolkit = folder.join(format!("cuda-{release}"));
    let library = toolkit.join("nvvm/libdevice");
    if !library.exists() {
        fs::create_dir_all(&library).unwrap();
        for part in ["bin", "include"] {
            symlink(stage().join("lib/gangway/cuda").join(part), toolkit.join(part)).unwrap();
        }
        let mut empty = Command::new(llvm(release).join("bin/clang"));
        empty.args(["--target=nvptx64-nvidia-cuda", "-nogpulib", "-c", "-emit-llvm", "-x", "c", "/dev/null"]);
        empty.arg("-o").arg(library.join("libdevice.10.bc")).run().succeeded();
    }
    let mut words = vec![format!("--cuda-path={}", toolkit.display())];
    let runtime = device_runtime(release);
    if let (true, Some(folder)) = (runtime.ends_with("libompdevice.a"), runtime.parent()) {
        words.extend(["-Xoffload-linker".into(), format!("-L{}", folder.display())]);
    }
    words
}
