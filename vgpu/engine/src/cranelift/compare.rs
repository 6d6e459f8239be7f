//! Comparisons of values of equal steps with one that is the same in all lanes. The first value
//! of each row decides, without a value for each lane.
//!
//! Where the step is a power of two, arithmetic says which lanes of a row are on which side. Where
//! it is another number, both ends of a row being on one side says it. All else compares lane by
//! lane.

use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use gangway_simt::{Algebra, Compute, Operator};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::{Input, Output, integer_code};
use crate::cranelift::state::{Known, Steps};
use crate::cranelift::steps::beyond;
use crate::cranelift::value::{Lanes, Predicate};

/// What is asked of each lane: whether its value, which steps, is in this order with another.
struct Question {
    steps: Steps,
    other: Value,
    condition: IntCC,
}

fn is_upper(condition: IntCC) -> bool {
    use IntCC::*;
    matches!(
        condition,
        SignedGreaterThan | SignedGreaterThanOrEqual | UnsignedGreaterThan | UnsignedGreaterThanOrEqual
    )
}

/// Which power of two a step up or down is.
fn power(step: i64) -> Option<i64> {
    let size = step.unsigned_abs();
    size.is_power_of_two().then(|| i64::from(size.ilog2()))
}

impl Emitter<'_, '_> {
    /// Compares a value of equal steps with one that is the same in all lanes. Whether that is what
    /// is computed.
    pub fn compare_steps(&mut self, compute: &Compute, guard: Option<&Predicate>) -> bool {
        let Some(question) = self.question(compute) else { return false };
        let (bits, unclear) = self.answer(&question);
        let bits = match unclear {
            None => bits,
            Some(unclear) => self.answer_slowly(compute, bits, unclear),
        };
        let holds = Predicate::Bits(bits);
        let opposite = holds.not(&mut self.builder);
        for (result, value) in compute.results.iter().zip([holds, opposite]) {
            self.write(result.slot, result.ty, Output::Predicate(value), guard);
        }
        true
    }

    fn question(&mut self, compute: &Compute) -> Option<Question> {
        let Some(Algebra { operator: Operator::Compare(order), ty }) = compute.algebra else { return None };
        if !self.converged {
            return None;
        }
        let condition = integer_code(order);
        let [a, b] = [0, 1].map(|index: usize| self.known_source(compute.sources[index].source, ty));
        let (steps, other, condition) = match (self.narrowed(a, ty)?, self.narrowed(b, ty)?) {
            (Known::Steps(steps), Known::Input(Input::Lanes(Lanes::Uniform(other)))) => {
                (steps, other, condition)
            }
            (Known::Input(Input::Lanes(Lanes::Uniform(other))), Known::Steps(steps)) => {
                (steps, other, condition.swap_args())
            }
            _ => return None,
        };
        // A lane between two ends may be equal to what neither is equal to.
        let found = steps.step == 0 || power(steps.step).is_some();
        let decidable = found || !matches!(condition, IntCC::Equal | IntCC::NotEqual);
        decidable.then_some(Question { steps, other, condition })
    }

    /// A bit for each lane, and whether they are not to be relied on, if that can be.
    fn answer(&mut self, question: &Question) -> (Value, Option<Value>) {
        let row = LANES / question.steps.bases.len();
        let mut bits = None;
        let mut unclear = None;
        for (index, &base) in question.steps.bases.iter().enumerate() {
            let (own, own_unclear) = self.answer_row(question, base, row);
            let own = if index == 0 { own } else { self.builder.ins().ishl_imm_u(own, (index * row) as i64) };
            bits = Some(self.or(bits, own));
            if let Some(own) = own_unclear {
                unclear = Some(self.or(unclear, own));
            }
        }
        let Some(bits) = bits else { unreachable!("a warp has a row") };
        (bits, unclear)
    }

    /// The same for the lanes of one row, in the low bits.
    fn answer_row(&mut self, question: &Question, base: Value, row: usize) -> (Value, Option<Value>) {
        let &Question { ref steps, other, condition } = question;
        let step = steps.step;
        let all = self.builder.ins().iconst(I32, (u64::from(u32::MAX) >> (LANES - row)) as i64);
        let none = self.builder.ins().iconst(I32, 0);
        if step == 0 {
            let holds = self.builder.ins().icmp(condition, base, other);
            return (self.builder.ins().select(holds, all, none), None);
        }
        let power = power(step);
        if let (IntCC::Equal | IntCC::NotEqual, Some(power)) = (condition, power) {
            // The one lane that is as many steps away, whatever wraps around on the way.
            let (from, to) = if step > 0 { (base, other) } else { (other, base) };
            let distance = self.builder.ins().isub(to, from);
            let lane = self.builder.ins().rotr_imm_u(distance, power);
            let there = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, lane, row as i64);
            let bit = self.lane_bit(lane, 1);
            let equal = self.builder.ins().select(there, bit, none);
            let bits = match condition {
                IntCC::Equal => equal,
                _ => self.builder.ins().bxor(equal, all),
            };
            return (bits, None);
        }
        let end = self.builder.ins().iadd_imm_s(base, step * (row as i64 - 1));
        let wraps = self.builder.ins().icmp(beyond(condition != condition.unsigned(), step), end, base);
        if let (Some(power), true) = (power, step > 0) {
            // The values go up: those below the other one are the first ones.
            let negate = is_upper(condition);
            let below = if negate { condition.complement() } else { condition };
            let some = self.builder.ins().icmp(below, base, other);
            let distance = self.builder.ins().isub(other, base);
            let distance = match below {
                IntCC::SignedLessThan | IntCC::UnsignedLessThan => {
                    self.builder.ins().iadd_imm_s(distance, -1)
                }
                _ => distance,
            };
            let last = self.builder.ins().ushr_imm_u(distance, power);
            let outside = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, last, row as i64);
            let next = self.lane_bit(last, 2);
            let first_ones = self.builder.ins().iadd_imm_s(next, -1);
            let bits = self.builder.ins().select(outside, all, first_ones);
            let bits = self.builder.ins().select(some, bits, none);
            let bits = if negate { self.builder.ins().bxor(bits, all) } else { bits };
            return (bits, Some(wraps));
        }
        let (low, high) =
            (self.builder.ins().icmp(condition, base, other), self.builder.ins().icmp(condition, end, other));
        let differ = self.builder.ins().bxor(low, high);
        let unclear = self.builder.ins().bor(differ, wraps);
        (self.builder.ins().select(low, all, none), Some(unclear))
    }

    /// `from`, shifted by the number of a lane, as 32 bits.
    fn lane_bit(&mut self, lane: Value, from: i64) -> Value {
        let narrow = self.builder.func.dfg.value_type(lane) == I32;
        let lane = if narrow { lane } else { self.builder.ins().ireduce(I32, lane) };
        let from = self.builder.ins().iconst(I32, from);
        self.builder.ins().ishl(from, lane)
    }

    /// These bits, or those of a comparison lane by lane where they are unclear.
    fn answer_slowly(&mut self, compute: &Compute, bits: Value, unclear: Value) -> Value {
        let (slow, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.append_block_param(done, I32);
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(unclear, slow, &[], done, &[BlockArg::Value(bits)]);
        self.builder.seal_block(slow);
        self.builder.switch_to_block(slow);
        let inputs: Vec<Input> = compute.sources.iter().map(|&read| self.read(read)).collect();
        let outputs = self.pure(compute, &inputs);
        let Some(Output::Predicate(each)) = outputs.map(|outputs| outputs.first) else {
            unreachable!("integers are compared by code of their own");
        };
        let each = each.bits(&mut self.builder);
        self.builder.ins().jump(done, &[BlockArg::Value(each)]);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        self.builder.block_params(done)[0]
    }
}
