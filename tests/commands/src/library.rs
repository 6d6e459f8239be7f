//! Libraries that a crate's tests have built, and the C programs that call them.

use std::io;
use std::path::{Path, PathBuf};

/// Gives a library that was built beside the running test the names that programs look for, in a folder. Processes may do so at
/// the same time.
///
/// # Errors
/// It has not been built, or the folder cannot be written.
pub fn under_names(library: &str, names: &[&str], folder: &Path) -> io::Result<()> {
    let built = std::env::current_exe()?.with_file_name(library);
    if !built.exists() {
        let why = format!("{} has not been built", built.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    std::fs::create_dir_all(folder)?;
    for name in names {
        let link = folder.join(name);
        if std::fs::read_link(&link).ok().as_deref() == Some(&built) {
            continue;
        }
        // Another process may be making it, too: what counts is that it is there.
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        std::os::unix::fs::symlink(&built, &temporary)?;
        std::fs::rename(&temporary, &link)?;
    }
    Ok(())
}

/// The C programs in a folder, by name.
///
/// # Panics
/// There are none.
#[must_use]
pub fn programs(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).expect("the folder of programs");
    let paths = entries.map(|entry| entry.expect("an entry of the folder of programs").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "c"));
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let programs: Vec<_> = sources.map(|path| (name(&path), path)).collect();
    assert!(!programs.is_empty(), "no programs in {}", folder.display());
    programs
}
