//! `ld`: links code for CPU devices of a program with a sanitizer.
//!
//! `clang-linker-wrapper` hands all that the host's code is linked with to code for the host's own triple, too. A
//! sanitizer's runtime is among it, which can be in a program once, and not in a library. Code for devices calls nothing
//! of it (`compile::request`), so it is left out.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::exit::{Failure, NOT_EXECUTABLE, Outcome};

/// The system's linker, which is looked for in `PATH`.
const LINKER: &str = "ld";

pub fn link(arguments: &[OsString]) -> Outcome {
    let error = Command::new(LINKER).args(arguments.iter().filter(|word| !is_runtime(word))).exec();
    Err(Failure::new(NOT_EXECUTABLE, format!("cannot execute {LINKER}: {error}")))
}

/// Whether an argument is a part of a sanitizer's runtime.
fn is_runtime(argument: &OsString) -> bool {
    let name = Path::new(argument).file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"libclang_rt.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_left_out() {
        for (argument, is) in [
            ("/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.asan-x86_64.a", true),
            ("/usr/lib/llvm-22/lib/clang/22/lib/x86_64-pc-linux-gnu/libclang_rt.ubsan_standalone.a", true),
            ("--whole-archive", false),
            ("-lomptarget", false),
            ("/tmp/libclang_rt.asan/a.o", false),
        ] {
            assert_eq!(is_runtime(&argument.into()), is, "{argument}");
        }
    }
}
