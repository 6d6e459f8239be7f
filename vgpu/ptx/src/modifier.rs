//! The words after the periods of an instruction: rounding, comparison, scope, type...
//!
//! One enumeration holds them all, because the form table is about words. The same word means
//! different things in different instructions: `.and` is an atomic operation, a reduction, or how
//! `setp` combines predicates. What the words of an operation mean
//! together is its [`Meaning`](crate::Meaning).

use crate::types::{StateSpace, Type, spelled};

spelled! {
    /// A modifier that is neither a type nor a state space.
    Word {
        // Rounding
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna",
        Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        // Arithmetic
        Ftz = "ftz", Sat = "sat", Satfinite = "satfinite", Relu = "relu", Nan = "NaN", XorSign = "xorsign",
        Abs = "abs", Approx = "approx", Full = "full", Hi = "hi", Lo = "lo", Wide = "wide", Cc = "cc",
        // Comparison; `lo` and `hi` are above
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", IsNan = "nan",
        // Combination, atomic operations and reductions
        And = "and", Or = "or", Xor = "xor", Add = "add", Inc = "inc", Dec = "dec", Min = "min", Max = "max",
        Exch = "exch", Cas = "cas", Popc = "popc", Noftz = "noftz",
        // Memory
        Weak = "weak", Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        AcqRel = "acq_rel", Sc = "sc", Mmio = "mmio", Nc = "nc", To = "to",
        Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys", Gl = "gl",
        V2 = "v2", V4 = "v4",
        Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt",
        L1 = "L1", L2 = "L2",
        L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
        L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2Prefetch64 = "L2::64B", L2Prefetch128 = "L2::128B", L2Prefetch256 = "L2::256B",
        L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal",
        Async = "async", CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all",
        // Control and warps
        Uni = "uni", Sync = "sync", Arrive = "arrive", Red = "red", Aligned = "aligned", Warp = "warp", Idx = "idx",
        Up = "up", Down = "down", Bfly = "bfly", All = "all", Any = "any", Ballot = "ballot", AnyMatch = "any_match",
        // Matrices
        M8n8 = "m8n8", M8n8k4 = "m8n8k4", M8n8k16 = "m8n8k16", M16n8k4 = "m16n8k4", M16n8k8 = "m16n8k8",
        M16n8k16 = "m16n8k16", M16n8k32 = "m16n8k32",
        Row = "row", Col = "col", Trans = "trans", X1 = "x1", X2 = "x2", X4 = "x4",
        // Bits
        L = "l", R = "r", Wrap = "wrap", Clamp = "clamp", Shiftamt = "shiftamt", Mode = "mode",
        F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
        Po = "po", Shr7 = "shr7", Shr15 = "shr15",
        // testp
        Finite = "finite", Infinite = "infinite", Number = "number", NotANumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
    }
}

/// One word of an instruction after its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    Word(Word),
    Type(Type),
    Space(StateSpace),
}

impl Modifier {
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Type::from_text(text)
            .map(Modifier::Type)
            .or_else(|| Word::from_text(text).map(Modifier::Word))
            .or_else(|| match StateSpace::from_text(text)? {
                StateSpace::Generic | StateSpace::Reg | StateSpace::Sreg => None,
                space => Some(Modifier::Space(space)),
            })
    }

    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Modifier::Word(word) => word.text(),
            Modifier::Type(ty) => ty.text(),
            Modifier::Space(space) => space.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        for &word in Word::ALL {
            assert_eq!(Modifier::from_text(word.text()), Some(Modifier::Word(word)), "{word}");
        }
        assert_eq!(Modifier::from_text("generic"), None);
        assert_eq!(Modifier::from_text("shared::cta"), Some(Modifier::Space(StateSpace::SharedCta)));
    }
}
