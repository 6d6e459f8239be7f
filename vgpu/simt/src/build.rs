//! Makes sequences.

use rustc_hash::FxHashMap;

use crate::evaluate::{all, apply};
use crate::op::{FloatOrder, IntOrder, Op};
use crate::sequence::{Definition, Sequence, Value};
use crate::types::{Element, Extent, Type};

/// Makes a sequence. The same operation on the same operands is made once, and integers that are
/// constants are computed here.
#[derive(Debug, Default)]
pub struct Builder {
    sequence: Sequence,
    made: FxHashMap<Definition, Value>,
}

macro_rules! operations {
    ($($(#[$attribute:meta])* $name:ident($($operand:ident),+) => $op:ident;)+) => {$(
        $(#[$attribute])*
        pub fn $name(&mut self, $($operand: Value),+) -> Value {
            self.make(Op::$op, &[$($operand),+])
        }
    )+};
}

impl Builder {
    #[must_use]
    pub fn new() -> Self {
        Builder::default()
    }

    /// The next parameter. All come before the first operation.
    ///
    /// # Panics
    /// If there is an operation already.
    pub fn parameter(&mut self, ty: Type) -> Value {
        let number = self.sequence.definitions.len();
        assert_eq!(number, self.sequence.parameters(), "a parameter behind an operation");
        self.define(Definition { op: Op::Parameter(number as u32), operands: [Value(0); 3], ty })
    }

    /// The finished sequence.
    #[must_use]
    pub fn finish(mut self, results: &[Value]) -> Sequence {
        self.sequence.results = results.to_vec();
        self.sequence
    }

    #[must_use]
    pub fn ty(&self, value: Value) -> Type {
        self.sequence.ty(value)
    }

    #[must_use]
    pub fn element(&self, value: Value) -> Element {
        self.sequence.element(value)
    }

    /// Bits of a lane.
    #[must_use]
    pub fn bits(&self, value: Value) -> u32 {
        self.element(value).bits()
    }

    #[must_use]
    pub fn is_one(&self, value: Value) -> bool {
        self.sequence.is_one(value)
    }

    /// The bits of a constant.
    #[must_use]
    pub fn constant_of(&self, value: Value) -> Option<u64> {
        self.sequence.constant(value)
    }

    /// The low bits of these, as many as the element has.
    pub fn constant(&mut self, element: Element, bits: u64) -> Value {
        let op = Op::Constant(bits & all(element));
        self.define(Definition { op, operands: [Value(0); 3], ty: Type::one(element) })
    }

    /// A constant of the element of another value.
    pub fn like(&mut self, other: Value, bits: u64) -> Value {
        self.constant(self.element(other), bits)
    }

    /// A number of the element of another value, which is a float.
    pub fn float_like(&mut self, other: Value, number: f64) -> Value {
        let element = self.element(other);
        let bits = if element == Element::F32 { (number as f32).to_bits().into() } else { number.to_bits() };
        self.constant(element, bits)
    }

    /// # Panics
    /// If the operation takes other operands.
    pub fn make(&mut self, op: Op, operands: &[Value]) -> Value {
        let mut elements = [Element::Mask; 3];
        let mut extent = Extent::One;
        for (element, &operand) in elements.iter_mut().zip(operands) {
            let ty = self.ty(operand);
            *element = ty.element;
            extent = extent.max(ty.extent);
        }
        let elements = &elements[..operands.len()];
        assert!(op.operands().take(elements), "{} of {elements:?}", op.name());
        let element = op.result(elements).expect("constants and parameters are made in another way");
        if let Some(known) = self.folded(op, operands) {
            return self.constant(element, known);
        }
        let mut three = [Value(0); 3];
        three[..operands.len()].copy_from_slice(operands);
        if op.commutes() && three[0] > three[1] {
            three.swap(0, 1);
        }
        self.define(Definition { op, operands: three, ty: Type { element, extent } })
    }

    /// What an operation on integers and masks that are all constants gives. That of floats is left
    /// to the machine, whose NaNs it may depend on.
    fn folded(&self, op: Op, operands: &[Value]) -> Option<u64> {
        if operands.iter().any(|&operand| self.element(operand).is_float()) {
            return None;
        }
        let mut known = [0; 3];
        for (bits, &operand) in known.iter_mut().zip(operands) {
            *bits = self.constant_of(operand)?;
        }
        Some(apply(op, self.element(operands[0]), &known[..operands.len()]))
    }

    fn define(&mut self, definition: Definition) -> Value {
        if let Some(&value) = self.made.get(&definition) {
            return value;
        }
        let value = Value(self.sequence.definitions.len() as u32);
        self.sequence.definitions.push(definition);
        self.made.insert(definition, value);
        value
    }

    operations! {
        not(a) => Not;
        and(a, b) => And;
        or(a, b) => Or;
        xor(a, b) => Xor;
        add(a, b) => Add;
        sub(a, b) => Sub;
        mul(a, b) => Mul;
        umin(a, b) => MinUnsigned;
        umax(a, b) => MaxUnsigned;
        smin(a, b) => MinSigned;
        smax(a, b) => MaxSigned;
        neg(a) => Neg;
        abs(a) => Abs;
        low_word(a) => LowWord;
        high_word(a) => HighWord;
        fadd(a, b) => AddFloat;
        fsub(a, b) => SubFloat;
        fmul(a, b) => MulFloat;
        fdiv(a, b) => DivFloat;
        fma(a, b, c) => Fma;
        sqrt(a) => Sqrt;
        nearest(a) => Nearest;
        trunc(a) => Truncate;
        floor(a) => Floor;
        ceil(a) => Ceiling;
        lesser(a, b) => Lesser;
        greater(a, b) => Greater;
    }

    pub fn compare(&mut self, order: IntOrder, a: Value, b: Value) -> Value {
        self.make(Op::CompareInt(order), &[a, b])
    }

    pub fn compare_floats(&mut self, order: FloatOrder, a: Value, b: Value) -> Value {
        self.make(Op::CompareFloat(order), &[a, b])
    }

    /// `yes` where the mask is set.
    pub fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        if yes == no { yes } else { self.make(Op::Select, &[mask, yes, no]) }
    }

    /// All bits of `element`, an integer's, where the mask is set, none elsewhere.
    pub fn mask_bits(&mut self, mask: Value, element: Element) -> Value {
        self.make(if element.bits() == 64 { Op::MaskWide } else { Op::MaskWord }, &[mask])
    }

    /// An integer where the mask is set, zero elsewhere.
    pub fn keep(&mut self, mask: Value, value: Value) -> Value {
        let bits = self.mask_bits(mask, self.element(value));
        self.and(value, bits)
    }

    pub fn differs_from_zero(&mut self, value: Value) -> Value {
        let zero = self.like(value, 0);
        self.compare(IntOrder::NotEqual, value, zero)
    }

    pub fn and_bits(&mut self, a: Value, bits: u64) -> Value {
        let mask = self.like(a, bits);
        self.and(a, mask)
    }

    pub fn shl_by(&mut self, a: Value, amount: u32) -> Value {
        self.shift_by(Op::ShiftLeft, a, amount)
    }

    pub fn shr_by(&mut self, a: Value, amount: u32) -> Value {
        self.shift_by(Op::ShiftRightUnsigned, a, amount)
    }

    pub fn sar_by(&mut self, a: Value, amount: u32) -> Value {
        self.shift_by(Op::ShiftRightSigned, a, amount)
    }

    fn shift_by(&mut self, op: Op, a: Value, amount: u32) -> Value {
        if amount == 0 {
            return a;
        }
        let amount = self.constant(Element::I32, amount.into());
        self.make(op, &[a, amount])
    }

    /// The low `bits` of an integer, extended to its width.
    pub fn extend(&mut self, value: Value, bits: u32, signed: bool) -> Value {
        let width = self.bits(value);
        if bits >= width {
            return value;
        }
        if !signed {
            return self.and_bits(value, (1 << bits) - 1);
        }
        let high = self.shl_by(value, width - bits);
        self.sar_by(high, width - bits)
    }

    /// 64 bits from 32.
    pub fn widen(&mut self, value: Value, signed: bool) -> Value {
        self.make(if signed { Op::WidenSigned } else { Op::WidenUnsigned }, &[value])
    }

    /// The nearest float of an integer.
    pub fn from_integer(&mut self, to: Element, value: Value, signed: bool) -> Value {
        let op = match (to, signed) {
            (Element::F64, true) => Op::SignedToF64,
            (Element::F64, false) => Op::UnsignedToF64,
            (_, true) => Op::SignedToF32,
            (_, false) => Op::UnsignedToF32,
        };
        self.make(op, &[value])
    }

    /// The float with exactly these bits.
    pub fn as_float(&mut self, value: Value) -> Value {
        match self.element(value) {
            Element::I32 => self.make(Op::AsFloat32, &[value]),
            Element::I64 => self.make(Op::AsFloat64, &[value]),
            _ => value,
        }
    }

    /// The float with these bits, for arithmetic: a single that is NaN may have any payload, which
    /// arithmetic does not look at.
    pub fn as_number(&mut self, value: Value) -> Value {
        match self.element(value) {
            Element::I32 => self.make(Op::AsNumber, &[value]),
            _ => self.as_float(value),
        }
    }

    /// The bits of floats as they are.
    pub fn integer(&mut self, float: Value) -> Value {
        match self.element(float) {
            Element::F32 => self.make(Op::AsWord, &[float]),
            Element::F64 => self.make(Op::AsWide, &[float]),
            _ => float,
        }
    }

    /// Floats as a register holds them: singles have only one NaN.
    pub fn register(&mut self, float: Value) -> Value {
        match self.element(float) {
            Element::F32 => self.make(Op::Canonical, &[float]),
            _ => self.integer(float),
        }
    }
}
