//! Where Gangway's own libraries are.

use std::env;
use std::path::{Path, PathBuf};

use crate::exit::{Failure, NOT_STARTED};

/// The library that takes the stock one's place; clang-22's programs ask for this name.
pub const LIBOMPTARGET: &str = "libomptarget.so.22.1";

/// What programs that use a CUDA device load.
pub const LIBCUDA: &str = "libcuda.so.1";

/// The name of the virtual GPU among devices.
pub const VGPU: &str = "vgpu";

/// What takes a library's place in a program, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    pub directory: PathBuf,
    pub name: &'static str,
}

impl Library {
    /// Its name without version.
    pub fn stem(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }
}

/// The library that a program for `device` gets.
pub fn for_device(device: Option<&str>) -> Result<Library, Failure> {
    if device != Some(VGPU) {
        return Ok(Library { directory: directory()?, name: LIBOMPTARGET });
    }
    // A directory of its own: only who asks for it gets another libcuda.
    let (directory, hint) = located()?;
    checked(directory.join(VGPU), LIBCUDA, hint).map(|directory| Library { directory, name: LIBCUDA })
}

/// The directory with our libraries: `GANGWAY_LIBDIR`, or `../lib/gangway` beside the
/// directory of this program.
pub fn directory() -> Result<PathBuf, Failure> {
    let (directory, hint) = located()?;
    checked(directory, LIBOMPTARGET, hint)
}

fn located() -> Result<(PathBuf, &'static str), Failure> {
    if let Some(named) = env::var_os("GANGWAY_LIBDIR").filter(|named| !named.is_empty()) {
        let directory = std::path::absolute(PathBuf::from(named))?;
        return Ok((directory, "GANGWAY_LIBDIR names it"));
    }
    // The link in a bin directory may point to where the package really is.
    let program = env::current_exe().and_then(|program| program.canonicalize())?;
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    Ok((prefix.join("lib/gangway"), "install Gangway, or set GANGWAY_LIBDIR"))
}

fn checked(directory: PathBuf, library: &str, hint: &str) -> Result<PathBuf, Failure> {
    if directory.join(library).is_file() {
        return Ok(directory);
    }
    let directory = directory.display();
    Err(Failure::new(NOT_STARTED, format!("there is no {library} in {directory} ({hint})")))
}
