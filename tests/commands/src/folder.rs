//! A temporary folder in which a test works.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{Ran, Run};

/// It vanishes with what is in it.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

// Whoever calls these is a test, which ends where a file cannot be had.
#[allow(clippy::missing_panics_doc)]
impl Folder {
    #[must_use]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room for a folder"))
    }

    #[must_use]
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.join(name)
    }

    /// Writes a file; a folder that it is in is made, if there is none.
    #[track_caller]
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().expect("it is in this folder")).unwrap();
        fs::write(&file, content).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }

    /// Writes a file that can be executed.
    #[track_caller]
    pub fn script(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        self.write(&name, content);
        fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[must_use]
    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let file = self.path(name);
        fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    #[must_use]
    #[track_caller]
    pub fn text(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Runs a tool here, which has to succeed.
    #[track_caller]
    pub fn tool(&self, tool: &str, arguments: &[&str]) -> Ran {
        Command::new(tool).current_dir(&**self).args(arguments).run().succeeded()
    }
}
