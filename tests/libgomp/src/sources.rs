//! Unpacks the testsuite from Debian's package `gcc-N-source`.
//!
//! Called by `main` first of all. The tests are under the GPL, so they never
//! become part of this repository: they are unpacked into the build directory,
//! from the package that belongs to the installed compiler, with the changes
//! that Debian took from GCC's release branch.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// Where the package of a release has its files.
fn package(release: u8) -> PathBuf {
    format!("/usr/src/gcc-{release}").into()
}

/// What is unpacked, as tar's patterns below the root of GCC's sources: the tests,
/// and what they include from elsewhere.
const WANTED: [&str; 8] = [
    "libgomp/testsuite",
    "libgomp/*.h",
    "include/gomp-constants.h",
    "include/cuda/cuda.h",
    "include/hsa.h",
    "gcc/testsuite/c-c++-common/goacc",
    "gcc/testsuite/g++.dg/goacc",
    "gcc/testsuite/gfortran.dg/goacc",
];

/// The root of GCC's sources in `build`, unpacked if it is not there yet.
pub fn unpacked(build: &Path, release: u8) -> Result<PathBuf> {
    let package = package(release);
    let (tarball, version) = tarball(&package, release)?;
    let root = build.join("source");
    let stamp = root.join("unpacked-from");
    let identity = identity(&package, &tarball)? + &WANTED.join(" ");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == identity) {
        return Ok(root.canonicalize()?);
    }
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(&root)?;
    eprintln!("unpacking libgomp's testsuite from {}", tarball.display());
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--wildcards"])
        .arg("--strip-components=1")
        .arg("--directory")
        .arg(&root)
        .arg("--file")
        .arg(&tarball);
    tar.args(WANTED.map(|path| format!("{version}/{path}")));
    let status = tar.status().context("tar")?;
    ensure!(status.success(), "tar failed: {status}");
    let patch = package.join("debian/patches/git-updates.diff");
    if patch.exists() {
        update(&root, &patch)?;
    }
    fs::write(&stamp, identity)?;
    Ok(root.canonicalize()?)
}

/// The tarball, and the name of the folder in it.
fn tarball(package: &Path, release: u8) -> Result<(PathBuf, String)> {
    let missing = || format!("{}: install Debian's package gcc-{release}-source", package.display());
    let start = format!("gcc-{release}");
    for entry in fs::read_dir(package).with_context(missing)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(version) = name.strip_suffix("-dfsg.tar.xz").filter(|it| it.starts_with(&start)) {
            return Ok((package.join(&name), version.to_owned()));
        }
    }
    bail!("no {start}*-dfsg.tar.xz in {}", missing())
}

/// What decides whether files unpacked earlier are the same: the package.
fn identity(package: &Path, tarball: &Path) -> Result<String> {
    let changelog = fs::read_to_string(package.join("debian/changelog")).unwrap_or_default();
    let release = changelog.lines().next().unwrap_or_default();
    Ok(format!("{} {} {release}\n", tarball.display(), fs::metadata(tarball)?.len()))
}

/// Applies those parts of `patch` that change the testsuite.
fn update(root: &Path, patch: &Path) -> Result<()> {
    let bytes = fs::read(patch).with_context(|| patch.display().to_string())?;
    let wanted = testsuite_parts(&String::from_utf8_lossy(&bytes));
    let mut program = Command::new("patch")
        .args(["--strip=2", "--batch", "--forward", "--silent", "--directory"])
        .arg(root)
        .stdin(Stdio::piped())
        .spawn()
        .context("patch")?;
    program.stdin.take().expect("it is piped").write_all(wanted.as_bytes())?;
    let status = program.wait()?;
    ensure!(status.success(), "patch failed on the updates of {}: {status}", patch.display());
    Ok(())
}

/// The parts of a patch whose new file lies in the testsuite.
fn testsuite_parts(patch: &str) -> String {
    let mut wanted = String::new();
    let mut take = false;
    let mut lines = patch.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        // Two header lines in a row: a removed line that looks like the first has no second.
        let header =
            line.starts_with("--- ").then(|| lines.peek()).flatten().filter(|it| it.starts_with("+++ "));
        if let Some(new) = header {
            take = new.starts_with("+++ b/src/libgomp/testsuite/libgomp.");
        }
        if take {
            wanted.push_str(line);
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::testsuite_parts;

    #[test]
    fn parts_of_a_patch() {
        let wanted = "--- /dev/null\n+++ b/src/libgomp/testsuite/libgomp.c/a.c\n@@ -0,0 +1 @@\n+--- x\n";
        let other = "--- a/src/gcc/ChangeLog\n+++ b/src/gcc/ChangeLog\n@@ -1 +1 @@\n--- x\n+y\n";
        let text = format!("{other}{wanted}{other}");
        assert_eq!(testsuite_parts(&text), wanted);
    }
}
