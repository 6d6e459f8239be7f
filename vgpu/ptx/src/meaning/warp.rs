//! The classes of instructions in which threads meet: barriers of a block, and what lanes of a
//! warp do together.

pub use gangway_simt::{BarrierReduction, Shuffle, Vote};

use crate::types::Type;

/// `bar` and `barrier`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// `.sync`
    Wait,
    /// `.arrive`
    Arrive,
    /// `.red`
    Reduce(BarrierReduction),
}

/// What lanes of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exchange {
    pub op: ExchangeOperation,
    /// Whether the lanes of a mask wait for each other, `.sync`; the old forms are for the lanes
    /// that happen to be there.
    pub sync: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExchangeOperation {
    /// `shfl`
    Shuffle(Shuffle),
    /// `vote`
    Vote(Vote),
    /// `match.any`
    MatchAny(Type),
    /// `match.all`
    MatchAll(Type),
    /// `redux`
    Reduce(Reduction, Type),
    /// `elect`
    Elect,
    /// `bar.warp.sync`, which exchanges nothing.
    Meet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}
