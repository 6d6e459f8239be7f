//! Writes Cranelift code that is the same for one value and for four lanes of values.
//!
//! Everything here looks at the types of its operands. Scalars are the same in all lanes. Vectors
//! are four lanes of 32 bits or two of 64. A mask is what a comparison gives: an integer of 0 or 1
//! for scalars, all bits of each lane for vectors.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F32X4, F64X2, I8X16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    DataFlowGraph, InstBuilder, InstructionData, Opcode, Type as Clif, Value, ValueDef,
};
use cranelift_frontend::FunctionBuilder;

use gangway_simt::CANONICAL_NAN;

use crate::cranelift::value;

/// Four lanes, or the one value of all lanes: two vectors for four lanes of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quad {
    One(Value),
    Two(Value, Value),
}

pub(super) struct Emit<'a, 'b> {
    pub builder: &'a mut FunctionBuilder<'b>,
    /// What has been made already: all lanes of a sequence share their constants.
    constants: Vec<(Clif, u64, Value)>,
}

macro_rules! binary {
    ($($name:ident => $instruction:ident),+ $(,)?) => {$(
        pub fn $name(&mut self, a: Value, b: Value) -> Value {
            self.builder.ins().$instruction(a, b)
        }
    )+};
}

macro_rules! unary {
    ($($name:ident => $instruction:ident),+ $(,)?) => {$(
        pub fn $name(&mut self, a: Value) -> Value {
            self.builder.ins().$instruction(a)
        }
    )+};
}

impl<'a, 'b> Emit<'a, 'b> {
    #[must_use]
    pub fn new(builder: &'a mut FunctionBuilder<'b>) -> Self {
        Emit { builder, constants: Vec::new() }
    }

    binary! {
        add => iadd, sub => isub, mul => imul, and => band, or => bor, xor => bxor,
        umin => umin, umax => umax, smin => smin, smax => smax,
        fadd => fadd, fsub => fsub, fmul => fmul, fdiv => fdiv,
    }

    unary! {
        not => bnot, neg => ineg, abs => iabs,
        sqrt => sqrt, nearest => nearest, trunc => trunc, floor => floor, ceil => ceil,
    }

    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.builder.ins().fma(a, b, c)
    }

    #[must_use]
    pub fn ty(&self, value: Value) -> Clif {
        self.builder.func.dfg.value_type(value)
    }

    #[must_use]
    pub fn is_vector(&self, value: Value) -> bool {
        self.ty(value).is_vector()
    }

    /// A constant of an integer type, or of a vector of integers.
    pub fn constant(&mut self, ty: Clif, bits: u64) -> Value {
        if let Some(&(.., value)) =
            self.constants.iter().find(|(known, same, _)| *known == ty && *same == bits)
        {
            return value;
        }
        let value = value::constant(self.builder, ty, bits);
        self.constants.push((ty, bits, value));
        value
    }

    /// A constant of the type of `other`.
    pub fn like(&mut self, other: Value, bits: u64) -> Value {
        self.constant(self.ty(other), bits)
    }

    /// A floating-point constant of the type of `other`.
    pub fn float_like(&mut self, other: Value, number: f64) -> Value {
        let ty = self.ty(other);
        let (integer, bits) = match ty {
            F32X4 => (I32X4, u64::from((number as f32).to_bits())),
            F64X2 => (I64X2, number.to_bits()),
            F32 => (I32, u64::from((number as f32).to_bits())),
            _ => (I64, number.to_bits()),
        };
        let value = self.constant(integer, bits);
        self.cast(ty, value)
    }

    pub fn cast(&mut self, ty: Clif, value: Value) -> Value {
        value::cast(self.builder, ty, value)
    }

    pub fn and_bits(&mut self, a: Value, bits: u64) -> Value {
        let mask = self.like(a, bits);
        self.and(a, mask)
    }

    /// Shifts by an amount below the width.
    pub fn shl_by(&mut self, a: Value, amount: u32) -> Value {
        if amount == 0 {
            return a;
        }
        let amount = self.constant(I32, amount.into());
        self.builder.ins().ishl(a, amount)
    }

    pub fn shr_by(&mut self, a: Value, amount: u32) -> Value {
        if amount == 0 {
            return a;
        }
        let amount = self.constant(I32, amount.into());
        self.builder.ins().ushr(a, amount)
    }

    pub fn sar_by(&mut self, a: Value, amount: u32) -> Value {
        if amount == 0 {
            return a;
        }
        let amount = self.constant(I32, amount.into());
        self.builder.ins().sshr(a, amount)
    }

    pub fn compare(&mut self, cc: IntCC, a: Value, b: Value) -> Value {
        self.builder.ins().icmp(cc, a, b)
    }

    /// Comparison of floats; the two codes that vectors do not have are put together.
    pub fn compare_floats(&mut self, cc: FloatCC, a: Value, b: Value) -> Value {
        let (first, second) = match cc {
            FloatCC::OrderedNotEqual => (FloatCC::Ordered, FloatCC::NotEqual),
            FloatCC::UnorderedOrEqual => (FloatCC::Unordered, FloatCC::Equal),
            _ => return self.builder.ins().fcmp(cc, a, b),
        };
        let (x, y) = (self.builder.ins().fcmp(first, a, b), self.builder.ins().fcmp(second, a, b));
        if cc == FloatCC::OrderedNotEqual { self.and(x, y) } else { self.or(x, y) }
    }

    /// `yes` where the mask is set; integers or vectors of them.
    pub fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        if self.is_vector(mask) {
            self.builder.ins().blendv(mask, yes, no)
        } else {
            self.builder.ins().select(mask, yes, no)
        }
    }

    /// The opposite of a mask.
    pub fn mask_not(&mut self, mask: Value) -> Value {
        if self.is_vector(mask) {
            return self.not(mask);
        }
        let ty = self.ty(mask);
        let one = self.builder.ins().iconst(ty, 1);
        self.xor(mask, one)
    }

    /// A scalar mask as a predicate's value.
    pub fn truth(&mut self, mask: Value) -> Value {
        if self.ty(mask) == I32 { mask } else { self.builder.ins().uextend(I32, mask) }
    }

    /// 64 bits per lane from 32.
    pub fn widen(&mut self, value: Value, signed: bool) -> Quad {
        let ins = |emit: &mut Self| emit.builder.func.dfg.value_type(value);
        match (ins(self) == I32X4, signed) {
            (true, true) => {
                Quad::Two(self.builder.ins().swiden_low(value), self.builder.ins().swiden_high(value))
            }
            (true, false) => {
                Quad::Two(self.builder.ins().uwiden_low(value), self.builder.ins().uwiden_high(value))
            }
            (false, true) => Quad::One(self.builder.ins().sextend(I64, value)),
            (false, false) => Quad::One(self.builder.ins().uextend(I64, value)),
        }
    }

    /// The low or the high 32 bits of each 64-bit lane.
    pub fn low_words(&mut self, quad: Quad) -> Value {
        match quad {
            Quad::One(value) => self.builder.ins().ireduce(I32, value),
            Quad::Two(first, second) => value::low_halves(self.builder, first, second),
        }
    }

    pub fn high_words(&mut self, quad: Quad) -> Value {
        match quad {
            Quad::One(value) => {
                let high = self.shr_by(value, 32);
                self.builder.ins().ireduce(I32, high)
            }
            Quad::Two(first, second) => value::high_halves(self.builder, first, second),
        }
    }

    /// Runs each lane as a scalar: for what vectors do not have.
    pub fn scalars(&mut self, inputs: &[Value], operate: impl Fn(&mut Self, &[Value]) -> Value) -> Value {
        let ty = self.ty(inputs[0]);
        if !ty.is_vector() {
            return operate(self, inputs);
        }
        let lane = |emit: &mut Self, lane: u32| {
            let scalars: Vec<Value> =
                inputs.iter().map(|&input| emit.builder.ins().extractlane(input, lane as u8)).collect();
            operate(emit, &scalars)
        };
        let first = lane(self, 0);
        let result = self.ty(first).by(ty.lane_count()).expect("a vector of 128 bits");
        let first = self.builder.ins().scalar_to_vector(result, first);
        (1..ty.lane_count()).fold(first, |vector, index| {
            let value = lane(self, index);
            self.builder.ins().insertlane(vector, value, index as u8)
        })
    }

    /// Applies the same operation to all parts of operands of one width.
    pub fn each<const N: usize>(
        &mut self,
        quads: [Quad; N],
        operate: impl Fn(&mut Self, [Value; N]) -> Value,
    ) -> Quad {
        match quads[0] {
            Quad::One(_) => Quad::One(operate(self, quads.map(Quad::first))),
            Quad::Two(..) => {
                let first = operate(self, quads.map(Quad::first));
                Quad::Two(first, operate(self, quads.map(Quad::second)))
            }
        }
    }

    pub fn shuffle_bytes(&mut self, first: Value, second: Value, bytes: &[u8]) -> Value {
        value::shuffle_bytes(self.builder, first, second, bytes)
    }

    /// Looks each byte's low bits up in a table of 16.
    pub fn look_up(&mut self, table: &[u8; 16], bytes: Value) -> Value {
        let table = value::vector_constant(self.builder, I8X16, table);
        self.builder.ins().x86_pshufb(table, bytes)
    }

    // Floats

    /// The value as floats; a NaN may have any payload, which 32-bit arithmetic does
    /// not look at, so that only what is stored in the end is made canonical.
    pub fn float(&mut self, value: Value) -> Value {
        let value = before_test(&self.builder.func.dfg, value).unwrap_or(value);
        self.cast(value::float_of(self.ty(value)), value)
    }

    /// Floats as a register's value; 32-bit NaNs become the one that PTX has.
    pub fn register(&mut self, float: Value) -> Value {
        let value = self.integer(float);
        if !matches!(self.ty(float), F32 | F32X4) {
            return value;
        }
        let nan = self.builder.ins().fcmp(FloatCC::Unordered, float, float);
        let canonical = self.like(value, CANONICAL_NAN);
        self.select(nan, canonical, value)
    }

    /// The bits of floats as they are.
    pub fn integer(&mut self, float: Value) -> Value {
        let ty = match self.ty(float) {
            F32X4 => I32X4,
            F64X2 => I64X2,
            F32 => I32,
            _ => I64,
        };
        self.cast(ty, float)
    }

    /// The smaller; `b` if they are equal or one is NaN, as the processor has it.
    pub fn lesser(&mut self, a: Value, b: Value) -> Value {
        let less = self.builder.ins().fcmp(FloatCC::LessThan, a, b);
        self.choose(less, a, b)
    }

    /// The greater; `b` if they are equal or one is NaN.
    pub fn greater(&mut self, a: Value, b: Value) -> Value {
        let less = self.builder.ins().fcmp(FloatCC::LessThan, b, a);
        self.choose(less, a, b)
    }

    /// In the form that becomes one instruction.
    fn choose(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        if ty.is_vector() {
            let mask = self.cast(ty, mask);
            self.builder.ins().bitselect(mask, a, b)
        } else {
            self.builder.ins().select(mask, a, b)
        }
    }
}

/// What [`Emit::register`] has been given as a float, as the integer that it made of it, if the
/// value comes from there.
pub(super) fn before_test(dfg: &DataFlowGraph, value: Value) -> Option<Value> {
    let inst_of = |value: Value| match dfg.value_def(value) {
        ValueDef::Result(inst, 0) => Some(&dfg.insts[inst]),
        _ => None,
    };
    let InstructionData::Ternary { opcode: Opcode::Blendv | Opcode::Select, args: [mask, yes, no] } =
        *inst_of(dfg.resolve_aliases(value))?
    else {
        return None;
    };
    let canonical = match *inst_of(yes)? {
        InstructionData::UnaryImm { imm, .. } => imm.bits() as u64 == CANONICAL_NAN,
        InstructionData::UnaryConst { constant_handle, .. } => {
            dfg.constants.get(constant_handle).as_slice().chunks(4).all(|bytes| bytes == CANONICAL_BYTES)
        }
        _ => false,
    };
    let InstructionData::FloatCompare { cond: FloatCC::Unordered, args: [a, b], .. } = *inst_of(mask)? else {
        return None;
    };
    let InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } = *inst_of(no)? else {
        return None;
    };
    (canonical && a == b && arg == a).then_some(no)
}

const CANONICAL_BYTES: [u8; 4] = (CANONICAL_NAN as u32).to_le_bytes();

impl Quad {
    #[must_use]
    pub fn first(self) -> Value {
        match self {
            Quad::One(value) | Quad::Two(value, _) => value,
        }
    }

    fn second(self) -> Value {
        match self {
            Quad::One(value) | Quad::Two(_, value) => value,
        }
    }
}
