//! What the stock compilers need of Gangway: other names of the command, and what they take
//! for a CUDA toolkit.

use std::path::Path;

use crate::{Result, tree};

/// The compilers under names that build systems can call.
const COMPILERS: [&str; 3] = ["gangway-cc", "gangway-c++", "gangway-fc"];

/// What clang and flang take for tools of their own, of the system and of a CUDA toolkit, as links in folders below
/// `lib/gangway`, and what they lead to.
const STAND_INS: [(&str, &str, &[&str]); 3] = [
    ("cuda/bin", "stand-in", &["ptxas", "nvlink"]),
    ("flang/bin", "../../cuda/bin/stand-in", &["flang", "llvm-offload-binary"]),
    ("cpu/bin", "../../cuda/bin/stand-in", &["ld"]),
];

/// The folders of this tree whose files are installed as they are, and where.
const FILES: [(&str, &str); 1] = [("tools/gangway/toolkit", "lib/gangway/cuda")];

/// An archive without members. Programs for other GPUs' runtimes name the mathematical library when
/// they link for the device (`-Xoffload-linker -lm`); here it is in the device runtime.
const EMPTY_ARCHIVE: (&str, &str) = ("nvptx64-nvidia-cuda/libm.a", "!<arch>\n");

/// Lays out the names and files in the stage. The command itself is there already.
pub fn lay_out(root: &Path, stage: &Path) -> Result<()> {
    for name in COMPILERS {
        tree::link("gangway", &stage.join("bin").join(name))?;
    }
    for (folder, script, tools) in STAND_INS {
        let place = stage.join("lib/gangway").join(folder);
        tree::create_folder(&place)?;
        for tool in tools {
            tree::link(script, &place.join(tool))?;
        }
    }
    let (name, content) = EMPTY_ARCHIVE;
    tree::write(&stage.join("lib/gangway").join(name), content)?;
    for (from, to) in FILES {
        tree::copy_folder(&root.join(from), &stage.join(to))?;
    }
    Ok(())
}
