//! What is known while code of a block is made: what slots hold, what has been checked, where lanes
//! are taken to agree.

use std::ops::RangeInclusive;

use cranelift_codegen::ir::{MemFlagsData, SigRef, StackSlot, Value};
use gangway_simt::{Compute, Space};
use rustc_hash::FxHashMap;

use crate::analysis::quotients::Rate;

use super::sequence::Input;
use super::value::Lanes;

/// The offset of a field of the warp's state.
macro_rules! field {
    ($name:ident) => {
        std::mem::offset_of!($crate::abi::Warp, $name) as i32
    };
}
pub(crate) use field;

/// Memory of the engine's own, always accessible.
pub(crate) const fn own_memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// What a slot holds, in the form in which that is known.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Input(Input),
    Steps(Steps),
}

/// A value of equal steps in each row of lanes.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// The value of each row's first lane, all `I32` or all `I64`.
    pub bases: Box<[Value]>,
    pub step: i64,
}

impl Known {
    #[must_use]
    pub fn lanes(lanes: Lanes) -> Self {
        Known::Input(Input::Lanes(lanes))
    }
}

/// Accesses of a block that have the same base: their ends are checked together, once. Where that
/// goes wrong helpers do all of them, each with its own checks.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub space: Space,
    /// How many each lane moves.
    pub bytes: i64,
    /// The addresses of all lanes have been looked at, and not those at the ends of what has a shape.
    pub scattered: bool,
    /// The offsets from the base.
    pub offsets: RangeInclusive<i64>,
    /// Some of them are stores.
    pub writes: bool,
    /// Where they remember in check mode what they may access.
    pub site: u8,
    pub wrong: Value,
}

/// By the slot of the register that is the base.
pub(crate) type CheckedAccesses = FxHashMap<u32, Vec<Checked>>;

/// Where the arrays of all calls of a function are: it makes one call at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallArea {
    pub slot: Option<StackSlot>,
    pub signature: Option<SigRef>,
}

/// What code relies on that takes lanes to agree in quotients.
#[derive(Default)]
pub(crate) struct Agreement {
    /// Nonzero where they do not, as far as that has not been looked at.
    pub wrong: Option<Value>,
    /// In a turn, the lane that others have to agree with, an `I32`. Those that do are the mask.
    pub leader: Option<Value>,
    /// In a turn, the lanes that are left, and the last one that has agreed so far, an `I32`: none
    /// behind it is looked at any more.
    pub left: Option<Value>,
    pub last: Option<Value>,
    /// Values in the order of the lanes, by slot. A shift or a mask makes quotients of them.
    pub ordered: FxHashMap<u32, Ordered>,
}

impl Agreement {
    /// Of a turn, with the first of the lanes that are left.
    #[must_use]
    pub fn with(leader: Value, left: Value) -> Self {
        Agreement { leader: Some(leader), left: Some(left), ..Self::default() }
    }

    /// A slot is written.
    pub fn forget(&mut self, slot: u32) {
        self.ordered.remove(&slot);
    }
}

/// Values in the order of the lanes, such as the high half of a product with a constant: how they are made for any
/// lane, and how fast they grow.
#[derive(Clone)]
pub(crate) struct Ordered {
    pub compute: Compute,
    pub sources: Vec<Source>,
    pub rate: Rate,
}

/// A source of an operation.
#[derive(Clone)]
pub(crate) enum Source {
    Steps(Steps),
    Same(Input),
    Ordered(Ordered),
}
