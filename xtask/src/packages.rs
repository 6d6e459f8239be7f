//! How build systems find Gangway: a CMake package, and files for pkg-config.
//!
//! The flags in them are what the staged command prints, so that there is one list of them.

use std::path::Path;
use std::process::Command;

use crate::{Result, tree};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The files for pkg-config: name, what it is for, what the command is asked, and variables.
const PACKAGES: [(&str, &str, &str, &str); 2] = [
    ("gangway", "OpenMP offloading to CPU devices", "x86_64", ""),
    ("gangway-gpu", "OpenMP offloading to NVIDIA's GPUs and to CPU devices", "sm_80,x86_64", "arch=sm_80\n"),
];

/// Lays the files out in the stage. The command itself is there already.
pub fn lay_out(root: &Path, stage: &Path) -> Result<()> {
    let cmake = stage.join("lib/cmake/Gangway");
    tree::create_folder(&cmake)?;
    for name in ["GangwayConfig.cmake", "GangwayConfigVersion.cmake"] {
        let text = tree::read(&root.join("tools/gangway/cmake").join(name))?;
        tree::write(&cmake.join(name), text.replace("@VERSION@", VERSION))?;
    }
    let folder = stage.join("lib/pkgconfig");
    tree::create_folder(&folder)?;
    for (name, description, architectures, variables) in PACKAGES {
        // Many compile and link in one call, with both lists: clang warns of targets that come twice.
        let flags = |part| flags(stage, part, architectures);
        let text = format!(
            "prefix=${{pcfiledir}}/../..\n{variables}\nName: {name}\nDescription: {description}, for clang-22\n\
             Version: {VERSION}\nCflags: {}\nLibs: -Wno-openmp-target {}\n",
            flags("compile")?,
            flags("link")?
        );
        tree::write(&folder.join(format!("{name}.pc")), text)?;
    }
    Ok(())
}

/// What the command prints, in the words of pkg-config's variables.
fn flags(stage: &Path, part: &str, architectures: &str) -> Result<String> {
    let command = stage.join("bin/gangway");
    let mut call = Command::new(&command);
    call.args(["cc", &format!("--print-flags={part}"), &format!("--offload-arch={architectures}")]);
    call.env_remove("GANGWAY_CUDA_PATH").env_remove("GANGWAY_LIBDIR");
    let output = call.output().map_err(|error| format!("cannot run {}: {error}", command.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} prints no flags: {said}", command.display()).into());
    }
    // The command sees its own folder without links.
    let prefix = quoted(&stage.canonicalize()?.display().to_string());
    let printed = String::from_utf8(output.stdout)?;
    Ok(printed.trim_end().replace(&prefix, "${prefix}").replace("=sm_80", "=${arch}"))
}

/// A path as the command prints it in a line of flags: as shells read it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c) || !c.is_ascii();
    let escaped = |c: char| [(!is_plain(c)).then_some('\\'), Some(c)];
    path.chars().flat_map(escaped).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_the_command_does() {
        assert_eq!(quoted("/usr/lib-1.0"), "/usr/lib-1.0");
        assert_eq!(quoted("/a folder/wïth (name)"), r"/a\ folder/wïth\ \(name\)");
    }
}
