//! LLVM in a process of its own: the text of a module goes in, an object file comes out.
//!
//! LLVM ends its process where it finds that it is wrong. It may crash, or never come back. What it registers
//! to be done at exit is taken down while threads are still in it. And a program may have an LLVM of its own.
//! So it does not run in the program's process: the library that wants code ([`compile`]) starts the program
//! `gangway-llvm`, which lies beside it or in the folder above, and talks to it by a socket.
//!
//! The program sees nothing of that. What it waits for, its file descriptors, its signals and its end are as
//! without. The other process ends when the socket's other end is gone.
//!
//! Each module uses only those above it:
//!
//! | module | what |
//! |---|---|
//! | `build` | the sources that both processes are built of |
//! | `message` | what the processes tell each other |
//! | `library` | LLVM's functions, found when the process starts |
//! | `machine` | from a module's text to an object file |
//! | `serve` | the process that LLVM runs in |
//! | `files` | a thread without the program's files |
//! | `installed` | where the program is, and whether there is LLVM |
//! | `start` | starting that process, without the program seeing it |
//! | `session` | a thread that talks with one such process |
//! | `client` | the process's sessions, one after the other |

mod build;
mod client;
mod files;
mod installed;
mod library;
mod machine;
mod message;
mod serve;
mod session;
mod start;

pub use client::{compile, is_installed, spent, target};
pub use message::{Made, Target};
pub use serve::serve;
