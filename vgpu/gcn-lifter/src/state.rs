//! Registers while code is read: what they hold where, and what an instruction reads and writes.

use gangway_gcn::operand::{Special, scalar};
use gangway_gcn::table::{Constant, Slot};
use gangway_gcn::{Instruction, Operand, Row};
use gangway_gcn_interpreter::{GROUP_APERTURE, PRIVATE_APERTURE};
use rustc_hash::FxHashMap;

use crate::demand::Set;
use crate::graph::{self, Lanes};
use crate::node::{FIRST_VECTOR, Function, Op, Type, Value};
use crate::simplify::simplify;

/// Registers have numbers: scalar ones those of encodings, then SCC, vector and accumulation registers.
pub type Variable = u16;

pub const SCC: Variable = 128;
pub const VECTOR: Variable = FIRST_VECTOR;
pub const ACCUMULATOR: Variable = 512;

/// Why an instruction is not lifted.
pub type Result<T = ()> = std::result::Result<T, String>;

pub fn unknown<T>(what: impl Into<String>) -> Result<T> {
    Err(what.into())
}

/// What an instruction of the vector unit computes with.
pub struct Sources {
    pub values: Vec<Value>,
    /// The lane's bit of a mask that is read.
    pub bit: Option<Value>,
}

pub struct State {
    pub f: Function,
    /// What each block has written; block 0 is what comes before the code.
    written: Vec<FxHashMap<Variable, Value>>,
    /// Phis whose arguments are missing.
    open: Vec<(usize, Variable, Value)>,
    pub block: usize,
    /// All lanes are on.
    pub full: bool,
    /// The first lane is on alone.
    pub first: bool,
    /// Where they are not: the lane's bit.
    pub on: Option<Value>,
    /// Of a call: where it goes. Its own register may be written by then.
    pub goes: Option<Value>,
    /// Addresses without code that are jumped to.
    pub nowhere: Vec<u64>,
    /// Which operands are indexed by M0: sources, and in bit 3 the destination.
    pub indexed: u32,
    /// The vector registers of the kernel.
    pub vectors: Variable,
    /// Of an exchange of lanes: the lanes that get something.
    pub only: Option<Value>,
    /// It is a function, which is given registers.
    pub is_function: bool,
    /// Vector registers of which lanes that are off need what they hold behind the instruction.
    pub needed: Set,
}

impl State {
    pub fn new(blocks: &[graph::Block], vectors: usize, is_function: bool) -> Self {
        Self {
            f: Function::new(simplify),
            written: vec![FxHashMap::default(); blocks.len() + 1],
            open: Vec::new(),
            block: 0,
            full: true,
            first: false,
            on: None,
            goes: None,
            nowhere: Vec::new(),
            indexed: 0,
            vectors: vectors as Variable,
            only: None,
            is_function,
            needed: Set::default(),
        }
    }

    pub fn begin(&mut self, block: usize, lanes: Lanes) {
        (self.block, self.full, self.first) = (block, lanes.full(), lanes == Lanes::First);
        self.on = matches!(lanes, Lanes::None(_)).then(|| self.f.bit(false));
        self.f.block = block;
        // Nobody has asked where a call leads to at which there is no code.
        self.goes = None;
        if self.first {
            let (one, none) = (self.f.word(1), self.f.word(0));
            self.set(scalar::EXEC.into(), one);
            self.set(Variable::from(scalar::EXEC) + 1, none);
        }
        if matches!(lanes, Lanes::None(_)) {
            let none = self.f.word(0);
            self.set(scalar::EXEC.into(), none);
            self.set(Variable::from(scalar::EXEC) + 1, none);
        }
        if self.full {
            let all = self.f.word(u32::MAX);
            self.set(scalar::EXEC.into(), all);
            self.set(Variable::from(scalar::EXEC) + 1, all);
        }
    }

    pub fn get(&mut self, variable: Variable) -> Value {
        self.read(self.block, variable)
    }

    pub fn set(&mut self, variable: Variable, value: Value) {
        self.written[self.block].insert(variable, value);
    }

    fn read(&mut self, block: usize, variable: Variable) -> Value {
        // The way up, where blocks have one before them.
        let mut at = block;
        let found = loop {
            if let Some(found) = self.written[at].get(&variable) {
                break self.f.find(*found);
            }
            match self.f.blocks[at].before.as_slice() {
                [] if self.is_function && at == 0 => {
                    let block = std::mem::replace(&mut self.f.block, 0);
                    let ty = if variable == SCC { Type::Bit } else { Type::Word };
                    let entry = self.f.make(Op::Entry(variable), &[], ty);
                    self.f.block = block;
                    self.written[0].insert(variable, entry);
                    break entry;
                }
                // Registers begin with 0.
                [] => break if variable == SCC { self.f.bit(false) } else { self.f.word(0) },
                [one] if *one != at => at = *one,
                _ => {
                    let ty = if variable == SCC { Type::Bit } else { Type::Word };
                    let phi = self.f.phi(at, ty);
                    self.open.push((at, variable, phi));
                    self.written[at].insert(variable, phi);
                    break phi;
                }
            }
        };
        self.written[block].entry(variable).or_insert(found);
        found
    }

    /// The pair of registers that a function was given.
    pub fn given(&mut self, first: u8) -> Value {
        let (low, high) = (self.read(0, first.into()), self.read(0, Variable::from(first) + 1));
        self.f.pack(low, high)
    }

    /// Gives phis their arguments.
    pub fn close(&mut self) {
        while let Some((block, variable, phi)) = self.open.pop() {
            let before = self.f.blocks[block].before.clone();
            let args = before.into_iter().map(|before| self.read(before, variable)).collect();
            self.f.nodes[phi.index()].args = args;
        }
    }

    pub fn pair(&mut self, first: u8) -> Value {
        let low = self.get(first.into());
        let high = self.get(Variable::from(first) + 1);
        self.f.pack(low, high)
    }

    pub fn set_pair(&mut self, first: u8, value: Value) {
        let (low, high) = (self.f.low(value), self.f.high(value));
        self.set_scalar(first, low);
        self.set_scalar(first + 1, high);
    }

    pub fn set_scalar(&mut self, number: u8, value: Value) {
        if number != scalar::NULL && number < 128 {
            self.set(number.into(), value);
        }
    }

    pub fn exec(&mut self) -> Value {
        self.pair(scalar::EXEC)
    }

    pub fn scc(&mut self) -> Value {
        self.get(SCC)
    }

    /// The lane's bit of EXEC.
    pub fn on(&mut self) -> Value {
        if self.full {
            return self.f.bit(true);
        }
        if let Some(on) = self.on {
            return on;
        }
        let exec = self.exec();
        let on = self.f.lane_bit(exec);
        self.on = Some(on);
        on
    }

    /// The lane's bit of a mask, for lanes that are on.
    pub fn bit_of(&mut self, mask: Value) -> Value {
        if self.first {
            let (low, one, zero) = (self.f.low(mask), self.f.word(1), self.f.word(0));
            let bit = self.f.plain("and.b32", &[low, one]);
            return self.f.test("setp.ne.b32", &[bit, zero]);
        }
        let bit = self.f.lane_bit(mask);
        let on = self.on();
        if self.f.op(bit) == Op::Plain("and.pred") {
            for index in 0..2 {
                if self.f.arg(bit, index) == on {
                    return self.f.arg(bit, 1 - index);
                }
            }
        }
        bit
    }

    /// A mask of bits in lanes that are on; the others have 0.
    pub fn mask_of(&mut self, bit: Value) -> Value {
        if self.first && self.f.is_uniform(bit) {
            let (one, none) = (self.f.wide(1), self.f.wide(0));
            return self.f.select(bit, one, none);
        }
        let on = self.on();
        let bit = self.f.and(bit, on);
        self.f.make(Op::Ballot, &[bit], Type::Wide)
    }

    /// Writes a vector register in the lanes that are on.
    pub fn set_lanes(&mut self, variable: Variable, value: Value) {
        if self.only.is_none() && !self.needed.contains(usize::from(variable - VECTOR)) {
            self.set(variable, value);
            return;
        }
        let mut on = self.on();
        if let Some(only) = self.only {
            on = self.f.and(on, only);
        }
        let old = if self.full && self.only.is_none() { value } else { self.get(variable) };
        let value = self.f.select(on, value, old);
        self.set(variable, value);
    }

    /// The first register of a vector operand.
    pub fn vector(operand: &Operand) -> Option<Variable> {
        match *operand {
            Operand::Vector { first, .. } => Some(VECTOR + Variable::from(first)),
            Operand::Accumulator { first, .. } => Some(ACCUMULATOR + Variable::from(first)),
            _ => None,
        }
    }

    pub fn vector_of(operand: Option<&Operand>) -> Result<Variable> {
        match operand.and_then(Self::vector) {
            Some(found) => Ok(found),
            None => unknown("a vector register that is none"),
        }
    }

    /// Writes one or two vector registers.
    pub fn set_vector(&mut self, first: Variable, value: Value) {
        if self.f.ty(value) == Type::Wide {
            let (low, high) = (self.f.low(value), self.f.high(value));
            self.set_lanes(first, low);
            self.set_lanes(first + 1, high);
        } else {
            self.set_lanes(first, value);
        }
    }

    /// What a vector register holds in the lanes that are on; what others have may be anything.
    pub fn get_on(&mut self, variable: Variable) -> Value {
        let value = self.get(variable);
        if self.first {
            return self.first_of(value);
        }
        if self.full || self.f.op(value) != Op::Select {
            return value;
        }
        let on = self.on();
        if self.f.arg(value, 0) == on { self.f.arg(value, 1) } else { value }
    }

    /// What the first lane has, for all.
    pub fn first_of(&mut self, value: Value) -> Value {
        if self.f.ty(value) == Type::Wide {
            let (low, high) = (self.f.low(value), self.f.high(value));
            let (low, high) = (self.first_of(low), self.first_of(high));
            return self.f.pack(low, high);
        }
        let lane = self.f.word(0);
        self.f.make(Op::ReadLane, &[value, lane], Type::Word)
    }

    pub fn pair_on(&mut self, first: Variable) -> Value {
        let (low, high) = (self.get_on(first), self.get_on(first + 1));
        self.f.pack(low, high)
    }

    /// A source, of 32 or 64 bits.
    pub fn source(&mut self, row: &Row, slot: &Slot, operand: &Operand) -> Result<Value> {
        let wide = bits(slot) == 64;
        if let Some(first) = Self::vector(operand) {
            return Ok(if wide { self.pair_on(first) } else { self.get_on(first) });
        }
        let value = match *operand {
            Operand::Scalar { first, words: 1 } => {
                return match (first, wide) {
                    (scalar::NULL, _) => Ok(self.f.word(0)),
                    (_, false) => Ok(self.get(first.into())),
                    (_, true) => unknown("one scalar register for 64 bits"),
                };
            }
            Operand::Scalar { first, .. } => {
                return if wide { Ok(self.pair(first)) } else { Ok(self.get(first.into())) };
            }
            Operand::Special(special) => return self.special(special, wide),
            _ => match operand.constant(row, slot) {
                Some(value) => value,
                None => return unknown("a register in no place"),
            },
        };
        Ok(if wide { self.f.wide(value) } else { self.f.word(value as u32) })
    }

    fn special(&mut self, special: Special, wide: bool) -> Result<Value> {
        let value = match special {
            Special::SharedBase => GROUP_APERTURE,
            Special::SharedLimit => GROUP_APERTURE | 0xffff_ffff,
            Special::PrivateBase => PRIVATE_APERTURE,
            Special::PrivateLimit => PRIVATE_APERTURE | 0xffff_ffff,
            Special::Scc => {
                let (bit, yes, no) = (self.scc(), self.f.word(1), self.f.word(0));
                return Ok(self.f.select(bit, yes, no));
            }
            Special::VccZero | Special::ExecZero | Special::LdsDirect | Special::PopsExitingWave => {
                return unknown(format!("the operand {special:?}"));
            }
        };
        Ok(if wide { self.f.wide(value) } else { self.f.word(value as u32) })
    }

    /// The operand that is written, if it is a scalar one.
    pub fn write_scalar(&mut self, instruction: &Instruction, value: Value) {
        if let Some(Operand::Scalar { first, .. }) = instruction.to().first() {
            match self.f.ty(value) {
                Type::Wide => self.set_pair(*first, value),
                _ => self.set_scalar(*first, value),
            }
        }
    }
}

/// How many bits a place's values have.
pub fn bits(slot: &Slot) -> u32 {
    match *slot {
        Slot::Source(_, Constant::Half | Constant::Short) | Slot::Literal(Constant::Half) => 16,
        Slot::Source(2, _) | Slot::Vector(2) | Slot::ScalarSource(2, _) | Slot::Scalar(2) | Slot::Mask => 64,
        _ => 32,
    }
}
