//! The table: what each operation means.
//!
//! Every [`Op`] has an arm, so that a new one does not compile without a meaning. `None` is for
//! modifiers that no form of the operation has.

use super::reading::Reading;
use super::*;
use crate::modifier::{Modifier, Word};
use crate::op::Op;
use crate::types::Type;

/// The meaning of an operation with these modifiers; `None` where they say nothing, or one of
/// them has no part in it.
pub(crate) fn of(op: Op, modifiers: &[Modifier]) -> Option<Meaning> {
    let m = Reading::new(modifiers);
    let meaning = class(op, &m)?;
    m.is_complete().then_some(meaning)
}

fn class(op: Op, m: &Reading<'_>) -> Option<Meaning> {
    use Meaning::*;
    Some(match op {
        // Sums, products, quotients
        Op::Add => match numbers(m)? {
            Numbers::Integer(ty) if m.has(Word::Cc) => link(CarryOperation::Add, ty, false, true),
            Numbers::Integer(ty) => integer(Integer::Add { sat: m.has(Word::Sat) }, ty),
            Numbers::Packed(ty) => packed(m, super::Packed::Add, ty),
            Numbers::Float(ty) => float(Float::Add, ty, arithmetic(m)),
            Numbers::Half(ty) => half(Half::Add, ty, arithmetic(m)),
        },
        Op::Sub => match numbers(m)? {
            Numbers::Integer(ty) if m.has(Word::Cc) => link(CarryOperation::Sub, ty, false, true),
            Numbers::Integer(ty) => integer(Integer::Sub { sat: m.has(Word::Sat) }, ty),
            Numbers::Packed(_) => return None,
            Numbers::Float(ty) => float(Float::Sub, ty, arithmetic(m)),
            Numbers::Half(ty) => half(Half::Sub, ty, arithmetic(m)),
        },
        Op::Addc => link(CarryOperation::Add, m.ty(0)?, true, m.has(Word::Cc)),
        Op::Subc => link(CarryOperation::Sub, m.ty(0)?, true, m.has(Word::Cc)),
        Op::Madc => link(CarryOperation::Mad { high: is_high(m)? }, m.ty(0)?, true, m.has(Word::Cc)),
        Op::Mul => match numbers(m)? {
            Numbers::Integer(ty) => integer(Integer::Mul(part(m)?), ty),
            Numbers::Packed(_) => return None,
            Numbers::Float(ty) => float(Float::Mul, ty, arithmetic(m)),
            Numbers::Half(ty) => half(Half::Mul, ty, arithmetic(m)),
        },
        Op::Mad => match numbers(m)? {
            Numbers::Integer(ty) if m.has(Word::Cc) => {
                link(CarryOperation::Mad { high: is_high(m)? }, ty, false, true)
            }
            Numbers::Integer(ty) => integer(Integer::Mad { part: part(m)?, sat: m.has(Word::Sat) }, ty),
            Numbers::Float(ty) => float(Float::Fma, ty, arithmetic(m)),
            Numbers::Packed(_) | Numbers::Half(_) => return None,
        },
        Op::Fma => match numbers(m)? {
            Numbers::Float(ty) => float(Float::Fma, ty, arithmetic(m)),
            Numbers::Half(ty) => half(Half::Fma, ty, Mode { relu: m.has(Word::Relu), ..arithmetic(m) }),
            Numbers::Integer(_) | Numbers::Packed(_) => return None,
        },
        Op::Mul24 => integer(Integer::Mul24 { high: is_high(m)? }, m.ty(0)?),
        Op::Mad24 => integer(Integer::Mad24 { high: is_high(m)?, sat: m.has(Word::Sat) }, m.ty(0)?),
        Op::Sad => integer(Integer::Sad, m.ty(0)?),
        Op::Rem => integer(Integer::Rem, m.ty(0)?),
        Op::Div => match numbers(m)? {
            Numbers::Integer(ty) => integer(Integer::Div, ty),
            Numbers::Float(ty) if is_approximate(m) => approximate(m, Approximate::Div, ty),
            Numbers::Float(ty) => float(Float::Div, ty, arithmetic(m)),
            Numbers::Packed(_) | Numbers::Half(_) => return None,
        },
        Op::Abs => match numbers(m)? {
            Numbers::Integer(ty) => integer(Integer::Abs, ty),
            Numbers::Packed(_) => return None,
            Numbers::Float(ty) => float(Float::Abs, ty, exact(m)),
            Numbers::Half(ty) => half(Half::Abs, ty, exact(m)),
        },
        Op::Neg => match numbers(m)? {
            Numbers::Integer(ty) => integer(Integer::Neg, ty),
            Numbers::Packed(_) => return None,
            Numbers::Float(ty) => float(Float::Neg, ty, exact(m)),
            Numbers::Half(ty) => half(Half::Neg, ty, exact(m)),
        },
        Op::Min => match numbers(m)? {
            Numbers::Integer(ty) => integer(Integer::Min { relu: m.has(Word::Relu) }, ty),
            Numbers::Packed(ty) => packed(m, super::Packed::Min, ty),
            Numbers::Float(ty) => float(Float::Min { nan: m.has(Word::Nan) }, ty, exact(m)),
            Numbers::Half(ty) => half(Half::Min { nan: m.has(Word::Nan) }, ty, exact(m)),
        },
        Op::Max => match numbers(m)? {
            Numbers::Integer(ty) => integer(Integer::Max { relu: m.has(Word::Relu) }, ty),
            Numbers::Packed(ty) => packed(m, super::Packed::Max, ty),
            Numbers::Float(ty) => float(Float::Max { nan: m.has(Word::Nan) }, ty, exact(m)),
            Numbers::Half(ty) => half(Half::Max { nan: m.has(Word::Nan) }, ty, exact(m)),
        },
        Op::Copysign => float(Float::Copysign, m.ty(0)?, exact(m)),
        // Roots and approximations
        Op::Rcp if is_approximate(m) => approximate(m, Approximate::Rcp, m.ty(0)?),
        Op::Rcp => float(Float::Rcp, m.ty(0)?, arithmetic(m)),
        Op::Sqrt if is_approximate(m) => approximate(m, Approximate::Sqrt, m.ty(0)?),
        Op::Sqrt => float(Float::Sqrt, m.ty(0)?, arithmetic(m)),
        Op::Rsqrt => always_approximate(m, Approximate::Rsqrt)?,
        Op::Sin => always_approximate(m, Approximate::Sin)?,
        Op::Cos => always_approximate(m, Approximate::Cos)?,
        Op::Lg2 => always_approximate(m, Approximate::Lg2)?,
        Op::Ex2 => always_approximate(m, Approximate::Ex2)?,
        Op::Tanh => always_approximate(m, Approximate::Tanh)?,
        // Bits
        Op::And => logic(Logic::And, m.ty(0)?),
        Op::Or => logic(Logic::Or, m.ty(0)?),
        Op::Xor => logic(Logic::Xor, m.ty(0)?),
        Op::Not => logic(Logic::Not, m.ty(0)?),
        Op::Lop3 => {
            m.ignore_types();
            Compute(super::Compute::Table(combine(m)))
        }
        Op::Cnot => bits(Bits::IsZero, m.ty(0)?),
        Op::Shl => bits(Bits::ShiftLeft, m.ty(0)?),
        Op::Shr => bits(Bits::ShiftRight, m.ty(0)?),
        Op::Shf => {
            let left = m.one_of(&[(Word::L, true), (Word::R, false)])?;
            let wrap = m.one_of(&[(Word::Wrap, true), (Word::Clamp, false)])?;
            bits(Bits::Funnel { left, wrap }, m.ty(0)?)
        }
        Op::Popc => bits(Bits::Population, m.ty(0)?),
        Op::Clz => bits(Bits::LeadingZeros, m.ty(0)?),
        Op::Bfind => bits(Bits::Find { from_top: m.has(Word::Shiftamt) }, m.ty(0)?),
        Op::Fns => bits(Bits::FindNth, m.ty(0)?),
        Op::Brev => bits(Bits::Reverse, m.ty(0)?),
        Op::Bfe => bits(Bits::Extract, m.ty(0)?),
        Op::Bfi => bits(Bits::Insert, m.ty(0)?),
        Op::Szext => bits(Bits::Extend { clamp: clamps(m)? }, m.ty(0)?),
        Op::Bmsk => bits(Bits::Mask { clamp: clamps(m)? }, m.ty(0)?),
        Op::Prmt => {
            let mode = m.one_of(&[
                (Word::F4e, Permute::Forward),
                (Word::B4e, Permute::Backward),
                (Word::Rc8, Permute::ReplicateByte),
                (Word::Ecl, Permute::ClampLeft),
                (Word::Ecr, Permute::ClampRight),
                (Word::Rc16, Permute::ReplicateHalf),
            ]);
            bits(Bits::Permute(mode.unwrap_or(Permute::Nibbles)), m.ty(0)?)
        }
        Op::Dp4a => dot(m, DotShape::Four)?,
        Op::Dp2a => dot(m, if is_high(m)? { DotShape::TwoHigh } else { DotShape::TwoLow })?,
        // Comparisons, selections, conversions
        Op::Setp => Compute(super::Compute::SetPredicate(compare(m, 0)?)),
        Op::Set => Compute(super::Compute::Set(compare(m, 1)?, m.ty(0)?)),
        Op::Selp => Compute(super::Compute::Select(m.ty(0)?)),
        Op::Slct => {
            let (ty, by, ftz) = (m.ty(0)?, m.ty(1)?, m.has(Word::Ftz));
            Compute(super::Compute::SelectBySign { ty, by, ftz })
        }
        Op::Testp => {
            let test = m.one_of(&[
                (Word::Finite, Test::Finite),
                (Word::Infinite, Test::Infinite),
                (Word::Number, Test::Number),
                (Word::NotANumber, Test::NotANumber),
                (Word::Normal, Test::Normal),
                (Word::Subnormal, Test::Subnormal),
            ])?;
            Compute(super::Compute::Test { test, ty: m.ty(0)? })
        }
        Op::Cvt => Compute(super::Compute::Convert(convert(m)?)),
        // Video
        Op::Vadd => video(m, VideoOperation::Add, 1)?,
        Op::Vadd2 => video(m, VideoOperation::Add, 2)?,
        Op::Vadd4 => video(m, VideoOperation::Add, 4)?,
        Op::Vsub => video(m, VideoOperation::Sub, 1)?,
        Op::Vsub2 => video(m, VideoOperation::Sub, 2)?,
        Op::Vsub4 => video(m, VideoOperation::Sub, 4)?,
        Op::Vabsdiff => video(m, VideoOperation::AbsDiff, 1)?,
        Op::Vabsdiff2 => video(m, VideoOperation::AbsDiff, 2)?,
        Op::Vabsdiff4 => video(m, VideoOperation::AbsDiff, 4)?,
        Op::Vmin => video(m, VideoOperation::Min, 1)?,
        Op::Vmin2 => video(m, VideoOperation::Min, 2)?,
        Op::Vmin4 => video(m, VideoOperation::Min, 4)?,
        Op::Vmax => video(m, VideoOperation::Max, 1)?,
        Op::Vmax2 => video(m, VideoOperation::Max, 2)?,
        Op::Vmax4 => video(m, VideoOperation::Max, 4)?,
        Op::Vshl => video(m, VideoOperation::ShiftLeft { clamp: clamps(m)? }, 1)?,
        Op::Vshr => video(m, VideoOperation::ShiftRight { clamp: clamps(m)? }, 1)?,
        Op::Vset => video(m, VideoOperation::Set(order(m)?), 1)?,
        Op::Vset2 => video(m, VideoOperation::Set(order(m)?), 2)?,
        Op::Vset4 => video(m, VideoOperation::Set(order(m)?), 4)?,
        Op::Vmad => Compute(super::Compute::VideoMad(super::VideoMad {
            to: m.ty(0)?,
            a: m.ty(1)?,
            b: m.ty(2)?,
            plus_one: m.has(Word::Po),
            sat: m.has(Word::Sat),
            shift: m.one_of(&[(Word::Shr7, 7), (Word::Shr15, 15)]).unwrap_or(0),
        })),
        // Memory and addresses
        Op::Mov => Move { ty: m.ty(0)?, vector: m.vector() },
        Op::Cvta => ConvertAddress { ty: m.ty(0)?, space: m.space(), to_space: m.has(Word::To) },
        Op::Isspacep => IsInSpace(m.space()),
        Op::Ld => Load(access(m, false)?),
        Op::Ldu => Load(access(m, true)?),
        Op::St => Store(access(m, false)?),
        Op::Atom => Atomic(atomic(m, true)?),
        Op::Red => Atomic(atomic(m, false)?),
        Op::Cp => {
            m.ignore(&[Word::Async, Word::Ca, Word::Cg]);
            m.ignore(AHEAD);
            let groups = [Word::CommitGroup, Word::WaitGroup, Word::WaitAll].map(|word| (word, ()));
            match m.one_of(&groups) {
                Some(()) => Copy(AsyncCopy::Group),
                None => {
                    m.ignore_spaces();
                    Copy(AsyncCopy::Start)
                }
            }
        }
        Op::Alloca => Stack(super::Stack::Allocate, m.ty(0)?),
        Op::Stacksave => Stack(super::Stack::Save, m.ty(0)?),
        Op::Stackrestore => Stack(super::Stack::Restore, m.ty(0)?),
        Op::Prefetch | Op::Prefetchu => {
            m.ignore(&[Word::L1, Word::L2, Word::L2EvictLast, Word::L2EvictNormal]);
            m.ignore_spaces();
            Hint(super::Hint::Prefetch)
        }
        // Control
        Op::Bra => control(m, super::Control::Branch),
        Op::Brx => {
            m.ignore(&[Word::Idx]);
            control(m, super::Control::BranchIndexed)
        }
        Op::Call => control(m, super::Control::Call),
        Op::Ret => control(m, super::Control::Return),
        Op::Exit => control(m, super::Control::Exit),
        Op::Trap => control(m, super::Control::Trap),
        Op::Brkpt => Hint(super::Hint::Breakpoint),
        Op::Nanosleep => {
            m.ignore_types();
            Hint(super::Hint::Sleep)
        }
        // Barriers and fences
        Op::Bar | Op::Barrier if m.has(Word::Warp) => exchange(m, ExchangeOperation::Meet),
        Op::Bar | Op::Barrier => Barrier(barrier(m)?),
        Op::Membar | Op::Fence => {
            m.ignore(&[Word::Gl, Word::Sc, Word::AcqRel, Word::Acquire, Word::Release]);
            Fence { narrow: is_narrow(m) }
        }
        // Warps
        Op::Shfl => {
            m.ignore_types();
            let mode = m.one_of(&[
                (Word::Up, Shuffle::Up),
                (Word::Down, Shuffle::Down),
                (Word::Bfly, Shuffle::Butterfly),
                (Word::Idx, Shuffle::Index),
            ]);
            exchange(m, ExchangeOperation::Shuffle(mode?))
        }
        Op::Vote => {
            m.ignore_types();
            let mode = m.one_of(&[
                (Word::Ballot, Vote::Ballot),
                (Word::All, Vote::All),
                (Word::Any, Vote::Any),
                (Word::Uni, Vote::Uniform),
            ]);
            exchange(m, ExchangeOperation::Vote(mode?))
        }
        Op::Match => {
            let ty = m.ty(0)?;
            let (any, all) = (ExchangeOperation::MatchAny(ty), ExchangeOperation::MatchAll(ty));
            exchange(m, m.one_of(&[(Word::Any, any), (Word::All, all)])?)
        }
        Op::Redux => {
            let reduction = m.one_of(&[
                (Word::Add, Reduction::Add),
                (Word::Min, Reduction::Min),
                (Word::Max, Reduction::Max),
                (Word::And, Reduction::And),
                (Word::Or, Reduction::Or),
                (Word::Xor, Reduction::Xor),
            ]);
            exchange(m, ExchangeOperation::Reduce(reduction?, m.ty(0)?))
        }
        Op::Elect => exchange(m, ExchangeOperation::Elect),
        // Matrices
        Op::Mma => Matrix(super::Matrix::Multiply(multiply(m)?)),
        Op::Ldmatrix => Matrix(super::Matrix::Load(matrix_access(m)?)),
        Op::Stmatrix => Matrix(super::Matrix::Store(matrix_access(m)?)),
        Op::Movmatrix => {
            whole_warp(m);
            m.ignore(&[Word::M8n8, Word::Trans]);
            m.ignore_types();
            Matrix(super::Matrix::Transpose)
        }
        Op::Activemask => {
            m.ignore_types();
            ActiveMask
        }
    })
}

const AHEAD: &[Word] = &[Word::L2Prefetch64, Word::L2Prefetch128, Word::L2Prefetch256];

/// Where caches keep what is loaded or stored.
const CACHES: &[Word] = &[
    Word::Ca,
    Word::Cg,
    Word::Cs,
    Word::Lu,
    Word::Cv,
    Word::Wb,
    Word::Wt,
    Word::Nc,
    Word::L1EvictNormal,
    Word::L1EvictUnchanged,
    Word::L1EvictFirst,
    Word::L1EvictLast,
    Word::L1NoAllocate,
];

/// What an instruction that is there for all kinds of numbers works on.
enum Numbers {
    Integer(Type),
    Packed(Type),
    Float(Type),
    Half(Type),
}

fn numbers(m: &Reading<'_>) -> Option<Numbers> {
    use Type::*;
    let ty = m.ty(0)?;
    match ty {
        U16 | U32 | U64 | S16 | S32 | S64 => Some(Numbers::Integer(ty)),
        U16x2 | S16x2 => Some(Numbers::Packed(ty)),
        F32 | F64 => Some(Numbers::Float(ty)),
        F16 | F16x2 | Bf16 | Bf16x2 => Some(Numbers::Half(ty)),
        U8 | S8 | B8 | B16 | B32 | B64 | B128 | Tf32 | E4m3 | E5m2 | Pred => None,
    }
}

const fn integer(op: Integer, ty: Type) -> Meaning {
    Meaning::Compute(Compute::Integer { op, ty })
}

fn packed(m: &Reading<'_>, op: Packed, ty: Type) -> Meaning {
    Meaning::Compute(Compute::Packed { op, ty, relu: m.has(Word::Relu) })
}

const fn link(op: CarryOperation, ty: Type, takes: bool, gives: bool) -> Meaning {
    Meaning::Compute(Compute::Carry(Carry { op, ty, takes, gives }))
}

const fn float(op: Float, ty: Type, mode: Mode) -> Meaning {
    Meaning::Compute(Compute::Float { op, ty, mode })
}

const fn half(op: Half, ty: Type, mode: Mode) -> Meaning {
    Meaning::Compute(Compute::Half { op, ty, mode })
}

const fn bits(op: Bits, ty: Type) -> Meaning {
    Meaning::Compute(Compute::Bits { op, ty })
}

const fn logic(op: Logic, ty: Type) -> Meaning {
    Meaning::Compute(match ty {
        Type::Pred => Compute::Truth(op),
        ty => Compute::Logic { op, ty },
    })
}

fn is_high(m: &Reading<'_>) -> Option<bool> {
    m.one_of(&[(Word::Hi, true), (Word::Lo, false)])
}

fn part(m: &Reading<'_>) -> Option<Part> {
    m.one_of(&[(Word::Lo, Part::Low), (Word::Hi, Part::High), (Word::Wide, Part::Wide)])
}

fn clamps(m: &Reading<'_>) -> Option<bool> {
    m.one_of(&[(Word::Clamp, true), (Word::Wrap, false)])
}

fn is_approximate(m: &Reading<'_>) -> bool {
    m.has(Word::Approx) || m.has(Word::Full)
}

fn approximate(m: &Reading<'_>, op: Approximate, ty: Type) -> Meaning {
    Meaning::Compute(Compute::Approximate { op, ty, ftz: m.has(Word::Ftz) })
}

fn always_approximate(m: &Reading<'_>, op: Approximate) -> Option<Meaning> {
    let ty = m.ty(0)?;
    is_approximate(m).then(|| approximate(m, op, ty))
}

/// The mode of arithmetic that rounds.
fn arithmetic(m: &Reading<'_>) -> Mode {
    let rounding = m.one_of(ROUNDINGS).unwrap_or(Rounding::NearestEven);
    Mode { rounding, ftz: m.has(Word::Ftz), sat: m.has(Word::Sat), relu: false }
}

/// The mode of what does not round.
fn exact(m: &Reading<'_>) -> Mode {
    let ftz = m.has(Word::Ftz);
    Mode { rounding: Rounding::NearestEven, ftz, sat: false, relu: false }
}

const ROUNDINGS: &[(Word, Rounding)] = &[
    (Word::Rn, Rounding::NearestEven),
    (Word::Rna, Rounding::NearestAway),
    (Word::Rz, Rounding::Zero),
    (Word::Rm, Rounding::Down),
    (Word::Rp, Rounding::Up),
];

const INTEGRAL_ROUNDINGS: &[(Word, Rounding)] = &[
    (Word::Rni, Rounding::NearestEven),
    (Word::Rzi, Rounding::Zero),
    (Word::Rmi, Rounding::Down),
    (Word::Rpi, Rounding::Up),
];

fn convert(m: &Reading<'_>) -> Option<Convert> {
    let (to, from) = (m.ty(0)?, m.ty(1)?);
    let integral = m.one_of(INTEGRAL_ROUNDINGS);
    let mode = Mode { relu: m.has(Word::Relu), ..arithmetic(m) };
    let mode = Mode { rounding: integral.unwrap_or(mode.rounding), ..mode };
    let between = match (from.is_float(), to.is_float()) {
        (false, false) => Conversion::Integers,
        (false, true) => Conversion::IntegerToFloat,
        (true, false) => Conversion::FloatToInteger,
        (true, true) => Conversion::Floats,
    };
    Some(Convert { between, to, from, mode, integral: integral.is_some() })
}

fn dot(m: &Reading<'_>, shape: DotShape) -> Option<Meaning> {
    let signed = [m.ty(0)?.is_signed(), m.ty(1)?.is_signed()];
    Some(Meaning::Compute(Compute::Dot(Dot { shape, signed })))
}

fn combine(m: &Reading<'_>) -> Option<Combine> {
    let choices = [(Word::And, Combine::And), (Word::Or, Combine::Or), (Word::Xor, Combine::Xor)];
    m.one_of(&choices)
}

fn order(m: &Reading<'_>) -> Option<Order> {
    m.one_of(&[
        (Word::Eq, Order::Equal),
        (Word::Ne, Order::NotEqual),
        (Word::Lt, Order::Less),
        (Word::Le, Order::LessEqual),
        (Word::Gt, Order::Greater),
        (Word::Ge, Order::GreaterEqual),
        (Word::Lo, Order::Less),
        (Word::Ls, Order::LessEqual),
        (Word::Hi, Order::Greater),
        (Word::Hs, Order::GreaterEqual),
    ])
}

fn unordered(m: &Reading<'_>) -> Option<FloatOrder> {
    m.one_of(&[
        (Word::Equ, FloatOrder::Unordered(Order::Equal)),
        (Word::Neu, FloatOrder::Unordered(Order::NotEqual)),
        (Word::Ltu, FloatOrder::Unordered(Order::Less)),
        (Word::Leu, FloatOrder::Unordered(Order::LessEqual)),
        (Word::Gtu, FloatOrder::Unordered(Order::Greater)),
        (Word::Geu, FloatOrder::Unordered(Order::GreaterEqual)),
        (Word::Num, FloatOrder::Numbers),
        (Word::IsNan, FloatOrder::Nan),
    ])
}

/// A comparison of values of the type with this number.
fn compare(m: &Reading<'_>, number: usize) -> Option<Compare> {
    let ty = m.ty(number)?;
    let comparison = if ty.is_float() {
        Comparison::Floats(unordered(m).or_else(|| order(m).map(FloatOrder::Ordered))?)
    } else {
        Comparison::Integers(order(m)?)
    };
    Some(Compare { comparison, ty, ftz: m.has(Word::Ftz), combine: combine(m) })
}

fn video(m: &Reading<'_>, op: VideoOperation, parts: u8) -> Option<Meaning> {
    // `vset` names no type for its result.
    let (to, a, b) = match (m.ty(0)?, m.ty(1)?, m.ty(2)) {
        (to, a, Some(b)) => (to, a, b),
        (a, b, None) => (Type::U32, a, b),
    };
    let then =
        m.one_of(&[(Word::Add, VideoThen::Add), (Word::Min, VideoThen::Min), (Word::Max, VideoThen::Max)]);
    let video = Video { op, parts, to, a, b, sat: m.has(Word::Sat), then };
    Some(Meaning::Compute(Compute::Video(video)))
}

fn access(m: &Reading<'_>, uniform: bool) -> Option<MemoryAccess> {
    // `.mmio.relaxed` has two of them, and both have to be read.
    let words = [Word::Volatile, Word::Relaxed, Word::Acquire, Word::Release, Word::Mmio];
    let strong = words.map(|word| m.has(word)).contains(&true);
    let narrow = is_narrow(m);
    let order = MemoryOrder { acquire: m.has(Word::Acquire), release: m.has(Word::Release), narrow };
    m.ignore(&[Word::Weak]);
    m.ignore(CACHES);
    m.ignore(AHEAD);
    Some(MemoryAccess { ty: m.ty(0)?, vector: m.vector(), space: m.space(), strong, order, uniform })
}

/// Whether the scope of an access or a fence is the block. Without one it is wider: `.gpu`, and `.sys` for
/// volatile accesses (PTX ISA 9.0 section 8.5).
fn is_narrow(m: &Reading<'_>) -> bool {
    m.ignore(&[Word::Cluster, Word::Gpu, Word::Sys]);
    m.has(Word::Cta)
}

fn atomic(m: &Reading<'_>, returns: bool) -> Option<Atomic> {
    use AtomicOperation::*;
    let ty = m.ty(0)?;
    let op = m.one_of(&[
        (Word::Exch, Exchange),
        (Word::Cas, CompareAndSwap),
        (Word::Add, if ty.is_float() { AddFloat } else { Add }),
        (Word::And, And),
        (Word::Or, Or),
        (Word::Xor, Xor),
        (Word::Min, Min),
        (Word::Max, Max),
        (Word::Inc, Increment),
        (Word::Dec, Decrement),
    ])?;
    let [acquire, release, both] = [Word::Acquire, Word::Release, Word::AcqRel].map(|word| m.has(word));
    let narrow = is_narrow(m);
    let order = MemoryOrder { acquire: acquire || both, release: release || both, narrow };
    m.ignore(&[Word::Relaxed, Word::Noftz]);
    Some(Atomic { op, ty, space: m.space(), returns, order })
}

fn control(m: &Reading<'_>, control: Control) -> Meaning {
    m.ignore(&[Word::Uni]);
    Meaning::Control(control)
}

fn barrier(m: &Reading<'_>) -> Option<Barrier> {
    m.ignore(&[Word::Cta, Word::Aligned]);
    m.ignore_types();
    let reduction = || {
        m.one_of(&[
            (Word::Popc, BarrierReduction::Count),
            (Word::And, BarrierReduction::And),
            (Word::Or, BarrierReduction::Or),
        ])
    };
    if m.has(Word::Red) {
        return Some(Barrier::Reduce(reduction()?));
    }
    m.one_of(&[(Word::Sync, Barrier::Wait), (Word::Arrive, Barrier::Arrive)])
}

fn exchange(m: &Reading<'_>, op: ExchangeOperation) -> Meaning {
    Meaning::Exchange(Exchange { op, sync: m.has(Word::Sync) })
}

/// That all lanes do it together goes without saying.
fn whole_warp(m: &Reading<'_>) {
    m.ignore(&[Word::Sync, Word::Aligned]);
}

fn multiply(m: &Reading<'_>) -> Option<Multiply> {
    whole_warp(m);
    m.ignore(&[Word::Row, Word::Col]);
    let (rows, columns, inner) = m.one_of(&[
        (Word::M8n8k4, (8, 8, 4)),
        (Word::M8n8k16, (8, 8, 16)),
        (Word::M16n8k4, (16, 8, 4)),
        (Word::M16n8k8, (16, 8, 8)),
        (Word::M16n8k16, (16, 8, 16)),
        (Word::M16n8k32, (16, 8, 32)),
    ])?;
    let (sum, a, b) = (m.ty(0)?, m.ty(1)?, m.ty(2)?);
    // What is added has the type of the sum.
    m.ty(3)?;
    let saturates = m.has(Word::Satfinite);
    Some(Multiply { m: rows, n: columns, k: inner, a, b, sum, saturates })
}

fn matrix_access(m: &Reading<'_>) -> Option<MatrixAccess> {
    whole_warp(m);
    m.ignore(&[Word::M8n8]);
    m.ignore_types();
    let count = m.one_of(&[(Word::X1, 1), (Word::X2, 2), (Word::X4, 4)])?;
    Some(MatrixAccess { count, transposed: m.has(Word::Trans), space: m.space() })
}
