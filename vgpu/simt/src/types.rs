//! The types of values.

/// What one lane of a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// Whether something holds.
    Mask,
    /// Integers of 8 and 16 bits are zero-extended ones of 32.
    I32,
    I64,
    F32,
    F64,
}

impl Element {
    pub const ALL: [Element; 5] = [Element::Mask, Element::I32, Element::I64, Element::F32, Element::F64];

    /// 1 for masks.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Element::Mask => 1,
            Element::I32 | Element::F32 => 32,
            Element::I64 | Element::F64 => 64,
        }
    }

    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Element::I32 | Element::I64)
    }

    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// The integer with the bits of a float; integers and masks are their own.
    #[must_use]
    pub const fn integer(self) -> Element {
        match self {
            Element::F32 => Element::I32,
            Element::F64 => Element::I64,
            other => other,
        }
    }

    /// The float with the bits of an integer; floats and masks are their own.
    #[must_use]
    pub const fn float(self) -> Element {
        match self {
            Element::I32 => Element::F32,
            Element::I64 => Element::F64,
            other => other,
        }
    }

    /// As [`Sequence`](crate::Sequence)s are printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Element::Mask => "mask",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }
}

/// In how many lanes a value can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// The same in all lanes.
    One,
    /// Each lane has its own.
    Lanes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub element: Element,
    pub extent: Extent,
}

impl Type {
    #[must_use]
    pub const fn one(element: Element) -> Self {
        Type { element, extent: Extent::One }
    }

    #[must_use]
    pub const fn lanes(element: Element) -> Self {
        Type { element, extent: Extent::Lanes }
    }

    #[must_use]
    pub const fn is_one(self) -> bool {
        matches!(self.extent, Extent::One)
    }
}
