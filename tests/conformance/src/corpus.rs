//! Finds the programs of the suite.
//!
//! Called once by the test target. A program is a source file directly in
//! `programs/{c,cxx,fortran}`; files in `programs/support` (OMPT tools, shared
//! libraries that a program opens) belong to the program whose header names them.
//!
//! Never filters: what is in the directories is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::header::Header;
use crate::toolchain::Language;

/// One program of the suite, with its directives read.
#[derive(Debug, Clone)]
pub struct Program {
    /// `c/map_to_from`: directory and file stem, the test's name without its level.
    pub name: String,
    pub source: PathBuf,
    pub language: Language,
    pub header: Header,
}

impl Program {
    /// The file beside the source that holds the output asked for, where there is one.
    pub fn expected_output(&self) -> PathBuf {
        self.source.with_extension("expected")
    }
}

/// The directory that holds the programs of this crate.
pub fn programs_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// The directory that holds shared libraries and OMPT tools which headers name.
pub fn support_directory() -> PathBuf {
    programs_directory().join("support")
}

/// Every program under `root`, ordered by name.
///
/// An unreadable directory or a header that does not parse is an error with the
/// file's name: a typing error in a directive must not turn a check off.
pub fn programs(root: &Path) -> Result<Vec<Program>, String> {
    let mut found = Vec::new();
    for (directory, language) in Language::DIRECTORIES {
        let path = root.join(directory);
        let sources = sources_in(&path, language).map_err(|error| format!("{}: {error}", path.display()))?;
        for source in sources {
            let text =
                fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
            let header = Header::parse(&text, language.comment())
                .map_err(|error| format!("{}: {error}", source.display()))?;
            let stem = source.file_stem().unwrap_or_default().to_string_lossy();
            found.push(Program { name: format!("{directory}/{stem}"), source, language, header });
        }
    }
    Ok(found)
}

fn sources_in(directory: &Path, language: Language) -> io::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == language.extension()) {
            sources.push(path);
        }
    }
    sources.sort();
    Ok(sources)
}
