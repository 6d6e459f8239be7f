//! The classes of instructions that touch memory.

use crate::types::{StateSpace, Type};

/// A load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    pub ty: Type,
    /// How many elements it moves: 1, 2 or 4.
    pub vector: u8,
    pub space: StateSpace,
    /// Whether others may be waited for with it: `.volatile`, `.relaxed`, `.acquire`,
    /// `.release`, `.mmio`.
    pub strong: bool,
    pub order: MemoryOrder,
    /// `ldu`: the address is the same in all lanes.
    pub uniform: bool,
}

impl MemoryAccess {
    /// In bytes, of all elements.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.ty.size() * self.vector as u32
    }
}

/// What an access orders before others or behind them: `.acquire`, `.release`, and `.acq_rel` for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryOrder {
    pub acquire: bool,
    pub release: bool,
    /// Its scope is `.cta`: it is strong towards threads of its block alone.
    pub narrow: bool,
}

/// `atom` and `red`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    pub op: AtomicOperation,
    pub ty: Type,
    pub space: StateSpace,
    /// Whether it gives what was there before, as `atom` does.
    pub returns: bool,
    pub order: MemoryOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOperation {
    Exchange,
    CompareAndSwap,
    Add,
    /// The sum of floating-point values, of each element of packed ones.
    AddFloat,
    And,
    Or,
    Xor,
    Min,
    Max,
    /// `inc`: zero after the operand.
    Increment,
    /// `dec`: the operand after zero.
    Decrement,
}

impl AtomicOperation {
    /// Whether lanes may be waiting for others with it.
    #[must_use]
    pub const fn may_spin(self) -> bool {
        use AtomicOperation::*;
        match self {
            Exchange | CompareAndSwap => true,
            Add | AddFloat | And | Or | Xor | Min | Max | Increment | Decrement => false,
        }
    }
}

/// `cp.async`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncCopy {
    /// From global to shared memory.
    Start,
    /// `commit_group`, `wait_group` and `wait_all`: copies are done when they start.
    Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stack {
    /// `alloca`
    Allocate,
    /// `stacksave`
    Save,
    /// `stackrestore`
    Restore,
}
