//! What new memory holds in check mode, so that reading what nobody has written shows.
//!
//! It is the pattern of the CPU devices' memory: the 32-bit word `0x7FF4DEAD`, repeated. That is a
//! NaN for `half`, `bfloat16`, `float` and `double`, which spreads through every sum, an absurdly
//! large integer and index, and as a pointer no address at all.

/// Two of the words.
pub(crate) const PATTERN: u64 = 0x7ff4_dead_7ff4_dead;
