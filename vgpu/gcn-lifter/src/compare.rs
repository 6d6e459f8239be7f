//! Comparisons of lanes.

use gangway_gcn::{Encoding, Row};

use crate::node::Value;
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
    if row.encoding != Encoding::Vopc || row.name.contains("_class_") {
        return None;
    }
    let (_, ty) = row.name.rsplit_once('_')?;
    let (a, b) = (*sources.values.first()?, *sources.values.get(1)?);
    let name = match ty {
        "f32" => FLOATS[usize::from(row.opcode & 15)][0],
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
    if ty.ends_with("16") {
        let (zero, count) = (s.f.word(0), s.f.word(16));
        let part = if ty == "i16" { "bfe.s32" } else { "bfe.u32" };
        args = args.map(|arg| s.f.plain(part, &[arg, zero, count]));
    }
    Some(s.f.test(name, &args))
}
