//! The formats of floating-point numbers, as bits.

/// A format; its numbers stand in the low bits of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    F16,
    F32,
    F64,
}

pub use Format::{F16, F32, F64};

impl Format {
    pub const fn bits(self) -> u32 {
        match self {
            F16 => 16,
            F32 => 32,
            F64 => 64,
        }
    }

    /// Bits of the fraction.
    pub const fn fraction(self) -> u32 {
        match self {
            F16 => 10,
            F32 => 23,
            F64 => 52,
        }
    }

    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// The bits of infinity, which are those of the exponent.
    pub const fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction())
    }

    /// The bit that makes NaN quiet.
    pub const fn quiet(self) -> u64 {
        1 << (self.fraction() - 1)
    }

    /// What an invalid operation gives.
    pub const fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    pub const fn one(self) -> u64 {
        ((self.sign() - 1) >> (self.fraction() + 1)) << self.fraction()
    }

    /// The largest finite number.
    pub const fn largest(self) -> u64 {
        self.infinity() - 1
    }

    pub const fn magnitude(self, bits: u64) -> u64 {
        bits & (self.sign() - 1)
    }

    pub const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    pub const fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }

    pub const fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }

    pub const fn is_infinite(self, bits: u64) -> bool {
        self.magnitude(bits) == self.infinity()
    }

    pub const fn is_zero(self, bits: u64) -> bool {
        self.magnitude(bits) == 0
    }

    pub const fn is_denormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && !self.is_zero(bits)
    }

    /// The exponent's field: 0 of zeros and denormals.
    pub const fn exponent(self, bits: u64) -> i32 {
        ((bits & self.infinity()) >> self.fraction()) as i32
    }

    /// What the exponent's field of 1 is.
    pub const fn bias(self) -> i32 {
        self.exponent(self.one())
    }

    /// A denormal becomes the zero of its sign.
    pub const fn flush(self, bits: u64) -> u64 {
        if self.is_denormal(bits) { bits & self.sign() } else { bits }
    }
}
