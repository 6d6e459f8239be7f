//! The files of the cache, below the handle of a folder that is the user's alone.
//!
//! Everything is opened below that handle, and what a file is, is asked of the open file. A file
//! that is not as this module writes it counts as missing. Nothing here waits: a FIFO in place of a
//! file is opened without waiting for its other end, and then refused.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Resource, Uid, geteuid, getrlimit};

use super::trust::{self, Distrust};

/// Files lie in so many folders, by the first bits of their keys: so few that two large functions of a program which
/// share one do not drive each other out at each start.
pub(super) const FOLDERS: u64 = 32;
/// Bytes that the files of one folder may take; beyond, the oldest go. The youngest stays, however large it is: who has
/// just written it would write it each time otherwise.
const MOST: u64 = (1 << 30) / FOLDERS;
/// A file that is larger is none of ours.
const LARGEST: u64 = 64 << 20;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const CREATE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folder with all the files.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    /// Which folder the handle is of. Programs that make daemons of themselves close handles that
    /// they do not know, and get the number for something else.
    identity: (u64, u64),
    user: Uid,
}

fn identity(known: &Stat) -> (u64, u64) {
    (known.st_dev, known.st_ino)
}

impl Folder {
    pub fn open(path: &Path) -> Result<Self, Distrust> {
        let user = geteuid();
        let handle = trust::open(path, user)?;
        let identity = identity(&trust::stat(handle.as_fd(), path)?);
        Ok(Folder { handle, identity, user })
    }

    /// The folder of a file, for the user alone as well.
    fn part(&self, part: &str, create: bool) -> Result<OwnedFd, Errno> {
        let known = fstat(&self.handle)?;
        if identity(&known) != self.identity || !trust::is_the_users_alone(&known, self.user) {
            return Err(Errno::BADF);
        }
        let open = || openat(&self.handle, part, FOLDER, Mode::empty());
        let part = match open() {
            Err(Errno::NOENT) if create => {
                match mkdirat(&self.handle, part, Mode::RWXU) {
                    // Another process or thread has been quicker.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                open()
            }
            part => part,
        }?;
        if trust::is_the_users_alone(&fstat(&part)?, self.user) { Ok(part) } else { Err(Errno::PERM) }
    }

    /// The content of a file; none when it is missing or not to be trusted.
    #[must_use]
    pub fn read(&self, part: &str, name: &str) -> Option<Vec<u8>> {
        let part = self.part(part, false).ok()?;
        let file = openat(&part, name, READ, Mode::empty()).ok()?;
        let known = fstat(&file).ok()?;
        let size = u64::try_from(known.st_size).ok()?;
        let regular = FileType::from_raw_mode(known.st_mode) == FileType::RegularFile;
        // There is no link any more once another process has replaced the file. With a second one
        // it may be some other file of the user, which somebody has put here.
        if !regular || known.st_nlink > 1 || size > LARGEST || !trust::is_the_users_alone(&known, self.user) {
            return None;
        }
        let mut bytes = Vec::with_capacity(size as usize);
        // It may have grown meanwhile.
        File::from(file).take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Writes a file as [`put`](Self::put) does, and removes what has become too much in its folder.
    pub fn write(&self, part: &str, name: &str, bytes: &[u8]) -> Result<(), Errno> {
        shrink(&self.put(part, name, bytes)?);
        Ok(())
    }

    /// Writes a file in one step, as far as anybody can see; its folder.
    pub fn put(&self, part: &str, name: &str, bytes: &[u8]) -> Result<OwnedFd, Errno> {
        // Beyond this limit the process would get a signal that ends it.
        if getrlimit(Resource::Fsize).current.is_some_and(|most| bytes.len() as u64 > most) {
            return Err(Errno::FBIG);
        }
        let part = self.part(part, true)?;
        let (temporary, file) = temporary(&part)?;
        let written = File::from(file).write_all(bytes);
        let written = written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let renamed = written.and_then(|()| renameat(&part, &temporary, &part, name));
        if renamed.is_err() {
            // What is left of it, if anything.
            let _ = unlinkat(&part, &temporary, AtFlags::empty());
        }
        renamed?;
        Ok(part)
    }
}

/// A new file with a name that is never read.
fn temporary(part: &OwnedFd) -> Result<(String, OwnedFd), Errno> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{}-{number}", std::process::id());
        match openat(part, &name, CREATE, Mode::RUSR | Mode::WUSR) {
            // Left behind by a process of this number that was killed.
            Err(Errno::EXIST) => {}
            file => return Ok((name, file?)),
        }
    }
}

/// Removes the oldest files of a folder that has become too large.
fn shrink(part: &OwnedFd) {
    // A handle for looking up does not tell what is there.
    let list = openat(part, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let Ok(entries) = list.and_then(Dir::new) else { return };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        // What another process has removed meanwhile counts as nothing.
        let Ok(known) = statat(part, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(known.st_mode) == FileType::RegularFile {
            let time = (known.st_mtime, known.st_mtime_nsec);
            files.push((time, u64::try_from(known.st_size).unwrap_or(0), entry.file_name().to_owned()));
        }
    }
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    if total <= MOST {
        return;
    }
    files.sort();
    files.pop();
    for (_, size, name) in files {
        if total <= MOST / 2 {
            break;
        }
        // Another process may have removed it.
        let _ = unlinkat(part, &name, AtFlags::empty());
        total -= size;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    use super::*;

    struct Bench {
        top: tempfile::TempDir,
        folder: Folder,
    }

    impl Bench {
        /// A folder with the file `ab/c`.
        fn new() -> Self {
            let top = tempfile::tempdir().expect("a folder");
            let folder = Folder::open(top.path()).expect("a folder of our own");
            folder.write("ab", "c", b"content").expect("written");
            let bench = Bench { top, folder };
            assert_eq!(bench.read(), Some(b"content".to_vec()));
            bench
        }

        fn read(&self) -> Option<Vec<u8>> {
            self.folder.read("ab", "c")
        }

        fn file(&self) -> PathBuf {
            self.top.path().join("ab/c")
        }
    }

    #[test]
    fn files_that_others_could_have_written_are_not_read() {
        let bench = Bench::new();
        for mode in [0o666, 0o620, 0o602] {
            fs::set_permissions(bench.file(), fs::Permissions::from_mode(mode)).expect("our file");
            assert_eq!(bench.read(), None, "{mode:o}");
        }
        fs::set_permissions(bench.file(), fs::Permissions::from_mode(0o644)).expect("our file");
        assert!(bench.read().is_some());
        if geteuid().is_root() {
            std::os::unix::fs::chown(bench.file(), Some(1234), None).expect("root may");
            assert_eq!(bench.read(), None, "the file of user 1234");
        } else {
            eprintln!("skipped in part: only root can give a file to another user");
        }
    }

    #[test]
    fn what_is_no_file_of_its_own_is_not_read_and_nobody_waits() {
        let bench = Bench::new();
        let other = bench.top.path().join("other");
        fs::write(&other, "content").expect("written");
        let replace = |make: &dyn Fn()| {
            fs::remove_file(bench.file()).expect("it is there");
            make();
            assert_eq!(bench.read(), None);
        };
        // Without a writer a FIFO would block the thread that opens it.
        replace(&|| {
            rustix::fs::mknodat(rustix::fs::CWD, bench.file(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                .expect("a FIFO");
        });
        replace(&|| symlink(&other, bench.file()).expect("a link"));
        replace(&|| fs::hard_link(&other, bench.file()).expect("a link"));
        replace(&|| drop(std::os::unix::net::UnixListener::bind(bench.file()).expect("a socket")));
        replace(&|| fs::create_dir(bench.file()).expect("a folder"));
        // A folder cannot be replaced by a file, which is no error of the program.
        assert!(bench.folder.write("ab", "c", b"new").is_err());
        fs::remove_dir(bench.file()).expect("it is empty");
        bench.folder.write("ab", "c", b"new").expect("written");
        assert_eq!(bench.read(), Some(b"new".to_vec()));
    }

    #[test]
    fn files_beyond_all_measure_are_not_read() {
        let bench = Bench::new();
        let file = File::options().write(true).open(bench.file()).expect("our file");
        file.set_len(LARGEST + 1).expect("a hole");
        assert_eq!(bench.read(), None);
    }

    /// An attacker renames a parent after the start, and puts another folder in its place.
    #[test]
    fn the_folder_stays_the_one_that_was_opened() {
        let top = tempfile::tempdir().expect("a folder");
        let at = |name: &str| top.path().join(name);
        let folder = Folder::open(&at("home/cache")).expect("a folder of our own");
        folder.write("ab", "c", b"ours").expect("written");
        fs::rename(at("home"), at("moved")).expect("renamed");
        let planted = Folder::open(&at("home/cache")).expect("another folder");
        planted.write("ab", "c", b"planted").expect("written");
        assert_eq!(folder.read("ab", "c"), Some(b"ours".to_vec()));
        folder.write("ab", "d", b"new").expect("written");
        assert!(at("moved/cache/ab/d").exists() && !at("home/cache/ab/d").exists());
    }

    #[test]
    fn a_folder_that_becomes_open_to_others_is_not_used_any_more() {
        let bench = Bench::new();
        for part in ["ab", "."] {
            let path = bench.top.path().join(part);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("our folder");
            assert_eq!(bench.read(), None, "{part}");
            assert!(bench.folder.write("ab", "c", b"new").is_err(), "{part}");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("our folder");
        }
        assert!(bench.read().is_some());
        // A link in place of a part leads out of the folder.
        fs::rename(bench.top.path().join("ab"), bench.top.path().join("cd")).expect("renamed");
        symlink("cd", bench.top.path().join("ab")).expect("a link");
        assert_eq!(bench.read(), None);
        assert!(bench.folder.write("ab", "c", b"new").is_err());
    }

    #[test]
    fn a_handle_that_now_stands_for_something_else_is_not_used() {
        let (mut bench, other) = (Bench::new(), Bench::new());
        // The folder is just as good, but it is another one.
        bench.folder.handle = other.folder.handle;
        assert_eq!(bench.read(), None);
        assert!(bench.folder.write("ab", "d", b"new").is_err());
    }

    #[test]
    fn what_a_killed_process_has_left_is_no_obstacle() {
        let bench = Bench::new();
        let part = bench.folder.part("ab", true).expect("a part");
        let (name, _file) = temporary(&part).expect("a file");
        let number: u64 = name.rsplit('-').next().and_then(|text| text.parse().ok()).expect("a number");
        for next in 1..4 {
            let left = format!(".{}-{}", std::process::id(), number + next);
            fs::write(bench.top.path().join("ab").join(left), "").expect("written");
        }
        bench.folder.write("ab", "d", b"new").expect("written");
        assert_eq!(bench.folder.read("ab", "d"), Some(b"new".to_vec()));
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let folder = tempfile::tempdir().expect("a folder");
        let size = MOST as usize / 4;
        for number in 0..6u64 {
            let path = folder.path().join(number.to_string());
            fs::write(&path, vec![0; size]).expect("written");
            let file = fs::File::options().write(true).open(&path).expect("there");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(number)).expect("a time");
        }
        let handle = openat(rustix::fs::CWD, folder.path(), FOLDER, Mode::empty()).expect("a handle");
        shrink(&handle);
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).expect("there").flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["4", "5"]);
    }

    #[test]
    fn large_functions_of_one_program_stay_beside_each_other() {
        let bench = Bench::new();
        for name in ["a", "b", "c"] {
            bench.folder.write("ab", name, &vec![7; 8 << 20]).expect("written");
        }
        bench.folder.write("ab", "small", b"new").expect("written");
        assert!(["a", "b", "c", "small"].iter().all(|name| bench.folder.read("ab", name).is_some()));
    }

    #[test]
    fn a_file_that_is_too_large_for_its_folder_stays_until_the_next_one() {
        let bench = Bench::new();
        let large = vec![7; MOST as usize + 1];
        bench.folder.write("ab", "large", &large).expect("written");
        assert_eq!(bench.folder.read("ab", "large"), Some(large));
        let path = bench.top.path().join("ab").join("large");
        let file = fs::File::options().read(true).open(&path).expect("there");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
        bench.folder.write("ab", "small", b"new").expect("written");
        assert_eq!(bench.folder.read("ab", "large"), None);
        assert_eq!(bench.folder.read("ab", "small"), Some(b"new".to_vec()));
    }
}
