//! Where values are that operations do not compute: memory, variables, and what threads are told of
//! themselves.

/// The space of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Any of the others, as the address says.
    Generic,
    Global,
    Constant,
    /// Of the block.
    Shared,
    /// Each lane's own.
    Local,
    /// What a function has been given: in each lane's own memory, or the kernel's parameters.
    Parameters,
}

impl Space {
    /// Whether threads may come upon each other there: it is not a lane's own, and nobody writes constants while a
    /// kernel runs.
    #[must_use]
    pub const fn may_race(self) -> bool {
        matches!(self, Space::Generic | Space::Global | Space::Shared)
    }
}

/// Where a named thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A scalar whose address is never taken: a slot like those of registers.
    Slot(u32),
    /// The lanes' values that the caller points to, by the number of the pointer.
    Argument(u32),
    /// In the kernel's parameters, at this offset: the same for all lanes.
    Parameter(u32),
    /// In each lane's local memory, at this offset from the frame.
    Local(u32),
    /// Its address is in the table of symbols.
    Symbol(u32),
    /// The code of the function with this number.
    Function(u32),
}

/// What an address in brackets is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    Slot(u32),
    Place(Place),
    /// Zero.
    Absolute,
}

/// The address of an access, in the space of the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub base: Base,
    pub offset: i64,
}

impl Address {
    /// The slot that the address is in.
    #[must_use]
    pub const fn slot(&self) -> Option<u32> {
        match self.base {
            Base::Slot(slot) => Some(slot),
            _ => None,
        }
    }

    pub(crate) fn each_slot(&self, written: bool, tell: &mut dyn FnMut(u32, bool)) {
        match self.base {
            Base::Slot(slot) => tell(slot, false),
            Base::Place(Place::Slot(slot)) => tell(slot, written),
            Base::Place(_) | Base::Absolute => {}
        }
    }
}

/// Of three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// Which bits of a value of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Whole,
    Low,
    High,
}

/// Which lanes a mask has, beside the own one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    Own,
    Before,
    UpToOwn,
    Behind,
    FromOwn,
}

/// What threads are told of themselves and of where they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The thread's index in the block, and how many there are.
    Thread(Axis),
    Threads(Axis),
    /// The block's index in the grid, and how many there are.
    Block(Axis),
    Blocks(Axis),
    /// The thread's index in the warp.
    Lane,
    LaneMask(Lanes),
    /// The warp's index in the block, and how many there are.
    Warp,
    Warps,
    /// Which of the processors it is, and how many there are.
    Processor,
    Processors,
    Grid,
    /// Steps of the processor.
    Clock(Part),
    /// Nanoseconds.
    Time(Part),
    /// Bytes of shared memory, and those that the launch has added.
    Shared,
    DynamicShared,
    /// Of the address of the grid's own memory.
    Workspace(Part),
}

impl Special {
    /// Whether it is another one at each time it is read.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(self, Special::Clock(_) | Special::Time(_))
    }
}
