//! What new memory holds in check mode, so that reading what nobody has written shows.
//!
//! It is the pattern of the CPU devices' memory: the 32-bit word `0x7FF4DEAD`, repeated. That is a
//! NaN for `half`, `bfloat16`, `float` and `double`, which spreads through every sum, an absurdly
//! large integer and index, and as a pointer no address at all.

use crate::reserve::pointer;

/// Two of the words, as they are in memory.
const PATTERN: [u8; 8] = 0x7ff4_dead_7ff4_dead_u64.to_le_bytes();

/// Fills memory, with a word's first byte at the address.
///
/// # Safety
/// The memory can be written, and nobody else uses it.
pub(crate) unsafe fn fill(address: u64, size: u64) {
    // SAFETY: the caller's promise; memory of the space is never uninitialised.
    let bytes = unsafe { std::slice::from_raw_parts_mut(pointer::<u8>(address), size as usize) };
    let mut words = bytes.chunks_exact_mut(PATTERN.len());
    words.by_ref().for_each(|word| word.copy_from_slice(&PATTERN));
    let rest = words.into_remainder();
    rest.copy_from_slice(&PATTERN[..rest.len()]);
}
