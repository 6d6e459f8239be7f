//! Vector registers whose numbers are known only when the code runs (Vega ISA, 3.9, "VGPR indexing").

use gangway_gcn::instruction::{Scalar, Shape, Vector};
use gangway_gcn::operand::scalar;
use gangway_gcn::{Instruction, Operand, Row};

use crate::demand::takes_index;
use crate::node::{Op, Type, Value};
use crate::state::{Result, State, VECTOR, Variable, unknown};

/// Registers that one may be chosen among, at most.
const MOST: Variable = 160;
const DESTINATION: u32 = 8;

/// Turns it on or off, or changes the index.
pub fn switch(s: &mut State, row: &Row, form: &Scalar) -> Result {
    let m0 = s.get(scalar::M0.into());
    let (index, operands) = match (row.name, form.from.get(1)) {
        ("s_set_gpr_idx_off", _) => {
            s.indexed = 0;
            return Ok(());
        }
        ("s_set_gpr_idx_idx", _) => (form.from.first(), None),
        ("s_set_gpr_idx_on", Some(Operand::Immediate(operands))) => {
            (form.from.first(), Some(*operands as u32 & 15))
        }
        _ => return unknown(row.name),
    };
    let Some(index) = index else { return unknown(row.name) };
    let index = s.source(row, &row.from[0], index)?;
    let (low, kept) = (s.f.word(0xff), s.f.word(if operands.is_some() { !0xf0ff } else { !0xff }));
    let index = s.f.plain("and.b32", &[index, low]);
    let rest = s.f.plain("and.b32", &[m0, kept]);
    let mut value = s.f.plain("or.b32", &[rest, index]);
    if let Some(operands) = operands {
        let operands_word = s.f.word(operands << 12);
        value = s.f.plain("or.b32", &[value, operands_word]);
        s.indexed = operands;
    }
    s.set_scalar(scalar::M0, value);
    Ok(())
}

/// A vector instruction while indexing is on.
pub fn lift(s: &mut State, instruction: &Instruction, form: &Vector) -> Result {
    let row = instruction.row;
    if !takes_index(instruction) || !matches!(form.shape, Shape::Short) {
        return unknown(format!("{} with an index", row.name));
    }
    let (m0, low) = (s.get(scalar::M0.into()), s.f.word(0xff));
    let index = s.f.plain("and.b32", &[m0, low]);
    let Some(from) = form.from.first() else { return unknown(row.name) };
    let value = match State::vector(from) {
        Some(first) if s.indexed & 1 != 0 => {
            let count = reach(s, first, index)?;
            choose(s, first, count, index, 256)
        }
        _ => s.source(row, &row.from[0], from)?,
    };
    let to = State::vector_of(form.to.first())?;
    if s.indexed & DESTINATION == 0 {
        s.set_lanes(to, value);
        return Ok(());
    }
    let count = reach(s, to, index)?;
    for number in 0..count {
        let (this, old) = (s.f.word(number.into()), s.get_on(to + number));
        let is = s.f.test("setp.eq.b32", &[index, this]);
        let new = s.f.select(is, value, old);
        s.set_lanes(to + number, new);
    }
    Ok(())
}

/// How many registers there are from one on. An index that leads beyond them fails.
fn reach(s: &mut State, first: Variable, index: Value) -> Result<Variable> {
    let count = (VECTOR + s.vectors).saturating_sub(first);
    if count == 0 || count > MOST {
        return unknown("an index into many registers");
    }
    let limit = s.f.word(count.into());
    let beyond = s.f.test("setp.ge.u32", &[index, limit]);
    s.f.make(Op::Beyond, &[beyond], Type::Nothing);
    Ok(count)
}

/// One of some registers: those of which the index has bits below `bit`.
fn choose(s: &mut State, first: Variable, count: Variable, index: Value, bit: Variable) -> Value {
    if bit == 1 {
        return s.get_on(first);
    }
    let half = bit / 2;
    let low = choose(s, first, count, index, half);
    if count <= half {
        return low;
    }
    let high = choose(s, first + half, count - half, index, half);
    let (mask, zero) = (s.f.word(half.into()), s.f.word(0));
    let has = s.f.plain("and.b32", &[index, mask]);
    let is = s.f.test("setp.ne.b32", &[has, zero]);
    s.f.select(is, high, low)
}
