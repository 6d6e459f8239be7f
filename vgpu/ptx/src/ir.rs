//! The typed representation of a module: functions, their blocks, their instructions,
//! with every name resolved.
//!
//! The parser builds it, the verifier checks it, the printer writes it, engines run it.
//! It owns all its text. Names are unique within a function: what inner scopes of the
//! source declared again has been renamed, so the scopes themselves are gone.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::error::Span;
use crate::forms::Opcode;
use crate::special::SpecialRegister;
use crate::types::{StateSpace, Type, Version};

/// Declares the type of an index into one of the lists below.
macro_rules! index {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

index! {
    /// Into [`Module::functions`].
    FunctionId,
    /// Into [`Module::variables`].
    VariableId,
    /// Into [`Module::opcodes`].
    OpcodeId,
    /// Into [`Body::registers`].
    RegisterId,
    /// Into [`Body::blocks`].
    BlockId,
    /// Into [`Body::prototypes`].
    PrototypeId,
    /// Into [`Body::targets`].
    TargetsId,
    /// Into [`Body::locations`].
    LocationId,
}

/// Where something stands in the source text. It is no part of what the thing is: all
/// origins are equal, so that modules compare by meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin(pub Span);

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Hash for Origin {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    pub version: Version,
    pub target: Target,
    /// 32 or 64.
    pub address_size: u8,
    pub files: Vec<SourceFile>,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    pub aliases: Vec<Alias>,
    /// What instructions share; each is there once.
    pub opcodes: Vec<Opcode>,
}

/// The processor that the text was made for, `.target sm_90a, debug`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    pub processor: u16,
    /// `a` or `f`, for code that runs on no other processor or family.
    pub suffix: Option<char>,
    pub debug: bool,
    /// `texmode_unified` or `texmode_independent`.
    pub texture_mode: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceFile {
    pub index: u32,
    pub name: Box<str>,
}

/// `.alias alias, target;`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    pub alias: FunctionId,
    pub target: FunctionId,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    #[default]
    Internal,
    Extern,
    Visible,
    Weak,
    Common,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    pub name: Box<str>,
    pub linkage: Linkage,
    pub space: StateSpace,
    pub ty: Type,
    /// 1, 2 or 4 elements.
    pub vector: u8,
    /// In bytes; the natural alignment of the type where the source gives none.
    pub align: u32,
    /// The lengths of the array's dimensions, none for a scalar. The first is 0 for an
    /// array without size, `x[]`.
    pub dimensions: Box<[u64]>,
    pub initializer: Option<Initializer>,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// What a kernel parameter's `.ptr` promises.
    pub pointer: Option<Pointer>,
    pub origin: Origin,
}

impl Variable {
    /// In bytes, `None` for an array without size. Never overflows: the parser refuses
    /// variables that large.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let element = u64::from(self.ty.size()) * u64::from(self.vector);
        let elements = self.dimensions.iter().product::<u64>();
        (self.dimensions.is_empty() || self.dimensions[0] != 0).then_some(element * elements)
    }
}

/// `.ptr .global .align 4`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    pub space: StateSpace,
    pub align: u32,
}

/// The initial bytes of a variable; what follows them is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Initializer {
    pub bytes: Box<[u8]>,
    pub relocations: Box<[Relocation]>,
}

/// An address in an initializer: `(address of symbol + addend) & mask`, shifted down
/// by the mask's trailing zeros, goes to `size` bytes at `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relocation {
    pub offset: u64,
    pub size: u8,
    pub symbol: Symbol,
    pub addend: i64,
    /// Whether the address is a generic one, `generic(x)`.
    pub generic: bool,
    pub mask: u64,
}

/// What a name stands for when its address is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    Variable(VariableId),
    Function(FunctionId),
    /// A variable of this function, an index into [`Body::variables`].
    Local(u32),
    /// A parameter of this function, an index into [`Function::parameters`].
    Parameter(u32),
    /// A return parameter of this function, an index into [`Function::returns`].
    Return(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    pub name: Box<str>,
    pub linkage: Linkage,
    /// `.entry`, a kernel, as against `.func`.
    pub entry: bool,
    pub returns: Vec<Variable>,
    pub parameters: Vec<Variable>,
    pub noreturn: bool,
    pub limits: Limits,
    /// `None` for a function that is only declared.
    pub body: Option<Body>,
    pub origin: Origin,
}

/// Performance and launch directives of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Limits {
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub min_blocks: Option<u32>,
    pub max_blocks: Option<u32>,
    pub max_registers: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Body {
    pub registers: Vec<Register>,
    pub groups: Vec<RegisterGroup>,
    /// Variables in local, shared, parameter, global and constant space.
    pub variables: Vec<Variable>,
    /// In the order of the source, which is the order of program counters. Control
    /// falls from one into the next.
    pub blocks: Vec<Block>,
    pub instructions: Vec<Instruction>,
    /// The operands of all instructions.
    pub operands: Vec<Operand>,
    pub prototypes: Vec<Prototype>,
    pub targets: Vec<Targets>,
    pub locations: Vec<Location>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    pub ty: Type,
    /// 1, 2 or 4 elements.
    pub vector: u8,
    /// The declaration that it comes from, an index into [`Body::groups`].
    pub group: u32,
}

/// A declaration of registers: `%r<10>` or `%x`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegisterGroup {
    pub name: Box<str>,
    /// How many it declares with a number after the name; `None` for one without.
    pub count: Option<u32>,
    pub first: RegisterId,
}

/// A straight line of instructions: entered at the top, left at the bottom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub label: Option<Box<str>>,
    /// Into [`Body::instructions`].
    pub instructions: Range<u32>,
}

/// `@p` or `@!p`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    pub register: RegisterId,
    pub negated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    pub opcode: OpcodeId,
    pub guard: Option<Guard>,
    /// Into [`Body::operands`]: one for each position that the opcode expects.
    pub operands: Range<u32>,
    pub location: Option<LocationId>,
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// An optional operand that is not there.
    Absent,
    /// `_`: the result is not wanted.
    Sink,
    Register(RegisterId),
    /// `!p`
    Negated(RegisterId),
    /// `%v.x`: the register and the element.
    Component(RegisterId, u8),
    Special(SpecialRegister),
    /// The bits of a constant, signed or not.
    Integer(i64),
    /// The bits of a 32-bit floating-point constant.
    Float32(u32),
    /// The bits of a 64-bit floating-point constant.
    Float64(u64),
    /// The address of a symbol, and an offset.
    Symbol(Symbol, i64),
    /// `[base+offset]`
    Address(Base, i64),
    /// `{a, b}`: the elements are in [`Body::operands`].
    Vector {
        first: u32,
        length: u8,
    },
    /// The arguments or results of a call, in [`Body::operands`].
    List {
        first: u32,
        length: u32,
    },
    Block(BlockId),
    Targets(TargetsId),
    Prototype(PrototypeId),
    Function(FunctionId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    Register(RegisterId),
    Symbol(Symbol),
    /// An absolute address, which is the operand's offset.
    Absolute,
}

/// A `.callprototype`: the parameters of an indirect call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prototype {
    pub name: Box<str>,
    pub returns: Vec<Variable>,
    pub parameters: Vec<Variable>,
    pub noreturn: bool,
}

/// A `.branchtargets`: where `brx.idx` goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Targets {
    pub name: Box<str>,
    pub blocks: Vec<BlockId>,
}

/// A `.loc`: the place in the program's own source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// [`SourceFile::index`]
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

impl Module {
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| &*function.name == name)
    }

    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| &*variable.name == name)
    }

    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.entry && function.body.is_some())
    }

    #[must_use]
    pub fn opcode(&self, instruction: &Instruction) -> &Opcode {
        &self.opcodes[instruction.opcode.index()]
    }

    /// The variable that a symbol of `function` names; `None` for functions.
    #[must_use]
    pub fn variable_of<'a>(&'a self, function: &'a Function, symbol: Symbol) -> Option<&'a Variable> {
        match symbol {
            Symbol::Variable(id) => self.variables.get(id.index()),
            Symbol::Function(_) => None,
            Symbol::Local(index) => function.body.as_ref()?.variables.get(index as usize),
            Symbol::Parameter(index) => function.parameters.get(index as usize),
            Symbol::Return(index) => function.returns.get(index as usize),
        }
    }
}

impl Body {
    #[must_use]
    pub fn operands(&self, instruction: &Instruction) -> &[Operand] {
        &self.operands[instruction.operands.start as usize..instruction.operands.end as usize]
    }

    /// The elements of a vector or list operand; empty for others.
    #[must_use]
    pub fn elements(&self, operand: Operand) -> &[Operand] {
        let (first, length) = match operand {
            Operand::Vector { first, length } => (first, u32::from(length)),
            Operand::List { first, length } => (first, length),
            _ => return &[],
        };
        &self.operands[first as usize..(first + length) as usize]
    }

    #[must_use]
    pub fn register(&self, id: RegisterId) -> Register {
        self.registers[id.index()]
    }

    #[must_use]
    pub fn register_name(&self, id: RegisterId) -> String {
        let group = &self.groups[self.registers[id.index()].group as usize];
        match group.count {
            Some(_) => format!("{}{}", group.name, id.0 - group.first.0),
            None => group.name.to_string(),
        }
    }

    #[must_use]
    pub fn block(&self, id: BlockId) -> &[Instruction] {
        let range = &self.blocks[id.index()].instructions;
        &self.instructions[range.start as usize..range.end as usize]
    }
}
