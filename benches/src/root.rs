//! Where the repository is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The root of the repository, whatever the current folder is.
pub fn repository_root() -> Result<PathBuf> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = benches.parent().context("the crate has no parent folder")?.to_path_buf();
    if !root.join("benches/programs").is_dir() {
        bail!("{} is gone: build gangway-bench again", root.join("benches/programs").display());
    }
    Ok(root)
}
