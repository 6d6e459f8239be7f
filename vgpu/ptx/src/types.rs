//! The types and state spaces of PTX, and when a register of one type may stand where
//! an instruction asks for another (PTX ISA, "Type information for instructions and
//! operands").
//!
//! Everything here is plain data that parser, verifier, printer and engines share.

use std::fmt;

/// Declares an enumeration whose members have a spelling in PTX, with the look-up
/// from the spelling and the spelling's `Display`.
macro_rules! spelled {
    ($(#[$meta:meta])* $name:ident { $($(#[$member_meta:meta])* $member:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$member_meta])* $member),+ }

        impl $name {
            /// Every member, in order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$member),+];

            #[must_use]
            pub fn from_text(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$member),)+ _ => None }
            }

            /// The spelling in PTX, without a leading period.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $($name::$member => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}
pub(crate) use spelled;

spelled! {
    /// A fundamental, packed or alternate floating-point type.
    Type {
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", Bf16 = "bf16", Bf16x2 = "bf16x2", Tf32 = "tf32",
        F32 = "f32", F64 = "f64",
        E4m3 = "e4m3", E5m2 = "e5m2",
        U16x2 = "u16x2", S16x2 = "s16x2",
        Pred = "pred",
    }
}

/// Bytes of the words that LLVM does atomic operations on single bytes with: it reads and writes
/// what is beside them. So memory for variables comes in whole words.
pub const WORD: u64 = 4;

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    Bits,
    Unsigned,
    Signed,
    Float,
    Predicate,
}

impl Type {
    /// In bytes; a predicate counts as one.
    #[must_use]
    pub const fn size(self) -> u32 {
        use Type::*;
        match self {
            B8 | U8 | S8 | E4m3 | E5m2 | Pred => 1,
            B16 | U16 | S16 | F16 | Bf16 => 2,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 | Tf32 | U16x2 | S16x2 => 4,
            B64 | U64 | S64 | F64 => 8,
            B128 => 16,
        }
    }

    #[must_use]
    pub const fn bits(self) -> u32 {
        self.size() * 8
    }

    /// The alternate floating-point and packed types live in plain bit registers.
    #[must_use]
    pub const fn class(self) -> TypeClass {
        use Type::*;
        match self {
            B8 | B16 | B32 | B64 | B128 | Bf16 | Bf16x2 | Tf32 | E4m3 | E5m2 | U16x2 | S16x2 => {
                TypeClass::Bits
            }
            U8 | U16 | U32 | U64 => TypeClass::Unsigned,
            S8 | S16 | S32 | S64 => TypeClass::Signed,
            F16 | F16x2 | F32 | F64 => TypeClass::Float,
            Pred => TypeClass::Predicate,
        }
    }

    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), TypeClass::Signed)
    }

    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), TypeClass::Signed | TypeClass::Unsigned)
    }

    /// A floating-point type in the sense of arithmetic, alternate formats included.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.class(), TypeClass::Float)
            || matches!(self, Type::Bf16 | Type::Bf16x2 | Type::Tf32 | Type::E4m3 | Type::E5m2)
    }

    /// The integer type of the same signedness with twice as many bits.
    #[must_use]
    pub const fn widened(self) -> Option<Self> {
        use Type::*;
        Some(match self {
            U8 => U16,
            U16 => U32,
            U32 => U64,
            S8 => S16,
            S16 => S32,
            S32 => S64,
            _ => return None,
        })
    }

    /// The smallest and the largest value of an integer type.
    #[must_use]
    pub const fn limits(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The element of a packed floating-point type; other types are their own.
    #[must_use]
    pub const fn element(self) -> Self {
        match self {
            Type::F16x2 => Type::F16,
            Type::Bf16x2 => Type::Bf16,
            other => other,
        }
    }

    /// Whether variables and registers can be declared with it.
    #[must_use]
    pub const fn is_fundamental(self) -> bool {
        !matches!(
            self,
            Type::Bf16 | Type::Bf16x2 | Type::Tf32 | Type::E4m3 | Type::E5m2 | Type::U16x2 | Type::S16x2
        )
    }

    /// Whether a register of type `register` may be an operand of this type.
    #[must_use]
    pub fn accepts(self, register: Type) -> bool {
        if self == register {
            return true;
        }
        let (wanted, got) = (self.class(), register.class());
        if wanted == TypeClass::Predicate || got == TypeClass::Predicate || self.size() != register.size() {
            return false;
        }
        // Two halves of a word are bits where an integer is wanted, as for NVIDIA's assembler.
        let bits = got == TypeClass::Bits || register == Type::F16x2 && self.is_integer();
        wanted == TypeClass::Bits || bits || (self.is_integer() && register.is_integer())
    }

    /// [`accepts`](Type::accepts) with the relaxed rules of `ld`, `st` and `cvt`: an
    /// integer or bit register may be wider than the type. `source` allows what is
    /// allowed only where the register is read.
    #[must_use]
    pub fn accepts_wider(self, register: Type, source: bool) -> bool {
        if self.accepts(register) {
            return true;
        }
        let (wanted, got) = (self.class(), register.class());
        if wanted == TypeClass::Predicate || got == TypeClass::Predicate || register.size() <= self.size() {
            return false;
        }
        match wanted {
            TypeClass::Bits if source => true,
            TypeClass::Float => got == TypeClass::Bits,
            _ => got != TypeClass::Float || register == Type::F16x2,
        }
    }
}

spelled! {
    /// Where a variable or an address lives. `Generic` has no spelling in source text.
    StateSpace {
        Reg = "reg", Sreg = "sreg", Const = "const", Global = "global", Local = "local",
        Param = "param", ParamEntry = "param::entry", ParamFunc = "param::func",
        Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster",
        Generic = "generic",
    }
}

impl StateSpace {
    /// The space itself, without the refinement that only restricts where it is used.
    #[must_use]
    pub const fn plain(self) -> Self {
        match self {
            StateSpace::SharedCta => StateSpace::Shared,
            StateSpace::ParamEntry | StateSpace::ParamFunc => StateSpace::Param,
            other => other,
        }
    }
}

/// A version of the PTX language, from `.version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

impl Version {
    /// The newest version that the form table describes.
    pub const NEWEST: Version = Version { major: 9, minor: 5 };

    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Version { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_leads_back() {
        for &ty in Type::ALL {
            assert_eq!(Type::from_text(ty.text()), Some(ty));
        }
        for &space in StateSpace::ALL {
            assert_eq!(StateSpace::from_text(space.text()), Some(space));
        }
    }

    #[test]
    fn registers_match_by_size_and_class() {
        assert!(Type::U32.accepts(Type::S32) && Type::F32.accepts(Type::B32) && Type::B32.accepts(Type::F32));
        assert!(
            !Type::U32.accepts(Type::F32) && !Type::F32.accepts(Type::U32) && !Type::U32.accepts(Type::U64)
        );
        assert!(!Type::Pred.accepts(Type::B8) && !Type::B8.accepts(Type::Pred));
        assert!(Type::S32.accepts(Type::F16x2) && !Type::F32.accepts(Type::F16x2));
        assert!(!Type::F16x2.accepts(Type::S32) && !Type::U64.accepts(Type::F16x2));
        assert!(Type::Bf16.accepts(Type::B16) && Type::Bf16x2.accepts(Type::B32));
    }

    #[test]
    fn integers_have_limits_and_packed_types_elements() {
        assert_eq!(Type::S8.limits(), (-128, 127));
        assert_eq!(Type::U64.limits(), (0, u64::MAX.into()));
        assert_eq!(Type::S64.limits(), (i64::MIN.into(), i64::MAX.into()));
        assert_eq!((Type::F16x2.element(), Type::Bf16x2.element()), (Type::F16, Type::Bf16));
        assert_eq!((Type::F32.element(), Type::U16x2.element()), (Type::F32, Type::U16x2));
    }

    #[test]
    fn loads_take_wider_registers() {
        assert!(Type::U8.accepts_wider(Type::U32, false) && Type::B32.accepts_wider(Type::B64, false));
        assert!(!Type::U32.accepts_wider(Type::U16, false) && !Type::U8.accepts_wider(Type::F32, true));
        assert!(Type::B16.accepts_wider(Type::F32, true) && !Type::B16.accepts_wider(Type::F32, false));
        assert!(!Type::F32.accepts_wider(Type::U64, true) && Type::F32.accepts_wider(Type::B64, true));
    }
}
