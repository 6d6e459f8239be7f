//! Faults of clang in GPU code that are worked around, by the release of LLVM: `faults.txt`.
//!
//! Asked by `gangway cc` and its stand-ins before they work around one, so that a work-around ends with the
//! releases that need it.

use std::env;
use std::ops::RangeInclusive;

/// The list, with what each of them is; `tests/conformance/tests/faults.rs` tries it.
const LIST: &str = include_str!("../faults.txt");

/// Names of faults that are not worked around, with commas between: for the test of the list.
pub const UNMENDED: &str = "GANGWAY_CC_UNMENDED";

/// The release of LLVM that `gangway cc` has called, for stand-ins whose input does not say it.
pub const RELEASE: &str = "GANGWAY_CC_RELEASE";

/// One that is worked around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Reductions,
    LongDouble,
    AlignedPointers,
    StructStores,
    LocalMemory,
    DebugVariables,
    Scan,
}

impl Fault {
    const fn name(self) -> &'static str {
        match self {
            Self::Reductions => "reductions",
            Self::LongDouble => "long-double",
            Self::AlignedPointers => "aligned-pointers",
            Self::StructStores => "struct-stores",
            Self::LocalMemory => "local-memory",
            Self::DebugVariables => "debug-variables",
            Self::Scan => "scan",
        }
    }

    /// Whether code of a release is to be worked on; `None`: it is not known which release it is of.
    pub fn is_in(self, release: Option<u32>) -> bool {
        let left_out = env::var(UNMENDED).unwrap_or_default();
        let left_out = left_out.split(',').any(|name| name == self.name());
        !left_out && release.is_none_or(|release| self.releases().contains(&release))
    }

    fn releases(self) -> RangeInclusive<u32> {
        let found = entries().find(|(name, _)| *name == self.name());
        // The test below has all of them found.
        found.map_or(0..=u32::MAX, |(_, releases)| releases)
    }
}

fn entries() -> impl Iterator<Item = (&'static str, RangeInclusive<u32>)> {
    LIST.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let (first, last) = words.next()?.split_once('-')?;
        Some((name, first.parse().ok()?..=last.parse().ok()?))
    })
}

/// The release that [`RELEASE`] names.
pub fn called_release() -> Option<u32> {
    env::var(RELEASE).ok()?.parse().ok()
}

/// The release of clang or flang that has made a text of LLVM's, as it says itself (`!llvm.ident`).
pub fn release_of_text(text: &str) -> Option<u32> {
    let (_, after) = text.rsplit_once("clang version ")?;
    after.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Fault; 7] = [
        Fault::Reductions,
        Fault::LongDouble,
        Fault::AlignedPointers,
        Fault::StructStores,
        Fault::LocalMemory,
        Fault::DebugVariables,
        Fault::Scan,
    ];

    #[test]
    fn the_list_has_each_fault() {
        let names: Vec<&str> = entries().map(|(name, _)| name).collect();
        assert_eq!(names, ALL.map(Fault::name));
        let lines = LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(lines, names.len(), "a line cannot be read");
    }

    #[test]
    fn a_release_that_is_not_known_may_have_it() {
        assert!(Fault::Reductions.is_in(None) && Fault::Reductions.is_in(Some(22)));
        assert!(!Fault::Reductions.is_in(Some(*Fault::Reductions.releases().end() + 1)));
    }

    #[test]
    fn a_text_says_which_release_has_made_it() {
        let text =
            "define void @f() {\n}\n!llvm.ident = !{!0}\n!0 = !{!\"Debian clang version 23.1.4 (2)\"}\n";
        assert_eq!(release_of_text(text), Some(23));
        assert_eq!(release_of_text("define void @f() {\n}\n"), None);
    }
}
