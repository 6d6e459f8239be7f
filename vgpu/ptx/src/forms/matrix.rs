//! Matrices that a warp holds in registers: their products, and how they get to and from shared
//! memory (PTX ISA 9.7.14, "Warp Level Matrix Multiply-Accumulate Instructions").

use super::{Row, row};
use crate::op::Op::*;

pub const ROWS: &[Row] = &[
    // Halves, which are summed up in single precision or in halves
    row(Mma, "sync aligned m16n8k8 row col f32 f16 f16 f32", "=4*f32 2*b32 1*b32 4*f32").since(65, 75),
    row(Mma, "sync aligned m16n8k8 row col f16 f16 f16 f16", "=2*b32 2*b32 1*b32 2*b32").since(65, 75),
    row(Mma, "sync aligned m16n8k16 row col f32 f16 f16 f32", "=4*f32 4*b32 2*b32 4*f32").since(70, 80),
    row(Mma, "sync aligned m16n8k16 row col f16 f16 f16 f16", "=2*b32 4*b32 2*b32 2*b32").since(70, 80),
    row(Mma, "sync aligned m16n8k8 row col f32 bf16 bf16 f32", "=4*f32 2*b32 1*b32 4*f32").since(70, 80),
    row(Mma, "sync aligned m16n8k16 row col f32 bf16 bf16 f32", "=4*f32 4*b32 2*b32 4*f32").since(70, 80),
    row(Mma, "sync aligned m16n8k4 row col f32 tf32 tf32 f32", "=4*f32 2*b32 1*b32 4*f32").since(70, 80),
    row(Mma, "sync aligned m16n8k8 row col f32 tf32 tf32 f32", "=4*f32 4*b32 2*b32 4*f32").since(70, 80),
    row(Mma, "sync aligned m16n8k16 row col f32 e4m3|e5m2 e4m3|e5m2 f32", "=4*f32 2*b32 1*b32 4*f32")
        .since(87, 89),
    row(Mma, "sync aligned m16n8k32 row col f32 e4m3|e5m2 e4m3|e5m2 f32", "=4*f32 4*b32 2*b32 4*f32")
        .since(84, 89),
    row(Mma, "sync aligned m16n8k16 row col f16 e4m3|e5m2 e4m3|e5m2 f16", "=2*b32 2*b32 1*b32 2*b32")
        .since(87, 89),
    row(Mma, "sync aligned m16n8k32 row col f16 e4m3|e5m2 e4m3|e5m2 f16", "=2*b32 4*b32 2*b32 2*b32")
        .since(87, 89),
    row(Mma, "sync aligned m8n8k4 row col f64 f64 f64 f64", "=2*f64 1*f64 1*f64 2*f64").since(70, 80),
    row(Mma, "sync aligned m16n8k4 row col f64 f64 f64 f64", "=4*f64 2*f64 1*f64 4*f64").since(78, 90),
    row(Mma, "sync aligned m16n8k8 row col f64 f64 f64 f64", "=4*f64 4*f64 2*f64 4*f64").since(78, 90),
    row(Mma, "sync aligned m16n8k16 row col f64 f64 f64 f64", "=4*f64 8*f64 4*f64 4*f64").since(78, 90),
    row(Mma, "sync aligned m8n8k16 row col satfinite? s32 u8|s8 u8|s8 s32", "=2*s32 1*b32 1*b32 2*s32")
        .since(65, 75),
    row(Mma, "sync aligned m16n8k16 row col satfinite? s32 u8|s8 u8|s8 s32", "=4*s32 2*b32 1*b32 4*s32")
        .since(70, 80),
    row(Mma, "sync aligned m16n8k32 row col satfinite? s32 u8|s8 u8|s8 s32", "=4*s32 4*b32 2*b32 4*s32")
        .since(70, 80),
    // Matrices of 8 by 8 elements of 16 bits
    row(Ldmatrix, "sync aligned m8n8 x1 trans? shared|shared::cta? b16", "=1*b32 []").since(65, 75),
    row(Ldmatrix, "sync aligned m8n8 x2 trans? shared|shared::cta? b16", "=2*b32 []").since(65, 75),
    row(Ldmatrix, "sync aligned m8n8 x4 trans? shared|shared::cta? b16", "=4*b32 []").since(65, 75),
    row(Stmatrix, "sync aligned m8n8 x1 trans? shared|shared::cta? b16", "[] 1*b32").since(78, 90),
    row(Stmatrix, "sync aligned m8n8 x2 trans? shared|shared::cta? b16", "[] 2*b32").since(78, 90),
    row(Stmatrix, "sync aligned m8n8 x4 trans? shared|shared::cta? b16", "[] 4*b32").since(78, 90),
    row(Movmatrix, "sync aligned m8n8 trans b16", "=b32 b32").since(78, 75),
];
