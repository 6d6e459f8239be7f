//! The fast paths: instructions that compute results from values alone, as Cranelift
//! code for all 32 lanes.
//!
//! `compile` asks [`pure`] for each such instruction; where there is no fast path it calls
//! the interpreter lane by lane. What is computed here is bit for bit what
//! `gangway-interpreter` computes, but for the approximations, which stay within the
//! errors that the PTX ISA documents. Lanes that do not run may hold anything: nothing here
//! traps, branches, touches memory or needs a relocation.

mod approximate;
mod bits;
mod compare;
mod convert;
mod divide;
mod emit;
mod fields;
mod float;
mod half;
mod integer;
mod nan;

use cranelift_codegen::ir::Value;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilder;
use gangway_ptx::{Op, Opcode, Type, Word};

use self::emit::{Emit, Quad, Source};
pub use self::nan::sink_tests;
use crate::value::{self, Lanes, Predicate, QUADS, is_wide};

/// What the processor has beyond SSE4.2, which everything here takes for granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub fma: bool,
}

impl Features {
    /// Whether code of this module can run at all.
    pub fn suffices(isa: &dyn TargetIsa) -> bool {
        ["has_sse3", "has_ssse3", "has_sse41", "has_sse42"].iter().all(|name| enabled(isa, name))
    }

    pub fn of(isa: &dyn TargetIsa) -> Features {
        // The instructions of FMA are encoded as AVX's.
        Features { fma: enabled(isa, "has_fma") && enabled(isa, "has_avx") }
    }
}

fn enabled(isa: &dyn TargetIsa, name: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true))
}

/// The value of a source operand. Registers may be wider than the type that the
/// instruction asks for; constants are `Uniform`s of `iconst`; a negated predicate is
/// negated by the caller.
#[derive(Clone, Debug)]
pub enum Input {
    Lanes(Lanes),
    Predicate(Predicate),
}

/// The value of a destination operand, of the type that the opcode expects there:
/// [`Lanes::extend`] fits it to a wider register.
#[derive(Clone, Debug)]
pub enum Output {
    Lanes(Lanes),
    Predicate(Predicate),
}

/// The results of an instruction: the second one where there can be a pair, `d|p`,
/// whether or not it is wanted. What is not used is dropped by Cranelift.
#[derive(Clone, Debug)]
pub struct Outputs {
    pub first: Output,
    pub second: Option<Output>,
}

/// Computes an instruction whose results depend on nothing but `inputs`, its source
/// operands in order. `None` where there is no fast path: then nothing that matters has been
/// emitted. All results are uniform if all inputs are.
pub fn pure(
    builder: &mut FunctionBuilder,
    opcode: &Opcode,
    inputs: &[Input],
    features: Features,
) -> Option<Outputs> {
    let uniform = inputs.iter().all(Input::is_uniform);
    let predicate = |index: usize| match inputs.get(index)? {
        Input::Predicate(predicate) => Some(predicate),
        Input::Lanes(_) => None,
    };
    let ty = opcode.ty(0)?;
    match opcode.op {
        Op::And | Op::Or | Op::Xor | Op::Not if ty == Type::Pred => {
            let a = predicate(0)?;
            Some(Outputs::predicate(match opcode.op {
                Op::Not => a.not(builder),
                Op::And => a.and(builder, predicate(1)?),
                Op::Or => a.or(builder, predicate(1)?),
                _ => a.xor(builder, predicate(1)?),
            }))
        }
        Op::Selp => {
            let [Input::Lanes(yes), Input::Lanes(no), Input::Predicate(mask)] = inputs else { return None };
            Some(Outputs::lanes(Lanes::select(builder, mask, yes, no)))
        }
        Op::Slct => {
            let [Input::Lanes(yes), Input::Lanes(no), Input::Lanes(_)] = inputs else { return None };
            let by = opcode.ty(1)?;
            let first = masks(builder, opcode, inputs, features, |e, sources| {
                Some([compare::selects_first(e, opcode, by, sources[2].quad)])
            })?;
            Some(Outputs::lanes(Lanes::select(builder, &first[0], yes, no)))
        }
        Op::Setp => set_predicates(builder, opcode, inputs, features),
        Op::Set => {
            let with = predicate(2);
            let compared = opcode.ty(1)?;
            if half::element(compared) != compared {
                return None;
            }
            let holds = masks(builder, opcode, inputs, features, |e, sources| {
                Some([compare::holds(e, opcode, compared, sources[0].quad, sources[1].quad)?])
            })?;
            let holds = combine(builder, opcode, &holds[0], with);
            let mut e = Emit::new(builder, features);
            if uniform {
                let mask = holds.uniform(e.builder);
                return Some(Outputs::lanes(Lanes::Uniform(compare::set_value(&mut e, ty, mask))));
            }
            let each = holds.each(e.builder);
            let values = each.iter().map(|&mask| compare::set_value(&mut e, ty, mask)).collect();
            Some(Outputs::lanes(Lanes::Vector(values)))
        }
        Op::Testp => {
            let [holds] = masks(builder, opcode, inputs, features, |e, sources| {
                Some([float::test(e, opcode, sources[0].quad)?])
            })?;
            Some(Outputs::predicate(holds))
        }
        Op::Lop3 if opcode.expected.len() > 5 => {
            let result = values(builder, opcode, &inputs[..4], features)?;
            let [some] = masks(builder, opcode, &[Input::Lanes(result.clone())], features, |e, sources| {
                Some([e.differs_from_zero(sources[0].quad.first())])
            })?;
            let holds = combine(builder, opcode, &some, predicate(4));
            Some(Outputs { first: Output::Lanes(result), second: Some(Output::Predicate(holds)) })
        }
        _ => Some(Outputs::lanes(values(builder, opcode, inputs, features)?)),
    }
}

impl Input {
    fn is_uniform(&self) -> bool {
        matches!(self, Input::Lanes(Lanes::Uniform(_)) | Input::Predicate(Predicate::Uniform(_)))
    }
}

impl Outputs {
    fn lanes(lanes: Lanes) -> Outputs {
        Outputs { first: Output::Lanes(lanes), second: None }
    }

    fn predicate(predicate: Predicate) -> Outputs {
        Outputs { first: Output::Predicate(predicate), second: None }
    }
}

fn set_predicates(
    builder: &mut FunctionBuilder,
    opcode: &Opcode,
    inputs: &[Input],
    features: Features,
) -> Option<Outputs> {
    let ty = opcode.ty(0)?;
    let each = half::element(ty);
    let [first, second] = masks(builder, opcode, inputs, features, |e, sources| {
        let (a, b) = (sources[0].quad, sources[1].quad);
        if each == ty {
            let holds = compare::holds(e, opcode, ty, a, b)?;
            return Some([holds, e.mask_not(holds)]);
        }
        let low = compare::holds(e, opcode, each, a, b)?;
        let [a, b] = [a, b].map(|quad| Quad::One(e.shr_by(quad.first(), 16)));
        Some([low, compare::holds(e, opcode, each, a, b)?])
    })?;
    let with = match inputs.get(2) {
        Some(Input::Predicate(with)) => Some(with),
        _ => None,
    };
    let first = combine(builder, opcode, &first, with);
    let second = combine(builder, opcode, &second, with);
    Some(Outputs { first: Output::Predicate(first), second: Some(Output::Predicate(second)) })
}

/// Combines the result of a comparison with a predicate by `.and`, `.or` or `.xor`.
fn combine(
    builder: &mut FunctionBuilder,
    opcode: &Opcode,
    holds: &Predicate,
    with: Option<&Predicate>,
) -> Predicate {
    match (opcode.first_of(&[Word::And, Word::Or, Word::Xor]), with) {
        (Some(Word::And), Some(with)) => holds.and(builder, with),
        (Some(Word::Or), Some(with)) => holds.or(builder, with),
        (Some(Word::Xor), Some(with)) => holds.xor(builder, with),
        _ => holds.clone(),
    }
}

/// The inputs that are values, cut to the types that the opcode asks for, as quads: one
/// if all are uniform.
fn sources(builder: &mut FunctionBuilder, opcode: &Opcode, inputs: &[Input]) -> Vec<Vec<Source>> {
    let types: Vec<Type> = opcode
        .expected
        .iter()
        .filter(|expected| !expected.role.writes())
        .map(|expected| expected.ty.unwrap_or(Type::B64))
        .collect();
    let values: Vec<Lanes> = inputs
        .iter()
        .enumerate()
        .filter_map(|(index, input)| match input {
            Input::Lanes(lanes) => {
                let narrow = types.get(index).is_some_and(|&ty| !is_wide(ty));
                let wider = narrow && lanes.wide(builder);
                Some(if wider { lanes.truncate(builder) } else { lanes.clone() })
            }
            Input::Predicate(_) => None,
        })
        .collect();
    let vectors = values.iter().any(|lanes| matches!(lanes, Lanes::Vector(_)));
    let prepared: Vec<Operand> = values.iter().map(|lanes| operand(builder, lanes, vectors)).collect();
    (0..if vectors { QUADS } else { 1 })
        .map(|quad| prepared.iter().map(|operand| operand.source(quad)).collect())
        .collect()
}

/// A source operand, for all quads.
struct Operand {
    parts: Box<[Value]>,
    uniform: Option<Value>,
    constant: Option<u64>,
}

fn operand(builder: &mut FunctionBuilder, lanes: &Lanes, vectors: bool) -> Operand {
    let uniform = match lanes {
        Lanes::Uniform(value) => Some(*value),
        Lanes::Vector(_) => None,
    };
    let constant = uniform.and_then(|value| value::constant_of(builder, value));
    let parts = match (vectors, uniform) {
        (false, Some(value)) => Box::from([value]),
        _ => lanes.vectors(builder),
    };
    Operand { parts, uniform, constant }
}

impl Operand {
    fn source(&self, quad: usize) -> Source {
        let quad = match self.parts.len() {
            1 => Quad::One(self.parts[0]),
            QUADS => Quad::One(self.parts[quad]),
            _ => Quad::Two(self.parts[2 * quad], self.parts[2 * quad + 1]),
        };
        Source { quad, uniform: self.uniform, constant: self.constant }
    }
}

/// The result of an instruction whose operands are values.
fn values(
    builder: &mut FunctionBuilder,
    opcode: &Opcode,
    inputs: &[Input],
    features: Features,
) -> Option<Lanes> {
    let quads = sources(builder, opcode, inputs);
    let mut e = Emit::new(builder, features);
    let results =
        quads.iter().map(|sources| value_of(&mut e, opcode, sources)).collect::<Option<Vec<Quad>>>()?;
    if let (1, Quad::One(value)) = (results.len(), results[0]) {
        return Some(Lanes::Uniform(value));
    }
    let parts = |quad: Quad| match quad {
        Quad::One(value) => vec![value],
        Quad::Two(first, second) => vec![first, second],
    };
    Some(Lanes::Vector(results.into_iter().flat_map(parts).collect()))
}

fn value_of(e: &mut Emit, opcode: &Opcode, sources: &[Source]) -> Option<Quad> {
    if opcode.op == Op::Cvt {
        return convert::compute(e, opcode, sources);
    }
    float::compute(e, opcode, sources)
        .or_else(|| approximate::compute(e, opcode, sources))
        .or_else(|| half::compute(e, opcode, sources))
        .or_else(|| bits::compute(e, opcode, sources))
        .or_else(|| divide::compute(e, opcode, sources))
        .or_else(|| integer::compute(e, opcode, sources))
}

/// Predicates that values decide.
fn masks<const N: usize>(
    builder: &mut FunctionBuilder,
    opcode: &Opcode,
    inputs: &[Input],
    features: Features,
    decide: impl Fn(&mut Emit, &[Source]) -> Option<[Value; N]>,
) -> Option<[Predicate; N]> {
    let quads = sources(builder, opcode, inputs);
    let mut e = Emit::new(builder, features);
    let masks = quads.iter().map(|sources| decide(&mut e, sources)).collect::<Option<Vec<_>>>()?;
    Some(std::array::from_fn(|index| match <[_; QUADS]>::try_from(masks.as_slice()) {
        Ok(quads) => Predicate::Each(Box::new(quads.map(|masks| masks[index]))),
        Err(_) => Predicate::Uniform(e.truth(masks[0][index])),
    }))
}
