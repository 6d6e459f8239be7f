//! The processors whose instructions the table has.

use std::fmt;

/// A processor, as `-mcpu` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Gpu {
    Gfx900,
    Gfx906,
    Gfx908,
    Gfx90a,
    Gfx942,
}

impl Gpu {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] = [Self::Gfx900, Self::Gfx906, Self::Gfx908, Self::Gfx90a, Self::Gfx942];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx900 => "gfx900",
            Self::Gfx906 => "gfx906",
            Self::Gfx908 => "gfx908",
            Self::Gfx90a => "gfx90a",
            Self::Gfx942 => "gfx942",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gpu| gpu.name() == name)
    }

    /// Whether vector and accumulation registers are one file, whose pairs begin at even numbers
    /// (CDNA 2 ISA, 3.6.4).
    #[must_use]
    pub const fn unified_registers(self) -> bool {
        matches!(self, Self::Gfx90a | Self::Gfx942)
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A set of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpus(u32);

impl Gpus {
    pub const ALL: Self = Self::from(Gpu::Gfx900);
    pub const FROM_906: Self = Self::from(Gpu::Gfx906);
    pub const FROM_908: Self = Self::from(Gpu::Gfx908);
    pub const FROM_90A: Self = Self::from(Gpu::Gfx90a);
    pub const ONLY_900: Self = Self::ALL.without(Self::FROM_906);
    pub const ONLY_908: Self = Self::FROM_908.without(Self::FROM_90A);
    pub const ONLY_90A: Self = Self::FROM_90A.without(Self::ONLY_942);
    pub const ONLY_942: Self = Self::from(Gpu::Gfx942);
    pub const UNTIL_908: Self = Self::ALL.without(Self::FROM_90A);
    pub const UNTIL_90A: Self = Self::ALL.without(Self::ONLY_942);
    pub const GFX906_90A: Self = Self::FROM_906.without(Self::ONLY_942);
    pub const GFX908_90A: Self = Self::FROM_908.without(Self::ONLY_942);

    /// A processor and all newer ones of the family.
    const fn from(first: Gpu) -> Self {
        Self(0x1f & !((1 << first as u32) - 1))
    }

    const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    #[must_use]
    pub const fn contains(self, gpu: Gpu) -> bool {
        self.0 >> gpu as u32 & 1 != 0
    }
}
