//! Scalar instructions.

use gangway_gcn::instruction::{Form, Scalar, ScalarMemory, ScalarOffset};
use gangway_gcn::operand::scalar as number;
use gangway_gcn::table::row::{READS_DESTINATION, WAITS};
use gangway_gcn::table::{Immediate, Slot};
use gangway_gcn::{Instruction, Operand};

use crate::indexed;
use crate::node::{Access, Op, Space, Type, Value};
use crate::state::{Result, SCC, State, Variable, unknown};

/// An instruction of the scalar unit that does not branch.
pub fn lift(s: &mut State, instruction: &Instruction, pc: u64) -> Result {
    let Form::Scalar(form) = &instruction.form else { return unknown("a form") };
    let row = instruction.row;
    match row.name {
        "s_nop" | "s_wakeup" | "s_setprio" | "s_icache_inv" | "s_incperflevel" | "s_decperflevel"
        | "s_trap" => {
            return Ok(());
        }
        "s_barrier" => {
            s.f.make(Op::Barrier, &[], Type::Nothing);
            return Ok(());
        }
        "s_sleep" => {
            s.f.make(Op::Pause, &[], Type::Nothing);
            return Ok(());
        }
        // Whoever waits for the interrupt looks every millisecond, too.
        "s_sendmsg" if matches!(form.from.first(), Some(Operand::Immediate(message)) if message & 15 == 1) => {
            return Ok(());
        }
        "s_getpc_b64" => {
            let next = s.f.wide(pc + u64::from(instruction.size));
            s.write_scalar(instruction, next);
            return Ok(());
        }
        "s_swappc_b64" => {
            if let Some(Operand::Scalar { first, .. }) = form.from.first() {
                s.goes = Some(s.pair(*first));
            }
            let next = s.f.wide(pc + u64::from(instruction.size));
            s.write_scalar(instruction, next);
            return Ok(());
        }
        _ if row.name.starts_with("s_set_gpr_idx_") => return indexed::switch(s, row, form),
        _ if row.name.starts_with("s_cbranch_cdbg") => return Ok(()),
        _ if row.effects.any(WAITS) => return Ok(()),
        _ => {}
    }
    let sources = sources(s, instruction, form)?;
    if let Some(base) = row.name.strip_suffix("_saveexec_b64").and_then(|name| name.strip_prefix("s_")) {
        return save(s, instruction, base, sources[0]);
    }
    if compare(s, row.name, sources) {
        return Ok(());
    }
    let Some((value, scc)) = compute(s, row.name, sources) else { return unknown(row.name) };
    s.write_scalar(instruction, value);
    if let Some(scc) = scc {
        s.set(SCC, scc);
    }
    Ok(())
}

fn sources(s: &mut State, instruction: &Instruction, form: &Scalar) -> Result<[Value; 2]> {
    let row = instruction.row;
    let none = s.f.word(0);
    let mut found = [none; 2];
    for (index, (slot, operand)) in row.from.iter().zip(form.from.iter()).enumerate().take(2) {
        let mut value = s.source(row, slot, operand)?;
        if matches!(slot, Slot::Immediate(Immediate::Signed))
            && !row.name.ends_with("_u32")
            && let Some(constant) = s.f.as_constant(value)
        {
            value = s.f.word(i32::from((constant as u16).cast_signed()).cast_unsigned());
        }
        found[index] = value;
    }
    if row.effects.any(READS_DESTINATION)
        && let Some(Operand::Scalar { first, words }) = form.to.first()
    {
        found[1] = if *words == 1 { s.get((*first).into()) } else { s.pair(*first) };
    }
    Ok(found)
}

fn save(s: &mut State, instruction: &Instruction, base: &str, source: Value) -> Result {
    let old = s.exec();
    let new = match base {
        "and" => s.f.plain_wide("and.b64", &[source, old]),
        "or" => s.f.plain_wide("or.b64", &[source, old]),
        "xor" => s.f.plain_wide("xor.b64", &[source, old]),
        "andn2" => {
            let not = s.f.plain_wide("not.b64", &[old]);
            s.f.plain_wide("and.b64", &[source, not])
        }
        "orn2" => {
            let not = s.f.plain_wide("not.b64", &[old]);
            s.f.plain_wide("or.b64", &[source, not])
        }
        "andn1" => {
            let not = s.f.plain_wide("not.b64", &[source]);
            s.f.plain_wide("and.b64", &[not, old])
        }
        "orn1" => {
            let not = s.f.plain_wide("not.b64", &[source]);
            s.f.plain_wide("or.b64", &[not, old])
        }
        _ => return unknown(instruction.row.name),
    };
    s.write_scalar(instruction, old);
    s.set_pair(number::EXEC, new);
    let some = not_zero(s, new);
    s.set(SCC, some);
    Ok(())
}

fn not_zero(s: &mut State, value: Value) -> Value {
    match s.f.ty(value) {
        Type::Wide => {
            let zero = s.f.wide(0);
            s.f.test("setp.ne.b64", &[value, zero])
        }
        _ => {
            let zero = s.f.word(0);
            s.f.test("setp.ne.b32", &[value, zero])
        }
    }
}

/// Comparisons, which write SCC alone.
fn compare(s: &mut State, name: &str, [a, b]: [Value; 2]) -> bool {
    let Some(rest) = name.strip_prefix("s_cmp_").or_else(|| name.strip_prefix("s_cmpk_")) else {
        let Some(rest) = name.strip_prefix("s_bitcmp") else { return false };
        let (wide, set) = (rest.ends_with("b64"), rest.starts_with('1'));
        let limit = s.f.word(if wide { 63 } else { 31 });
        let by = s.f.plain("and.b32", &[b, limit]);
        let word = if wide {
            let shifted = s.f.plain_wide("shr.u64", &[a, by]);
            s.f.low(shifted)
        } else {
            s.f.plain("shr.u32", &[a, by])
        };
        let (one, zero) = (s.f.word(1), s.f.word(0));
        let bit = s.f.plain("and.b32", &[word, one]);
        let test = if set { "setp.ne.b32" } else { "setp.eq.b32" };
        let holds = s.f.test(test, &[bit, zero]);
        s.set(SCC, holds);
        return true;
    };
    let test = match rest {
        "eq_i32" | "eq_u32" => "setp.eq.b32",
        "lg_i32" | "lg_u32" => "setp.ne.b32",
        "eq_u64" => "setp.eq.b64",
        "lg_u64" => "setp.ne.b64",
        "gt_i32" => "setp.gt.s32",
        "ge_i32" => "setp.ge.s32",
        "lt_i32" => "setp.lt.s32",
        "le_i32" => "setp.le.s32",
        "gt_u32" => "setp.gt.u32",
        "ge_u32" => "setp.ge.u32",
        "lt_u32" => "setp.lt.u32",
        "le_u32" => "setp.le.u32",
        _ => return false,
    };
    let holds = s.f.test(test, &[a, b]);
    s.set(SCC, holds);
    true
}

type Computed = Option<(Value, Option<Value>)>;

fn compute(s: &mut State, name: &str, sources: [Value; 2]) -> Computed {
    arithmetic(s, name, sources)
        .or_else(|| logic(s, name, sources))
        .or_else(|| shifts(s, name, sources))
        .or_else(|| bits(s, name, sources))
        .or_else(|| moves(s, name, sources))
}

/// Whether a sum or difference of signed words has overflowed.
fn overflow(s: &mut State, a: Value, b: Value, result: Value, sum: bool) -> Value {
    let one = s.f.plain("xor.b32", &[a, result]);
    let other = if sum { s.f.plain("xor.b32", &[b, result]) } else { s.f.plain("xor.b32", &[a, b]) };
    let both = s.f.plain("and.b32", &[one, other]);
    let zero = s.f.word(0);
    s.f.test("setp.lt.s32", &[both, zero])
}

fn arithmetic(s: &mut State, name: &str, [a, b]: [Value; 2]) -> Computed {
    Some(match name {
        "s_add_u32" => {
            let carry = s.f.make(Op::AddCarry, &[a, b], Type::Bit);
            (s.f.plain("add.u32", &[a, b]), Some(carry))
        }
        "s_sub_u32" => {
            let borrow = s.f.make(Op::SubBorrow, &[a, b], Type::Bit);
            (s.f.plain("sub.u32", &[a, b]), Some(borrow))
        }
        "s_addc_u32" => {
            let scc = s.scc();
            (s.f.make(Op::AddWith, &[a, b, scc], Type::Word), Some(carry_of(s, a, b, scc, true)))
        }
        "s_subb_u32" => {
            let scc = s.scc();
            (s.f.make(Op::SubWith, &[a, b, scc], Type::Word), Some(carry_of(s, a, b, scc, false)))
        }
        "s_add_i32" | "s_addk_i32" => {
            let sum = s.f.plain("add.u32", &[a, b]);
            (sum, Some(overflow(s, a, b, sum, true)))
        }
        "s_sub_i32" => {
            let difference = s.f.plain("sub.u32", &[a, b]);
            (difference, Some(overflow(s, a, b, difference, false)))
        }
        "s_min_i32" => (s.f.plain("min.s32", &[a, b]), Some(s.f.test("setp.lt.s32", &[a, b]))),
        "s_min_u32" => (s.f.plain("min.u32", &[a, b]), Some(s.f.test("setp.lt.u32", &[a, b]))),
        "s_max_i32" => (s.f.plain("max.s32", &[a, b]), Some(s.f.test("setp.gt.s32", &[a, b]))),
        "s_max_u32" => (s.f.plain("max.u32", &[a, b]), Some(s.f.test("setp.gt.u32", &[a, b]))),
        "s_mul_i32" | "s_mulk_i32" => (s.f.plain("mul.lo.u32", &[a, b]), None),
        "s_mul_hi_u32" => (s.f.plain("mul.hi.u32", &[a, b]), None),
        "s_mul_hi_i32" => (s.f.plain("mul.hi.s32", &[a, b]), None),
        "s_abs_i32" => with_some(s, "abs.s32", &[a]),
        "s_absdiff_i32" => {
            let difference = s.f.plain("sub.u32", &[a, b]);
            with_some(s, "abs.s32", &[difference])
        }
        _ => {
            let by = name.strip_prefix("s_lshl")?.strip_suffix("_add_u32")?.parse().ok()?;
            let by = s.f.word(by);
            let a = s.f.plain_wide("cvt.u64.u32", &[a]);
            let b = s.f.plain_wide("cvt.u64.u32", &[b]);
            let shifted = s.f.plain_wide("shl.b64", &[a, by]);
            let sum = s.f.plain_wide("add.s64", &[shifted, b]);
            let high = s.f.high(sum);
            (s.f.low(sum), Some(not_zero(s, high)))
        }
    })
}

/// What is carried out of a sum with a carry, or borrowed by a difference.
pub fn carry_of(s: &mut State, a: Value, b: Value, carry: Value, sum: bool) -> Value {
    let (one, zero) = (s.f.wide(1), s.f.wide(0));
    let a = s.f.plain_wide("cvt.u64.u32", &[a]);
    let b = s.f.plain_wide("cvt.u64.u32", &[b]);
    let carry = s.f.select(carry, one, zero);
    let right = s.f.plain_wide("add.s64", &[b, carry]);
    if sum {
        let all = s.f.plain_wide("add.s64", &[a, right]);
        let most = s.f.wide(0xffff_ffff);
        s.f.test("setp.gt.u64", &[all, most])
    } else {
        s.f.test("setp.gt.u64", &[right, a])
    }
}

fn with_some(s: &mut State, name: &'static str, args: &[Value]) -> (Value, Option<Value>) {
    let value = s.f.plain(name, args);
    (value, Some(not_zero(s, value)))
}

fn wide_with_some(s: &mut State, name: &'static str, args: &[Value]) -> (Value, Option<Value>) {
    let value = s.f.plain_wide(name, args);
    (value, Some(not_zero(s, value)))
}

fn logic(s: &mut State, name: &str, [a, b]: [Value; 2]) -> Computed {
    let (base, is_wide) = match name.strip_prefix("s_")?.rsplit_once('_')? {
        (base, "b32") => (base, false),
        (base, "b64") => (base, true),
        _ => return None,
    };
    // The operation, whether the second source is negated, whether the result is.
    let (operation, second, result) = match base {
        "and" => (0, false, false),
        "or" => (1, false, false),
        "xor" => (2, false, false),
        "andn2" => (0, true, false),
        "orn2" => (1, true, false),
        "nand" => (0, false, true),
        "nor" => (1, false, true),
        "xnor" => (2, false, true),
        "not" => (3, false, true),
        _ => return None,
    };
    let names = if is_wide { ["and.b64", "or.b64", "xor.b64"] } else { ["and.b32", "or.b32", "xor.b32"] };
    let not = if is_wide { "not.b64" } else { "not.b32" };
    let ty = if is_wide { Type::Wide } else { Type::Word };
    let b = if second { s.f.make(Op::Plain(not), &[b], ty) } else { b };
    let mut value = match names.get(operation) {
        Some(name) => s.f.make(Op::Plain(name), &[a, b], ty),
        None => a,
    };
    if result {
        value = s.f.make(Op::Plain(not), &[value], ty);
    }
    Some((value, Some(not_zero(s, value))))
}

fn shifts(s: &mut State, name: &str, [a, b]: [Value; 2]) -> Computed {
    let masked = |s: &mut State, most: u32| {
        let most = s.f.word(most);
        s.f.plain("and.b32", &[b, most])
    };
    Some(match name {
        "s_lshl_b32" | "s_lshr_b32" | "s_ashr_i32" => {
            let by = masked(s, 31);
            let name = match name {
                "s_lshl_b32" => "shl.b32",
                "s_lshr_b32" => "shr.u32",
                _ => "shr.s32",
            };
            with_some(s, name, &[a, by])
        }
        "s_lshl_b64" | "s_lshr_b64" | "s_ashr_i64" => {
            let by = masked(s, 63);
            let name = match name {
                "s_lshl_b64" => "shl.b64",
                "s_lshr_b64" => "shr.u64",
                _ => "shr.s64",
            };
            wide_with_some(s, name, &[a, by])
        }
        "s_bfm_b32" => {
            let (most, ones) = (s.f.word(31), s.f.word(u32::MAX));
            let count = s.f.plain("and.b32", &[a, most]);
            let above = s.f.plain("shl.b32", &[ones, count]);
            let below = s.f.plain("not.b32", &[above]);
            let by = masked(s, 31);
            (s.f.plain("shl.b32", &[below, by]), None)
        }
        "s_bfe_u32" | "s_bfe_i32" | "s_bfe_u64" | "s_bfe_i64" => {
            let is_wide = name.ends_with("64");
            let from = masked(s, if is_wide { 63 } else { 31 });
            let (sixteen, most) = (s.f.word(16), s.f.word(127));
            let count = s.f.plain("shr.u32", &[b, sixteen]);
            let count = s.f.plain("and.b32", &[count, most]);
            match name {
                "s_bfe_u32" => with_some(s, "bfe.u32", &[a, from, count]),
                "s_bfe_i32" => with_some(s, "bfe.s32", &[a, from, count]),
                "s_bfe_u64" => wide_with_some(s, "bfe.u64", &[a, from, count]),
                _ => wide_with_some(s, "bfe.s64", &[a, from, count]),
            }
        }
        "s_pack_ll_b32_b16" | "s_pack_lh_b32_b16" | "s_pack_hh_b32_b16" => {
            let sixteen = s.f.word(16);
            let (low_mask, high_mask) = (s.f.word(0xffff), s.f.word(0xffff_0000));
            let low = match name {
                "s_pack_hh_b32_b16" => s.f.plain("shr.u32", &[a, sixteen]),
                _ => s.f.plain("and.b32", &[a, low_mask]),
            };
            let high = match name {
                "s_pack_ll_b32_b16" => s.f.plain("shl.b32", &[b, sixteen]),
                _ => s.f.plain("and.b32", &[b, high_mask]),
            };
            (s.f.plain("or.b32", &[low, high]), None)
        }
        _ => return None,
    })
}

fn bits(s: &mut State, name: &str, [a, b]: [Value; 2]) -> Computed {
    Some(match name {
        "s_brev_b32" => (s.f.plain("brev.b32", &[a]), None),
        "s_brev_b64" => (s.f.plain_wide("brev.b64", &[a]), None),
        "s_bcnt1_i32_b32" => with_some(s, "popc.b32", &[a]),
        "s_bcnt1_i32_b64" => with_some(s, "popc.b64", &[a]),
        "s_ff1_i32_b32" => {
            let turned = s.f.plain("brev.b32", &[a]);
            (position(s, "clz.b32", turned), None)
        }
        "s_ff1_i32_b64" => {
            let turned = s.f.plain_wide("brev.b64", &[a]);
            (position(s, "clz.b64", turned), None)
        }
        "s_flbit_i32_b32" => (position(s, "clz.b32", a), None),
        "s_flbit_i32_b64" => (position(s, "clz.b64", a), None),
        "s_flbit_i32" => {
            let by = s.f.word(31);
            let sign = s.f.plain("shr.s32", &[a, by]);
            let differing = s.f.plain("xor.b32", &[a, sign]);
            (position(s, "clz.b32", differing), None)
        }
        "s_flbit_i32_i64" => {
            let by = s.f.word(63);
            let sign = s.f.plain_wide("shr.s64", &[a, by]);
            let differing = s.f.plain_wide("xor.b64", &[a, sign]);
            (position(s, "clz.b64", differing), None)
        }
        "s_bitset0_b32" | "s_bitset1_b32" => {
            let (one, most) = (s.f.word(1), s.f.word(31));
            let by = s.f.plain("and.b32", &[a, most]);
            let bit = s.f.plain("shl.b32", &[one, by]);
            if name == "s_bitset1_b32" {
                (s.f.plain("or.b32", &[b, bit]), None)
            } else {
                let others = s.f.plain("not.b32", &[bit]);
                (s.f.plain("and.b32", &[b, others]), None)
            }
        }
        _ => return None,
    })
}

/// How many zeros are above, or -1 where there is no bit.
pub fn position(s: &mut State, name: &'static str, value: Value) -> Value {
    let count = s.f.plain(name, &[value]);
    let some = not_zero(s, value);
    let none = s.f.word(u32::MAX);
    s.f.select(some, count, none)
}

fn moves(s: &mut State, name: &str, [a, b]: [Value; 2]) -> Computed {
    Some(match name {
        "s_mov_b32" | "s_mov_b64" | "s_movk_i32" => (a, None),
        "s_cmov_b32" | "s_cmov_b64" | "s_cmovk_i32" | "s_cselect_b32" | "s_cselect_b64" => {
            let scc = s.scc();
            (s.f.select(scc, a, b), None)
        }
        "s_sext_i32_i8" | "s_sext_i32_i16" => {
            let (zero, count) = (s.f.word(0), s.f.word(if name.ends_with("i8") { 8 } else { 16 }));
            (s.f.plain("bfe.s32", &[a, zero, count]), None)
        }
        _ => return None,
    })
}

/// Loads of the scalar unit.
pub fn memory(s: &mut State, instruction: &Instruction) -> Result {
    let Form::ScalarMemory(form) = &instruction.form else { return unknown("a form") };
    let name = instruction.row.name;
    if name.starts_with("s_dcache") {
        return Ok(());
    }
    let Some(Operand::Scalar { first, words }) = form.to.first().copied() else { return unknown(name) };
    if !name.starts_with("s_load_dword") {
        return unknown(name);
    }
    let (address, offset) = address(s, form)?;
    let mut at = 0;
    let mut values = Vec::new();
    while at < words {
        let offset = offset + 4 * i32::from(at);
        let is_wide = words - at >= 2 && offset % 8 == 0;
        let bits = if is_wide { 64 } else { 32 };
        let access = Access { space: Space::Global, bits, signed: false, strong: false, offset };
        let ty = if is_wide { Type::Wide } else { Type::Word };
        values.push((at, s.f.make(Op::Load(access), &[address], ty)));
        at += if is_wide { 2 } else { 1 };
    }
    // The base may be among the registers that are written.
    for (at, value) in values {
        if s.f.ty(value) == Type::Wide {
            s.set_pair(first + at, value);
        } else {
            s.set_scalar(first + at, value);
        }
    }
    Ok(())
}

fn address(s: &mut State, form: &ScalarMemory) -> Result<(Value, i32)> {
    let Some(Operand::Scalar { first, words: 2 }) = form.from.last().copied() else {
        return unknown("a scalar access of such an address");
    };
    let base = s.pair(first);
    let (register, offset) = match form.offset {
        ScalarOffset::None => (None, 0),
        ScalarOffset::Constant(offset) => (None, offset),
        ScalarOffset::Register(operand) => (Some(operand), 0),
        ScalarOffset::Both(operand, offset) => (Some(operand), offset),
    };
    let base = match register {
        None => base,
        Some(Operand::Scalar { first, .. }) => {
            let by = s.get(Variable::from(first));
            let by = s.f.plain_wide("cvt.u64.u32", &[by]);
            s.f.plain_wide("add.s64", &[base, by])
        }
        Some(_) => return unknown("an offset in no scalar register"),
    };
    Ok((base, offset & !3))
}
