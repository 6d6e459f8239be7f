//! The selectors of the directives: `{ target { ! a } }`, `xfail b`, lists of triplets.
//!
//! Called by `plan`. Follows what `target-supports-dg.exp` documents: an
//! expression in braces has one operator, an operand is an effective target, a
//! list of triplets, or another expression. It must never take a word that it
//! does not know for false: a misspelt effective target would skip tests.

use anyhow::{Context, Result, bail};

use crate::tcl;

/// A condition on the machine, the suite and the options of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// An effective target, by name.
    Keyword(String),
    /// One of these patterns has to match the host's triplet.
    Triplets(Vec<String>),
    Not(Box<Selector>),
    And(Box<Selector>, Box<Selector>),
    Or(Box<Selector>, Box<Selector>),
    /// One of these options is among those that the test is compiled with.
    AnyOptions(Vec<String>),
    /// None of these options is.
    NoOptions(Vec<String>),
}

/// What a selector is evaluated against; `target::Target` in earnest.
pub trait Facts {
    /// Whether the effective target holds; an error for an unknown name.
    fn effective_target(&self, name: &str) -> Result<bool>;
    /// Whether the pattern matches the host's triplet.
    fn triplet(&self, pattern: &str) -> bool;
    /// Whether the option, which may hold wildcards, is among the test's.
    fn option(&self, pattern: &str) -> bool;
}

impl Selector {
    /// Reads what stands after `target` or `xfail`, or where a directive takes
    /// only a list of targets.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let words = tcl::words(text)?;
        if text.starts_with('{') {
            Self::expression(words.first().map_or("", String::as_str))
        } else {
            Self::list(&words)
        }
        .with_context(|| format!("in the selector `{text}`"))
    }

    /// Reads the inside of a pair of braces, which is how `dg-skip-if` and its
    /// kin give their targets.
    pub fn expression(text: &str) -> Result<Self> {
        let words = tcl::words(text)?;
        let operand = |at: usize| Self::operand(&words[at]).map(Box::new);
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["any-opts", ..] => Ok(Self::AnyOptions(words[1..].to_vec())),
            ["no-opts", ..] => Ok(Self::NoOptions(words[1..].to_vec())),
            ["!", _] => Ok(Self::Not(operand(1)?)),
            [_, "&&", _] => Ok(Self::And(operand(0)?, operand(2)?)),
            [_, "||", _] => Ok(Self::Or(operand(0)?, operand(2)?)),
            _ => Self::list(&words),
        }
    }

    fn operand(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.contains(char::is_whitespace) {
            Self::expression(text)
        } else {
            Self::list(&[text.to_owned()])
        }
    }

    /// A single effective target, or triplets.
    fn list(words: &[String]) -> Result<Self> {
        match words {
            [] => bail!("it is empty"),
            [word] if !word.contains('-') => Ok(Self::Keyword(word.clone())),
            _ => match words.iter().find(|word| !word.contains('-')) {
                Some(word) => bail!("`{word}` stands in a list of triplets but is none"),
                None => Ok(Self::Triplets(words.to_vec())),
            },
        }
    }

    /// Whether the condition holds.
    pub fn holds(&self, facts: &impl Facts) -> Result<bool> {
        Ok(match self {
            Self::Keyword(name) => facts.effective_target(name)?,
            Self::Triplets(patterns) => patterns.iter().any(|pattern| facts.triplet(pattern)),
            Self::Not(operand) => !operand.holds(facts)?,
            // Both sides are always evaluated, so that an unknown name shows.
            Self::And(left, right) => left.holds(facts)? & right.holds(facts)?,
            Self::Or(left, right) => left.holds(facts)? | right.holds(facts)?,
            Self::AnyOptions(options) => options.iter().any(|option| facts.option(option)),
            Self::NoOptions(options) => !options.iter().any(|option| facts.option(option)),
        })
    }
}

/// What a directive says with `target`, `xfail`, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clause {
    pub target: Option<Selector>,
    pub xfail: Option<Selector>,
}

impl Clause {
    /// Reads `target A`, `xfail B` or `target A xfail B`.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let after =
            |keyword: &str| text.strip_prefix(keyword).filter(|rest| rest.starts_with([' ', '\t', '{']));
        if let Some(rest) = after("target") {
            return Ok(match rest.split_once(" xfail ") {
                Some((target, xfail)) => {
                    Self { target: Some(Selector::parse(target)?), xfail: Some(Selector::parse(xfail)?) }
                }
                None => Self { target: Some(Selector::parse(rest)?), xfail: None },
            });
        }
        match after("xfail") {
            Some(rest) => Ok(Self { target: None, xfail: Some(Selector::parse(rest)?) }),
            None => bail!("`{text}` starts with neither `target` nor `xfail`"),
        }
    }

    /// Whether the directive applies here at all.
    pub fn applies(&self, facts: &impl Facts) -> Result<bool> {
        self.target.as_ref().map_or(Ok(true), |selector| selector.holds(facts))
    }

    /// Whether a failure is expected here.
    pub fn fails(&self, facts: &impl Facts) -> Result<bool> {
        self.xfail.as_ref().map_or(Ok(false), |selector| selector.holds(facts))
    }
}

/// Whether `text` matches `pattern`, in which `*` stands for anything and `?`
/// for one character, as Tcl's `string match` has it.
pub fn glob(pattern: &str, text: &str) -> bool {
    fn go(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => go(rest, text) || !text.is_empty() && go(pattern, &text[1..]),
            ([b'?', rest @ ..], [_, more @ ..]) => go(rest, more),
            ([expected, rest @ ..], [found, more @ ..]) => expected == found && go(rest, more),
            _ => false,
        }
    }
    go(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use anyhow::{Result, bail};

    use super::{Clause, Facts, Selector, glob};

    struct Host;

    impl Facts for Host {
        fn effective_target(&self, name: &str) -> Result<bool> {
            match name {
                "yes" => Ok(true),
                "no" => Ok(false),
                _ => bail!("unknown: {name}"),
            }
        }

        fn triplet(&self, pattern: &str) -> bool {
            glob(pattern, "x86_64-pc-linux-gnu")
        }

        fn option(&self, pattern: &str) -> bool {
            pattern == "-O2"
        }
    }

    fn holds(text: &str) -> bool {
        Selector::parse(text).unwrap().holds(&Host).unwrap()
    }

    #[test]
    fn keywords_and_operators() {
        for text in ["yes", "{ yes }", "{ ! no }", "{ yes && { ! no } }", "{ no || yes }"] {
            assert!(holds(text), "{text}");
        }
        for text in ["no", "{ ! yes }", "{ yes && { ! yes } }", "{ no || { yes && no } }"] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn triplets() {
        assert!(holds("*-*-linux* *-*-gnu*"));
        assert!(holds("{ { i?86-*-* x86_64-*-* } && yes }"));
        assert!(!holds("skip-all-targets"));
        assert!(!holds("{ ! *-*-* }"));
        assert!(Selector::parse("x86_64-*-* yes").is_err());
    }

    #[test]
    fn options() {
        assert!(holds("{ any-opts -O0 -O2 }"));
        assert!(!holds("{ no-opts -O2 }"));
        assert!(holds("{ no-opts -O0 }"));
    }

    #[test]
    fn unknown_names_are_errors_even_where_they_do_not_decide() {
        assert!(Selector::parse("{ no && maybe }").unwrap().holds(&Host).is_err());
        assert!(Selector::parse("{ yes || maybe }").unwrap().holds(&Host).is_err());
    }

    #[test]
    fn clauses() {
        let clause = Clause::parse(" target yes xfail { ! no } ").unwrap();
        assert!(clause.applies(&Host).unwrap() && clause.fails(&Host).unwrap());
        let clause = Clause::parse("xfail *-*-*").unwrap();
        assert!(clause.applies(&Host).unwrap() && clause.fails(&Host).unwrap());
        let clause = Clause::parse("target no").unwrap();
        assert!(!clause.applies(&Host).unwrap() && !clause.fails(&Host).unwrap());
        assert!(Clause::parse("run").is_err());
    }

    #[test]
    fn globs() {
        assert!(glob("*-*-linux*", "x86_64-pc-linux-gnu") && glob("*", "") && glob("-O?", "-O2"));
        assert!(!glob("-O?", "-O") && !glob("*-mingw*", "x86_64-pc-linux-gnu"));
    }
}
