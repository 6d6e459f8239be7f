//! Files that are written as a whole or not at all.
//!
//! They are written beside their place and then get their name, so that a full disk leaves what was there
//! before. What is no file of its own, such as `/dev/stderr`, is written to directly. So is a file in a
//! folder that takes no others.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// What writes the content. It may be called twice.
pub type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// As many links lead to a file as the kernel follows.
const LINKS: usize = 40;

/// Writes a file. What was there before stays as it was if that fails. No signal of a limit or a closed pipe
/// reaches the process: the error says it.
pub fn write_whole(file: &Path, fill: Fill<'_>) -> io::Result<()> {
    undisturbed(|| {
        if let Some(descriptor) = descriptor(file) {
            return filled(opened_again(descriptor)?, fill);
        }
        match fs::metadata(file) {
            Ok(found) if found.is_file() => {
                // A link stays one.
                let place = fs::canonicalize(file)?;
                match beside(&place, Some(found.permissions()), fill) {
                    Err(error) if is_refusal_of_folder(&error) => filled(File::create(file)?, fill),
                    done => done,
                }
            }
            Ok(_) => filled(File::create(file)?, fill),
            Err(_) => beside(file, None, fill),
        }
    })
}

/// Writes to another name, and gives the file its own when all is there.
fn beside(file: &Path, permissions: Option<fs::Permissions>, fill: Fill<'_>) -> io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let part = file.with_file_name(format!(".gangway-{}-{number}.part", std::process::id()));
    let created = OpenOptions::new().write(true).create_new(true).open(&part)?;
    let ready = match permissions {
        Some(permissions) => created.set_permissions(permissions),
        None => Ok(()),
    };
    let done = ready.and_then(|()| filled(created, fill)).and_then(|()| fs::rename(&part, file));
    if done.is_err() {
        let _ = fs::remove_file(&part);
    }
    done
}

fn filled(file: File, fill: Fill<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    // A file system of another machine may tell of a full disk only now.
    // SAFETY: the descriptor is this function's, and nobody uses it afterwards.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The file may be written, but its folder takes no other, or nothing may take the file's place.
fn is_refusal_of_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
    )
}

/// The open file of the process that a name leads to, as `/dev/stdout` does. Others write there, too, each
/// behind what is there: that takes the descriptor itself.
pub fn descriptor(file: &Path) -> Option<RawFd> {
    let all = fs::canonicalize("/proc/self/fd").ok()?;
    let mut file = file.to_owned();
    for _ in 0..LINKS {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).ok()?;
        if folder == all {
            return file.file_name()?.to_str()?.parse().ok();
        }
        file = folder.join(fs::read_link(&file).ok()?);
    }
    None
}

fn opened_again(descriptor: RawFd) -> io::Result<File> {
    // SAFETY: it only fails if the descriptor is none.
    match unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it is new, so nobody else closes it.
        copy => Ok(unsafe { File::from_raw_fd(copy) }),
    }
}

/// Has no signal come to this thread for what it writes: those for a limit of the size of files and for a
/// closed pipe would end a program that does not expect them.
pub fn undisturbed<R>(act: impl FnOnce() -> R) -> R {
    const SIGNALS: [libc::c_int; 2] = [libc::SIGXFSZ, libc::SIGPIPE];
    let (mut before, mut waiting) = (no_signals(), no_signals());
    // SAFETY: plain calls on sets of this frame.
    unsafe {
        let mut blocked = no_signals();
        SIGNALS.iter().for_each(|&signal| _ = libc::sigaddset(&raw mut blocked, signal));
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before);
        libc::sigpending(&raw mut waiting);
    }
    let result = act();
    // SAFETY: the same.
    unsafe {
        for signal in SIGNALS {
            // One that was there before is the program's.
            if libc::sigismember(&raw const waiting, signal) == 1 {
                continue;
            }
            let mut one = no_signals();
            libc::sigaddset(&raw mut one, signal);
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            while libc::sigtimedwait(&raw const one, std::ptr::null_mut(), &raw const at_once) == signal {}
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
    }
    result
}

fn no_signals() -> libc::sigset_t {
    // SAFETY: plain data, which the call makes an empty set.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        set
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn text(text: &'static str) -> impl Fn(&mut dyn Write) -> io::Result<()> {
        move |out| out.write_all(text.as_bytes())
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn links_and_permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        symlink("a", &link).unwrap();
        write_whole(&link, &text("new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("a"));
        assert_eq!(names(folder.path()), ["a", "link"]);
    }

    #[test]
    fn what_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let cut = |out: &mut dyn Write| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        };
        assert_eq!(write_whole(&file, &cut).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
        assert!(names(folder.path()).is_empty());
        fs::write(&file, "old").unwrap();
        assert!(write_whole(&file, &cut).is_err());
        assert_eq!((fs::read(&file).unwrap(), names(folder.path())), (b"old".to_vec(), vec!["a".to_owned()]));
    }

    #[test]
    fn devices_and_open_files_are_written_to() {
        let full = write_whole(Path::new("/dev/full"), &text("x")).unwrap_err();
        assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
        assert!(Path::new("/dev/full").exists());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let mut opened = File::create(&file).unwrap();
        opened.write_all(b"the program's, ").unwrap();
        use std::os::fd::AsRawFd;
        let link = folder.path().join("link");
        symlink(format!("/proc/self/fd/{}", opened.as_raw_fd()), &link).unwrap();
        assert_eq!(descriptor(Path::new("/dev/stdout")), Some(1));
        assert_eq!((descriptor(&file), descriptor(Path::new("/dev/full"))), (None, None));
        write_whole(&link, &text("ours")).unwrap();
        opened.write_all(b", the program's").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"the program's, ours, the program's");
    }
}
