//! The mode register: how floating-point numbers are rounded, and which of their denormals count.

use gangway_code_object::Descriptor;
use rustc_apfloat::Round;

use crate::format::Format;

/// A wave's mode, with the bits of the hardware's register (Vega ISA, 3.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode(pub u32);

/// The bits that say that vector registers are indexed.
const INDEXING: u32 = 1 << 27;
/// The bit that lets waves skip vector instructions.
const SKIPPING: u32 = 1 << 28;
/// Exceptions that trap.
const EXCEPTIONS: u32 = 0x1ff << 12;

impl Mode {
    /// The mode that a kernel begins with.
    pub fn of(descriptor: &Descriptor) -> Self {
        let rsrc1 = descriptor.rsrc1;
        Self(
            rsrc1.round_mode_32()
                | rsrc1.round_mode_16_64() << 2
                | rsrc1.denorm_mode_32() << 4
                | rsrc1.denorm_mode_16_64() << 6
                | rsrc1.dx10_clamp() << 8
                | rsrc1.ieee_mode() << 9
                | rsrc1.fp16_overflow() << 23,
        )
    }

    pub fn round(self, format: Format) -> Round {
        let low = if format == Format::F32 { 0 } else { 2 };
        match self.0 >> low & 3 {
            0 => Round::NearestTiesToEven,
            1 => Round::TowardPositive,
            2 => Round::TowardNegative,
            _ => Round::TowardZero,
        }
    }

    /// Whether denormal sources count, or are zeros.
    pub fn takes_denormals(self, format: Format) -> bool {
        self.0 >> if format == Format::F32 { 4 } else { 6 } & 1 != 0
    }

    /// Whether denormal results stay, or become zeros.
    pub fn gives_denormals(self, format: Format) -> bool {
        self.0 >> if format == Format::F32 { 5 } else { 7 } & 1 != 0
    }

    /// Whether clamping makes NaN 0.
    pub fn clamps_nan(self) -> bool {
        self.0 >> 8 & 1 != 0
    }

    /// Whether signalling NaN is treated as IEEE 754 has it.
    pub fn ieee(self) -> bool {
        self.0 >> 9 & 1 != 0
    }

    /// Whether half-precision results stop at the largest number instead of being infinite.
    pub fn half_saturates(self) -> bool {
        self.0 >> 23 & 1 != 0
    }

    pub fn indexes(self) -> bool {
        self.0 & INDEXING != 0
    }

    pub fn set_indexing(&mut self, on: bool) {
        self.0 = if on { self.0 | INDEXING } else { self.0 & !INDEXING };
    }

    /// What of it the interpreter does not do.
    pub fn unsupported(self) -> Option<&'static str> {
        if self.0 & EXCEPTIONS != 0 {
            Some("traps of floating-point exceptions")
        } else if self.0 & SKIPPING != 0 {
            Some("skipping of vector instructions")
        } else {
            None
        }
    }

    /// The same, with single-precision denormals flushed on both sides.
    pub fn flushing(self) -> Self {
        Self(self.0 & !0x30)
    }

    /// The same, with rounding towards zero.
    pub fn truncating(self) -> Self {
        Self(self.0 | 0xf)
    }
}

/// What an operation depends on besides its sources.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub mode: Mode,
    /// Whether the result is clamped; of integers, whether it saturates.
    pub clamp: bool,
    /// The lane's bit of a mask that is read: a carry, a choice, or a scale of division.
    pub bit: bool,
    pub lane: u32,
}
