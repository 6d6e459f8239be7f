//! Finding external back ends by the names of their files.
//!
//! Runs when a program starts, so it lists directories and opens nothing.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The back end's name in `libgangway-rtl-<name>.so`.
pub(crate) fn name_in(file: &OsStr) -> Option<&str> {
    let name = file.to_str()?.strip_prefix("libgangway-rtl-")?.strip_suffix(".so")?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (!name.is_empty() && name.chars().all(allowed)).then_some(name)
}

/// The libraries in `directories`: of each name the first, in the order of the
/// directories and in each by name, so that device numbers do not depend on how
/// the file system orders its entries.
pub(crate) fn libraries(directories: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for directory in directories {
        // A directory that is not there (any more) has no back ends.
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        let here: BTreeMap<String, PathBuf> = entries
            .filter_map(|entry| entry.ok())
            .filter_map(|entry| Some((name_in(&entry.file_name())?.to_owned(), entry.path())))
            .collect();
        for (name, path) in here {
            if found.iter().all(|(other, _)| *other != name) {
                found.push((name, path));
            }
        }
    }
    found
}

/// Where to look: the directories in `path` (the value of `GANGWAY_RTL_PATH`),
/// then that of the library this code is part of.
pub(crate) fn directories(path: Option<OsString>) -> Vec<PathBuf> {
    let path = path.unwrap_or_default();
    // An empty element would mean the current directory, which is never wanted.
    let listed = path.as_bytes().split(|b| *b == b':').filter(|d| !d.is_empty());
    let mut directories: Vec<PathBuf> = listed.map(|d| PathBuf::from(OsStr::from_bytes(d))).collect();
    directories.extend(own_directory());
    directories
}

/// The directory of the shared library or program that this code is linked into.
fn own_directory() -> Option<PathBuf> {
    let here = own_directory as *const ();
    // SAFETY: plain data, filled by the call; the name ends in a zero byte and
    // stays while the library is loaded, which it is while its code runs.
    let file = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(here.cast(), &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let file = Path::new(OsStr::from_bytes(file.to_bytes()));
    // Of a program, the name is what it was called with: without a directory it
    // was found on the PATH, and says nothing.
    file.parent().filter(|d| !d.as_os_str().is_empty()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_convention() {
        assert_eq!(name_in(OsStr::new("libgangway-rtl-null.so")), Some("null"));
        assert_eq!(name_in(OsStr::new("libgangway-rtl-acme_2-x.so")), Some("acme_2-x"));
        for other in [
            "libgangway-rtl-.so",
            "libgangway-rtl-Null.so",
            "libgangway-rtl-a.so.1",
            "gangway-rtl-a.so",
            "lib.so",
        ] {
            assert_eq!(name_in(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn earlier_directories_win_and_names_are_in_order() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (directory, name) in [(&first, "b"), (&first, "a"), (&second, "a"), (&second, "c")] {
            std::fs::write(directory.path().join(format!("libgangway-rtl-{name}.so")), "").unwrap();
        }
        std::fs::write(first.path().join("notes.txt"), "").unwrap();
        let missing = PathBuf::from("/nonexistent");
        let found = libraries(&[first.path().into(), missing, second.path().into()]);
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(found[0].1.starts_with(first.path()));
    }

    #[test]
    fn path_is_split_and_our_directory_comes_last() {
        let directories = directories(Some(OsString::from("/x::/y")));
        assert_eq!(directories[..2], [PathBuf::from("/x"), PathBuf::from("/y")]);
        assert!(directories.len() == 3 && directories[2].is_dir(), "{directories:?}");
    }
}
