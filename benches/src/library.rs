//! Which libomptarget a program runs on: the environment that selects it, and
//! the proof that the loader took it.
//!
//! Used by `main.rs` (choice) and `measure.rs` (environment). It must never
//! let a measurement start on a library other than the one asked for.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use gangway_bench::process::undisturbed;

const SONAME: &str = "libomptarget.so.22.1";

pub enum Library {
    /// What the loader finds by itself.
    Stock,
    /// Gangway's, in this folder.
    Gangway(PathBuf),
}

impl Library {
    pub fn stock() -> Self {
        Library::Stock
    }

    pub fn gangway(folder: &Path) -> Result<Self> {
        let library = folder.join(SONAME);
        if !library.exists() {
            bail!(
                "{} does not exist: build it with `make build`, or measure the stock library alone with --stock-only",
                library.display()
            );
        }
        Ok(Library::Gangway(folder.canonicalize()?))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Library::Stock => "stock",
            Library::Gangway(_) => "Gangway",
        }
    }

    /// A command whose environment selects this library and nothing else.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = undisturbed(program);
        if let Library::Gangway(folder) = self {
            command.env("LD_LIBRARY_PATH", folder);
        }
        command
    }

    /// Asks the loader itself which file it takes for this binary.
    pub fn verify(&self, binary: &Path) -> Result<()> {
        let output = self
            .command(binary)
            .env("LD_TRACE_LOADED_OBJECTS", "1")
            .output()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let listing = String::from_utf8_lossy(&output.stdout);
        let Some(path) = loaded_path(&listing) else {
            bail!("{} does not load {SONAME}:\n{listing}", binary.display());
        };
        let ours = match self {
            Library::Stock => None,
            Library::Gangway(folder) => Some(folder.join(SONAME)),
        };
        match ours {
            Some(wanted) if path != wanted => {
                bail!("the loader took {} instead of {}", path.display(), wanted.display())
            }
            None if path.to_string_lossy().contains("gangway") => bail!(
                "the loader takes {} as the stock library: is Gangway's folder in the loader's search path?",
                path.display()
            ),
            _ => Ok(()),
        }
    }
}

/// The path in a line such as `libomptarget.so.22.1 => /lib/... (0x...)`.
fn loaded_path(listing: &str) -> Option<PathBuf> {
    listing.lines().find_map(|line| {
        let (name, rest) = line.trim().split_once(" => ")?;
        if name != SONAME {
            return None;
        }
        let (path, _address) = rest.rsplit_once(" (")?;
        Some(PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_loaders_listing() {
        let listing = "\tlibomp.so.5 => /lib/libomp.so.5 (0x1)\n\
                       \tlibomptarget.so.22.1 => /opt/a b/libomptarget.so.22.1 (0x2)\n";
        assert_eq!(loaded_path(listing), Some(PathBuf::from("/opt/a b/libomptarget.so.22.1")));
        assert_eq!(loaded_path("\tlibomptarget.so.22.1 => not found\n"), None);
    }
}
