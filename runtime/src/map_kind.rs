//! What a construct wants done with one list item.
//!
//! A [`MapKind`] is a set of meanings. Front ends translate their compilers' encodings
//! into it when an item is read ([`Items::item`](crate::Items::item)). The numbers of the
//! meanings are this runtime's own; where LLVM's offload ABI has the same meaning its
//! number was taken over, so that the translation of its map types is the identity.

use gangway_present::Counter;
use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A set of meanings of a list item.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct MapKind(u64);

impl MapKind {
    /// No meaning but that the item is to be present.
    pub const ALLOC: Self = Self(0);
    /// Copy to the device when the item becomes present; with `target update` at once.
    pub const TO: Self = Self(0x1);
    /// Copy from the device when the item ceases to be present; with `target update` at once.
    pub const FROM: Self = Self(0x2);
    /// Copy whether or not the presence changes; attach whether or not something is new.
    pub const ALWAYS: Self = Self(0x4);
    /// Set the dynamic reference count to zero.
    pub const DELETE: Self = Self(0x8);
    /// The base is the address of a pointer, which is to be attached to the section.
    pub const POINTER_AND_POINTEE: Self = Self(0x10);
    /// The item is a parameter of the kernel.
    pub const PARAMETER: Self = Self(0x20);
    /// The device address goes back to the caller (`use_device_ptr`, `use_device_addr`).
    pub const RETURN_ADDRESS: Self = Self(0x40);
    /// A private copy (first-private with [`TO`](Self::TO)).
    pub const PRIVATE: Self = Self(0x80);
    /// The base is the value itself.
    pub const LITERAL: Self = Self(0x100);
    /// Implicitly determined by the compiler.
    pub const IMPLICIT: Self = Self(0x200);
    /// Near the device even under unified shared memory.
    pub const CLOSE: Self = Self(0x400);
    /// It is an error if the item is not present.
    pub const PRESENT: Self = Self(0x1000);
    /// Counts on the hold counter.
    pub const HOLD: Self = Self(0x2000);
    /// A pointer attachment: base is the pointer, begin the pointee.
    pub const ATTACH: Self = Self(0x4000);
    /// The kernel, or with [`RETURN_ADDRESS`](Self::RETURN_ADDRESS) the caller, gets null if the item
    /// has no storage on the device. With [`ATTACH`](Self::ATTACH) and [`POINTER`](Self::POINTER):
    /// the device pointer becomes null if what it would be attached to has none.
    pub const NULL_IF_ABSENT: Self = Self(0x8000);
    /// With [`NULL_IF_ABSENT`](Self::NULL_IF_ABSENT) of a pointer: it keeps the host's value instead.
    pub const KEEP_IF_ABSENT: Self = Self(1 << 45);
    /// The section is no one range, see [`Items::section`](crate::Items::section).
    pub const IN_PIECES: Self = Self(1 << 44);

    /// With [`ATTACH`](Self::ATTACH): the attachment counts (OpenACC 3.3 section 2.6.8). It is
    /// made whether or not something is new, and undone at the end of a region.
    pub const COUNTED: Self = Self(1 << 32);
    /// The opposite of a counted attachment, where data ends: base is the pointer. With
    /// [`DELETE`](Self::DELETE) however often it was attached. With [`COUNTED`](Self::COUNTED) it
    /// is an error if it is not attached, with [`PRESENT`](Self::PRESENT) if the pointer is not present.
    pub const DETACH: Self = Self(1 << 33);
    /// With [`ATTACH`](Self::ATTACH): the device pointer is written even if it should have that
    /// value already, as a kernel may have changed it.
    pub const REWRITE: Self = Self(1 << 34);
    /// The item is itself a pointer, attached to [`Items::pointee`](crate::Items::pointee) if
    /// either is new.
    pub const POINTER: Self = Self(1 << 35);
    /// A structure at `base` of which as many of the next items are members as `size` says,
    /// in any order. One allocation covers them, from the first byte to the last. They share an entry if they
    /// count [once](Self::ONCE), and otherwise have one each.
    pub const STRUCTURE: Self = Self(1 << 36);
    /// All items of the construct with this meaning that share an entry count once.
    pub const ONCE: Self = Self(1 << 37);
    /// It is an error if any of the item is present before.
    pub const NEW: Self = Self(1 << 38);
    /// Nothing is done if the item is not present: the kernel gets the host's address.
    pub const IF_PRESENT: Self = Self(1 << 39);
    /// Every byte is zero when the item becomes present.
    pub const ZERO: Self = Self(1 << 40);
    /// The construct's reference does not count: the item only asks where something is.
    pub const UNCOUNTED: Self = Self(1 << 41);
    /// With `target update`: it is an error if only a part of the item is present.
    pub const WHOLE: Self = Self(1 << 42);

    /// A variable captured by reference in a lambda that is itself a first-private
    /// argument has all of these.
    pub const LAMBDA_CAPTURE: Self = Self::POINTER_AND_POINTEE.with(Self::LITERAL).with(Self::IMPLICIT);

    /// Items that have no entry of their own at the end of a construct.
    pub(crate) const NOT_MAPPED: Self =
        Self::LITERAL.with(Self::PRIVATE).with(Self::ATTACH).with(Self::DETACH);

    /// Items whose reference may be another item's, or nobody's.
    pub(crate) const SHARES_REFERENCE: Self = Self::ONCE.with(Self::STRUCTURE).with(Self::UNCOUNTED);

    /// Meanings at the beginning of a construct for which the usual way does not do.
    pub(crate) const SPECIAL: Self =
        Self::DETACH.with(Self::ONCE).with(Self::NEW).with(Self::NULL_IF_ABSENT).with(Self::UNCOUNTED);

    /// Meanings that the beginning of a construct has to look at even if an item is present.
    const UNUSUAL: Self = Self::NOT_MAPPED
        .with(Self::SPECIAL)
        .with(Self::STRUCTURE)
        .with(Self::POINTER_AND_POINTEE)
        .with(Self::POINTER)
        .with(Self::RETURN_ADDRESS)
        .with(Self::ALWAYS)
        .with(Self::HOLD)
        .with(Self::IN_PIECES)
        .with(Self::ZERO)
        .with(Self::UNKNOWN);

    /// All that items may mean of which only references are counted if they are present.
    const COUNTED_ONLY: Self = Self::TO
        .with(Self::FROM)
        .with(Self::PARAMETER)
        .with(Self::IMPLICIT)
        .with(Self::CLOSE)
        .with(Self::PRESENT)
        .with(Self::IF_PRESENT)
        .with(Self::ZERO)
        .with(Self::ONCE);

    /// All that items may mean which are pointers whose attachments count, and may not be present.
    const COUNTED_POINTER: Self = Self::ATTACH
        .with(Self::DETACH)
        .with(Self::COUNTED)
        .with(Self::IMPLICIT)
        .with(Self::NULL_IF_ABSENT)
        .with(Self::KEEP_IF_ABSENT)
        .with(Self::ONCE);

    /// Meanings that an attachment may have besides.
    const MORE_THAN_ATTACHED: Self = Self::LITERAL
        .with(Self::PRIVATE)
        .with(Self::SPECIAL)
        .with(Self::STRUCTURE)
        .with(Self::POINTER)
        .with(Self::RETURN_ADDRESS);

    /// Meanings that a value for the kernel may have besides.
    const MORE_THAN_A_VALUE: Self = Self::SPECIAL
        .with(Self::STRUCTURE)
        .with(Self::POINTER)
        .with(Self::RETURN_ADDRESS)
        .with(Self::UNKNOWN);

    /// No meaning, see [`unknown`](Self::unknown).
    const UNKNOWN: Self = Self(1 << 47);

    const PARENT_SHIFT: u32 = 48;

    /// What a front end makes of an encoding that it does not know.
    #[must_use]
    pub const fn unknown(encoding: u32) -> Self {
        Self(Self::UNKNOWN.0 | encoding as u64)
    }

    /// The encoding that was not known.
    #[inline]
    #[must_use]
    pub const fn unknown_encoding(self) -> Option<u32> {
        if self.has(Self::UNKNOWN) { Some(self.0 as u32) } else { None }
    }

    /// The set as a number, for front ends whose encodings resemble it.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// See [`from_bits`](Self::from_bits).
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether it has any of these meanings.
    #[inline]
    #[must_use]
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Whether it has all of these meanings.
    #[inline]
    #[must_use]
    pub const fn has_all(self, all: Self) -> bool {
        self.0 & all.0 == all.0
    }

    /// The set and these meanings.
    #[inline]
    #[must_use]
    pub const fn with(self, these: Self) -> Self {
        Self(self.0 | these.0)
    }

    /// Those of its meanings that are among these.
    #[inline]
    #[must_use]
    pub const fn only(self, these: Self) -> Self {
        Self(self.0 & these.0)
    }

    /// The set less these meanings.
    #[inline]
    #[must_use]
    pub const fn without(self, these: Self) -> Self {
        Self(self.0 & !these.0)
    }

    /// As a member of the structure that is the item of that index: the structure's
    /// reference counts, the member's does not.
    #[must_use]
    pub const fn member_of(self, index: usize) -> Self {
        Self(self.0 | (index as u64 + 1) << Self::PARENT_SHIFT)
    }

    /// Whether an item that is present only has its dynamic references counted, once, where a
    /// construct begins.
    #[inline]
    pub(crate) const fn is_usual(self) -> bool {
        !self.has(Self::UNUSUAL) && self.0 >> Self::PARENT_SHIFT == 0
    }

    /// Whether of an item that is present, and stays, only dynamic references are counted where data
    /// begins or ends.
    #[inline]
    pub(crate) const fn only_counts(self) -> bool {
        self.0 & !Self::COUNTED_ONLY.0 == 0
    }

    /// Whether an item is a pointer of which only attachments are counted, if it is present at all, or
    /// a pointer to what is not. One that is detached need not have been attached.
    #[inline]
    pub(crate) const fn counts_attachments(self) -> bool {
        self.has(Self::COUNTED.with(Self::DETACH)) && self.0 & !Self::COUNTED_POINTER.0 == 0
    }

    /// Whether an item is a value for the kernel, about which nothing is to be done when a construct
    /// begins.
    #[inline]
    pub(crate) const fn is_plain_value(self) -> bool {
        self.has(Self::LITERAL.with(Self::PRIVATE)) && !self.has(Self::MORE_THAN_A_VALUE)
    }

    /// Whether an item says nothing but that a pointer is to be attached.
    #[inline]
    pub(crate) const fn only_attaches(self) -> bool {
        self.has(Self::ATTACH) && !self.has(Self::MORE_THAN_ATTACHED)
    }

    /// Index of the structure the item is a member of.
    #[inline]
    #[must_use]
    pub const fn parent(self) -> Option<usize> {
        match self.0 >> Self::PARENT_SHIFT {
            0 => None,
            index => Some(index as usize - 1),
        }
    }

    /// Whether the construct's reference to the item's entry counts: a structure's does
    /// for its members, except that what their pointers point to is no part of it.
    #[inline]
    pub(crate) const fn counts(self) -> bool {
        self.parent().is_none() || self.has(Self::POINTER_AND_POINTEE)
    }

    /// The reference count it works on.
    #[inline]
    pub(crate) const fn counter(self) -> Counter {
        if self.has(Self::HOLD) { Counter::Hold } else { Counter::Dynamic }
    }
}

impl BitOr for MapKind {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for MapKind {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for MapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MapKind({:#x})", self.0)
    }
}
