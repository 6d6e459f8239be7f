//! Descriptions that compilers leave in a program: where a construct stands, and in the
//! runtime what a variable is called.
//!
//! A description is carried as the pointer it came as. It is decoded when somebody wants
//! to read it, by what the front ends have given for that, so that it costs a launch
//! nothing.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where a construct stands in the user's program, as the compiler told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceLocation<'a> {
    /// Source file, as spelled on the compiler's command line.
    pub file: &'a str,
    /// Function that contains the construct.
    pub function: &'a str,
    /// 1-based line; 0 if unknown.
    pub line: u32,
    /// 1-based column; 0 if unknown.
    pub column: u32,
}

impl SourceLocation<'_> {
    /// Whether the source is Fortran, by the name of its file.
    #[must_use]
    pub fn is_fortran(&self) -> bool {
        let extension = self.file.rsplit_once('.').map_or("", |(_, extension)| extension);
        let Some(("f" | "F", rest)) = extension.split_at_checked(1) else { return false };
        ["", "or", "tn", "pp"].iter().any(|known| rest.eq_ignore_ascii_case(known))
            || rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// A construct's description: a constant of the program in its compiler's form, or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct SourceText(*const c_char);

// SAFETY: the text is a constant of the program (or absent) and only read.
unsafe impl Send for SourceText {}
// SAFETY: as above.
unsafe impl Sync for SourceText {}

/// Reads a construct's description; `None` if it is in another compiler's form, or says
/// nothing. Neither allocates nor locks: signal handlers call it.
pub type ReadSource = fn(&'static str) -> Option<SourceLocation<'static>>;

static READERS: Readers<ReadSource> = Readers::new();

/// Adds a form of description for the rest of the process; called by front ends at their
/// start.
pub fn read_sources_with(reader: ReadSource) {
    READERS.add(reader);
}

impl SourceText {
    /// No description.
    pub const NONE: Self = Self(std::ptr::null());

    /// Wraps a description.
    ///
    /// # Safety
    /// `text` is null or a NUL-terminated constant of the program.
    #[must_use]
    pub const unsafe fn new(text: *const c_char) -> Self {
        Self(text)
    }

    /// The pointer it came as, for back ends that pass it on.
    #[must_use]
    pub const fn as_ptr(self) -> *const c_char {
        self.0
    }

    /// The place in the source; `None` without debug information. Neither
    /// allocates nor locks: signal handlers may call it.
    #[must_use]
    pub fn decode(self) -> Option<SourceLocation<'static>> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the promise of `new`.
        let text: &'static CStr = unsafe { CStr::from_ptr(self.0) };
        READERS.read(text.to_str().ok()?, |reader, text| reader(text))
    }
}

/// What a description says of a variable. The texts are constants of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Described {
    /// Its name as the user wrote it, if known.
    pub name: Option<&'static str>,
    /// Where it (or its map clause) stands, if known.
    pub location: Option<SourceLocation<'static>>,
}

/// What reads descriptions, each in another compiler's form. Only grows.
#[derive(Debug)]
pub struct Readers<F> {
    last: AtomicPtr<Reader<F>>,
}

#[derive(Debug)]
struct Reader<F> {
    read: F,
    before: *const Self,
}

impl<F: Copy> Readers<F> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Adds one.
    pub fn add(&self, read: F) {
        let mut before = self.last.load(Ordering::Acquire);
        let new = Box::into_raw(Box::new(Reader { read, before }));
        while let Err(now) = self.last.compare_exchange(before, new, Ordering::AcqRel, Ordering::Acquire) {
            before = now;
            // SAFETY: made above, and nobody else has seen it.
            unsafe { (*new).before = before };
        }
    }

    /// The first answer of any. Neither allocates nor locks.
    pub fn read<R>(&self, text: &'static str, ask: impl Fn(F, &'static str) -> Option<R>) -> Option<R> {
        let mut reader: *const Reader<F> = self.last.load(Ordering::Acquire);
        // SAFETY: readers are leaked, and complete before they are published.
        while let Some(Reader { read, before }) = unsafe { reader.as_ref() } {
            if let Some(answer) = ask(*read, text) {
                return Some(answer);
            }
            reader = *before;
        }
        None
    }
}

impl<F: Copy> Default for Readers<F> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_is_known_by_the_name_of_its_file() {
        let is_fortran = |file| SourceLocation { file, ..SourceLocation::default() }.is_fortran();
        for file in ["a.f90", "dir.c/a.F90", "a.f", "a.F", "a.f08", "a.for", "a.FTN", "a.fpp"] {
            assert!(is_fortran(file), "{file}");
        }
        for file in ["a.c", "a.f90.c", "f90", "", "a.fs", "a.f9", "a.f900", "a.", "a.fü"] {
            assert!(!is_fortran(file), "{file}");
        }
    }

    #[test]
    fn each_form_is_read_by_who_knows_it() {
        // SAFETY: a constant.
        let text = |text: &'static CStr| unsafe { SourceText::new(text.as_ptr()) };
        let at = |file, line| Some(SourceLocation { file, line, ..SourceLocation::default() });
        assert_eq!(text(c"a.c:7").decode(), None);
        read_sources_with(|text| {
            let (file, line) = text.split_once(':')?;
            Some(SourceLocation { file, line: line.parse().ok()?, ..SourceLocation::default() })
        });
        read_sources_with(|text| {
            let (line, file) = text.split_once('@')?;
            Some(SourceLocation { file, line: line.parse().ok()?, ..SourceLocation::default() })
        });
        assert_eq!(text(c"a.c:7").decode(), at("a.c", 7));
        assert_eq!(text(c"9@b.c").decode(), at("b.c", 9));
        assert_eq!(text(c"nonsense").decode(), None);
        assert_eq!(SourceText::NONE.decode(), None);
    }
}
