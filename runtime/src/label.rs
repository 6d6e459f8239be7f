//! The compilers' descriptions of mapped variables.
//!
//! clang passes `";name;file;line;column;;"` for each mapped variable, flang
//! `";file;name;line;column;;"`
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
        let name = if text.starts_with(';') { Fields::of(text)?.name } else { text };
        (!name.is_empty() && name != "unknown").then_some(name)
    }

    /// Where the variable (or its map clause) stands.
    #[must_use]
    pub fn location(self) -> Option<SourceLocation<'static>> {
        let Fields { file, line, column, .. } = Fields::of(self.text()?)?;
        (line != 0).then_some(SourceLocation { file, function: "", line, column })
    }
}

/// A description taken apart.
struct Fields<'a> {
    name: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut fields = text.strip_prefix(';')?.split(';');
        let (first, second) = (fields.next()?, fields.next()?);
        let line = fields.next()?.parse().ok()?;
        let column = fields.next()?.parse().ok()?;
        // flang puts the file first, clang the variable.
        let (name, file) = if is_fortran_file(first) && !is_fortran_file(second) && !second.contains('/') {
            (second, first)
        } else {
            (first, second)
        };
        Some(Self { name, file, line, column })
    }
}

/// Whether a field of a description names a Fortran source file: no variable of C
/// or Fortran ends like that, except a member called `f`, which C++ programs have.
fn is_fortran_file(field: &str) -> bool {
    const SUFFIXES: [&str; 8] = ["f90", "f95", "f03", "f08", "f18", "for", "ftn", "cuf"];
    let Some((stem, suffix)) = field.rsplit_once('.') else { return false };
    let suffix = suffix.to_ascii_lowercase();
    SUFFIXES.contains(&suffix.as_str()) || (suffix == "f" && stem.contains('/'))
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

    #[test]
    fn flang_puts_the_file_first() {
        let label = Label::from_ptr(c";/home/user/cg.F90;matrix;12;7;;".as_ptr());
        assert_eq!(label.name(), Some("matrix"));
        let location = label.location().unwrap();
        assert_eq!((location.file, location.line), ("/home/user/cg.F90", 12));
        assert_eq!(Label::from_ptr(c";sub/old.f;x;3;1;;".as_ptr()).name(), Some("x"));
        assert_eq!(Label::from_ptr(c";s.f;main.cpp;3;1;;".as_ptr()).name(), Some("s.f"));
    }
}
