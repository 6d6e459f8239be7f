//! Whether a program has anything for the devices that `gangway run --device` names.
//!
//! Only a program that certainly has target regions is refused: one with images, or one that calls a
//! runtime for offloading. Any other may start or load what is for the device.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use gangway_backend::Backend;
use gangway_image::{Contents, GccTarget, Image, Producer, gcn_object, ptx_objects};

use crate::devices;
use crate::exit::{Failure, USAGE};
use crate::library;

/// What compilers call to offload a region: clang, and GCC for OpenMP and OpenACC.
const CALLS: [(&[u8], Compiler); 3] = [
    (b"\0__tgt_target_kernel\0", Compiler::Clang),
    (b"\0GOMP_target_ext\0", Compiler::Gcc),
    (b"\0GOACC_parallel_keyed\0", Compiler::Gcc),
];

/// What programs with images call. One of whose images nothing is seen makes them itself.
const REGISTRATIONS: [&[u8]; 2] = [b"\0GOMP_offload_register", b"\0__tgt_register_lib"];

/// Where the loader looks for libraries that nothing else leads to.
const SYSTEM: [&str; 4] = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/local/lib"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiler {
    Clang,
    Gcc,
}

/// The back end that takes an image, as the runtime asks them.
pub fn taker<'b>(image: &Image<'_>, backends: &'b [Box<dyn Backend>]) -> Option<&'b dyn Backend> {
    let recognised_by =
        |bytes: &[u8]| backends.iter().find(|backend| backend.recognises(bytes)).map(|backend| &**backend);
    match image.producer {
        // The front end gives the runtime what GCC leaves in one piece.
        Producer::Gcc(GccTarget::Gcn) => recognised_by(&gcn_object::joined(image.parts[0], &[])),
        Producer::Gcc(target) if target.is_registered() => recognised_by(&ptx_objects::joined(&image.parts)),
        Producer::Gcc(_) => None,
        _ => recognised_by(image.parts[0]),
    }
}

/// Refuses a program whose regions none of the named devices can run.
///
/// # Errors
/// It has target regions, and nothing of it or of its libraries is for those devices.
pub fn check(path: &Path, bytes: &[u8], contents: &Contents<'_>, names: &str) -> Result<(), Failure> {
    let policy = env::var("OMP_TARGET_OFFLOAD").unwrap_or_default();
    let wanted = devices::for_runtime(names);
    let wanted: Vec<&str> = wanted.split(',').filter(|name| *name != "none").collect();
    if wanted.is_empty() || policy.trim().eq_ignore_ascii_case("disabled") {
        return Ok(());
    }
    let (backends, _) = devices::backends(library::directory().ok().as_deref());
    let suits = |contents: &Contents<'_>| {
        let takers = contents.images.iter().filter_map(|image| taker(image, &backends));
        takers.into_iter().any(|backend| wanted.contains(&backend.name()))
    };
    let Some(compiler) = compiler_of(bytes, contents) else { return Ok(()) };
    if suits(contents) || in_libraries(path, bytes, &suits) {
        return Ok(());
    }
    Err(Failure::new(USAGE, explained(path, contents, compiler, names, &wanted)))
}

/// Whose target regions a program has.
fn compiler_of(bytes: &[u8], contents: &Contents<'_>) -> Option<Compiler> {
    if contents.container != "executable" {
        return None;
    }
    let of_image = contents.images.iter().find_map(|image| match image.producer {
        Producer::Clang(_) => Some(Compiler::Clang),
        Producer::Gcc(_) => Some(Compiler::Gcc),
        Producer::Cuda | Producer::Unknown => None,
    });
    let names = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    of_image.or_else(|| {
        let registers = REGISTRATIONS.into_iter().any(names);
        let called = CALLS.iter().find(|(name, _)| !registers && names(name));
        called.map(|(_, compiler)| *compiler)
    })
}

/// Whether one of the libraries that a program is linked with, directly or not, has what suits.
fn in_libraries(path: &Path, bytes: &[u8], suits: &dyn Fn(&Contents<'_>) -> bool) -> bool {
    let mut open = libraries_of(path, bytes);
    let mut seen: BTreeSet<PathBuf> = open.iter().cloned().collect();
    while let Some(library) = open.pop() {
        let Ok(bytes) = fs::read(&library) else { continue };
        if gangway_image::contents(&bytes).is_ok_and(|contents| suits(&contents)) {
            return true;
        }
        open.extend(libraries_of(&library, &bytes).into_iter().filter(|found| seen.insert(found.clone())));
    }
    false
}

/// The files of the libraries that a file names, as the loader finds them.
fn libraries_of(path: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let Ok(needed) = gangway_image::needed_libraries(bytes) else { return Vec::new() };
    let (rpath, runpath) = gangway_image::search_paths(bytes).unwrap_or_default();
    let origin = path.canonicalize().ok();
    let origin = origin.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")).to_string_lossy();
    let own = [rpath, runpath].into_iter().flatten().flat_map(|list| list.split(':'));
    let own = own.map(|folder| folder.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin));
    let chosen = env::var_os("LD_LIBRARY_PATH");
    let folders: Vec<PathBuf> = own
        .map(PathBuf::from)
        .chain(chosen.iter().flat_map(env::split_paths))
        .chain(SYSTEM.iter().map(PathBuf::from))
        .collect();
    let find = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    needed.iter().filter_map(find).collect()
}

fn explained(
    path: &Path,
    contents: &Contents<'_>,
    compiler: Compiler,
    names: &str,
    wanted: &[&str],
) -> String {
    let mut text = format!("{} has no code for --device {names}", path.display());
    let mut images: Vec<String> = contents.images.iter().map(described).collect();
    images.dedup();
    text += &match images.is_empty() {
        true => "\n  its device code: none".to_owned(),
        false => format!("\n  its device code: {}", images.join(", ")),
    };
    let cuda = wanted.contains(&devices::CUDA);
    let amd = wanted.contains(&devices::HSA);
    text += match (compiler, cuda, wanted.contains(&"cpu")) {
        (Compiler::Clang, true, true) => {
            "\n  help: compile it with `gangway cc -fopenmp --offload-arch=sm_80,x86_64`"
        }
        (Compiler::Clang, true, false) => {
            "\n  help: compile it with `gangway cc -fopenmp --offload-arch=sm_80`"
        }
        (Compiler::Clang, false, _) if amd => {
            "\n  help: compile it with `gangway cc -fopenmp --offload-arch=gfx90a`"
        }
        (Compiler::Clang, false, true) => "\n  help: compile it with `gangway cc -fopenmp`",
        (Compiler::Gcc, true, _) => {
            "\n  help: compile it with -foffload=nvptx-none (Debian: gcc-offload-nvptx is needed for that)"
        }
        (Compiler::Gcc, false, _) if amd => {
            "\n  help: compile it with -foffload=amdgcn-amdhsa (Debian: gcc-offload-amdgcn is needed for that)"
        }
        (Compiler::Gcc, false, true) => {
            "\n  help: GCC makes no code for CPU devices; name vgpu, or compile the program with `gangway cc \
             -fopenmp`"
        }
        (_, false, false) => "\n  help: compile it for that device, or name another one",
    };
    text + "\n  note: OMP_TARGET_OFFLOAD=DISABLED has the host run its target regions"
}

/// What an image is for.
fn described(image: &Image<'_>) -> String {
    let words = [image.triple, image.arch].into_iter().flatten().filter(|word| !word.is_empty());
    let text = words.collect::<Vec<_>>().join(" ");
    if text.is_empty() { "of an unknown kind".to_owned() } else { text }
}
