//! The names of things in text, each in one place.

use crate::operation::{AtomicOperator, BarrierReduction, Half, Shuffle, Vote};
use crate::place::{Axis, Lanes, Part, Space};
use crate::scalar::Scalar;

/// Something with a name.
pub(crate) trait Named: Copy + PartialEq + Sized + 'static {
    const NAMES: &'static [(Self, &'static str)];

    fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(this, _)| *this == self);
        found.map_or_else(|| unreachable!("everything has a name"), |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, own)| *own == name).map(|(this, _)| *this)
    }
}

macro_rules! names {
    ($($ty:ident: $($member:ident $name:literal),+;)+) => {$(
        impl Named for $ty {
            const NAMES: &'static [(Self, &'static str)] = {
                // Whoever is added gets a name.
                const fn has(this: &$ty) {
                    match this { $($ty::$member => {})+ }
                }
                let _ = has;
                &[$(($ty::$member, $name)),+]
            };
        }
    )+};
}

names! {
    Scalar: Predicate "pred", U8 "u8", U16 "u16", U32 "u32", U64 "u64", S8 "s8", S16 "s16", S32 "s32",
        S64 "s64", F32 "f32", F64 "f64";
    Space: Generic "generic", Global "global", Constant "constant", Shared "shared", Local "local",
        Parameters "parameters";
    Axis: X "x", Y "y", Z "z";
    Part: Whole "whole", Low "low", High "high";
    Lanes: Own "own", Before "before", UpToOwn "up_to_own", Behind "behind", FromOwn "from_own";
    Half: Low "low", High "high", Both "both";
    Shuffle: Up "up", Down "down", Butterfly "butterfly", Index "index";
    Vote: Ballot "ballot", All "all", Any "any", Uniform "uniform";
    BarrierReduction: Count "count", And "and", Or "or";
    AtomicOperator: Add "add", AddFloat "add_float", Exchange "exchange",
        CompareAndSwap "compare_and_swap", And "and", Or "or", Xor "xor", Min "min", Max "max",
        Other "other";
}
