//! The work tree, and its files: errors name the path that they are about.

use crate::Result;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

/// The file that a tree of this project has at its root.
const MARK: &str = "xtask/Cargo.toml";

/// The root of the tree: the one whose cargo runs this program, otherwise the one around the
/// current folder. It is not where this program was compiled: trees are copied and moved.
pub fn root() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current = env::current_dir().map_err(|error| format!("the current folder is gone: {error}"))?;
    let folder = cargo.as_deref().unwrap_or(&current);
    let found = folder.ancestors().find(|folder| folder.join(MARK).is_file());
    let found = found.ok_or_else(|| {
        format!("{} is not in a tree of Gangway, which has {MARK}; call this there", folder.display())
    })?;
    Ok(found.to_owned())
}

pub fn create_folder(path: &Path) -> Result<()> {
    named("create the folder", path, fs::create_dir_all(path))
}

pub fn read(path: &Path) -> Result<String> {
    named("read", path, fs::read_to_string(path))
}

pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    named("read", path, fs::read(path))
}

/// The files of a folder, and of the folders in it.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in named("read", folder, fs::read_dir(folder))? {
        let path = named("read", folder, entry)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    named("write", path, fs::write(path, content))
}

pub fn rename(from: &Path, to: &Path) -> Result<()> {
    named("write", to, fs::rename(from, to))
}

/// Written beside the file and renamed: a program that runs keeps the file it has mapped.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let fresh = to.with_extension("new");
    // Which of the two it was is not in the error.
    named("read", from, fs::File::open(from).map(drop))?;
    named("write", &fresh, fs::copy(from, &fresh).map(drop))?;
    rename(&fresh, to)
}

/// Copies the files of a folder, and of the folders in it.
pub fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    create_folder(to)?;
    for entry in named("read", from, fs::read_dir(from))? {
        let entry = named("read", from, entry)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            copy(&source, &target)?;
        }
    }
    Ok(())
}

/// Makes a symbolic link, in the place of an older one.
pub fn link(to: &str, path: &Path) -> Result<()> {
    let removed = match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    };
    named("replace the link", path, removed.and_then(|()| std::os::unix::fs::symlink(to, path)))
}

fn named<T>(what: &'static str, path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|cause| Failure { what, path: path.to_owned(), cause }.into())
}

/// What could not be done to which file.
#[derive(Debug)]
struct Failure {
    what: &'static str,
    path: PathBuf,
    cause: io::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot {} {}: {}", self.what, self.path.display(), self.cause)?;
        if matches!(self.cause.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) {
            write!(out, "\n  help: build as the user whom the tree belongs to, or in a copy of it")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that a file stands in the way of, which stops root, too.
    #[test]
    fn a_failure_names_the_path() {
        let file = env::temp_dir().join(format!("gangway-xtask-{}", std::process::id()));
        write(&file, "x").unwrap();
        let below = file.join("stage");
        let said = create_folder(&below).unwrap_err().to_string();
        assert_eq!(
            said,
            format!("cannot create the folder {}: Not a directory (os error 20)", below.display())
        );
        for done in [write(&below, "x"), copy(&below, &file), link("x", &below), rename(&file, &below)] {
            assert!(done.unwrap_err().to_string().contains(&below.display().to_string()));
        }
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn what_another_user_owns_comes_with_help() {
        let cause = io::Error::from(ErrorKind::PermissionDenied);
        let failure = Failure { what: "write", path: "/a/b".into(), cause };
        assert_eq!(
            failure.to_string(),
            "cannot write /a/b: permission denied\n  help: build as the user whom the tree belongs to, or in a copy of it"
        );
    }

    #[test]
    fn the_tree_is_found() {
        assert!(root().unwrap().join(MARK).is_file());
    }
}
