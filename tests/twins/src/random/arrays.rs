//! The arrays of a program, and how elements of every type are read and written.

use super::chance::Chance;
use super::text::Text;

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Plain(&'static str),
    Pair,
}

pub const TYPES: [Type; 6] = [
    Type::Plain("int"),
    Type::Plain("unsigned short"),
    Type::Plain("long"),
    Type::Plain("float"),
    Type::Plain("double"),
    Type::Pair,
];

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain(name) => name,
            Self::Pair => "struct pair",
        }
    }

    /// An element, such as `a[i]`, as an unsigned number.
    pub fn read(self, element: &str) -> String {
        match self {
            Self::Plain(_) => format!("(unsigned){element}"),
            Self::Pair => format!("((unsigned){element}.key ^ (unsigned){element}.value * 3)"),
        }
    }

    /// The statement that gives a value of `MIX` to an element.
    pub fn write(self, element: &str, value: &str) -> String {
        match self {
            Self::Plain(name) => format!("{element} = ({name})({value});"),
            Self::Pair => {
                format!("{{ {element}.key = (int)({value}); {element}.value = {element}.key + 0.5; }}")
            }
        }
    }
}

/// Where the host has an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Static,
    Stack,
    Heap,
}

/// An array that is mapped while the steps go on.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub of: Type,
    pub length: usize,
    storage: Storage,
    /// Whether the host has the newest values.
    pub host_is_new: bool,
}

impl Array {
    pub fn new(number: usize, chance: &mut Chance) -> Self {
        Self {
            name: format!("a{number}"),
            of: *chance.one_of(&TYPES),
            length: *chance.one_of(&[40, 129, 500, 1500, 3001]),
            storage: *chance.one_of(&[Storage::Static, Storage::Stack, Storage::Heap]),
            host_is_new: true,
        }
    }

    /// One that a step has for itself.
    pub fn named(name: String, of: Type, length: usize) -> Self {
        Self { name, of, length, storage: Storage::Stack, host_is_new: true }
    }

    /// The element with this index, in range whatever the index is.
    pub fn at(&self, index: &str) -> String {
        format!("{}[({index}) % {}]", self.name, self.length)
    }

    pub fn section(&self) -> String {
        format!("{}[0:{}]", self.name, self.length)
    }

    /// A loop of the host that gives new values to the elements from `first` on.
    pub fn host_writes(&self, first: usize, count: usize, chance: &mut Chance) -> String {
        let write = self.of.write(&format!("{}[i]", self.name), &format!("MIX(i, {}u)", chance.constant()));
        format!("for (int i = {first}; i < {}; ++i) {write}", first + count)
    }

    /// A loop of the host that reads elements.
    pub fn host_reads(&self, first: usize, count: usize) -> String {
        let read = self.of.read(&format!("{}[i]", self.name));
        format!("for (int i = {first}; i < {}; ++i) look({read});", first + count)
    }
}

/// Declares the arrays, fills and maps them.
pub fn begin(text: &mut Text, arrays: &[Array], chance: &mut Chance) {
    for array in arrays {
        let (of, name, length) = (array.of.name(), &array.name, array.length);
        match array.storage {
            Storage::Static => text.global(format!("static {of} {name}[{length}];")),
            Storage::Stack => text.line(format!("{of} {name}[{length}];")),
            Storage::Heap => text.line(format!("{of} *{name} = malloc({length} * sizeof *{name});")),
        }
        text.line(array.host_writes(0, array.length, chance));
    }
    let sections: Vec<_> = arrays.iter().map(Array::section).collect();
    text.line(format!("#pragma omp target enter data map(to: {})", sections.join(", ")));
}

/// Unmaps the arrays; the host looks at what it has.
pub fn end(text: &mut Text, arrays: &mut [Array], chance: &mut Chance) {
    for array in arrays {
        let kind = if array.host_is_new || chance.below(4) == 0 {
            chance.one_of(&["release", "delete"])
        } else {
            array.host_is_new = true;
            "from"
        };
        text.line(format!("#pragma omp target exit data map({kind}: {})", array.section()));
        if array.host_is_new {
            text.line(array.host_reads(0, array.length));
        }
        if array.storage == Storage::Heap {
            text.line(format!("free({});", array.name));
        }
    }
}
