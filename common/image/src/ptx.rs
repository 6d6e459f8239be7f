//! PTX text: its header directives, its kernels and its global variables.
//!
//! This is not a PTX parser. It skips comments and bodies and reads the directives at
//! module level, which is enough to say what a module offers.

mod resources;

use crate::error::{Error, Result};
pub use resources::{Resources, resources};

/// How much comment may precede `.version` before the text is taken for something else.
const PREAMBLE_LIMIT: usize = 1 << 16;

/// The directives that every PTX module starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    pub version: (u16, u16),
    /// `sm_80`
    pub target: &'a str,
}

/// What a module defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module<'a> {
    pub kernels: Vec<&'a str>,
    /// Variables in global and constant memory, with their sizes where the text tells.
    pub globals: Vec<(&'a str, Option<u64>)>,
}

impl<'a> Header<'a> {
    /// `None` when `bytes` is not PTX at all.
    pub fn parse(bytes: &'a [u8]) -> Result<Option<Header<'a>>> {
        let start = &bytes[..bytes.len().min(PREAMBLE_LIMIT)];
        let mut words = Words { text: start, at: 0 };
        if words.next() != Some(b".version") {
            return Ok(None);
        }
        let at = words.at as u64;
        let number = words.next().unwrap_or_default();
        let version = version(number)
            .ok_or_else(|| Error::malformed("the PTX version", at, "two numbers like 7.0", show(number)))?;
        let at = words.at as u64;
        let (directive, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match std::str::from_utf8(target) {
            Ok(target) if directive == b".target" && !target.is_empty() => {
                Ok(Some(Header { version, target: target.trim_end_matches(',') }))
            }
            _ => Err(Error::malformed("the PTX target", at, ".target and a processor", show(directive))),
        }
    }
}

fn version(number: &[u8]) -> Option<(u16, u16)> {
    let (major, minor) = std::str::from_utf8(number).ok()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn show(word: &[u8]) -> String {
    let shown = &word[..word.len().min(24)];
    format!("'{}'", String::from_utf8_lossy(shown).escape_debug())
}

/// Lists what a PTX module defines. Text that is not PTX gives an empty module.
pub fn module(text: &[u8]) -> Module<'_> {
    let mut module = Module::default();
    let mut words = Words { text, at: 0 };
    let mut depth = 0usize;
    let mut external = false;
    while let Some(word) = words.next() {
        match word {
            b"{" => depth += 1,
            b"}" => depth = depth.saturating_sub(1),
            b";" => external = false,
            _ if depth > 0 => {}
            b".extern" => external = true,
            b".entry" => {
                if let Some(name) = words.next().and_then(identifier) {
                    module.kernels.push(name);
                }
            }
            b".global" | b".const" => {
                if let Some(global) = variable(&mut words)
                    && !external
                {
                    module.globals.push(global);
                }
            }
            // A parameter list may mention state spaces; it is not at module level.
            b"(" => skip_parentheses(&mut words),
            _ => {}
        }
    }
    module
}

/// The kernels that a PTX text defines, with the number of their parameters. Looks for the
/// directive alone: whoever asks knows the name of a kernel, and loads megabytes of text.
pub fn kernel_parameters(text: &[u8]) -> impl Iterator<Item = (&str, usize)> {
    const ENTRY: &[u8] = b".entry";
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].iter().position(|&byte| byte == b'.')? + 1;
            if !text[at - 1..].starts_with(ENTRY) {
                continue;
            }
            let mut words = Words { text, at: at - 1 };
            let Some(name) = words.nth(1).and_then(identifier) else { continue };
            let parameters = words.take_while(|word| !matches!(*word, b")" | b"{" | b";"));
            return Some((name, parameters.filter(|word| *word == b".param").count()));
        }
    })
}

fn skip_parentheses(words: &mut Words<'_>) {
    let mut depth = 1usize;
    while depth > 0 {
        match words.next() {
            Some(b"(") => depth += 1,
            Some(b")") => depth -= 1,
            None => return,
            _ => {}
        }
    }
}

/// `.align 8 .b8 name[24]` after the state space.
fn variable<'a>(words: &mut Words<'a>) -> Option<(&'a str, Option<u64>)> {
    let mut width = None;
    loop {
        let word = words.next()?;
        match word {
            b".align" => {
                words.next()?;
            }
            b".attribute" => {
                words.find(|word| *word == b")")?;
            }
            [b'.', rest @ ..] => width = element_size(rest).or(width),
            name => {
                let name = identifier(name)?;
                return Some((name, width.and_then(|width| extent(words, width))));
            }
        }
    }
}

/// Bytes of a fundamental type such as `u32` or `b8`.
fn element_size(kind: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(kind.get(1..)?).ok()?;
    matches!(kind[0], b'b' | b'u' | b's' | b'f').then_some(())?;
    Some(digits.parse::<u64>().ok()? / 8)
}

/// The whole size of a variable whose dimensions follow.
fn extent(words: &mut Words<'_>, width: u64) -> Option<u64> {
    let mut size = width;
    loop {
        let before = words.at;
        if words.next() != Some(b"[") {
            words.at = before;
            return Some(size);
        }
        let count = std::str::from_utf8(words.next()?).ok()?.parse::<u64>().ok()?;
        size = size.checked_mul(count)?;
        (words.next()? == b"]").then_some(())?;
    }
}

fn identifier(word: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(word).ok()?;
    text.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$' | '%'))
        .then_some(text)
}

/// Words and single punctuation bytes, without comments and strings.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.text.get(self.at..)?;
            match rest {
                [] => return None,
                [b'/', b'/', ..] => self.at += find(rest, b"\n"),
                [b'/', b'*', ..] => self.at += 2 + find(&rest[2..], b"*/"),
                [b'"', tail @ ..] => self.at += 1 + find(tail, b"\""),
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0 => self.at += 1,
                _ => break,
            }
        }
        let rest = &self.text[self.at..];
        let length = (1..rest.len()).find(|&end| ends(&rest[..end], &rest[end..])).unwrap_or(rest.len());
        self.at += length;
        Some(&rest[..length])
    }
}

/// Whether `word` is whole before `rest`. No blank needs to stand before the period of a
/// directive: GCC writes `.param.u64`, and `.version 7.3.target sm_52.file 1` into one of its parts.
fn ends(word: &[u8], rest: &[u8]) -> bool {
    match rest {
        _ if !is_word(word[0]) => true,
        [b'.', next, ..] => !(next.is_ascii_digit() && word.iter().all(u8::is_ascii_digit)),
        [byte, ..] => !is_word(*byte),
        [] => true,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.') || byte >= 0x80
}

/// The offset just behind the next `end`, or the length.
fn find(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|window| window == end).map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//\n// Generated\n/* .entry no */\n.version 7.0\n.target sm_80, debug\n.address_size 64\n\
        .extern .func f\n(\n.param .b64 p\n)\n;\n.extern .global .align 4 .b8 elsewhere[8];\n\
        .visible .global .align 4 .u32 g = 5;\n.visible .global .align 8 .b8 table[800];\n\
        .global .attribute(.managed) .s64 m[2][3];\n.const .f32 pi;\n\
        .visible .entry kern(\n.param .u64 .ptr .global .align 1 kern_param_0\n)\n{\n.reg .b32 %r<3>;\nld.global.u32 %r1, [x];\nret;\n}\n\
        .weak .entry second()\n{\n}\n";

    #[test]
    fn kernels_and_how_many_parameters_they_have() {
        let found: Vec<_> = kernel_parameters(TEXT.as_bytes()).collect();
        assert_eq!(found, [("no", 1), ("kern", 1), ("second", 0)]);
        let gcc = b".visible .entry main$_omp_fn$0 (.param.u64 %arg, .param.u64 %stack, .param.u64 %sz)\n{";
        assert_eq!(kernel_parameters(gcc).collect::<Vec<_>>(), [("main$_omp_fn$0", 3)]);
        assert_eq!(kernel_parameters(b".entry").count(), 0);
    }

    #[test]
    fn header_and_module() {
        let header = Header::parse(TEXT.as_bytes()).unwrap().unwrap();
        assert_eq!(header, Header { version: (7, 0), target: "sm_80" });
        let module = module(TEXT.as_bytes());
        assert_eq!(module.kernels, ["kern", "second"]);
        assert_eq!(module.globals, [("g", Some(4)), ("table", Some(800)), ("m", Some(48)), ("pi", Some(4))]);
    }

    /// What `mkoffload` of GCC 13 to 16 adds to programs with reverse offload, as it writes it.
    #[test]
    fn directives_without_blanks() {
        let text =
            b".version 7.3.target sm_52.file 1 \"<dummy>\".func __dummy$func ( );.func __dummy$func ( ){}\
            .extern .func main$_omp_fn$1$nohost$0 (.param .u64 %in_ar0);\
            .visible .global .align 8 .u64 $offload_func_table[] = {main$_omp_fn$1$nohost$0,0};\n";
        let header = Header::parse(text).unwrap().unwrap();
        assert_eq!(header, Header { version: (7, 3), target: "sm_52" });
        let module = module(text);
        assert_eq!((module.kernels.len(), module.globals), (0, vec![("$offload_func_table", None)]));
    }

    #[test]
    fn broken_headers() {
        assert_eq!(Header::parse(b"int main() {}"), Ok(None));
        assert_eq!(
            Header::parse(b".version seven").unwrap_err().to_string(),
            "corrupt: the PTX version at offset 0x8 is 'seven', expected two numbers like 7.0"
        );
        assert_eq!(
            Header::parse(b".version 7.0 {").unwrap_err().to_string(),
            "corrupt: the PTX target at offset 0xc is '{', expected .target and a processor"
        );
    }
}
