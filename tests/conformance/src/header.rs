//! Reads the directives at the top of a program.
//!
//! Called by [`crate::corpus`]. A directive is a comment line `// key: value`
//! (`! key: value` in Fortran) in the block of comment lines that starts the
//! file; the README of this crate lists the keys. Any other comment line there
//! is prose, but one that starts with a single word and a colon is a directive,
//! and a misspelt one is an error.
//!
//! Never guesses: a wrong value is an error, not a default.

use std::fmt;

use crate::releases::Releases;
use crate::toolchain;

/// How a program's process has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Exit(i32),
    Signal(i32),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exit(code) => write!(f, "exit {code}"),
            Status::Signal(number) => write!(f, "signal {number}"),
        }
    }
}

/// What Gangway's output is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// The output of the stock library (the default).
    Stock,
    /// The `.expected` file, because the stock library is known to be wrong; the
    /// run under the stock library must still differ, or the entry is out of date.
    ExpectedStockDiffers,
    /// The `.expected` file, because the stock run cannot be had (it crashes,
    /// hangs or varies); the stock library is not run.
    ExpectedStockUnusable,
}

/// The directives of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// `covers:` what the program is about. Required.
    pub covers: String,
    /// `flags:` extra compiler flags.
    pub flags: Vec<String>,
    /// `args:` arguments of the program.
    pub arguments: Vec<String>,
    /// `env: NAME=VALUE`, once per variable; `env: NAME` leaves NAME unset.
    pub environment: Vec<(String, Option<String>)>,
    /// `status:` how the process ends; `exit 0` unless said.
    pub status: Status,
    /// `levels:` optimisation levels, `O0 O2` unless said.
    pub levels: Vec<String>,
    /// `library:` a source in `support/` built as a shared library beside the program.
    pub library: Option<String>,
    /// `tool:` a source in `support/` built as an OMPT tool and loaded by libomp.
    pub tool: Option<String>,
    /// `unit:` sources in `support/` compiled and linked together with the program.
    pub units: Vec<String>,
    /// `stderr: equal [TEXT | TEXT ...]`: messages on the standard error output are
    /// compared too, with addresses masked; all of them, or the lines that hold one of the texts.
    pub messages: Option<Vec<String>>,
    /// `plain: yes`: the program itself is compiled without OpenMP and offloading.
    pub plain: bool,
    /// `translated: yes`: it needs `gangway cc`, which writes what clang lacks as what it has.
    pub translated: bool,
    /// `preload: yes`: the offload library under test is put in `LD_PRELOAD`.
    pub preload: bool,
    /// `host: equal`: a run with `OMP_TARGET_OFFLOAD=DISABLED` must print the same.
    pub equals_host_run: bool,
    /// `stock: differs because ...`, once for each range of releases: `stock: differs(-22) because ...`.
    pub stock: Vec<(Releases, Reference)>,
}

impl Default for Header {
    fn default() -> Self {
        Header {
            covers: String::new(),
            flags: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            status: Status::Exit(0),
            levels: vec!["O0".into(), "O2".into()],
            library: None,
            tool: None,
            units: Vec::new(),
            messages: None,
            plain: false,
            translated: false,
            preload: false,
            equals_host_run: false,
            stock: Vec::new(),
        }
    }
}

impl Header {
    /// Reads the leading comment block of `text`, whose lines start with `comment`.
    pub fn parse(text: &str, comment: &str) -> Result<Header, String> {
        let mut header = Header::default();
        for (index, line) in text.lines().enumerate() {
            let Some(body) = line.strip_prefix(comment) else { break };
            let Some((key, value)) = body.trim().split_once(':') else { continue };
            header
                .directive(key, value.trim())
                .map_err(|error| format!("line {}: {key}: {error}", index + 1))?;
        }
        if header.covers.is_empty() {
            return Err("the first lines must say what the program covers (`covers: ...`)".into());
        }
        Ok(header)
    }

    /// What a run is held against with the release of LLVM under test.
    pub fn reference(&self) -> Reference {
        self.reference_of(toolchain::release())
    }

    fn reference_of(&self, release: u32) -> Reference {
        let held = self.stock.iter().find(|(releases, _)| releases.contain(release));
        held.map_or(Reference::Stock, |(_, reference)| *reference)
    }

    fn directive(&mut self, key: &str, value: &str) -> Result<(), String> {
        let words = || value.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match key {
            "covers" => self.covers = value.to_owned(),
            "flags" => self.flags = words(),
            "args" => self.arguments = words(),
            "env" => self.environment.push(match value.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (value.to_owned(), None),
            }),
            "status" => self.status = parse_status(value)?,
            "levels" => {
                self.levels = words();
                if self.levels.is_empty() || self.levels.iter().any(|level| !level.starts_with('O')) {
                    return Err(format!("`{value}` is not a list of levels such as `O0 O2`"));
                }
            }
            "library" => self.library = Some(value.to_owned()),
            "tool" => self.tool = Some(value.to_owned()),
            "unit" => self.units = words(),
            "stderr" => self.messages = Some(parse_messages(value)?),
            "plain" => self.plain = parse_choice(value, "yes")?,
            "translated" => self.translated = parse_choice(value, "yes")?,
            "preload" => self.preload = parse_choice(value, "yes")?,
            "host" => self.equals_host_run = parse_choice(value, "equal")?,
            "stock" => self.stock.push(parse_stock(value)?),
            // Prose with a colon in it has more than one word before it.
            _ if key.contains(' ') => {}
            _ => return Err("no such directive (see the README of the suite)".into()),
        }
        Ok(())
    }
}

fn parse_status(value: &str) -> Result<Status, String> {
    let (kind, number) = match value.split_once(' ') {
        Some((kind, number)) => (kind, number),
        None => ("exit", value),
    };
    let number = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
    match kind {
        "exit" => Ok(Status::Exit(number)),
        "signal" => Ok(Status::Signal(number)),
        _ => Err(format!("`{kind}` is neither `exit` nor `signal`")),
    }
}

fn parse_choice(value: &str, only: &str) -> Result<bool, String> {
    if value == only { Ok(true) } else { Err(format!("the only value is `{only}`")) }
}

/// `stderr: equal` or `stderr: equal Creating | Removing`.
fn parse_messages(value: &str) -> Result<Vec<String>, String> {
    let texts = value.strip_prefix("equal").ok_or("the value starts with `equal`")?;
    Ok(texts.split('|').map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect())
}

/// `stock: differs because ...` or `stock: unusable because ...`, of the releases in brackets or of
/// all: the reason is for the reader, but it has to be there.
fn parse_stock(value: &str) -> Result<(Releases, Reference), String> {
    let (word, reason) = value.split_once(" because ").unwrap_or((value, ""));
    if reason.trim().is_empty() {
        return Err("give the reason: `differs because ...` or `unusable because ...`".into());
    }
    let (word, releases) = Releases::behind(word)?;
    match word {
        "differs" => Ok((releases, Reference::ExpectedStockDiffers)),
        "unusable" => Ok((releases, Reference::ExpectedStockUnusable)),
        _ => Err(format!("`{word}` is neither `differs` nor `unusable`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_up_to_the_first_line_that_is_no_comment() {
        let text = "// covers: exits\n// A note: not a directive.\n// status: signal 6\n\
                    // env: OMP_TARGET_OFFLOAD\n// env: A=b=c\n// levels: O2\nint x;\n// status: 3\n";
        let header = Header::parse(text, "//").unwrap();
        assert_eq!(header.covers, "exits");
        assert_eq!(header.status, Status::Signal(6));
        assert_eq!(header.levels, ["O2"]);
        let offload = ("OMP_TARGET_OFFLOAD".to_owned(), None);
        assert_eq!(header.environment, [offload, ("A".to_owned(), Some("b=c".to_owned()))]);
    }

    #[test]
    fn a_program_must_say_what_it_covers() {
        assert!(Header::parse("int main;\n", "//").unwrap_err().contains("covers"));
    }

    #[test]
    fn the_stock_library_may_be_wrong_in_some_releases() {
        let text = "// covers: x\n// stock: unusable(-20) because it ends\n// stock: differs(-22) because it is wrong\n";
        let header = Header::parse(text, "//").unwrap();
        assert_eq!(header.reference_of(19), Reference::ExpectedStockUnusable);
        assert_eq!(header.reference_of(22), Reference::ExpectedStockDiffers);
        assert_eq!(header.reference_of(23), Reference::Stock);
    }

    #[test]
    fn wrong_values_are_errors_with_their_line() {
        for (line, part) in [
            ("status: sometimes 3", "neither"),
            ("status: three", "not a number"),
            ("levels: fast", "levels"),
            ("stock: differs", "reason"),
            ("stock: odd because it is", "neither"),
            ("stock: differs(x) because it is", "names no releases"),
            ("preload: no", "only value"),
            ("statsu: 1", "no such directive"),
        ] {
            let error = Header::parse(&format!("! covers: x\n! {line}\n"), "!").unwrap_err();
            assert!(error.contains(part) && error.starts_with("line 2"), "{line}: {error}");
        }
    }
}
