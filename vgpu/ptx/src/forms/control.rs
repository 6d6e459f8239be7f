//! Control flow, barriers, fences and the exchange between the lanes of a warp (PTX
//! ISA 9.7.12, 9.7.13 and 9.7.19).

use super::{Row, row};
use crate::op::Op::*;

pub const ROWS: &[Row] = &[
    row(Bra, "uni?", "label"),
    row(Brx, "idx uni?", "u32 targets").since(60, 30),
    row(Call, "uni?", "call"),
    row(Ret, "uni?", ""),
    row(Exit, "", ""),
    row(Trap, "", ""),
    row(Brkpt, "", ""),
    row(Nanosleep, "u32", "u32").since(63, 70),
    // Barriers
    row(Bar, "cta?^78:30 sync", "u32 u32?"),
    row(Bar, "cta?^78:30 arrive", "u32 u32").since(20, 20),
    row(Bar, "cta?^78:30 red popc u32", "=u32 u32 u32? pred!").since(20, 20),
    row(Bar, "cta?^78:30 red and|or pred", "=pred u32 u32? pred!").since(20, 20),
    row(Bar, "warp sync", "b32").since(60, 30),
    row(Barrier, "cta?^78:30 sync aligned?", "u32 u32?").since(60, 30),
    row(Barrier, "cta?^78:30 arrive aligned?", "u32 u32").since(60, 30),
    row(Barrier, "cta?^78:30 red popc aligned? u32", "=u32 u32 u32? pred!").since(60, 30),
    row(Barrier, "cta?^78:30 red and|or aligned? pred", "=pred u32 u32? pred!").since(60, 30),
    row(Membar, "cta|gl", "").since(14, 0),
    row(Membar, "sys", "").since(20, 20),
    row(Fence, "sc|acq_rel? cta|gpu|sys", "").since(60, 70),
    row(Fence, "acquire|release cta|gpu|sys", "").since(86, 70),
    // Warps
    row(Shfl, "up|down|bfly|idx b32", "=t_ |pred t b32 b32").since(30, 30).until(70),
    row(Shfl, "sync up|down|bfly|idx b32", "=t_ |pred t b32 b32 b32").since(60, 30),
    row(Vote, "all|any|uni pred", "=pred pred!").since(12, 0).until(70),
    row(Vote, "ballot b32", "=b32 pred!").since(20, 20).until(70),
    row(Vote, "sync all|any|uni pred", "=pred pred! b32").since(60, 30),
    row(Vote, "sync ballot b32", "=b32 pred! b32").since(60, 30),
    row(Match, "any sync b32|b64", "=b32 t b32").since(60, 70),
    row(Match, "all sync b32|b64", "=b32_ |pred t b32").since(60, 70),
    row(Redux, "sync add|min|max u32|s32", "=t t b32").since(70, 80),
    row(Redux, "sync and|or|xor b32", "=t t b32").since(70, 80),
    row(Activemask, "b32", "=b32").since(62, 30),
    row(Elect, "sync", "=b32_ |pred b32").since(80, 90),
];
