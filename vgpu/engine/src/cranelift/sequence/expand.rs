//! A sequence for all lanes.
//!
//! What is the same in all lanes is computed once, as scalars. Logic of predicates is done on the
//! form that they have. The rest is done for four lanes after the other, so that few registers are
//! in use at a time.

use cranelift_codegen::ir::types::{F32X4, F64X2, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use gangway_simt::{Definition, Element, Op, Sequence};
use rustc_hash::FxHashMap;

use super::emit::{Emit, Quad};
use super::{Input, Output, divide, scalar, vector};
use crate::cranelift::value::{self, Lanes, Predicate, QUADS};

/// What a value of the sequence is.
#[derive(Clone, Debug)]
enum Held {
    /// No result depends on it.
    Unused,
    /// A constant, made where it is used: as a scalar or as a vector.
    Constant(u64),
    /// The same in all lanes. A mask is an integer, 0 or 1.
    One(Value),
    /// Registers of four or two lanes each.
    Lanes(Box<[Value]>),
    Predicate(Predicate),
    /// It is made four lanes after the other.
    ByQuads,
}

/// Makes code of a sequence, whose parameters are `inputs`; its results, which are integers or masks.
pub fn expand(builder: &mut FunctionBuilder, sequence: &Sequence, inputs: &[Input]) -> Vec<Output> {
    let mut expansion = Expansion {
        e: Emit::new(builder),
        sequence,
        held: Vec::with_capacity(sequence.definitions.len()),
        everywhere: FxHashMap::default(),
        masks: FxHashMap::default(),
        reciprocals: FxHashMap::default(),
    };
    expansion.begin(inputs);
    expansion.quads()
}

struct Expansion<'a, 'b, 'c> {
    e: Emit<'b, 'c>,
    sequence: &'a Sequence,
    held: Vec<Held>,
    /// Scalars in all lanes of vectors.
    everywhere: FxHashMap<u32, Quad>,
    /// Predicates as masks of lanes.
    masks: FxHashMap<u32, Box<[Value; QUADS]>>,
    /// Of divisors that all lanes share.
    reciprocals: FxHashMap<(u32, bool), Value>,
}

impl Expansion<'_, '_, '_> {
    /// All that need not be done four lanes after the other.
    fn begin(&mut self, inputs: &[Input]) {
        let sequence = self.sequence;
        let needed = sequence.needed();
        for (value, definition) in sequence.values() {
            let held = match definition.op {
                _ if !needed[value.index()] => Held::Unused,
                Op::Parameter(number) => match &inputs[number as usize] {
                    Input::Lanes(Lanes::Uniform(one)) => Held::One(*one),
                    Input::Lanes(Lanes::Vector(parts)) => Held::Lanes(parts.clone()),
                    Input::Predicate(Predicate::Uniform(one)) => Held::One(*one),
                    Input::Predicate(predicate) => Held::Predicate(predicate.clone()),
                },
                Op::Constant(bits) => Held::Constant(bits),
                op if definition.ty.is_one() => {
                    let operands: Vec<Value> = definition.operands().iter().map(|&of| self.one(of)).collect();
                    let element = sequence.element(definition.operands[0]);
                    Held::One(scalar::emit(&mut self.e, op, element, &operands))
                }
                _ => self.logic(definition).map_or(Held::ByQuads, Held::Predicate),
            };
            self.held.push(held);
        }
    }

    /// Logic of masks none of which is made four lanes after the other.
    fn logic(&mut self, definition: &Definition) -> Option<Predicate> {
        if definition.ty.element != Element::Mask {
            return None;
        }
        let first = self.predicate(definition.operands[0]);
        match definition.op {
            Op::Not => Some(first?.not(self.e.builder)),
            Op::And | Op::Or | Op::Xor => {
                let (first, second) = (first?, self.predicate(definition.operands[1])?);
                Some(match definition.op {
                    Op::And => first.and(self.e.builder, &second),
                    Op::Or => first.or(self.e.builder, &second),
                    _ => first.xor(self.e.builder, &second),
                })
            }
            _ => None,
        }
    }

    fn predicate(&mut self, value: gangway_simt::Value) -> Option<Predicate> {
        if self.sequence.element(value) != Element::Mask {
            return None;
        }
        match &self.held[value.index()] {
            Held::Predicate(predicate) => Some(predicate.clone()),
            Held::One(_) | Held::Constant(_) => {
                let one = self.one(value);
                Some(Predicate::Uniform(self.e.truth(one)))
            }
            Held::Unused | Held::Lanes(_) | Held::ByQuads => None,
        }
    }

    /// A value that is the same in all lanes, as a scalar.
    fn one(&mut self, value: gangway_simt::Value) -> Value {
        match self.held[value.index()] {
            Held::One(one) => one,
            Held::Constant(bits) => {
                let element = self.sequence.element(value);
                let integer = self.e.constant(if element.bits() == 64 { I64 } else { I32 }, bits);
                if element.is_float() { self.e.exact_float(integer) } else { integer }
            }
            _ => unreachable!("{value:?} is not the same in all lanes"),
        }
    }

    /// The same, in all lanes of vectors.
    fn everywhere(&mut self, value: gangway_simt::Value) -> Quad {
        if let Some(&quad) = self.everywhere.get(&value.0) {
            return quad;
        }
        let element = self.sequence.element(value);
        let vector = match self.held[value.index()] {
            Held::Constant(bits) => match element {
                Element::Mask => self.e.constant(I32X4, bits.wrapping_neg() & 0xffff_ffff),
                Element::I32 | Element::F32 => self.e.constant(I32X4, bits),
                Element::I64 | Element::F64 => self.e.constant(I64X2, bits),
            },
            _ => {
                let one = self.one(value);
                let ins = self.e.builder.ins();
                match element {
                    Element::Mask => {
                        let word = ins.bmask(I32, one);
                        self.e.builder.ins().splat(I32X4, word)
                    }
                    Element::I32 => ins.splat(I32X4, one),
                    Element::I64 => ins.splat(I64X2, one),
                    Element::F32 => ins.splat(F32X4, one),
                    Element::F64 => ins.splat(F64X2, one),
                }
            }
        };
        let vector = if element.is_float() { self.e.exact_float(vector) } else { vector };
        let quad = if element.bits() == 64 { Quad::Two(vector, vector) } else { Quad::One(vector) };
        self.everywhere.insert(value.0, quad);
        quad
    }

    /// What is done four lanes after the other, and the results.
    fn quads(&mut self) -> Vec<Output> {
        let sequence = self.sequence;
        let by_quads: Vec<u32> = (0..self.held.len() as u32)
            .filter(|&value| matches!(self.held[value as usize], Held::ByQuads))
            .collect();
        let mut parts: Vec<Vec<Value>> = vec![Vec::new(); sequence.results.len()];
        let mut made: Vec<Option<Quad>> = vec![None; self.held.len()];
        for quad in 0..QUADS {
            for &value in &by_quads {
                made[value as usize] = Some(self.define(quad, &made, &sequence.definitions[value as usize]));
            }
            for (parts, result) in parts.iter_mut().zip(&sequence.results) {
                match made[result.index()] {
                    Some(Quad::Two(first, second)) if sequence.element(*result) == Element::Mask => {
                        parts.push(value::low_halves(self.e.builder, first, second));
                    }
                    Some(Quad::Two(first, second)) => parts.extend([first, second]),
                    Some(Quad::One(value)) => parts.push(value),
                    None => {}
                }
            }
        }
        let results = sequence.results.iter().zip(parts);
        results.map(|(&result, parts)| self.output(result, parts)).collect()
    }

    fn output(&mut self, result: gangway_simt::Value, parts: Vec<Value>) -> Output {
        let is_mask = self.sequence.element(result) == Element::Mask;
        match &self.held[result.index()] {
            Held::Predicate(predicate) => Output::Predicate(predicate.clone()),
            Held::Lanes(parts) => Output::Lanes(Lanes::Vector(parts.clone())),
            Held::One(_) | Held::Constant(_) => {
                let one = self.one(result);
                if is_mask {
                    return Output::Predicate(Predicate::Uniform(self.e.truth(one)));
                }
                Output::Lanes(Lanes::Uniform(one))
            }
            Held::ByQuads if is_mask => {
                let parts = parts.try_into().expect("a mask for each four lanes");
                Output::Predicate(Predicate::Each(Box::new(parts)))
            }
            Held::ByQuads => Output::Lanes(Lanes::Vector(parts.into())),
            Held::Unused => unreachable!("results are used"),
        }
    }

    /// An operand's four lanes.
    fn operand(&mut self, quad: usize, made: &[Option<Quad>], value: gangway_simt::Value) -> Quad {
        match &self.held[value.index()] {
            Held::ByQuads => made[value.index()].expect("operands come first"),
            Held::Lanes(parts) if parts.len() == QUADS => Quad::One(parts[quad]),
            Held::Lanes(parts) => Quad::Two(parts[2 * quad], parts[2 * quad + 1]),
            Held::Predicate(predicate) => {
                let each = self.masks.entry(value.0).or_insert_with(|| predicate.each(self.e.builder));
                Quad::One(each[quad])
            }
            Held::One(_) | Held::Constant(_) => self.everywhere(value),
            Held::Unused => unreachable!("operands are used"),
        }
    }

    /// Four lanes of what an operation gives. Some are simpler if an operand is the same in all.
    fn define(&mut self, quad: usize, made: &[Option<Quad>], definition: &Definition) -> Quad {
        let operands = definition.operands();
        let &[first, ref others @ ..] = operands else { unreachable!("constants are not made by lanes") };
        if definition.op == Op::Select && self.sequence.is_one(first) {
            let [yes, no] = [others[0], others[1]].map(|operand| self.operand(quad, made, operand));
            let mask = self.one(first);
            return vector::choose(&mut self.e, mask, yes, no);
        }
        let last = *others.last().unwrap_or(&first);
        if !self.sequence.is_one(last) {
            let quads = operands.iter().map(|&operand| self.operand(quad, made, operand)).collect::<Vec<_>>();
            return vector::emit(&mut self.e, definition.op, &quads);
        }
        let known = self.sequence.constant(last);
        match definition.op {
            Op::ShiftLeft | Op::ShiftRightUnsigned | Op::ShiftRightSigned => {
                let value = self.operand(quad, made, first);
                let amount = self.one(last);
                self.e.each([value], |e, [value]| e.shift(definition.op, value, amount, known))
            }
            Op::FunnelLeft | Op::FunnelRight => {
                let words = [first, others[0]].map(|word| self.operand(quad, made, word).first());
                let count = self.one(last);
                vector::funnel(&mut self.e, definition.op == Op::FunnelLeft, words, count)
            }
            Op::Permute if known.is_some() => {
                let words = [first, others[0]].map(|word| self.operand(quad, made, word).first());
                Quad::One(super::bits::permute_known(&mut self.e, words, known.unwrap_or_default()))
            }
            Op::DivSigned | Op::DivUnsigned | Op::RemSigned | Op::RemUnsigned
                if definition.ty.element == Element::I32 =>
            {
                let (a, b) =
                    (self.operand(quad, made, first).first(), self.operand(quad, made, last).first());
                let which = divide::Which::of(definition.op);
                let key = (last.0, which.signed);
                let reciprocal = match self.reciprocals.get(&key) {
                    Some(&reciprocal) => reciprocal,
                    None => {
                        let divisor = self.one(last);
                        let reciprocal = divide::reciprocal(&mut self.e, which, divisor);
                        *self.reciprocals.entry(key).or_insert(reciprocal)
                    }
                };
                Quad::One(divide::by_reciprocal(&mut self.e, which, a, b, reciprocal))
            }
            op => {
                let quads =
                    operands.iter().map(|&operand| self.operand(quad, made, operand)).collect::<Vec<_>>();
                vector::emit(&mut self.e, op, &quads)
            }
        }
    }
}
