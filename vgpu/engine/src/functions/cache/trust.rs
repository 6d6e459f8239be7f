//! Opens a folder whose content only this user and root can determine.
//!
//! Code that is read from the cache runs with all that the process may do. So every folder on the
//! way to it is opened on its own, below the handle of the one before. Its owner and mode are
//! asked of the open handle. A path that is checked as a whole can be exchanged between the check
//! and the use; a handle cannot.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;
use rustix::process::Uid;

/// As many symbolic links as Linux follows in one path.
const MOST_LINKS: u32 = 40;
/// Write permission of the group and of all others. An access control list that lets somebody
/// else write shows in the group's bit, too.
const OTHERS_WRITE: u32 = 0o022;
/// Only the owner of a file may remove or rename it: `/tmp` is such a folder.
const STICKY: u32 = 0o1000;
/// A handle for looking things up, which needs no permission to read the folder.
const LOOK_UP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a folder or file is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Distrust {
    Owner { path: PathBuf, owner: u32 },
    Writable { path: PathBuf, mode: u32 },
    NoFolder { path: PathBuf },
    TooManyLinks { path: PathBuf },
    Failed { path: PathBuf, error: Errno },
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distrust::Owner { path, owner } => write!(f, "{} belongs to user {owner}", path.display()),
            Distrust::Writable { path, mode } => {
                write!(f, "other users can write to {} (mode {mode:04o})", path.display())
            }
            Distrust::NoFolder { path } => write!(f, "{} is not a folder", path.display()),
            Distrust::TooManyLinks { path } => {
                write!(f, "{} leads through more than {MOST_LINKS} symbolic links", path.display())
            }
            Distrust::Failed { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

/// What a folder has to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// On the way: root's or the user's own. It may be sticky, because what comes below is checked,
    /// too.
    Parent,
    /// At the end: the user's own, and no other user may create anything in it.
    Last,
}

/// Opens a folder, and creates what is missing of its path, with mode 0700.
pub(super) fn open(path: &Path, user: Uid) -> Result<OwnedFd, Distrust> {
    let failed = |error: std::io::Error| {
        let error = Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
        Distrust::Failed { path: path.to_owned(), error }
    };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let mut walk = Walk::from_root(user)?;
    // What is still to be walked, the next component last.
    let mut names = components(&absolute);
    while let Some(name) = names.pop() {
        if let Some(target) = walk.enter(&name)? {
            if target.is_absolute() {
                let links = walk.links;
                walk = Walk { links, ..Walk::from_root(user)? };
            }
            names.extend(components(&target));
        }
    }
    check(&stat(walk.folder.as_fd(), &walk.path)?, user, Role::Last, &walk.path)?;
    Ok(walk.folder)
}

/// The components below the root, in reverse.
fn components(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::new("..").to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = named.collect();
    names.reverse();
    names
}

/// A folder that has been found trustworthy, with all above it.
struct Walk {
    folder: OwnedFd,
    /// For messages only.
    path: PathBuf,
    links: u32,
    user: Uid,
}

impl Walk {
    fn from_root(user: Uid) -> Result<Self, Distrust> {
        let path = PathBuf::from("/");
        let folder = openat(CWD, &path, LOOK_UP | OFlags::DIRECTORY, Mode::empty())
            .map_err(|error| Distrust::Failed { path: path.clone(), error })?;
        check(&stat(folder.as_fd(), &path)?, user, Role::Parent, &path)?;
        Ok(Walk { folder, path, links: 0, user })
    }

    /// Goes one component down, or gives the target of a symbolic link, which is to be walked
    /// instead.
    fn enter(&mut self, name: &OsStr) -> Result<Option<PathBuf>, Distrust> {
        let path = self.path.join(name);
        let failed = |error| Distrust::Failed { path: path.clone(), error };
        let look = || openat(&self.folder, name, LOOK_UP, Mode::empty());
        let entry = match look() {
            Err(Errno::NOENT) => {
                match mkdirat(&self.folder, name, Mode::RWXU) {
                    // Another process has created it meanwhile; whose it is, is asked below.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(failed(error)),
                }
                look()
            }
            entry => entry,
        };
        let entry = entry.map_err(failed)?;
        let known = stat(entry.as_fd(), &path)?;
        match FileType::from_raw_mode(known.st_mode) {
            FileType::Directory => {
                check(&known, self.user, Role::Parent, &path)?;
                (self.folder, self.path) = (entry, path);
                Ok(None)
            }
            FileType::Symlink => {
                self.links += 1;
                if self.links > MOST_LINKS {
                    return Err(Distrust::TooManyLinks { path });
                }
                check_owner(&known, self.user, Role::Parent, &path)?;
                let target = readlinkat(&entry, "", Vec::new()).map_err(failed)?;
                Ok(Some(PathBuf::from(OsString::from_vec(target.into_bytes()))))
            }
            _ => Err(Distrust::NoFolder { path }),
        }
    }
}

pub(super) fn stat(handle: BorrowedFd<'_>, path: &Path) -> Result<Stat, Distrust> {
    fstat(handle).map_err(|error| Distrust::Failed { path: path.to_owned(), error })
}

fn check(known: &Stat, user: Uid, role: Role, path: &Path) -> Result<(), Distrust> {
    check_owner(known, user, role, path)?;
    let sticky = role == Role::Parent && known.st_mode & STICKY != 0;
    if known.st_mode & OTHERS_WRITE != 0 && !sticky {
        return Err(Distrust::Writable { path: path.to_owned(), mode: known.st_mode & 0o7777 });
    }
    Ok(())
}

/// Root may change everything anyhow, so what is root's is no worse on the way.
fn check_owner(known: &Stat, user: Uid, role: Role, path: &Path) -> Result<(), Distrust> {
    let owner = known.st_uid;
    if owner == user.as_raw() || (owner == 0 && role == Role::Parent) {
        return Ok(());
    }
    Err(Distrust::Owner { path: path.to_owned(), owner })
}

/// Whether an open file or folder belongs to the user, and only the user may write to it.
pub(super) fn is_the_users_alone(known: &Stat, user: Uid) -> bool {
    check(known, user, Role::Last, Path::new("")).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::process::geteuid;

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our folder");
    }

    #[test]
    fn missing_folders_are_created_for_the_user_alone() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().join("a/b/../c");
        open(&path, geteuid()).expect("a folder of our own");
        for made in ["a", "a/b", "a/c"] {
            let known = fs::metadata(top.path().join(made)).expect("it has been made");
            assert_eq!(known.permissions().mode() & 0o7777, 0o700, "{made}");
        }
    }

    #[test]
    fn what_others_can_write_to_is_refused_wherever_it_is_on_the_path() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().join("a/b/c");
        open(&path, geteuid()).expect("a folder of our own");
        for part in ["a", "a/b", "a/b/c"] {
            let part = top.path().join(part);
            for wrong in [0o777, 0o770, 0o702] {
                mode(&part, wrong);
                let refused = open(&path, geteuid()).expect_err("others can write");
                assert_eq!(refused, Distrust::Writable { path: part.clone(), mode: wrong });
            }
            // The owner of what is in a sticky folder cannot lose it to others.
            mode(&part, 0o1777);
            assert_eq!(open(&path, geteuid()).is_ok(), part != path, "{}", part.display());
            mode(&part, 0o711);
            assert!(open(&path, geteuid()).is_ok());
        }
    }

    /// The user who runs the tests owns the folders, so another user asks.
    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().join("a");
        open(&path, geteuid()).expect("a folder of our own");
        let other = Uid::from_raw(geteuid().as_raw() + 1);
        let owner = geteuid().as_raw();
        let refused = open(&path, other).expect_err("somebody else's");
        let wanted = if owner == 0 { path } else { top.path().to_owned() };
        assert_eq!(refused, Distrust::Owner { path: wanted, owner });
    }

    /// Root with the `HOME` of a user who may exchange every folder in it.
    #[test]
    fn root_does_not_trust_folders_of_users() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root can give a folder to another user");
            return;
        }
        let top = tempfile::tempdir().expect("a folder");
        let (home, path) = (top.path().join("home"), top.path().join("home/.cache/gangway"));
        open(&path, geteuid()).expect("all of it is root's");
        std::os::unix::fs::chown(&home, Some(1234), None).expect("root may");
        let refused = open(&path, geteuid()).expect_err("the home of user 1234");
        assert_eq!(refused, Distrust::Owner { path: home, owner: 1234 });
    }

    #[test]
    fn links_are_followed_as_far_as_their_owners_are_trusted() {
        let top = tempfile::tempdir().expect("a folder");
        let at = |name: &str| top.path().join(name);
        open(&at("real/cache"), geteuid()).expect("a folder of our own");
        symlink(at("real"), at("absolute")).expect("a link");
        symlink("real/../real", at("relative")).expect("a link");
        for link in ["absolute/cache", "relative/cache", "absolute/../relative/cache"] {
            assert!(open(&at(link), geteuid()).is_ok(), "{link}");
        }
        // What a link leads to is checked as any other folder is.
        mode(&at("real"), 0o777);
        for link in ["absolute/cache", "relative/cache"] {
            let refused = open(&at(link), geteuid()).expect_err("others can write");
            assert_eq!(refused, Distrust::Writable { path: at("real"), mode: 0o777 }, "{link}");
        }
        symlink("loop", at("loop")).expect("a link");
        assert!(matches!(open(&at("loop"), geteuid()), Err(Distrust::TooManyLinks { .. })));
        if geteuid().is_root() {
            mode(&at("real"), 0o700);
            std::os::unix::fs::lchown(at("absolute"), Some(1234), None).expect("root may");
            let refused = open(&at("absolute/cache"), geteuid()).expect_err("a link of user 1234");
            assert_eq!(refused, Distrust::Owner { path: at("absolute"), owner: 1234 });
        }
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().join("file");
        fs::write(&path, "text").expect("written");
        assert_eq!(open(&path, geteuid()).expect_err("a file"), Distrust::NoFolder { path: path.clone() });
        let below = open(&path.join("more"), geteuid());
        assert_eq!(below.expect_err("below a file"), Distrust::NoFolder { path });
        assert!(matches!(open(Path::new("/proc/no/folder"), geteuid()), Err(Distrust::Failed { .. })));
        assert!(matches!(open(Path::new(""), geteuid()), Err(Distrust::Failed { .. })));
    }

    #[test]
    fn reasons_name_the_place() {
        let path = PathBuf::from("/home/x");
        let texts = [
            Distrust::Owner { path: path.clone(), owner: 7 },
            Distrust::Writable { path: path.clone(), mode: 0o1777 },
            Distrust::NoFolder { path: path.clone() },
            Distrust::TooManyLinks { path: path.clone() },
            Distrust::Failed { path, error: Errno::ACCESS },
        ];
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts[..4],
            [
                "/home/x belongs to user 7",
                "other users can write to /home/x (mode 1777)",
                "/home/x is not a folder",
                "/home/x leads through more than 40 symbolic links",
            ]
        );
        assert!(texts[4].starts_with("/home/x: "), "{}", texts[4]);
    }
}
