//! What the lanes of a warp do, one operation after the other: arithmetic, memory, what they exchange
//! and where they wait for each other.
//!
//! An operation reads and writes *slots*, of which each lane has its own: registers of the source,
//! element by element. A guard says which lanes do it. Control between blocks is not here but in
//! [`End`](crate::End)s; what those need, such as the arguments of a call, is.

use crate::place::{Address, Place, Space, Special};
use crate::scalar::Scalar;

/// One operation, for the lanes of its guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub guard: Option<Guard>,
    pub kind: Kind,
}

/// Lanes in which a predicate holds, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub slot: u32,
    pub negated: bool,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Slot(u32),
    /// What a predicate is not.
    Not(u32),
    /// The low bits are the value's.
    Constant(u64),
    Special(Special),
    /// The address of a place in its own space.
    Address(Place, i64),
}

impl Source {
    /// The slot that it is read from.
    #[must_use]
    pub const fn slot(self) -> Option<u32> {
        match self {
            Source::Slot(slot) | Source::Not(slot) => Some(slot),
            _ => None,
        }
    }

    #[must_use]
    pub const fn constant(self) -> Option<i64> {
        match self {
            Source::Constant(bits) => Some(bits as i64),
            _ => None,
        }
    }
}

/// A value that is read, as this type. The slot may be wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub source: Source,
    pub ty: Scalar,
}

/// A value of this type that is written, and extended to what the slot has; nothing where it is not
/// wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub slot: Option<u32>,
    pub ty: Scalar,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Compute(Compute),
    /// As many values as are read.
    Move {
        sources: Box<[Read]>,
        results: Box<[Write]>,
    },
    /// One value of `ty` that the sources are the parts of, from the least significant one on, and
    /// the results as well.
    Repack {
        ty: Scalar,
        sources: Box<[Source]>,
        results: Box<[Option<u32>]>,
    },
    Load {
        access: Access,
        address: Address,
        results: Box<[Option<u32>]>,
    },
    Store {
        access: Access,
        address: Address,
        sources: Box<[Source]>,
    },
    Atomic(Atomic),
    /// From global to shared memory, done at once. Of `bytes`, which are a constant, `taken` are
    /// copied, the rest is zero.
    Copy {
        to: Address,
        from: Address,
        bytes: u32,
        taken: Source,
    },
    /// To the generic address or, if `to_space`, from it.
    ConvertAddress {
        ty: Scalar,
        space: Space,
        to_space: bool,
        source: Source,
        result: Option<u32>,
    },
    /// Whether a generic address is one of a space.
    IsInSpace {
        space: Space,
        source: Source,
        result: Option<u32>,
    },
    /// The stack of local memory: `ty` is the type of sizes and addresses.
    Stack {
        stack: Stack,
        ty: Scalar,
    },
    Exchange(Exchange),
    Matrix(Matrix),
    /// The lanes that run.
    ActiveLanes {
        result: Option<u32>,
    },
    Fence {
        /// For threads of the block alone.
        narrow: bool,
    },
    /// Others may have their turn.
    Sleep,
    /// It has no effect.
    Nothing,
    /// Lanes part: each goes to the target of the block's [`End`](crate::End) that it names.
    Table {
        index: Source,
    },
    Barrier(Barrier),
    Call(Call),
    /// Lanes go elsewhere; the block's [`End`](crate::End) says where.
    Go,
}

/// Results that depend on nothing but the sources. What they are the source's language knows: it
/// gives the [`Sequence`](crate::Sequence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compute {
    /// By which that language and helpers know it.
    pub opcode: u32,
    /// What is known of it without a sequence.
    pub algebra: Option<Algebra>,
    /// A bit that lanes carry from operation to operation is read or written, too.
    pub carries: bool,
    pub sources: Box<[Read]>,
    /// One or two.
    pub results: Box<[Write]>,
}

/// Integer arithmetic of which it is known how results follow from sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Algebra {
    pub operator: Operator,
    /// Of the first source.
    pub ty: Scalar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    Add,
    /// Of three sources.
    Sum,
    Subtract,
    Negate,
    Multiply(Half),
    /// And a sum with the third source.
    MultiplyAdd(Half),
    Divide,
    Remainder,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
    /// To another integer, without saturation if it is `exact`.
    Convert {
        to: Scalar,
        exact: bool,
    },
    /// The first result is whether the sources are in this order, the second one whether they are
    /// not.
    Compare(crate::IntOrder),
}

/// Which bits of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Low,
    High,
    /// All of them: the result has twice as many bits.
    Both,
}

/// A load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub ty: Scalar,
    /// How many elements it moves: 1, 2 or 4.
    pub count: u8,
    pub space: Space,
    /// Whether others may be waited for with it.
    pub strong: bool,
    /// Whether what others have published with it is known behind it, and whether it publishes what has been
    /// done before.
    pub acquire: bool,
    pub release: bool,
    /// Strong towards threads of its block alone.
    pub narrow: bool,
    /// It is said that the address is the same in all lanes.
    pub uniform: bool,
}

impl Access {
    /// In bytes, of all elements.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.ty.size() * self.count as u32
    }
}

/// What is read and written at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// By which helpers know it.
    pub opcode: u32,
    pub operator: AtomicOperator,
    pub ty: Scalar,
    pub space: Space,
    pub address: Address,
    pub sources: Box<[Source]>,
    /// Where what was there before is wanted.
    pub result: Option<u32>,
    /// Whether it may be.
    pub returns: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOperator {
    Add,
    /// The sum of numbers of 32 or 64 bits.
    AddFloat,
    Exchange,
    CompareAndSwap,
    And,
    Or,
    Xor,
    Min,
    Max,
    /// What only helpers know.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Takes so many bytes, aligned to a constant.
    Allocate {
        size: Source,
        align: u64,
        result: Option<u32>,
    },
    /// Where it ends.
    Save {
        result: Option<u32>,
    },
    Restore {
        top: Source,
    },
}

/// What lanes of a warp do together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// By which helpers know it.
    pub opcode: u32,
    pub operator: Exchanged,
    pub sources: Box<[Read]>,
    pub results: Box<[Write]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchanged {
    /// Nothing: lanes wait for each other.
    Nothing,
    Vote(Vote),
    Shuffle(Shuffle),
    /// Which lanes have the own value.
    MatchAny,
    /// Whether all have the same.
    MatchAll,
    Reduce,
    /// Who is the first one.
    Elect,
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    Ballot,
    All,
    Any,
    Uniform,
}

/// What a warp does with matrices that its lanes hold parts of. Parts that are read and written lie
/// in an area one behind the other, 32 lanes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// By which helpers know it.
    pub opcode: u32,
    pub address: Option<Address>,
    /// With the offset in the area.
    pub sources: Box<[(Read, u32)]>,
    pub results: Box<[(Write, u32)]>,
}

/// A barrier of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    pub meeting: Meeting,
    pub number: Source,
    /// How many threads come; all of the block where it is not said.
    pub count: Option<Source>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    Wait,
    Arrive,
    Reduce { reduction: BarrierReduction, source: Source, result: Option<u32> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierReduction {
    Count,
    And,
    Or,
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub target: Target,
    pub arguments: Box<[Argument]>,
    pub results: Box<[Taken]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Function(u32),
    /// Whose address this is; it has to have this signature.
    Address {
        source: Source,
        signature: u64,
    },
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A value of each lane.
    Value(Scalar),
    /// So many bytes of each lane's memory.
    Bytes(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    pub passed: Passed,
    pub from: From,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Source(Source),
    /// What is in a place.
    Place(Place),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub passed: Passed,
    pub to: To,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Nothing,
    Slot(u32),
    Place(Place),
}

impl Operation {
    /// Tells which slots it reads (`false`) and writes (`true`), its guard first.
    pub fn each_slot(&self, tell: &mut dyn FnMut(u32, bool)) {
        if let Some(guard) = self.guard {
            tell(guard.slot, false);
        }
        self.kind.each_slot(tell);
    }

    /// Tells which places it names, but for those that accesses are counted from.
    pub fn each_place(&self, tell: &mut dyn FnMut(Place)) {
        self.kind.each_source(&mut |source| {
            if let Source::Address(place, _) = source {
                tell(place);
            }
        });
        if let Kind::Call(call) = &self.kind {
            call.each_place(tell);
        }
    }
}

/// The slots of values that are read.
fn read(source: Source, tell: &mut dyn FnMut(u32, bool)) {
    match source {
        Source::Slot(slot) | Source::Not(slot) | Source::Address(Place::Slot(slot), _) => tell(slot, false),
        Source::Constant(_) | Source::Special(_) | Source::Address(..) => {}
    }
}

fn written(slot: Option<u32>, tell: &mut dyn FnMut(u32, bool)) {
    if let Some(slot) = slot {
        tell(slot, true);
    }
}

impl Kind {
    fn each_slot(&self, tell: &mut dyn FnMut(u32, bool)) {
        match self {
            Kind::Compute(Compute { results, .. })
            | Kind::Exchange(Exchange { results, .. })
            | Kind::Move { results, .. } => results.iter().for_each(|result| written(result.slot, tell)),
            Kind::Repack { results, .. } => results.iter().for_each(|&slot| written(slot, tell)),
            Kind::Load { address, results, .. } => {
                results.iter().for_each(|&slot| written(slot, tell));
                address.each_slot(false, tell);
            }
            Kind::Store { address, .. } => address.each_slot(true, tell),
            Kind::Atomic(atomic) => {
                written(atomic.result, tell);
                atomic.address.each_slot(false, tell);
            }
            Kind::Copy { to, from, .. } => {
                to.each_slot(false, tell);
                from.each_slot(false, tell);
            }
            Kind::ConvertAddress { result, .. }
            | Kind::IsInSpace { result, .. }
            | Kind::Stack { stack: Stack::Allocate { result, .. } | Stack::Save { result }, .. }
            | Kind::ActiveLanes { result } => written(*result, tell),
            Kind::Matrix(matrix) => {
                matrix.results.iter().for_each(|(result, _)| written(result.slot, tell));
                if let Some(address) = &matrix.address {
                    address.each_slot(false, tell);
                }
            }
            Kind::Barrier(barrier) => {
                if let Meeting::Reduce { result, .. } = barrier.meeting {
                    written(result, tell);
                }
            }
            Kind::Call(call) => call.each_slot(tell),
            Kind::Stack { stack: Stack::Restore { .. }, .. }
            | Kind::Fence { .. }
            | Kind::Sleep
            | Kind::Nothing
            | Kind::Table { .. }
            | Kind::Go => {}
        }
        self.each_source(&mut |source| read(source, tell));
    }

    /// Tells what values it reads, but those of an access's address, and those of a call, which are in the order of its
    /// arguments with what is read of places.
    fn each_source(&self, tell: &mut dyn FnMut(Source)) {
        match self {
            Kind::Compute(Compute { sources, .. })
            | Kind::Exchange(Exchange { sources, .. })
            | Kind::Move { sources, .. } => sources.iter().for_each(|value| tell(value.source)),
            Kind::Repack { sources, .. } | Kind::Store { sources, .. } => {
                sources.iter().for_each(|&source| tell(source));
            }
            Kind::Atomic(atomic) => atomic.sources.iter().for_each(|&source| tell(source)),
            Kind::Copy { taken: source, .. }
            | Kind::ConvertAddress { source, .. }
            | Kind::IsInSpace { source, .. }
            | Kind::Stack {
                stack: Stack::Allocate { size: source, .. } | Stack::Restore { top: source },
                ..
            }
            | Kind::Table { index: source } => tell(*source),
            Kind::Matrix(matrix) => matrix.sources.iter().for_each(|(value, _)| tell(value.source)),
            Kind::Barrier(barrier) => {
                tell(barrier.number);
                barrier.count.into_iter().for_each(&mut *tell);
                if let Meeting::Reduce { source, .. } = barrier.meeting {
                    tell(source);
                }
            }
            Kind::Load { .. }
            | Kind::Stack { stack: Stack::Save { .. }, .. }
            | Kind::ActiveLanes { .. }
            | Kind::Fence { .. }
            | Kind::Sleep
            | Kind::Nothing
            | Kind::Call(_)
            | Kind::Go => {}
        }
    }
}

impl Exchange {
    /// Whether it has what its operator needs: the value, what it is about, the members.
    pub(crate) fn has_enough(&self) -> bool {
        let (sources, results) = match self.operator {
            Exchanged::Nothing => (0, 0),
            Exchanged::Vote(_) | Exchanged::MatchAny | Exchanged::Reduce => (1, 1),
            Exchanged::MatchAll => (1, 2),
            Exchanged::Shuffle(_) => (3, 2),
            Exchanged::Elect => (0, 1),
        };
        self.sources.len() >= sources && self.results.len() >= results
    }
}

impl Call {
    /// Tells which places it reads, writes and passes on.
    fn each_place(&self, tell: &mut dyn FnMut(Place)) {
        if let Target::Address { source: Source::Address(place, _), .. } = self.target {
            tell(place);
        }
        for result in &self.results {
            if let To::Place(place) = result.to {
                tell(place);
            }
        }
        for argument in &self.arguments {
            if let From::Place(place) | From::Source(Source::Address(place, _)) = argument.from {
                tell(place);
            }
        }
    }

    fn each_slot(&self, tell: &mut dyn FnMut(u32, bool)) {
        for result in &self.results {
            match result.to {
                To::Slot(slot) | To::Place(Place::Slot(slot)) => tell(slot, true),
                To::Nothing | To::Place(_) => {}
            }
        }
        if let Target::Address { source, .. } = self.target {
            read(source, tell);
        }
        for argument in &self.arguments {
            match argument.from {
                From::Source(source) => read(source, tell),
                From::Place(Place::Slot(slot)) => tell(slot, false),
                From::Place(_) => {}
            }
        }
    }
}
