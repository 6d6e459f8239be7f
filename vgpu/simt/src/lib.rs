//! What lanes do, between the analysis of device code and the generators of machine code.
//!
//! A front end for one kind of device code makes a [`Function`] of what it has read: [`Operation`]s on
//! slots, of which each lane has its own, in [`Block`]s. Arithmetic, memory with what is known of its
//! addresses, exchanges, barriers, calls, and at the ends of blocks where lanes go. A slot may be the
//! same in all lanes, and a predicate is a mask: code with scalar registers and explicit masks has the
//! same form. Analyses and generators read nothing else. Functions are printed and parsed, and checked
//! by [`Function::verify`].
//!
//! What an operation computes is a sequence. A [`Sequence`] is a computation without branches, memory or traps: operations on values that
//! are the same in all lanes ([`Extent::One`]) or each lane's own ([`Extent::Lanes`]). It says
//! nothing of how many lanes there are, or of how a processor holds them. A front end for one kind
//! of device code makes sequences with a [`Builder`]; a code generator turns them into machine code
//! for its width.
//!
//! An operation is here if processors or code generators have it by themselves, or each in its own
//! way. What everybody would put together from others is put together by who makes the sequence.
//!
//! No operation has undefined results but two, which say so: [`Op::AsNumber`] and
//! [`Op::ToWordUnchecked`]. [`evaluate()`] is the reference: generators are tested with it. Sequences
//! are printed and parsed ([`Sequence`]'s `Display` and `FromStr`), and checked by [`verify()`].

mod build;
mod evaluate;
mod function;
mod names;
mod op;
mod operation;
mod place;
mod scalar;
mod sequence;
mod text;
mod types;
mod verify;

pub use build::Builder;
pub use evaluate::evaluate;
pub use function::{Block, End, Fault, Function, loops, predecessors};
pub use op::{FloatOrder, IntOrder, Op, Operands};
pub use operation::{
    Access, Algebra, Argument, Atomic, AtomicOperator, Barrier, BarrierReduction, Call, Compute, Exchange,
    Exchanged, From, Guard, Half, Kind, Matrix, Meeting, Operation, Operator, Passed, Read, Shuffle, Source,
    Stack, Taken, Target, To, Vote, Write,
};
pub use place::{Address, Axis, Base, Lanes, Part, Place, Space, Special};
pub use scalar::Scalar;
pub use sequence::{Definition, Sequence, Value};
pub use text::ParseError;
pub use types::{Element, Extent, Type};
pub use verify::{Flaw, verify};

/// The bits of 32-bit results that are NaN: GPUs give only this one (PTX ISA 9.7.3).
pub const CANONICAL_NAN: u64 = 0x7fff_ffff;
