//! Writes what a sequence computes for one lane. The meaning of each operation is that of
//! [`gangway_simt::evaluate`].

use std::collections::BTreeSet;

use gangway_simt::{CANONICAL_NAN, Definition, Element, FloatOrder, IntOrder, Op, Sequence};

use super::text::{Text, Type, Value, make};

/// The intrinsics that functions use, as they are declared.
pub(super) type Declared = BTreeSet<String>;

const fn of(element: Element) -> Type {
    match element {
        Element::Mask => Type::Bit,
        Element::I32 => Type::Word,
        Element::I64 => Type::Wide,
        Element::F32 => Type::Single,
        Element::F64 => Type::Double,
    }
}

pub(super) const fn order(order: IntOrder) -> &'static str {
    match order {
        IntOrder::Equal => "eq",
        IntOrder::NotEqual => "ne",
        IntOrder::LessSigned => "slt",
        IntOrder::LessEqualSigned => "sle",
        IntOrder::GreaterSigned => "sgt",
        IntOrder::GreaterEqualSigned => "sge",
        IntOrder::LessUnsigned => "ult",
        IntOrder::LessEqualUnsigned => "ule",
        IntOrder::GreaterUnsigned => "ugt",
        IntOrder::GreaterEqualUnsigned => "uge",
    }
}

const fn float_order(order: FloatOrder) -> &'static str {
    match order {
        FloatOrder::Equal => "oeq",
        FloatOrder::NotEqual => "one",
        FloatOrder::Less => "olt",
        FloatOrder::LessEqual => "ole",
        FloatOrder::Greater => "ogt",
        FloatOrder::GreaterEqual => "oge",
        FloatOrder::OrEqual => "ueq",
        FloatOrder::OrNotEqual => "une",
        FloatOrder::OrLess => "ult",
        FloatOrder::OrLessEqual => "ule",
        FloatOrder::OrGreater => "ugt",
        FloatOrder::OrGreaterEqual => "uge",
        FloatOrder::Ordered => "ord",
        FloatOrder::Unordered => "uno",
    }
}

/// Whether a result of a sequence is a float whose NaN has been made the one that GPUs give.
pub(super) fn makes_canonical(sequence: &Sequence, result: usize) -> bool {
    sequence.results.get(result).is_some_and(|&result| sequence.definition(result).op == Op::Canonical)
}

/// The bits of a float of 32 bits, of which every NaN is the one that GPUs give.
pub(super) fn canonical(text: &mut Text, bits: Value) -> Value {
    let float = text.convert("bitcast", bits, Type::Single);
    let nan = text.compare("uno", float, float);
    text.select(nan, Value::constant(Type::Word, CANONICAL_NAN), bits)
}

/// An operand. If it is `raw`, it may have any bits where it stands for the NaN of GPUs: arithmetic takes it as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub value: Value,
    pub raw: bool,
}

/// Writes a sequence, whose parameters have these values; its results. Floats are results as their bits, and `raw` are
/// those that may be so.
pub(super) fn write(
    text: &mut Text,
    declared: &mut Declared,
    sequence: &Sequence,
    inputs: &[Input],
    raw: &[bool],
) -> Vec<Value> {
    let needed = sequence.needed();
    let is_raw = |index: usize| raw.get(index).is_some_and(|&raw| raw) && makes_canonical(sequence, index);
    // Whoever takes such an operand's bits takes those of the one NaN.
    let inputs: Vec<(Value, Value)> = (0u32..)
        .zip(inputs)
        .map(|(number, input)| {
            let is_it = |of: &gangway_simt::Value| sequence.definition(*of).op == Op::Parameter(number);
            let takes = |definition: &Definition| {
                definition.op != Op::AsNumber && definition.operands().iter().any(is_it)
            };
            let bits = sequence.definitions.iter().any(takes) || sequence.results.iter().any(is_it);
            let value = if input.raw && bits { canonical(text, input.value) } else { input.value };
            (input.value, value)
        })
        .collect();
    let mut writer = Writer { text, declared };
    let mut values: Vec<Value> = Vec::with_capacity(sequence.definitions.len());
    for (value, definition) in sequence.values() {
        let ty = of(definition.ty.element);
        values.push(match definition.op {
            _ if !needed[value.index()] => Value::constant(Type::Bit, 0),
            Op::Parameter(number) => inputs[number as usize].1,
            Op::AsNumber if let Op::Parameter(number) = sequence.definition(definition.operands()[0]).op => {
                writer.text.convert("bitcast", inputs[number as usize].0, ty)
            }
            Op::Constant(bits) => match definition.ty.element {
                element if element.is_float() => {
                    let bits = Value::constant(of(element.integer()), bits);
                    writer.text.convert("bitcast", bits, ty)
                }
                _ => Value::constant(ty, bits),
            },
            op => {
                let given: Vec<Value> = definition.operands().iter().map(|of| values[of.index()]).collect();
                writer.operation(op, ty, &given)
            }
        });
    }
    let result = |(index, result): (usize, &gangway_simt::Value)| {
        let value = match is_raw(index) {
            true => values[sequence.definition(*result).operands()[0].index()],
            false => values[result.index()],
        };
        match value.ty {
            Type::Single => writer.text.convert("bitcast", value, Type::Word),
            Type::Double => writer.text.convert("bitcast", value, Type::Wide),
            _ => value,
        }
    };
    sequence.results.iter().enumerate().map(result).collect()
}

struct Writer<'a> {
    text: &'a mut Text,
    declared: &'a mut Declared,
}

impl Writer<'_> {
    /// Calls an intrinsic, whose name ends with the types that are said.
    fn intrinsic(&mut self, name: &str, ty: Type, operands: &[Value], flag: Option<bool>) -> Value {
        let mut types: Vec<String> = operands.iter().map(|operand| operand.ty.to_string()).collect();
        let mut given: Vec<String> =
            operands.iter().map(|operand| format!("{} {operand}", operand.ty)).collect();
        if let Some(flag) = flag {
            types.push("i1".to_owned());
            given.push(format!("i1 {flag}"));
        }
        self.declared.insert(format!("declare {ty} @llvm.{name}({})", types.join(", ")));
        make!(self.text, ty, "call {ty} @llvm.{name}({})", given.join(", "))
    }

    /// The same of one type, by which the name ends.
    fn alike(&mut self, name: &str, operands: &[Value]) -> Value {
        let ty = operands[0].ty;
        self.intrinsic(&format!("{name}.{}", suffix(ty)), ty, operands, None)
    }

    /// Towards zero, to the nearest value that fits.
    fn saturated(&mut self, signed: bool, value: Value, ty: Type) -> Value {
        let name = if signed { "fptosi" } else { "fptoui" };
        self.intrinsic(&format!("{name}.sat.{}.{}", suffix(ty), suffix(value.ty)), ty, &[value], None)
    }

    fn operation(&mut self, op: Op, ty: Type, given: &[Value]) -> Value {
        let a = given[0];
        let b = given.get(1).copied().unwrap_or(a);
        let c = given.get(2).copied().unwrap_or(a);
        let text = &mut *self.text;
        match op {
            Op::Parameter(_) | Op::Constant(_) => a,
            Op::Not => text.binary("xor", a, Value::constant(a.ty, u64::MAX)),
            Op::And => text.binary("and", a, b),
            Op::Or => text.binary("or", a, b),
            Op::Xor => text.binary("xor", a, b),
            Op::Add => text.binary("add", a, b),
            Op::Sub => text.binary("sub", a, b),
            Op::Mul => text.binary("mul", a, b),
            Op::MulHighSigned => self.high("sext", a, b),
            Op::MulHighUnsigned => self.high("zext", a, b),
            Op::DivSigned | Op::DivUnsigned | Op::RemSigned | Op::RemUnsigned => self.divide(op, a, b),
            Op::MinSigned => self.alike("smin", &[a, b]),
            Op::MinUnsigned => self.alike("umin", &[a, b]),
            Op::MaxSigned => self.alike("smax", &[a, b]),
            Op::MaxUnsigned => self.alike("umax", &[a, b]),
            Op::Neg => text.binary("sub", Value::constant(a.ty, 0), a),
            Op::Abs => self.intrinsic(&format!("abs.{}", suffix(a.ty)), a.ty, &[a], Some(false)),
            Op::ShiftLeft | Op::ShiftRightUnsigned | Op::ShiftRightSigned => self.shift(op, a, b),
            Op::FunnelLeft | Op::FunnelRight => self.funnel(op, a, b, c),
            Op::Permute => self.permute(a, b, c),
            Op::Population => {
                let count = self.alike("ctpop", &[a]);
                self.narrow(count)
            }
            Op::LeadingZeros => {
                let count = self.intrinsic(&format!("ctlz.{}", suffix(a.ty)), a.ty, &[a], Some(false));
                self.narrow(count)
            }
            Op::ReverseBits => self.alike("bitreverse", &[a]),
            Op::AddHalves => self.halves("add", a, b),
            Op::MinHalvesSigned => self.halves("smin", a, b),
            Op::MinHalvesUnsigned => self.halves("umin", a, b),
            Op::MaxHalvesSigned => self.halves("smax", a, b),
            Op::MaxHalvesUnsigned => self.halves("umax", a, b),
            Op::WidenSigned => text.convert("sext", a, ty),
            Op::WidenUnsigned => text.convert("zext", a, ty),
            Op::LowWord => text.convert("trunc", a, ty),
            Op::HighWord => {
                let high = text.binary("lshr", a, Value::wide(32));
                text.convert("trunc", high, ty)
            }
            Op::Select => text.select(a, b, c),
            Op::MaskWord | Op::MaskWide => text.convert("sext", a, ty),
            Op::AsFloat32 | Op::AsFloat64 | Op::AsNumber | Op::AsWord | Op::AsWide => {
                text.convert("bitcast", a, ty)
            }
            Op::Canonical => {
                let nan = text.compare("uno", a, a);
                let bits = text.convert("bitcast", a, ty);
                text.select(nan, Value::constant(ty, CANONICAL_NAN), bits)
            }
            Op::AddFloat => text.binary("fadd", a, b),
            Op::SubFloat => text.binary("fsub", a, b),
            Op::MulFloat => text.binary("fmul", a, b),
            Op::DivFloat => text.binary("fdiv", a, b),
            Op::Fma => self.alike("fma", &[a, b, c]),
            Op::Sqrt => self.alike("sqrt", &[a]),
            Op::Nearest => self.alike("roundeven", &[a]),
            Op::Truncate => self.alike("trunc", &[a]),
            Op::Floor => self.alike("floor", &[a]),
            Op::Ceiling => self.alike("ceil", &[a]),
            Op::Lesser => {
                let less = text.compare("olt", a, b);
                text.select(less, a, b)
            }
            Op::Greater => {
                let greater = text.compare("ogt", a, b);
                text.select(greater, a, b)
            }
            Op::SignedToF32 | Op::SignedToF64 => text.convert("sitofp", a, ty),
            Op::UnsignedToF32 | Op::UnsignedToF64 => text.convert("uitofp", a, ty),
            Op::ToSignedWord | Op::ToSignedWide => self.saturated(true, a, ty),
            Op::ToUnsignedWord | Op::ToUnsignedWide => self.saturated(false, a, ty),
            Op::ToWordUnchecked => {
                // What does not fit gives anything, but the same for all who ask.
                let any = text.convert("fptosi", a, ty);
                make!(text, ty, "freeze {ty} {any}")
            }
            Op::Promote => text.convert("fpext", a, ty),
            Op::Demote => text.convert("fptrunc", a, ty),
            Op::CompareInt(by) => text.compare(order(by), a, b),
            Op::CompareFloat(by) => text.compare(float_order(by), a, b),
        }
    }

    /// Counts are words.
    fn narrow(&mut self, count: Value) -> Value {
        if count.ty.is_wide() { self.text.convert("trunc", count, Type::Word) } else { count }
    }

    /// The upper half of a product.
    fn high(&mut self, widen: &str, a: Value, b: Value) -> Value {
        let (bits, ty) = (a.ty.bits(), a.ty);
        let double = 2 * bits;
        let text = &mut *self.text;
        // Values of 128 bits have no type here; their text is all that is needed.
        let [a, b] = [a, b].map(|value| make!(text, Type::Wide, "{widen} {ty} {value} to i{double}"));
        let product = make!(text, Type::Wide, "mul i{double} {a}, {b}");
        let high = make!(text, Type::Wide, "lshr i{double} {product}, {bits}");
        make!(text, ty, "trunc i{double} {high} to {ty}")
    }

    /// By zero all bits of a quotient are set, and the dividend is left; the least value by -1 is itself.
    fn divide(&mut self, op: Op, a: Value, b: Value) -> Value {
        let text = &mut *self.text;
        let [zero, one, all] = [0, 1, u64::MAX].map(|bits| Value::constant(a.ty, bits));
        let by_zero = text.compare("eq", b, zero);
        let mut odd = by_zero;
        if matches!(op, Op::DivSigned | Op::RemSigned) {
            let least = Value::constant(a.ty, if a.ty.is_wide() { 1 << 63 } else { 1 << 31 });
            let (of_least, by_one) = (text.compare("eq", a, least), text.compare("eq", b, all));
            let both = text.binary("and", of_least, by_one);
            odd = text.binary("or", by_zero, both);
        }
        let by = text.select(odd, one, b);
        let (name, without) = match op {
            Op::DivSigned => ("sdiv", all),
            Op::DivUnsigned => ("udiv", all),
            Op::RemSigned => ("srem", a),
            _ => ("urem", a),
        };
        let result = text.binary(name, a, by);
        text.select(by_zero, without, result)
    }

    /// Amounts of the width and more shift everything out, or leave the sign.
    fn shift(&mut self, op: Op, a: Value, amount: Value) -> Value {
        let text = &mut *self.text;
        let bits = a.ty.bits();
        let fits = text.compare("ult", amount, Value::word(bits));
        let within =
            text.select(fits, amount, Value::word(if op == Op::ShiftRightSigned { bits - 1 } else { 0 }));
        let within = if a.ty.is_wide() { text.convert("zext", within, Type::Wide) } else { within };
        match op {
            Op::ShiftRightSigned => text.binary("ashr", a, within),
            _ => {
                let name = if op == Op::ShiftLeft { "shl" } else { "lshr" };
                let shifted = text.binary(name, a, within);
                text.select(fits, shifted, Value::constant(a.ty, 0))
            }
        }
    }

    /// Low and high word together.
    fn both(&mut self, low: Value, high: Value) -> Value {
        let text = &mut *self.text;
        let [low, high] = [low, high].map(|word| text.convert("zext", word, Type::Wide));
        let high = text.binary("shl", high, Value::wide(32));
        text.binary("or", high, low)
    }

    fn funnel(&mut self, op: Op, low: Value, high: Value, amount: Value) -> Value {
        let amount = self.alike("umin", &[amount, Value::word(32)]);
        let both = self.both(low, high);
        let text = &mut *self.text;
        let amount = text.convert("zext", amount, Type::Wide);
        let result = if op == Op::FunnelLeft {
            let shifted = text.binary("shl", both, amount);
            text.binary("lshr", shifted, Value::wide(32))
        } else {
            text.binary("lshr", both, amount)
        };
        text.convert("trunc", result, Type::Word)
    }

    /// Four bytes of two words by the nibbles of a third one.
    fn permute(&mut self, a: Value, b: Value, selector: Value) -> Value {
        let both = self.both(a, b);
        let text = &mut *self.text;
        let mut result = Value::word(0);
        for index in 0..4 {
            let nibble = text.binary("lshr", selector, Value::word(4 * index));
            let which = text.binary("and", nibble, Value::word(7));
            let which = text.binary("shl", which, Value::word(3));
            let which = text.convert("zext", which, Type::Wide);
            let byte = text.binary("lshr", both, which);
            let byte = text.convert("trunc", byte, Type::Word);
            let high = text.binary("shl", byte, Value::word(24));
            let sign = text.binary("ashr", high, Value::word(31));
            let spread = text.binary("and", nibble, Value::word(8));
            let spread = text.compare("ne", spread, Value::word(0));
            let byte = text.select(spread, sign, byte);
            let byte = text.binary("and", byte, Value::word(255));
            let byte = text.binary("shl", byte, Value::word(8 * index));
            result = text.binary("or", result, byte);
        }
        result
    }

    /// Of both halves of words.
    fn halves(&mut self, name: &str, a: Value, b: Value) -> Value {
        let text = &mut *self.text;
        let [a, b] = [a, b].map(|word| make!(text, Type::Word, "bitcast i32 {word} to <2 x i16>"));
        let result = if name == "add" {
            make!(text, Type::Word, "add <2 x i16> {a}, {b}")
        } else {
            let pair = "<2 x i16>";
            self.declared.insert(format!("declare {pair} @llvm.{name}.v2i16({pair}, {pair})"));
            make!(self.text, Type::Word, "call {pair} @llvm.{name}.v2i16({pair} {a}, {pair} {b})")
        };
        make!(self.text, Type::Word, "bitcast <2 x i16> {result} to i32")
    }
}

/// As names of intrinsics end.
const fn suffix(ty: Type) -> &'static str {
    match ty {
        Type::Bit => "i1",
        Type::Word => "i32",
        Type::Wide | Type::Pointer => "i64",
        Type::Single => "f32",
        Type::Double => "f64",
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use gangway_simt::{Definition, Operands, evaluate};

    use super::super::object::link;
    use super::super::object::tests::{object, place};
    use super::*;

    /// An operation and what it takes.
    type Case = (Op, Vec<Element>);

    /// All operations with all elements that they take.
    fn cases() -> Vec<Case> {
        let integers = IntOrder::ALL.iter().map(|&order| Op::CompareInt(order));
        let floats = FloatOrder::ALL.iter().map(|&order| Op::CompareFloat(order));
        let mut cases = Vec::new();
        for op in Op::PLAIN.iter().copied().chain(integers).chain(floats) {
            let taken: Vec<Vec<Element>> = match op.operands() {
                Operands::None => Vec::new(),
                Operands::Alike(elements, count) => {
                    elements.iter().map(|&element| vec![element; count]).collect()
                }
                Operands::Each(elements) => vec![elements.to_vec()],
                Operands::Shifted => [Element::I32, Element::I64].map(|of| vec![of, Element::I32]).to_vec(),
                Operands::Chosen => {
                    [Element::I32, Element::I64, Element::Mask].map(|of| vec![Element::Mask, of, of]).to_vec()
                }
            };
            cases.extend(taken.into_iter().map(|elements| (op, elements)));
        }
        cases
    }

    fn sequence((op, elements): &Case) -> Sequence {
        let mut sequence = Sequence::default();
        let mut operands = [gangway_simt::Value(0); 3];
        for (index, &element) in (0u32..).zip(elements) {
            operands[index as usize] = gangway_simt::Value(index);
            let ty = gangway_simt::Type::one(element);
            let definition =
                Definition { op: Op::Parameter(index), operands: [gangway_simt::Value(0); 3], ty };
            sequence.definitions.push(definition);
        }
        let ty = gangway_simt::Type::one(op.result(elements).expect("an element"));
        sequence.definitions.push(Definition { op: *op, operands, ty });
        sequence.results.push(gangway_simt::Value(elements.len() as u32));
        sequence
    }

    /// A module whose entry computes the case with a number, from words at `in` to one at `out`.
    fn module(cases: &[Case]) -> String {
        let (mut bodies, mut table, mut declared) = (String::new(), String::new(), Declared::new());
        for (number, case) in cases.iter().enumerate() {
            let sequence = sequence(case);
            let mut text = Text::new(1);
            let (input, output) = (Value::given(Type::Pointer, "in"), Value::given(Type::Pointer, "out"));
            let mut inputs = Vec::new();
            for (index, &element) in (0u64..).zip(&case.1) {
                let at = text.behind(input, Value::wide(8 * index));
                let bits = text.load(of(element.integer()), at);
                let ty = of(element);
                let float = matches!(ty, Type::Single | Type::Double);
                let value = if float { text.convert("bitcast", bits, ty) } else { bits };
                inputs.push(Input { value, raw: false });
            }
            let results = write(&mut text, &mut declared, &sequence, &inputs, &[]);
            let result = match results[0].ty {
                Type::Wide => results[0],
                _ => text.convert("zext", results[0], Type::Wide),
            };
            text.store(result, output);
            // Names of values are the function's.
            let text = text.text.replace(", !dbg !1", "").replace("%v", &format!("%c{number}v"));
            let _ = writeln!(bodies, "c{number}:\n{text}  ret void");
            let _ = writeln!(table, "  i64 {number}, label %c{number}");
        }
        let declared: String = declared.into_iter().map(|line| line + "\n").collect();
        format!(
            "define void @entry(i64 %which, ptr %in, ptr %out) \"no-builtins\" \"no-jump-tables\"=\"true\" {{\n  \
             switch i64 %which, label %none [\n{table}  ]\n{bodies}none:\n  ret void\n}}\n{declared}"
        )
    }

    const VALUES: [u64; 24] = [
        0,
        1,
        2,
        7,
        31,
        32,
        33,
        63,
        64,
        0xff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0x7f80_0000,
        0xff80_0001,
        0xcf00_0000,
        0x8000_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        u64::MAX,
        0x3ff0_0000_0000_0000,
        0xc1e0_0000_0020_0000,
        0x7ff0_0000_0000_0000,
        0x1234_5678_9abc_def0,
    ];

    /// Whether bits are a float that is no number.
    fn is_nan(element: Element, bits: u64) -> bool {
        match element {
            Element::F32 => f32::from_bits(bits as u32).is_nan(),
            Element::F64 => f64::from_bits(bits).is_nan(),
            _ => false,
        }
    }

    #[test]
    fn operations_compute_what_the_reference_does() {
        let fma = gangway_llvm::target().is_ok_and(|target| target.features.contains("+fma,"));
        let cases: Vec<Case> = cases().into_iter().filter(|(op, _)| *op != Op::Fma || fma).collect();
        let Some(object) = object(&module(&cases)) else { return };
        let start = place(&link(&object).expect("code"));
        // SAFETY: that is what the module says.
        let entry: unsafe extern "C" fn(u64, *const u64, *mut u64) = unsafe { std::mem::transmute(start) };
        for (number, case) in cases.iter().enumerate() {
            let sequence = sequence(case);
            let element = sequence.definitions.last().map_or(Element::I32, |last| last.ty.element);
            let operand = |index: usize, which: usize| {
                case.1.get(index).map_or(0, |element| VALUES[which] & (u64::MAX >> (64 - element.bits())))
            };
            for which in 0..VALUES.len().pow(2) {
                let (a, b) = (which / VALUES.len(), which % VALUES.len());
                let inputs = [operand(0, a), operand(1, b), operand(2, (a * 7 + b * 3) % VALUES.len())];
                let wanted = evaluate(&sequence, &inputs)[0];
                let mut found = 0;
                // SAFETY: there are as many words as the case takes, and a place for the result.
                unsafe { entry(number as u64, inputs.as_ptr(), &raw mut found) };
                let unchecked = case.0 == Op::ToWordUnchecked
                    && !(-2_147_483_648.0..2_147_483_648.0).contains(&f32::from_bits(inputs[0] as u32));
                let both_nan = is_nan(element, wanted) && is_nan(element, found);
                let same = wanted == found || both_nan || unchecked;
                assert!(same, "{case:?} of {inputs:x?}: {found:#x}, not {wanted:#x}");
            }
        }
    }
}
