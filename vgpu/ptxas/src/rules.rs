//! `differences.txt`: a reason in a line that starts with `#`, then the differences that it
//! explains, regular expressions for `VERSION/PROCESSOR WHO INSTRUCTION`.

use anyhow::{Context, Result, ensure};
use regex::Regex;

const FILE: &str = include_str!("../differences.txt");

struct Rule {
    pattern: Regex,
    reason: &'static str,
    used: usize,
}

pub struct Rules(Vec<Rule>);

impl Rules {
    pub fn known() -> Result<Self> {
        let (mut rules, mut reason) = (Vec::new(), "");
        for line in FILE.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(text) = line.strip_prefix('#') {
                reason = text.trim();
                continue;
            }
            ensure!(!reason.is_empty(), "no reason stands before '{line}'");
            let pattern = Regex::new(&format!("^(?:{line})$")).with_context(|| format!("'{line}'"))?;
            rules.push(Rule { pattern, reason, used: 0 });
        }
        Ok(Self(rules))
    }

    /// Why there is this difference; `None` for one that has not been looked at.
    pub fn reason(&mut self, difference: &str) -> Option<&'static str> {
        let rule = self.0.iter_mut().find(|rule| rule.pattern.is_match(difference))?;
        rule.used += 1;
        Some(rule.reason)
    }

    pub fn used(&self) -> usize {
        self.0.iter().map(|rule| rule.used).sum()
    }

    /// The rules that explain nothing.
    pub fn unused(&self) -> Vec<&str> {
        self.0.iter().filter(|rule| rule.used == 0).map(|rule| rule.pattern.as_str()).collect()
    }
}
