//! Gives the sources that decide on compiled code a number, which the cache keeps next to the code:
//! what another engine has compiled is of no use.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::{env, fs, io};

/// What instructions are, what they compute, and how code is made of that.
const FOLDERS: [&str; 4] = ["src", "../llvm/src", "../simt/src", "../ptx/src"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let mut hasher = DefaultHasher::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        hash(Path::new(folder), &mut hasher)?;
    }
    // The versions of Cranelift and of all else.
    if let Ok(lock) = fs::read("../../Cargo.lock") {
        lock.hash(&mut hasher);
    }
    env::var("PROFILE").unwrap_or_default().hash(&mut hasher);
    println!("cargo::rustc-env=GANGWAY_ENGINE_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn hash(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            hash(&path, hasher)?;
        } else {
            path.hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
