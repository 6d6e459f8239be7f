//! What a row of the table says, and the short names that rows are written with.

use crate::gpu::Gpus;

/// How the bits of an instruction are divided into fields (Vega ISA, 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    Vop2,
    Vop1,
    Vopc,
    Vop3,
    Vop3p,
    Ds,
    Flat,
    Scratch,
    Global,
    Mubuf,
    Mtbuf,
}

/// One instruction.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub encoding: Encoding,
    pub opcode: u16,
    /// LLVM's name, without what tells the form (`_e32`, `_e64`, `_sdwa`, `_dpp`).
    pub name: &'static str,
    /// What is written, in the order of the text.
    pub to: &'static [Slot],
    /// What is read, in the order of the text. Of memory: addresses, then data.
    pub from: &'static [Slot],
    pub allows: Allows,
    pub gpus: Gpus,
    pub effects: Effects,
}

impl Row {
    /// What can be read in a place, in forms that are not short: there a second vector register may
    /// be any source.
    #[must_use]
    pub fn wide_source(&self, index: usize) -> Slot {
        let promoted = matches!(self.encoding, Encoding::Vop2 | Encoding::Vopc);
        match (self.from[index], self.from[0]) {
            (Slot::Vector(words), Slot::Source(first, constant)) if promoted && words == first => {
                Slot::Source(words, constant)
            }
            (Slot::Vector(1), _) if promoted => Slot::Source(1, Constant::Word),
            (slot, _) => slot,
        }
    }
}

/// What can stand in an operand's place. Numbers are words of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Vector registers.
    Vector(u8),
    /// Accumulation registers.
    Accumulator(u8),
    /// Vector or accumulation registers, as the field `acc_cd` says; accumulation registers alone on gfx908.
    Matrix(u8),
    /// Vector or accumulation registers, as the operand's bit of the field `acc` says.
    MatrixSource(u8),
    /// As `Matrix`, or a constant.
    MatrixSum(u8, Constant),
    /// Scalar registers.
    Scalar(u8),
    /// Scalar registers or a constant.
    ScalarSource(u8, Constant),
    /// Vector registers, scalar registers or a constant.
    Source(u8, Constant),
    /// A bit for each lane: VCC, or any pair of scalar registers where the form has a field for it.
    Mask,
    /// The number of a lane: a scalar register or a constant.
    Lane,
    /// A vector register, or LDS directly.
    VectorOrLds,
    /// The word behind the instruction.
    Literal(Constant),
    /// A constant in the instruction's first word.
    Immediate(Immediate),
    /// The encoding has a field, the instruction has no use for it.
    Missing,
}

/// How constants become values: as which type inline floating-point constants are meant, and how
/// many bits a literal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// 32 bits.
    Word,
    /// An integer of 64 bits, or bits; a literal is its low half.
    Wide,
    /// A double-precision number; a literal is its high half.
    Double,
    /// A half-precision number.
    Half,
    /// An integer of 16 bits.
    Short,
    /// Two half-precision numbers.
    Packed,
}

/// What a constant in the first word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// A signed number of 16 bits.
    Signed,
    /// A number of 16 bits.
    Plain,
    /// Of `s_endpgm`: a number that is 0 as a rule.
    End,
    /// How many words to branch over, from the next instruction.
    Branch,
    /// The counters of `s_waitcnt`.
    WaitCounts,
    /// The message of `s_sendmsg`.
    Message,
    /// A hardware register, and which of its bits.
    HardwareRegister,
    /// Which operands are indexed.
    IndexMode,
    /// The 7 bits in the place of a scalar register.
    Seven,
    /// Nobody reads it.
    Ignored,
}

macro_rules! flags {
    ($(#[$doc:meta])* $name:ident: $type:ty { $($(#[$flag_doc:meta])* $flag:ident = $bit:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub $type);

        impl $name {
            /// Whether any of these is set.
            #[must_use]
            pub const fn any(self, flags: $type) -> bool {
                self.0 & flags != 0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let set = [$((stringify!($flag), $flag)),*];
                let set = set.into_iter().filter(|(_, bit)| self.any(*bit));
                out.debug_set().entries(set.map(|(name, _)| name)).finish()
            }
        }

        $($(#[$flag_doc])* pub const $flag: $type = 1 << $bit;)*
    };
}

flags! {
    /// Which modifiers and forms an instruction has.
    Allows: u64 {
        /// There is a form of two words (VOP3).
        E64 = 0,
        /// The first source has bits for negation and absolute value.
        SIGN0 = 1,
        SIGN1 = 2,
        SIGN2 = 3,
        /// The first source has the bits, and they do nothing.
        IDLE0 = 4,
        IDLE1 = 5,
        IDLE2 = 6,
        CLAMP = 7,
        OMOD = 8,
        /// Each operand has a bit for which half of it is meant.
        SELECT = 9,
        /// The same, with two sources: the third's bit is 0.
        SELECT_TWO = 10,
        /// There is a form with parts of registers (SDWA).
        SDWA = 11,
        SDWA_OMOD = 12,
        /// Negation and absolute value do nothing in it.
        SDWA_IDLE = 13,
        /// It always writes the whole register.
        SDWA_WHOLE = 14,
        /// There is a form with a source of another lane (DPP).
        DPP = 15,
        /// It has values of 64 bits: gfx90a and later have only one exchange for it.
        DPP_WIDE = 16,
        /// Two halves in each operand, with selection and negation for each.
        PACKED = 17,
        /// Operands are whole or half, as selections say.
        MIX = 18,
        /// Packed bytes or nibbles.
        DOT = 19,
        /// Matrix multiplication.
        MATRIX = 20,
        /// Its third source is indices of a sparse matrix.
        SPARSE = 21,
        /// Instead of a permutation of the second source it has a negation for each source.
        MATRIX_NEG = 22,
        /// A bit for coherence, or that the old value is wanted.
        GLC = 23,
        /// An atomic operation, which gives back the old value if GLC is set.
        RETURNS = 24,
        /// It can load into LDS.
        TO_LDS = 25,
        /// It can tell of missing pages; before gfx90a.
        TFE = 26,
        /// gfx90a has no SCC bit here.
        NO_SCC = 27,
        /// gfx908 has no GLC bit here.
        NO_GLC = 28,
        /// No operand can be an accumulation register.
        NO_ACC = 29,
        /// It works on the global data share only.
        GDS_ONLY = 30,
        /// It works on LDS only.
        NO_GDS = 31,
        NO_OFFSET = 32,
        /// Two offsets of 8 bits instead of one of 16.
        TWO_OFFSETS = 33,
        /// The offset is a pattern of lanes.
        SWIZZLE = 34,
        /// Of buffers, it works on the cache alone.
        CACHE_ONLY = 35,
        /// Such a one with bits for the scope.
        CACHE_SCOPES = 36,
        /// gfx90a ignores them.
        CACHE_ANY = 37,
    }
}

/// No modifiers.
pub const NOTHING: u64 = 0;
/// One, two and three floating-point sources.
pub const FLOAT1: u64 = E64 | SIGN0 | CLAMP | OMOD;
pub const FLOAT2: u64 = FLOAT1 | SIGN1;
pub const FLOAT3: u64 = SIGN0 | SIGN1 | SIGN2 | CLAMP | OMOD;
/// Both forms with a second word.
pub const PARTS: u64 = SDWA | DPP;
/// Of numbers of 8 bits, to larger ones.
pub const FROM_BYTES: u64 = E64 | CLAMP | OMOD | SDWA | SDWA_OMOD | SDWA_WHOLE | DPP;
/// A comparison of two floating-point sources.
pub const COMPARE: u64 = E64 | SIGN0 | SIGN1 | CLAMP;

flags! {
    /// What an instruction does besides reading and writing its operands.
    Effects: u32 {
        READS_SCC = 0,
        WRITES_SCC = 1,
        READS_EXEC = 2,
        WRITES_EXEC = 3,
        READS_VCC = 4,
        READS_M0 = 5,
        WRITES_M0 = 6,
        /// Rounding, denormals and exceptions of floating-point numbers.
        READS_MODE = 7,
        WRITES_MODE = 8,
        /// The destination's old value counts, too.
        READS_DESTINATION = 9,
        /// The sources are written as well.
        WRITES_SOURCE = 10,
        BRANCHES = 11,
        /// The branch may not be taken.
        CONDITIONAL = 12,
        READS_PC = 13,
        ENDS = 14,
        BARRIER = 15,
        WAITS = 16,
        MESSAGE = 17,
        TRAPS = 18,
        READS_MEMORY = 19,
        WRITES_MEMORY = 20,
        ATOMIC = 21,
        CACHE = 22,
        /// The memory is read through scalar caches.
        SCALAR_MEMORY = 23,
        IN_LOCAL = 24,
        /// Where the memory is. Of flat addresses each lane decides.
        IN_FLAT = 25,
        IN_GLOBAL = 26,
        IN_SCRATCH = 27,
        IN_BUFFER = 28,
        /// Lanes get values of others.
        CROSSES_LANES = 29,
    }
}

/// No effects.
pub const PLAIN: u32 = 0;
/// Floating-point numbers in the lanes that are on.
pub const FLOATS: u32 = READS_EXEC | READS_MODE;
/// Lanes that are on keep something of the destination.
pub const MERGES: u32 = READS_EXEC | READS_DESTINATION;
pub const FLOAT_MERGES: u32 = FLOATS | READS_DESTINATION;
/// Lanes that are on read memory, or write it.
pub const LOADS: u32 = READS_EXEC | READS_MEMORY;
pub const STORES: u32 = READS_EXEC | WRITES_MEMORY;
/// Memory is read and written in one step.
pub const UPDATES: u32 = READS_MEMORY | WRITES_MEMORY | ATOMIC;
/// The same by the lanes that are on.
pub const LANE_UPDATES: u32 = READS_EXEC | UPDATES;

macro_rules! slots {
    ($($name:ident = $slot:expr;)*) => { $(pub const $name: Slot = $slot;)* };
}

slots! {
    V1 = Slot::Vector(1); V2 = Slot::Vector(2); V3 = Slot::Vector(3); V4 = Slot::Vector(4);
    A1 = Slot::Accumulator(1);
    D2 = Slot::Matrix(2); D4 = Slot::Matrix(4); D8 = Slot::Matrix(8);
    D16 = Slot::Matrix(16); D32 = Slot::Matrix(32);
    X1 = Slot::MatrixSource(1); X2 = Slot::MatrixSource(2); X4 = Slot::MatrixSource(4);
    C4 = Slot::MatrixSum(4, Constant::Word); C16 = Slot::MatrixSum(16, Constant::Word);
    C32 = Slot::MatrixSum(32, Constant::Word);
    CD2 = Slot::MatrixSum(2, Constant::Double); CD8 = Slot::MatrixSum(8, Constant::Double);
    S1 = Slot::Scalar(1); S2 = Slot::Scalar(2); S4 = Slot::Scalar(4); S8 = Slot::Scalar(8);
    S16 = Slot::Scalar(16);
    SW = Slot::ScalarSource(1, Constant::Word); SQ = Slot::ScalarSource(2, Constant::Wide);
    W = Slot::Source(1, Constant::Word); W2 = Slot::Source(2, Constant::Word);
    Q = Slot::Source(2, Constant::Wide); D = Slot::Source(2, Constant::Double);
    H = Slot::Source(1, Constant::Half);
    I = Slot::Source(1, Constant::Short); P = Slot::Source(1, Constant::Packed);
    M = Slot::Mask; LANE = Slot::Lane; LDS_OR_V1 = Slot::VectorOrLds; N = Slot::Missing;
    LITERAL = Slot::Literal(Constant::Word); LITERAL_HALF = Slot::Literal(Constant::Half);
    HEX = Slot::Immediate(Immediate::Signed); DECIMAL = Slot::Immediate(Immediate::Plain);
    END = Slot::Immediate(Immediate::End); BRANCH = Slot::Immediate(Immediate::Branch);
    WAIT_COUNTS = Slot::Immediate(Immediate::WaitCounts);
    MESSAGE_NUMBER = Slot::Immediate(Immediate::Message);
    HARDWARE_REGISTER = Slot::Immediate(Immediate::HardwareRegister);
    GPR_INDEX = Slot::Immediate(Immediate::IndexMode);
    BITS7 = Slot::Immediate(Immediate::Seven); IGNORED = Slot::Immediate(Immediate::Ignored);
}

/// Rows: opcode, name, what is written, what is read, modifiers, processors, effects.
macro_rules! rows {
    ($encoding:ident $($opcode:literal $name:literal [$($to:ident)*] [$($from:ident)*]
        ($($allows:tt)*) $gpus:ident ($($effects:tt)*);)*) => {
        &[$(Row {
            encoding: Encoding::$encoding,
            opcode: $opcode,
            name: $name,
            to: &[$($to),*],
            from: &[$($from),*],
            allows: Allows($($allows)*),
            gpus: $crate::gpu::Gpus::$gpus,
            effects: Effects($($effects)*),
        }),*]
    };
}
pub(crate) use rows;
