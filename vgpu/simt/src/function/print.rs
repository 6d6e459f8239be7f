//! Functions as text.
//!
//! ```text
//! slots u32, u32, pred
//! 0: %0:u32 = move thread.x:u32
//! 1: %1:u32 = compute4 add.u32 %0:u32, 1:u32
//! 2: @%2 store global u32 [%1+8], %0
//! 3: go
//! block 0: 0..3, return
//! ```
//!
//! `%3` is a slot, `!%3` what a predicate is not, `%3:u32` a value that is read or written as this type,
//! `_` a result that nobody wants, `&local8+4` an address and `*local8` what is there. A number behind
//! a name is the opcode by which the source's language and helpers know it.

use std::fmt::{self, Display, Formatter, Write};

use super::{Block, End, Function};
use crate::names::Named;
use crate::operation::{
    Access, Algebra, Argument, Atomic, Barrier, Call, Exchanged, From, Guard, Kind, Meeting, Operation,
    Operator, Passed, Read, Source, Stack, Taken, Target, To, Write as Written,
};
use crate::place::{Address, Base, Part, Place, Special};

/// Something that stands in brackets, or between commas.
fn list<T>(
    f: &mut Formatter<'_>,
    of: &[T],
    each: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in of.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        each(f, item)?;
    }
    Ok(())
}

fn slot(f: &mut Formatter<'_>, slot: Option<u32>) -> fmt::Result {
    match slot {
        Some(slot) => write!(f, "%{slot}"),
        None => f.write_char('_'),
    }
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}%{}", if self.negated { "!" } else { "" }, self.slot)
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Source::Slot(slot) => write!(f, "%{slot}"),
            Source::Not(slot) => write!(f, "!%{slot}"),
            Source::Constant(bits) => write!(f, "{}", bits as i64),
            Source::Special(special) => special.fmt(f),
            Source::Address(place, offset) => write!(f, "&{place}{offset:+}"),
        }
    }
}

impl Display for Read {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.ty.name())
    }
}

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        slot(f, self.slot)?;
        write!(f, ":{}", self.ty.name())
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Place::Slot(slot) => write!(f, "%{slot}"),
            Place::Argument(number) => write!(f, "argument{number}"),
            Place::Parameter(offset) => write!(f, "parameter{offset}"),
            Place::Local(offset) => write!(f, "local{offset}"),
            Place::Symbol(index) => write!(f, "symbol{index}"),
            Place::Function(index) => write!(f, "function{index}"),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Address { base, offset } = *self;
        match base {
            Base::Slot(slot) => write!(f, "[%{slot}{offset:+}]"),
            Base::Place(place) => write!(f, "[&{place}{offset:+}]"),
            Base::Absolute => write!(f, "[{offset}]"),
        }
    }
}

impl Display for Special {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Special::Thread(of) => write!(f, "thread.{}", of.name()),
            Special::Threads(of) => write!(f, "threads.{}", of.name()),
            Special::Block(of) => write!(f, "block.{}", of.name()),
            Special::Blocks(of) => write!(f, "blocks.{}", of.name()),
            Special::Lane => f.write_str("lane"),
            Special::LaneMask(lanes) => write!(f, "lanes.{}", lanes.name()),
            Special::Warp => f.write_str("warp"),
            Special::Warps => f.write_str("warps"),
            Special::Processor => f.write_str("processor"),
            Special::Processors => f.write_str("processors"),
            Special::Grid => f.write_str("grid"),
            Special::Clock(of) => part(f, "clock", of),
            Special::Time(of) => part(f, "time", of),
            Special::Shared => f.write_str("shared"),
            Special::DynamicShared => f.write_str("dynamic_shared"),
            Special::Workspace(of) => part(f, "workspace", of),
        }
    }
}

/// A value of 64 bits, or a half of it.
fn part(f: &mut Formatter<'_>, name: &str, part: Part) -> fmt::Result {
    match part {
        Part::Whole => f.write_str(name),
        half => write!(f, "{name}.{}", half.name()),
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.space.name(), self.ty.name())?;
        if self.count > 1 {
            write!(f, "x{}", self.count)?;
        }
        f.write_str(if self.strong { " strong" } else { "" })?;
        f.write_str(if self.acquire { " acquire" } else { "" })?;
        f.write_str(if self.release { " release" } else { "" })?;
        f.write_str(if self.narrow { " narrow" } else { "" })?;
        f.write_str(if self.uniform { " uniform" } else { "" })
    }
}

impl Display for Algebra {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.operator {
            Operator::Add => f.write_str("add"),
            Operator::Sum => f.write_str("sum"),
            Operator::Subtract => f.write_str("subtract"),
            Operator::Negate => f.write_str("negate"),
            Operator::Multiply(of) => write!(f, "multiply.{}", of.name()),
            Operator::MultiplyAdd(of) => write!(f, "multiply_add.{}", of.name()),
            Operator::Divide => f.write_str("divide"),
            Operator::Remainder => f.write_str("remainder"),
            Operator::And => f.write_str("and"),
            Operator::Or => f.write_str("or"),
            Operator::ShiftLeft => f.write_str("shift_left"),
            Operator::ShiftRight => f.write_str("shift_right"),
            Operator::Convert { to, exact: true } => write!(f, "convert.{}", to.name()),
            Operator::Convert { to, exact: false } => write!(f, "saturate.{}", to.name()),
            Operator::Compare(order) => write!(f, "compare.{}", order.name()),
        }?;
        write!(f, ".{}", self.ty.name())
    }
}

impl Display for Passed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Passed::Value(ty) => f.write_str(ty.name()),
            Passed::Bytes(size) => write!(f, "bytes{size}"),
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.from {
            From::Source(source) => write!(f, "{source}:{}", self.passed),
            From::Place(place) => write!(f, "*{place}:{}", self.passed),
        }
    }
}

impl Display for Taken {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.to {
            To::Nothing => f.write_char('_'),
            To::Slot(slot) => write!(f, "%{slot}"),
            To::Place(place) => write!(f, "*{place}"),
        }?;
        write!(f, ":{}", self.passed)
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            write!(f, "@{guard} ")?;
        }
        self.kind.results(f)?;
        self.kind.fmt(f)
    }
}

impl Kind {
    /// What stands before the name.
    fn results(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let one = |f: &mut Formatter<'_>, result: Option<u32>| {
            slot(f, result)?;
            f.write_str(" = ")
        };
        match self {
            Kind::Compute(crate::Compute { results, .. })
            | Kind::Exchange(crate::Exchange { results, .. })
            | Kind::Move { results, .. }
                if !results.is_empty() =>
            {
                list(f, results, |f, result| result.fmt(f))?;
                f.write_str(" = ")
            }
            Kind::Repack { results, .. } | Kind::Load { results, .. } => {
                list(f, results, |f, &result| slot(f, result))?;
                f.write_str(" = ")
            }
            Kind::Matrix(matrix) if !matrix.results.is_empty() => {
                list(f, &matrix.results, |f, (result, offset)| write!(f, "{result}@{offset}"))?;
                f.write_str(" = ")
            }
            Kind::Call(call) if !call.results.is_empty() => {
                list(f, &call.results, |f, result| result.fmt(f))?;
                f.write_str(" = ")
            }
            Kind::Atomic(atomic) if atomic.returns => one(f, atomic.result),
            Kind::ConvertAddress { result, .. }
            | Kind::IsInSpace { result, .. }
            | Kind::ActiveLanes { result }
            | Kind::Stack { stack: Stack::Allocate { result, .. } | Stack::Save { result }, .. }
            | Kind::Barrier(Barrier { meeting: Meeting::Reduce { result, .. }, .. }) => one(f, *result),
            _ => Ok(()),
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Compute(compute) => {
                write!(f, "compute{}", compute.opcode)?;
                if let Some(algebra) = compute.algebra {
                    write!(f, " {algebra}")?;
                }
                f.write_str(if compute.carries { " carries " } else { " " })?;
                list(f, &compute.sources, |f, read| read.fmt(f))
            }
            Kind::Move { sources, .. } => {
                f.write_str("move ")?;
                list(f, sources, |f, read| read.fmt(f))
            }
            Kind::Repack { ty, sources, .. } => {
                write!(f, "repack {} ", ty.name())?;
                list(f, sources, |f, source| source.fmt(f))
            }
            Kind::Load { access, address, .. } => write!(f, "load {access} {address}"),
            Kind::Store { access, address, sources } => {
                write!(f, "store {access} {address}, ")?;
                list(f, sources, |f, source| source.fmt(f))
            }
            Kind::Atomic(atomic) => {
                let Atomic { opcode, operator, space, ty, .. } = atomic;
                write!(f, "atomic{opcode} {} {} {} ", operator.name(), space.name(), ty.name())?;
                write!(f, "{}, ", atomic.address)?;
                list(f, &atomic.sources, |f, source| source.fmt(f))
            }
            Kind::Copy { to, from, bytes, taken } => write!(f, "copy {to}, {from}, {bytes}, {taken}"),
            Kind::ConvertAddress { ty, space, to_space, source, .. } => {
                let way = if *to_space { "to" } else { "from" };
                write!(f, "convert_address {way} {} {} {source}", space.name(), ty.name())
            }
            Kind::IsInSpace { space, source, .. } => write!(f, "is_in {} {source}", space.name()),
            Kind::Stack { stack, ty } => match stack {
                Stack::Allocate { size, align, .. } => write!(f, "allocate {} {size}, {align}", ty.name()),
                Stack::Save { .. } => write!(f, "save_stack {}", ty.name()),
                Stack::Restore { top } => write!(f, "restore_stack {} {top}", ty.name()),
            },
            Kind::Exchange(exchange) => {
                write!(f, "exchange{} ", exchange.opcode)?;
                match exchange.operator {
                    Exchanged::Nothing => f.write_str("nothing "),
                    Exchanged::Vote(vote) => write!(f, "vote.{} ", vote.name()),
                    Exchanged::Shuffle(shuffle) => write!(f, "shuffle.{} ", shuffle.name()),
                    Exchanged::MatchAny => f.write_str("match_any "),
                    Exchanged::MatchAll => f.write_str("match_all "),
                    Exchanged::Reduce => f.write_str("reduce "),
                    Exchanged::Elect => f.write_str("elect "),
                }?;
                list(f, &exchange.sources, |f, read| read.fmt(f))
            }
            Kind::Matrix(matrix) => {
                write!(f, "matrix{} ", matrix.opcode)?;
                if let Some(address) = matrix.address {
                    write!(f, "{address}, ")?;
                }
                list(f, &matrix.sources, |f, (read, offset)| write!(f, "{read}@{offset}"))
            }
            Kind::ActiveLanes { .. } => f.write_str("active_lanes"),
            Kind::Fence { narrow } => f.write_str(if *narrow { "fence narrow" } else { "fence" }),
            Kind::Sleep => f.write_str("sleep"),
            Kind::Nothing => f.write_str("nothing"),
            Kind::Table { index } => write!(f, "table {index}"),
            Kind::Barrier(barrier) => barrier.fmt(f),
            Kind::Call(call) => call.fmt(f),
            Kind::Go => f.write_str("go"),
        }
    }
}

impl Display for Barrier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.meeting {
            Meeting::Wait => f.write_str("barrier.wait "),
            Meeting::Arrive => f.write_str("barrier.arrive "),
            Meeting::Reduce { reduction, source, .. } => {
                write!(f, "barrier.{} {source}, ", reduction.name())
            }
        }?;
        self.number.fmt(f)?;
        self.count.map_or(Ok(()), |count| write!(f, ", {count}"))
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.target {
            Target::Function(index) => write!(f, "call function{index}("),
            Target::Address { source, signature } => write!(f, "call {source} like {signature:#x}("),
        }?;
        list(f, &self.arguments, |f, argument| argument.fmt(f))?;
        f.write_char(')')
    }
}

impl Display for End {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            End::Jump(to) => write!(f, "jump {to}"),
            End::Branch(guard, yes, no) => write!(f, "branch {guard}, {yes}, {no}"),
            End::Table { operation, targets } => {
                write!(f, "table {operation}: ")?;
                list(f, targets, |f, target| write!(f, "{target}"))
            }
            End::Barrier { operation, next } => write!(f, "barrier {operation}: {next}"),
            End::Call { operation, next } => write!(f, "call {operation}: {next}"),
            End::Return => f.write_str("return"),
            End::Exit => f.write_str("exit"),
            End::Trap { operation } => write!(f, "trap {operation}"),
        }
    }
}

impl Display for Block {
    /// The operations by number, and the end.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let together = if self.collective { " together" } else { "" };
        write!(f, "{}..{}{together}, {}", self.operations.start, self.operations.end, self.end)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("slots ")?;
        list(f, &self.slots, |f, ty| f.write_str(ty.name()))?;
        f.write_char('\n')?;
        for (number, operation) in self.operations.iter().enumerate() {
            writeln!(f, "{number}: {operation}")?;
        }
        for (number, block) in self.blocks.iter().enumerate() {
            writeln!(f, "block {number}: {block}")?;
        }
        Ok(())
    }
}
