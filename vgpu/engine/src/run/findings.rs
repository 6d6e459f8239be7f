//! Who hears of what checks find.

use gangway_findings::{Finding, Side, Source};

/// Who hears of what checks find. By default nobody does.
#[derive(Clone, Copy, Debug)]
pub struct Listeners {
    /// What of the program is at an address of the device, in words.
    pub name: fn(u64) -> Option<String>,
    /// Where the program has had the memory at an address of the device allocated.
    pub obtained: fn(u64) -> Option<Side>,
    /// The function and the line of an instruction of the program's, by its address.
    pub code: fn(u64) -> (String, Option<Source>),
    /// Hears of each finding once, when the launch has ended that had it first.
    pub tell: fn(Finding),
}

impl Default for Listeners {
    fn default() -> Self {
        Self { name: |_| None, obtained: |_| None, code: |_| Default::default(), tell: |_| () }
    }
}
