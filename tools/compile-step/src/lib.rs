//! `libgangway-compile-step.so`, which `gangway cc` and `gangway c++` name as a plugin of clang's for
//! GPU code.
//!
//! clang has no option for another program that compiles, as flang has. But the step that compiles,
//! `clang -cc1`, is a process of its own and loads its plugins before all else. Then the process
//! becomes `gangway stand-in clang` with the same arguments, which has clang compile in steps and mends the
//! code between them. What is no such step stays as it is.

use std::ffi::{CStr, OsStr, OsString};
use std::io::{Write, stderr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The loader calls it when clang opens the library.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    let Ok(line) = std::fs::read("/proc/self/cmdline") else { return };
    let arguments: Vec<OsString> = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|byte| *byte == 0)
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    let ([_, step, ..], Ok(compiler), Some(gangway)) = (&arguments[..], std::env::current_exe(), tool())
    else {
        return;
    };
    if step != "-cc1" {
        return;
    }
    let error = Command::new(&gangway)
        .args([OsStr::new("stand-in"), OsStr::new("clang"), compiler.as_os_str()])
        .args(&arguments[1..])
        .exec();
    // clang alone would make code with faults that nobody hears of.
    let _ = writeln!(stderr(), "gangway: error: cannot execute {}: {error}", gangway.display());
    std::process::exit(1);
}

/// The command: `bin/gangway` of the installation in whose `lib/gangway` this library is.
fn tool() -> Option<PathBuf> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address inside this library, and room for the answer.
    let answer = unsafe { libc::dladdr(start as *const libc::c_void, found.as_mut_ptr()) };
    if answer == 0 {
        return None;
    }
    // SAFETY: `dladdr` has filled it in, with a name that stays as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(found.assume_init().dli_fname) };
    let library = Path::new(OsStr::from_bytes(name.to_bytes()));
    Some(library.parent()?.parent()?.parent()?.join("bin/gangway"))
}
