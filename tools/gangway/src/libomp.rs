//! The libomp that programs of clang's get: threads, tasks and allocators are its own.
//!
//! Debian's `libomp-22-dev` has no libomp of its own and brings an older one. clang-22's `omp.h` has another
//! number for `omp_default_mem_space`, at which that one ends the program. The library's own constant
//! of that name tells.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};
use serde::Serialize;

use crate::library::release;

const LIBOMP: &str = "libomp.so.5";
const CONSTANT: &str = "omp_default_mem_space";
/// Its number since [`NUMBER_SINCE`], as `omp.h` of clang-22 has it. Before it was 0.
const NUMBER: u64 = 99;
const NUMBER_SINCE: u32 = 20;
/// What a program calls that gives the number to libomp.
const TAKES_IT: &str = "omp_init_allocator";
/// Where Debian's `ldconfig` is, which an ordinary user's search path lacks.
const LDCONFIG: [&str; 2] = ["/sbin/ldconfig", "/usr/sbin/ldconfig"];

/// A library that was found.
#[derive(Debug, Serialize)]
pub struct Libomp {
    path: PathBuf,
    /// LLVM's, as the library's folder or name says it.
    version: Option<u32>,
    /// What does not work with it, and what helps.
    pub problem: Option<String>,
}

impl Libomp {
    /// What the loader finds for a program with these folders of its own.
    pub fn find(folders: &[PathBuf]) -> Option<Self> {
        let searched = env::var_os("LD_LIBRARY_PATH");
        let searched = searched.iter().flat_map(env::split_paths).filter(|folder| folder.is_absolute());
        let mut all = folders.iter().cloned().chain(searched).map(|folder| folder.join(LIBOMP));
        let path = all.find(|path| path.is_file()).or_else(in_cache)?.canonicalize().ok()?;
        let version = version(&path);
        let problem = (number(&path)? != NUMBER).then(|| {
            format!(
                "it ends programs of clang-22 that make allocators of {CONSTANT} (\"Assertion failure at \
                 kmp_alloc.cpp\"); the package libomp5-22 of apt.llvm.org has the one that fits (Debian's \
                 libomp-22-dev brings this one)"
            )
        });
        Some(Self { path, version, problem })
    }

    /// A problem that a program has with it.
    pub fn note(program: &Path, bytes: &[u8]) -> Option<String> {
        let needed = gangway_image::needed_libraries(bytes).ok()?;
        // What `omp.h` of older releases says is an older library's number.
        if needed.iter().filter_map(|library| release(library)).any(|release| release < NUMBER_SINCE) {
            return None;
        }
        let file = needed.contains(&LIBOMP).then(|| object::File::parse(bytes).ok())??;
        let mut symbols = file.dynamic_symbols();
        symbols.find(|symbol| symbol.is_undefined() && symbol.name() == Ok(TAKES_IT))?;
        let (rpath, runpath) = gangway_image::search_paths(bytes).ok()?;
        let origin = program.canonicalize().ok()?.parent()?.to_string_lossy().into_owned();
        let own = rpath.into_iter().chain(runpath).flat_map(|list| list.split(':'));
        let own = own.map(|one| one.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin).into());
        let found = Self::find(&own.collect::<Vec<PathBuf>>())?;
        found.problem.as_ref().map(|problem| format!("the program gets {}: {problem}", found.shown()))
    }

    /// `libomp 19 (/usr/lib/llvm-19/lib/libomp.so.5)`
    pub fn shown(&self) -> String {
        let version = self.version.map_or("of unknown version".to_owned(), |version| version.to_string());
        format!("libomp {version} ({})", self.path.display())
    }
}

/// What the loader knows by name.
fn in_cache() -> Option<PathBuf> {
    let ldconfig = LDCONFIG.into_iter().find(|program| Path::new(program).is_file())?;
    let listed = Command::new(ldconfig).arg("-p").output().ok()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut lines = listed.lines().filter(|line| line.split_whitespace().next() == Some(LIBOMP));
    lines.find_map(|line| Some(PathBuf::from(line.split_once(" => ")?.1))).filter(|path| path.is_file())
}

/// `llvm-19` in the name of a folder, or `libomp-19.so.5`.
fn version(path: &Path) -> Option<u32> {
    let names = path.iter().rev().filter_map(|name| name.to_str());
    names
        .filter_map(|name| name.strip_prefix("llvm-").or_else(|| name.strip_prefix("libomp-")))
        .find_map(|rest| rest.split('.').next()?.parse().ok())
}

/// The library's own number of the default memory space.
fn number(path: &Path) -> Option<u64> {
    let bytes = fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let symbol = file.dynamic_symbols().find(|symbol| symbol.name() == Ok(CONSTANT))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let value = object::ObjectSection::data_range(&section, symbol.address(), 8).ok()??;
    Some(u64::from_le_bytes(value.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (path, shown) in [
            ("/usr/lib/llvm-19/lib/libomp.so.5", Some(19)),
            ("/opt/libomp-22.so.5", Some(22)),
            ("/usr/lib/llvm-23.1/lib/libomp.so.5", Some(23)),
            ("/opt/lib/libomp.so.5", None),
        ] {
            assert_eq!(version(Path::new(path)), shown, "{path}");
        }
    }
}
