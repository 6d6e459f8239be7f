//! An access as the shadow keeps it: 64 bits, zero where there was none, as threads are numbered from 1.

/// Threads of all launches that are under way, numbered from 1.
pub const THREADS: u32 = 1 << 26;
/// What a warp's clock counts to; blocks that get there are not looked at any more.
pub const CLOCKS: u32 = 1 << 17;
/// Instructions that a launch tells apart; the last number stands for all others.
pub const SITES: u16 = 1 << 14;

/// An access to a word of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub thread: u32,
    pub clock: u32,
    /// The instruction.
    pub site: u16,
    /// The bytes.
    pub mask: u8,
    /// Volatile, atomic, or with an order: two such accesses race with nobody but plain ones.
    pub strong: bool,
    /// So towards threads of its own block alone: its scope is `.cta`.
    pub narrow: bool,
    /// Others have written the same by the same instruction. Among the reads of a word: it is a write, of other bytes
    /// than the last one.
    pub unanimous: bool,
}

/// The bits of the bytes.
const MASK: u64 = 15 << 3;
/// The bit that says of an access that it is strong.
const STRONG: u64 = 1 << 2;
/// The bit that says that its scope is the block.
const NARROW: u64 = 1;

impl Cell {
    /// The lowest bit of the thread.
    pub const THREAD: u32 = 38;
    /// The bit that says that others have written the same.
    pub const UNANIMOUS: u64 = 1 << 1;

    #[must_use]
    pub fn bits(self) -> u64 {
        u64::from(self.thread) << Self::THREAD
            | u64::from(self.clock) << 21
            | u64::from(self.site) << 7
            | u64::from(self.mask & 15) << 3
            | u64::from(self.strong) << 2
            | if self.unanimous { Self::UNANIMOUS } else { 0 }
            | u64::from(self.narrow)
    }

    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Self> {
        (bits != 0).then(|| Self::of(bits))
    }

    /// What some bits say that are of an access.
    #[must_use]
    pub fn of(bits: u64) -> Self {
        Cell {
            thread: (bits >> Self::THREAD) as u32,
            clock: (bits >> 21) as u32 & (CLOCKS - 1),
            site: (bits >> 7) as u16 & (SITES - 1),
            mask: (bits >> 3) as u8 & 15,
            strong: bits & STRONG != 0,
            unanimous: bits & Self::UNANIMOUS != 0,
            narrow: bits & NARROW != 0,
        }
    }

    /// Whether two accesses, if there are so many, have bytes in common.
    #[must_use]
    pub fn meet(one: u64, other: u64) -> bool {
        one & other & MASK != 0
    }

    /// Whether an access, if there is one, is to all bytes of another one.
    #[must_use]
    pub fn covers(one: u64, other: u64) -> bool {
        other & !one & MASK == 0
    }

    /// Whether two accesses are strong, and towards each other, whatever their blocks are.
    #[must_use]
    pub fn are_strong(one: u64, other: u64) -> bool {
        Self::is_strong(one & other) && Self::reach_all(one, other)
    }

    /// Whether the scopes of two accesses reach threads of all blocks.
    #[must_use]
    pub fn reach_all(one: u64, other: u64) -> bool {
        (one | other) & NARROW == 0
    }

    /// Whether what stands among the reads of a word is a write of other bytes than the last one.
    #[must_use]
    pub fn is_other_write(bits: u64) -> bool {
        bits & Self::UNANIMOUS != 0
    }

    #[must_use]
    pub fn is_strong(bits: u64) -> bool {
        bits & STRONG != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_comes_back() {
        let cells = [
            Cell { thread: 1, clock: 0, site: 0, mask: 0, strong: false, narrow: false, unanimous: false },
            Cell {
                thread: THREADS - 1,
                clock: CLOCKS - 1,
                site: SITES - 1,
                mask: 8,
                strong: true,
                narrow: true,
                unanimous: false,
            },
        ];
        for cell in cells {
            assert_eq!(Cell::from_bits(cell.bits()), Some(cell));
        }
        assert_eq!(Cell::from_bits(0), None);
    }
}
