//! Device images of LLVM bitcode, which are compiled when the program runs.
//!
//! clang leaves such images with `-fopenmp-target-jit`, LLVM's "IR images": the whole device code, with the
//! device runtime, optimised by the link. What is missing is the last step, for the device that is there. The
//! back ends ask here for it when they load an image.
//!
//! clang-22 takes it, in a process of its own: LLVM ends its process where it finds a mistake, and the program
//! may have an LLVM of its own. Where there is no clang-22 the answer is an error that says so, and the host
//! may take over.
//!
//! | Module | What is in it |
//! |---|---|
//! | `step` | one call of a compiler: how long it may take, what it may write |
//! | `compiler` | clang-22, where it is and what it is told |
//! | `compiled` | what has been compiled in this process |
//! | `alignment` | what is wrong in LLVM's text for GPUs ([`mended`]): arrays' alignment |
//! | `local_memory` | the same: a thread's own memory |

mod alignment;
mod compiled;
mod compiler;
mod local_memory;
mod step;

use std::borrow::Cow;
use std::sync::Arc;

/// The newest processor that [PTX 8.7](compiler::PTX) knows: its code runs on later ones.
const NEWEST: u32 = 120;

/// Whether an image is LLVM bitcode for an architecture, as triples begin: `x86_64`, `nvptx64`. Reads a few
/// hundred bytes.
#[must_use]
pub fn is_for(image: &[u8], architecture: &str) -> bool {
    let triple = gangway_image::bitcode::triple(image);
    triple.is_some_and(|triple| triple.split('-').next() == Some(architecture))
}

/// A shared library for this machine's processors.
///
/// # Errors
/// What is missing, or what the compiler says.
pub fn library(image: &[u8]) -> Result<Arc<[u8]>, String> {
    compiled::once(image, "", |folder| compiler::library(image, folder))
}

/// PTX for a GPU of NVIDIA's with this compute capability (two digits: 90 is 9.0) and later ones.
///
/// # Errors
/// What is missing, or what the compiler says.
pub fn ptx(image: &[u8], capability: u32) -> Result<Arc<[u8]>, String> {
    let processor = format!("sm_{}", capability.min(NEWEST));
    compiled::once(image, &processor, |folder| {
        let text = compiler::ptx(image, &processor, folder)?;
        Ok(mended(&text, true).into_owned())
    })
}

/// LLVM's text for a GPU of NVIDIA's without what is wrong in it. `generic`: accesses that LLVM takes for ones of
/// the thread's memory without reason are put right, too.
#[must_use]
pub fn mended(text: &[u8], generic: bool) -> Cow<'_, [u8]> {
    match alignment::raise(text) {
        raised if !generic => raised,
        Cow::Borrowed(text) => local_memory::made_generic(text),
        Cow::Owned(text) => Cow::Owned(local_memory::made_generic(&text).into_owned()),
    }
}
