//! What flang-22 calls in device code for whole arrays, allocatable variables, pointers and texts
//! (`flang/Runtime`): assignment, allocation, transformational functions, reductions and searches.
//!
//! This is a package of its own and a member of its own in the archive, so that the linker does not
//! even read it for programs without them. The numerical functions are in `device/gpu/maths`, output
//! and `stop` in `device/gpu/system`. What is not there (`reduce`, `random_number`, length parameters) the linker
//! names.
//!
//! Functions run in the thread that calls them. An error that the Fortran library ends the program
//! for, such as arrays that do not conform, ends the kernel with a message.
//!
//! | Module | What is in it |
//! |---|---|
//! | `target` | what depends on the kind of GPU |
//! | `export` | how a function is exported |
//! | [`device`] | messages, and memory of the device's heap |
//! | [`letter`] | the letters of a text |
//! | [`type_table`] | how the compiler describes derived types |
//! | [`descriptor`] | descriptors of variables |
//! | [`element`] | types of elements |
//! | [`derived`] | objects of derived types |
//! | [`assign`] | assignment |
//! | [`construct`] | array constructors |
//! | [`inquire`] | bounds, shapes and sizes |
//! | [`product`] | products of matrices and vectors |
//! | [`rearrange`] | functions that put elements elsewhere |
//! | [`reduce`] | reductions |
//! | [`text`] | texts |
//! | [`allocate`] | allocatable variables and pointers |
//! | [`locate`] | searches |
//! | [`shift`] | shifts |

#![cfg_attr(gpu, no_std)]
#![cfg_attr(gpu, feature(linkage, core_intrinsics, link_llvm_intrinsics))]
#![cfg_attr(gpu, allow(internal_features))]

mod export;

pub mod allocate;
pub mod assign;
pub mod construct;
pub mod derived;
pub mod descriptor;
pub mod device;
pub mod element;
pub mod inquire;
pub mod letter;
pub mod locate;
pub mod product;
pub mod rearrange;
pub mod reduce;
pub mod shift;
mod target;
pub mod text;
pub mod type_table;

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[cfg(gpu)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
