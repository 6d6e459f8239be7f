//! The operations, in one table: what builds, prints, parses, verifies and evaluates them
//! looks there.

use crate::types::Element;

/// How two integers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntOrder {
    Equal,
    NotEqual,
    LessSigned,
    LessEqualSigned,
    GreaterSigned,
    GreaterEqualSigned,
    LessUnsigned,
    LessEqualUnsigned,
    GreaterUnsigned,
    GreaterEqualUnsigned,
}

/// How two floats compare: IEEE 754's predicates. Those that begin with `Or` hold for NaN, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatOrder {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    OrEqual,
    OrNotEqual,
    OrLess,
    OrLessEqual,
    OrGreater,
    OrGreaterEqual,
    /// Neither is NaN.
    Ordered,
    /// One is NaN.
    Unordered,
}

/// Which elements an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operands {
    /// None: constants and parameters.
    None,
    /// As many of one of these elements, all alike.
    Alike(&'static [Element], usize),
    /// These.
    Each(&'static [Element]),
    /// An integer and a number of bits.
    Shifted,
    /// A mask and two integers or two masks, alike.
    Chosen,
}

impl Operands {
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Operands::None => 0,
            Operands::Alike(_, count) => count,
            Operands::Each(elements) => elements.len(),
            Operands::Shifted => 2,
            Operands::Chosen => 3,
        }
    }

    /// Whether values of these elements are what is taken.
    #[must_use]
    pub fn take(self, given: &[Element]) -> bool {
        match (self, given) {
            (Operands::None, []) => true,
            (Operands::Alike(elements, count), [first, ..]) => {
                given.len() == count && elements.contains(first) && given.iter().all(|other| other == first)
            }
            (Operands::Each(elements), given) => elements == given,
            (Operands::Shifted, [value, amount]) => value.is_integer() && *amount == Element::I32,
            (Operands::Chosen, [mask, yes, no]) => {
                *mask == Element::Mask && yes == no && (yes.is_integer() || *yes == Element::Mask)
            }
            _ => false,
        }
    }
}

/// The element of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// That of the first operand.
    First,
    /// That of the second operand.
    Second,
    Always(Element),
}

use Element::{F32, F64, I32, I64, Mask};
const INTEGERS: &[Element] = &[I32, I64];
const FLOATS: &[Element] = &[F32, F64];
const BITS: &[Element] = &[I32, I64, Mask];

macro_rules! operations {
    ($($(#[$attribute:meta])* $op:ident $name:literal $operands:expr => $gives:expr;)+) => {
        /// What a value is made by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            /// The operand of the sequence with this number.
            Parameter(u32),
            /// These bits, in the lowest of 64; a mask is 0 or 1.
            Constant(u64),
            /// Whether integers compare so.
            CompareInt(IntOrder),
            /// Whether floats compare so.
            CompareFloat(FloatOrder),
            $($(#[$attribute])* $op,)+
        }

        impl Op {
            /// All operations that have nothing but their name.
            pub const PLAIN: &[Op] = &[$(Op::$op),+];

            /// As sequences are printed.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    Op::Parameter(_) => "parameter",
                    Op::Constant(_) => "constant",
                    Op::CompareInt(order) => order.name(),
                    Op::CompareFloat(order) => order.name(),
                    $(Op::$op => $name,)+
                }
            }

            /// What it takes.
            #[must_use]
            pub const fn operands(self) -> Operands {
                match self {
                    Op::Parameter(_) | Op::Constant(_) => Operands::None,
                    Op::CompareInt(_) => Operands::Alike(INTEGERS, 2),
                    Op::CompareFloat(_) => Operands::Alike(FLOATS, 2),
                    $(Op::$op => $operands,)+
                }
            }

            const fn gives(self) -> Gives {
                match self {
                    // Whoever makes one says which element it has.
                    Op::Parameter(_) | Op::Constant(_) => Gives::First,
                    Op::CompareInt(_) | Op::CompareFloat(_) => Gives::Always(Mask),
                    $(Op::$op => $gives,)+
                }
            }
        }
    };
}

const fn alike(elements: &'static [Element], count: usize) -> Operands {
    Operands::Alike(elements, count)
}

const fn each(elements: &'static [Element]) -> Operands {
    Operands::Each(elements)
}

operations! {
    Not "not" alike(BITS, 1) => Gives::First;
    And "and" alike(BITS, 2) => Gives::First;
    Or "or" alike(BITS, 2) => Gives::First;
    Xor "xor" alike(BITS, 2) => Gives::First;
    Add "add" alike(INTEGERS, 2) => Gives::First;
    Sub "sub" alike(INTEGERS, 2) => Gives::First;
    Mul "mul" alike(INTEGERS, 2) => Gives::First;
    /// The upper half of the product, signed.
    MulHighSigned "mul_high_s" alike(INTEGERS, 2) => Gives::First;
    MulHighUnsigned "mul_high_u" alike(INTEGERS, 2) => Gives::First;
    /// By zero all bits are set; the least value by -1 is itself.
    DivSigned "div_s" alike(INTEGERS, 2) => Gives::First;
    DivUnsigned "div_u" alike(INTEGERS, 2) => Gives::First;
    /// By zero the dividend is left.
    RemSigned "rem_s" alike(INTEGERS, 2) => Gives::First;
    RemUnsigned "rem_u" alike(INTEGERS, 2) => Gives::First;
    MinSigned "min_s" alike(INTEGERS, 2) => Gives::First;
    MinUnsigned "min_u" alike(INTEGERS, 2) => Gives::First;
    MaxSigned "max_s" alike(INTEGERS, 2) => Gives::First;
    MaxUnsigned "max_u" alike(INTEGERS, 2) => Gives::First;
    Neg "neg" alike(INTEGERS, 1) => Gives::First;
    Abs "abs" alike(INTEGERS, 1) => Gives::First;
    /// Amounts of the width and more shift everything out.
    ShiftLeft "shl" Operands::Shifted => Gives::First;
    ShiftRightUnsigned "shr_u" Operands::Shifted => Gives::First;
    /// Amounts of the width and more leave the sign.
    ShiftRightSigned "shr_s" Operands::Shifted => Gives::First;
    /// The upper word of low and high word together, shifted left by up to 32.
    FunnelLeft "funnel_l" each(&[I32, I32, I32]) => Gives::First;
    /// The lower word of low and high word together, shifted right by up to 32.
    FunnelRight "funnel_r" each(&[I32, I32, I32]) => Gives::First;
    /// Four bytes of two words, each by the low four bits of a nibble of the third: which byte, and
    /// in the highest bit, whether all bits are that byte's sign.
    Permute "permute" each(&[I32, I32, I32]) => Gives::First;
    Population "population" alike(INTEGERS, 1) => Gives::Always(I32);
    LeadingZeros "leading_zeros" alike(INTEGERS, 1) => Gives::Always(I32);
    ReverseBits "reverse_bits" alike(INTEGERS, 1) => Gives::First;
    /// Of both halves of a word.
    AddHalves "add_halves" each(&[I32, I32]) => Gives::First;
    MinHalvesSigned "min_halves_s" each(&[I32, I32]) => Gives::First;
    MinHalvesUnsigned "min_halves_u" each(&[I32, I32]) => Gives::First;
    MaxHalvesSigned "max_halves_s" each(&[I32, I32]) => Gives::First;
    MaxHalvesUnsigned "max_halves_u" each(&[I32, I32]) => Gives::First;
    WidenSigned "widen_s" each(&[I32]) => Gives::Always(I64);
    WidenUnsigned "widen_u" each(&[I32]) => Gives::Always(I64);
    LowWord "low_word" each(&[I64]) => Gives::Always(I32);
    HighWord "high_word" each(&[I64]) => Gives::Always(I32);
    /// The first where the mask is set, the second elsewhere.
    Select "select" Operands::Chosen => Gives::Second;
    /// All bits where the mask is set, none elsewhere.
    MaskWord "mask_word" each(&[Mask]) => Gives::Always(I32);
    MaskWide "mask_wide" each(&[Mask]) => Gives::Always(I64);
    /// The float with these bits.
    AsFloat32 "as_f32" each(&[I32]) => Gives::Always(F32);
    AsFloat64 "as_f64" each(&[I64]) => Gives::Always(F64);
    /// The same, but a NaN may come with any payload: for arithmetic, which makes the result
    /// canonical.
    AsNumber "as_number" each(&[I32]) => Gives::Always(F32);
    /// The float's bits.
    AsWord "as_i32" each(&[F32]) => Gives::Always(I32);
    AsWide "as_i64" each(&[F64]) => Gives::Always(I64);
    /// The float's bits; every NaN is [`crate::CANONICAL_NAN`].
    Canonical "canonical" each(&[F32]) => Gives::Always(I32);
    AddFloat "fadd" alike(FLOATS, 2) => Gives::First;
    SubFloat "fsub" alike(FLOATS, 2) => Gives::First;
    MulFloat "fmul" alike(FLOATS, 2) => Gives::First;
    DivFloat "fdiv" alike(FLOATS, 2) => Gives::First;
    /// The first by the second and the third, rounded once. Only where the processor has it.
    Fma "fma" alike(FLOATS, 3) => Gives::First;
    Sqrt "sqrt" alike(FLOATS, 1) => Gives::First;
    /// Ties to even.
    Nearest "nearest" alike(FLOATS, 1) => Gives::First;
    Truncate "truncate" alike(FLOATS, 1) => Gives::First;
    Floor "floor" alike(FLOATS, 1) => Gives::First;
    Ceiling "ceiling" alike(FLOATS, 1) => Gives::First;
    /// The first if it is less, else the second.
    Lesser "lesser" alike(FLOATS, 2) => Gives::First;
    /// The first if it is greater, else the second.
    Greater "greater" alike(FLOATS, 2) => Gives::First;
    /// The nearest float, ties to even.
    SignedToF32 "s_to_f32" alike(INTEGERS, 1) => Gives::Always(F32);
    UnsignedToF32 "u_to_f32" alike(INTEGERS, 1) => Gives::Always(F32);
    SignedToF64 "s_to_f64" alike(INTEGERS, 1) => Gives::Always(F64);
    UnsignedToF64 "u_to_f64" alike(INTEGERS, 1) => Gives::Always(F64);
    /// Towards zero, to the nearest value that fits; NaN is zero.
    ToSignedWord "to_s32" each(&[F32]) => Gives::Always(I32);
    ToUnsignedWord "to_u32" each(&[F32]) => Gives::Always(I32);
    ToSignedWide "to_s64" alike(FLOATS, 1) => Gives::Always(I64);
    ToUnsignedWide "to_u64" alike(FLOATS, 1) => Gives::Always(I64);
    /// Towards zero, of what fits; anything else gives anything.
    ToWordUnchecked "to_word" each(&[F32]) => Gives::Always(I32);
    Promote "promote" each(&[F32]) => Gives::Always(F64);
    /// The nearest, ties to even.
    Demote "demote" each(&[F64]) => Gives::Always(F32);
}

impl Op {
    /// The element of the result of these operands; none for constants and parameters.
    #[must_use]
    pub fn result(self, operands: &[Element]) -> Option<Element> {
        match self.gives() {
            Gives::First => operands.first().copied(),
            Gives::Second => operands.get(1).copied(),
            Gives::Always(element) => Some(element),
        }
    }

    /// The operation that is printed like this; constants and parameters are none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = Op::PLAIN.iter().copied();
        let integers = IntOrder::ALL.iter().map(|&order| Op::CompareInt(order));
        let floats = FloatOrder::ALL.iter().map(|&order| Op::CompareFloat(order));
        plain.chain(integers).chain(floats).find(|op| op.name() == name)
    }

    /// Whether the operands may be exchanged.
    #[must_use]
    pub const fn commutes(self) -> bool {
        matches!(self, Op::And | Op::Or | Op::Xor | Op::Add | Op::Mul | Op::AddHalves)
    }
}

macro_rules! orders {
    ($order:ident: $($variant:ident $name:literal),+ $(,)?) => {
        impl $order {
            pub const ALL: &[$order] = &[$($order::$variant),+];

            pub(crate) const fn name(self) -> &'static str {
                match self { $($order::$variant => $name,)+ }
            }
        }
    };
}

orders! { IntOrder:
    Equal "eq", NotEqual "ne", LessSigned "lt_s", LessEqualSigned "le_s", GreaterSigned "gt_s",
    GreaterEqualSigned "ge_s", LessUnsigned "lt_u", LessEqualUnsigned "le_u",
    GreaterUnsigned "gt_u", GreaterEqualUnsigned "ge_u",
}

orders! { FloatOrder:
    Equal "feq", NotEqual "fne", Less "flt", LessEqual "fle", Greater "fgt", GreaterEqual "fge",
    OrEqual "for_eq", OrNotEqual "for_ne", OrLess "for_lt", OrLessEqual "for_le",
    OrGreater "for_gt", OrGreaterEqual "for_ge", Ordered "ordered", Unordered "unordered",
}
