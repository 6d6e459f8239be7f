//! Where instructions are, for people.

use gangway_ptx::{Function, Instruction, Module};

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub function: String,
    /// As in PTX.
    pub instruction: String,
    /// File, line and column.
    pub source: Option<(String, u32, u32)>,
}

/// Where something undefined may be read first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub place: Place,
    /// No memory: a register that nothing has set.
    pub register: bool,
}

/// Where something must not be undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub place: Place,
    pub kind: UseKind,
}

/// What depends on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    Branch,
    Address,
    Target,
    Vote,
    Size,
}

impl UseKind {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Branch => "a branch",
            Self::Address => "an address",
            Self::Target => "the function that is called",
            Self::Vote => "what lanes tell each other",
            Self::Size => "the size of memory",
        }
    }
}

/// What names of libgomp's sources have in them.
const LIBGOMP: &str = "/libgomp/";
/// How names of functions begin that are the runtime's, for those without lines.
const RUNTIMES: [&str; 6] = ["GOMP_", "GOACC_", "gomp_", "goacc_", "__kmpc_", "__gangway_"];
/// What names of the device runtime have in them: its crate's, mangled.
const OWN: &str = "11gangway_gpu";

/// Whether an instruction is the device runtime's.
pub(crate) fn is_runtimes(place: &Place) -> bool {
    match &place.source {
        Some((file, ..)) => file.contains(LIBGOMP),
        None => {
            place.function.contains(OWN) || RUNTIMES.iter().any(|prefix| place.function.starts_with(prefix))
        }
    }
}

/// The place of an instruction of a function.
pub(crate) fn place(module: &Module, function: &Function, instruction: Option<&Instruction>) -> Place {
    let name = function.name.to_string();
    let Some(body) = &function.body else { return Place { function: name, ..Place::default() } };
    let first = || body.instructions.iter().find(|instruction| instruction.location.is_some());
    let location = instruction.or_else(first).and_then(|instruction| instruction.location);
    let source = location.and_then(|id| body.locations.get(id.index())).and_then(|location| {
        let file = module.files.iter().find(|file| file.index == location.file)?;
        Some((file.name.to_string(), location.line, location.column))
    });
    let opcode = instruction.map(|instruction| module.opcode(instruction).to_string());
    Place { function: name, instruction: opcode.unwrap_or_default(), source }
}
