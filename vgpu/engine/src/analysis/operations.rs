//! What instructions of PTX are, as operations: where their operands are, of which types, and what is
//! known of them. From here on nothing reads PTX but the sequences that `lower` makes.

use gangway_interpreter::signature;
use gangway_ptx::meaning::{
    self, AsyncCopy, AtomicOperation, Bits, Compare, Comparison, Control, Conversion, Convert,
    ExchangeOperation, Hint, Integer, Logic, Part as Bytes, Video, VideoOperation, VideoThen,
};
use gangway_ptx::{
    Base as Named, Body, Expected, Instruction, Meaning, Module, Opcode, Operand, Role, SpecialRegister,
    StateSpace, Symbol, Type, Variable,
};
use gangway_simt::{
    Access, Address, Algebra, Argument, Atomic, AtomicOperator, Axis, Barrier, Base, Call, Compute, Exchange,
    Exchanged, From, Half, Kind, Lanes, Matrix, Meeting, Operation, Operator, Part, Passed, Place, Read,
    Scalar, Source, Space, Special, Stack, Taken, Target, To, Write,
};

use crate::abi::LANES;
use crate::analysis::layout::is_scalar;
use crate::analysis::slots::Slots;
use crate::lower::integer_order;

/// The operations of a function's instructions, one each; the opcode that has an operand which
/// no operation has: only in modules that the verifier has not seen.
pub(crate) fn operations(module: &Module, body: &Body, slots: &Slots) -> Result<Vec<Operation>, String> {
    let reader = Reader { module, body, slots };
    let operation = |instruction: &Instruction| {
        let guard = instruction.guard.map(|guard| slots.guard(guard));
        match reader.kind(instruction) {
            Some(kind) => Ok(Operation { guard, kind }),
            None => Err(module.opcode(instruction).to_string()),
        }
    };
    body.instructions.iter().map(operation).collect()
}

/// The form in which lanes have values of a type.
pub(crate) fn scalar(ty: Type) -> Scalar {
    match ty {
        Type::Pred => Scalar::Predicate,
        ty if ty.is_float() && ty.bits() == 32 => Scalar::F32,
        ty if ty.is_float() && ty.bits() == 64 => Scalar::F64,
        ty => Scalar::of(ty.bits(), ty.is_signed())
            .unwrap_or_else(|| unreachable!("functions with values of 128 bits are refused")),
    }
}

struct Reader<'a> {
    module: &'a Module,
    body: &'a Body,
    slots: &'a Slots,
}

impl Reader<'_> {
    fn kind(&self, instruction: &Instruction) -> Option<Kind> {
        let opcode = self.module.opcode(instruction);
        let operands = self.body.operands(instruction);
        let number = instruction.opcode.0;
        Some(match opcode.meaning {
            Meaning::Compute(compute) => Kind::Compute(Compute {
                opcode: number,
                algebra: algebra(compute),
                carries: opcode.meaning.carries(),
                sources: self.reads(opcode, operands, Type::B64)?,
                results: self.writes(opcode, operands, Type::B64),
            }),
            Meaning::Move { ty, vector } => self.moved(operands, vector, ty)?,
            Meaning::Load(access) => Kind::Load {
                access: accessed(access),
                address: self.address(operands[1])?,
                results: self.targets(operands[0]),
            },
            Meaning::Store(access) => Kind::Store {
                access: accessed(access),
                address: self.address(operands[0])?,
                sources: self.sources(operands[1])?,
            },
            Meaning::Atomic(atomic) => self.atomic(number, operands, atomic)?,
            Meaning::Copy(AsyncCopy::Start) => {
                let Operand::Integer(bytes) = operands[2] else { return None };
                let taken = match operands[3] {
                    Operand::Absent => Source::Constant(bytes as u64),
                    taken => self.source(taken)?,
                };
                let (to, from) = (self.address(operands[0])?, self.address(operands[1])?);
                Kind::Copy { to, from, bytes: bytes as u32, taken }
            }
            // Copies are done when they start.
            Meaning::Hint(Hint::Prefetch | Hint::Breakpoint) | Meaning::Copy(AsyncCopy::Group) => {
                Kind::Nothing
            }
            Meaning::ConvertAddress { ty, space: of, to_space } => Kind::ConvertAddress {
                ty: scalar(ty),
                space: space(of),
                to_space,
                source: self.source(operands[1])?,
                result: self.slot(operands[0]),
            },
            Meaning::IsInSpace(of) => Kind::IsInSpace {
                space: space(of),
                source: self.source(operands[1])?,
                result: self.slot(operands[0]),
            },
            Meaning::Stack(stack, ty) => Kind::Stack { stack: self.stack(operands, stack)?, ty: scalar(ty) },
            Meaning::Exchange(exchange) => Kind::Exchange(Exchange {
                opcode: number,
                operator: exchanged(exchange.op),
                sources: self.reads(opcode, operands, Type::B32)?,
                results: self.writes(opcode, operands, Type::B32),
            }),
            Meaning::Matrix(_) => self.matrix(number, opcode, operands)?,
            Meaning::ActiveMask => Kind::ActiveLanes { result: self.slot(operands[0]) },
            Meaning::Fence { narrow } => Kind::Fence { narrow },
            Meaning::Hint(Hint::Sleep) => Kind::Sleep,
            Meaning::Control(Control::BranchIndexed) => Kind::Table { index: self.source(operands[0])? },
            Meaning::Control(Control::Call) => self.call(operands)?,
            Meaning::Control(Control::Branch | Control::Return | Control::Exit | Control::Trap) => Kind::Go,
            Meaning::Barrier(barrier) => self.barrier(operands, barrier)?,
        })
    }

    /// The value of an operand.
    fn source(&self, operand: Operand) -> Option<Source> {
        Some(match operand {
            Operand::Register(id) => Source::Slot(self.slots.of(id, 0)),
            Operand::Component(id, element) => Source::Slot(self.slots.of(id, element)),
            Operand::Negated(id) => Source::Not(self.slots.of(id, 0)),
            Operand::Integer(value) => Source::Constant(value as u64),
            Operand::Float32(bits) => Source::Constant(bits.into()),
            Operand::Float64(bits) => Source::Constant(bits),
            Operand::Special(register) => Source::Special(special(register)),
            Operand::Symbol(symbol, offset) => Source::Address(self.place(symbol), offset),
            Operand::Absent
            | Operand::Sink
            | Operand::Address(..)
            | Operand::Vector { .. }
            | Operand::List { .. }
            | Operand::Block(_)
            | Operand::Targets(_)
            | Operand::Prototype(_)
            | Operand::Function(_) => return None,
        })
    }

    /// Where a result goes; none for what is not wanted.
    fn slot(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Register(id) => Some(self.slots.of(id, 0)),
            Operand::Component(id, element) => Some(self.slots.of(id, element)),
            _ => None,
        }
    }

    fn place(&self, symbol: Symbol) -> Place {
        self.slots.layout.place(symbol)
    }

    /// What a vector or a register of several elements stands for.
    fn parts(&self, operand: Operand) -> Vec<Operand> {
        match operand {
            Operand::Vector { .. } => self.body.elements(operand).to_vec(),
            Operand::Register(id) if self.body.register(id).vector > 1 => {
                (0..self.body.register(id).vector).map(|element| Operand::Component(id, element)).collect()
            }
            other => vec![other],
        }
    }

    fn sources(&self, operand: Operand) -> Option<Box<[Source]>> {
        self.parts(operand).into_iter().map(|part| self.source(part)).collect()
    }

    fn targets(&self, operand: Operand) -> Box<[Option<u32>]> {
        self.parts(operand).into_iter().map(|part| self.slot(part)).collect()
    }

    /// The source operands, as the types that the opcode says; `otherwise` where it says none.
    fn reads(&self, opcode: &Opcode, operands: &[Operand], otherwise: Type) -> Option<Box<[Read]>> {
        let sources = operands
            .iter()
            .zip(&opcode.expected)
            .filter(|(operand, expected)| !expected.role.writes() && **operand != Operand::Absent);
        let read = |(&operand, expected): (&Operand, &Expected)| {
            Some(Read { source: self.source(operand)?, ty: scalar(expected.ty.unwrap_or(otherwise)) })
        };
        sources.map(read).collect()
    }

    fn writes(&self, opcode: &Opcode, operands: &[Operand], otherwise: Type) -> Box<[Write]> {
        let results = operands.iter().zip(&opcode.expected).filter(|(_, expected)| expected.role.writes());
        let write = |(&operand, expected): (&Operand, &Expected)| Write {
            slot: self.slot(operand),
            ty: scalar(expected.ty.unwrap_or(otherwise)),
        };
        results.map(write).collect()
    }

    fn address(&self, operand: Operand) -> Option<Address> {
        let Operand::Address(base, offset) = operand else { return None };
        let base = match base {
            Named::Register(id) => Base::Slot(self.slots.of(id, 0)),
            Named::Symbol(symbol) => Base::Place(self.place(symbol)),
            Named::Absolute => Base::Absolute,
        };
        Some(Address { base, offset })
    }

    fn moved(&self, operands: &[Operand], vector: u8, ty: Type) -> Option<Kind> {
        let (sources, results) = (self.sources(operands[1])?, self.targets(operands[0]));
        let ty = scalar(ty);
        Some(if vector > 1 || sources.len() == 1 && results.len() == 1 {
            Kind::Move {
                sources: sources.into_iter().map(|source| Read { source, ty }).collect(),
                results: results.into_iter().map(|slot| Write { slot, ty }).collect(),
            }
        } else {
            Kind::Repack { ty, sources, results }
        })
    }

    fn atomic(&self, opcode: u32, operands: &[Operand], atomic: meaning::Atomic) -> Option<Kind> {
        let first = usize::from(atomic.returns);
        let sources = operands[first + 1..].iter().map(|&operand| self.source(operand));
        Some(Kind::Atomic(Atomic {
            opcode,
            operator: atomic_operator(atomic),
            ty: scalar(atomic.ty),
            space: space(atomic.space),
            address: self.address(operands[first])?,
            sources: sources.collect::<Option<_>>()?,
            result: if atomic.returns { self.slot(operands[0]) } else { None },
            returns: atomic.returns,
        }))
    }

    fn stack(&self, operands: &[Operand], stack: meaning::Stack) -> Option<Stack> {
        Some(match stack {
            meaning::Stack::Allocate => {
                let align = match operands[2] {
                    Operand::Integer(align) => align as u64,
                    _ => 8,
                };
                Stack::Allocate { size: self.source(operands[1])?, align, result: self.slot(operands[0]) }
            }
            meaning::Stack::Save => Stack::Save { result: self.slot(operands[0]) },
            meaning::Stack::Restore => Stack::Restore { top: self.source(operands[0])? },
        })
    }

    fn matrix(&self, number: u32, opcode: &Opcode, operands: &[Operand]) -> Option<Kind> {
        let mut offset = 0;
        let (mut address, mut sources, mut results) = (None, Vec::new(), Vec::new());
        for (&operand, expected) in operands.iter().zip(&opcode.expected) {
            if expected.role == Role::Address {
                address = Some(self.address(operand)?);
                continue;
            }
            let ty = scalar(expected.ty.unwrap_or(Type::B32));
            for part in self.parts(operand) {
                if expected.role.writes() {
                    results.push((Write { slot: self.slot(part), ty }, offset));
                } else {
                    sources.push((Read { source: self.source(part)?, ty }, offset));
                }
                offset += (LANES * if ty.is_wide() { 8 } else { 4 }) as u32;
            }
        }
        let (sources, results) = (sources.into(), results.into());
        Some(Kind::Matrix(Matrix { opcode: number, address, sources, results }))
    }

    fn barrier(&self, operands: &[Operand], barrier: meaning::Barrier) -> Option<Kind> {
        let reduces = matches!(barrier, meaning::Barrier::Reduce(_));
        let first = usize::from(reduces);
        let &last = operands.last()?;
        let meeting = match barrier {
            meaning::Barrier::Wait => Meeting::Wait,
            meaning::Barrier::Arrive => Meeting::Arrive,
            meaning::Barrier::Reduce(reduction) => {
                Meeting::Reduce { reduction, source: self.source(last)?, result: self.slot(operands[0]) }
            }
        };
        let count = match operands[..operands.len() - first].get(first + 1) {
            Some(Operand::Absent) | None => None,
            Some(&operand) => Some(self.source(operand)?),
        };
        Some(Kind::Barrier(Barrier { meeting, number: self.source(operands[first])?, count }))
    }

    fn call(&self, operands: &[Operand]) -> Option<Kind> {
        let (returns, parameters) = match (operands[1], operands[3]) {
            (Operand::Function(id), _) => {
                let callee = &self.module.functions[id.index()];
                (&callee.returns, &callee.parameters)
            }
            (_, Operand::Prototype(id)) => {
                let prototype = &self.body.prototypes[id.index()];
                (&prototype.returns, &prototype.parameters)
            }
            _ => return None,
        };
        let target = match operands[1] {
            Operand::Function(id) => {
                let alias = self.module.aliases.iter().find(|alias| alias.alias == id);
                Target::Function(alias.map_or(id, |alias| alias.target).0)
            }
            by_address => Target::Address {
                source: self.source(by_address)?,
                signature: signature(parameters, returns),
            },
        };
        let arguments = self.body.elements(operands[2]).iter().zip(parameters);
        let arguments = arguments.map(|(&argument, parameter)| {
            let passed = passed(parameter);
            let from = match (argument, passed) {
                (Operand::Symbol(symbol, _), _) => From::Place(self.place(symbol)),
                (value, Passed::Value(_)) => From::Source(self.source(value)?),
                // No value fills an array.
                (_, Passed::Bytes(_)) => return None,
            };
            Some(Argument { passed, from })
        });
        let results = self.body.elements(operands[0]).iter().zip(returns);
        let results = results.map(|(&result, variable)| {
            let passed = passed(variable);
            let to = match (result, self.slot(result), passed) {
                (Operand::Symbol(symbol, _), ..) => To::Place(self.place(symbol)),
                (_, None, _) => To::Nothing,
                (_, Some(slot), Passed::Value(_)) => To::Slot(slot),
                (_, Some(_), Passed::Bytes(_)) => return None,
            };
            Some(Taken { passed, to })
        });
        let arguments = arguments.collect::<Option<_>>()?;
        let results = results.collect::<Option<_>>()?;
        Some(Kind::Call(Call { target, arguments, results }))
    }
}

fn passed(variable: &Variable) -> Passed {
    if is_scalar(variable) {
        Passed::Value(scalar(variable.ty))
    } else {
        Passed::Bytes(variable.size().unwrap_or(0) as u32)
    }
}

fn accessed(access: meaning::MemoryAccess) -> Access {
    Access {
        ty: scalar(access.ty),
        count: access.vector,
        space: space(access.space),
        strong: access.strong,
        acquire: access.order.acquire,
        release: access.order.release,
        narrow: access.order.narrow,
        uniform: access.uniform,
    }
}

fn space(space: StateSpace) -> Space {
    match space {
        StateSpace::Generic => Space::Generic,
        StateSpace::Global => Space::Global,
        StateSpace::Const => Space::Constant,
        StateSpace::Shared | StateSpace::SharedCta => Space::Shared,
        StateSpace::Local => Space::Local,
        StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => Space::Parameters,
        StateSpace::Reg | StateSpace::Sreg | StateSpace::SharedCluster => {
            unreachable!("no form of an instruction has this space")
        }
    }
}

const fn exchanged(op: ExchangeOperation) -> Exchanged {
    match op {
        ExchangeOperation::Meet => Exchanged::Nothing,
        ExchangeOperation::Vote(vote) => Exchanged::Vote(vote),
        ExchangeOperation::Shuffle(shuffle) => Exchanged::Shuffle(shuffle),
        ExchangeOperation::MatchAny(_) => Exchanged::MatchAny,
        ExchangeOperation::MatchAll(_) => Exchanged::MatchAll,
        ExchangeOperation::Reduce(..) => Exchanged::Reduce,
        ExchangeOperation::Elect => Exchanged::Elect,
    }
}

/// What is done on words of 32 and 64 bits has a name here.
const fn atomic_operator(atomic: meaning::Atomic) -> AtomicOperator {
    let ty = atomic.ty;
    if !(matches!(ty, Type::F32 | Type::F64) || !ty.is_float() && ty.bits() >= 32) {
        return AtomicOperator::Other;
    }
    match atomic.op {
        AtomicOperation::Add => AtomicOperator::Add,
        AtomicOperation::AddFloat => AtomicOperator::AddFloat,
        AtomicOperation::Exchange => AtomicOperator::Exchange,
        AtomicOperation::CompareAndSwap => AtomicOperator::CompareAndSwap,
        AtomicOperation::And => AtomicOperator::And,
        AtomicOperation::Or => AtomicOperator::Or,
        AtomicOperation::Xor => AtomicOperator::Xor,
        AtomicOperation::Min => AtomicOperator::Min,
        AtomicOperation::Max => AtomicOperator::Max,
        // No processor has such an instruction.
        AtomicOperation::Increment | AtomicOperation::Decrement => AtomicOperator::Other,
    }
}

const fn half(part: Bytes) -> Half {
    match part {
        Bytes::Low => Half::Low,
        Bytes::High => Half::High,
        Bytes::Wide => Half::Both,
    }
}

/// Integer arithmetic on 32 and 64 bits, and products of 32 bits.
fn algebra(compute: meaning::Compute) -> Option<Algebra> {
    use meaning::Compute;
    let (operator, ty) = match compute {
        Compute::Integer { op, ty } => (integer(op)?, ty),
        Compute::Video(video) => (word_sum(video)?, video.to),
        Compute::Bits { op: Bits::ShiftLeft, ty } => (Operator::ShiftLeft, ty),
        Compute::Bits { op: Bits::ShiftRight, ty } => (Operator::ShiftRight, ty),
        Compute::Logic { op: Logic::And, ty } => (Operator::And, ty),
        Compute::Logic { op: Logic::Or, ty } => (Operator::Or, ty),
        Compute::Convert(Convert { between: Conversion::Integers, to, from, mode, .. }) => {
            if to.bits() < 32 {
                return None;
            }
            (Operator::Convert { to: scalar(to), exact: !mode.sat }, from)
        }
        Compute::SetPredicate(Compare {
            comparison: Comparison::Integers(order), ty, combine: None, ..
        }) => (Operator::Compare(integer_order(order, ty)), ty),
        _ => return None,
    };
    let bits = if operator == Operator::Multiply(Half::Both) { 2 * ty.bits() } else { ty.bits() };
    (bits >= 32).then(|| Algebra { operator, ty: scalar(ty) })
}

/// GCC adds three numbers by a video instruction.
const fn word_sum(video: Video) -> Option<Operator> {
    let Video { op: VideoOperation::Add, parts: 1, to, a, b, sat: false, then } = video else { return None };
    match (to.bits(), a.bits(), b.bits(), then) {
        (32, 32, 32, None) => Some(Operator::Add),
        (32, 32, 32, Some(VideoThen::Add)) => Some(Operator::Sum),
        _ => None,
    }
}

const fn integer(op: Integer) -> Option<Operator> {
    Some(match op {
        Integer::Add { sat: false } => Operator::Add,
        Integer::Sub { sat: false } => Operator::Subtract,
        Integer::Neg => Operator::Negate,
        Integer::Mul(part) => Operator::Multiply(half(part)),
        Integer::Mad { part, sat: false } => Operator::MultiplyAdd(half(part)),
        Integer::Div => Operator::Divide,
        Integer::Rem => Operator::Remainder,
        Integer::Add { sat: true }
        | Integer::Sub { sat: true }
        | Integer::Mad { sat: true, .. }
        | Integer::Mul24 { .. }
        | Integer::Mad24 { .. }
        | Integer::Sad
        | Integer::Abs
        | Integer::Min { .. }
        | Integer::Max { .. } => return None,
    })
}

const fn special(register: SpecialRegister) -> Special {
    match register {
        SpecialRegister::TidX => Special::Thread(Axis::X),
        SpecialRegister::TidY => Special::Thread(Axis::Y),
        SpecialRegister::TidZ => Special::Thread(Axis::Z),
        SpecialRegister::NtidX => Special::Threads(Axis::X),
        SpecialRegister::NtidY => Special::Threads(Axis::Y),
        SpecialRegister::NtidZ => Special::Threads(Axis::Z),
        SpecialRegister::CtaidX => Special::Block(Axis::X),
        SpecialRegister::CtaidY => Special::Block(Axis::Y),
        SpecialRegister::CtaidZ => Special::Block(Axis::Z),
        SpecialRegister::NctaidX => Special::Blocks(Axis::X),
        SpecialRegister::NctaidY => Special::Blocks(Axis::Y),
        SpecialRegister::NctaidZ => Special::Blocks(Axis::Z),
        SpecialRegister::Laneid => Special::Lane,
        SpecialRegister::Warpid => Special::Warp,
        SpecialRegister::Nwarpid => Special::Warps,
        SpecialRegister::Smid => Special::Processor,
        SpecialRegister::Nsmid => Special::Processors,
        SpecialRegister::Gridid => Special::Grid,
        SpecialRegister::LanemaskEq => Special::LaneMask(Lanes::Own),
        SpecialRegister::LanemaskLe => Special::LaneMask(Lanes::UpToOwn),
        SpecialRegister::LanemaskLt => Special::LaneMask(Lanes::Before),
        SpecialRegister::LanemaskGe => Special::LaneMask(Lanes::FromOwn),
        SpecialRegister::LanemaskGt => Special::LaneMask(Lanes::Behind),
        SpecialRegister::Clock => Special::Clock(Part::Low),
        SpecialRegister::ClockHi => Special::Clock(Part::High),
        SpecialRegister::Clock64 => Special::Clock(Part::Whole),
        SpecialRegister::Globaltimer => Special::Time(Part::Whole),
        SpecialRegister::GlobaltimerLo => Special::Time(Part::Low),
        SpecialRegister::GlobaltimerHi => Special::Time(Part::High),
        SpecialRegister::TotalSmemSize => Special::Shared,
        SpecialRegister::DynamicSmemSize => Special::DynamicShared,
        SpecialRegister::Envreg1 => Special::Workspace(Part::High),
        SpecialRegister::Envreg2 => Special::Workspace(Part::Low),
    }
}
