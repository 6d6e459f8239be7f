//! Writes LLVM's IR as text: values with their types, instructions, blocks.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use gangway_simt::Scalar;

/// What a value is. Pointers are integers until they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bit,
    Word,
    Wide,
    Single,
    Double,
    Pointer,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Bit => "i1",
            Type::Word => "i32",
            Type::Wide => "i64",
            Type::Single => "float",
            Type::Double => "double",
            Type::Pointer => "ptr",
        })
    }
}

impl Type {
    #[must_use]
    pub const fn is_wide(self) -> bool {
        matches!(self, Type::Wide | Type::Double)
    }

    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Type::Bit => 1,
            Type::Word | Type::Single => 32,
            Type::Wide | Type::Double | Type::Pointer => 64,
        }
    }
}

/// What a slot holds.
pub(super) const fn of(ty: Scalar) -> Type {
    match ty {
        Scalar::Predicate => Type::Bit,
        ty if ty.is_wide() => Type::Wide,
        _ => Type::Word,
    }
}

/// What the place of a slot holds. A float that goes round in a loop stays where floats are computed.
pub(super) fn held(ty: Scalar) -> Type {
    match (ty.is_float(), ty.bits()) {
        (true, 32) => Type::Single,
        (true, 64) => Type::Double,
        _ => of(ty),
    }
}

/// A value: the result of an instruction, or a constant of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub ty: Type,
    name: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Made(u32),
    Constant(i64),
    Given(&'static str),
}

/// As an operand, without its type.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name, self.ty) {
            (Name::Made(number), _) => write!(f, "%v{number}"),
            (Name::Constant(bits), Type::Bit) => f.write_str(if bits & 1 != 0 { "true" } else { "false" }),
            (Name::Constant(bits), Type::Word) => write!(f, "{}", bits as i32),
            (Name::Constant(bits), _) => write!(f, "{bits}"),
            (Name::Given(name), _) => write!(f, "%{name}"),
        }
    }
}

impl Value {
    /// A parameter of the function.
    #[must_use]
    pub const fn given(ty: Type, name: &'static str) -> Self {
        Value { ty, name: Name::Given(name) }
    }

    #[must_use]
    pub const fn constant(ty: Type, bits: u64) -> Self {
        Value { ty, name: Name::Constant(bits as i64) }
    }

    #[must_use]
    pub const fn word(bits: u32) -> Self {
        Self::constant(Type::Word, bits as u64)
    }

    #[must_use]
    pub const fn wide(bits: u64) -> Self {
        Self::constant(Type::Wide, bits)
    }

    /// The bits of a constant.
    #[must_use]
    pub const fn bits(self) -> Option<u64> {
        match (self.name, self.ty) {
            (Name::Constant(bits), Type::Word) => Some(bits as u32 as u64),
            (Name::Constant(bits), Type::Bit) => Some(bits as u64 & 1),
            (Name::Constant(bits), _) => Some(bits as u64),
            _ => None,
        }
    }
}

/// A place that code goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%b{}", self.0)
    }
}

/// A function's text.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub text: String,
    values: u32,
    labels: u32,
    /// The operation that is being written, and one more.
    line: u32,
    /// All that there have been.
    lines: BTreeSet<u32>,
    /// The debug location of a line is the metadata with this number, and the line's more; none where nothing has one.
    locations: Option<u32>,
}

/// Adds an instruction that gives a value of a type.
macro_rules! make {
    ($text:expr, $ty:expr, $($form:tt)+) => {
        $text.make($ty, format_args!($($form)+))
    };
}
/// Adds an instruction that gives none.
macro_rules! act {
    ($text:expr, $($form:tt)+) => {
        $text.act(format_args!($($form)+))
    };
}
pub(super) use {act, make};

impl Text {
    /// `locations` is where the numbers of debug locations begin.
    #[must_use]
    pub fn new(locations: u32) -> Self {
        Text { locations: Some(locations), lines: BTreeSet::from([0]), ..Text::default() }
    }

    #[must_use]
    pub fn without_lines() -> Self {
        Text::default()
    }

    /// Ends an instruction.
    fn end(&mut self) {
        let _ = match self.locations {
            Some(locations) => writeln!(self.text, ", !dbg !{}", locations + self.line),
            None => writeln!(self.text),
        };
    }

    /// What follows belongs to an operation, or to none.
    pub fn at(&mut self, operation: Option<u32>) {
        self.line = operation.map_or(0, |operation| operation + 1);
        self.lines.insert(self.line);
    }

    /// Adds the debug locations of a function with a name, and the scope that they are in.
    pub fn locate(&self, name: &str, all: &mut String) {
        let Some(locations) = self.locations else { return };
        let scope = locations - 1;
        let _ = writeln!(
            all,
            "!{scope} = distinct !DISubprogram(name: \"{name}\", file: !2, unit: !1, type: !3, \
             spFlags: DISPFlagDefinition)"
        );
        for line in &self.lines {
            let _ = writeln!(all, "!{} = !DILocation(line: {line}, scope: !{scope})", locations + line);
        }
    }

    /// The operation that is being written.
    #[must_use]
    pub const fn operation(&self) -> Option<u32> {
        self.line.checked_sub(1)
    }

    pub fn make(&mut self, ty: Type, instruction: fmt::Arguments<'_>) -> Value {
        let value = Value { ty, name: Name::Made(self.values) };
        self.values += 1;
        let _ = write!(self.text, "  {value} = {instruction}");
        self.end();
        value
    }

    pub fn act(&mut self, instruction: fmt::Arguments<'_>) {
        let _ = write!(self.text, "  {instruction}");
        self.end();
    }

    #[must_use]
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// What follows is where a label is.
    pub fn begin(&mut self, label: Label) {
        let _ = writeln!(self.text, "b{}:", label.0);
    }

    pub fn jump(&mut self, to: Label) {
        act!(self, "br label {to}");
    }

    pub fn branch(&mut self, condition: Value, yes: Label, no: Label) {
        act!(self, "br i1 {condition}, label {yes}, label {no}");
    }

    /// Branches to where one goes seldom, if a condition holds.
    pub fn seldom(&mut self, condition: Value, yes: Label, no: Label) {
        act!(self, "br i1 {condition}, label {yes}, label {no}, !prof !0");
    }

    /// Branches to where one goes nearly always, if a condition holds.
    pub fn likely(&mut self, condition: Value, yes: Label, no: Label) {
        act!(self, "br i1 {condition}, label {yes}, label {no}, !prof !6");
    }

    pub fn binary(&mut self, operation: &str, a: Value, b: Value) -> Value {
        make!(self, a.ty, "{operation} {} {a}, {b}", a.ty)
    }

    pub fn compare(&mut self, order: &str, a: Value, b: Value) -> Value {
        let float = matches!(a.ty, Type::Single | Type::Double);
        make!(self, Type::Bit, "{} {order} {} {a}, {b}", if float { "fcmp" } else { "icmp" }, a.ty)
    }

    pub fn convert(&mut self, operation: &str, value: Value, to: Type) -> Value {
        make!(self, to, "{operation} {} {value} to {to}", value.ty)
    }

    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        make!(self, yes.ty, "select i1 {condition}, {} {yes}, {} {no}", yes.ty, no.ty)
    }

    /// The place some bytes behind another one.
    pub fn behind(&mut self, pointer: Value, offset: Value) -> Value {
        if offset.bits() == Some(0) {
            return pointer;
        }
        make!(self, Type::Pointer, "getelementptr i8, ptr {pointer}, {} {offset}", offset.ty)
    }

    pub fn load(&mut self, ty: Type, pointer: Value) -> Value {
        make!(self, ty, "load {ty}, ptr {pointer}")
    }

    pub fn store(&mut self, value: Value, pointer: Value) {
        act!(self, "store {} {value}, ptr {pointer}", value.ty);
    }
}
