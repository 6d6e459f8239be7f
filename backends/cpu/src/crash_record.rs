//! What the signal handler tells the `gangway` command of a crash.
//!
//! A file of words and then of the stack's bytes:
//!
//! | Word | Meaning |
//! |---|---|
//! | 0 | the address in the image, as its file has it |
//! | 1 | 1: it is a return address, and the registers belong to a function that it has called |
//! | 2, 3 | whether the address that was touched is known, and which it is |
//! | 4 | the address of the first byte of the stack that follows the words |
//! | 5 … 20 | the registers by DWARF's numbers |

use std::ffi::CStr;

/// The subcommand; two files follow it, the image and this.
pub const COMMAND: &CStr = c"crash-place";

/// Words before the stack's bytes.
pub const RECORD_WORDS: usize = 21;

/// Bytes of the stack at most.
pub const STACK_BYTES: usize = 256 << 10;
