//! Response files: `@FILE` stands for the arguments in FILE, as the compilers read them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// How deep a file may name others; one that names itself ends here.
const DEEPEST: usize = 16;

/// An argument, and which of the command's it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub origin: usize,
    pub text: OsString,
}

/// Replaces every `@FILE` by what the file holds. A name that no file has is an argument like
/// any other.
pub fn expand(arguments: &[OsString]) -> Vec<Word> {
    let mut words = Vec::new();
    for (origin, argument) in arguments.iter().enumerate() {
        append(&mut words, origin, argument, 0);
    }
    words
}

fn append(words: &mut Vec<Word>, origin: usize, argument: &OsStr, depth: usize) {
    let file = argument.as_bytes().strip_prefix(b"@").map(OsStr::from_bytes);
    match file.filter(|_| depth < DEEPEST).and_then(|file| std::fs::read(file).ok()) {
        Some(text) => {
            for word in split(&text) {
                append(words, origin, &word, depth + 1);
            }
        }
        None => words.push(Word { origin, text: argument.to_owned() }),
    }
}

/// Words between white space; quotes and backslashes as in GCC's response files.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(b'\''), _) => word.get_or_insert_default().push(byte),
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// A word as [`split`] and shells take it back.
pub fn quoted(word: &OsStr) -> OsString {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+./,:@%".contains(&byte) || byte >= 0x80;
    let mut out = Vec::new();
    for &byte in word.as_bytes() {
        if !plain(byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.text.to_str().unwrap()).collect()
    }

    #[test]
    fn words_are_split_as_compilers_do() {
        let all = split(b"a 'b c' \"d \\\" e\" f\\ g\n\t'' h'i'j");
        assert_eq!(all, ["a", "b c", "d \" e", "f g", "", "hij"]);
        assert_eq!(split(b"  "), Vec::<OsString>::new());
    }

    #[test]
    fn what_is_quoted_is_read_back() {
        for word in ["plain", "with space", "it's", "a\\b", "\"q\"", "$HOME", "ü&;"] {
            assert_eq!(split(quoted(OsStr::new(word)).as_bytes()), [word]);
        }
    }

    #[test]
    fn files_may_name_files_but_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::write(&one, format!("-a @{} -c", two.display())).unwrap();
        std::fs::write(&two, format!("-b @{}", two.display())).unwrap();
        let at = |path: &std::path::Path| OsString::from(format!("@{}", path.display()));
        let words = expand(&["x".into(), at(&one), "@missing".into()]);
        let shown = texts(&words);
        assert_eq!((shown[..3].to_vec(), shown.last()), (vec!["x", "-a", "-b"], Some(&"@missing")));
        assert_eq!(words[2].origin, 1);
        assert!(shown.len() < 40);
    }
}
