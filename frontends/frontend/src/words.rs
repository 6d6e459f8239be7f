//! Errors in the words of a language and of its compiler.
//!
//! The runtime says what went wrong. What its user can do about it is said by clauses, routines and
//! options of a compiler, which a front end knows ([`Words`]). [`Told`] puts both together. A process
//! may have several front ends: each tells the errors of its own constructs.

use gangway_runtime::{Error, ErrorKind, Remedy};
use std::fmt;
use std::sync::OnceLock;

/// What a front end adds to the runtime's errors. Without any they stay as they are.
pub trait Words: Sync {
    /// What went wrong, where users know other words for it than the runtime's.
    fn instead(&self, _kind: &ErrorKind) -> Option<String> {
        None
    }

    /// What to do about an error, a line each.
    fn help(&self, _kind: &ErrorKind) -> Vec<String> {
        Vec::new()
    }

    /// How to map what a kernel was refused.
    fn remedy(&self, _remedy: &Remedy) -> Option<String> {
        None
    }
}

/// The runtime's own words alone.
#[derive(Debug)]
pub struct Plain;

impl Words for Plain {}

/// An error as its user is told of it.
pub struct Told<'e>(pub &'e Error, pub &'e dyn Words);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error, words) = self;
        match words.instead(&error.kind) {
            Some(text) => write!(f, "{}{text}", error.place())?,
            None => error.fmt(f)?,
        }
        words.help(&error.kind).iter().try_for_each(|line| write!(f, "\n  help: {line}"))
    }
}

/// Those of the front end that came first.
static FIRST: OnceLock<&'static dyn Words> = OnceLock::new();

/// A front end has started.
pub(crate) fn learn(words: &'static dyn Words) {
    let _ = FIRST.set(words);
}

/// The words for what is no front end's alone: those of the one that came first.
#[must_use]
pub fn of_first() -> &'static dyn Words {
    FIRST.get().copied().unwrap_or(&Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has something to say of two kinds.
    struct Some;

    impl Words for Some {
        fn instead(&self, kind: &ErrorKind) -> Option<String> {
            matches!(kind, ErrorKind::LacksUnifiedMemory).then(|| "not shared".to_owned())
        }

        fn help(&self, kind: &ErrorKind) -> Vec<String> {
            match kind {
                ErrorKind::NoSuchDevice { number, .. } => {
                    vec![format!("do without {number}"), "count them".to_owned()]
                }
                _ => Vec::new(),
            }
        }
    }

    #[test]
    fn words_stand_behind_an_error_or_in_its_place() {
        let error = Error::new(ErrorKind::NoSuchDevice { number: 7, available: 1 }, -1, None);
        let runtimes = "there is no device 7: this program has 1 device(s), numbered from 0";
        assert_eq!(Told(&error, &Plain).to_string(), runtimes);
        let told = format!("{runtimes}\n  help: do without 7\n  help: count them");
        assert_eq!(Told(&error, &Some).to_string(), told);
        let error = Error::new(ErrorKind::LacksUnifiedMemory, 3, None);
        assert_eq!(Told(&error, &Some).to_string(), "device 3: not shared");
        assert_eq!(
            Told(&Error::new(ErrorKind::Forked, -1, None), &Some).to_string(),
            ErrorKind::Forked.to_string()
        );
    }
}
