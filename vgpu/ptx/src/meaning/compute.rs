//! The classes of instructions whose results depend on values alone.
//!
//! Types are those of the operands; results have the type that the opcode expects there.

use crate::types::Type;

/// What an instruction computes for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compute {
    /// Logic of predicates.
    Truth(Logic),
    /// Logic of bits.
    Logic {
        op: Logic,
        ty: Type,
    },
    /// `lop3`, and how its predicate is combined where it has one.
    Table(Option<Combine>),
    /// Shifts, fields and counts of bits.
    Bits {
        op: Bits,
        ty: Type,
    },
    /// Integer arithmetic of one value.
    Integer {
        op: Integer,
        ty: Type,
    },
    /// Integer arithmetic of two halves of a word, `u16x2` and `s16x2`.
    Packed {
        op: Packed,
        ty: Type,
        relu: bool,
    },
    /// Integer arithmetic with the condition code.
    Carry(Carry),
    /// `dp2a` and `dp4a`
    Dot(Dot),
    /// Arithmetic of `f32` and `f64`.
    Float {
        op: Float,
        ty: Type,
        mode: Mode,
    },
    /// Arithmetic of `f16`, `bf16` and pairs of them.
    Half {
        op: Half,
        ty: Type,
        mode: Mode,
    },
    /// What the ISA lets be approximate, in all types.
    Approximate {
        op: Approximate,
        ty: Type,
        ftz: bool,
    },
    /// `testp`
    Test {
        test: Test,
        ty: Type,
    },
    /// `cvt`
    Convert(Convert),
    /// `setp`
    SetPredicate(Compare),
    /// `set`, and the type of its result.
    Set(Compare, Type),
    /// `selp`
    Select(Type),
    /// `slct`, by the sign of a value of type `by`.
    SelectBySign {
        ty: Type,
        by: Type,
        ftz: bool,
    },
    Video(Video),
    VideoMad(VideoMad),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    And,
    Or,
    Xor,
    Not,
}

/// How the result of a comparison is combined with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bits {
    /// `cnot`
    IsZero,
    ShiftLeft,
    ShiftRight,
    /// `shf`
    Funnel {
        left: bool,
        wrap: bool,
    },
    /// `popc`
    Population,
    /// `clz`
    LeadingZeros,
    /// `bfind`: the position, or with `.shiftamt` how far it is from the top.
    Find {
        from_top: bool,
    },
    /// `fns`
    FindNth,
    /// `brev`
    Reverse,
    /// `bfe`
    Extract,
    /// `bfi`
    Insert,
    /// `szext`
    Extend {
        clamp: bool,
    },
    /// `bmsk`
    Mask {
        clamp: bool,
    },
    /// `prmt`
    Permute(Permute),
}

/// How `prmt` reads its selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permute {
    /// A nibble for each byte.
    Nibbles,
    /// `.f4e`
    Forward,
    /// `.b4e`
    Backward,
    /// `.rc8`
    ReplicateByte,
    /// `.ecl`
    ClampLeft,
    /// `.ecr`
    ClampRight,
    /// `.rc16`
    ReplicateHalf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integer {
    Add {
        sat: bool,
    },
    Sub {
        sat: bool,
    },
    Mul(Part),
    /// Only high parts saturate.
    Mad {
        part: Part,
        sat: bool,
    },
    Mul24 {
        high: bool,
    },
    Mad24 {
        high: bool,
        sat: bool,
    },
    Sad,
    Div,
    Rem,
    Abs,
    Neg,
    Min {
        relu: bool,
    },
    Max {
        relu: bool,
    },
}

/// Which part of a product is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Low,
    High,
    /// All of it, twice as wide as the factors.
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packed {
    Add,
    Min,
    Max,
}

/// A link of a carry chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carry {
    pub op: CarryOperation,
    pub ty: Type,
    /// Whether it adds the condition code: `addc`, `subc`, `madc`.
    pub takes: bool,
    /// Whether it leaves the condition code: `.cc`.
    pub gives: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarryOperation {
    Add,
    Sub,
    Mad { high: bool },
}

/// `dp4a`, or `dp2a` with the low or the high bytes of its second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dot {
    pub shape: DotShape,
    /// Of the first two operands.
    pub signed: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotShape {
    Four,
    TwoLow,
    TwoHigh,
}

/// How a floating-point result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    NearestEven,
    NearestAway,
    Zero,
    Down,
    Up,
}

/// What modifies floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    pub rounding: Rounding,
    /// Subnormal operands and results become zeros.
    pub ftz: bool,
    /// Into [0, 1].
    pub sat: bool,
    /// Zero instead of negative results.
    pub relu: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    Add,
    Sub,
    Mul,
    /// `fma` and `mad`
    Fma,
    Div,
    Rcp,
    Sqrt,
    Abs,
    Neg,
    Copysign,
    /// A NaN gives way to a number, unless `nan`.
    Min {
        nan: bool,
    },
    Max {
        nan: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Add,
    Sub,
    Mul,
    Fma,
    Abs,
    Neg,
    Min { nan: bool },
    Max { nan: bool },
}

impl From<Half> for Float {
    fn from(half: Half) -> Self {
        match half {
            Half::Add => Float::Add,
            Half::Sub => Float::Sub,
            Half::Mul => Float::Mul,
            Half::Fma => Float::Fma,
            Half::Abs => Float::Abs,
            Half::Neg => Float::Neg,
            Half::Min { nan } => Float::Min { nan },
            Half::Max { nan } => Float::Max { nan },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approximate {
    Div,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// `cvt`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convert {
    pub between: Conversion,
    pub to: Type,
    pub from: Type,
    pub mode: Mode,
    /// Whether the result is an integral value, rounded to by `mode`.
    pub integral: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    Integers,
    IntegerToFloat,
    FloatToInteger,
    Floats,
}

/// A comparison of two values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    pub comparison: Comparison,
    pub ty: Type,
    pub ftz: bool,
    pub combine: Option<Combine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Of integers, by the signedness of their type, and of bits.
    Integers(Order),
    Floats(FloatOrder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatOrder {
    /// False with a NaN.
    Ordered(Order),
    /// True with a NaN.
    Unordered(Order),
    /// Whether neither is a NaN.
    Numbers,
    /// Whether one is a NaN.
    Nan,
}

/// A video instruction: computed exactly, then fitted into 32, 16 or 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    pub op: VideoOperation,
    /// 1, 2 or 4 parts of a word.
    pub parts: u8,
    pub to: Type,
    pub a: Type,
    pub b: Type,
    pub sat: bool,
    /// What is done with the last operand.
    pub then: Option<VideoThen>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoOperation {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    ShiftLeft { clamp: bool },
    ShiftRight { clamp: bool },
    Set(Order),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoThen {
    Add,
    Min,
    Max,
}

/// `vmad`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMad {
    pub to: Type,
    pub a: Type,
    pub b: Type,
    /// One more.
    pub plus_one: bool,
    pub sat: bool,
    /// By how many bits the sum is shifted down: 0, 7 or 15.
    pub shift: u8,
}
