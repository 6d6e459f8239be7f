//! Kinds of letters, in the locale "C".
//!
//! The headers of the host's C library turn the functions into look-ups in tables, whose places
//! `__ctype_b_loc` and its kin say. The bits are those of glibc's `ctype.h` on little-endian machines.

use crate::export::export;
use core::ffi::c_int;

/// Bits of a kind, in the order of glibc's `_ISbit`.
const UPPER: u16 = 1 << 8;
const LOWER: u16 = 1 << 9;
const ALPHABETIC: u16 = 1 << 10;
const DIGIT: u16 = 1 << 11;
const HEXADECIMAL: u16 = 1 << 12;
const SPACE: u16 = 1 << 13;
const PRINTED: u16 = 1 << 14;
const GRAPHIC: u16 = 1 << 15;
const BLANK: u16 = 1;
const CONTROL: u16 = 2;
const PUNCTUATION: u16 = 4;
const ALPHANUMERIC: u16 = 8;

/// Tables begin with the letter -128.
const BEFORE: usize = 128;
const ENTRIES: usize = 384;

const fn kinds(letter: u8) -> u16 {
    let mut kinds = 0;
    let rules = [
        (letter.is_ascii_uppercase(), UPPER),
        (letter.is_ascii_lowercase(), LOWER),
        (letter.is_ascii_alphabetic(), ALPHABETIC | ALPHANUMERIC),
        (letter.is_ascii_digit(), DIGIT | ALPHANUMERIC),
        (letter.is_ascii_hexdigit(), HEXADECIMAL),
        (matches!(letter, b' ' | 9..=13), SPACE),
        (matches!(letter, b' '..=b'~'), PRINTED),
        (letter.is_ascii_graphic(), GRAPHIC),
        (matches!(letter, b' ' | b'\t'), BLANK),
        (letter.is_ascii_control(), CONTROL),
        (letter.is_ascii_punctuation(), PUNCTUATION),
    ];
    let mut rule = 0;
    while rule < rules.len() {
        if rules[rule].0 {
            kinds |= rules[rule].1;
        }
        rule += 1;
    }
    kinds
}

/// The entry of a table is for this letter.
const fn letter(entry: usize) -> i32 {
    entry as i32 - BEFORE as i32
}

const fn table_of_kinds() -> [u16; ENTRIES] {
    let mut table = [0; ENTRIES];
    let mut entry = BEFORE;
    while entry < ENTRIES {
        table[entry] = kinds(letter(entry) as u8);
        entry += 1;
    }
    table
}

const fn table_of_cases(upper: bool) -> [i32; ENTRIES] {
    let mut table = [0; ENTRIES];
    let mut entry = 0;
    while entry < ENTRIES {
        let letter = letter(entry);
        table[entry] = if letter >= 0 && letter < 128 {
            let byte = letter as u8;
            (if upper { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }) as i32
        } else {
            letter
        };
        entry += 1;
    }
    table
}

static KINDS: [u16; ENTRIES] = table_of_kinds();
static LOWER_CASE: [i32; ENTRIES] = table_of_cases(false);
static UPPER_CASE: [i32; ENTRIES] = table_of_cases(true);

/// Where the entry of the letter zero stands.
#[repr(transparent)]
pub struct Table<T>(*const T);

// SAFETY: the tables are constant.
unsafe impl<T> Sync for Table<T> {}

static KINDS_FROM_ZERO: Table<u16> = Table((&raw const KINDS).cast::<u16>().wrapping_add(BEFORE));
static LOWER_FROM_ZERO: Table<i32> = Table((&raw const LOWER_CASE).cast::<i32>().wrapping_add(BEFORE));
static UPPER_FROM_ZERO: Table<i32> = Table((&raw const UPPER_CASE).cast::<i32>().wrapping_add(BEFORE));

/// Whether a letter is of one of the kinds.
fn is(letter: c_int, wanted: u16) -> c_int {
    u8::try_from(letter).map_or(0, |letter| c_int::from(kinds(letter) & wanted))
}

/// A byte as C's functions compare it without regard to case.
pub(crate) fn lower(letter: u8) -> u8 {
    letter.to_ascii_lowercase()
}

/// What `strtol` and its kin skip.
pub(crate) fn is_space(letter: u8) -> bool {
    kinds(letter) & SPACE != 0
}

macro_rules! kinds {
    ($($name:ident $kind:expr;)*) => { export! {$(
        /// Whether a letter is of the kind.
        fn $name(letter: c_int) -> c_int { is(letter, $kind) }
    )*} };
}

kinds! {
    isalnum ALPHANUMERIC;
    isalpha ALPHABETIC;
    isblank BLANK;
    iscntrl CONTROL;
    isdigit DIGIT;
    isgraph GRAPHIC;
    islower LOWER;
    isprint PRINTED;
    ispunct PUNCTUATION;
    isspace SPACE;
    isupper UPPER;
    isxdigit HEXADECIMAL;
}

export! {
    /// The letter in lower case.
    fn tolower(letter: c_int) -> c_int {
        u8::try_from(letter).map_or(letter, |letter| c_int::from(letter.to_ascii_lowercase()))
    }

    /// The letter in upper case.
    fn toupper(letter: c_int) -> c_int {
        u8::try_from(letter).map_or(letter, |letter| c_int::from(letter.to_ascii_uppercase()))
    }

    /// The table of kinds.
    fn __ctype_b_loc() -> *const Table<u16> { &raw const KINDS_FROM_ZERO }

    /// The table of lower case.
    fn __ctype_tolower_loc() -> *const Table<i32> { &raw const LOWER_FROM_ZERO }

    /// The table of upper case.
    fn __ctype_toupper_loc() -> *const Table<i32> { &raw const UPPER_FROM_ZERO }
}
