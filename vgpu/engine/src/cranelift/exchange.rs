//! Votes and shuffles that need no helper.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_interpreter::shuffle_source;
use gangway_simt::{Exchange, Scalar, Shuffle, Source, Vote};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Output;
use crate::cranelift::state::field;
use crate::cranelift::value::{Lanes, Predicate, shuffle_words};

/// Lanes of a vector.
const QUAD: usize = 4;

impl Emitter<'_, '_> {
    /// A vote of the lanes that run.
    pub fn vote(&mut self, exchange: &Exchange, vote: Vote, guard: Option<&Predicate>) {
        let holds = self.predicate(exchange.sources[0].source).bits(&mut self.builder);
        let running = self.running(guard);
        let result = self.ballot(vote, holds, running);
        self.write_vote(exchange.results[0].slot, vote, result, guard);
    }

    /// What comes of a vote of the lanes `running`: their ballot, or 1 or 0.
    pub fn ballot(&mut self, vote: Vote, holds: Value, running: Value) -> Value {
        let ballot = self.builder.ins().band(holds, running);
        let all = |emitter: &mut Self| emitter.builder.ins().icmp(IntCC::Equal, ballot, running);
        let compared = |emitter: &mut Self, to| emitter.builder.ins().icmp_imm_s(to, ballot, 0);
        let truth = match vote {
            Vote::Ballot => return ballot,
            Vote::All => all(self),
            Vote::Any => compared(self, IntCC::NotEqual),
            Vote::Uniform => {
                let (all, none) = (all(self), compared(self, IntCC::Equal));
                self.builder.ins().bor(all, none)
            }
        };
        self.builder.ins().uextend(I32, truth)
    }

    /// Writes what has come of a vote.
    pub fn write_vote(&mut self, to: Option<u32>, vote: Vote, result: Value, guard: Option<&Predicate>) {
        if vote == Vote::Ballot {
            return self.write_lanes(to, Scalar::U32, Lanes::Uniform(result), guard);
        }
        let one = self.builder.ins().iconst(I32, 1);
        let truth = self.builder.ins().band(result, one);
        self.write(to, Scalar::Predicate, Output::Predicate(Predicate::Uniform(truth)), guard);
    }

    /// A shuffle of all lanes by constants, or from one lane; whether it is one of those.
    pub fn shuffle(&mut self, exchange: &Exchange, mode: Shuffle, guard: Option<&Predicate>) -> bool {
        if !self.converged || self.partial.is_some() || guard.is_some() {
            return false;
        }
        let [from, by, bounds] = [0, 1, 2].map(|index: usize| exchange.sources[index].source);
        let [value, pair] = [0, 1].map(|index: usize| exchange.results[index].slot);
        let Some(bounds) = bounds.constant() else { return false };
        let Some(by) = by.constant() else {
            return bounds == 31 && mode == Shuffle::Index && self.broadcast([value, pair], from, by);
        };
        let table: Vec<(usize, bool)> =
            (0..LANES as i32).map(|lane| shuffle_source(mode, lane, by as u32, bounds as u32)).collect();
        let lanes = self.value(from, Scalar::U32);
        let result = match lanes {
            Lanes::Uniform(_) => lanes,
            Lanes::Vector(vectors) => {
                let quads = table.chunks(QUAD).map(|sources| self.quad(&vectors, sources));
                let Some(quads) = quads.collect::<Option<Box<[Value]>>>() else { return false };
                Lanes::Vector(quads)
            }
        };
        self.write_lanes(value, Scalar::U32, result, None);
        let inside =
            table.iter().zip(0..).fold(0u32, |bits, (&(_, inside), lane)| bits | u32::from(inside) << lane);
        let inside = self.builder.ins().iconst(I32, i64::from(inside));
        self.write(pair, Scalar::Predicate, Output::Predicate(Predicate::Bits(inside)), None);
        true
    }

    /// Four lanes that come from at most two vectors.
    fn quad(&mut self, vectors: &[Value], sources: &[(usize, bool)]) -> Option<Value> {
        let first = sources[0].0 / QUAD;
        let second = sources.iter().map(|source| source.0 / QUAD).find(|&vector| vector != first);
        let second = second.unwrap_or(first);
        let mut words = [0u8; QUAD];
        for (word, &(lane, _)) in words.iter_mut().zip(sources) {
            *word = match lane / QUAD {
                vector if vector == first => (lane % QUAD) as u8,
                vector if vector == second => (QUAD + lane % QUAD) as u8,
                _ => return None,
            };
        }
        if words == [0, 1, 2, 3] {
            return Some(vectors[first]);
        }
        Some(shuffle_words(&mut self.builder, vectors[first], vectors[second], words))
    }

    /// From one lane, which all name, to all.
    fn broadcast(&mut self, [value, pair]: [Option<u32>; 2], from: Source, by: Source) -> bool {
        let Lanes::Uniform(lane) = self.value(by, Scalar::U32) else { return false };
        let lanes = self.value(from, Scalar::U32);
        lanes.store(&mut self.builder, self.warp, field!(values));
        let lane = self.builder.ins().band_imm_u(lane, 31);
        let lane = self.builder.ins().uextend(I64, lane);
        let offset = self.builder.ins().ishl_imm_u(lane, 2);
        let at = self.builder.ins().iadd(self.warp, offset);
        let scalar = self.load_at(I32, at, field!(values));
        self.write_lanes(value, Scalar::U32, Lanes::Uniform(scalar), None);
        let inside = self.builder.ins().iconst(I32, 1);
        self.write(pair, Scalar::Predicate, Output::Predicate(Predicate::Uniform(inside)), None);
        true
    }
}
