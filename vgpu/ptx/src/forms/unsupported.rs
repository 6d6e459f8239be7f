//! Names and words that PTX has and the virtual GPU does not, so that a program that
//! uses them is told so, instead of being told that its PTX is wrong.

/// Why an instruction is refused, for instructions of PTX that no form describes.
pub(crate) fn unsupported_instruction(name: &str) -> Option<&'static str> {
    Some(match name {
        "wmma" | "mma" | "ldmatrix" | "stmatrix" | "movmatrix" => "tensor core instructions",
        "wgmma" | "tcgen05" | "tensormap" => "tensor core instructions",
        "tex" | "tld4" | "txq" | "istypep" => "textures",
        "suld" | "sust" | "sured" | "suq" => "surfaces",
        "mapa" | "getctarank" | "clusterlaunchcontrol" => "clusters",
        "mbarrier" => "asynchronous barriers",
        "multimem" => "multicast memory",
        "griddepcontrol" => "dependent grids",
        "setmaxnreg" => "register reallocation",
        "createpolicy" | "applypriority" | "discard" => "cache policies",
        "st" | "red" => "asynchronous stores",
        "vavrg2" | "vavrg4" => "averages of video instructions",
        "pmevent" => "performance monitor events",
        _ => return None,
    })
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
    ];
    WORDS.contains(&word)
}
