//! What of flang's GPU code is mended in LLVM's text, before LLVM's passes.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use super::{array_reductions, bitcode, llvm_text, lock_turns, reductions};
use crate::compile::GpuKind;
use crate::exit::Failure;

/// Compiles anew what `arguments` have left in `output`, if it may be wrong. The answer is whether it was.
pub fn mend(
    tool: &Path,
    arguments: &[OsString],
    output: &Path,
    gpu: Option<GpuKind>,
    module: &[u8],
) -> Result<bool, Failure> {
    let has = |name: &str| bitcode::find(module, name.as_bytes()).is_some();
    let has_locks = gpu == Some(GpuKind::Amd) && lock_turns::WORDS.iter().any(|name| has(name));
    if !has_locks && !has(array_reductions::SHUFFLE) {
        return Ok(false);
    }
    // What flang has to say it has said.
    llvm_text::recompile(tool, arguments, output, Stdio::null(), mended)
}

/// The mended text: reductions of arrays, what is wrong in clang's as well, and locks. `None` if there is nothing to
/// mend.
pub fn mended(text: &str) -> Option<String> {
    let steps = [array_reductions::mended, reductions::mended, lock_turns::mended];
    steps.into_iter().fold(None, |done: Option<String>, mend| mend(done.as_deref().unwrap_or(text)).or(done))
}
