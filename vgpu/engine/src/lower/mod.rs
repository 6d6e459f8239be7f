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
use gangway_ptx::meaning::{Combine, Compare, Compute, Logic};
use gangway_ptx::{Expected, Type};

pub(crate) use self::compare::integer_code;
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
    #[must_use]
    pub fn suffices(isa: &dyn TargetIsa) -> bool {
        ["has_sse3", "has_ssse3", "has_sse41", "has_sse42"].iter().all(|name| enabled(isa, name))
    }

    #[must_use]
    pub fn of(isa: &dyn TargetIsa) -> Self {
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

/// Computes an instruction whose results depend on nothing but `inputs`, its source operands in
/// order; `expected` is what the opcode says of all operands. `None` where there is no fast path:
/// then nothing that matters has been emitted. All results are uniform if all inputs are.
pub fn pure(
    builder: &mut FunctionBuilder,
    compute: Compute,
    expected: &[Expected],
    inputs: &[Input],
    features: Features,
) -> Option<Outputs> {
    let mut values = |lane: &dyn Fn(&mut Emit, &[Source]) -> Option<Quad>| {
        Some(Outputs::lanes(values(builder, expected, inputs, features, lane)?))
    };
    match compute {
        Compute::Truth(op) => truth(builder, op, inputs),
        Compute::Select(_) => {
            let [Input::Lanes(yes), Input::Lanes(no), Input::Predicate(mask)] = inputs else { return None };
            Some(Outputs::lanes(Lanes::select(builder, mask, yes, no)))
        }
        Compute::SelectBySign { by, ftz, .. } => {
            let [Input::Lanes(yes), Input::Lanes(no), Input::Lanes(_)] = inputs else { return None };
            let first = masks(builder, expected, inputs, features, |e, sources| {
                [compare::selects_first(e, by, ftz, sources[2].quad)]
            });
            Some(Outputs::lanes(Lanes::select(builder, &first[0], yes, no)))
        }
        Compute::SetPredicate(compare) => Some(set_predicates(builder, expected, compare, inputs, features)),
        Compute::Set(compare, to) => set(builder, expected, compare, to, inputs, features),
        Compute::Test { test, ty } => {
            let [holds] = masks(builder, expected, inputs, features, |e, sources| {
                [float::test(e, test, ty, sources[0].quad)]
            });
            Some(Outputs::predicate(holds))
        }
        Compute::Table(how) if inputs.len() > 4 => table(builder, expected, how, inputs, features),
        Compute::Table(_) => values(&bits::table),
        Compute::Logic { op, ty } => values(&|e, sources| bits::logic(e, op, ty, sources)),
        Compute::Bits { op, ty } => values(&|e, sources| bits::compute(e, op, ty, sources)),
        Compute::Integer { op, ty } => values(&|e, sources| integer::compute(e, op, ty, sources)),
        Compute::Packed { op, ty, relu } => values(&|e, sources| integer::packed(e, op, ty, relu, sources)),
        Compute::Dot(dot) => values(&|e, sources| integer::dot(e, dot, sources)),
        Compute::Float { op, ty, mode } => values(&|e, sources| float::compute(e, op, ty, mode, sources)),
        Compute::Half { op, ty, mode } => values(&|e, sources| half::compute(e, op, ty, mode, sources)),
        Compute::Approximate { op, ty, ftz } => {
            values(&|e, sources| approximate::compute(e, op, ty, ftz, sources))
        }
        Compute::Convert(convert) => values(&|e, sources| convert::compute(e, convert, sources)),
        Compute::Video(video) => values(&|e, sources| integer::video(e, video, sources)),
        // The condition code is the warp's.
        Compute::Carry(_) | Compute::VideoMad(_) => None,
    }
}

impl Input {
    fn is_uniform(&self) -> bool {
        matches!(self, Input::Lanes(Lanes::Uniform(_)) | Input::Predicate(Predicate::Uniform(_)))
    }
}

impl Outputs {
    fn lanes(lanes: Lanes) -> Self {
        Outputs { first: Output::Lanes(lanes), second: None }
    }

    fn predicate(predicate: Predicate) -> Self {
        Outputs { first: Output::Predicate(predicate), second: None }
    }
}

fn predicate(inputs: &[Input], index: usize) -> Option<&Predicate> {
    match inputs.get(index)? {
        Input::Predicate(predicate) => Some(predicate),
        Input::Lanes(_) => None,
    }
}

/// Logic of predicates.
fn truth(builder: &mut FunctionBuilder, op: Logic, inputs: &[Input]) -> Option<Outputs> {
    let a = predicate(inputs, 0)?;
    Some(Outputs::predicate(match op {
        Logic::Not => a.not(builder),
        Logic::And => a.and(builder, predicate(inputs, 1)?),
        Logic::Or => a.or(builder, predicate(inputs, 1)?),
        Logic::Xor => a.xor(builder, predicate(inputs, 1)?),
    }))
}

/// `lop3` with a predicate: whether any bit is set, combined with another one.
fn table(
    builder: &mut FunctionBuilder,
    expected: &[Expected],
    how: Option<Combine>,
    inputs: &[Input],
    features: Features,
) -> Option<Outputs> {
    let result = values(builder, expected, &inputs[..4], features, &bits::table)?;
    let [some] = masks(builder, expected, &[Input::Lanes(result.clone())], features, |e, sources| {
        [e.differs_from_zero(sources[0].quad.first())]
    });
    let holds = combine(builder, how, &some, predicate(inputs, 4));
    Some(Outputs { first: Output::Lanes(result), second: Some(Output::Predicate(holds)) })
}

fn set(
    builder: &mut FunctionBuilder,
    expected: &[Expected],
    compare: Compare,
    to: Type,
    inputs: &[Input],
    features: Features,
) -> Option<Outputs> {
    if compare.ty.element() != compare.ty {
        return None;
    }
    let [holds] = masks(builder, expected, inputs, features, |e, sources| {
        [compare::holds(e, compare, compare.ty, sources[0].quad, sources[1].quad)]
    });
    let holds = combine(builder, compare.combine, &holds, predicate(inputs, 2));
    let uniform = inputs.iter().all(Input::is_uniform);
    let mut e = Emit::new(builder, features);
    if uniform {
        let mask = holds.uniform(e.builder);
        return Some(Outputs::lanes(Lanes::Uniform(compare::set_value(&mut e, to, mask))));
    }
    let each = holds.each(e.builder);
    let values = each.iter().map(|&mask| compare::set_value(&mut e, to, mask)).collect();
    Some(Outputs::lanes(Lanes::Vector(values)))
}

fn set_predicates(
    builder: &mut FunctionBuilder,
    expected: &[Expected],
    compare: Compare,
    inputs: &[Input],
    features: Features,
) -> Outputs {
    let each = compare.ty.element();
    let [first, second] = masks(builder, expected, inputs, features, |e, sources| {
        let (a, b) = (sources[0].quad, sources[1].quad);
        let low = compare::holds(e, compare, each, a, b);
        if each == compare.ty {
            return [low, e.mask_not(low)];
        }
        let [a, b] = [a, b].map(|quad| Quad::One(e.shr_by(quad.first(), 16)));
        [low, compare::holds(e, compare, each, a, b)]
    });
    let with = predicate(inputs, 2);
    let first = combine(builder, compare.combine, &first, with);
    let second = combine(builder, compare.combine, &second, with);
    Outputs { first: Output::Predicate(first), second: Some(Output::Predicate(second)) }
}

/// Combines the result of a comparison with a predicate, where there is one.
fn combine(
    builder: &mut FunctionBuilder,
    how: Option<Combine>,
    holds: &Predicate,
    with: Option<&Predicate>,
) -> Predicate {
    match (how, with) {
        (Some(Combine::And), Some(with)) => holds.and(builder, with),
        (Some(Combine::Or), Some(with)) => holds.or(builder, with),
        (Some(Combine::Xor), Some(with)) => holds.xor(builder, with),
        (None, _) | (_, None) => holds.clone(),
    }
}

/// The inputs that are values, cut to the types that the opcode asks for, as quads: one
/// if all are uniform.
fn sources(builder: &mut FunctionBuilder, expected: &[Expected], inputs: &[Input]) -> Vec<Vec<Source>> {
    let types: Vec<Type> = expected
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

/// The result of an instruction whose operands are values; `lane` computes it for a quad.
fn values(
    builder: &mut FunctionBuilder,
    expected: &[Expected],
    inputs: &[Input],
    features: Features,
    lane: &dyn Fn(&mut Emit, &[Source]) -> Option<Quad>,
) -> Option<Lanes> {
    let quads = sources(builder, expected, inputs);
    let mut e = Emit::new(builder, features);
    let results = quads.iter().map(|sources| lane(&mut e, sources)).collect::<Option<Vec<Quad>>>()?;
    if let (1, Quad::One(value)) = (results.len(), results[0]) {
        return Some(Lanes::Uniform(value));
    }
    let parts = |quad: Quad| match quad {
        Quad::One(value) => vec![value],
        Quad::Two(first, second) => vec![first, second],
    };
    Some(Lanes::Vector(results.into_iter().flat_map(parts).collect()))
}

/// Predicates that values decide.
fn masks<const N: usize>(
    builder: &mut FunctionBuilder,
    expected: &[Expected],
    inputs: &[Input],
    features: Features,
    decide: impl Fn(&mut Emit, &[Source]) -> [Value; N],
) -> [Predicate; N] {
    let quads = sources(builder, expected, inputs);
    let mut e = Emit::new(builder, features);
    let masks: Vec<_> = quads.iter().map(|sources| decide(&mut e, sources)).collect();
    std::array::from_fn(|index| match <[_; QUADS]>::try_from(masks.as_slice()) {
        Ok(quads) => Predicate::Each(Box::new(quads.map(|masks| masks[index]))),
        Err(_) => Predicate::Uniform(e.truth(masks[0][index])),
    })
}
