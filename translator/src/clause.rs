//! The clauses of `target device(ancestor: 1)`, read.

use crate::error::Complaint;
use crate::lexer::{Kind, Token};
use crate::pragma::{Clause, split, text_of};

/// Everything that a directive says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Construct {
    /// What `ancestor:` is followed by.
    pub device: String,
    /// The conditions of `if`. A region whose condition is false runs on the host as well.
    pub conditions: Vec<String>,
    pub maps: Vec<Map>,
    pub private: Vec<Name>,
    pub firstprivate: Vec<Name>,
    pub device_pointers: Vec<Name>,
    pub defaults: Vec<(Category, Behaviour)>,
}

/// A variable in a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub name: String,
    pub at: usize,
}

/// One list item of `map`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    pub copies: Copies,
    pub item: Item,
}

/// What a mapping copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    pub to: bool,
    pub from: bool,
    pub always: bool,
    pub present: bool,
}

impl Copies {
    pub const BOTH: Self = Self { to: true, from: true, always: false, present: false };
}

/// A variable, or a part of one: `s.p[0:n]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub base: String,
    pub steps: Vec<Step>,
    pub at: usize,
}

/// A step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Member(String),
    Arrow(String),
    Index(String),
    Section { lower: Option<String>, length: Option<String> },
}

/// The categories of `defaultmap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    Scalar,
    Aggregate,
    Pointer,
    All,
}

/// The implicit behaviours of `defaultmap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Map(Copies),
    FirstPrivate,
    None,
    Default,
}

impl Construct {
    /// # Errors
    /// A clause that is wrong, or not one of this directive.
    pub fn read(clauses: &[Clause]) -> Result<Self, Complaint> {
        let mut construct = Self::default();
        for clause in clauses {
            construct.add(clause)?;
        }
        Ok(construct)
    }

    fn add(&mut self, clause: &Clause) -> Result<(), Complaint> {
        let complain = |message: String| Err(Complaint::new(clause.at, message));
        let parts = split(&clause.tokens, ":");
        match clause.name.as_str() {
            "device" => {
                if !self.device.is_empty() {
                    return complain("more than one `device` clause".to_owned());
                }
                self.device = text_of(clause.tokens.get(2..).unwrap_or_default());
                if self.device.is_empty() {
                    return complain("`ancestor` is followed by nothing; it must be 1".to_owned());
                }
                if let [_, _, only] = &clause.tokens[..]
                    && only.kind == Kind::Number
                    && only.text.bytes().all(|byte| byte.is_ascii_digit())
                    && only.text != "1"
                {
                    return complain(format!("`ancestor` is followed by {}; it must be 1", only.text));
                }
            }
            "if" => {
                let condition = match parts[..] {
                    [modifier, condition] if text_of(modifier) == "target" => condition,
                    [modifier, _] if modifier.len() == 1 && !modifier[0].text.is_empty() => {
                        return complain(format!(
                            "`if({}: ...)` does not concern `target`",
                            modifier[0].text
                        ));
                    }
                    _ => &clause.tokens[..],
                };
                self.conditions.push(text_of(condition));
            }
            "map" => self.map(clause, &parts)?,
            "private" => self.private.extend(names(clause)?),
            "firstprivate" => self.firstprivate.extend(names(clause)?),
            "is_device_ptr" => self.device_pointers.extend(names(clause)?),
            "defaultmap" => self.default_map(clause, &parts)?,
            // The encountering thread may wait: it does.
            "nowait" if clause.tokens.is_empty() => {}
            name => {
                return complain(format!(
                    "the clause `{name}` may not stand beside `device(ancestor: 1)`; `if`, `map`, `private`, \
                     `firstprivate`, `is_device_ptr`, `defaultmap` and `nowait` may"
                ));
            }
        }
        Ok(())
    }

    fn map(&mut self, clause: &Clause, parts: &[&[Token]]) -> Result<(), Complaint> {
        let (words, list) = match parts {
            [list] => (&[][..], *list),
            [words, list] => (*words, *list),
            _ => return Err(Complaint::new(clause.at, "the clause `map` has more than one colon")),
        };
        let mut copies = Copies::default();
        let mut typed = false;
        for word in words.iter().filter(|word| !word.is(",")) {
            match word.text.as_str() {
                "always" => copies.always = true,
                "present" => copies.present = true,
                "close" => {}
                "to" | "from" | "tofrom" | "alloc" | "storage" => {
                    typed = true;
                    copies.to = word.text.starts_with("to");
                    copies.from = word.text.ends_with("from");
                }
                other => {
                    let message = format!(
                        "`{other}` is not understood in `map` beside `device(ancestor: 1)`; `to`, `from`, \
                         `tofrom`, `alloc`, `always`, `present` and `close` are"
                    );
                    return Err(Complaint::new(word.range.start, message));
                }
            }
        }
        if !typed {
            (copies.to, copies.from) = (true, true);
        }
        for item in split(list, ",") {
            self.maps.push(Map { copies, item: Item::read(item, clause.at)? });
        }
        Ok(())
    }

    fn default_map(&mut self, clause: &Clause, parts: &[&[Token]]) -> Result<(), Complaint> {
        let complain = |what: &str| {
            Err(Complaint::new(clause.at, format!("`{what}` is not understood in `defaultmap`")))
        };
        let category = match parts.get(1).map(|part| text_of(part)).as_deref() {
            None | Some("all") => Category::All,
            Some("scalar") => Category::Scalar,
            Some("aggregate") => Category::Aggregate,
            Some("pointer") => Category::Pointer,
            Some(other) => return complain(other),
        };
        let copies = |to, from| Behaviour::Map(Copies { to, from, ..Copies::default() });
        let behaviour = match text_of(parts[0]).as_str() {
            "alloc" | "storage" => copies(false, false),
            "to" => copies(true, false),
            "from" => copies(false, true),
            "tofrom" => copies(true, true),
            "present" => Behaviour::Map(Copies { present: true, ..Copies::default() }),
            "firstprivate" => Behaviour::FirstPrivate,
            "none" => Behaviour::None,
            "default" => Behaviour::Default,
            other => return complain(other),
        };
        self.defaults.push((category, behaviour));
        Ok(())
    }

    /// What `defaultmap` says of a category.
    #[must_use]
    pub fn default_of(&self, category: Category) -> Behaviour {
        let of = |wanted| self.defaults.iter().find(|(category, _)| *category == wanted);
        of(category).or_else(|| of(Category::All)).map_or(Behaviour::Default, |(_, behaviour)| *behaviour)
    }
}

fn names(clause: &Clause) -> Result<Vec<Name>, Complaint> {
    let name = |tokens: &[Token]| match tokens {
        [only] if only.kind == Kind::Identifier => Ok(Name { name: only.text.clone(), at: only.range.start }),
        _ => {
            let message = format!("`{}` in `{}` is no variable's name", text_of(tokens), clause.name);
            Err(Complaint::new(clause.at, message))
        }
    };
    split(&clause.tokens, ",").into_iter().map(name).collect()
}

impl Item {
    fn read(tokens: &[Token], clause: usize) -> Result<Self, Complaint> {
        let misread = || {
            let message = format!(
                "`{}` is not understood in `map`: write a variable, a member of one or an array section",
                text_of(tokens)
            );
            Complaint::new(tokens.first().map_or(clause, |token| token.range.start), message)
        };
        let (base, mut rest) = match tokens {
            [star, base, rest @ ..] if star.is("*") && base.kind == Kind::Identifier && rest.is_empty() => {
                let step = Step::Section { lower: None, length: Some("1".to_owned()) };
                return Ok(Self { base: base.text.clone(), steps: vec![step], at: star.range.start });
            }
            [base, rest @ ..] if base.kind == Kind::Identifier => (base, rest),
            _ => return Err(misread()),
        };
        let mut steps = Vec::new();
        while let Some(first) = rest.first() {
            let name = rest.get(1).filter(|name| name.kind == Kind::Identifier);
            let (step, length) = match (first.text.as_str(), name) {
                (".", Some(name)) => (Step::Member(name.text.clone()), 2),
                ("->", Some(name)) => (Step::Arrow(name.text.clone()), 2),
                ("[", _) => {
                    let end = crate::pragma::closing(rest).ok_or_else(misread)?;
                    (Self::brackets(&rest[1..end]).ok_or_else(misread)?, end + 1)
                }
                _ => return Err(misread()),
            };
            steps.push(step);
            rest = &rest[length..];
        }
        Ok(Self { base: base.text.clone(), steps, at: base.range.start })
    }

    fn brackets(tokens: &[Token]) -> Option<Step> {
        let text = |part: &[Token]| (!part.is_empty()).then(|| text_of(part));
        // A conditional expression has a colon as well.
        if tokens.iter().any(|token| token.is("?")) {
            return Some(Step::Index(text_of(tokens)));
        }
        match split(tokens, ":")[..] {
            [index] => Some(Step::Index(text(index)?)),
            [lower, length] => Some(Step::Section { lower: text(lower), length: text(length) }),
            _ => None,
        }
    }

    /// The same as a member of the object at `this`.
    #[must_use]
    pub fn of_this(mut self) -> Self {
        let member = std::mem::replace(&mut self.base, "this".to_owned());
        self.steps.insert(0, Step::Arrow(member));
        self
    }

    /// The expression of the object that the first `count` steps lead to, or where it begins.
    #[must_use]
    pub fn expression(&self, count: usize) -> String {
        let mut text = self.base.clone();
        for step in &self.steps[..count] {
            match step {
                Step::Member(name) => text.push_str(&format!(".{name}")),
                Step::Arrow(name) => text.push_str(&format!("->{name}")),
                Step::Index(index) => text.push_str(&format!("[{index}]")),
                Step::Section { lower, .. } => {
                    text.push_str(&format!("[{}]", lower.as_deref().unwrap_or("0")));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pragma::{What, directives, included, may_concern};
    use proptest::prelude::*;

    const PIECES: [&str; 32] = [
        "#pragma omp target ",
        "device(ancestor: 1) ",
        "device(",
        "ancestor",
        ":",
        "1",
        "map(",
        "tofrom",
        "a",
        "[",
        "]",
        "(",
        ")",
        ",",
        "->",
        ".",
        "*",
        "\n",
        "\\\n",
        "\r\n",
        "/*",
        "*/",
        "//",
        "\"",
        "R\"x(",
        "_Pragma(\"omp ",
        "\")",
        "if(",
        "defaultmap(",
        "requires reverse_offload",
        "#define A ",
        "\\\"",
    ];

    proptest! {
        /// Whatever stands in a file, it is read or refused.
        #[test]
        fn no_text_ends_the_translator(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
            let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
            for text in [text.clone(), format!("#pragma omp target device(ancestor: 1) {text}")] {
                let _ = may_concern(text.as_bytes());
                let _ = included(text.as_bytes());
                for directive in directives(text.as_bytes()).unwrap_or_default() {
                    prop_assert!(directive.range.end <= text.len());
                    if let What::Ancestor(clauses) = directive.what {
                        let _ = Construct::read(&clauses);
                    }
                }
            }
        }
    }
}
