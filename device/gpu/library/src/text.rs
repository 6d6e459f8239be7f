//! Texts that end with a null byte.

use crate::export::export;
use crate::letter::lower;
use core::ffi::{c_char, c_int};

/// A byte of a text.
pub(crate) unsafe fn byte(text: *const c_char, at: usize) -> u8 {
    // SAFETY: as the caller says.
    unsafe { text.add(at).cast::<u8>().read() }
}

/// Bytes before the null byte, of which `most` are looked at.
unsafe fn length(text: *const c_char, most: usize) -> usize {
    let mut length = 0;
    // SAFETY: as the caller says.
    while length < most && unsafe { byte(text, length) } != 0 {
        length += 1;
    }
    length
}

/// Compares up to `most` bytes, as `change` makes them.
unsafe fn compare(
    left: *const c_char,
    right: *const c_char,
    most: usize,
    change: impl Fn(u8) -> u8,
) -> c_int {
    for at in 0..most {
        // SAFETY: as the caller says; both texts go on.
        let (left, right) = unsafe { (change(byte(left, at)), change(byte(right, at))) };
        if left != right {
            return c_int::from(left) - c_int::from(right);
        }
        if left == 0 {
            break;
        }
    }
    0
}

/// Copies so many bytes.
unsafe fn copy(to: *mut c_char, from: *const c_char, count: usize) {
    for at in 0..count {
        // SAFETY: as the caller says.
        unsafe { to.add(at).write(from.add(at).read()) };
    }
}

/// Whether a byte is among those of a text.
unsafe fn is_among(letter: u8, set: *const c_char) -> bool {
    let mut at = 0;
    loop {
        // SAFETY: as the caller says.
        match unsafe { byte(set, at) } {
            0 => return false,
            other if other == letter => return true,
            _ => at += 1,
        }
    }
}

/// How many bytes at the start of a text are among those of a set, or are not.
unsafe fn span(text: *const c_char, set: *const c_char, among: bool) -> usize {
    let mut at = 0;
    loop {
        // SAFETY: as the caller says.
        let letter = unsafe { byte(text, at) };
        // SAFETY: as the caller says.
        if letter == 0 || unsafe { is_among(letter, set) } != among {
            return at;
        }
        at += 1;
    }
}

export! {
    /// Bytes of a text, of which `most` are looked at.
    fn strnlen(text: *const c_char, most: usize) -> usize { length(text, most) }

    /// Compares texts.
    fn strcmp(left: *const c_char, right: *const c_char) -> c_int {
        compare(left, right, usize::MAX, |letter| letter)
    }

    /// Compares the starts of texts.
    fn strncmp(left: *const c_char, right: *const c_char, most: usize) -> c_int {
        compare(left, right, most, |letter| letter)
    }

    /// Compares texts as the locale does, which is "C".
    fn strcoll(left: *const c_char, right: *const c_char) -> c_int {
        compare(left, right, usize::MAX, |letter| letter)
    }

    /// Compares texts without regard to case.
    fn strcasecmp(left: *const c_char, right: *const c_char) -> c_int {
        compare(left, right, usize::MAX, lower)
    }

    /// Compares the starts of texts without regard to case.
    fn strncasecmp(left: *const c_char, right: *const c_char, most: usize) -> c_int {
        compare(left, right, most, lower)
    }

    /// Copies a text.
    fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
        copy(to, from, length(from, usize::MAX) + 1);
        to
    }

    /// Copies a text, and answers where the copy's null byte is.
    fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
        let count = length(from, usize::MAX);
        copy(to, from, count + 1);
        to.add(count)
    }

    /// Copies the start of a text, and fills up with null bytes.
    fn strncpy(to: *mut c_char, from: *const c_char, room: usize) -> *mut c_char {
        let count = length(from, room);
        copy(to, from, count);
        (count..room).for_each(|at| to.add(at).write(0));
        to
    }

    /// The same, and answers where the copy ends.
    fn stpncpy(to: *mut c_char, from: *const c_char, room: usize) -> *mut c_char {
        let count = length(from, room);
        copy(to, from, count);
        (count..room).for_each(|at| to.add(at).write(0));
        to.add(count)
    }

    /// Appends a text.
    fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char {
        copy(to.add(length(to, usize::MAX)), from, length(from, usize::MAX) + 1);
        to
    }

    /// Appends the start of a text.
    fn strncat(to: *mut c_char, from: *const c_char, most: usize) -> *mut c_char {
        let (start, count) = (length(to, usize::MAX), length(from, most));
        copy(to.add(start), from, count);
        to.add(start + count).write(0);
        to
    }

    /// The first place of a letter, which may be the null byte.
    fn strchr(text: *const c_char, letter: c_int) -> *mut c_char {
        let found = strchrnul(text, letter);
        if found.cast::<u8>().read() == letter as u8 { found } else { core::ptr::null_mut() }
    }

    /// The first place of a letter, or the text's end.
    fn strchrnul(text: *const c_char, letter: c_int) -> *mut c_char {
        let mut at = 0;
        while !matches!(byte(text, at), 0) && byte(text, at) != letter as u8 {
            at += 1;
        }
        text.add(at).cast_mut()
    }

    /// The last place of a letter, which may be the null byte.
    fn strrchr(text: *const c_char, letter: c_int) -> *mut c_char {
        let end = length(text, usize::MAX);
        let found = (0..=end).rev().find(|&at| byte(text, at) == letter as u8);
        found.map_or(core::ptr::null_mut(), |at| text.add(at).cast_mut())
    }

    /// How many bytes at the start are among those of a set.
    fn strspn(text: *const c_char, set: *const c_char) -> usize { span(text, set, true) }

    /// How many bytes at the start are none of a set.
    fn strcspn(text: *const c_char, set: *const c_char) -> usize { span(text, set, false) }

    /// The first byte that is among those of a set.
    fn strpbrk(text: *const c_char, set: *const c_char) -> *mut c_char {
        let found = text.add(span(text, set, false)).cast_mut();
        if found.read() == 0 { core::ptr::null_mut() } else { found }
    }

    /// Where the one text has the other.
    fn strstr(text: *const c_char, part: *const c_char) -> *mut c_char {
        let count = length(part, usize::MAX);
        let mut at = text;
        loop {
            if compare(at, part, count, |letter| letter) == 0 {
                return at.cast_mut();
            }
            if at.read() == 0 {
                return core::ptr::null_mut();
            }
            at = at.add(1);
        }
    }

    /// The next piece between letters of a set; the caller keeps the place.
    fn strtok_r(text: *mut c_char, set: *const c_char, place: *mut *mut c_char) -> *mut c_char {
        let mut start = if text.is_null() { place.read() } else { text };
        start = start.add(span(start, set, true));
        let end = start.add(span(start, set, false));
        let last = end.read() == 0;
        end.write(0);
        place.write(if last { end } else { end.add(1) });
        if start == end { core::ptr::null_mut() } else { start }
    }

    /// What glibc's headers may call it.
    fn __strtok_r(text: *mut c_char, set: *const c_char, place: *mut *mut c_char) -> *mut c_char {
        strtok_r(text, set, place)
    }
}
