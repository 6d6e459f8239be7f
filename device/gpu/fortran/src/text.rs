//! Texts (`flang/Runtime/character.h`).

use crate::descriptor::{Descriptor, Index, Kind, attribute, write_integer};
use crate::device::{self, Line};
use crate::export::export;
use crate::letter::{letter_bytes, write_letter};
use crate::rearrange::extents;
use core::ffi::c_char;

/// Fills a text variable, which ends in blanks.
///
/// # Safety
/// There is room for so many letters of a byte.
pub unsafe fn write(variable: *mut u8, length: usize, value: &[u8]) {
    for at in 0..length {
        // SAFETY: as the caller says.
        unsafe { variable.add(at).write(value.get(at).copied().unwrap_or(b' ')) };
    }
}

/// A text, which may have letters of 1, 2 or 4 bytes.
#[derive(Clone, Copy)]
pub struct Text {
    start: *const u8,
    length: usize,
    letter: usize,
}

impl Text {
    const fn of_letters<T>(start: *const T, length: usize) -> Self {
        Self { start: start.cast(), length, letter: size_of::<T>() }
    }

    /// The element of a text array.
    ///
    /// # Safety
    /// The array has it.
    #[must_use]
    pub unsafe fn element(array: Descriptor, index: &Index) -> Self {
        // SAFETY: as the caller says.
        unsafe {
            let letter = letter_bytes(array.code());
            Self { start: array.at(index), length: array.element() / letter, letter }
        }
    }

    /// A letter; behind the text there are blanks.
    #[must_use]
    pub fn letter(self, at: usize) -> u32 {
        if at >= self.length {
            return u32::from(b' ');
        }
        // SAFETY: the text has so many letters, as whoever made it says.
        unsafe {
            match self.letter {
                2 => u32::from(self.start.cast::<u16>().add(at).read_unaligned()),
                4 => self.start.cast::<u32>().add(at).read_unaligned(),
                _ => u32::from(self.start.add(at).read()),
            }
        }
    }

    /// -1, 0 or 1, as this one is less, the same or greater. The shorter one counts as filled with blanks.
    #[must_use]
    pub fn compare(self, other: Self) -> i32 {
        for at in 0..self.length.max(other.length) {
            let (one, two) = (self.letter(at), other.letter(at));
            if one != two {
                return if one < two { -1 } else { 1 };
            }
        }
        0
    }

    /// The length without blanks at the end.
    fn trimmed(self) -> usize {
        (0..self.length).rev().find(|at| self.letter(*at) != u32::from(b' ')).map_or(0, |at| at + 1)
    }

    fn starts_with(self, from: usize, part: Self) -> bool {
        (0..part.length).all(|at| self.letter(from + at) == part.letter(at))
    }

    /// Where a part is, counted from 1; 0 if it is nowhere.
    fn index(self, part: Self, back: bool) -> usize {
        let Some(last) = self.length.checked_sub(part.length) else { return 0 };
        let mut places = 0..=last;
        let is_there = |at: &usize| self.starts_with(*at, part);
        let found = if back { places.rfind(is_there) } else { places.find(is_there) };
        found.map_or(0, |at| at + 1)
    }

    /// The first or last letter that is in a set, or is not, counted from 1; 0 if there is none.
    fn search(self, set: Self, is_in_set: bool, back: bool) -> usize {
        let fits = |at: &usize| {
            let letter = self.letter(*at);
            (0..set.length).any(|at| set.letter(at) == letter) == is_in_set
        };
        let mut places = 0..self.length;
        let found = if back { places.rfind(fits) } else { places.find(fits) };
        found.map_or(0, |at| at + 1)
    }
}

/// A result whose elements are integers, one for each element of an array of texts.
unsafe fn numbers(
    result: Descriptor,
    shape: Descriptor,
    kind: Kind,
    line: Line,
    number: impl Fn(&Index) -> usize,
) {
    // SAFETY: as the caller says.
    unsafe {
        let (sizes, rank) = extents(shape);
        result.result(kind, &sizes[..rank], line);
        let mut index = Index::default();
        for _ in 0..result.elements() {
            write_integer(result.at(&index), kind.bytes, number(&index) as i64);
            result.next(&mut index);
        }
    }
}

/// A result with texts, each of which `write` makes of the one in its place.
unsafe fn texts(
    result: Descriptor,
    from: Descriptor,
    line: Line,
    write: impl Fn(Text, &mut dyn FnMut(usize, u32)),
) {
    // SAFETY: as the caller says.
    unsafe {
        let (sizes, rank) = extents(from);
        result.result(from.kind(), &sizes[..rank], line);
        let letter = letter_bytes(from.code());
        let mut index = Index::default();
        for _ in 0..result.elements() {
            let place = result.at(&index);
            write(Text::element(from, &index), &mut |at, value| {
                write_letter(place.add(at * letter), letter, value)
            });
            result.next(&mut index);
        }
    }
}

/// The greater or the smaller of the texts that are there and others, in their place.
unsafe fn extreme(accumulator: Descriptor, other: Descriptor, sign: i32, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        if accumulator.base().is_null() {
            let (sizes, rank) = extents(other);
            accumulator.result(other.kind(), &sizes[..rank], line);
            crate::assign::copy_into_new(accumulator, other, line);
            return;
        }
        let longer = accumulator.element().max(other.element());
        let mut old = accumulator.copy();
        let old = old.descriptor();
        let shape = if old.rank() > 0 { old } else { other };
        let (sizes, rank) = extents(shape);
        accumulator.result(Kind { bytes: longer, ..old.kind() }, &sizes[..rank], line);
        let letter = letter_bytes(old.code());
        let mut index = Index::default();
        for _ in 0..accumulator.elements() {
            let (one, two) = (Text::element(old, &index), Text::element(other, &index));
            let chosen = if one.compare(two) * sign >= 0 { one } else { two };
            let place = accumulator.at(&index);
            for at in 0..longer / letter {
                write_letter(place.add(at * letter), letter, chosen.letter(at));
            }
            accumulator.next(&mut index);
        }
        device::release(old.base());
    }
}

macro_rules! scalars {
    ($($letter:ident $compare:ident $trim:ident $index:ident $scan:ident $verify:ident;)*) => {
        export! {$(
            fn $compare(one: *const $letter, other: *const $letter, length: usize, other_length: usize) -> i32 {
                Text::of_letters(one, length).compare(Text::of_letters(other, other_length))
            }

            fn $trim(text: *const $letter, length: usize) -> usize {
                Text::of_letters(text, length).trimmed()
            }

            fn $index(text: *const $letter, length: usize, part: *const $letter, part_length: usize, back: bool) -> usize {
                Text::of_letters(text, length).index(Text::of_letters(part, part_length), back)
            }

            fn $scan(text: *const $letter, length: usize, set: *const $letter, set_length: usize, back: bool) -> usize {
                Text::of_letters(text, length).search(Text::of_letters(set, set_length), true, back)
            }

            fn $verify(text: *const $letter, length: usize, set: *const $letter, set_length: usize, back: bool) -> usize {
                Text::of_letters(text, length).search(Text::of_letters(set, set_length), false, back)
            }
        )*}
    };
}

scalars! {
    u8 CharacterCompareScalar1 LenTrim1 Index1 Scan1 Verify1;
    u16 CharacterCompareScalar2 LenTrim2 Index2 Scan2 Verify2;
    u32 CharacterCompareScalar4 LenTrim4 Index4 Scan4 Verify4;
}

/// A `back` argument of an array's search.
unsafe fn is_back(back: Descriptor, index: &Index) -> bool {
    // SAFETY: as the caller says.
    !back.is_null() && unsafe { back.integer(index) } != 0
}

macro_rules! searches {
    ($($name:ident($text:ident, $other:ident, $back:ident) $body:expr;)*) => {
        export! {$(
            fn $name(
                result: Descriptor,
                text: Descriptor,
                other: Descriptor,
                back: Descriptor,
                kind: i32,
                file: *const c_char,
                line: i32,
            ) {
                let shape = if text.rank() > 0 { text } else { other };
                numbers(result, shape, Kind::integer(kind), Line::new(file, line), |index| {
                    let ($text, $other) = (Text::element(text, index), Text::element(other, index));
                    let $back = is_back(back, index);
                    $body
                });
            }
        )*}
    };
}

searches! {
    Index(text, part, back) text.index(part, back);
    Scan(text, set, back) text.search(set, true, back);
    Verify(text, set, back) text.search(set, false, back);
}

export! {
    fn CharacterCompareScalar(one: Descriptor, other: Descriptor) -> i32 {
        Text::element(one, &Index::default()).compare(Text::element(other, &Index::default()))
    }

    fn LenTrim(result: Descriptor, text: Descriptor, kind: i32, file: *const c_char, line: i32) {
        numbers(result, text, Kind::integer(kind), Line::new(file, line), |index| {
            Text::element(text, index).trimmed()
        });
    }

    fn Adjustl(result: Descriptor, text: Descriptor, file: *const c_char, line: i32) {
        texts(result, text, Line::new(file, line), |text, write| {
            let blanks = (0..text.length).find(|at| text.letter(*at) != u32::from(b' ')).unwrap_or(0);
            (0..text.length).for_each(|at| write(at, text.letter(at + blanks)));
        });
    }

    fn Adjustr(result: Descriptor, text: Descriptor, file: *const c_char, line: i32) {
        texts(result, text, Line::new(file, line), |text, write| {
            let blanks = text.length - text.trimmed();
            for at in 0..text.length {
                write(at, if at < blanks { u32::from(b' ') } else { text.letter(at - blanks) });
            }
        });
    }

    fn Trim(result: Descriptor, text: Descriptor, file: *const c_char, line: i32) {
        let value = Text::element(text, &Index::default());
        let bytes = value.trimmed() * value.letter;
        result.result(Kind { bytes, ..text.kind() }, &[], Line::new(file, line));
        core::ptr::copy_nonoverlapping(value.start, result.base(), bytes);
    }

    fn Repeat(result: Descriptor, text: Descriptor, copies: i64, file: *const c_char, line: i32) {
        let line = Line::new(file, line);
        if copies < 0 {
            device::fail(line, c"a text is repeated a negative number of times");
        }
        let bytes = text.element();
        result.result(Kind { bytes: bytes * copies as usize, ..text.kind() }, &[], line);
        for at in 0..copies as usize {
            core::ptr::copy_nonoverlapping(text.base(), result.base().add(at * bytes), bytes);
        }
    }

    fn CharacterMax(accumulator: Descriptor, text: Descriptor, file: *const c_char, line: i32) {
        extreme(accumulator, text, 1, Line::new(file, line));
    }

    fn CharacterMin(accumulator: Descriptor, text: Descriptor, file: *const c_char, line: i32) {
        extreme(accumulator, text, -1, Line::new(file, line));
    }

    /// Texts behind those that are there.
    fn CharacterConcatenate(accumulator: Descriptor, text: Descriptor, file: *const c_char, line: i32) {
        let mut old = accumulator.copy();
        let old = old.descriptor();
        let shape = if old.rank() > 0 { old } else { text };
        let (sizes, rank) = extents(shape);
        let (first, second) = (old.element(), text.element());
        accumulator.establish(Kind { bytes: first + second, ..old.kind() }, &sizes[..rank], attribute::ALLOCATABLE);
        if !accumulator.allocate() {
            device::fail(Line::new(file, line), c"no memory for a text (LIBOMPTARGET_HEAP_SIZE)");
        }
        let mut index = Index::default();
        for _ in 0..accumulator.elements() {
            let place = accumulator.at(&index);
            core::ptr::copy_nonoverlapping(old.at(&index), place, first);
            core::ptr::copy_nonoverlapping(text.at(&index), place.add(first), second);
            accumulator.next(&mut index);
        }
        device::release(old.base());
    }

    fn CharacterConcatenateScalar1(accumulator: Descriptor, text: *const u8, length: usize) {
        let (old, bytes) = (accumulator.base(), accumulator.element());
        accumulator.set_element(bytes + length);
        if !accumulator.allocate() {
            device::fail(Line::UNKNOWN, c"no memory for a text (LIBOMPTARGET_HEAP_SIZE)");
        }
        core::ptr::copy_nonoverlapping(old, accumulator.base(), bytes);
        core::ptr::copy_nonoverlapping(text, accumulator.base().add(bytes), length);
        device::release(old);
    }

    /// A text into the rest of another one; answers where it ends.
    fn CharacterAppend1(text: *mut u8, length: usize, at: usize, more: *const u8, more_length: usize) -> usize {
        let copied = more_length.min(length.saturating_sub(at));
        core::ptr::copy_nonoverlapping(more, text.add(at), copied);
        at + copied
    }

    /// Blanks from there to the end.
    fn CharacterPad1(text: *mut u8, length: usize, at: usize) {
        (at..length).for_each(|at| text.add(at).write(b' '));
    }
}
