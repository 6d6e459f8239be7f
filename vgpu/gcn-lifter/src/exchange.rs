//! Values of other lanes, and moves between scalar and vector registers.

use gangway_gcn::instruction::{Dpp, Exchange, Form, Local, Vector};
use gangway_gcn::table::{Constant, Slot};
use gangway_gcn::{Instruction, Operand};

use crate::node::{Op, Type, Value};
use crate::state::{Result, State, unknown};

/// Vector instructions that move values; whether it is one.
pub fn lift(s: &mut State, instruction: &Instruction, form: &Vector) -> Result<bool> {
    let row = instruction.row;
    s.only = None;
    let word = Slot::ScalarSource(1, Constant::Word);
    match row.name {
        "v_nop" | "v_clrexcp" => {}
        "v_readfirstlane_b32" => {
            let value = match form.from.first().and_then(State::vector) {
                Some(first) => s.get_on(first),
                None => return unknown("LDS as an operand"),
            };
            let lane = first_lane(s);
            let value = s.f.make(Op::ReadLane, &[value, lane], Type::Word);
            s.write_scalar(instruction, value);
        }
        "v_readlane_b32" => {
            let value = match form.from.first().and_then(State::vector) {
                Some(first) => s.get(first),
                None => return unknown("LDS as an operand"),
            };
            let lane = number(s, instruction, form, &word)?;
            let value = s.f.make(Op::ReadLane, &[value, lane], Type::Word);
            s.write_scalar(instruction, value);
        }
        "v_writelane_b32" => {
            let value = match form.from.first() {
                Some(operand) => s.source(row, &word, operand)?,
                None => return unknown(row.name),
            };
            let lane = number(s, instruction, form, &word)?;
            let to = State::vector_of(form.to.first())?;
            let (old, this) = (s.get(to), s.f.make(Op::Lane, &[], Type::Word));
            let is = s.f.test("setp.eq.b32", &[this, lane]);
            let value = s.f.select(is, value, old);
            s.set(to, value);
        }
        "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => {
            let value = match form.from.first() {
                Some(operand) => s.source(row, &row.from[0], operand)?,
                None => return unknown(row.name),
            };
            let to = State::vector_of(form.to.first())?;
            s.set_vector(to, value);
        }
        "v_swap_b32" => {
            let (one, other) = (State::vector_of(form.to.first())?, State::vector_of(form.from.first())?);
            let (a, b) = (s.get_on(one), s.get_on(other));
            s.set_lanes(one, b);
            s.set_lanes(other, a);
        }
        "v_mbcnt_lo_u32_b32" | "v_mbcnt_hi_u32_b32" => {
            let high = row.name == "v_mbcnt_hi_u32_b32";
            let mask = s.source(row, &row.from[0], &form.from[0])?;
            let sum = s.source(row, &row.wide_source(1), &form.from[1])?;
            let count = if s.f.as_constant(mask) == Some(0xffff_ffff) {
                s.f.make(Op::Below(high), &[], Type::Word)
            } else {
                let below = s.f.make(Op::MaskBelow(high), &[], Type::Word);
                let bits = s.f.plain("and.b32", &[mask, below]);
                s.f.plain("popc.b32", &[bits])
            };
            let value = s.f.plain("add.u32", &[count, sum]);
            let to = State::vector_of(form.to.first())?;
            s.set_lanes(to, value);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The lane that an instruction names.
fn number(s: &mut State, instruction: &Instruction, form: &Vector, word: &Slot) -> Result<Value> {
    let Some(operand) = form.from.get(1) else { return unknown(instruction.row.name) };
    let lane = s.source(instruction.row, word, operand)?;
    let most = s.f.word(63);
    Ok(s.f.plain("and.b32", &[lane, most]))
}

/// The lowest lane that is on, or 0.
fn first_lane(s: &mut State) -> Value {
    if s.full || s.first {
        return s.f.word(0);
    }
    let (exec, most) = (s.exec(), s.f.word(63));
    let turned = s.f.plain_wide("brev.b64", &[exec]);
    let count = s.f.plain("clz.b64", &[turned]);
    s.f.plain("and.b32", &[count, most])
}

/// Whether a lane is on.
fn is_on(s: &mut State, lane: Value) -> Value {
    if s.full {
        return s.f.bit(true);
    }
    let (exec, one, zero) = (s.exec(), s.f.word(1), s.f.word(0));
    let shifted = s.f.plain_wide("shr.u64", &[exec, lane]);
    let low = s.f.low(shifted);
    let bit = s.f.plain("and.b32", &[low, one]);
    s.f.test("setp.ne.b32", &[bit, zero])
}

/// A value of the lane with a number, or 0 where that one is off.
pub fn gather(s: &mut State, value: Value, lane: Value) -> Value {
    let zero = s.f.word(0);
    let found = s.f.make(Op::Gather, &[value, lane], Type::Word);
    let on = is_on(s, lane);
    s.f.select(on, found, zero)
}

/// The first source of an instruction with an exchange. Which lanes are written then is noted in the state.
pub fn dpp(s: &mut State, operand: &Operand, dpp: &Dpp) -> Result<Value> {
    let (first, words) = match (State::vector(operand), operand) {
        (Some(first), Operand::Vector { words, .. }) => (first, *words),
        _ => return unknown("an exchange of this operand"),
    };
    let (lane, inside) = place(s, dpp.exchange);
    let on = is_on(s, lane);
    let valid = s.f.and(inside, on);
    let zero = s.f.word(0);
    let get = |s: &mut State, variable| {
        let value = s.get(variable);
        let found = s.f.make(Op::Gather, &[value, lane], Type::Word);
        s.f.select(valid, found, zero)
    };
    let low = get(s, first);
    let value = if words > 1 {
        let high = get(s, first + 1);
        s.f.pack(low, high)
    } else {
        low
    };
    let mut only = if dpp.bound { s.f.bit(true) } else { valid };
    if dpp.rows != 15 || dpp.banks != 15 {
        let enabled =
            (0..64u64).filter(|lane| dpp.rows >> (lane / 16) & dpp.banks >> (lane % 16 / 4) & 1 != 0);
        let mask = enabled.fold(0, |mask, lane| mask | 1 << lane);
        let mask = s.f.wide(mask);
        let enabled = s.f.lane_bit(mask);
        only = s.f.and(only, enabled);
    }
    if s.f.as_constant(only) != Some(1) {
        s.only = Some(only);
    }
    Ok(value)
}

/// The lane that a lane reads from, and whether there is one (Vega ISA, 6.2.4).
fn place(s: &mut State, exchange: Exchange) -> (Value, Value) {
    let lane = s.f.make(Op::Lane, &[], Type::Word);
    let always = s.f.bit(true);
    let constant = |s: &mut State, name, value: u32| {
        let value = s.f.word(value);
        s.f.plain(name, &[lane, value])
    };
    match exchange {
        Exchange::Quad(lanes) => (quad(s, lane, lanes), always),
        Exchange::RowShiftLeft(by) => {
            let (in_row, from) = (constant(s, "and.b32", 15), constant(s, "add.u32", by.into()));
            let end = s.f.word(16 - u32::from(by));
            (from, s.f.test("setp.lt.u32", &[in_row, end]))
        }
        Exchange::RowShiftRight(by) => {
            let (in_row, from) = (constant(s, "and.b32", 15), constant(s, "sub.u32", by.into()));
            let begin = s.f.word(by.into());
            (from, s.f.test("setp.ge.u32", &[in_row, begin]))
        }
        Exchange::RowRotateRight(by) => {
            let (row, moved) = (constant(s, "and.b32", !15), constant(s, "add.u32", 16 - u32::from(by)));
            let most = s.f.word(15);
            let moved = s.f.plain("and.b32", &[moved, most]);
            (s.f.plain("or.b32", &[row, moved]), always)
        }
        Exchange::WaveShiftLeft | Exchange::WaveRotateLeft => {
            let (from, end) = (constant(s, "add.u32", 1), s.f.word(64));
            let inside = s.f.test("setp.lt.u32", &[from, end]);
            let most = s.f.word(63);
            let from = s.f.plain("and.b32", &[from, most]);
            (from, if exchange == Exchange::WaveRotateLeft { always } else { inside })
        }
        Exchange::WaveShiftRight | Exchange::WaveRotateRight => {
            let (from, zero, most) = (constant(s, "add.u32", 63), s.f.word(0), s.f.word(63));
            let inside = s.f.test("setp.ne.b32", &[lane, zero]);
            let from = s.f.plain("and.b32", &[from, most]);
            (from, if exchange == Exchange::WaveRotateRight { always } else { inside })
        }
        Exchange::RowMirror => (constant(s, "xor.b32", 15), always),
        Exchange::RowHalfMirror => (constant(s, "xor.b32", 7), always),
        Exchange::Broadcast15 => {
            let (row, one, begin) = (constant(s, "and.b32", !15), s.f.word(1), s.f.word(16));
            (s.f.plain("sub.u32", &[row, one]), s.f.test("setp.ge.u32", &[lane, begin]))
        }
        Exchange::Broadcast31 => {
            let begin = s.f.word(32);
            (s.f.word(31), s.f.test("setp.ge.u32", &[lane, begin]))
        }
        Exchange::RowBroadcast(number) => {
            let (row, number) = (constant(s, "and.b32", !15), s.f.word(number.into()));
            (s.f.plain("or.b32", &[row, number]), always)
        }
    }
}

/// Of its four lanes, 2 bits for each.
fn quad(s: &mut State, lane: Value, lanes: u8) -> Value {
    let (three, rest, one, pattern) = (s.f.word(3), s.f.word(!3), s.f.word(1), s.f.word(lanes.into()));
    let in_quad = s.f.plain("and.b32", &[lane, three]);
    let by = s.f.plain("shl.b32", &[in_quad, one]);
    let from = s.f.plain("shr.u32", &[pattern, by]);
    let from = s.f.plain("and.b32", &[from, three]);
    let first = s.f.plain("and.b32", &[lane, rest]);
    s.f.plain("or.b32", &[first, from])
}

/// Exchanges that LDS instructions make; whether it is one.
pub fn local(s: &mut State, instruction: &Instruction) -> Result<bool> {
    let Form::Local(Local { to, from, offset, .. }) = &instruction.form else { return Ok(false) };
    match instruction.row.name {
        "ds_bpermute_b32" => {
            let address = s.get_on(State::vector_of(from.first())?);
            let value = s.get(State::vector_of(from.get(1))?);
            let (offset, two, most) = (s.f.word((*offset).into()), s.f.word(2), s.f.word(63));
            let address = s.f.plain("add.u32", &[address, offset]);
            let lane = s.f.plain("shr.u32", &[address, two]);
            let lane = s.f.plain("and.b32", &[lane, most]);
            let found = gather(s, value, lane);
            s.set_lanes(State::vector_of(to.first())?, found);
        }
        "ds_swizzle_b32" => {
            let lane = s.f.make(Op::Lane, &[], Type::Word);
            let value = s.get(State::vector_of(from.first())?);
            let pattern = u32::from(*offset);
            let number = match pattern {
                0xc000.. => return unknown("ds_swizzle_b32 with a rotation"),
                0x8000.. => quad(s, lane, pattern as u8),
                _ => {
                    let (and, or, xor) = (pattern & 31 | 32, pattern >> 5 & 31, pattern >> 10 & 31);
                    let (and, or, xor) = (s.f.word(and), s.f.word(or), s.f.word(xor));
                    let number = s.f.plain("and.b32", &[lane, and]);
                    let number = s.f.plain("or.b32", &[number, or]);
                    s.f.plain("xor.b32", &[number, xor])
                }
            };
            let found = gather(s, value, number);
            s.set_lanes(State::vector_of(to.first())?, found);
        }
        _ => return Ok(false),
    }
    Ok(true)
}
