//! Whether there is LLVM, without loading anything.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::library;

/// The program's name.
const PROGRAM: &str = "gangway-llvm";
/// The variable that has folders which the loader looks in first.
const FOLDERS: &[u8] = b"LD_LIBRARY_PATH=";
/// What the loader knows of all others, and those that it looks in without that.
const KNOWN: &str = "/etc/ld.so.cache";
const USUAL: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// The file that this code has been loaded from.
fn own_file() -> Option<PathBuf> {
    let here = own_file as *const () as usize;
    let maps = fs::read("/proc/self/maps").ok()?;
    maps.split(|&byte| byte == b'\n').find_map(|line| {
        let (range, _) = line.split_at(line.iter().position(|&byte| byte == b' ')?);
        let (start, end) = std::str::from_utf8(range).ok()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let path = &line[line.iter().position(|&byte| byte == b'/')?..];
        (number(start)? <= here && here < number(end)?).then(|| Path::new(OsStr::from_bytes(path)).to_owned())
    })
}

/// LLVM's program, beside the file that this code is in or in the folder above that, or where it is missing.
pub(crate) fn program() -> Result<PathBuf, String> {
    let file = own_file().ok_or("it is not known where this library is")?;
    let places: Vec<PathBuf> = file.ancestors().skip(1).take(2).map(|folder| folder.join(PROGRAM)).collect();
    places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let places: Vec<String> = places.iter().map(|path| format!("'{}'", path.display())).collect();
        format!("there is no program {}", places.join(" or "))
    })
}

/// Where the loader looks for libraries first, as a line of the environment. It is what this process began with:
/// the loader goes by that, too, and the program may change its environment at any time.
pub(crate) fn folders() -> Option<CString> {
    // SAFETY: no preconditions.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        // A program with more rights than who has started it: the loader ignores the variable.
        return None;
    }
    let all = fs::read("/proc/self/environ").ok()?;
    let line = all.split(|&byte| byte == 0).find(|line| line.starts_with(FOLDERS))?;
    CString::new(line).ok()
}

/// Whether the loader finds LLVM's library, as far as that can be told without asking it.
pub(crate) fn has_library() -> bool {
    let name = library::NAME.to_bytes();
    let is_in = |folder: &[u8]| Path::new(OsStr::from_bytes(folder)).join(OsStr::from_bytes(name)).is_file();
    let first = folders();
    let first = first.as_ref().map_or(&[][..], |line| &line.to_bytes()[FOLDERS.len()..]);
    first.split(|&byte| byte == b':').any(is_in)
        // Its texts are paths, of which names are the ends.
        || fs::read(KNOWN).is_ok_and(|known| known.split(|&byte| byte == 0).any(|path| path.ends_with(name)))
        || USUAL.iter().any(|folder| is_in(folder.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_file_is_known() {
        assert_eq!(own_file(), std::env::current_exe().ok());
    }

    #[test]
    fn what_the_loader_finds_is_known() {
        assert_eq!(has_library(), library::open().is_ok());
    }
}
