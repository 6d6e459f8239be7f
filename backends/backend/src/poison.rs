//! What device memory holds that nobody has written, where the runtime or a back end sets it.

/// A word of it, twice: a NaN for `half`, `bfloat16`, `float` and `double`, which spreads through
/// every sum, an absurdly large integer and index, and as a pointer no address of x86-64.
pub const POISON: u64 = 0x7ff4_dead_7ff4_dead;

/// Fills bytes with [`POISON`]; its first byte becomes the first of them.
pub fn poison(bytes: &mut [u8]) {
    let pattern = POISON.to_le_bytes();
    let mut words = bytes.chunks_exact_mut(pattern.len());
    words.by_ref().for_each(|word| word.copy_from_slice(&pattern));
    let rest = words.into_remainder();
    rest.copy_from_slice(&pattern[..rest.len()]);
}
