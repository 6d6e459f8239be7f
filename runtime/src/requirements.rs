//! What a program requires of its devices (OpenMP 6.0 section 10.5, `requires`).

use std::fmt;
use std::ops::BitOr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The `requires` clauses of a translation unit, or of a program.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Requirements(u32);

impl Requirements {
    /// None.
    pub const NONE: Self = Self(0);
    /// `reverse_offload`.
    pub const REVERSE_OFFLOAD: Self = Self(1);
    /// `unified_address`.
    pub const UNIFIED_ADDRESS: Self = Self(2);
    /// `unified_shared_memory`.
    pub const UNIFIED_SHARED_MEMORY: Self = Self(4);

    /// The clauses, as users write them.
    const CLAUSES: [(Self, &str); 3] = [
        (Self::REVERSE_OFFLOAD, "reverse_offload"),
        (Self::UNIFIED_ADDRESS, "unified_address"),
        (Self::UNIFIED_SHARED_MEMORY, "unified_shared_memory"),
    ];

    /// Whether it has all of these.
    #[inline]
    #[must_use]
    pub const fn has(self, clauses: Self) -> bool {
        self.0 & clauses.0 == clauses.0
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        Self::CLAUSES.iter().filter(move |(clause, _)| self.has(*clause)).map(|(_, name)| *name)
    }
}

impl BitOr for Requirements {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// What the program's translation units require; they have to agree.
pub(crate) struct Required(AtomicU32);

/// A translation unit has said what it requires, be it nothing.
const SAID: u32 = 1 << 31;

impl Required {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Adds a translation unit with target regions.
    ///
    /// # Errors
    /// An earlier one did not have one of its clauses, or had another: its name.
    pub(crate) fn add(&self, unit: Requirements) -> Result<(), &'static str> {
        let before = self.0.fetch_or(unit.0 | SAID, Ordering::AcqRel);
        if before == 0 {
            return Ok(());
        }
        let differ = Requirements((before ^ unit.0) & !SAID);
        differ.names().next().map_or(Ok(()), Err)
    }

    /// Those of the program.
    #[inline]
    pub(crate) fn all(&self) -> Requirements {
        Requirements(self.0.load(Ordering::Relaxed) & !SAID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translation_units_have_to_agree() {
        let both = Requirements::UNIFIED_ADDRESS | Requirements::REVERSE_OFFLOAD;
        let required = Required::new();
        assert_eq!(required.add(both), Ok(()));
        assert_eq!(required.add(both), Ok(()));
        assert_eq!(required.add(Requirements::UNIFIED_ADDRESS), Err("reverse_offload"));
        assert_eq!(required.all(), both);
        let required = Required::new();
        assert_eq!(required.add(Requirements::NONE), Ok(()));
        assert_eq!(required.add(Requirements::UNIFIED_SHARED_MEMORY), Err("unified_shared_memory"));
        assert_eq!(format!("{:?}", required.all()), "{\"unified_shared_memory\"}");
    }
}
