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

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

const RELEASES: std::ops::RangeInclusive<u32> = 19..=23;
/// The releases whose GPU code takes Gangway's device runtime.
const WITH_GPU: [u32; 2] = [22, 23];
const GPU: &str = "sm_80";

/// What the program prints, on whatever device.
const PRINTED: &str = "28\n499500\n1 1003\n64 7938\n11\n";

/// The releases that know `dyn_groupprivate`.
const WITH_GROUP_MEMORY: [u32; 1] = [23];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for release in RELEASES {
        let mut add = |kind: &str, missing: Option<String>, test: fn(u32) -> Result<(), Failed>| {
            let name = match &missing {
                Some(missing) => format!("clang-{release}/{kind} (left out: there is no {missing})"),
                None => format!("clang-{release}/{kind}"),
            };
            trials.push(Trial::test(name, move || test(release)).with_ignored_flag(missing.is_some()));
        };
        let compiler = llvm(release).join("bin/clang");
        let library = llvm(release).join(format!("lib/libomptarget.so.{release}.1"));
        add("cpu", absent(&[&compiler, &library]), on_cpu_devices);
        add(
            "llvm",
            absent(&[&compiler, &library]).or_else(|| runtime(release).err()),
            with_llvms_device_runtime,
        );
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

/// Where Debian has a release.
fn llvm(release: u32) -> PathBuf {
    PathBuf::from(format!("/usr/lib/llvm-{release}"))
}

fn absent(files: &[&Path]) -> Option<String> {
    files.iter().find(|file| !file.exists()).map(|file| file.display().to_string())
}

/// What has clang find LLVM's own device runtime: Debian has it for some releases.
fn runtime(release: u32) -> Result<Vec<String>, String> {
    let library = llvm(release).join("lib");
    let folder = library.join("nvptx64-nvidia-cuda");
    if library.join(format!("libomptarget-nvptx-{GPU}.bc")).is_file() {
        return Ok(Vec::new());
    }
    if folder.join("libompdevice.a").is_file() {
        return Ok(vec!["-Xoffload-linker".into(), format!("-L{}", folder.display())]);
    }
    Err(format!("device runtime of LLVM {release} for NVIDIA's GPUs"))
}

fn stage() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/stage");
    std::env::var_os("GANGWAY_STAGE").map_or(default, PathBuf::from)
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases/program.c")
}

/// What a command prints; its failure is the test's.
fn printed(command: &mut Command) -> Result<String, Failed> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?}\n{}\n{said}", output.status).into())
}

fn compiler(release: u32, output: &Path) -> Command {
    let mut command = Command::new(llvm(release).join("bin/clang"));
    command.args(["-O2", "-fopenmp", "-w"]).arg(source()).arg("-o").arg(output);
    command.arg(format!("-L{}", llvm(release).join("lib").display()));
    command
}

/// The program has to ask for the library of its release, and to print the right thing.
fn run_with_gangway(program: &Path, devices: &[&str]) -> Result<(), Failed> {
    run_and_compare(program, devices, PRINTED)
}

fn run_and_compare(program: &Path, devices: &[&str], wanted: &str) -> Result<(), Failed> {
    let mut command = Command::new(stage().join("bin/gangway"));
    command.arg("run").args(devices).arg(program).env("OMP_TARGET_OFFLOAD", "MANDATORY");
    let shown = printed(&mut command)?;
    if shown == wanted { Ok(()) } else { Err(format!("{command:?} printed\n{shown}\nnot\n{wanted}").into()) }
}

fn on_cpu_devices(release: u32) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    printed(compiler(release, &program).arg("-fopenmp-targets=x86_64-pc-linux-gnu"))?;
    let stock = printed(Command::new(&program).env("LD_LIBRARY_PATH", llvm(release).join("lib")))?;
    if stock != PRINTED {
        return Err(format!("LLVM's own library printed\n{stock}").into());
    }
    run_with_gangway(&program, &["--device", "cpu"])
}

fn with_llvms_device_runtime(release: u32) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    // As much of a CUDA toolkit as clang looks for, with a library of this release's bitcode.
    let toolkit = folder.path().join("cuda");
    let library = toolkit.join("nvvm/libdevice");
    std::fs::create_dir_all(&library)?;
    for part in ["bin", "include"] {
        std::os::unix::fs::symlink(
            stage().canonicalize()?.join("lib/gangway/cuda").join(part),
            toolkit.join(part),
        )?;
    }
    let mut empty = Command::new(llvm(release).join("bin/clang"));
    empty.args([
        "--target=nvptx64-nvidia-cuda",
        "-nogpulib",
        "-c",
        "-emit-llvm",
        "-x",
        "c",
        "/dev/null",
        "-o",
    ]);
    printed(empty.arg(library.join("libdevice.10.bc")))?;
    let mut command = compiler(release, &program);
    command.arg(format!("--offload-arch={GPU}")).arg("-fopenmp-target-jit");
    command.arg(format!("--cuda-path={}", toolkit.display()));
    printed(command.args(runtime(release)?))?;
    run_with_gangway(&program, &["--device", "vgpu"])
}

fn by_gangway(release: u32) -> Result<(), Failed> {
    linked_by_gangway(release, "x86_64", "cpu")
}

fn on_the_virtual_gpu(release: u32) -> Result<(), Failed> {
    linked_by_gangway(release, GPU, "vgpu")
}

/// The program asks for the library of the release that has compiled it.
fn linked_by_gangway(release: u32, architecture: &str, device: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let mut command = Command::new(stage().join("bin/gangway"));
    command.args(["cc", &format!("--llvm={release}"), "-O2", "-w", "-fopenmp"]);
    command.arg(format!("--offload-arch={architecture}"));
    printed(command.arg(source()).arg("-o").arg(&program))?;
    let shown = printed(Command::new(stage().join("bin/gangway")).arg("inspect").arg(&program))?;
    let wanted =
        format!("linked with libomptarget.so.{release}.1, of LLVM {release}: Gangway takes its place");
    if !shown.contains(&wanted) {
        return Err(format!("`{wanted}` is not in\n{shown}").into());
    }
    run_with_gangway(&program, &["--device", device])
}

fn virtual_functions(release: u32) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let mut command = Command::new(stage().join("bin/gangway"));
    command.args(["c++", &format!("--llvm={release}"), "-O2", "-fopenmp", "--offload-arch=x86_64"]);
    printed(command.arg(source().with_file_name("virtual.cpp")).arg("-o").arg(&program))?;
    run_and_compare(&program, &["--device", "cpu"], "0 9\n")
}

/// More than any device has of the memory of a team.
const TOO_MUCH: &str = "400000";

fn group_memory(release: u32) -> Result<(), Failed> {
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
            let folder = tempfile::tempdir()?;
            let program = folder.path().join("program");
            let mut command = Command::new(stage().join("bin/gangway"));
            command.args(["cc", &format!("--llvm={release}"), "-O2", "-fopenmp", "-fopenmp-version=61"]);
            command.arg(format!("--offload-arch={GPU},x86_64")).arg(format!("-DFALLBACK={fallback}"));
            command.arg(format!("-DBYTES={bytes}")).arg(format!("-DCLAUSES={clauses}"));
            command.arg(source().with_file_name("dyn_groupprivate.c")).arg("-o").arg(&program);
            printed(&mut command)?;
            for (device, wanted) in [("vgpu", on_gpu), ("cpu", on_cpu)] {
                let mut run = Command::new(stage().join("bin/gangway"));
                run.args(["run", "--device", device]).arg(&program).env("OMP_TARGET_OFFLOAD", "MANDATORY");
                let output = run.output()?;
                let shown = [&output.stdout[..], &output.stderr].concat();
                let shown = String::from_utf8_lossy(&shown);
                // What is refused ends the program.
                let refused = wanted == none || wanted.starts_with("cannot");
                if !shown.contains(wanted) || output.status.success() == refused {
                    let asked = format!("dyn_groupprivate({fallback} {bytes}) {clauses}");
                    return Err(
                        format!("{asked} on {device}: {}\n{shown}\nnot {wanted}", output.status).into()
                    );
                }
            }
        }
    }
    Ok(())
}
