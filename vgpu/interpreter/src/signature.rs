//! What a call passes, as a number: an indirect call's prototype and the function have to agree on
//! it.

use gangway_ptx::{Function, Variable};

use crate::fault::FaultKind;

/// A number that parameters and results have in common with others of the same sizes, alignments
/// and forms. What the bits of a value mean is not looked at: compilers declare the same parameter
/// as `.b32`, `.u32` or `.f32`, and pass the same bits.
#[must_use]
pub fn signature(parameters: &[Variable], returns: &[Variable]) -> u64 {
    // FNV-1a, of whole words.
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let add = |hash: u64, word: u64| (hash ^ word).wrapping_mul(PRIME);
    let of = |hash: u64, variables: &[Variable]| {
        variables.iter().fold(add(hash, variables.len() as u64), |hash, variable| {
            let scalar = variable.dimensions.is_empty() && variable.vector == 1;
            let hash = add(hash, variable.size().unwrap_or(0) << 1 | u64::from(scalar));
            add(hash, variable.align.into())
        })
    };
    of(of(START, parameters), returns)
}

/// The fault of an indirect call of a function with another prototype.
#[must_use]
pub fn bad_prototype(function: &Function) -> FaultKind {
    let list = |variables: &[Variable]| {
        let each = variables.iter().map(|variable| {
            let size = variable.size().unwrap_or(0);
            format!("{size} byte{} aligned to {}", if size == 1 { "" } else { "s" }, variable.align)
        });
        let list: Vec<String> = each.collect();
        if list.is_empty() { "nothing".to_owned() } else { list.join(", ") }
    };
    FaultKind::BadPrototype {
        function: function.name.to_string(),
        takes: list(&function.parameters),
        returns: list(&function.returns),
    }
}
