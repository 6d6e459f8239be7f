//! `cargo xtask stage`: the tree that `make install` copies.
//!
//! The runtime library is built as a static library and linked by the C compiler:
//! rustc cannot give a shared library's symbols a version, and programs built
//! with the stock compilers ask for theirs with one.
//!
//! With `--sanitize` only the libraries, and with AddressSanitizer in them; with `--packages`
//! what `make packages` packs.

use crate::{Result, checked, compilers, documents, exports, gpu, packages, tree};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library with all front ends on one runtime. Programs of clang are linked with it; others
/// get to it through [`DOORS`].
const LIBRARY: Shared = Shared {
    exports: "frontends/omptarget/exports.txt",
    soname: "libomptarget.so.22.1",
    // The name that linkers look for, and those of programs of other releases of clang: the
    // library has the functions of all of them (docs/clang-releases.md).
    aliases: &[
        "libomptarget.so",
        "libomptarget.so.19.1",
        "libomptarget.so.20.1",
        "libomptarget.so.21.1",
        "libomptarget.so.23.1",
    ],
};

/// The folder with what programs of the release are linked with whose library has this name, if that is not
/// [`LIBRARY`]'s: a linker writes down the name that a library has inside.
fn link_folder(alias: &str) -> Option<String> {
    let release = alias.strip_prefix("libomptarget.so.")?.strip_suffix(".1")?;
    Some(format!("llvm-{release}"))
}

/// The static library that [`LIBRARY`] is made of.
const ARCHIVE: &str = "libgangway_front_ends.a";

/// The libraries that stand before another one's, and lead to [`LIBRARY`]: with its names, and
/// without code but jumps. So all programs of a process share one runtime.
const DOORS: [Shared; 1] =
    [Shared { exports: "frontends/gomp/exports.txt", soname: "libgangway-gomp.so", aliases: &[] }];

/// The virtual AMD GPU's library. Programs are linked with versions of ROCm's names, so it is linked as
/// [`LIBRARY`] is; plugins open it by either name.
const HSA: Shared = Shared {
    exports: "vgpu/hsa/symbols/exports.txt",
    soname: "libhsa-runtime64.so.1",
    aliases: &["libhsa-runtime64.so"],
};

/// The static library that [`HSA`] is made of.
const HSA_ARCHIVE: &str = "libgangway_hsa_driver.a";

/// A shared library.
struct Shared {
    /// The list of its exports.
    exports: &'static str,
    /// Name programs are linked against.
    soname: &'static str,
    /// Other names it goes by.
    aliases: &'static [&'static str],
}

/// What programs and back ends include.
const HEADERS: [&str; 5] = [
    "backends/external/include/gangway/rtl.h",
    "frontends/openmp/include/gangway/host_call.h",
    "translator/include/gangway/reverse_offload.h",
    "frontends/openacc/include/gangway/openacc_translated.h",
    "frontends/openmp/include/gangway/gangway_host_calls.f90",
];

/// Headers that programs include by their own names. They have a folder of their own: below `/usr/local/include`
/// GCC would find them before its own.
const OPENACC: [&str; 2] = ["frontends/openacc/include/openacc.h", "frontends/openacc/include/acc_prof.h"];

/// The packages that shared libraries are made of.
const LIBRARIES: [&str; 12] = [
    "-p",
    "gangway-front-ends-artifact",
    "-p",
    "gangway-driver",
    "-p",
    "gangway-hsa-driver",
    "-p",
    "gangway-ending",
    "-p",
    "gangway-compile-step",
    "-p",
    "gangway-host-access",
];

/// The target that the libraries with AddressSanitizer are built for. It is the host's, but
/// named: cargo then leaves build scripts and macros without the sanitizer.
const SANITIZED: &str = "x86_64-unknown-linux-gnu";

/// Builds everything with one of cargo's profiles, and lays it out.
pub fn run(profile: &str) -> Result<()> {
    let root = &tree::root()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    build_and_lay_out(root, profile, &target, &root.join("build/stage"), &[])
}

/// Builds everything for packages, which are the same wherever the tree is: the compiler writes
/// no path of this machine into what it makes. In folders of its own, as the other flags would
/// make cargo build everything anew each time.
pub fn run_packaged(profile: &str) -> Result<()> {
    let root = &tree::root()?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home = home.ok_or("neither CARGO_HOME nor HOME is set")?;
    let (target, stage) = (root.join("target/packages"), root.join("build/packages/tree"));
    let flags = format!(
        "--remap-path-prefix={}=gangway\u{1f}--remap-path-prefix={}=cargo",
        root.display(),
        home.display()
    );
    build_and_lay_out(root, profile, &target, &stage, &[("CARGO_ENCODED_RUSTFLAGS", &flags)])
}

fn build_and_lay_out(
    root: &Path,
    profile: &str,
    target: &Path,
    stage: &Path,
    environment: &[(&str, &str)],
) -> Result<()> {
    let packages = [&LIBRARIES[..], &["-p", "gangway", "-p", "gangway-llvm"]].concat();
    let directory = target.display().to_string();
    let arguments = ["build", "--profile", profile, "--target-dir", &directory];
    cargo(root, &[&arguments, &packages[..]].concat(), environment)?;
    // Cargo's folder for the profile `dev` has another name.
    let target = target.join(if profile == "dev" { "debug" } else { profile });
    for directory in ["bin", "include/gangway/openacc"] {
        tree::create_folder(&stage.join(directory))?;
    }
    tree::copy(&target.join("gangway"), &stage.join("bin/gangway"))?;
    for header in HEADERS {
        let name = header.rsplit('/').next().unwrap_or(header);
        tree::copy(&root.join(header), &stage.join("include/gangway").join(name))?;
    }
    for header in OPENACC {
        let name = header.rsplit('/').next().unwrap_or(header);
        tree::copy(&root.join(header), &stage.join("include/gangway/openacc").join(name))?;
    }
    libraries(root, &target, stage, environment)?;
    // The virtual GPUs' libraries look for it in the folder above theirs.
    tree::copy(&target.join("gangway-llvm"), &stage.join("lib/gangway/gangway-llvm"))?;
    gpu::stage(root, &stage.join("lib/gangway"))?;
    compilers::lay_out(root, stage)?;
    packages::lay_out(root, stage)?;
    written_by_the_tool(stage)?;
    documents::lay_out(root, stage)?;
    println!("staged under {}", stage.display());
    Ok(())
}

/// Builds the GPU device runtime alone.
pub fn run_gpu() -> Result<()> {
    let root = &tree::root()?;
    gpu::stage(root, &root.join("build/stage/lib/gangway"))
}

/// Builds the libraries with AddressSanitizer in them, and lays them out under
/// `build/asan`. The sanitizer's runtime is not linked: programs find it in
/// `LD_PRELOAD`, since they are not instrumented themselves.
pub fn run_sanitized() -> Result<()> {
    let root = &tree::root()?;
    let (target, stage) = (root.join("target/asan"), root.join("build/asan"));
    let directory = target.display().to_string();
    let arguments = ["build", "--target", SANITIZED, "--target-dir", &directory];
    let environment = [
        // A stable compiler comes with the sanitizer, but not with the right to name it.
        ("RUSTC_BOOTSTRAP", "1"),
        ("RUSTFLAGS", "-Zsanitizer=address"),
        // The lines that reports show; the rest of the debug information is large.
        ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"),
    ];
    cargo(root, &[&arguments[..], &LIBRARIES].concat(), &environment)?;
    libraries(root, &target.join(SANITIZED).join("debug"), &stage, &[])?;
    println!("staged under {}", stage.display());
    Ok(())
}

/// The libraries of one build, laid out in a stage.
fn libraries(root: &Path, target: &Path, stage: &Path, environment: &[(&str, &str)]) -> Result<()> {
    let library = stage.join("lib/gangway");
    tree::create_folder(&library)?;
    let list = tree::read(&root.join(LIBRARY.exports))?;
    let doors = DOORS.map(|door| tree::read(&root.join(door.exports)));
    let doors: Vec<String> = doors.into_iter().collect::<Result<_>>()?;
    let hidden: String = doors.iter().map(|door| exports::hidden(door)).collect();
    let archive = target.join(ARCHIVE);
    other_releases(root, &list, &library)?;
    link(root, &LIBRARY, &(list + &hidden), &whole(&archive), &library)?;
    for (door, list) in DOORS.iter().zip(&doors) {
        let jumps = root.join("build/jumps.s");
        tree::write(&jumps, exports::jumps(list, std::env::consts::ARCH)?)?;
        let behind = library.join(LIBRARY.soname);
        // Found beside it, whatever the search path says.
        let rpath = OsStr::new("-Wl,-rpath,$ORIGIN,--disable-new-dtags");
        let parts = [jumps.as_os_str(), behind.as_os_str(), rpath];
        link(root, door, list, &parts, &library)?;
    }
    for name in ["ending", "compile-step", "host-access"] {
        let built = target.join(format!("libgangway_{}.so", name.replace('-', "_")));
        tree::copy(&built, &library.join(format!("libgangway-{name}.so")))?;
    }
    virtual_gpus(root, target, &library)?;
    device_archive(root, &library, environment)
}

/// What `gangway cc --llvm=N` links programs with, so that they ask for the library of that release, as those
/// that its clang links by itself: the names, without anything behind them.
fn other_releases(root: &Path, list: &str, library: &Path) -> Result<()> {
    let names = root.join("build/names.s");
    tree::write(&names, exports::empty(list))?;
    for &soname in LIBRARY.aliases {
        let Some(folder) = link_folder(soname) else { continue };
        let folder = library.join(folder);
        tree::create_folder(&folder)?;
        let shared = Shared { exports: LIBRARY.exports, soname, aliases: &[] };
        link(root, &shared, list, &[names.as_os_str(), OsStr::new("-nostdlib")], &folder)?;
        tree::rename(&folder.join(soname), &folder.join("libomptarget.so"))?;
        // Clang 19 links LLVM's device runtime for GPUs to every program, also where none is asked for, and
        // Debian's package of it cannot be installed beside libomp everywhere.
        if soname == "libomptarget.so.19.1" {
            tree::write(&folder.join("libomptarget.devicertl.a"), "!<arch>\n")?;
        }
    }
    Ok(())
}

/// Links a shared library of `parts` that exports what is listed.
fn link(root: &Path, shared: &Shared, list: &str, parts: &[&OsStr], directory: &Path) -> Result<()> {
    let &Shared { soname, aliases, .. } = shared;
    let script = root.join("build/exports.map");
    tree::write(&script, exports::version_script(list))?;
    let output = directory.join(soname);
    // Linked beside and renamed: a program that runs keeps the file it has mapped.
    let fresh = directory.join(format!(".{soname}.new"));
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-o"])
        .arg(&fresh)
        .args(parts)
        .arg(format!("-Wl,--version-script={}", script.display()))
        .arg(format!("-Wl,-soname,{soname}"))
        // The library has thread-local data and registers exit handlers: it stays
        // loaded, as the stock one does. Lazy binding keeps the start short.
        .args([
            "-Wl,-z,nodelete",
            // No thread of ours may need the loader's lock: a constructor of a library holds it, and
            // may wait for that thread. `vgpu/driver/build.rs` has the details.
            "-Wl,--wrap=__cxa_thread_atexit_impl",
            "-Wl,--gc-sections",
            "-Wl,--as-needed",
            "-Wl,-z,relro",
            "-Wl,--hash-style=gnu",
        ])
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-lc"]);
    checked(&mut command)?;
    tree::rename(&fresh, &output)?;
    for alias in aliases {
        tree::link(soname, &directory.join(alias))?;
    }
    Ok(())
}

/// What has the linker take all of a static library.
fn whole(archive: &Path) -> [&OsStr; 3] {
    [OsStr::new("-Wl,--whole-archive"), archive.as_os_str(), OsStr::new("-Wl,--no-whole-archive")]
}

/// The virtual GPUs' libraries, in a directory of their own: a program gets them only
/// when that directory is put before those with NVIDIA's and AMD's.
fn virtual_gpus(root: &Path, target: &Path, library: &Path) -> Result<()> {
    let directory = library.join("vgpu");
    tree::create_folder(&directory)?;
    tree::copy(&target.join("libgangway_driver.so"), &directory.join("libcuda.so.1"))?;
    tree::link("libcuda.so.1", &directory.join("libcuda.so"))?;
    let list = tree::read(&root.join(HSA.exports))?;
    link(root, &HSA, &list, &whole(&target.join(HSA_ARCHIVE)), &directory)
}

/// The archive that Fortran device code is linked with: its own workspace, as it
/// is built for code without a standard library. An rlib is an ar archive, and this
/// one needs nothing beside it.
fn device_archive(root: &Path, library: &Path, environment: &[(&str, &str)]) -> Result<()> {
    let directory = root.join("device/host-openmp");
    cargo(&directory, &["build", "--release"], environment)?;
    tree::copy(
        &directory.join("target/release/libgangway_host_openmp.rlib"),
        &library.join("libgangway-host-openmp.a"),
    )
}

/// The manual page and completions, which the tool writes itself.
fn written_by_the_tool(stage: &Path) -> Result<()> {
    let tool = stage.join("bin/gangway");
    let places = [
        (vec!["man"], "share/man/man1/gangway.1"),
        (vec!["completions", "bash"], "share/bash-completion/completions/gangway"),
        (vec!["completions", "zsh"], "share/zsh/site-functions/_gangway"),
        (vec!["completions", "fish"], "share/fish/vendor_completions.d/gangway.fish"),
    ];
    for (arguments, place) in places {
        let output = Command::new(&tool)
            .args(&arguments)
            .output()
            .map_err(|error| format!("cannot run {}: {error}", tool.display()))?;
        if !output.status.success() {
            return Err(format!("`gangway {}` failed: {}", arguments.join(" "), output.status).into());
        }
        let place = stage.join(place);
        tree::create_folder(place.parent().ok_or("a staged file has a directory")?)?;
        tree::write(&place, output.stdout)?;
    }
    Ok(())
}

fn cargo(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(directory).args(arguments);
    // Set for this program by the cargo that runs it; they would confuse another
    // workspace's build.
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME");
    command.envs(environment.iter().copied());
    checked(&mut command)
}
