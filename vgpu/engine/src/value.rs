//! Values of 32 lanes in compiled code.

use cranelift_codegen::ir::Value;

/// A register's value. Integers and floats alike are kept as integers; whoever computes
/// with floats casts, which costs nothing.
#[derive(Clone, Debug)]
pub enum Lanes {
    /// The same in all lanes: an `I32` for types of up to 32 bits (zero-extended), an `I64` for others.
    Uniform(Value),
    /// Eight `I32X4` for types of up to 32 bits (zero-extended), sixteen `I64X2` for others.
    Vector(Box<[Value]>),
}

/// A predicate.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// An `I32`, 0 or 1, for all lanes.
    Uniform(Value),
    /// An `I32` with a bit per lane.
    Bits(Value),
    /// Eight `I32X4` of zeros and ones in all bits: how comparisons give it and selections take it.
    Each(Box<[Value; 8]>),
}
