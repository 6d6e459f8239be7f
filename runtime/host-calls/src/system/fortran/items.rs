//! Takes the bytes of a statement apart. Whatever stands there, nothing is read beyond them, and what
//! is handed to Fortran's library has the form that it expects.

use super::FortranError;
use gangway_system::fortran::{Kind, Number, RANKS, Setting};
use std::ffi::CString;

/// An item of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item<'b> {
    Begin(Begin<'b>),
    Integer(Integer),
    Real4(f32),
    Real8(f64),
    Complex4(f32, f32),
    Complex8(f64, f64),
    Logical(bool),
    Text(&'b [u8]),
    Array(Array<'b>),
    Setting(Setting, &'b [u8]),
    Number(Number, i64),
    Handlers([bool; 5]),
    Message(&'b [u8]),
}

/// How a statement begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Begin<'b> {
    pub kind: Kind,
    pub unit: i32,
    /// Bytes of the variable that an internal statement writes to.
    pub length: usize,
    pub line: i32,
    pub file: CString,
    pub format: &'b [u8],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Integer {
    One(i8),
    Two(i16),
    Four(i32),
    Eight(i64),
    Sixteen(i128),
}

/// The elements of an array stand one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Array<'b> {
    pub kind: i8,
    pub element: usize,
    pub extents: Vec<i64>,
    pub data: &'b [u8],
}

/// Bytes that a variable may have which an internal statement writes to. A statement of few bytes
/// has the host take so many.
const LARGEST_VARIABLE: u64 = 1 << 24;

/// Elements without bytes that the arrays of a statement may have. Nothing else bounds them.
const MOST_EMPTY: u64 = 1 << 20;

pub(super) struct Items<'b> {
    rest: &'b [u8],
    is_first: bool,
    /// Elements without bytes that there may still be.
    empty: u64,
}

impl<'b> Items<'b> {
    pub(super) const fn of(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, is_first: true, empty: MOST_EMPTY }
    }

    fn item(&mut self) -> Result<Item<'b>, FortranError> {
        let head = word(&mut self.rest)?;
        let length = usize::try_from(head >> 8).map_err(|_| FortranError::Malformed("an item's length"))?;
        let bytes = self.rest.get(..length).ok_or(FortranError::Malformed("an item's length"))?;
        let padded = length.checked_next_multiple_of(8).unwrap_or(length);
        self.rest = self.rest.get(padded..).unwrap_or(&[]);
        let kind = Kind::of(head as u8).ok_or(FortranError::Malformed("an item's kind"))?;
        let item = read(kind, bytes)?;
        if let Item::Array(Array { element: 0, extents, .. }) = &item {
            let count = extents.iter().map(|&extent| extent.unsigned_abs()).try_fold(1, u64::checked_mul);
            let left = count.and_then(|count| self.empty.checked_sub(count));
            self.empty = left.ok_or(FortranError::Malformed("more empty texts than are written at once"))?;
        }
        Ok(item)
    }
}

impl<'b> Iterator for Items<'b> {
    type Item = Result<Item<'b>, FortranError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            // A statement begins, at least.
            return std::mem::take(&mut self.is_first).then_some(Err(FortranError::Malformed("it is empty")));
        }
        let item = self.item();
        let is_first = std::mem::take(&mut self.is_first);
        Some(match item {
            Ok(item) if matches!(item, Item::Begin(_)) != is_first => {
                Err(FortranError::Malformed("an item's place"))
            }
            Err(error) => {
                self.rest = &[];
                Err(error)
            }
            item => item,
        })
    }
}

fn word(bytes: &mut &[u8]) -> Result<u64, FortranError> {
    let (word, rest) = bytes.split_first_chunk().ok_or(FortranError::Malformed("it is cut off"))?;
    *bytes = rest;
    Ok(u64::from_ne_bytes(*word))
}

/// A value that has as many bytes as its type.
macro_rules! value {
    ($type:ty, $bytes:expr) => {
        <$type>::from_ne_bytes($bytes.try_into().map_err(|_| FortranError::Malformed("a value's bytes"))?)
    };
}

fn read(kind: Kind, mut bytes: &[u8]) -> Result<Item<'_>, FortranError> {
    Ok(match kind {
        Kind::ExternalList
        | Kind::ExternalFormatted
        | Kind::InternalList
        | Kind::InternalFormatted
        | Kind::Flush => Item::Begin(begin(kind, bytes)?),
        Kind::Integer => Item::Integer(match bytes.len() {
            1 => Integer::One(value!(i8, bytes)),
            2 => Integer::Two(value!(i16, bytes)),
            4 => Integer::Four(value!(i32, bytes)),
            8 => Integer::Eight(value!(i64, bytes)),
            _ => Integer::Sixteen(value!(i128, bytes)),
        }),
        Kind::Real if bytes.len() == 4 => Item::Real4(value!(f32, bytes)),
        Kind::Real => Item::Real8(value!(f64, bytes)),
        Kind::Complex => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            match real.len() {
                4 => Item::Complex4(value!(f32, real), value!(f32, imaginary)),
                _ => Item::Complex8(value!(f64, real), value!(f64, imaginary)),
            }
        }
        Kind::Logical => Item::Logical(value!(u8, bytes) != 0),
        Kind::Text => Item::Text(bytes),
        Kind::Array => Item::Array(array(bytes)?),
        Kind::Setting => {
            let setting = Setting::of(word(&mut bytes)?).ok_or(FortranError::Malformed("a specifier"))?;
            Item::Setting(setting, bytes)
        }
        Kind::Number => {
            let number = Number::of(word(&mut bytes)?).ok_or(FortranError::Malformed("a specifier"))?;
            Item::Number(number, word(&mut bytes)?.cast_signed())
        }
        Kind::Handlers => {
            let handlers: [u8; 5] =
                bytes.try_into().map_err(|_| FortranError::Malformed("a value's bytes"))?;
            Item::Handlers(handlers.map(|handler| handler != 0))
        }
        Kind::Message => Item::Message(bytes),
    })
}

fn begin(kind: Kind, mut bytes: &[u8]) -> Result<Begin<'_>, FortranError> {
    let (unit, line) = (word(&mut bytes)?, word(&mut bytes)?);
    let mut length = || usize::try_from(word(&mut bytes)?).map_err(|_| FortranError::Malformed("a text"));
    let (file, format) = (length()?, length()?);
    let (file, rest) = bytes.split_at_checked(file).ok_or(FortranError::Malformed("a text"))?;
    let format = rest.get(..format).ok_or(FortranError::Malformed("a text"))?;
    let length = if kind.is_internal() { unit } else { 0 };
    if length > LARGEST_VARIABLE {
        return Err(FortranError::Malformed("a variable's length"));
    }
    let file = CString::new(file).map_err(|_| FortranError::Malformed("a file's name"))?;
    Ok(Begin { kind, unit: unit as i32, length: length as usize, line: line as i32, file, format })
}

fn array(mut bytes: &[u8]) -> Result<Array<'_>, FortranError> {
    let (rank, kind) = (word(&mut bytes)?, word(&mut bytes)?);
    let element = usize::try_from(word(&mut bytes)?).map_err(|_| FortranError::Malformed("an array"))?;
    if rank > RANKS as u64 || !is_type(kind, element) {
        return Err(FortranError::Malformed("an array's type"));
    }
    let mut extents = Vec::with_capacity(rank as usize);
    let wrong = FortranError::Malformed("an array's extents");
    let mut stride = i64::try_from(element).map_err(|_| wrong.clone())?;
    let mut is_empty = false;
    for _ in 0..rank {
        let extent = i64::try_from(word(&mut bytes)?).map_err(|_| wrong.clone())?;
        is_empty |= extent == 0;
        // Arrays without elements have strides as well, which the library computes with.
        stride = stride.checked_mul(extent.max(1)).ok_or_else(|| wrong.clone())?;
        extents.push(extent);
    }
    let size = if is_empty { 0 } else { stride };
    if usize::try_from(size) != Ok(bytes.len()) {
        return Err(wrong);
    }
    Ok(Array { kind: kind as i8, element, extents, data: bytes })
}

/// Whether a type of `ISO_Fortran_binding.h` has elements of this size, and can be written.
fn is_type(kind: u64, bytes: usize) -> bool {
    match kind {
        // Integers by their names in C, of exact, least and fast widths, and logicals.
        1 | 7 | 12 | 17 | 39 | 45 => bytes == 1,
        2 | 8 | 13 | 46 => bytes == 2,
        3 | 9 | 14 | 47 => bytes == 4,
        4..=6 | 10 | 15 | 18..=20 | 22..=24 | 48 => bytes == 8,
        11 | 16 | 21 | 49 => bytes == 16,
        // Reals and complex numbers that GPUs have, too.
        25 | 26 => bytes == 2,
        27 | 32 | 33 => bytes == 4,
        28 | 34 => bytes == 8,
        35 => bytes == 16,
        // Characters, of one, two and four bytes.
        40 => true,
        43 => bytes.is_multiple_of(2),
        44 => bytes.is_multiple_of(4),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
