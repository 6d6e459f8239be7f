//! Instructions as values.

use crate::gpu::Gpu;
use crate::operand::{Operand, Operands};
use crate::table::row::RETURNS;
use crate::table::{Immediate, Row, Slot};

/// One instruction: its row of the table, and what stands in its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub row: &'static Row,
    pub gpu: Gpu,
    /// How many bytes it takes: 4 or 8.
    pub size: u8,
    pub form: Form,
}

/// The fields, by the kind of instruction. Operands stand in the order of the row's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Scalar(Scalar),
    ScalarMemory(ScalarMemory),
    Vector(Vector),
    Local(Local),
    Flat(Flat),
    Buffer(Buffer),
}

/// SOP1, SOP2, SOPC, SOPK, SOPP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub to: Operands,
    pub from: Operands,
}

/// SMEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarMemory {
    pub to: Operands,
    /// The data of a store or an atomic operation, then the address or the buffer's descriptor.
    pub from: Operands,
    pub offset: ScalarOffset,
    pub glc: bool,
}

/// What is added to the address of a scalar access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarOffset {
    /// There is no address.
    None,
    Constant(i32),
    Register(Operand),
    Both(Operand, i32),
}

/// VOP1, VOP2, VOPC, VOP3, VOP3P.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    pub to: Operands,
    pub from: Operands,
    pub shape: Shape,
}

/// The form of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One word.
    Short,
    Long(Long),
    Sdwa(Sdwa),
    Dpp(Dpp),
    Packed(Packed),
    Matrix(Matrix),
}

/// Two words. Bits belong to sources, lowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Long {
    pub negative: u8,
    pub absolute: u8,
    /// Which operands are upper halves; bit 3 is the destination.
    pub select: u8,
    pub clamp: bool,
    pub scale: Scale,
}

/// What a floating-point result is multiplied by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    One,
    Two,
    Four,
    Half,
}

/// Parts of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdwa {
    pub to: Part,
    pub unused: Unused,
    pub from: [Part; 2],
    /// Which sources' signs are extended.
    pub signed: u8,
    pub negative: u8,
    pub absolute: u8,
    pub clamp: bool,
    pub scale: Scale,
}

/// A part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// 0 to 3.
    Byte(u8),
    /// 0 or 1.
    Word(u8),
    Whole,
}

/// What becomes of a destination's other bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    Zero,
    Sign,
    Preserve,
}

/// The first source comes from another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dpp {
    pub exchange: Exchange,
    pub negative: u8,
    pub absolute: u8,
    /// Rows of 16 lanes, and banks of 4 in them, that are written.
    pub rows: u8,
    pub banks: u8,
    /// Whether lanes without a source read 0, or else are not written.
    pub bound: bool,
}

/// Which lane a lane reads from (Vega ISA, 6.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Of its four lanes, 2 bits for each.
    Quad(u8),
    RowShiftLeft(u8),
    RowShiftRight(u8),
    RowRotateRight(u8),
    WaveShiftLeft,
    WaveRotateLeft,
    WaveShiftRight,
    WaveRotateRight,
    RowMirror,
    RowHalfMirror,
    /// The last lane of each row to the next row.
    Broadcast15,
    /// Lane 31 to the upper two rows.
    Broadcast31,
    /// One lane of each row to all of the row.
    RowBroadcast(u8),
}

/// Two halves in each operand, or whole and half ones. Bits belong to sources, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    pub select: u8,
    pub select_high: u8,
    /// Of the lower half; of `Allows::MIX` negation.
    pub negative: u8,
    /// Of the upper half; of `Allows::MIX` absolute value.
    pub negative_high: u8,
    pub clamp: bool,
}

/// How matrix instructions permute their sources (CDNA ISA, 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub cbsz: u8,
    pub abid: u8,
    /// Of `Allows::MATRIX_NEG` negations.
    pub blgp: u8,
}

/// LDS and the global data share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    pub to: Operands,
    pub from: Operands,
    /// With `Allows::TWO_OFFSETS` the second is in the upper byte.
    pub offset: u16,
    pub global: bool,
}

/// FLAT, SCRATCH and GLOBAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flat {
    pub to: Operands,
    pub address: Option<Operand>,
    pub data: Option<Operand>,
    /// A scalar address that is added, or the place that the base address has in the text.
    pub base: Base,
    pub offset: i16,
    pub lds: bool,
    pub cache: Cache,
}

/// The scalar part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Flat addresses have none.
    Unused,
    Off,
    Register(Operand),
}

/// MUBUF and MTBUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// None if the data goes to LDS.
    pub data: Option<Operand>,
    pub address: Option<Operand>,
    pub descriptor: Operand,
    pub base: Operand,
    pub offset: u16,
    pub indexed: bool,
    pub offset_enabled: bool,
    pub lds: bool,
    pub tfe: bool,
    /// Data and number format of a typed access.
    pub format: Option<(u8, u8)>,
    pub cache: Cache,
}

/// How caches treat an access: GLC, SLC and SCC, which gfx942 calls SC0, NT and SC1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    pub glc: bool,
    pub slc: bool,
    pub scc: bool,
}

impl Instruction {
    /// What is written, in the order of the text.
    #[must_use]
    pub fn to(&self) -> Operands {
        match self.form {
            Form::Scalar(Scalar { to, .. })
            | Form::ScalarMemory(ScalarMemory { to, .. })
            | Form::Vector(Vector { to, .. })
            | Form::Local(Local { to, .. })
            | Form::Flat(Flat { to, .. }) => to,
            Form::Buffer(buffer) => {
                let mut to = Operands::EMPTY;
                // A comparison's result takes half of the registers of its data.
                let narrower = self.row.to.first().zip(self.row.from.first());
                let data = match (buffer.data, narrower) {
                    (Some(Operand::Vector { first, .. }), Some((&Slot::Vector(words), _))) => {
                        Some(Operand::Vector { first, words })
                    }
                    (Some(Operand::Accumulator { first, .. }), Some((&Slot::Vector(words), _))) => {
                        Some(Operand::Accumulator { first, words })
                    }
                    (data, _) => data,
                };
                if let Some(data) = data.filter(|_| !self.row.to.is_empty() && self.returns()) {
                    to.push(data);
                }
                to
            }
        }
    }

    /// Whether it gives back anything: all do, but atomic operations without GLC.
    #[must_use]
    pub fn returns(&self) -> bool {
        let glc = match self.form {
            Form::ScalarMemory(memory) => memory.glc,
            Form::Flat(flat) => flat.cache.glc,
            Form::Buffer(buffer) => buffer.cache.glc,
            Form::Scalar(_) | Form::Vector(_) | Form::Local(_) => true,
        };
        !self.row.allows.any(RETURNS) || glc
    }

    /// Where a branch by a constant leads, if the instruction stands at this address.
    #[must_use]
    pub fn branch_target(&self, address: u64) -> Option<u64> {
        let Form::Scalar(scalar) = self.form else { return None };
        let mut pairs = self.row.from.iter().zip(scalar.from.iter());
        pairs.find_map(|(slot, operand)| match (slot, operand) {
            (Slot::Immediate(Immediate::Branch), Operand::Immediate(words)) => {
                let distance = i64::from(words.cast_signed()) * 4;
                Some(address.wrapping_add(u64::from(self.size)).wrapping_add_signed(distance))
            }
            _ => None,
        })
    }
}
