//! Names of compiled code for `perf`, which `GANGWAY_PERF_MAP=1` asks for.
//!
//! `perf` reads `/tmp/perf-PID.map` for code that is in no file: lines with start, size and name (the kernel's
//! `tools/perf/Documentation/jit-interface.txt`). Addresses that come back have the name that was written last.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use gangway_settings::file_variable;

use super::object::CodeObject;

/// The process whose file has been begun; a forked child begins its own.
static BEGUN: Mutex<u32> = Mutex::new(0);

/// Writes the name of code that is going to run, if that is asked for. What cannot be written is left out: nobody
/// but `perf` misses it.
pub fn add(object: &CodeObject, name: &str) {
    static ASKED: OnceLock<bool> = OnceLock::new();
    if !ASKED.get_or_init(|| {
        file_variable("GANGWAY_PERF_MAP").is_some_and(|value| !matches!(value.to_str(), Some("" | "0")))
    }) {
        return;
    }
    let process = std::process::id();
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let file = PathBuf::from(format!("/tmp/perf-{process}.map"));
    let line = line(object.entry() as usize, object.length(), name);
    // A file that an older process of this number has left is of no use.
    if append(&file, &line, *begun != process).is_ok() {
        *begun = process;
    }
}

fn line(start: usize, length: usize, name: &str) -> String {
    format!("{start:x} {length:x} {name} [virtual GPU]\n")
}

/// Anybody may have made the file: one that is not the user's, or a link, is not written to.
fn append(file: &Path, line: &str, anew: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut opened = options.open(file)?;
    let found = opened.metadata()?;
    // SAFETY: it has no preconditions.
    if !found.is_file() || found.uid() != unsafe { libc::geteuid() } {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    if anew {
        opened.set_len(0)?;
    }
    opened.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Compiled;

    #[test]
    fn lines_are_as_perf_reads_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("perf-1.map");
        std::fs::write(&file, "of an older process\n").expect("written");
        let compiled = Compiled { code: vec![0xcc; 0x1f], ..Compiled::default() };
        let object = CodeObject::new(0, compiled).expect("memory");
        let first = line(object.entry() as usize, object.length(), "axpy");
        append(&file, &first, true).expect("written");
        append(&file, &line(0x1000, 0x20, "norm"), false).expect("written");
        let expected =
            format!("{:x} 1f axpy [virtual GPU]\n1000 20 norm [virtual GPU]\n", object.entry() as usize);
        assert_eq!(std::fs::read_to_string(&file).expect("text"), expected);
    }

    #[test]
    fn links_of_others_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("mine"), folder.path().join("perf-1.map"));
        std::fs::write(&file, "mine").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(append(&link, "1 1 a\n", true).is_err());
        assert_eq!(std::fs::read(&file).expect("text"), b"mine");
    }
}
