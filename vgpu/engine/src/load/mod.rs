//! From a linked module to a [`Program`](crate::Program): what kernels reach, where
//! variables go, what the driver tells of kernels.

mod abreast;
mod error;
mod graph;
mod kernel;
mod place;
mod straight;
mod waits;

use gangway_ptx::{Module, StateSpace};

pub(crate) use abreast::keeps_abreast;
pub use error::LoadError;
pub(crate) use error::check_shared;
pub(crate) use graph::{Graph, Reach, is_shared};
pub(crate) use kernel::describe;
pub use kernel::{Kernel, Parameter};
pub(crate) use place::{Piece, PieceClass, Places, pieces};
pub(crate) use straight::is_straight;
pub(crate) use waits::waits;

/// Where the variables of each function's body begin in the table of addresses, after those of the
/// module.
pub(crate) fn symbol_table(module: &Module, places: &Places) -> (Vec<u64>, Vec<u32>) {
    let mut symbols = places.placement.variables.clone();
    let mut bodies = Vec::with_capacity(module.functions.len());
    for addresses in &places.placement.bodies {
        bodies.push(symbols.len() as u32);
        symbols.extend(addresses);
    }
    (symbols, bodies)
}

/// Whether a variable is in device memory, where the host can find it.
pub(crate) fn is_global(space: StateSpace) -> bool {
    matches!(space.plain(), StateSpace::Global | StateSpace::Const)
}
