//! What the compiler hands over: `run` executes it, and the cache keeps it.

/// What the compiler makes of one flavour of a function: position-independent, entered at
/// its first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compiled {
    pub code: Vec<u8>,
    /// Where the code of an instruction begins, in bytes, and the index of the instruction in
    /// its body; in order of the offsets.
    pub positions: Vec<(u32, u32)>,
    /// It calls code of regions by another generator, if there is that.
    pub regions: bool,
}
