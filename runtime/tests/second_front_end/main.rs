//! A second front end on the same runtime: a table of items like GCC's, against a
//! synchronous and several asynchronous devices, and with kernels that take one pointer
//! to a table on the device.
//!
//! | module | |
//! |---|---|
//! | [`gomp`] | the front end |
//! | [`program`] | constructs made with it |
//! | `data` | kinds of data: forced, if present, zero-length, first-private |
//! | `mappers` | items that a mapper expands to structures and pointers |
//! | `structures` | structures with a number of members, and how they count |
//! | `pointers` | attach, detach, always-pointer, pointers with an entry of their own |
//! | `queue` | constructs in queues that the program owns |
//! | `reverse` | from device addresses to host addresses |

mod data;
mod gomp;
mod mappers;
mod pointers;
mod program;
mod queue;
mod reverse;
mod structures;
#[path = "../support/mod.rs"]
mod support;
