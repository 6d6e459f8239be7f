//! The descriptions that LLVM's compilers leave in a program.
//!
//! clang describes a construct by `";file;function;line;column;;"` and a mapped variable
//! by `";name;file;line;column;;"`, flang a variable by `";file;name;line;column;;"`
//! (only with debug information; without it the text is `;unknown;unknown;0;0;;`).

use gangway_backend::SourceLocation;
use gangway_runtime::Described;

/// Says how descriptions are read; called once, when the front end starts.
pub(crate) fn start() {
    gangway_backend::read_sources_with(construct);
    gangway_runtime::read_labels_with(variable);
}

/// Where a construct stands.
fn construct(text: &'static str) -> Option<SourceLocation<'static>> {
    let Fields { first: file, second: function, line, column } = Fields::of(text)?;
    (line != 0).then_some(SourceLocation { file, function, line, column })
}

/// What a variable is called and where it (or its map clause) stands.
fn variable(text: &'static str) -> Option<Described> {
    if !text.starts_with(';') {
        return None;
    }
    let Some(Fields { first, second, line, column }) = Fields::of(text) else {
        return Some(Described { name: None, location: None });
    };
    // flang puts the file first, clang the variable.
    let flang = is_fortran_file(first) && !is_fortran_file(second) && !second.contains('/');
    let (name, file) = if flang { (second, first) } else { (first, second) };
    let name = (!name.is_empty() && name != "unknown").then_some(name);
    let location = (line != 0).then_some(SourceLocation { file, function: "", line, column });
    Some(Described { name, location })
}

/// A description taken apart.
struct Fields<'a> {
    first: &'a str,
    second: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut fields = text.strip_prefix(';')?.split(';');
        let (first, second) = (fields.next()?, fields.next()?);
        let line = fields.next()?.parse().ok()?;
        let column = fields.next()?.parse().ok()?;
        Some(Self { first, second, line, column })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &'static str) -> (Option<&'static str>, Option<(&'static str, u32, u32)>) {
        let Described { name, location } = variable(text).unwrap();
        (name, location.map(|at| (at.file, at.line, at.column)))
    }

    #[test]
    fn constructs() {
        let at = construct(";t/a.c;main;7;1;;").unwrap();
        assert_eq!((at.file, at.function, at.line, at.column), ("t/a.c", "main", 7, 1));
        assert_eq!(construct(";unknown;unknown;0;0;;"), None);
        assert_eq!(construct("nonsense"), None);
    }

    #[test]
    fn variables() {
        assert_eq!(described(";s.p[0:s.n];m.c;4;32;;"), (Some("s.p[0:s.n]"), Some(("m.c", 4, 32))));
        assert_eq!(described(";unknown;unknown;0;0;;"), (None, None));
        assert_eq!(described(";cut"), (None, None));
        assert_eq!(variable("global"), None);
    }

    #[test]
    fn flang_puts_the_file_first() {
        let (name, at) = described(";/home/user/cg.F90;matrix;12;7;;");
        assert_eq!((name, at), (Some("matrix"), Some(("/home/user/cg.F90", 12, 7))));
        assert_eq!(described(";sub/old.f;x;3;1;;").0, Some("x"));
        assert_eq!(described(";s.f;main.cpp;3;1;;").0, Some("s.f"));
    }
}
