//! `gangway run`: executes a program with Gangway's library in front of the stock one.
//!
//! The program replaces this process, so signals, terminal and exit status are its own
//! without anything in between. Only with `--check` this process stays, to tell by its exit status what was found.

use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::Run;
use crate::checks::{self, Checks, Wanted};
use crate::environment::{self, prepended, search_path};
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE, NOT_FOUND, Outcome};
use crate::library::{self, Libraries};
use crate::program::{self, Route};
use crate::variables;

pub fn run(options: &Run) -> Outcome {
    variables::warn_of_misspelt();
    // What is asked for is settled before anything is said of the program.
    let settings = environment::variables(&options.settings)?;
    let file = |option: &Option<PathBuf>| -> Result<Option<PathBuf>, Failure> {
        option.as_deref().map(environment::writable).transpose().map(|file| file.map(PathBuf::from))
    };
    let wanted = Wanted {
        status: options.check_exit.unwrap_or(FAILURE),
        sarif: file(&options.sarif)?,
        page: file(&options.check_page)?,
    };
    let device = options.settings.device.as_deref();
    let mut libraries = library::for_device(device)?;
    let [name, arguments @ ..] = &options.command[..] else {
        unreachable!("the command line demands a program");
    };
    let path = env::var_os("PATH");
    let program = program::examine(name, path.as_deref(), &libraries, options.gcc_runtime, device)?;
    for note in program.note.iter().chain(&program.libomp) {
        eprintln!("gangway: note: {note}");
    }
    let chosen = device.is_some() || env::var_os("GANGWAY_DEVICE").is_some();
    if let Some(maker) = program.needs_gpu.filter(|maker| !chosen && !library::has_gpu(*maker)) {
        eprintln!(
            "gangway: note: the program is for {} GPUs, and there is none: it runs on the virtual one (--device vgpu \
             says so without this note)",
            maker.whose()
        );
        libraries = libraries.with_virtual_gpu()?;
    }
    let mut command = Command::new(&program.path);
    // The program sees the name that the user typed, as if started by the shell.
    command.arg0(name).args(arguments);
    command.envs(settings);
    let path = env::var_os("LD_LIBRARY_PATH");
    command.env("LD_LIBRARY_PATH", prepended(&search_path(&libraries), path.as_deref()));
    let mut preloaded = Vec::new();
    if let Route::Preload { rpath, library } = &program.route {
        eprintln!(
            "gangway: note: the program's RPATH leads to another {} in {}; \
             loading {} before it with LD_PRELOAD",
            library::stem(library),
            rpath.display(),
            library.display()
        );
        preloaded.push(library.clone());
    }
    command.envs(environment::for_virtual_gpu(&libraries));
    if libraries.driver.is_some() {
        // The program takes the place of this process, and so its number.
        command.env("GANGWAY_VGPU_PROGRAM", std::process::id().to_string());
        // The virtual AMD GPU is what the program's code is for, unless the user says otherwise.
        if let (Some(processor), None) = (&program.amd_processor, env::var_os(PROCESSOR)) {
            command.env(PROCESSOR, processor);
        }
    }
    if let (Some(maker), true, None) = (program.only_maker, libraries.driver.is_some(), env::var_os(MAKERS)) {
        command.env(MAKERS, maker.name());
    }
    preloaded.extend(program.libgomp_front);
    let mut list: Vec<&OsStr> = preloaded.iter().map(|library| preloadable(library)).collect();
    let inherited = env::var_os("LD_PRELOAD").filter(|list| !list.is_empty());
    list.extend(inherited.as_deref());
    let ending = if wants_ending(options, &libraries) { Some(library::ending()?) } else { None };
    // Last: sanitizers insist on being first.
    list.extend(ending.as_deref().map(preloadable));
    let hears = options.settings.check.is_some_and(Checks::hear_the_host);
    let host_access = if hears { Some(library::host_access()?) } else { None };
    list.extend(host_access.as_deref().map(preloadable));
    if !list.is_empty() {
        // Found as the program's own: by its RPATH, too.
        list.splice(0..0, program.sanitizer.as_deref().map(OsStr::new));
        command.env("LD_PRELOAD", list.join(OsStr::new(":")));
    }
    let error = match options.settings.check {
        Some(_) => match checks::run(command, &wanted) {
            Ok(outcome) => return outcome,
            Err(error) => error,
        },
        None => command.exec(),
    };
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    // The file is there, so this is its interpreter or loader.
    let hint = if code == NOT_FOUND { " (its interpreter or loader is missing)" } else { "" };
    Err(Failure::new(code, format!("cannot execute {}: {error}{hint}", program.path.display())))
}

/// What says whose virtual GPUs there are.
const MAKERS: &str = "GANGWAY_VGPU_MAKERS";

/// What says which processor the virtual AMD GPU has.
const PROCESSOR: &str = "GANGWAY_VGPU_PROCESSOR";

/// A library as LD_PRELOAD can name it. The loader takes a space for the end of a name and knows no
/// quotes; without its folder the library is found by LD_LIBRARY_PATH, which has that folder.
fn preloadable(library: &Path) -> &OsStr {
    let spaced = library.as_os_str().as_encoded_bytes().contains(&b' ');
    library.file_name().filter(|_| spaced).unwrap_or(library.as_os_str())
}

/// Reports and traces are to be written at whatever end, and a program that has no use for the
/// virtual GPU is to be told so.
fn wants_ending(options: &Run, libraries: &Libraries) -> bool {
    let asked = ["GANGWAY_REPORT", "GANGWAY_TRACE"].iter().any(|name| env::var_os(name).is_some());
    asked || options.settings.wants_recording() || libraries.driver.is_some()
}
