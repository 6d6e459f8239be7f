//! Every function that clang 22 and 23 and their LLVM know for GPUs is in the archive, or listed with a reason.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// `NAME reason`, one in a line.
const LEFT_OUT: &str = include_str!("left_out.txt");

/// The names that LLVM's library has.
const KNOWN: &str = include_str!("known.txt");

fn archive() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../build/stage/lib/gangway/nvptx64-nvidia-cuda/libompdevice.a");
    assert!(path.is_file(), "{} is not there; run `cargo xtask stage` first", path.display());
    let output =
        Command::new("llvm-nm-22").args(["--defined-only", "--format=just-symbols"]).arg(&path).output();
    let output = output.expect("llvm-nm-22 starts");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn every_known_function_is_there_or_has_a_reason() {
    let exported = archive();
    let left_out: BTreeSet<&str> = LEFT_OUT.lines().filter_map(|line| line.split(' ').next()).collect();
    let missing: Vec<&str> =
        KNOWN.lines().filter(|name| !exported.contains(*name) && !left_out.contains(name)).collect();
    assert!(missing.is_empty(), "neither exported nor in left_out.txt: {missing:?}");
    let both: Vec<&&str> = left_out.iter().filter(|name| exported.contains(**name)).collect();
    assert!(both.is_empty(), "exported, but in left_out.txt: {both:?}");
    assert!(LEFT_OUT.lines().all(|line| line.split(' ').count() > 2), "each line gives a reason");
}
