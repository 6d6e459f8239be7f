//! The letters of a text: its kind says how many bytes each has.

/// How many bytes a letter of a type has.
#[must_use]
pub const fn letter_bytes(code: i8) -> usize {
    match code {
        43 => 2,
        44 => 4,
        _ => 1,
    }
}

/// # Safety
/// There is room for the letter.
pub unsafe fn write_letter(place: *mut u8, bytes: usize, letter: u32) {
    // SAFETY: as the caller says.
    unsafe {
        match bytes {
            2 => place.cast::<u16>().write_unaligned(letter as u16),
            4 => place.cast::<u32>().write_unaligned(letter),
            _ => place.write(letter as u8),
        }
    }
}
