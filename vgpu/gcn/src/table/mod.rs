//! The one table of instructions: opcodes, operands, modifiers, processors and effects.
//!
//! Decoder and printer work from it, and who lifts instructions asks it what they do. Numbers are
//! those of AMD's public descriptions of the instruction sets (Vega, CDNA 1 to 3). A form that no
//! row describes is refused.

mod buffer;
mod compare;
mod flat;
mod local;
mod packed;
pub mod row;
mod scalar;
mod vector;
mod vector3;

pub use row::{Allows, Constant, Effects, Encoding, Immediate, Row, Slot};

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [
        scalar::SOP2,
        scalar::SOPK,
        scalar::SOP1,
        scalar::SOPC,
        scalar::SOPP,
        scalar::SMEM,
        vector::VOP2,
        vector::VOP1,
        compare::VOPC,
        vector3::VOP3,
        packed::VOP3P,
        local::DS,
        flat::FLAT,
        flat::SCRATCH,
        flat::GLOBAL,
        buffer::MUBUF,
        buffer::MTBUF,
    ]
    .into_iter()
    .flatten()
}
