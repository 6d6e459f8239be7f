//! What a directive of OpenACC says (OpenACC 3.3), read from its tokens.

use std::ops::Range;

use crate::error::Complaint;
use crate::lexer::{Kind, Token};
use crate::pragma::{closing, split};

/// A directive.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The bytes of its line.
    pub range: Range<usize>,
    pub name: Name,
    /// `loop` stands behind the name of a compute construct, or it is that.
    pub is_loop: bool,
    /// What stands in parentheses behind the name: of `wait`, `cache` and `routine`.
    pub argument: Option<Vec<Token>>,
    pub clauses: Vec<Clause>,
}

/// What it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Parallel,
    Kernels,
    Serial,
    Loop,
    Data,
    EnterData,
    ExitData,
    HostData,
    Update,
    Wait,
    Atomic,
    Cache,
    Declare,
    Routine,
    Init,
    Shutdown,
    Set,
}

/// A clause, and the tokens between its parentheses.
#[derive(Clone, Debug)]
pub struct Clause {
    pub name: String,
    pub tokens: Option<Vec<Token>>,
    pub at: usize,
}

/// Names of several words first.
const NAMES: [(&[&str], Name); 20] = [
    (&["enter", "data"], Name::EnterData),
    (&["exit", "data"], Name::ExitData),
    (&["parallel"], Name::Parallel),
    (&["kernels"], Name::Kernels),
    (&["serial"], Name::Serial),
    (&["loop"], Name::Loop),
    (&["data"], Name::Data),
    (&["host_data"], Name::HostData),
    (&["update"], Name::Update),
    (&["wait"], Name::Wait),
    (&["atomic"], Name::Atomic),
    (&["cache"], Name::Cache),
    (&["declare"], Name::Declare),
    (&["routine"], Name::Routine),
    (&["init"], Name::Init),
    (&["shutdown"], Name::Shutdown),
    (&["set"], Name::Set),
    (&["parallel", "loop"], Name::Parallel),
    (&["kernels", "loop"], Name::Kernels),
    (&["serial", "loop"], Name::Serial),
];

/// The types that clang knows in `device_type`.
const DEVICE_TYPES: [&str; 6] = ["default", "nvidia", "acc_device_nvidia", "radeon", "host", "multicore"];

impl Directive {
    /// Reads the tokens behind `acc`.
    ///
    /// # Errors
    /// It is none that is known.
    pub fn read(range: Range<usize>, tokens: &[Token]) -> Result<Self, Complaint> {
        let fits = |words: &[&str]| {
            tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is(word))
        };
        let found = NAMES.iter().filter(|(words, _)| fits(words)).max_by_key(|(words, _)| words.len());
        let Some((words, name)) = found else {
            let what = tokens.first().map_or("", |token| &token.text);
            return Err(Complaint::new(range.start, format!("`#pragma acc {what}` is not known")));
        };
        let mut rest = &tokens[words.len()..];
        let mut argument = None;
        if matches!(name, Name::Wait | Name::Cache | Name::Routine)
            && rest.first().is_some_and(|token| token.is("("))
            && let Some(end) = closing(rest)
        {
            argument = Some(rest[1..end].to_vec());
            rest = &rest[end + 1..];
        }
        let mut clauses = Vec::new();
        let mut at = 0;
        while let Some(token) = rest.get(at) {
            at += 1;
            if token.kind != Kind::Identifier {
                continue;
            }
            let open = rest.get(at).is_some_and(|token| token.is("("));
            let end = if open { closing(&rest[at..]) } else { None };
            let inner = end.map(|end| rest[at + 1..at + end].to_vec());
            at += end.map_or(0, |end| end + 1);
            clauses.push(Clause { name: token.text.clone(), tokens: inner, at: token.range.start });
        }
        let is_loop = *name == Name::Loop || words.last() == Some(&"loop");
        Ok(Self { range, name: *name, is_loop, argument, clauses })
    }

    /// The clauses that are for GPUs, or for all devices (section 2.4).
    pub fn for_gpus(&self) -> Vec<&Clause> {
        self.for_device(&["nvidia", "*", "not_host", "default", "radeon"])
    }

    /// Of clauses behind `device_type`, only those of the first list that names the device count; what
    /// stands before them counts where they do not say it again.
    fn for_device(&self, names: &[&str]) -> Vec<&Clause> {
        let is_list = |clause: &&Clause| matches!(clause.name.as_str(), "device_type" | "dtype");
        if matches!(self.name, Name::Init | Name::Shutdown | Name::Set) {
            return self.clauses.iter().collect();
        }
        let mut common = Vec::new();
        let mut own: Option<Vec<&Clause>> = None;
        let mut others: Option<Vec<&Clause>> = None;
        let (mut in_common, mut in_own, mut in_others) = (true, false, false);
        for clause in &self.clauses {
            if is_list(&clause) {
                in_common = false;
                let said = clause.tokens.as_deref().unwrap_or_default();
                let star = said.iter().any(|token| token.is("*"));
                let named = said.iter().any(|token| names.contains(&&*token.text) && !token.is("*"));
                in_own = named && own.is_none();
                in_others = star && others.is_none();
                if in_own {
                    own = Some(Vec::new());
                }
                if in_others {
                    others = Some(Vec::new());
                }
            } else if in_common {
                common.push(clause);
            } else if in_own {
                own.get_or_insert_default().push(clause);
            } else if in_others {
                others.get_or_insert_default().push(clause);
            }
        }
        let special = own.or(others).unwrap_or_default();
        common.retain(|clause| !special.iter().any(|other| other.name == clause.name));
        common.extend(special);
        common
    }

    /// The clause of a name for GPUs.
    pub fn clause(&self, name: &str) -> Option<&Clause> {
        self.for_gpus().into_iter().find(|clause| clause.name == name)
    }

    /// The bytes of the one argument of a clause, without a word and a colon before it.
    pub fn value(&self, name: &str) -> Option<Range<usize>> {
        self.clause(name)?.value()
    }

    /// What `device_type` of `init`, `shutdown` or `set` names.
    pub fn settings_type(&self) -> Option<&Token> {
        let is_list = |clause: &&Clause| matches!(clause.name.as_str(), "device_type" | "dtype");
        // clang allows one type.
        let clause = self.clauses.iter().find(is_list)?;
        clause
            .tokens
            .as_deref()?
            .first()
            .filter(|_| matches!(self.name, Name::Init | Name::Shutdown | Name::Set))
    }

    /// The same, where it is no type but a variable with one as its value. Section 2.4 has names of types only, and
    /// clang refuses others.
    pub fn type_variable(&self) -> Option<&Token> {
        let is_type = |token: &Token| DEVICE_TYPES.contains(&token.text.as_str());
        self.settings_type().filter(|token| token.kind == Kind::Identifier && !is_type(token))
    }

    /// Whether a compute construct runs here.
    pub const fn is_compute(&self) -> bool {
        matches!(self.name, Name::Parallel | Name::Kernels | Name::Serial)
    }
}

impl Clause {
    /// Its arguments.
    pub fn items(&self) -> Vec<&[Token]> {
        let tokens = self.tokens.as_deref().unwrap_or_default();
        split(tokens, ",").into_iter().filter(|part| !part.is_empty()).collect()
    }

    /// Modifiers before a colon, and the items behind it: `readonly: a, b`.
    pub fn modified(&self) -> (Vec<&str>, Vec<&[Token]>) {
        let tokens = self.tokens.as_deref().unwrap_or_default();
        let parts = split(tokens, ":");
        let words = parts[0];
        let is_word = |token: &Token| token.kind == Kind::Identifier || token.is(",");
        if parts.len() > 1 && !words.is_empty() && words.iter().all(is_word) {
            let begin = words.len() + 1;
            let items = split(&tokens[begin..], ",").into_iter().filter(|part| !part.is_empty()).collect();
            return (words.iter().filter(|word| !word.is(",")).map(|word| &*word.text).collect(), items);
        }
        (Vec::new(), self.items())
    }

    /// The operator of a `reduction` clause, and what it is about.
    pub fn reduced(&self) -> Option<(String, Vec<&[Token]>)> {
        let tokens = self.tokens.as_deref().unwrap_or_default();
        let [operator, list, ..] = split(tokens, ":")[..] else { return None };
        let items = split(list, ",").into_iter().filter(|part| !part.is_empty()).collect();
        Some((operator.iter().map(|token| token.text.as_str()).collect(), items))
    }

    /// Arguments that each may have a word and a colon before it: `gang(num: 8, static: *)`.
    pub fn named(&self) -> Vec<(&str, &[Token])> {
        let named = self.items().into_iter().map(|item| match item {
            [name, colon, value @ ..] if name.kind == Kind::Identifier && colon.is(":") => {
                (&*name.text, value)
            }
            value => ("", value),
        });
        named.collect()
    }

    /// The bytes of the first argument, without a word and a colon before it.
    pub fn value(&self) -> Option<Range<usize>> {
        let (_, items) = self.modified();
        bytes(items.first()?)
    }
}

/// The bytes of tokens.
pub fn bytes(tokens: &[Token]) -> Option<Range<usize>> {
    Some(tokens.first()?.range.start..tokens.last()?.range.end)
}
