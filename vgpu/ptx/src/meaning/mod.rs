//! What instructions mean: the one table from an operation to its class.
//!
//! An operation is the name of an instruction and those of its modifiers that decide what it
//! does. [`Meaning`] is its class, with a payload that says the rest. The table is one `match`
//! over [`Op`] without a wildcard ([`table`]), and each [`Opcode`](crate::Opcode) carries its
//! entry. Interpreter, compiler and analyses match on classes, again without wildcards where a
//! new class or operation needs a decision. So an operation without a meaning does not compile.
//!
//! A modifier that the table does not look at is no silent one: [`reading`] counts what was
//! read, and a spelling with a modifier left over has no meaning. Then it is no form either,
//! and a test of the form table fails.
//!
//! What PTX has and the virtual GPU refuses has no meaning; `forms::unsupported` names it.

mod compute;
mod matrix;
mod memory;
mod reading;
mod table;
mod warp;

pub use compute::*;
pub use matrix::*;
pub use memory::*;
pub(crate) use table::of;
pub use warp::*;

use crate::types::{StateSpace, Type};

/// The class of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// Results are made of values alone: arithmetic, logic, conversions, comparisons.
    Compute(Compute),
    /// `mov`: also of addresses, and of vectors, which it packs and unpacks.
    Move {
        ty: Type,
        vector: u8,
    },
    /// `cvta`: from the generic address to that of the space if `to_space`, otherwise the other
    /// way.
    ConvertAddress {
        ty: Type,
        space: StateSpace,
        to_space: bool,
    },
    /// `isspacep`
    IsInSpace(StateSpace),
    Load(MemoryAccess),
    Store(MemoryAccess),
    Atomic(Atomic),
    /// `cp.async`
    Copy(AsyncCopy),
    /// The stack of local memory, with the type of sizes and addresses.
    Stack(Stack, Type),
    /// Where a lane goes on.
    Control(Control),
    /// A barrier of the block.
    Barrier(Barrier),
    /// What lanes of a warp do together.
    Exchange(Exchange),
    /// What a warp does with matrices that its lanes hold parts of.
    Matrix(Matrix),
    /// `activemask`
    ActiveMask,
    /// `membar` and `fence`
    Fence {
        /// Its scope is `.cta`: it is none for threads of other blocks.
        narrow: bool,
    },
    /// What changes no result.
    Hint(Hint),
}

/// How control flow goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// `bra`
    Branch,
    /// `brx.idx`
    BranchIndexed,
    Call,
    Return,
    Exit,
    Trap,
}

/// An instruction that has no effect on what a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// `prefetch` and `prefetchu`
    Prefetch,
    /// `nanosleep`
    Sleep,
    /// `brkpt`
    Breakpoint,
}

impl Meaning {
    /// The access of a load or a store.
    #[must_use]
    pub const fn access(&self) -> Option<&MemoryAccess> {
        match self {
            Meaning::Load(access) | Meaning::Store(access) => Some(access),
            _ => None,
        }
    }

    /// Whether the condition code is read or written.
    #[must_use]
    pub const fn carries(&self) -> bool {
        matches!(self, Meaning::Compute(Compute::Carry(_)))
    }
}
