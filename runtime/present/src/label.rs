//! The compilers' descriptions of mapped variables.
//!
//! A label is carried as the pointer it came as and only decoded when somebody wants to
//! read it, so that it costs a launch nothing. The front ends say how.

pub use gangway_backend::Described;
use gangway_backend::{Readers, SourceLocation};
use std::ffi::{CStr, c_char};

/// A variable's description: a constant of the program in its compiler's form; null where
/// the compiler gave none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Label(*const c_char);

// SAFETY: the text is a constant of the program (or absent) and only read.
unsafe impl Send for Label {}
// SAFETY: as above.
unsafe impl Sync for Label {}

impl Default for Label {
    fn default() -> Self {
        Self::NONE
    }
}

/// Reads a variable's description; `None` if it is in another compiler's form.
pub type ReadLabel = fn(&'static str) -> Option<Described>;

static READERS: Readers<ReadLabel> = Readers::new();

/// Adds a form of description for the rest of the process; called by front ends at their
/// start.
pub fn read_labels_with(reader: ReadLabel) {
    READERS.add(reader);
}

impl Label {
    /// No description.
    pub const NONE: Self = Self(std::ptr::null());

    /// Wraps a compiler-made description, which is a constant of the program.
    #[must_use]
    pub const fn from_ptr(text: *const c_char) -> Self {
        Self(text)
    }

    /// A global's symbol name.
    #[must_use]
    pub const fn of_symbol(name: &'static CStr) -> Self {
        Self(name.as_ptr())
    }

    /// The pointer it came as.
    #[must_use]
    pub const fn as_ptr(self) -> *const c_char {
        self.0
    }

    /// All that is known.
    #[must_use]
    pub fn describe(self) -> Described {
        self.decode().unwrap_or_default()
    }

    /// A text that no front end knows is the variable's name: a global's symbol.
    fn decode(self) -> Option<Described> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: a non-null label points to a NUL-terminated constant of the program.
        let text: &'static str = unsafe { CStr::from_ptr(self.0) }.to_str().ok()?;
        let symbol = || Described { name: (!text.is_empty()).then_some(text), location: None };
        Some(READERS.read(text, |reader, text| reader(text)).unwrap_or_else(symbol))
    }

    /// The variable's name as the user wrote it, if known.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        self.decode()?.name
    }

    /// Where the variable (or its map clause) stands.
    #[must_use]
    pub fn location(self) -> Option<SourceLocation<'static>> {
        self.decode()?.location
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_symbol_unless_a_front_end_knows_it() {
        let (symbol, described) = (Label::of_symbol(c"global"), Label::of_symbol(c"x at a.c"));
        assert_eq!(described.name(), Some("x at a.c"));
        read_labels_with(|text| {
            let (name, file) = text.split_once(" at ")?;
            let location = SourceLocation { file, ..SourceLocation::default() };
            Some(Described { name: Some(name), location: Some(location) })
        });
        assert_eq!((described.name(), described.location().unwrap().file), (Some("x"), "a.c"));
        assert_eq!((symbol.name(), symbol.location()), (Some("global"), None));
        assert_eq!(Label::NONE.name(), None);
    }
}
