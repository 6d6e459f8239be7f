//! Moves, loads, stores, atomics and addresses (PTX ISA 9.7.9 and the atomics of
//! 9.7.13).

use super::{Row, row};
use crate::op::Op::*;

pub const ROWS: &[Row] = &[
    row(Mov, "pred", "=t t"),
    row(Mov, "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "=mov mov"),
    // GCC's moves between vector registers
    row(Mov, "v2|v4 b8|u8|s8|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "=mov mov"),
    row(Cvta, "const|global|local|shared|shared::cta u32|u64", "=t mov").since(20, 20),
    row(Cvta, "param|param::entry u32|u64", "=t mov").since(77, 70),
    row(Cvta, "to / const|global|local|shared|shared::cta u32|u64", "=t mov").since(20, 20),
    row(Cvta, "to / param|param::entry u32|u64", "=t mov").since(77, 70),
    row(Isspacep, "const|global|local|shared|shared::cta", "=pred mov").since(20, 20),
    row(Isspacep, "param|param::entry", "=pred mov").since(77, 70),
    // Loads
    row(Ld, "weak?^60:70 @space? ca|cg|cs|lu|cv? @evict?^74:70 @ahead?^74:75 v2|v4? @memory", "={} []"),
    row(Ld, "volatile @space? @ahead?^74:75 v2|v4? @memory", "={} []"),
    row(Ld, "relaxed|acquire cta|gpu|sys @space? @evict?^74:70 @ahead?^74:75 v2|v4? @memory", "={} []")
        .since(60, 70),
    row(Ld, "mmio relaxed sys global? @memory", "={} []").since(82, 70),
    row(Ld, "weak?^60:70 global ca|cg|cs? nc @evict?^74:70 @ahead?^74:75 v2|v4? @memory", "={} []")
        .since(31, 32),
    row(Ldu, "global? v2|v4? @memory", "={} []").since(20, 20),
    // Stores
    row(St, "weak?^60:70 @writable? wb|cg|cs|wt? @evict?^74:70 v2|v4? @memory", "[] {}"),
    row(St, "volatile @writable? v2|v4? @memory", "[] {}"),
    row(St, "relaxed|release cta|gpu|sys @writable? @evict?^74:70 v2|v4? @memory", "[] {}").since(60, 70),
    row(St, "mmio relaxed sys global? @memory", "[] {}").since(82, 70),
    row(Prefetch, "global|local? L1|L2", "[]").since(20, 20),
    row(Prefetch, "global L2::evict_last|L2::evict_normal", "[]").since(74, 80),
    row(Prefetchu, "L1", "[]").since(20, 20),
    // Atomics
    row(Atom, "@order_? @scope_? @atomspace? and|or|xor|exch b32|b64", "=t_ [] t").since(11, 0),
    row(Atom, "@order_? @scope_? @atomspace? cas b32|b64", "=t_ [] t t").since(11, 0),
    row(Atom, "@order_? @scope_? @atomspace? cas b16", "=t_ [] t t").since(63, 70),
    row(Atom, "@order_? @scope_? @atomspace? add u32|s32|u64|f32", "=t_ [] t").since(11, 0),
    row(Atom, "@order_? @scope_? @atomspace? add f64", "=t_ [] t").since(50, 60),
    row(Atom, "@order_? @scope_? @atomspace? add noftz f16", "=t_ [] t").since(63, 70),
    row(Atom, "@order_? @scope_? @atomspace? add noftz f16x2", "=t_ [] t").since(62, 60),
    row(Atom, "@order_? @scope_? @atomspace? add noftz bf16|bf16x2", "=t_ [] t").since(78, 90),
    row(Atom, "@order_? @scope_? @atomspace? inc|dec u32", "=t_ [] t").since(11, 0),
    row(Atom, "@order_? @scope_? @atomspace? min|max u32|s32|u64|s64", "=t_ [] t").since(11, 0),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? and|or|xor b32|b64", "[] t").since(12, 0),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? add u32|s32|u64|f32", "[] t").since(12, 0),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? add f64", "[] t").since(50, 60),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? add noftz f16", "[] t").since(63, 70),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? add noftz f16x2", "[] t").since(62, 60),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? add noftz bf16|bf16x2", "[] t").since(78, 90),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? inc|dec u32", "[] t").since(12, 0),
    row(Red, "relaxed|release?^60:70 @scope_? @atomspace? min|max u32|s32|u64|s64", "[] t").since(12, 0),
    // Asynchronous copies to shared memory
    row(Cp, "async / ca|cg shared|shared::cta global @ahead?^74:75", "[] [] #u32 u32?").since(70, 80),
    row(Cp, "async / commit_group", "").since(70, 80),
    row(Cp, "async wait_group", "#u32").since(70, 80),
    row(Cp, "async wait_all", "").since(70, 80),
    // The stack
    row(Alloca, "u32|u64", "=t t #u32?").since(73, 52),
    row(Stacksave, "u32|u64", "=t").since(73, 52),
    row(Stackrestore, "u32|u64", "t").since(73, 52),
];
