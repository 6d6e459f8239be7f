//! The GPU device runtime: `device/gpu` and its mathematics, compiled to LLVM bitcode, as the archive
//! that clang links into OpenMP device code. Each crate is a member of its own, so that the linker
//! reads only what a program needs.
//!
//! The steps, each of which leaves a file in `device/gpu/target/TRIPLE/archive/CRATE`:
//!
//! 1. cargo compiles the crate and `core` to bitcode, without LLVM's passes. The compiler is the one
//!    whose LLVM is clang's (Debian's `rustc-web`), since bitcode cannot be read by an older LLVM.
//! 2. The modules are linked; of `core` and other crates only what is used.
//! 3. The text of the module is edited ([`ir`]): what Rust cannot say about code for a GPU.
//! 4. `opt` optimises it, so that programs compiled without optimisation get a usable runtime, too.
//! 5. The text is edited again, and becomes the member.
//!
//! Steps 2 to 5 are left out when the member is newer than what cargo built and than this program.

mod complex;
mod fortran;
mod ir;
mod libdevice;

use crate::{Result, checked, tree};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A kind of GPU that there is a runtime for.
struct Gpu {
    kind: ir::Kind,
    /// Its name for compilers.
    triple: &'static str,
    /// What its compiler is told besides [`RUSTFLAGS`].
    flags: &'static str,
}

const NVIDIA: Gpu = Gpu { kind: ir::Kind::Nvptx, triple: "nvptx64-nvidia-cuda", flags: "" };

/// One bitcode serves all processors: what it uses they all have, and the edits take the name of the one that
/// the compiler wants off again. Objects are bitcode, or the compiler would translate what is still to be edited.
const AMD: Gpu = Gpu {
    kind: ir::Kind::Amdgcn,
    triple: "amdgcn-amd-amdhsa",
    flags: " -Ctarget-cpu=gfx900 -Clinker-plugin-lto",
};

/// The compiler and cargo whose LLVM is clang-22's. `scripts/bootstrap.sh` installs them.
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";

/// What the compiler is told: LLVM's passes run after the edits, not before, a panic is a trap, and the code
/// is for a GPU, whichever it is. Tests on the host lack the last one.
const RUSTFLAGS: &str = "-Cno-prepopulate-passes -Zunstable-options -Cpanic=immediate-abort --cfg gpu";

/// The crates that become members, by folder and name of their library.
const MEMBERS: [(&str, &str); 7] = [
    ("device/gpu", "gangway_gpu"),
    ("device/gpu/maths", "gangway_gpu_maths"),
    ("device/gpu/library", "gangway_gpu_library"),
    ("device/gpu/fortran", "gangway_gpu_fortran"),
    ("device/gpu/calls", "gangway_gpu_calls"),
    ("device/gpu/heap", "gangway_gpu_heap"),
    ("device/gpu/system", "gangway_gpu_system"),
];

/// The archive's place below `lib/gangway`.
fn archive_of(triple: &str) -> String {
    format!("{triple}/libompdevice.a")
}

/// Builds the archives, and copies them below `library`.
pub fn stage(root: &Path, library: &Path) -> Result<()> {
    for gpu in [NVIDIA, AMD] {
        let folder = stage_archive(root, library, &gpu)?;
        let place = library.join(gpu.triple).join(fortran::FILE);
        assemble(&fortran::text(gpu.kind), &folder.join("fortran.ll"), &place)?;
    }
    assemble(libdevice::TEXT, &root.join("device/gpu/target/libdevice.ll"), &library.join(libdevice::PLACE))?;
    let headers = library.join(AMD.triple).join("include");
    tree::create_folder(&headers)?;
    tree::copy(&root.join("device/gpu/include/amdgcn/stdio.h"), &headers.join("stdio.h"))
}

/// Makes bitcode of a text, which is left in `source`.
fn assemble(text: &str, source: &Path, place: &Path) -> Result<()> {
    tree::create_folder(place.parent().ok_or("the file is in a folder")?)?;
    tree::write(source, text)?;
    checked(tool("llvm-as").arg("-o").arg(place).arg(source))
}

/// Builds the archive for one kind of GPU, and copies it below `library`. The folder with what it is made of.
fn stage_archive(root: &Path, library: &Path, gpu: &Gpu) -> Result<PathBuf> {
    let folder = root.join("device/gpu/target").join(gpu.triple).join("archive");
    let archive = folder.join("libompdevice.a");
    let mut members = Vec::new();
    for (source, name) in MEMBERS {
        let built = compile(root, source, name, gpu)?;
        let folder = folder.join(name);
        let member = folder.join(format!("{name}.bc"));
        if !is_current(&member, &built[0])? {
            translate(&built, name, gpu.kind, &folder, &member)?;
        }
        members.push(member);
    }
    if gpu.kind == ir::Kind::Amdgcn {
        let member = folder.join("gangway_gpu_complex.bc");
        assemble(&complex::text(), &folder.join("complex.ll"), &member)?;
        members.push(member);
    }
    if archive.is_file() {
        fs::remove_file(&archive)?;
    }
    checked(tool("llvm-ar").arg("rcs").arg(&archive).args(members))?;
    let place = library.join(archive_of(gpu.triple));
    tree::create_folder(place.parent().ok_or("the archive is in a folder")?)?;
    tree::copy(&archive, &place)?;
    Ok(folder)
}

/// Has cargo compile a crate. The results are archives of modules, the crate's first. All crates share a target
/// folder, and so `core`.
fn compile(root: &Path, folder: &str, name: &str, gpu: &Gpu) -> Result<Vec<PathBuf>> {
    let target = root.join("device/gpu/target");
    let mut command = Command::new(CARGO);
    command.current_dir(root.join(folder));
    command.args(["rustc", "--release", "-Zbuild-std=core", "--target", gpu.triple]);
    command.arg("--target-dir").arg(&target);
    // `-Z` options are for nightly compilers only; a stable one has them all the same.
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTC", RUSTC);
    command.env("RUSTFLAGS", format!("{RUSTFLAGS}{}", gpu.flags));
    // One module for each crate: of many small ones, which incremental compilation makes, the steps that
    // follow make code that loses what a warp's lanes exchange.
    command.env("CARGO_INCREMENTAL", "0");
    // Set by the cargo that runs this program, for another compiler.
    for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_TARGET_DIR", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    if gpu.kind == ir::Kind::Nvptx {
        checked(command.args(["--crate-type", "staticlib"]))?;
        return Ok(vec![target.join(gpu.triple).join(format!("release/lib{name}.a"))]);
    }
    // The compiler makes no static library for AMD's GPUs without linking all of it.
    command.args(["--crate-type", "lib", "--message-format", "json-render-diagnostics"]);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", output.status).into());
    }
    let libraries = libraries(&String::from_utf8(output.stdout)?);
    let own = |path: &PathBuf| path.ends_with(format!("lib{name}.rlib"));
    let (mut all, others): (Vec<_>, Vec<_>) = libraries.into_iter().partition(own);
    all.extend(others);
    Ok(all)
}

/// The libraries that cargo names in its messages. `compiler_builtins` is not among them: it is no bitcode.
fn libraries(messages: &str) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|line| line.split_once("\"filenames\":[")?.1.split_once(']'))
        .flat_map(|(names, _)| names.split(','))
        .map(|name| name.trim_matches('"'))
        .filter(|name| name.ends_with(".rlib") && !name.contains("/libcompiler_builtins"))
        .map(PathBuf::from)
        .collect()
}

/// Whether the member is newer than what it is made of and than what makes it.
fn is_current(member: &Path, built: &Path) -> Result<bool> {
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    let Ok(made) = changed(member) else { return Ok(false) };
    let maker = std::env::current_exe()?;
    Ok(made > changed(built)? && made > changed(&maker)?)
}

/// Makes a member of what cargo has built.
fn translate(built: &[PathBuf], name: &str, kind: ir::Kind, folder: &Path, member: &Path) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    let modules = folder.join("modules");
    tree::create_folder(&modules)?;
    for archive in built {
        checked(tool("llvm-ar").arg("x").arg("--output").arg(&modules).arg(archive))?;
    }
    let linked = folder.join("1-linked.ll");
    link(&modules, name, &linked)?;

    let edited = folder.join("2-edited.ll");
    let text = ir::prepare(&tree::read(&linked)?, kind);
    let exports = ir::exports(&text).join(",");
    tree::write(&edited, text)?;

    let optimised = folder.join("3-optimised.ll");
    checked(
        tool("opt")
            .args(["-S", "-passes=internalize,globaldce,default<O2>"])
            .arg(format!("-internalize-public-api-list={exports}"))
            // These passes know OpenMP's functions, and would fold what only the program decides.
            .arg("-openmp-opt-disable")
            .arg("-o")
            .arg(&optimised)
            .arg(&edited),
    )?;

    let finished = folder.join("4-finished.ll");
    tree::write(&finished, ir::finish(&tree::read(&optimised)?, kind))?;
    checked(tool("llvm-as").arg("-o").arg(member).arg(&finished))
}

/// Links a crate's module with what it uses of the others.
fn link(modules: &Path, name: &str, output: &Path) -> Result<()> {
    let own = format!("{name}-");
    let mut ours = Vec::new();
    let mut others = Vec::new();
    for entry in fs::read_dir(modules)? {
        let path = entry?.path();
        // What a library says of itself to the compiler.
        if path.extension().is_some_and(|extension| extension == "rmeta") {
            continue;
        }
        let is_own = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own));
        if is_own { &mut ours } else { &mut others }.push(path);
    }
    others.sort();
    // The flag holds for what follows the first file.
    checked(tool("llvm-link").args(["-S", "-only-needed", "-o"]).arg(output).args(ours).args(others))
}

fn tool(name: &str) -> Command {
    Command::new(format!("{name}-22"))
}
