//! Where Gangway's own libraries are.

use std::env;
use std::path::{Path, PathBuf};

use crate::exit::{Failure, NOT_STARTED};

/// The library that takes the stock one's place; clang-22's programs ask for this name.
pub const LIBOMPTARGET: &str = "libomptarget.so.22.1";

/// The directory with our libraries: `GANGWAY_LIBDIR`, or `../lib/gangway` beside the
/// directory of this program.
pub fn directory() -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os("GANGWAY_LIBDIR").filter(|named| !named.is_empty()) {
        let directory = std::path::absolute(PathBuf::from(named))?;
        return checked(directory, "GANGWAY_LIBDIR names it");
    }
    // The link in a bin directory may point to where the package really is.
    let program = env::current_exe().and_then(|program| program.canonicalize())?;
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    checked(prefix.join("lib/gangway"), "install Gangway, or set GANGWAY_LIBDIR")
}

fn checked(directory: PathBuf, hint: &str) -> Result<PathBuf, Failure> {
    if directory.join(LIBOMPTARGET).is_file() {
        return Ok(directory);
    }
    let directory = directory.display();
    Err(Failure::new(NOT_STARTED, format!("there is no {LIBOMPTARGET} in {directory} ({hint})")))
}
