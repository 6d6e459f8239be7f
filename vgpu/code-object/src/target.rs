//! Which processor code is for: the ELF header's flags (AMDGPU guide, "ELF Header").

use std::fmt;

use gangway_image::amdgpu;

use crate::error::{Error, Result};

/// The version of the code object's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V3,
    V4,
    V5,
    V6,
}

impl Version {
    /// From `EI_ABIVERSION`.
    pub(crate) fn from_abi(number: u8) -> Result<Self> {
        match number {
            1 => Ok(Self::V3),
            2 => Ok(Self::V4),
            3 => Ok(Self::V5),
            4 => Ok(Self::V6),
            _ => Err(Error::unsupported(
                "the code object's version",
                match number {
                    0 => "2".to_owned(),
                    _ => format!("unknown (ABI version {number})"),
                },
                "versions 3 to 6",
            )),
        }
    }

    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }
}

/// How code treats a feature that can be on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The processor has no such feature, or the format cannot say.
    Unsupported,
    /// The code runs with and without it.
    Any,
    Off,
    On,
}

impl Feature {
    const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Unsupported,
            1 => Self::Any,
            2 => Self::Off,
            _ => Self::On,
        }
    }

    /// `+`, `-`, or nothing where the code does not care.
    const fn sign(self) -> Option<char> {
        match self {
            Self::Off => Some('-'),
            Self::On => Some('+'),
            Self::Unsupported | Self::Any => None,
        }
    }

    /// Whether code like this runs where the feature is on or off.
    #[must_use]
    pub const fn runs_with(self, on: bool) -> bool {
        match self {
            Self::Unsupported | Self::Any => true,
            Self::Off => !on,
            Self::On => on,
        }
    }
}

/// A processor, and how the code treats its features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `EF_AMDGPU_MACH`.
    pub machine: u8,
    /// As `-mcpu` spells it.
    pub processor: &'static str,
    /// Replay of memory accesses after page faults.
    pub xnack: Feature,
    /// Error correction in the processor's memories.
    pub sramecc: Feature,
    /// Of a generic processor's code the version, else 0.
    pub generic: u8,
}

impl Target {
    pub(crate) fn from_flags(version: Version, flags: u32) -> Result<Self> {
        let processor = amdgpu::processor(flags).ok_or_else(|| {
            Error::unsupported("the processor", format!("number {:#x}", flags & 0xff), "those LLVM 22 knows")
        })?;
        // Version 3 has one bit for each.
        let (xnack, sramecc) = match version {
            Version::V3 => {
                let on = |bit: u32| if flags >> bit & 1 != 0 { Feature::On } else { Feature::Off };
                (on(8), on(9))
            }
            _ => (Feature::from_bits(flags >> 8), Feature::from_bits(flags >> 10)),
        };
        let generic = if version == Version::V6 { (flags >> 24) as u8 } else { 0 };
        Ok(Self { machine: flags as u8, processor, xnack, sramecc, generic })
    }

    /// How many work-items a wave has if the kernel does not say: 64 before gfx10.
    #[must_use]
    pub fn has_wave32(&self) -> bool {
        self.generation() >= 10
    }

    /// 9 for gfx900 to gfx950, 10 for gfx1030.
    #[must_use]
    pub fn generation(&self) -> u32 {
        let digits = self.processor.trim_start_matches("gfx");
        // A name without "generic" ends in two digits of stepping, the last of which may be a letter.
        let major = match digits.split_once('-') {
            Some((major, _)) => major,
            None => &digits[..digits.len().saturating_sub(2)],
        };
        major.parse().unwrap_or(0)
    }

    /// Whether vector and accumulation registers share one file (CDNA 2 and 3).
    #[must_use]
    pub fn has_unified_registers(&self) -> bool {
        matches!(self.processor, "gfx90a" | "gfx942" | "gfx950" | "gfx9-4-generic")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.processor)?;
        for (name, feature) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            if let Some(sign) = feature.sign() {
                write!(out, ":{name}{sign}")?;
            }
        }
        Ok(())
    }
}
