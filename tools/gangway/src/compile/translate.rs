//! Files with what clang lacks: translated first, and then compiled under their own names.
//!
//! clang reads the result through an overlay of the file system, so that a file's name, its
//! neighbours, dependency files and debug information stay what they are. The result lives
//! in a folder of its own until clang has ended.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Write, stderr, stdout};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_translator::{Translated as File, concerns, identity, scans, translate};

use super::Language;
use super::compiler::Compiler;
use super::request::{Request, takes_value};
use super::toolkit::Toolkit;
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE, Outcome, SUCCESS, of_program};
use crate::scratch::Scratch;

/// Options that name folders of headers: attached, or in the word behind them.
const FOLDERS: [&str; 4] = ["-I", "-isystem", "-iquote", "-idirafter"];

/// What clang-22 defines `_OPENMP` as, and what with a version of `-fopenmp-version`.
const OPENMP: u32 = 202_011;
const OPENMP_OF: [(&str, u32); 5] =
    [("45", 201_511), ("50", 201_811), ("51", 202_011), ("52", 202_111), ("60", 202_411)];
/// What clang says nothing of without `-fopenmp`, which is left out.
const OPENMP_VERSION: &str = "-fopenmp-version=";

/// What parsing has no use for, with the words behind it that are its own.
const UNUSED: [(&str, usize); 17] = [
    ("-###", 0),
    ("-save-temps", 0),
    ("--save-temps", 0),
    ("-c", 0),
    ("-S", 0),
    ("-E", 0),
    ("-M", 0),
    ("-MM", 0),
    ("-MD", 0),
    ("-MMD", 0),
    ("-MP", 0),
    ("-o", 1),
    ("-MF", 1),
    ("-MT", 1),
    ("-MQ", 1),
    ("-MJ", 1),
    ("-Xlinker", 1),
];

/// The same, of options with something behind them.
const UNUSED_PREFIXES: [&str; 9] = [
    "-fopenmp-targets=",
    "--offload-arch=",
    "--llvm=",
    "-Wl,",
    "-l",
    "-L",
    "-MF",
    "-save-temps=",
    "--save-temps=",
];

/// What a call of the compiler says, as far as parsing is concerned.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub sources: Vec<(PathBuf, bool)>,
    pub folders: Vec<PathBuf>,
    pub arguments: Vec<OsString>,
}

impl Reading {
    pub fn of(language: Language, words: &[OsString]) -> Self {
        // Of what only code or a link needs libclang would say that nothing uses it.
        let mut reading = Self { arguments: vec!["-Qunused-arguments".into()], ..Self::default() };
        let mut chosen: Option<OsString> = None;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.to_str().unwrap_or_default();
            if !text.starts_with('-') || text == "-" {
                let is_cxx = source_language(Path::new(word), chosen.as_deref(), language);
                reading.sources.extend(is_cxx.map(|is_cxx| (word.into(), is_cxx)));
                continue;
            }
            if text == "--emit-translated" {
                continue;
            }
            if let Some((_, own)) = UNUSED.iter().find(|(unused, _)| *unused == text) {
                at += own;
                continue;
            }
            if text.starts_with("-Xopenmp-target") {
                at += 1;
                continue;
            }
            if UNUSED_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
                at += usize::from(matches!(text, "-l" | "-L"));
                continue;
            }
            let value = if takes_value(text) { words.get(at) } else { None };
            at += usize::from(value.is_some());
            if let Some(option) = FOLDERS.iter().find(|option| text.starts_with(**option)) {
                let attached = &text[option.len()..];
                let folder =
                    if attached.is_empty() { value.map(PathBuf::from) } else { Some(attached.into()) };
                reading.folders.extend(folder);
            }
            match text.strip_prefix("-x") {
                // The file's language is said in front of the file.
                Some("") => chosen = value.cloned(),
                Some(language) => chosen = Some(language.into()),
                None => {
                    reading.arguments.push(word.clone());
                    reading.arguments.extend(value.cloned());
                }
            }
        }
        reading
    }
}

/// Whether a file is C++; `None` if it is neither C nor C++.
fn source_language(file: &Path, chosen: Option<&OsStr>, language: Language) -> Option<bool> {
    match chosen.and_then(OsStr::to_str).filter(|chosen| *chosen != "none") {
        Some("c") => return Some(false),
        Some("c++") => return Some(true),
        Some(_) => return None,
        None => {}
    }
    match file.extension()?.to_str()? {
        "c" => Some(language == Language::Cxx),
        "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CPP" | "CXX" | "CC" => Some(true),
        _ => None,
    }
}

/// Files in the place of which clang reads others.
#[derive(Debug)]
pub struct Translation {
    pub(super) files: Vec<File>,
}

/// Options with which nothing is compiled, or no warning wanted.
const WITHOUT_WARNINGS: [&str; 4] = ["-w", "-E", "-M", "-MM"];

/// Warns of what clang compiles for GPUs to wrong code, without a word of its own.
pub fn warn_of_wrong_code(compiler: &Compiler, language: Language, request: &Request) {
    let quiet = |word: &OsString| WITHOUT_WARNINGS.iter().any(|option| word == option);
    if !request.openmp || language == Language::Fortran || request.words.iter().any(quiet) {
        return;
    }
    let reading = Reading::of(language, &request.words);
    for (file, line) in reading.sources.iter().flat_map(|(source, _)| scans(source, &reading.folders)) {
        // Not `eprintln`: a build system may have closed the pipe.
        let _ = writeln!(
            stderr(),
            "{}:{line}: warning: clang-{} compiles `scan` for GPUs to code with wrong results; run the loop on \
             the host",
            file.display(),
            compiler.release
        );
    }
}

/// Translates what needs it; `None` if nothing does.
pub fn translated(
    language: Language,
    compiler: &Path,
    request: &Request,
) -> Result<Option<Translation>, Failure> {
    if !request.openmp || language == Language::Fortran {
        return Ok(None);
    }
    let reading = Reading::of(language, &request.words);
    let mut files: Vec<File> = Vec::new();
    for (source, is_cxx) in &reading.sources {
        if !concerns(source, &reading.folders) {
            continue;
        }
        // libclang shows nothing of a construct's block if it knows OpenMP.
        let macro_of_openmp = format!("-D_OPENMP={}", value_of_openmp(&reading.arguments));
        let mut arguments = vec![compiler.into(), macro_of_openmp.into()];
        let openmp = |word: &&OsString| {
            let word = word.as_encoded_bytes();
            word.starts_with(b"-fopenmp") && !word.starts_with(OPENMP_VERSION.as_bytes())
        };
        arguments.extend(reading.arguments.iter().filter(|word| !openmp(word)).cloned());
        let openmp_headers = openmp_headers(compiler)?;
        let openmp_headers = openmp_headers.iter().map(|folder| folder.path().to_owned());
        let folders = std::iter::once(Toolkit::headers_of_translated()?).chain(openmp_headers);
        arguments.extend(folders.flat_map(|folder| ["-idirafter".into(), folder.into_os_string()]));
        // The compiler will warn, and of the user's text: not of what stands for constructs here.
        arguments.extend(["-w", "-x", if *is_cxx { "c++" } else { "c" }].map(OsString::from));
        arguments.push(source.into());
        let request = gangway_translator::Request {
            arguments: arguments.into_iter().map(OsString::into_encoded_bytes).collect(),
            file: source,
            is_cxx: *is_cxx,
            identity: identity_of(source, request)?,
        };
        let found = translate(&request).map_err(|error| Failure::new(FAILURE, error.to_string()))?;
        for file in found {
            // One header may have several names: by its folder's option, or beside its source.
            let place = file.file.canonicalize()?;
            let same = |known: &&File| known.file.canonicalize().is_ok_and(|known| known == place);
            match files.iter().find(same) {
                // A header of several sources: what it becomes names the source.
                Some(known) if known.text != file.text => {
                    let text = format!(
                        "{}: a header with reverse offload is included by several sources of one command; \
                         compile each with a command of its own",
                        file.file.display()
                    );
                    return Err(Failure::new(FAILURE, text));
                }
                Some(_) => {}
                None => files.push(file),
            }
        }
    }
    Ok((!files.is_empty()).then_some(Translation { files }))
}

/// What `_OPENMP` is with the last version that `arguments` ask for.
fn value_of_openmp(arguments: &[OsString]) -> u32 {
    let asked = arguments.iter().rev().find_map(|word| word.to_str()?.strip_prefix(OPENMP_VERSION));
    let known = asked.and_then(|asked| OPENMP_OF.iter().find(|(version, _)| *version == asked));
    known.map_or(OPENMP, |(_, value)| *value)
}

/// OpenMP's headers that stand among a compiler's own. libclang looks into the folder of its own release, and
/// Debian has them for one release at a time.
const OPENMP_HEADERS: [&str; 3] = ["omp.h", "ompx.h", "omp-tools.h"];

/// A folder with a compiler's headers of OpenMP and no other: those of two releases include each other.
fn openmp_headers(compiler: &Path) -> Result<Option<Scratch>, Failure> {
    let Some(folder) = headers_of(compiler) else { return Ok(None) };
    let linked = Scratch::new()?;
    for name in OPENMP_HEADERS.into_iter().filter(|name| folder.join(name).is_file()) {
        symlink(folder.join(name), linked.path().join(name))?;
    }
    Ok(Some(linked))
}

/// The folder of a compiler's own headers that has `omp.h`.
fn headers_of(compiler: &Path) -> Option<PathBuf> {
    let releases = compiler.canonicalize().ok()?.parent()?.parent()?.join("lib/clang");
    let folders = fs::read_dir(releases).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("include")));
    let mut with_header: Vec<PathBuf> = folders.filter(|folder| folder.join("omp.h").is_file()).collect();
    with_header.sort();
    with_header.pop()
}

/// Two compilations of one source may be parts of one program: what they are made with differs.
pub(super) fn identity_of(source: &Path, request: &Request) -> Result<u64, Failure> {
    let mut bytes = std::path::absolute(source)?.into_os_string().into_encoded_bytes();
    for word in &request.words {
        bytes.push(0);
        bytes.extend_from_slice(word.as_encoded_bytes());
    }
    Ok(identity(&bytes))
}

/// Prints what clang gets instead of the sources.
pub fn print(language: Language, compiler: &Path, request: &Request) -> Outcome {
    let translation = translated(language, compiler, request)?;
    let mut out = stdout().lock();
    for (source, _) in Reading::of(language, &request.words).sources {
        let found = translation.iter().flat_map(|all| &all.files).find(|file| file.file == source);
        match found {
            Some(file) => out.write_all(&file.text)?,
            None => out.write_all(&fs::read(&source)?)?,
        }
    }
    Ok(SUCCESS)
}

impl Translation {
    /// Runs the compiler, to which all but the user's arguments have been given: these are given, too.
    pub fn compile(self, mut command: Command, rest: &[OsString]) -> Outcome {
        let folder = Scratch::new()?;
        let mut roots = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let place = folder.path().join(number.to_string());
            fs::write(&place, &file.text)?;
            let name = std::path::absolute(&file.file)?;
            let (Some(name), Some(place)) = (name.to_str(), place.to_str()) else {
                let text = format!("{}: the name is not UTF-8", file.file.display());
                return Err(Failure::new(FAILURE, text));
            };
            roots.push(serde_json::json!({ "type": "file", "name": name, "external-contents": place }));
        }
        let overlay = serde_json::json!({
            "version": 0, "case-sensitive": "true", "use-external-names": "false", "roots": roots,
        });
        let place = folder.path().join("overlay.yaml");
        fs::write(&place, overlay.to_string())?;
        command.arg("-ivfsoverlay").arg(place);
        // Regions of the host's in functions that are declared for devices use what is not.
        command.arg("-Wno-openmp-target");
        let program = command.get_program().to_owned();
        // Devices do not get the regions of C++, so what only these use is unused there.
        let devices = ["-Xarch_device", "-D__GANGWAY_DEVICE__", "-Xarch_device", "-Wno-unused"];
        let status = command.args(rest).args(devices).status().map_err(|error| {
            let program = program.display();
            Failure::new(NOT_EXECUTABLE, format!("cannot execute {program}: {error}"))
        })?;
        folder.close()?;
        Ok(of_program(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_macro_is_of_the_version_that_is_asked_for() {
        let of = |line: &str| value_of_openmp(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("-O2 -fopenmp"), OPENMP);
        assert_eq!(of("-fopenmp-version=60 -fopenmp-version=52 -O2"), 202_111);
        assert_eq!(of("-fopenmp-version=99"), OPENMP);
    }

    #[test]
    fn the_header_is_the_compilers() {
        let folder = tempfile::tempdir().unwrap();
        let of = |release: &str| folder.path().join("lib/clang").join(release).join("include");
        let compiler = folder.path().join("bin/clang");
        for made in [of("21"), of("20"), folder.path().join("bin")] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(&compiler, "").unwrap();
        assert!(openmp_headers(&compiler).unwrap().is_none());
        for name in ["omp.h", "stdatomic.h"] {
            fs::write(of("21").join(name), name).unwrap();
        }
        let headers = openmp_headers(&compiler).unwrap().unwrap();
        assert_eq!(fs::read_to_string(headers.path().join("omp.h")).unwrap(), "omp.h");
        assert_eq!(fs::read_dir(headers.path()).unwrap().count(), 1, "headers of two releases do not mix");
        assert!(openmp_headers(&folder.path().join("bin/none")).unwrap().is_none());
    }
}
