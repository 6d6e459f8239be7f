//! What `run` must know of a program before it starts it: where it is, and how the
//! loader will look for its libraries.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use gangway_image::{Contents, Image, ImageKind, Machine, Producer};
use gangway_settings::Maker;

use crate::arguments::GccRuntime;
use crate::exit::{Failure, NOT_EXECUTABLE, NOT_FOUND, NOT_STARTED};
use crate::libomp::Libomp;
use crate::library::{self, LIBCUDA, Libraries};
use crate::suitable;

/// How Gangway's library gets into a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The library path decides.
    SearchPath,
    /// The program's own RPATH comes first, so the library must be loaded before.
    Preload { rpath: PathBuf, library: PathBuf },
}

/// What was found out, and what the user should be told.
#[derive(Debug)]
pub struct Program {
    pub path: PathBuf,
    pub route: Route,
    /// Gangway's front end for GCC's programs stands before libgomp.
    pub libgomp_front: Option<PathBuf>,
    pub note: Option<String>,
    /// What the program's libomp is not fit for.
    pub libomp: Option<String>,
    /// It has device images, and all of them are for GPUs: whose.
    pub needs_gpu: Option<Maker>,
    /// The stock libgomp runs it, and all of its images are for GPUs of one maker.
    pub only_maker: Option<Maker>,
    /// What the first of its images for AMD's GPUs is for.
    pub amd_processor: Option<String>,
    /// The runtime of a sanitizer that it is linked with. It ends the program if another library comes before it.
    pub sanitizer: Option<String>,
}

/// Finds a program as execvp(3) would, and looks at what it is linked with.
pub fn examine(
    name: &OsStr,
    search: Option<&OsStr>,
    ours: &Libraries,
    gcc: Option<GccRuntime>,
    device: Option<&str>,
) -> Result<Program, Failure> {
    let path = find(name, search)?;
    let bytes = fs::read(&path)
        .map_err(|error| Failure::new(NOT_EXECUTABLE, format!("cannot read {}: {error}", path.display())))?;
    let (route, note) = match linkage(&path, &bytes, ours)? {
        Linkage::Offloads(route) => (route, None),
        Linkage::Note(note) => (Route::SearchPath, Some(note)),
    };
    let contents = gangway_image::contents(&bytes).ok();
    let contents = contents.as_ref();
    if let (Some(contents), Some(names)) = (contents, device) {
        suitable::check(&path, &bytes, contents, names)?;
    }
    let (libgomp_front, note) = match gcc_runtime(&path, &bytes, contents, gcc)? {
        Gcc::Unused | Gcc::Stock(None) => (None, note),
        Gcc::Stock(why) => (None, why.or(note)),
        // It has a part in the program, after all.
        Gcc::Gangway(library) => (Some(library), None),
    };
    let needs_gpu = contents.and_then(|contents| needs_gpu(contents, libgomp_front.is_some()));
    let amd_processor = contents.and_then(amd_processor);
    let only_maker = contents.filter(|_| libgomp_front.is_none()).and_then(only_maker);
    let libomp = Libomp::note(&path, &bytes);
    let sanitizer = sanitizer(&bytes);
    Ok(Program { path, route, libgomp_front, note, libomp, needs_gpu, only_maker, amd_processor, sanitizer })
}

/// Names of sanitizers' runtimes, GCC's and clang's, as they begin.
const SANITIZERS: [&str; 6] =
    ["libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so", "libclang_rt.asan", "libclang_rt.tsan"];

fn sanitizer(bytes: &[u8]) -> Option<String> {
    let needed = gangway_image::needed_libraries(bytes).ok()?;
    let runtime = |library: &&&str| SANITIZERS.iter().any(|name| library.starts_with(name));
    needed.iter().find(runtime).map(|library| (*library).to_owned())
}

/// What runs a program's regions that GCC has compiled.
enum Gcc {
    /// It is not linked with libgomp, and nobody has asked for anything.
    Unused,
    /// libgomp; why, if nobody has asked for that.
    Stock(Option<String>),
    Gangway(PathBuf),
}

fn gcc_runtime(
    path: &Path,
    bytes: &[u8],
    contents: Option<&Contents<'_>>,
    wanted: Option<GccRuntime>,
) -> Result<Gcc, Failure> {
    match wanted {
        Some(GccRuntime::Stock) => return Ok(Gcc::Stock(None)),
        _ if contents.is_some_and(|contents| has_libgomp_inside(bytes, contents)) => {
            return Ok(Gcc::Stock(Some(format!("{} {LIBGOMP_INSIDE}", path.display()))));
        }
        // What the program loads may be GCC's.
        Some(GccRuntime::Gangway) => return library::libgomp_front().map(Gcc::Gangway),
        None if !uses_libgomp(bytes) => return Ok(Gcc::Unused),
        None => {}
    }
    let front = match library::libgomp_front() {
        Ok(front) => front,
        Err(missing) => {
            return Ok(Gcc::Stock(Some(format!("{missing}; GCC's own runtime library runs the program"))));
        }
    };
    Ok(Gcc::Gangway(front))
}

fn uses_libgomp(bytes: &[u8]) -> bool {
    gangway_image::needed_libraries(bytes)
        .is_ok_and(|needed| needed.iter().any(|library| library.starts_with("libgomp.so")))
}

/// What is to be said of a program with `libgomp.a` in it.
pub const LIBGOMP_INSIDE: &str = "has libgomp.a in it, whose functions call each other: \
     Gangway's front end for GCC's programs has no part in it; link it with libgomp.so.1";

/// Whether GCC has linked an executable that offloads with `libgomp.a`. That has the names of what
/// it asks its plugins for, whether or not the program is stripped.
pub fn has_libgomp_inside(bytes: &[u8], contents: &Contents<'_>) -> bool {
    const ASKED_OF_PLUGINS: &[u8] = b"GOMP_OFFLOAD_load_image\0";
    let of_gcc = |image: &Image<'_>| matches!(image.producer, Producer::Gcc(_));
    contents.images.iter().any(of_gcc)
        && contents.container == "executable"
        && !uses_libgomp(bytes)
        && bytes.windows(ASKED_OF_PLUGINS.len()).any(|window| window == ASKED_OF_PLUGINS)
}

enum Linkage {
    Offloads(Route),
    /// Gangway may still take part, through what the program starts or loads.
    Note(String),
}

/// Finds a program as execvp(3) would.
pub fn find(name: &OsStr, search: Option<&OsStr>) -> Result<PathBuf, Failure> {
    let direct = Path::new(name);
    // `.` and `..` are folders here, as a user means them, and not folders of the search path.
    let named = matches!(direct.components().next_back(), Some(Component::Normal(_)));
    let candidates: Vec<PathBuf> = if direct.components().count() > 1 || !named {
        vec![direct.to_owned()]
    } else {
        let path = search.unwrap_or(OsStr::new("/usr/local/bin:/bin:/usr/bin"));
        std::env::split_paths(path).map(|directory| directory.join(direct)).collect()
    };
    let mut refused = None;
    for candidate in candidates {
        match fs::metadata(&candidate) {
            Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => return Ok(candidate),
            Ok(found) if found.is_dir() => refused = Some(format!("{} is a directory", candidate.display())),
            Ok(_) => refused = Some(format!("{} is not executable", candidate.display())),
            Err(_) => {}
        }
    }
    Err(match refused {
        Some(why) => Failure::new(NOT_EXECUTABLE, why),
        None if direct.is_file() => Failure::new(
            NOT_FOUND,
            format!("{0} is not in PATH; to run the file here, write ./{0}", direct.display()),
        ),
        None => Failure::new(NOT_FOUND, format!("program not found: {}", direct.display())),
    })
}

fn linkage(path: &Path, bytes: &[u8], ours: &Libraries) -> Result<Linkage, Failure> {
    let shown = path.display();
    if bytes.starts_with(b"#!") {
        // A script passes the environment on to whatever it starts.
        return Ok(Linkage::Offloads(Route::SearchPath));
    }
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(Linkage::Note(format!("{shown} is neither an ELF program nor a script")));
    }
    let broken = |error| Failure::new(NOT_EXECUTABLE, format!("{shown} is damaged: {error}"));
    if let ImageKind::Elf(elf) = gangway_image::recognise(bytes).map_err(broken)?
        && elf.machine != Machine::native()
    {
        return Err(Failure::new(NOT_EXECUTABLE, format!("{shown} is a program for {}", elf.machine)));
    }
    let needed = gangway_image::needed_libraries(bytes).map_err(broken)?;
    match needed.iter().find(|library| library.starts_with("libomptarget.so")) {
        Some(&library) if ours.runtime.join(library).exists() => {
            Ok(Linkage::Offloads(route(path, bytes, &ours.runtime.join(library))?))
        }
        Some(library) => Err(Failure::new(
            NOT_STARTED,
            format!(
                "{shown} is linked with {library}, which Gangway does not replace: it runs programs of LLVM {}; \
                 build it with one of these",
                library::listed(&library::releases(&ours.runtime))
            ),
        )),
        None if needed.is_empty() => Ok(Linkage::Note(format!(
            "{shown} is statically linked, so Gangway has no part in it; link it dynamically"
        ))),
        // Most programs load the driver while they run, so what they are linked with tells little.
        None if let Some(driver) = &ours.driver => {
            Ok(Linkage::Offloads(route(path, bytes, &driver.join(LIBCUDA))?))
        }
        None if needed.iter().any(|library| library.starts_with("libgomp.so")) => Ok(Linkage::Note(format!(
            "{shown} was built by GCC and uses libgomp; if it offloads to GPUs, run it with --device vgpu"
        ))),
        None => Ok(Linkage::Note(format!(
            "{shown} is not linked with libomptarget; Gangway takes part only in libraries that it loads \
             (build with: gangway cc -fopenmp)"
        ))),
    }
}

/// Whose GPUs an image with a triple is for, if it is for GPUs.
fn maker(triple: &str) -> Option<Maker> {
    let makers = [("nvptx", Maker::Nvidia), ("amdgcn", Maker::Amd)];
    makers.into_iter().find(|(start, _)| triple.starts_with(start)).map(|(_, maker)| maker)
}

/// Whether none but GPUs can run the regions of a program, besides the host.
fn needs_gpu(contents: &Contents<'_>, gcc: bool) -> Option<Maker> {
    let ours = |producer: &Producer| match producer {
        Producer::Clang(_) => true,
        Producer::Gcc(_) => gcc,
        _ => false,
    };
    let images = contents.images.iter().filter(|image| ours(&image.producer));
    let makers: Option<Vec<Maker>> = images.map(|image| image.triple.and_then(maker)).collect();
    // With code for both it is NVIDIA's that is looked for.
    makers?.into_iter().min()
}

/// Whose GPUs all images are for. Libgomp numbers devices of all makers, with images or without, NVIDIA's first.
fn only_maker(contents: &Contents<'_>) -> Option<Maker> {
    let makers: Option<Vec<Maker>> =
        contents.images.iter().map(|image| image.triple.and_then(maker)).collect();
    let makers = makers?;
    makers.first().copied().filter(|first| makers.iter().all(|maker| maker == first))
}

/// The processor without what it is to do besides (`:xnack-`).
fn amd_processor(contents: &Contents<'_>) -> Option<String> {
    let is_amds = |image: &&Image<'_>| image.triple.and_then(maker) == Some(Maker::Amd);
    let image = contents.images.iter().find(is_amds)?;
    // GCC's tables do not say it; the code does.
    let processor = gangway_image::recognise(image.parts.first()?).ok()?.processor()?;
    Some(processor.split(':').next()?.to_owned())
}

/// LD_LIBRARY_PATH comes before a RUNPATH but after an RPATH, and an RPATH counts only
/// without a RUNPATH (ld.so(8)).
fn route(path: &Path, bytes: &[u8], library: &Path) -> Result<Route, Failure> {
    let (Some(rpath), None) = gangway_image::search_paths(bytes)? else {
        return Ok(Route::SearchPath);
    };
    let origin = path.canonicalize().ok();
    let origin = origin.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let wins = rpath.split(':').map(|entry| {
        let origin = origin.to_string_lossy();
        PathBuf::from(entry.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin))
    });
    let name = library.file_name().unwrap_or_default();
    let winner = wins.into_iter().find(|directory| directory.join(name).exists());
    let library = library.to_owned();
    Ok(winner.map_or(Route::SearchPath, |rpath| Route::Preload { rpath, library }))
}
