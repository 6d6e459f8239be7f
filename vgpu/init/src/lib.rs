//! Weaves into device code what finds uses of what nothing has written.
//!
//! Beside each register that may hold something undefined there is another one, its *shadow*, that has a bit for each of
//! its bits: set where the bit is undefined. Each instruction is joined by others that compute the shadow of its result
//! from those of its operands, so that padding, unused parts of vectors and bits that are masked away stay what they are
//! without a word. Memory has shadows as well (`gangway_device_memory::shadow`). So what is undefined is followed through copies
//! to where it matters: where a branch goes, which address is accessed, what lanes vote. There the record of the place,
//! a variable of the module, is written. The rules are those of MemorySanitizer (Stepanov and Serebryany, CGO 2015).
//!
//! A third register, the *origin*, says where what is undefined was read first: a number for the place in the program,
//! and the address.
//!
//! All of this is PTX, woven into the module's text before it is compiled. So generators know nothing of it, and a
//! program that is not checked has nothing of it.
//!
//! | Module | What is in it |
//! |---|---|
//! | `place` | where instructions are, for people |
//! | `layout` | where shadows of a thread's own memory are, and what calls pass |
//! | `flow` | which registers may be undefined |
//! | `loops` | loops, and which registers live where |
//! | `weaver` | the text that is being woven; values, guards, records |
//! | `compute` | what is computed of values |
//! | `memory` | loads, stores, atomic operations |
//! | `lanes` | what lanes do together |
//! | `calls` | parameters and results of functions |
//! | `fast` | the form of loops for while all is defined |
//! | `body` | a function |
#![forbid(unsafe_code)]

mod body;
mod calls;
mod compute;
mod fast;
mod flow;
mod lanes;
mod layout;
mod loops;
mod memory;
mod place;
mod weaver;

use gangway_ptx::{Additions, Module, Woven};

pub use layout::{LOCAL_SHADOW, OWN_START};
pub use place::{Place, Read, Use, UseKind};

/// The variable with the records of uses: [`RECORD`] bytes for each.
pub const RECORDS: &str = "__11gangway_gpu_init_records";
/// A record: the origin, the block in the upper and the thread in the lower half of a word, how often, and nothing.
pub const RECORD: u64 = 32;
/// Where the number of the place of a read begins in an origin. Below it is the address, without the bits
/// that all addresses of the device have.
pub const PLACE_SHIFT: u32 = gangway_device_memory::SIZE.trailing_zeros();
/// Numbers of places are below this.
pub const MOST_PLACES: u64 = 1 << (u64::BITS - PLACE_SHIFT);

/// A module with what watches it, as text.
#[derive(Clone, Debug)]
pub struct Checked {
    pub text: String,
    /// What is read; the number of the first is what [`check`] was given.
    pub reads: Vec<Read>,
    /// By record.
    pub uses: Vec<Use>,
}

/// Weaves the check into a module. `first` is the number of its first place of a read, above 0.
#[must_use]
pub fn check(module: &Module, first: u64) -> Checked {
    let mut found = weaver::Found { first, reads: Vec::new(), uses: Vec::new() };
    let functions = (0..module.functions.len()).map(|index| body::weave(module, index, &mut found)).collect();
    let declarations = format!(
        ".visible .global .align 32 .b8 {RECORDS}[{}];\n{}",
        RECORD * (found.uses.len() as u64).max(1),
        layout::HELPERS
    );
    let text = Woven(module, &Additions { declarations, functions }).to_string();
    Checked { text, reads: found.reads, uses: found.uses }
}
