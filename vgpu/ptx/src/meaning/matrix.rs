//! The classes of instructions with which a warp works on matrices. Each lane holds a fragment of
//! each of them in registers.

use crate::types::{StateSpace, Type};

/// What a warp does with matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// `mma`
    Multiply(Multiply),
    /// `ldmatrix`
    Load(MatrixAccess),
    /// `stmatrix`
    Store(MatrixAccess),
    /// `movmatrix.trans`
    Transpose,
}

/// `d = a * b + c`, where `a` has `m` rows and `k` columns, and `b` has `n` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiply {
    pub m: u8,
    pub n: u8,
    pub k: u8,
    pub a: Type,
    pub b: Type,
    /// Of `c` and `d`.
    pub sum: Type,
    /// Sums of integers end at the largest and the smallest one.
    pub saturates: bool,
}

/// Matrices of 8 by 8 elements of 16 bits in shared memory: a row of each is 16 bytes at a lane's
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixAccess {
    /// Matrices: 1, 2 or 4.
    pub count: u8,
    /// Whether what memory has as rows are columns of the fragments.
    pub transposed: bool,
    pub space: StateSpace,
}

impl MatrixAccess {
    /// Bytes of a row.
    pub const ROW: u32 = 16;
    /// Rows of a matrix.
    pub const ROWS: usize = 8;
}
