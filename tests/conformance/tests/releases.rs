//! Programs of every release of clang whose programs Gangway runs, as far as the releases are installed.
//! What is missing is an ignored test with the reason in its name, so it shows in the summary.
//!
//! - `clang-N/cpu`: built by clang alone for CPU devices, run unchanged with LLVM's library and with Gangway's.
//! - `clang-N/llvm`: built by clang alone for a GPU with LLVM's own device runtime, as bitcode images; run on
//!   the virtual GPU.
//! - `clang-N/cc`: built by `gangway cc --llvm=N` for CPU devices; it asks for that release's library, as well.
//! - `clang-N/gpu`: the same for a GPU, run on the virtual GPU.
//! - `clang-N/virtual`: virtual functions in a region for CPU devices, by `gangway c++`: clang 23 calls for them
//!   what no library of LLVM's has.
//! - `clang-N/dyn_groupprivate`: what its `fallback` says, of the releases that have it.

#[path = "support/llvm.rs"]
mod llvm;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use gangway_commands::{Folder, Ran, Run, gangway};
use libtest_mimic::{Arguments, Trial};
use llvm::{GPU, WITH_GPU, device_runtime, llvm};

const RELEASES: std::ops::RangeInclusive<u32> = 19..=23;

/// What the program prints, on whatever device.
const PRINTED: &str = "28\n499500\n1 1003\n64 7938\n11\n";

/// The releases that know `dyn_groupprivate`.
const WITH_GROUP_MEMORY: [u32; 1] = [23];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for release in RELEASES {
        let mut add = |kind: &str, missing: Option<String>, test: fn(u32)| {
            let name = match &missing {
                Some(missing) => format!("clang-{release}/{kind} (left out: there is no {missing})"),
                None => format!("clang-{release}/{kind}"),
            };
            let run = move || {
                test(release);
                Ok(())
            };
            trials.push(Trial::test(name, run).with_ignored_flag(missing.is_some()));
        };
        let compiler = llvm(release).join("bin/clang");
        let library = llvm(release).join(format!("lib/libomptarget.so.{release}.1"));
        add("cpu", absent(&[&compiler, &library]), on_cpu_devices);
        let runtime = device_runtime(release);
        add("llvm", absent(&[&compiler, &library, &runtime]), with_llvms_device_runtime);
        let wrapper = llvm(release).join("bin/clang-linker-wrapper");
        add("cc", absent(&[&compiler, &wrapper]), by_gangway);
        add("virtual", absent(&[&compiler, &wrapper]), virtual_functions);
        let linker = llvm(release).join("bin/clang-nvlink-wrapper");
        if WITH_GPU.contains(&release) {
            add("gpu", absent(&[&compiler, &linker]), on_the_virtual_gpu);
        }
        if WITH_GROUP_MEMORY.contains(&release) {
            add("dyn_groupprivate", absent(&[&compiler, &linker]), group_memory);
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn absent(files: &[&Path]) -> Option<String> {
    files.iter().find(|file| !file.exists()).map(|file| file.display().to_string())
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases/program.c")
}

fn compiler(release: u32, folder: &Folder) -> Command {
    let mut command = Command::new(llvm(release).join("bin/clang"));
    command.args(["-O2", "-fopenmp", "-w"]).arg(source()).arg("-o").arg(folder.path("program"));
    command.arg(format!("-L{}", llvm(release).join("lib").display()));
    command
}

/// The program has to ask for the library of its release, and to print the right thing.
fn run(folder: &Folder, device: &str) -> Ran {
    let mut command = gangway();
    command.args(["run", "--device", device]).arg(folder.path("program"));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").run()
}

fn on_cpu_devices(release: u32) {
    let folder = Folder::new();
    compiler(release, &folder).arg("-fopenmp-targets=x86_64-pc-linux-gnu").run().succeeded();
    let mut stock = Command::new(folder.path("program"));
    stock.env("LD_LIBRARY_PATH", llvm(release).join("lib")).run().printed(PRINTED);
    run(&folder, "cpu").printed(PRINTED);
}

fn with_llvms_device_runtime(release: u32) {
    let folder = Folder::new();
    let mut command = compiler(release, &folder);
    command.arg(format!("--offload-arch={GPU}")).arg("-fopenmp-target-jit");
    command.args(llvm::with_device_runtime(release, &folder)).run().succeeded();
    run(&folder, "vgpu").printed(PRINTED);
}

fn by_gangway(release: u32) {
    linked_by_gangway(release, "x86_64", "cpu");
}

fn on_the_virtual_gpu(release: u32) {
    linked_by_gangway(release, GPU, "vgpu");
}

/// The program asks for the library of the release that has compiled it.
fn linked_by_gangway(release: u32, architecture: &str, device: &str) {
    let folder = Folder::new();
    let mut command = gangway();
    command.args(["cc", &format!("--llvm={release}"), "-O2", "-w", "-fopenmp"]);
    command.arg(format!("--offload-arch={architecture}"));
    command.arg(source()).arg("-o").arg(folder.path("program")).run().succeeded();
    let shown = gangway().arg("inspect").arg(folder.path("program")).run().succeeded();
    let wanted =
        format!("linked with libomptarget.so.{release}.1, of LLVM {release}: Gangway takes its place");
    assert!(shown.stdout.contains(&wanted), "`{wanted}` is missing: {shown}");
    run(&folder, device).printed(PRINTED);
}

fn virtual_functions(release: u32) {
    let folder = Folder::new();
    let mut command = gangway();
    command.args(["c++", &format!("--llvm={release}"), "-O2", "-fopenmp", "--offload-arch=x86_64"]);
    command.arg(source().with_file_name("virtual.cpp")).arg("-o").arg(folder.path("program"));
    command.run().succeeded();
    run(&folder, "cpu").printed("0 9\n");
}

/// More than any device has of the memory of a team.
const TOO_MUCH: &str = "400000";

fn group_memory(release: u32) {
    let none = "has none";
    for (fallback, bytes, on_gpu, on_cpu) in [
        ("", "4096", "team, 4096 bytes, space 5", none),
        ("", TOO_MUCH, "device, 400000 bytes, space 99", none),
        ("fallback(default_mem):", "5000", "team, 5000 bytes, space 5", none),
        ("fallback(default_mem):", TOO_MUCH, "device, 400000 bytes, space 99", none),
        ("fallback(null):", "4096", "team, 4096 bytes, space 5", "none, 0 bytes"),
        ("fallback(null):", TOO_MUCH, "none, 0 bytes, space 0", "none, 0 bytes"),
        ("fallback(abort):", "4096", "team, 4096 bytes, space 5", "none, 0 bytes"),
        (
            "fallback(abort):",
            TOO_MUCH,
            "cannot have 400000 bytes of dynamic group memory per team",
            "none, 0 bytes",
        ),
    ] {
        // A reduction across teams has the launch carry a buffer, too.
        for clauses in ["", "reduction(+ : wrong)"] {
            let folder = Folder::new();
            let mut command = gangway();
            command.args(["cc", &format!("--llvm={release}"), "-O2", "-fopenmp", "-fopenmp-version=61"]);
            command.arg(format!("--offload-arch={GPU},x86_64")).arg(format!("-DFALLBACK={fallback}"));
            command.arg(format!("-DBYTES={bytes}")).arg(format!("-DCLAUSES={clauses}"));
            command.arg(source().with_file_name("dyn_groupprivate.c"));
            command.arg("-o").arg(folder.path("program")).run().succeeded();
            for (device, wanted) in [("vgpu", on_gpu), ("cpu", on_cpu)] {
                let ran = run(&folder, device);
                // What is refused ends the program.
                let refused = wanted == none || wanted.starts_with("cannot");
                assert!(
                    ran.said().contains(wanted) && ran.status.success() != refused,
                    "dyn_groupprivate({fallback} {bytes}) {clauses} gives {ran}\nnot {wanted}"
                );
            }
        }
    }
}
