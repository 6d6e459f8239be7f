//! What is linked.

use gangway_ptx::{Module, Outline, Reader};

/// One module of a link.
#[derive(Clone, Debug)]
pub struct Input {
    /// For messages.
    pub name: Box<str>,
    source: Source,
    pub(crate) on_demand: bool,
}

#[derive(Clone, Debug)]
enum Source {
    Module(Module),
    /// Its bodies are read when something reaches them.
    Outline(Outline),
}

impl Input {
    pub fn new(name: impl Into<Box<str>>, module: Module) -> Self {
        Self { name: name.into(), source: Source::Module(module), on_demand: false }
    }

    /// A text whose functions are read when something reaches them, and not otherwise.
    pub fn outline(name: impl Into<Box<str>>, outline: Outline) -> Self {
        Self { name: name.into(), source: Source::Outline(outline), on_demand: false }
    }

    /// Makes it join only when something that it defines is missing, as members of
    /// archives do.
    #[must_use]
    pub fn on_demand(self) -> Self {
        Self { on_demand: true, ..self }
    }

    #[must_use]
    pub fn is_on_demand(&self) -> bool {
        self.on_demand
    }

    /// What the module declares and defines; its bodies may be empty.
    #[must_use]
    pub fn declarations(&self) -> &Module {
        match &self.source {
            Source::Module(module) => module,
            Source::Outline(outline) => outline.declarations(),
        }
    }

    /// What reads the bodies of an outline.
    pub(crate) fn reader(&self) -> Option<Reader<'_>> {
        match &self.source {
            Source::Module(_) => None,
            Source::Outline(outline) => Some(outline.reader()),
        }
    }
}

/// The module; of an outline, what it declares.
impl From<Input> for Module {
    fn from(input: Input) -> Self {
        match input.source {
            Source::Module(module) => module,
            Source::Outline(outline) => outline.declarations().clone(),
        }
    }
}
