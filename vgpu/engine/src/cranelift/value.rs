//! Values of 32 lanes in compiled code, and how they turn from one form into another.
//!
//! `sequence` computes with them, the rest keeps registers in them and moves them to and
//! from frames. Nothing here can trap or branch, and nothing but [`Lanes::load`] and
//! [`Lanes::store`] touches memory: what is not used costs nothing.

use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::types::{F32X4, F64X2, I8, I8X16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    InstBuilder, InstructionData, MemFlagsData, Opcode, Type as Clif, Value, ValueDef,
};
use cranelift_frontend::FunctionBuilder;
use gangway_simt::Scalar;

use crate::abi::LANES;

/// A register's value. Integers and floats alike are kept as integers; code that computes
/// with floats casts, which costs nothing.
#[derive(Clone, Debug)]
pub enum Lanes {
    /// The same in all lanes: an `I32` for types of up to 32 bits (zero-extended), an `I64` for
    /// others.
    Uniform(Value),
    /// Eight `I32X4` for types of up to 32 bits (zero-extended), sixteen `I64X2` for others.
    Vector(Box<[Value]>),
}

/// A predicate.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// An `I32`, 0 or 1, for all lanes.
    Uniform(Value),
    /// An `I32` with a bit per lane.
    Bits(Value),
    /// Eight `I32X4` of zeros and ones in all bits: how comparisons give it and selections take it.
    Each(Box<[Value; QUADS]>),
}

/// Groups of four lanes: what a vector of 32-bit values holds.
pub const QUADS: usize = LANES / 4;

/// The vector type that holds lanes of this width, and how many lanes one holds.
const fn vector(wide: bool) -> (Clif, usize) {
    if wide { (I64X2, 2) } else { (I32X4, 4) }
}

const fn scalar(wide: bool) -> Clif {
    if wide { I64 } else { I32 }
}

/// Frames and what helpers are given: always accessible, aligned by the element.
const fn frame_access() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// The bits of a scalar that is a constant.
#[must_use]
pub fn constant_of(builder: &FunctionBuilder, value: Value) -> Option<u64> {
    let dfg = &builder.func.dfg;
    let ValueDef::Result(inst, 0) = dfg.value_def(value) else { return None };
    match dfg.insts[inst] {
        InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
            let bits = imm.bits() as u64;
            Some(if dfg.value_type(value) == I64 { bits } else { bits & 0xffff_ffff })
        }
        _ => None,
    }
}

/// A constant of a scalar or vector type, the element's bits in every element.
pub fn constant(builder: &mut FunctionBuilder, ty: Clif, bits: u64) -> Value {
    if ty == I32 {
        return builder.ins().iconst(I32, i64::from(bits as u32));
    }
    if ty == I64 {
        return builder.ins().iconst(I64, bits as i64);
    }
    let mut bytes = Vec::with_capacity(16);
    while bytes.len() < 16 {
        bytes.extend_from_slice(&bits.to_le_bytes()[..ty.lane_type().bytes() as usize]);
    }
    vector_constant(builder, ty, &bytes)
}

/// A vector constant of any bytes.
pub fn vector_constant(builder: &mut FunctionBuilder, ty: Clif, bytes: &[u8]) -> Value {
    let constant = builder.func.dfg.constants.insert(bytes.into());
    builder.ins().vconst(ty, constant)
}

/// The same bits as another type of the same size.
pub fn cast(builder: &mut FunctionBuilder, ty: Clif, value: Value) -> Value {
    if builder.func.dfg.value_type(value) == ty {
        return value;
    }
    let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
    builder.ins().bitcast(ty, flags, value)
}

impl Lanes {
    /// The same constant in all lanes.
    pub fn constant(builder: &mut FunctionBuilder, wide: bool, bits: u64) -> Self {
        Lanes::Uniform(constant(builder, scalar(wide), bits))
    }

    /// Whether each lane has 64 bits.
    #[must_use]
    pub fn wide(&self, builder: &FunctionBuilder) -> bool {
        let value = match self {
            Lanes::Uniform(value) => *value,
            Lanes::Vector(values) => values[0],
        };
        matches!(builder.func.dfg.value_type(value), I64 | I64X2 | F64X2)
    }

    /// As vectors, whatever it is.
    pub fn vectors(&self, builder: &mut FunctionBuilder) -> Box<[Value]> {
        match self {
            Lanes::Vector(values) => values.clone(),
            Lanes::Uniform(value) => {
                let (ty, lanes) = vector(self.wide(builder));
                let value = match constant_of(builder, *value) {
                    Some(bits) => constant(builder, ty, bits),
                    None => builder.ins().splat(ty, *value),
                };
                vec![value; LANES / lanes].into()
            }
        }
    }

    /// The value of one lane, as a scalar.
    pub fn lane(&self, builder: &mut FunctionBuilder, lane: usize) -> Value {
        match self {
            Lanes::Uniform(value) => *value,
            Lanes::Vector(values) => {
                let per = LANES / values.len();
                builder.ins().extractlane(values[lane / per], (lane % per) as u8)
            }
        }
    }

    /// Vectors of 32 scalars, `I32` or `I64` all.
    pub fn from_scalars(builder: &mut FunctionBuilder, scalars: &[Value; LANES]) -> Self {
        let wide = builder.func.dfg.value_type(scalars[0]) == I64;
        let (ty, per) = vector(wide);
        let gather = |lanes: &[Value]| {
            let first = builder.ins().scalar_to_vector(ty, lanes[0]);
            (1..per).fold(first, |vector, lane| builder.ins().insertlane(vector, lanes[lane], lane as u8))
        };
        Lanes::Vector(scalars.chunks(per).map(gather).collect())
    }

    /// From a `[u32; 32]`, or a `[u64; 32]` for `wide` ones.
    pub fn load(builder: &mut FunctionBuilder, wide: bool, pointer: Value, offset: i32) -> Self {
        let (ty, per) = vector(wide);
        let at = |index: usize| Offset32::new(offset + 16 * index as i32);
        let load = |index| builder.ins().load(ty, frame_access(), pointer, at(index));
        Lanes::Vector((0..LANES / per).map(load).collect())
    }

    /// To a `[u32; 32]`, or a `[u64; 32]` if they are wide.
    pub fn store(&self, builder: &mut FunctionBuilder, pointer: Value, offset: i32) {
        for (index, &value) in self.vectors(builder).iter().enumerate() {
            builder.ins().store(frame_access(), value, pointer, Offset32::new(offset + 16 * index as i32));
        }
    }

    /// `yes` where the mask is set and `no` elsewhere; both of one width.
    pub fn select(builder: &mut FunctionBuilder, mask: &Predicate, yes: &Lanes, no: &Lanes) -> Self {
        if let (Predicate::Uniform(mask), Lanes::Uniform(yes), Lanes::Uniform(no)) = (mask, yes, no) {
            return Lanes::Uniform(builder.ins().select(*mask, *yes, *no));
        }
        let (wide, yes, no) = (yes.wide(builder), yes.vectors(builder), no.vectors(builder));
        if let Predicate::Uniform(mask) = mask {
            let choose = |(&yes, &no)| if yes == no { yes } else { builder.ins().select(*mask, yes, no) };
            return Lanes::Vector(yes.iter().zip(&no).map(choose).collect());
        }
        let mask = mask.each(builder);
        let masks: Vec<Value> = if wide {
            mask.iter().flat_map(|&mask| widen_mask(builder, mask)).collect()
        } else {
            mask.to_vec()
        };
        let blend = |(mask, (&yes, &no))| if yes == no { yes } else { builder.ins().blendv(mask, yes, no) };
        Lanes::Vector(masks.into_iter().zip(yes.iter().zip(&no)).map(blend).collect())
    }

    /// What a register that is wider than `ty` holds after a value of `ty` has been
    /// written to it: the value is extended by the type's sign.
    pub fn extend(self, builder: &mut FunctionBuilder, ty: Scalar, register: Scalar) -> Self {
        if register.bits() <= ty.bits() {
            return self;
        }
        let narrow = ty.bits() < 32 && ty.is_signed();
        let value = if narrow {
            let shift = builder.ins().iconst(I32, i64::from(32 - ty.bits()));
            self.map(|value| {
                let high = builder.ins().ishl(value, shift);
                builder.ins().sshr(high, shift)
            })
        } else {
            self
        };
        match (register.is_wide(), register.bits()) {
            (true, _) => value.widen(builder, ty.is_signed()),
            (false, 16) if narrow => {
                let mask = Lanes::constant(builder, false, 0xffff);
                match value {
                    Lanes::Uniform(value) => {
                        let mask = mask.lane(builder, 0);
                        Lanes::Uniform(builder.ins().band(value, mask))
                    }
                    vector => {
                        let mask = mask.vectors(builder)[0];
                        vector.map(|value| builder.ins().band(value, mask))
                    }
                }
            }
            _ => value,
        }
    }

    /// 64 bits per lane from 32.
    pub fn widen(&self, builder: &mut FunctionBuilder, signed: bool) -> Self {
        match self {
            Lanes::Uniform(value) if signed => Lanes::Uniform(builder.ins().sextend(I64, *value)),
            Lanes::Uniform(value) => Lanes::Uniform(builder.ins().uextend(I64, *value)),
            Lanes::Vector(values) => {
                let widen = |&value| match signed {
                    true => [builder.ins().swiden_low(value), builder.ins().swiden_high(value)],
                    false => [builder.ins().uwiden_low(value), builder.ins().uwiden_high(value)],
                };
                Lanes::Vector(values.iter().flat_map(widen).collect())
            }
        }
    }

    /// The low 32 of 64 bits per lane.
    pub fn truncate(&self, builder: &mut FunctionBuilder) -> Self {
        match self {
            Lanes::Uniform(value) => Lanes::Uniform(builder.ins().ireduce(I32, *value)),
            Lanes::Vector(values) => {
                let narrow = |pair: &[Value]| low_halves(builder, pair[0], pair[1]);
                Lanes::Vector(values.chunks(2).map(narrow).collect())
            }
        }
    }

    fn map(self, mut convert: impl FnMut(Value) -> Value) -> Self {
        match self {
            Lanes::Uniform(value) => Lanes::Uniform(convert(value)),
            Lanes::Vector(values) => Lanes::Vector(values.into_iter().map(convert).collect()),
        }
    }
}

impl Predicate {
    pub fn constant(builder: &mut FunctionBuilder, holds: bool) -> Self {
        Predicate::Uniform(builder.ins().iconst(I32, i64::from(holds)))
    }

    /// A bit per lane, an `I32`.
    pub fn bits(&self, builder: &mut FunctionBuilder) -> Value {
        match self {
            Predicate::Bits(bits) => *bits,
            Predicate::Uniform(value) => match constant_of(builder, *value) {
                Some(bits) => builder.ins().iconst(I32, if bits == 0 { 0 } else { 0xffff_ffff }),
                None => builder.ins().ineg(*value),
            },
            Predicate::Each(masks) => {
                let words: Vec<Value> =
                    masks.chunks(2).map(|pair| builder.ins().snarrow(pair[0], pair[1])).collect();
                let half = |pair: &[Value]| {
                    let bytes = builder.ins().snarrow(pair[0], pair[1]);
                    builder.ins().vhigh_bits(I32, bytes)
                };
                let halves: Vec<Value> = words.chunks(2).map(half).collect();
                let sixteen = builder.ins().iconst(I32, 16);
                let high = builder.ins().ishl(halves[1], sixteen);
                builder.ins().bor(halves[0], high)
            }
        }
    }

    /// A mask of all bits in each lane, as selections take it.
    pub fn each(&self, builder: &mut FunctionBuilder) -> Box<[Value; QUADS]> {
        match self {
            Predicate::Each(masks) => masks.clone(),
            Predicate::Uniform(_) => {
                let bits = self.bits(builder);
                let mask = match constant_of(builder, bits) {
                    Some(bits) => constant(builder, I32X4, bits),
                    None => builder.ins().splat(I32X4, bits),
                };
                Box::new([mask; QUADS])
            }
            Predicate::Bits(bits) => {
                let all = builder.ins().splat(I32X4, *bits);
                Box::new(std::array::from_fn(|quad| {
                    let bytes: Vec<u8> =
                        (0..4).flat_map(|lane| (1u32 << (4 * quad + lane)).to_le_bytes()).collect();
                    let lane_bits = vector_constant(builder, I32X4, &bytes);
                    let own = builder.ins().band(all, lane_bits);
                    builder.ins().icmp(cranelift_codegen::ir::condcodes::IntCC::Equal, own, lane_bits)
                }))
            }
        }
    }

    /// An `I32`, 0 or 1, for a predicate that is the same in all lanes: lane 0's.
    pub fn uniform(&self, builder: &mut FunctionBuilder) -> Value {
        let one = builder.ins().iconst(I32, 1);
        match self {
            Predicate::Uniform(value) => *value,
            Predicate::Bits(bits) => builder.ins().band(*bits, one),
            Predicate::Each(masks) => {
                let first = builder.ins().extractlane(masks[0], 0);
                builder.ins().band(first, one)
            }
        }
    }

    pub fn not(&self, builder: &mut FunctionBuilder) -> Self {
        match self {
            Predicate::Uniform(value) => {
                let one = builder.ins().iconst(I32, 1);
                Predicate::Uniform(builder.ins().bxor(*value, one))
            }
            Predicate::Bits(bits) => Predicate::Bits(builder.ins().bnot(*bits)),
            Predicate::Each(masks) => Predicate::Each(Box::new(masks.map(|mask| builder.ins().bnot(mask)))),
        }
    }

    pub fn and(&self, builder: &mut FunctionBuilder, other: &Predicate) -> Self {
        self.combine(builder, other, |builder, a, b| builder.ins().band(a, b))
    }

    pub fn or(&self, builder: &mut FunctionBuilder, other: &Predicate) -> Self {
        self.combine(builder, other, |builder, a, b| builder.ins().bor(a, b))
    }

    pub fn xor(&self, builder: &mut FunctionBuilder, other: &Predicate) -> Self {
        self.combine(builder, other, |builder, a, b| builder.ins().bxor(a, b))
    }

    /// By a bitwise operation, in the form that costs least to get both into: masks, if
    /// one has them, because those are what is selected by.
    fn combine(
        &self,
        builder: &mut FunctionBuilder,
        other: &Predicate,
        operate: impl Fn(&mut FunctionBuilder, Value, Value) -> Value,
    ) -> Self {
        match (self, other) {
            (Predicate::Uniform(a), Predicate::Uniform(b)) => Predicate::Uniform(operate(builder, *a, *b)),
            (Predicate::Each(_), _) | (_, Predicate::Each(_)) => {
                let (a, b) = (self.each(builder), other.each(builder));
                Predicate::Each(Box::new(std::array::from_fn(|quad| operate(builder, a[quad], b[quad]))))
            }
            _ => {
                let (a, b) = (self.bits(builder), other.bits(builder));
                Predicate::Bits(operate(builder, a, b))
            }
        }
    }
}

/// The masks of two pairs of 64-bit lanes from that of four lanes.
pub fn widen_mask(builder: &mut FunctionBuilder, mask: Value) -> [Value; 2] {
    [[0, 0, 1, 1], [2, 2, 3, 3]].map(|lanes| {
        let doubled = shuffle_words(builder, mask, mask, lanes);
        cast(builder, I64X2, doubled)
    })
}

/// The low halves of four 64-bit lanes in two vectors.
pub fn low_halves(builder: &mut FunctionBuilder, first: Value, second: Value) -> Value {
    shuffle_words(builder, first, second, [0, 2, 4, 6])
}

/// The high halves of four 64-bit lanes in two vectors.
pub fn high_halves(builder: &mut FunctionBuilder, first: Value, second: Value) -> Value {
    shuffle_words(builder, first, second, [1, 3, 5, 7])
}

/// 32-bit words of two vectors: 0 to 3 are the first's, 4 to 7 the second's.
pub fn shuffle_words(builder: &mut FunctionBuilder, first: Value, second: Value, words: [u8; 4]) -> Value {
    let bytes = words.map(|word| [0, 1, 2, 3].map(|byte| word * 4 + byte));
    let shuffled = shuffle_bytes(builder, first, second, bytes.as_flattened());
    cast(builder, I32X4, shuffled)
}

/// Bytes of two vectors: 0 to 15 are the first's, 16 to 31 the second's. An `I8X16`.
pub fn shuffle_bytes(builder: &mut FunctionBuilder, first: Value, second: Value, bytes: &[u8]) -> Value {
    let (first, second) = (cast(builder, I8X16, first), cast(builder, I8X16, second));
    let pattern = builder.func.dfg.immediates.push(bytes.into());
    builder.ins().shuffle(first, second, pattern)
}

/// The float type with the shape of an integer type.
#[must_use]
pub fn float_of(ty: Clif) -> Clif {
    match ty {
        I32X4 => F32X4,
        I64X2 => F64X2,
        I64 => cranelift_codegen::ir::types::F64,
        _ => cranelift_codegen::ir::types::F32,
    }
}

/// The type of what a comparison of values of a type gives.
#[must_use]
pub fn truth_of(ty: Clif) -> Clif {
    if ty.is_vector() { ty.as_truthy() } else { I8 }
}
