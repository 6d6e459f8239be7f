//! What values are equal to.
//!
//! Machine code has words; addresses are of two of them, and so are masks. Here they become what the compiler had:
//! sums of 64 bits, and a bit for each lane instead of a mask.

use crate::known::Known;
use crate::node::{Function, Op, Type, Value};

/// Something that a value is equal to, and that is there already or simpler.
pub fn simplify(f: &mut Function, op: Op, args: &[Value], ty: Type) -> Option<Value> {
    match op {
        Op::Pack => pack(f, args[0], args[1]),
        Op::Low | Op::High => part(f, op, args[0]),
        Op::Select => select(f, args),
        Op::Ballot => ballot(f, args[0]),
        Op::LaneBit => lane_bit(f, args[0]),
        Op::AddWith | Op::SubWith => carried(f, op, args),
        Op::AddCarry | Op::SubBorrow => match f.as_constant(args[1]) {
            Some(0) => Some(f.bit(false)),
            _ => None,
        },
        Op::Gather | Op::ReadLane if f.is_uniform(args[0]) => Some(args[0]),
        Op::ReadLane => read_lane(f, args[0], args[1]),
        Op::Plain(name) => plain(f, name, args, ty),
        _ => None,
    }
}

/// What has been written to one lane, and is read again: how scalar registers are kept.
fn read_lane(f: &mut Function, value: Value, lane: Value) -> Option<Value> {
    let lane_number = f.as_constant(lane)?;
    if f.op(value) != Op::Select {
        return None;
    }
    let test = f.arg(value, 0);
    // Chosen by the lane's bit of a mask that is known.
    if f.op(test) == Op::LaneBit
        && let Some(mask) = f.as_constant(f.arg(test, 0))
    {
        let from = f.arg(value, if mask >> (lane_number & 63) & 1 != 0 { 1 } else { 2 });
        return Some(f.make(Op::ReadLane, &[from, lane], Type::Word));
    }
    if f.op(test) != Op::Plain("setp.eq.b32") || f.op(f.arg(test, 0)) != Op::Lane {
        return None;
    }
    let written = f.as_constant(f.arg(test, 1))?;
    let from = f.arg(value, if written == lane_number { 1 } else { 2 });
    if written == lane_number {
        return Some(from);
    }
    Some(f.make(Op::ReadLane, &[from, lane], Type::Word))
}

fn pack(f: &mut Function, low: Value, high: Value) -> Option<Value> {
    if let (Some(low), Some(high)) = (f.as_constant(low), f.as_constant(high)) {
        return Some(f.wide(high << 32 | low));
    }
    match (f.op(low), f.op(high)) {
        (_, Op::High) if is_low_of(f, low, f.arg(high, 0)) => return Some(f.arg(high, 0)),
        (_, Op::Constant(0)) => return Some(f.plain_wide("cvt.u64.u32", &[low])),
        (_, Op::Plain("shr.s32")) if f.arg(high, 0) == low && f.as_constant(f.arg(high, 1)) == Some(31) => {
            return Some(f.plain_wide("cvt.s64.s32", &[low]));
        }
        (Op::Plain("mul.lo.u32"), Op::Plain("mul.hi.u32")) if same(f, low, high) => {
            let (a, b) = (f.arg(low, 0), f.arg(low, 1));
            return Some(f.plain_wide("mul.wide.u32", &[a, b]));
        }
        (Op::Plain("mul.lo.u32"), Op::Plain("mul.hi.s32")) if same(f, low, high) => {
            let (a, b) = (f.arg(low, 0), f.arg(low, 1));
            return Some(f.plain_wide("mul.wide.s32", &[a, b]));
        }
        // What a lane's bit has chosen as halves: masks of all lanes and none, and addresses.
        (Op::Select, Op::Select) if f.arg(low, 0) == f.arg(high, 0) => {
            let (yes, no) = ((f.arg(low, 1), f.arg(high, 1)), (f.arg(low, 2), f.arg(high, 2)));
            if is_whole(f, yes.0, yes.1) || is_whole(f, no.0, no.1) {
                let (bit, yes, no) = (f.arg(low, 0), f.pack(yes.0, yes.1), f.pack(no.0, no.1));
                return Some(f.select(bit, yes, no));
            }
        }
        _ => {}
    }
    None
}

/// Whether a word is known to be the lower half of a value: parts of it may have been computed in other blocks.
fn is_low_of(f: &Function, word: Value, wide: Value) -> bool {
    is_low(f, word, wide, 6)
}

fn is_low(f: &Function, word: Value, wide: Value, depth: u32) -> bool {
    let both = |one: usize, other: usize| {
        let (words, wides) = ((f.arg(word, 0), f.arg(word, 1)), (f.arg(wide, one), f.arg(wide, other)));
        depth > 0 && is_low(f, words.0, wides.0, depth - 1) && is_low(f, words.1, wides.1, depth - 1)
    };
    match (f.op(word), f.op(wide)) {
        (Op::Low, _) if f.arg(word, 0) == wide => true,
        (Op::Constant(word), Op::Constant(wide)) => word == wide & 0xffff_ffff,
        (_, Op::Pack | Op::Plain("cvt.u64.u32" | "cvt.s64.s32")) => f.arg(wide, 0) == word,
        (Op::Plain("add.u32"), Op::Plain("add.s64")) => both(0, 1) || both(1, 0),
        (Op::Plain("sub.u32"), Op::Plain("sub.s64")) => both(0, 1),
        (Op::Plain("mul.lo.u32"), Op::Plain("mul.wide.u32" | "mul.wide.s32")) => same(f, word, wide),
        _ => false,
    }
}

/// Whether two words are known to be the halves of one value.
pub fn is_whole(f: &Function, low: Value, high: Value) -> bool {
    match (f.op(low), f.op(high)) {
        (Op::Constant(_), Op::Constant(_)) => true,
        (_, Op::High) => is_low_of(f, low, f.arg(high, 0)),
        (_, Op::Plain("shr.s32")) => f.arg(high, 0) == low && f.as_constant(f.arg(high, 1)) == Some(31),
        _ => false,
    }
}

/// A sum of two pairs of words. Which upper half belongs to which lower one does not matter to it, but to what is
/// known of the pairs.
fn sum_of_pairs(f: &mut Function, args: &[Value]) -> Option<Value> {
    let (a, b) = (args[0], args[1]);
    // The upper half of a number that a constant is added to, with the constant.
    for (pair, low) in [(a, b), (b, a)] {
        if (f.op(pair), f.op(low)) == (Op::Pack, Op::Plain("cvt.u64.u32"))
            && let Some(constant) = f.as_constant(f.arg(pair, 0))
        {
            let (number, constant) = (f.pack(f.arg(low, 0), f.arg(pair, 1)), f.wide(constant & 0xffff_ffff));
            return Some(f.plain_wide("add.s64", &[number, constant]));
        }
    }
    let halves = |f: &Function, value: Value| match f.op(value) {
        Op::Pack => Some((f.arg(value, 0), f.arg(value, 1))),
        _ => None,
    };
    let ((a_low, a_high), (b_low, b_high)) = (halves(f, a)?, halves(f, b)?);
    let belong = is_whole(f, a_low, a_high) || is_whole(f, b_low, b_high);
    if !belong && (is_whole(f, a_low, b_high) || is_whole(f, b_low, a_high)) {
        let (a, b) = (f.pack(a_low, b_high), f.pack(b_low, a_high));
        return Some(f.plain_wide("add.s64", &[a, b]));
    }
    None
}

fn same(f: &Function, one: Value, other: Value) -> bool {
    f.arg(one, 0) == f.arg(other, 0) && f.arg(one, 1) == f.arg(other, 1)
}

fn part(f: &mut Function, op: Op, wide: Value) -> Option<Value> {
    let is_low = op == Op::Low;
    match f.op(wide) {
        Op::Constant(value) => Some(f.word(if is_low { value as u32 } else { (value >> 32) as u32 })),
        Op::Pack => Some(f.arg(wide, usize::from(!is_low))),
        Op::Plain("cvt.u64.u32") => Some(if is_low { f.arg(wide, 0) } else { f.word(0) }),
        Op::Plain("cvt.s64.s32") if is_low => Some(f.arg(wide, 0)),
        Op::Plain("mul.wide.u32" | "mul.wide.s32") if is_low => {
            let (a, b) = (f.arg(wide, 0), f.arg(wide, 1));
            Some(f.plain("mul.lo.u32", &[a, b]))
        }
        Op::Plain("add.s64") if is_low => {
            let (a, b) = (f.arg(wide, 0), f.arg(wide, 1));
            let (a, b) = (f.low(a), f.low(b));
            Some(f.plain("add.u32", &[a, b]))
        }
        // A mask of all lanes or none: a bit that all lanes share.
        Op::Select => match (f.as_constant(f.arg(wide, 1)), f.as_constant(f.arg(wide, 2))) {
            (Some(yes), Some(no)) => {
                let shift = if is_low { 0 } else { 32 };
                let (bit, yes, no) =
                    (f.arg(wide, 0), f.word((yes >> shift) as u32), f.word((no >> shift) as u32));
                Some(f.select(bit, yes, no))
            }
            _ => None,
        },
        _ => None,
    }
}

fn select(f: &mut Function, args: &[Value]) -> Option<Value> {
    let (bit, yes, no) = (args[0], args[1], args[2]);
    if yes == no {
        return Some(yes);
    }
    match f.op(bit) {
        Op::Constant(0) => return Some(no),
        Op::Constant(_) => return Some(yes),
        Op::Plain("not.pred") => {
            let bit = f.arg(bit, 0);
            return Some(f.select(bit, no, yes));
        }
        _ => {}
    }
    if let Some(root) = root(f, bit, yes, no) {
        return Some(root);
    }
    // What is chosen again by the same bit.
    if f.op(yes) == Op::Select && f.arg(yes, 0) == bit {
        let yes = f.arg(yes, 1);
        return Some(f.select(bit, yes, no));
    }
    if f.op(no) == Op::Select && f.arg(no, 0) == bit {
        let no = f.arg(no, 2);
        return Some(f.select(bit, yes, no));
    }
    if f.ty(yes) == Type::Bit {
        match (f.as_constant(yes), f.as_constant(no)) {
            (Some(1), Some(0)) => return Some(bit),
            (Some(0), Some(1)) => return Some(f.not(bit)),
            _ => {}
        }
    }
    None
}

/// A root that is chosen among steps of one, as compilers write it: of a number that has been made larger, or is
/// itself its root. The engine's root is correctly rounded, so these steps are nothing.
fn root(f: &mut Function, bit: Value, yes: Value, no: Value) -> Option<Value> {
    const ROOT: Op = Op::Plain("sqrt.rn.ftz.f32");
    const EXACT: Op = Op::Plain("sqrt.rn.f32");
    let times = |f: &Function, value: Value, factor: u64| {
        let constant = |index: usize| f.as_constant(f.arg(value, index));
        match f.op(value) {
            Op::Plain("mul.rn.f32") if constant(0) == Some(factor) => Some(f.arg(value, 1)),
            Op::Plain("mul.rn.f32") if constant(1) == Some(factor) => Some(f.arg(value, 0)),
            _ => None,
        }
    };
    // 2^32 times as large, and its root 2^-16 times.
    let larger = |f: &Function, value: Value| {
        let is = f.op(value) == Op::Select;
        is.then(|| (f.arg(value, 0), f.arg(value, 1), f.arg(value, 2)))
            .filter(|(_, yes, no)| times(f, *yes, 0x4f80_0000) == Some(*no))
    };
    if f.op(no) == ROOT && times(f, yes, 0x3780_0000) == Some(no) {
        let (by, _, number) = larger(f, f.arg(no, 0))?;
        return (by == bit).then(|| f.plain("sqrt.rn.f32", &[number]));
    }
    // Zeros and infinity.
    if matches!(f.op(no), op if op == ROOT || op == EXACT) && are_roots(f, bit, yes) {
        let of = f.arg(no, 0);
        let is_same = of == yes || larger(f, yes).is_some_and(|(_, _, number)| number == of);
        return is_same.then_some(no);
    }
    None
}

/// Whether a bit says that a number is one of those that are their own roots.
fn are_roots(f: &Function, bit: Value, number: Value) -> bool {
    match f.op(bit) {
        Op::Plain("or.pred") => are_roots(f, f.arg(bit, 0), number) && are_roots(f, f.arg(bit, 1), number),
        Op::Plain("setp.le.u32") if f.as_constant(f.arg(bit, 1)) == Some(0) => {
            let from = f.arg(bit, 0);
            match f.op(from) {
                _ if from == number => true,
                Op::Plain("sub.u32") if f.arg(from, 0) == number => {
                    matches!(f.as_constant(f.arg(from, 1)), Some(0x8000_0000 | 0x7f80_0000))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether the number beside a root is nearer to it, as compilers ask: the engine's root is correctly rounded.
fn is_beside_root(f: &Function, name: &str, args: &[Value]) -> bool {
    let (down, product) = match (name, f.as_constant(args[0]), f.as_constant(args[1])) {
        // Not more than 0 is left of the number if the one below is too large, more if the one above is too small.
        ("setp.ge.f32", Some(0), _) => (true, args[1]),
        ("setp.le.f32", _, Some(0)) => (true, args[0]),
        ("setp.lt.f32", Some(0), _) => (false, args[1]),
        ("setp.gt.f32", _, Some(0)) => (false, args[0]),
        _ => return false,
    };
    if f.op(product) != Op::Plain("fma.rn.f32") {
        return false;
    }
    let [a, b, number] = [0, 1, 2].map(|index| f.arg(product, index));
    let is_beside = |minus: Value, root: Value| {
        let beside = f.arg(minus, 0);
        f.op(root) == Op::Plain("sqrt.rn.ftz.f32")
            && f.arg(root, 0) == number
            && f.as_constant(f.arg(minus, 1)) == Some(0x8000_0000)
            && f.op(beside) == Op::Plain("add.u32")
            && (0..2).any(|index| {
                let step = if down { 0xffff_ffff } else { 1 };
                f.arg(beside, index) == root && f.as_constant(f.arg(beside, 1 - index)) == Some(step)
            })
    };
    let is_minus = |value: Value| f.op(value) == Op::Plain("xor.b32");
    is_minus(a) && is_beside(a, b) || is_minus(b) && is_beside(b, a)
}

fn ballot(f: &mut Function, bit: Value) -> Option<Value> {
    match f.as_constant(bit) {
        Some(0) => return Some(f.wide(0)),
        Some(_) => return Some(f.wide(u64::MAX)),
        None => {}
    }
    if f.is_uniform(bit) {
        let (all, none) = (f.wide(u64::MAX), f.wide(0));
        return Some(f.select(bit, all, none));
    }
    match f.op(bit) {
        Op::LaneBit => Some(f.arg(bit, 0)),
        // Masks that are there already are joined as such.
        Op::Plain(name @ ("and.pred" | "or.pred" | "xor.pred")) => {
            let (a, b) = (f.arg(bit, 0), f.arg(bit, 1));
            if f.op(a) != Op::LaneBit || f.op(b) != Op::LaneBit {
                return None;
            }
            let name = match name {
                "and.pred" => "and.b64",
                "or.pred" => "or.b64",
                _ => "xor.b64",
            };
            let (a, b) = (f.arg(a, 0), f.arg(b, 0));
            Some(f.plain_wide(name, &[a, b]))
        }
        _ => None,
    }
}

fn lane_bit(f: &mut Function, mask: Value) -> Option<Value> {
    match f.op(mask) {
        Op::Constant(0) => Some(f.bit(false)),
        Op::Constant(u64::MAX) => Some(f.bit(true)),
        Op::Ballot => Some(f.arg(mask, 0)),
        Op::Plain(name @ ("and.b64" | "or.b64" | "xor.b64")) => {
            let (a, b) = (f.arg(mask, 0), f.arg(mask, 1));
            let (a, b) = (f.lane_bit(a), f.lane_bit(b));
            let name = match name {
                "and.b64" => "and.pred",
                "or.b64" => "or.pred",
                _ => "xor.pred",
            };
            Some(f.test(name, &[a, b]))
        }
        Op::Plain("not.b64") => {
            let mask = f.arg(mask, 0);
            let bit = f.lane_bit(mask);
            Some(f.not(bit))
        }
        Op::Select => {
            let (bit, yes, no) = (f.arg(mask, 0), f.arg(mask, 1), f.arg(mask, 2));
            let all = |f: &Function, value| matches!(f.as_constant(value), Some(0 | u64::MAX));
            if !all(f, yes) || !all(f, no) {
                return None;
            }
            let (yes, no) = (f.lane_bit(yes), f.lane_bit(no));
            Some(f.select(bit, yes, no))
        }
        _ => None,
    }
}

/// Upper halves of sums: those of 64 bits, if the carry is that of the lower ones.
fn carried(f: &mut Function, op: Op, args: &[Value]) -> Option<Value> {
    let (a, b, carry) = (args[0], args[1], args[2]);
    let (makes, wide, word) = match op {
        Op::AddWith => (Op::AddCarry, "add.s64", "add.u32"),
        _ => (Op::SubBorrow, "sub.s64", "sub.u32"),
    };
    if f.as_constant(carry) == Some(0) {
        return Some(f.plain(word, &[a, b]));
    }
    if f.op(carry) != makes {
        return None;
    }
    let (low_a, low_b) = (f.arg(carry, 0), f.arg(carry, 1));
    let (a, b) = (f.pack(low_a, a), f.pack(low_b, b));
    let sum = f.plain_wide(wide, &[a, b]);
    Some(f.high(sum))
}

fn plain(f: &mut Function, name: &'static str, args: &[Value], ty: Type) -> Option<Value> {
    let constants: Vec<Option<u64>> = args.iter().map(|arg| f.as_constant(*arg)).collect();
    if let Some(value) = evaluate(name, &constants) {
        return Some(f.constant(value, ty));
    }
    let ones = if ty == Type::Word { 0xffff_ffff } else { u64::MAX };
    match (name, constants.as_slice()) {
        ("and.b32" | "and.b64", &[Some(0), _] | &[_, Some(0)]) => return Some(f.constant(0, ty)),
        ("and.b32" | "and.b64", &[Some(all), _]) if all == ones => return Some(args[1]),
        ("and.b32" | "and.b64", &[_, Some(all)]) if all == ones => return Some(args[0]),
        ("or.b32" | "or.b64" | "xor.b32" | "xor.b64" | "add.u32" | "add.s64", &[Some(0), _]) => {
            return Some(args[1]);
        }
        ("or.b32" | "or.b64" | "xor.b32" | "xor.b64" | "add.u32" | "add.s64", &[_, Some(0)]) => {
            return Some(args[0]);
        }
        (
            "shl.b32" | "shl.b64" | "shr.u32" | "shr.u64" | "shr.s32" | "shr.s64" | "sub.u32",
            &[_, Some(0)],
        ) => {
            return Some(args[0]);
        }
        ("or.b64", &[Some(u64::MAX), _] | &[_, Some(u64::MAX)]) => return Some(f.wide(u64::MAX)),
        ("and.b32" | "and.b64" | "or.b32" | "or.b64", _) if args[0] == args[1] => return Some(args[0]),
        ("and.pred", &[Some(0), _] | &[_, Some(0)]) => return Some(f.bit(false)),
        ("or.pred", &[Some(1), _] | &[_, Some(1)]) => return Some(f.bit(true)),
        ("and.pred", &[Some(1), _]) | ("or.pred" | "xor.pred", &[Some(0), _]) => return Some(args[1]),
        ("and.pred", &[_, Some(1)]) | ("or.pred" | "xor.pred", &[_, Some(0)]) => return Some(args[0]),
        ("xor.pred", &[Some(1), _]) => return Some(f.not(args[1])),
        ("xor.pred", &[_, Some(1)]) => return Some(f.not(args[0])),
        ("and.pred" | "or.pred", _) if args[0] == args[1] => return Some(args[0]),
        _ => {}
    }
    if name.starts_with("setp.") && name.ends_with(".f32") && is_beside_root(f, name, args) {
        return Some(f.bit(false));
    }
    if name == "add.s64"
        && let Some(sum) = sum_of_pairs(f, args)
    {
        return Some(sum);
    }
    if name == "add.u32"
        && let (Op::Below(one), Op::Below(other)) = (f.op(args[0]), f.op(args[1]))
        && one != other
    {
        return Some(f.make(Op::Lane, &[], Type::Word));
    }
    if let ("bfe.u32" | "bfe.s32", &[_, Some(0), Some(bits @ 1..32)]) = (name, constants.as_slice()) {
        // The sign of what is signed takes one.
        let bits = bits - u64::from(name == "bfe.s32");
        if Known::of(f, args[0]).most >> bits == 0 {
            return Some(args[0]);
        }
    }
    if let ("and.b32", &[None, Some(mask)] | &[Some(mask), None]) = (name, constants.as_slice()) {
        let word = args[usize::from(constants[0].is_some())];
        let known = Known::of(f, word);
        if known.may & mask == known.must & mask {
            return Some(f.constant(known.must & mask, ty));
        }
        if known.may & !mask == 0 {
            return Some(word);
        }
    }
    match name {
        "not.pred" if f.op(args[0]) == Op::Plain("not.pred") => Some(f.arg(args[0], 0)),
        "setp.ne.b64" | "setp.eq.b64" | "setp.ne.b32" | "setp.eq.b32" | "and.b32" => {
            chosen(f, name, args, ty)
        }
        _ => None,
    }
}

/// What follows from one of two constants that a bit has chosen is chosen itself. So whether all lanes have a bit, or
/// the first one if it is alone, is a bit that all share, and carries are.
fn chosen(f: &mut Function, name: &str, args: &[Value], ty: Type) -> Option<Value> {
    let (chosen, with) = (args[0], f.as_constant(args[1])?);
    if f.op(chosen) != Op::Select {
        return None;
    }
    let bit = f.arg(chosen, 0);
    let result = |index: usize| evaluate(name, &[f.as_constant(f.arg(chosen, index)), Some(with)]);
    let (yes, no) = (result(1)?, result(2)?);
    let (yes, no) = (f.constant(yes, ty), f.constant(no, ty));
    Some(f.select(bit, yes, no))
}

/// Results of constants.
fn evaluate(name: &str, constants: &[Option<u64>]) -> Option<u64> {
    let word = |index: usize| constants.get(index).copied().flatten();
    if let (Some(value), Some(0), Some(bits @ 1..32)) = (word(0), word(1), word(2)) {
        let above = 32 - bits;
        return match name {
            "bfe.u32" => Some((value << above & 0xffff_ffff) >> above),
            "bfe.s32" => Some((((value << above) as u32).cast_signed() >> above) as u64),
            _ => None,
        };
    }
    if constants.len() > 2 {
        return None;
    }
    let (a, b) = (word(0)?, if constants.len() > 1 { word(1)? } else { 0 });
    let signed = |value: u64| (value as u32).cast_signed();
    Some(match name {
        "add.u32" | "add.s64" => a.wrapping_add(b),
        "sub.u32" | "sub.s64" => a.wrapping_sub(b),
        "and.b32" | "and.b64" | "and.pred" => a & b,
        "or.b32" | "or.b64" | "or.pred" => a | b,
        "xor.b32" | "xor.b64" | "xor.pred" => a ^ b,
        "not.b32" | "not.b64" | "not.pred" => !a,
        "shl.b32" if b < 32 => a << b,
        "shl.b64" if b < 64 => a << b,
        "shr.u32" | "shr.u64" if b < 64 => a >> b,
        "shr.s32" if b < 32 => ((a as u32).cast_signed() >> b) as u64,
        "mul.lo.u32" => a.wrapping_mul(b),
        "setp.ne.b32" | "setp.ne.b64" => u64::from(a != b),
        "setp.eq.b32" | "setp.eq.b64" => u64::from(a == b),
        "setp.lt.u32" | "setp.lt.u64" => u64::from(a < b),
        "setp.le.u32" | "setp.le.u64" => u64::from(a <= b),
        "setp.gt.u32" | "setp.gt.u64" => u64::from(a > b),
        "setp.ge.u32" | "setp.ge.u64" => u64::from(a >= b),
        "setp.lt.s32" => u64::from(signed(a) < signed(b)),
        "setp.le.s32" => u64::from(signed(a) <= signed(b)),
        "setp.gt.s32" => u64::from(signed(a) > signed(b)),
        "setp.ge.s32" => u64::from(signed(a) >= signed(b)),
        "setp.lt.s64" => u64::from(a.cast_signed() < b.cast_signed()),
        "setp.le.s64" => u64::from(a.cast_signed() <= b.cast_signed()),
        "setp.gt.s64" => u64::from(a.cast_signed() > b.cast_signed()),
        "setp.ge.s64" => u64::from(a.cast_signed() >= b.cast_signed()),
        "min.u32" => a.min(b),
        "max.u32" => a.max(b),
        "min.s32" => signed(a).min(signed(b)) as u64,
        "max.s32" => signed(a).max(signed(b)) as u64,
        "cvt.u64.u32" => a,
        "cvt.s64.s32" => i64::from((a as u32).cast_signed()).cast_unsigned(),
        _ => return None,
    })
}
