//! Source of OpenMP that clang lacks, made into source that clang has.
//!
//! `gangway cc` and `gangway c++` call [`translate`] for each file. A file without such
//! directives is left alone after a look at its text ([`concerns`]). The steps of the others:
//!
//! 1. [`pragma`] and [`clause`] find and read the directives, out of the [`lexer`]'s tokens.
//! 2. [`buffer`] puts a statement in the place of each directive that holds its expressions,
//!    so that libclang, which would reject the directive, parses the file ([`ast`]).
//! 3. [`region`] asks the tree for the block, the variables that it uses, and their types.
//! 4. [`capture`] decides how each variable reaches the host.
//! 5. [`emit`] writes the call and the host's function, and [`outline`] puts them in place: in C
//!    behind the function that holds the region. In C++ the region stays ([`emit_cxx`]).
//!
//! | Module | What is in it |
//! |---|---|
//! | `error` | errors |
//! | `lexer` | tokens |
//! | `ast` | the tree of a file, from libclang |
//! | `buffer` | a file with statements in the place of directives |
//! | `scan` | where `scan` stands in regions for devices |
//! | `pragma` | directives |
//! | `clause` | what they say |
//! | `variable` | the variables of a region, and their types |
//! | `offload` | regions for devices |
//! | `region` | the block of a directive |
//! | `capture` | how variables reach the host |
//! | `emit` | the call and the host's function |
//! | `emit_cxx` | the same for C++ |
//! | `outline` | both in their places |
//! | `surroundings` | what stands around a region |
//! | `openacc` | OpenACC, which is a translation of its own |
//!
//! Lines stay the user's: what clang says of the result has the lines of the file.
#![deny(unsafe_code)]

mod ast;
mod buffer;
mod capture;
mod clause;
mod emit;
mod emit_cxx;
mod error;
mod lexer;
mod offload;
pub mod openacc;
mod outline;
mod pragma;
mod region;
mod scan;
mod surroundings;
mod variable;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::Error;

use ast::{Unit, Unsaved};
use outline::Source;

/// One call of a compiler for one file.
#[derive(Debug)]
pub struct Request<'r> {
    /// The compiler and its arguments, as they concern parsing; the file is among them.
    pub arguments: Vec<Vec<u8>>,
    /// The file, as the arguments name it.
    pub file: &'r Path,
    pub is_cxx: bool,
    /// What tells this compilation from others of one program.
    pub identity: u64,
}

/// A file to be compiled in the place of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    pub file: PathBuf,
    pub text: Vec<u8>,
}

/// Headers that include each other need another look; more than this is no program.
const LOOKS: usize = 16;

/// A hash that stays the same from run to run, for [`Request::identity`].
#[must_use]
pub fn identity(bytes: &[u8]) -> u64 {
    // FNV-1a: no hasher of the standard library promises to stay.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Whether a file, or a header of the user's that it names, may have a directive; parses
/// nothing. `folders` are where the compiler looks for headers.
#[must_use]
pub fn concerns(file: &Path, folders: &[PathBuf]) -> bool {
    visit(file, folders, |_, text| if pragma::may_concern(text) { Some(()) } else { None }).is_some()
}

/// Where a file, or a header of the user's that it names, has `scan` in a region for devices: files and
/// lines. Parses nothing.
#[must_use]
pub fn scans(file: &Path, folders: &[PathBuf]) -> Vec<(PathBuf, usize)> {
    let mut found = Vec::new();
    let _: Option<()> = visit(file, folders, |file, text| {
        found.extend(scan::lines(text).into_iter().map(|line| (file.to_owned(), line)));
        None
    });
    found
}

/// Reads a file and the headers of the user's that it names, until there is an answer.
fn visit<T>(file: &Path, folders: &[PathBuf], mut look: impl FnMut(&Path, &[u8]) -> Option<T>) -> Option<T> {
    let mut looked_at: Vec<PathBuf> = Vec::new();
    let mut open = vec![file.to_owned()];
    while let Some(file) = open.pop() {
        if looked_at.contains(&file) {
            continue;
        }
        let Ok(text) = fs::read(&file) else { continue };
        if let Some(answer) = look(&file, &text) {
            return Some(answer);
        }
        let beside = file.parent().unwrap_or(Path::new("")).to_owned();
        for name in pragma::included(&text) {
            let places = std::iter::once(&beside).chain(folders).map(|folder| folder.join(&name));
            open.extend(places.filter(|place| place.is_file()).take(1));
        }
        looked_at.push(file);
    }
    None
}

/// Translates a file, and what it includes: nothing, if none has a directive that the preprocessor leaves.
///
/// # Errors
/// What is wrong with the source, or with libclang.
pub fn translate(request: &Request<'_>) -> Result<Vec<Translated>, Error> {
    let mut sources: Vec<Source> = Vec::new();
    let mut looked_at = vec![request.file.to_owned()];
    sources.extend(read(request.file)?);
    for _ in 0..LOOKS {
        let unsaved: Vec<Unsaved<'_>> =
            sources.iter().map(|source| Unsaved { file: &source.file, text: &source.buffer.text }).collect();
        let unit = Unit::parse(&request.arguments, &unsaved)?;
        let mut found = Vec::new();
        for (file, system) in unit.files() {
            if !system && !looked_at.contains(&file) {
                found.extend(read(&file)?);
                looked_at.push(file);
            }
        }
        if !found.is_empty() {
            sources.extend(found);
            continue;
        }
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        if unit.errors().is_some()
            && let Some(errors) = Unit::parse(&with_openmp(&request.arguments), &unsaved)?.errors()
        {
            return Err(sources
                .iter()
                .find_map(Source::outside_of_functions)
                .unwrap_or(Error::Clang(errors)));
        }
        return sources.iter().filter_map(|source| source.translate(&unit, request).transpose()).collect();
    }
    Err(Error::Library("headers with reverse offload include each other without end".to_owned()))
}

/// Variants of functions clash without OpenMP, which libclang is not told of for the tree. So
/// errors are only those that there are with OpenMP, too.
fn with_openmp(arguments: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut arguments = arguments.to_vec();
    arguments.insert(1, b"-fopenmp".to_vec());
    arguments.insert(2, b"-Wno-builtin-macro-redefined".to_vec());
    arguments
}

/// A file, if it has a directive.
fn read(file: &Path) -> Result<Option<Source>, Error> {
    let text = fs::read(file).map_err(|error| Error::File(format!("{}: {error}", file.display())))?;
    if !pragma::may_concern(&text) {
        return Ok(None);
    }
    Source::read(file.to_owned(), text)
}
