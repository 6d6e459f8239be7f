//! For which releases of LLVM something holds: `22`, `-21` (that and before), `23-` (that and later), `21-22`.
//!
//! Headers and lists of expectations name them in brackets behind the word that they limit. A release that
//! mends a fault, or has a new one, so gets a line of its own, and the others stay held to the old one.

use std::fmt;
use std::ops::RangeInclusive;

/// A range of releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Releases(RangeInclusive<u32>);

impl Releases {
    /// Every release.
    pub const ALL: Releases = Releases(0..=u32::MAX);

    /// Reads what stands between the brackets.
    pub fn parse(text: &str) -> Result<Releases, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str, open: u32| if text.is_empty() { Ok(open) } else { text.parse::<u32>() };
        match (number(first, 0), number(last, u32::MAX)) {
            (Ok(first), Ok(last)) if first <= last && !(first == 0 && last == u32::MAX) => {
                Ok(Releases(first..=last))
            }
            _ => Err(format!("`{text}` names no releases such as `22`, `-21`, `23-` or `21-22`")),
        }
    }

    /// Takes `word(RELEASES)` apart; a word without brackets is of all releases.
    pub fn behind(text: &str) -> Result<(&str, Releases), String> {
        let Some((word, rest)) = text.split_once('(') else { return Ok((text, Releases::ALL)) };
        let inside = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` has no `)` at its end"))?;
        Ok((word, Releases::parse(inside)?))
    }

    pub fn contain(&self, release: u32) -> bool {
        self.0.contains(&release)
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self.0.start(), *self.0.end()) {
            (0, u32::MAX) => f.write_str("every release"),
            (0, last) => write!(f, "releases up to {last}"),
            (first, u32::MAX) => write!(f, "releases from {first} on"),
            (first, last) if first == last => write!(f, "release {first}"),
            (first, last) => write!(f, "releases {first} to {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_open_or_closed() {
        for (text, held, not) in
            [("22", [22, 22], [21, 23]), ("-21", [19, 21], [22, 23]), ("23-", [23, 40], [21, 22])]
        {
            let releases = Releases::parse(text).unwrap();
            assert!(held.into_iter().all(|release| releases.contain(release)), "{text}");
            assert!(!not.into_iter().any(|release| releases.contain(release)), "{text}");
        }
        let (word, releases) = Releases::behind("differs(21-22)").unwrap();
        assert_eq!((word, releases.to_string().as_str()), ("differs", "releases 21 to 22"));
        assert_eq!(Releases::behind("differs"), Ok(("differs", Releases::ALL)));
    }

    #[test]
    fn what_is_no_range_is_an_error() {
        for text in ["", "-", "23-22", "x", "22,23"] {
            assert!(Releases::parse(text).is_err(), "{text}");
        }
        assert!(Releases::behind("differs(22").is_err());
    }
}
