//! Comparisons of lanes.

use gangway_gcn::{Encoding, Row};

use crate::half;
use crate::node::{Type, Value};
use crate::state::{Sources, State};

/// By the opcode's low bits: less, equal, greater, unordered.
const FLOATS: [[&str; 2]; 16] = [
    ["", ""],
    ["setp.lt.f32", "setp.lt.f64"],
    ["setp.eq.f32", "setp.eq.f64"],
    ["setp.le.f32", "setp.le.f64"],
    ["setp.gt.f32", "setp.gt.f64"],
    ["setp.ne.f32", "setp.ne.f64"],
    ["setp.ge.f32", "setp.ge.f64"],
    ["setp.num.f32", "setp.num.f64"],
    ["setp.nan.f32", "setp.nan.f64"],
    ["setp.ltu.f32", "setp.ltu.f64"],
    ["setp.equ.f32", "setp.equ.f64"],
    ["setp.leu.f32", "setp.leu.f64"],
    ["setp.gtu.f32", "setp.gtu.f64"],
    ["setp.neu.f32", "setp.neu.f64"],
    ["setp.geu.f32", "setp.geu.f64"],
    ["", ""],
];

/// The same of integers: signed and unsigned ones of 32 bits, then of 64.
const INTEGERS: [[&str; 4]; 8] = [
    ["", "", "", ""],
    ["setp.lt.s32", "setp.lt.u32", "setp.lt.s64", "setp.lt.u64"],
    ["setp.eq.b32", "setp.eq.b32", "setp.eq.b64", "setp.eq.b64"],
    ["setp.le.s32", "setp.le.u32", "setp.le.s64", "setp.le.u64"],
    ["setp.gt.s32", "setp.gt.u32", "setp.gt.s64", "setp.gt.u64"],
    ["setp.ne.b32", "setp.ne.b32", "setp.ne.b64", "setp.ne.b64"],
    ["setp.ge.s32", "setp.ge.u32", "setp.ge.s64", "setp.ge.u64"],
    ["", "", "", ""],
];

/// The result's bit, if the row is a comparison that is known.
pub fn lift(s: &mut State, row: &Row, sources: &Sources) -> Option<Value> {
    if row.encoding != Encoding::Vopc {
        return None;
    }
    if row.name.contains("_class_") {
        let (number, classes) = (*sources.values.first()?, *sources.values.get(1)?);
        return Some(class(s, number, classes, row.name.ends_with("f16")));
    }
    let (_, ty) = row.name.rsplit_once('_')?;
    let (a, b) = (*sources.values.first()?, *sources.values.get(1)?);
    let name = match ty {
        "f32" | "f16" => FLOATS[usize::from(row.opcode & 15)][0],
        "f64" => FLOATS[usize::from(row.opcode & 15)][1],
        _ => {
            let column = match ty {
                "i32" | "i16" => 0,
                "u32" | "u16" => 1,
                "i64" => 2,
                "u64" => 3,
                _ => return None,
            };
            INTEGERS[usize::from(row.opcode & 7)][column]
        }
    };
    let always = row.opcode & if ty.starts_with('f') { 15 } else { 7 } != 0;
    if name.is_empty() {
        return Some(s.f.bit(always));
    }
    let mut args = [a, b];
    if ty == "f16" {
        args = args.map(|arg| half::single(s, arg));
    } else if ty.ends_with("16") {
        let (zero, count) = (s.f.word(0), s.f.word(16));
        let part = if ty == "i16" { "bfe.s32" } else { "bfe.u32" };
        args = args.map(|arg| s.f.plain(part, &[arg, zero, count]));
    }
    Some(s.f.test(name, &args))
}

/// Whether a number is of one of the classes that a word names (Vega ISA, 6.2.1, `V_CMP_CLASS`):
/// whether its bits are in one of their ranges.
fn class(s: &mut State, number: Value, classes: Value, half: bool) -> Value {
    let wide = s.f.ty(number) == Type::Wide;
    let mut number = number;
    if half {
        let mask = s.f.word(0xffff);
        number = s.f.plain("and.b32", &[number, mask]);
    }
    let (fraction, exponent) = match (wide, half) {
        (true, _) => (52, 0x7ff),
        (_, true) => (10, 0x1f),
        _ => (23, 0xff),
    };
    let infinity: u64 = exponent << fraction;
    let (sign, quiet) = (infinity + (1 << fraction), infinity | 1 << (fraction - 1));
    // From 0 on, where each class begins; the classes of positive and of negative numbers.
    let begins = [0, 1, 1 << fraction, infinity, infinity + 1, quiet];
    let (none, mut found) = (s.f.word(0), s.f.bit(false));
    let mut ranges: Vec<(u32, u64, u64)> = Vec::new();
    for (base, numbers) in [(0, [6, 7, 8, 9, 0, 1]), (sign, [5, 4, 3, 2, 0, 1])] {
        for (at, class) in numbers.into_iter().enumerate() {
            let (first, last) = (base + begins[at], base + (begins.get(at + 1).unwrap_or(&sign) - 1));
            let wanted = match s.f.as_constant(classes) {
                Some(classes) if classes >> class & 1 == 0 => continue,
                Some(_) => 0,
                None => 1 << class,
            };
            match ranges.last_mut() {
                Some(before) if wanted == 0 && before.2 + 1 == first => before.2 = last,
                _ => ranges.push((wanted, first, last)),
            }
        }
    }
    for (wanted, first, last) in ranges {
        let mut is = if wide {
            let (first, length) = (s.f.wide(first), s.f.wide(last - first));
            let from = s.f.plain_wide("sub.s64", &[number, first]);
            s.f.test("setp.le.u64", &[from, length])
        } else {
            let (first, length) = (s.f.word(first as u32), s.f.word((last - first) as u32));
            let from = s.f.plain("sub.u32", &[number, first]);
            s.f.test("setp.le.u32", &[from, length])
        };
        // Classes that are not known here, as a rule a constant from before a loop.
        if wanted != 0 {
            let wanted = s.f.word(wanted);
            let among = s.f.plain("and.b32", &[classes, wanted]);
            let among = s.f.test("setp.ne.b32", &[among, none]);
            is = s.f.and(is, among);
        }
        found = s.f.test("or.pred", &[found, is]);
    }
    found
}
