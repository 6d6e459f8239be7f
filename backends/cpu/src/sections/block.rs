//! A block of device memory, and what messages say about it.

use super::place::Place;
use crate::names::{Name, Part, name_of};
use gangway_backend::Described;
use std::fmt;

/// A live block of device memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub device: usize,
    pub size: usize,
    pub place: Place,
    /// Bytes before what is mapped.
    pub padding: usize,
    /// What is mapped to it; at first nothing.
    pub variable: Option<Described>,
}

impl Block {
    pub const fn new(device: usize, size: usize, place: Place) -> Self {
        Self { device, size, place, padding: 0, variable: None }
    }

    /// Bytes between what is mapped and one beside it, by its offset from the beginning of what is mapped.
    pub fn distance(&self, offset: isize) -> usize {
        let size = self.size - self.padding;
        usize::try_from(offset)
            .map_or_else(|_| offset.unsigned_abs() - 1, |offset| offset.saturating_sub(size))
    }

    /// What the user calls the element at a byte of what is mapped, or beside it.
    pub fn element(&self, offset: isize) -> Option<Name> {
        name_of(Part::Element, self.variable?, offset)
    }
}

/// The variable, for messages.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size - self.padding;
        let Some(variable) = self.variable else {
            return write!(f, "{size} bytes that no variable is mapped to");
        };
        match variable.name {
            Some(name) => write!(f, "`{name}` of {size} bytes")?,
            None => write!(f, "{size} mapped bytes (-g gives them their name)")?,
        }
        match variable.location {
            Some(at) => write!(f, " (declared at {}:{})", at.file, at.line),
            None => Ok(()),
        }
    }
}
