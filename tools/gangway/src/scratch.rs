//! Folders for what a compiler reads and writes on the way.
//!
//! They are the user's alone, and end with the command. A signal may end the command before; then the
//! next command that makes a folder removes what is left. A lock on a folder tells whether somebody still
//! uses it: the compiler inherits it, so that a folder stays as long as either is there.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::exit::Failure;

const PREFIX: &str = "gangway-cc-";

/// A folder with a lock.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// A new folder where temporary files go.
    pub fn new() -> Result<Self, Failure> {
        Self::below(&env::temp_dir())
    }

    fn below(place: &Path) -> Result<Self, Failure> {
        remove_abandoned(place);
        loop {
            let owner_only = fs::Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix(PREFIX).permissions(owner_only).tempdir_in(place)?;
            // Closed by no `exec`.
            let lock: File = match rustix::fs::open(folder.path(), FOLDER, Mode::empty()) {
                Ok(lock) => lock.into(),
                // Somebody has found it without a lock, and removed it.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            // A file system without locks does not let others take one either, and so keeps the folder.
            let _ = flock(&lock, FlockOperation::LockExclusive);
            // The same, since.
            if is_at(&lock, folder.path()) {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn close(self) -> Result<(), Failure> {
        Ok(self.folder.close()?)
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// Removes the folders of commands that are gone. Whatever fails is left to the next command.
fn remove_abandoned(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let Ok(opened) = rustix::fs::open(&path, FOLDER.union(OFlags::CLOEXEC), Mode::empty()) else {
            continue;
        };
        let opened = File::from(opened);
        let ours = opened.metadata().is_ok_and(|found| found.uid() == geteuid().as_raw());
        if ours && flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok() && is_at(&opened, &path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether a folder that was opened is still the one of that name.
fn is_at(opened: &File, path: &Path) -> bool {
    let (Ok(opened), Ok(named)) = (opened.metadata(), path.symlink_metadata()) else { return false };
    (opened.dev(), opened.ino()) == (named.dev(), named.ino())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_are_their_users_alone_and_end() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::below(place.path()).unwrap();
        assert_eq!(scratch.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(scratch.path().join("overlay.yaml"), "").unwrap();
        scratch.close().unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// Each looks for what others have left while those make theirs.
    #[test]
    fn folders_are_made_at_the_same_time() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let scratch = Scratch::below(place.path()).unwrap();
                        fs::write(scratch.path().join("file"), "").unwrap();
                        scratch.close().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn only_abandoned_folders_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let used = Scratch::below(place.path()).unwrap();
        let made = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "").unwrap();
            path
        };
        let (abandoned, other) = (made("gangway-cc-left"), made("gangway-other"));
        let link = place.path().join("gangway-cc-link");
        symlink(&other, &link).unwrap();
        let next = Scratch::below(place.path()).unwrap();
        assert!(!abandoned.exists());
        assert!(used.path().exists() && next.path().exists() && link.exists() && other.join("file").exists());
    }
}
