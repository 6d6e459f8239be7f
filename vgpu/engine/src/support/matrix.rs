//! Instructions with which a warp works on matrices.
//!
//! Compiled code puts the registers of all operands down one after the other, those that are
//! written first, and takes the written ones from there.

use gangway_interpreter::FaultKind;
use gangway_interpreter::matrix::{
    DoubleWords, Rows, Words, fragment_of, multiply, multiply_doubles, row_bytes, row_of, rows_of,
};
use gangway_ptx::meaning::{Matrix, MatrixAccess, Multiply};
use gangway_ptx::{Meaning, Opcode, Role, StateSpace, Type};

use super::helper::{fault, run};
use super::lanes::lanes;
use super::place::{Access, Space, place};
use crate::abi::{LANES, Warp};

/// The most registers of all operands: `mma.m16n8k16` of doubles has 20.
const MOST: usize = 20;

/// Runs an instruction for `mask`, with the registers of its operands.
pub(super) unsafe extern "C" fn matrix(
    warp: *mut Warp,
    opcode: u64,
    mask: u64,
    registers: *mut Words,
    check: u64,
) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let mask = mask as u32;
            let module = warp.host().module();
            let opcode = &module.opcodes[opcode as usize];
            if mask != !warp.exited {
                fault(warp, mask, FaultKind::Apart(mask));
            }
            let Meaning::Matrix(matrix) = opcode.meaning else {
                fault(warp, mask, FaultKind::Unsupported(opcode.to_string()))
            };
            match matrix {
                Matrix::Multiply(op) if op.sum == Type::F64 => {
                    // SAFETY: compiled code has put down all registers of the instruction.
                    let registers = std::slice::from_raw_parts_mut(registers.cast(), count(opcode));
                    product(op, opcode, mask, registers, multiply_doubles);
                }
                Matrix::Multiply(op) => {
                    // SAFETY: as above.
                    let registers = std::slice::from_raw_parts_mut(registers, count(opcode));
                    product(op, opcode, mask, registers, multiply);
                }
                Matrix::Load(access) => {
                    // SAFETY: as above; it has no others than those that it writes.
                    let registers = std::slice::from_raw_parts_mut(registers, access.count.into());
                    load(warp, mask, access, check != 0, registers);
                }
                Matrix::Store(access) => {
                    // SAFETY: as above; it has no others than those that it reads.
                    let registers = std::slice::from_raw_parts_mut(registers, access.count.into());
                    clear(registers, mask);
                    store(warp, mask, access, check != 0, registers);
                }
                Matrix::Transpose => {
                    // SAFETY: as above; one is written, and one is read.
                    let registers = std::slice::from_raw_parts_mut(registers, 2);
                    clear(registers, mask);
                    registers[0] = fragment_of(&rows_of(&registers[1], false), true);
                }
            }
        });
    }
}

/// The registers of an operand.
fn registers_of(role: Role) -> usize {
    role.fragment().map_or(0, usize::from)
}

fn count(opcode: &Opcode) -> usize {
    opcode.expected.iter().map(|expected| registers_of(expected.role)).sum::<usize>().min(MOST)
}

/// Lanes that take no part have zeros.
fn clear<W: Default>(registers: &mut [[W; LANES]], mask: u32) {
    for register in registers {
        lanes(!mask).for_each(|lane| register[lane] = W::default());
    }
}

fn product<W: Default>(
    op: Multiply,
    opcode: &Opcode,
    mask: u32,
    registers: &mut [[W; LANES]],
    multiply: impl Fn(Multiply, [&[[W; LANES]]; 3], &mut [[W; LANES]]),
) {
    clear(registers, mask);
    let counts = [0, 1, 2].map(|position| registers_of(opcode.expected[position].role));
    let (d, sources) = registers.split_at_mut(counts[0]);
    let (a, sources) = sources.split_at(counts[1]);
    let (b, c) = sources.split_at(counts[2]);
    multiply(op, [a, b, c], d);
}

/// Where the rows of a matrix are in memory: the addresses of so many lanes, those that run.
fn rows(
    warp: &mut Warp,
    mask: u32,
    matrix: usize,
    access: MatrixAccess,
    check: bool,
    write: bool,
    mut each: impl FnMut(usize, *mut u8),
) {
    // No form has another.
    let space = if access.space == StateSpace::Generic { Space::Generic } else { Space::Shared };
    let access = Access::plain(MatrixAccess::ROW as u8, space, check);
    for row in 0..MatrixAccess::ROWS {
        let lane = MatrixAccess::ROWS * matrix + row;
        if mask >> lane & 1 == 0 {
            continue;
        }
        match place(warp, lane, access, warp.addresses[lane], write) {
            Ok(place) => each(row, place),
            Err(kind) => fault(warp, 1 << lane, kind),
        }
    }
}

/// # Safety
/// The warp runs.
unsafe fn load(warp: &mut Warp, mask: u32, access: MatrixAccess, check: bool, to: &mut [Words]) {
    for (matrix, to) in to.iter_mut().enumerate() {
        let mut loaded = Rows::default();
        rows(warp, mask, matrix, access, check, false, |row, place| {
            // SAFETY: `place` gives places in memory that may be read.
            loaded[row] = row_of(unsafe { place.cast::<[u8; 16]>().read() });
        });
        *to = fragment_of(&loaded, access.transposed);
    }
}

/// # Safety
/// The warp runs.
unsafe fn store(warp: &mut Warp, mask: u32, access: MatrixAccess, check: bool, from: &[Words]) {
    for (matrix, from) in from.iter().enumerate() {
        let stored = rows_of(from, access.transposed);
        rows(warp, mask, matrix, access, check, true, |row, place| {
            // SAFETY: `place` gives places in memory that may be written.
            unsafe { place.cast::<[u8; 16]>().write(row_bytes(stored[row])) };
        });
    }
}

/// As many registers as the instruction has fit into what compiled code has for them.
pub(crate) const fn most_bytes() -> usize {
    MOST * size_of::<DoubleWords>()
}
