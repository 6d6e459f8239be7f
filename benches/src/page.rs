//! The pages that benchmarks write, below `docs`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::machine;

/// Writes a page, and says so: its head, facts about the machine, those that the benchmark has
/// besides, and the rest.
///
/// # Errors
/// The file cannot be written.
pub fn save(
    root: &Path,
    file: &Path,
    head: &str,
    besides: &[(&'static str, String)],
    rest: &str,
) -> Result<()> {
    let mut text = head.to_owned();
    for (label, value) in machine::describe(root).iter().chain(besides) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {label}: {value}");
    }
    let path = root.join(file);
    std::fs::write(&path, format!("{text}\n{rest}"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("saved to {}", file.display());
    Ok(())
}
