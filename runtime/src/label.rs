//! The compilers' descriptions of mapped variables.
//!
//! clang and flang pass `";name;file;line;column;;"` for each mapped variable
//! (only with debug information; without it the text is `;unknown;unknown;0;0;;`).
//! A label is carried as the pointer it came as and only decoded when somebody
//! wants to read it, so that it costs a launch nothing.

use gangway_backend::SourceLocation;
use std::ffi::{CStr, c_char};

/// A variable's description; null where the compiler gave none.
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

    fn text(self) -> Option<&'static str> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: a non-null label points to a NUL-terminated constant of the program.
        unsafe { CStr::from_ptr(self.0) }.to_str().ok()
    }

    /// The variable's name as the user wrote it, if known. A text that is not in
    /// the `;`-form (a symbol name of a global) is the name itself.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        let text = self.text()?;
        match text.strip_prefix(';') {
            Some(fields) => fields.split(';').next().filter(|name| !name.is_empty() && *name != "unknown"),
            None => Some(text),
        }
    }

    /// Where the variable (or its map clause) stands.
    #[must_use]
    pub fn location(self) -> Option<SourceLocation<'static>> {
        let mut fields = self.text()?.strip_prefix(';')?.split(';').skip(1);
        let file = fields.next()?;
        let line = fields.next()?.parse().ok()?;
        let column = fields.next()?.parse().ok()?;
        (line != 0).then_some(SourceLocation { file, function: "", line, column })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn variable_descriptions() {
        let label = Label::from_ptr(c";s.p[0:s.n];m.c;4;32;;".as_ptr());
        assert_eq!(label.name(), Some("s.p[0:s.n]"));
        let location = label.location().unwrap();
        assert_eq!((location.file, location.line, location.column), ("m.c", 4, 32));
        assert_eq!(Label::from_ptr(c"global".as_ptr()).name(), Some("global"));
        assert_eq!(Label::from_ptr(c";unknown;unknown;0;0;;".as_ptr()).name(), None);
        assert_eq!(Label::NONE.name(), None);
    }
}
