//! Names and words that PTX has and the virtual GPU does not. A program that uses them is told
//! so, and not that its PTX is wrong.

use crate::modifier::{Modifier, Word};
use crate::op::Op;
use crate::types::{Type, spelled};

spelled! {
    /// The name of an instruction of PTX that no form describes.
    RefusedOp {
        Wmma = "wmma", Wgmma = "wgmma", Tcgen05 = "tcgen05", Tensormap = "tensormap",
        Tex = "tex", Tld4 = "tld4", Txq = "txq", Istypep = "istypep",
        Suld = "suld", Sust = "sust", Sured = "sured", Suq = "suq",
        Mapa = "mapa", Getctarank = "getctarank", Clusterlaunchcontrol = "clusterlaunchcontrol",
        Mbarrier = "mbarrier", Multimem = "multimem", Griddepcontrol = "griddepcontrol",
        Setmaxnreg = "setmaxnreg", Createpolicy = "createpolicy", Applypriority = "applypriority",
        Discard = "discard", Vavrg2 = "vavrg2", Vavrg4 = "vavrg4", Pmevent = "pmevent",
    }
}

impl RefusedOp {
    /// What the virtual GPU does not have.
    #[must_use]
    pub const fn lacks(self) -> &'static str {
        use RefusedOp::*;
        match self {
            Wmma | Wgmma | Tcgen05 => "these tensor core instructions",
            Tensormap => "tensor maps",
            Tex | Tld4 | Txq | Istypep => "textures",
            Suld | Sust | Sured | Suq => "surfaces",
            Mapa | Getctarank | Clusterlaunchcontrol => "clusters",
            Mbarrier => "asynchronous barriers",
            Multimem => "multicast memory",
            Griddepcontrol => "dependent grids",
            Setmaxnreg => "register reallocation",
            Createpolicy | Applypriority | Discard => "cache policies",
            Vavrg2 | Vavrg4 => "averages of video instructions",
            Pmevent => "performance monitor events",
        }
    }
}

/// Why an instruction is refused, for instructions of PTX that no form describes.
pub(crate) fn unsupported_instruction(name: &str) -> Option<&'static str> {
    RefusedOp::from_text(name).map(RefusedOp::lacks)
}

/// Whether `word` is a modifier of PTX that makes an instruction one that is not
/// supported.
pub(crate) fn is_unsupported_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "cluster",
        "shared::cluster",
        "bulk",
        "tensor",
        "mbarrier",
        "mbarrier_init",
        "proxy",
        "alias",
        "async",
        "L2::cache_hint",
        "unified",
        "multicast::cluster",
        "b128",
        "v8",
        "v16",
        "xorsign",
        "pack",
        "rs",
        "e4m3",
        "e5m2",
        "e4m3x2",
        "e5m2x2",
        "e2m1x2",
        "e2m3x2",
        "e3m2x2",
        "ue8m0x2",
        "e4m3x4",
        "e5m2x4",
        "satfinite",
        "tf32",
        "ignore_oob",
        "mapa",
        "global::init",
        "async_proxy",
        "op_restrict",
        "b8x16",
        "f32x2",
        "u8x4",
        "s8x4",
        "scale",
        "noinc",
        "sp",
        "sp::ordered_metadata",
        "block_scale",
        "kind::f8f6f4",
        "kind::mxf8f6f4",
        "kind::mxf4",
        "kind::mxf4nvf4",
        "m8n8k32",
        "m8n8k128",
        "m16n8k64",
        "m16n8k128",
        "m16n8k256",
        "m16n16",
        "m8n16",
        "m16n8",
        "b1",
        "u4",
        "s4",
        "e2m1",
        "e2m3",
        "e3m2",
    ];
    WORDS.contains(&word)
}

/// Why an instruction of PTX is refused whose words all are in forms that are supported.
pub(crate) fn unsupported_form(op: &str, modifiers: &[Modifier]) -> Option<&'static str> {
    let has = |word: Word| modifiers.contains(&Modifier::Word(word));
    match Op::from_text(op)? {
        Op::Mma if has(Word::M8n8k4) && modifiers.contains(&Modifier::Type(Type::F16)) => {
            Some("products for four lanes and four others")
        }
        Op::Atom | Op::Red if has(Word::V2) || has(Word::V4) => Some("atomic operations on vectors"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RefusedOp;
    use crate::op::Op;

    #[test]
    fn no_operation_is_both_described_and_refused() {
        for op in RefusedOp::ALL {
            assert_eq!(Op::from_text(op.text()), None, "{op}");
        }
    }
}
