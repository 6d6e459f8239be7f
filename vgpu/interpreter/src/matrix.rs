//! What a warp computes with matrices (PTX ISA 9.7.14): which lane has which elements in its
//! fragment, and products.
//!
//! The interpreter and the engine hand in the registers of all lanes, and are handed those of the
//! result. Products of the smaller types are exact in single precision, in which they are added to
//! the sum one after the other; the ISA leaves the order and the rounding open.

use gangway_ptx::Type;
use gangway_ptx::meaning::{MatrixAccess, Multiply};
use rustc_apfloat::Round;

use crate::exchange::LANES;
use crate::float::{canonical_nan, from_f64};

/// One register of a fragment, in all lanes.
pub type Words = [u32; LANES];
/// The same, of 64 bits.
pub type DoubleWords = [u64; LANES];

/// A matrix of 8 by 8 elements of 16 bits, row by row.
pub type Rows = [[u16; 8]; MatrixAccess::ROWS];

/// The most rows and inner columns that a product has; it always has as many columns.
const MOST_ROWS: usize = 16;
const MOST_INNER: usize = 32;
const COLUMNS: usize = 8;

/// Four lanes have a row, or a column of the second factor.
const SHARE: usize = 4;
/// The rows of a fragment's registers lie so far apart.
const HALF: usize = 8;

/// The products of rows and columns, and what has been added to them.
type Sums<T> = [[T; COLUMNS]; MOST_ROWS];

/// The factors of a product.
struct Factors<T> {
    left: [[T; MOST_INNER]; MOST_ROWS],
    right: [[T; COLUMNS]; MOST_INNER],
}

/// `mma` of types that share registers of 32 bits: from the registers of both factors and of what
/// is added. Lanes that take no part have zeros there.
pub fn multiply(op: Multiply, [a, b, c]: [&[Words]; 3], d: &mut [Words]) {
    match op.a {
        Type::U8 | Type::S8 => integers(op, [a, b, c], d),
        _ => singles(op, [a, b, c], d),
    }
}

/// `mma` of `f64`.
pub fn multiply_doubles(op: Multiply, [a, b, c]: [&[DoubleWords]; 3], d: &mut [DoubleWords]) {
    let element = |word: u64| [f64::from_bits(word)];
    let factors = Factors::new([a, b], element, element);
    let mut sums: Sums<f64> = [[0.0; COLUMNS]; MOST_ROWS];
    each_sum(c.len(), |register, lane, row, column| sums[row][column] = f64::from_bits(c[register][lane]));
    factors.add_to(op, &mut sums, |sum, a, b| *sum = a.mul_add(b, *sum));
    each_sum(d.len(), |register, lane, row, column| {
        let sum = sums[row][column];
        d[register][lane] = if sum.is_nan() { canonical_nan(Type::F64) } else { sum.to_bits() };
    });
}

fn singles(op: Multiply, [a, b, c]: [&[Words]; 3], d: &mut [Words]) {
    let factors = match op.a {
        Type::Tf32 => Factors::new([a, b], tf32, tf32),
        Type::F16 => Factors::new([a, b], pair(half), pair(half)),
        Type::Bf16 => Factors::new([a, b], pair(brain), pair(brain)),
        _ => Factors::new([a, b], four(small(op.a)), four(small(op.b))),
    };
    let mut sums: Sums<f32> = [[0.0; COLUMNS]; MOST_ROWS];
    let packed = op.sum == Type::F16;
    if packed {
        each_pair(c.len(), |register, lane, row, column| {
            let [low, high] = pair(half)(c[register][lane]);
            (sums[row][column], sums[row][column + 1]) = (low, high);
        });
    } else {
        each_sum(c.len(), |register, lane, row, column| {
            sums[row][column] = f32::from_bits(c[register][lane]);
        });
    }
    factors.add_to(op, &mut sums, |sum, a, b| *sum += a * b);
    if packed {
        let rounded = |sum: f32| from_f64(sum.into(), Type::F16, Round::NearestTiesToEven) as u32;
        each_pair(d.len(), |register, lane, row, column| {
            d[register][lane] = rounded(sums[row][column]) | rounded(sums[row][column + 1]) << 16;
        });
    } else {
        each_sum(d.len(), |register, lane, row, column| {
            let sum = sums[row][column];
            d[register][lane] = if sum.is_nan() { canonical_nan(Type::F32) as u32 } else { sum.to_bits() };
        });
    }
}

fn integers(op: Multiply, [a, b, c]: [&[Words]; 3], d: &mut [Words]) {
    let factors = Factors::new([a, b], four(byte(op.a)), four(byte(op.b)));
    // These are far from the ends of their type.
    let mut products: Sums<i32> = [[0; COLUMNS]; MOST_ROWS];
    factors.add_to(op, &mut products, |sum, a, b| *sum += a * b);
    each_sum(d.len(), |register, lane, row, column| {
        let (product, added) = (products[row][column], c[register][lane] as i32);
        let sum = if op.saturates { added.saturating_add(product) } else { added.wrapping_add(product) };
        d[register][lane] = sum as u32;
    });
}

impl<T: Copy + Default> Factors<T> {
    /// From the registers of both, of which each has `PER` elements.
    fn new<W: Copy, const PER: usize>(
        [a, b]: [&[[W; LANES]]; 2],
        left: impl Fn(W) -> [T; PER],
        right: impl Fn(W) -> [T; PER],
    ) -> Self {
        let mut factors = Factors {
            left: [[T::default(); MOST_INNER]; MOST_ROWS],
            right: [[T::default(); COLUMNS]; MOST_INNER],
        };
        for (number, register) in a.iter().enumerate() {
            for (lane, &word) in register.iter().enumerate() {
                let row = &mut factors.left[lane / SHARE + HALF * (number % 2)];
                let first = (lane % SHARE + SHARE * (number / 2)) * PER;
                row[first..first + PER].copy_from_slice(&left(word));
            }
        }
        for (number, register) in b.iter().enumerate() {
            for (lane, &word) in register.iter().enumerate() {
                let first = (lane % SHARE + SHARE * number) * PER;
                for (row, value) in factors.right[first..first + PER].iter_mut().zip(right(word)) {
                    row[lane / SHARE] = value;
                }
            }
        }
        factors
    }

    fn add_to(&self, op: Multiply, sums: &mut Sums<T>, add: impl Fn(&mut T, T, T)) {
        for (left, sums) in self.left.iter().zip(sums).take(op.m.into()) {
            for (&a, right) in left.iter().zip(&self.right).take(op.k.into()) {
                for (sum, &b) in sums.iter_mut().zip(right) {
                    add(sum, a, b);
                }
            }
        }
    }
}

/// Goes through the elements of a sum that has a register for each: register, lane, row, column.
fn each_sum(registers: usize, mut tell: impl FnMut(usize, usize, usize, usize)) {
    for register in 0..registers {
        for lane in 0..LANES {
            tell(register, lane, lane / SHARE + HALF * (register / 2), 2 * (lane % SHARE) + register % 2);
        }
    }
}

/// The same for a sum that has two elements in a register; the column is the first one's.
fn each_pair(registers: usize, mut tell: impl FnMut(usize, usize, usize, usize)) {
    for register in 0..registers {
        for lane in 0..LANES {
            tell(register, lane, lane / SHARE + HALF * register, 2 * (lane % SHARE));
        }
    }
}

fn pair(element: impl Fn(u16) -> f32) -> impl Fn(u32) -> [f32; 2] {
    move |word| [element(word as u16), element((word >> 16) as u16)]
}

fn four<T>(element: impl Fn(u8) -> T) -> impl Fn(u32) -> [T; 4] {
    move |word| word.to_le_bytes().map(&element)
}

fn byte(ty: Type) -> impl Fn(u8) -> i32 {
    move |byte| if ty.is_signed() { i32::from(byte as i8) } else { byte.into() }
}

/// Makes a single-precision value of one whose exponent and fraction are these bits of one, with
/// `less` taken from the exponent's bias. Subnormal values come out right, too.
const fn rebiased(bits: u32, less: u32) -> f32 {
    f32::from_bits(bits) * f32::from_bits((127 + less) << 23)
}

const fn signed(value: f32, negative: bool) -> f32 {
    f32::from_bits(value.to_bits() | (negative as u32) << 31)
}

/// `f16`
fn half(bits: u16) -> f32 {
    let value = rebiased(u32::from(bits & 0x7fff) << 13, 112);
    // What has the largest exponent is infinite or no number.
    let top = if bits & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
    signed(f32::from_bits(value.to_bits() | top), bits >> 15 != 0)
}

/// `bf16`
fn brain(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// `tf32`: the low bits are not looked at.
fn tf32(word: u32) -> [f32; 1] {
    [f32::from_bits(word & !0x1fff)]
}

/// `e4m3` and `e5m2`
fn small(ty: Type) -> impl Fn(u8) -> f32 {
    move |bits| match ty {
        Type::E5m2 => half(u16::from(bits) << 8),
        // It has no infinity, and one value for what is no number.
        _ if bits & 0x7f == 0x7f => f32::NAN,
        _ => signed(rebiased(u32::from(bits & 0x7f) << 20, 120), bits >> 7 != 0),
    }
}

/// What lanes hold of a matrix: two elements of a row each, or of a column.
#[must_use]
pub fn fragment_of(rows: &Rows, transposed: bool) -> Words {
    std::array::from_fn(|lane| {
        let (one, two) = (lane / SHARE, 2 * (lane % SHARE));
        let elements = match transposed {
            false => [rows[one][two], rows[one][two + 1]],
            true => [rows[two][one], rows[two + 1][one]],
        };
        u32::from(elements[0]) | u32::from(elements[1]) << 16
    })
}

/// The matrix that lanes hold.
#[must_use]
pub fn rows_of(fragment: &Words, transposed: bool) -> Rows {
    let mut rows = Rows::default();
    for (lane, &word) in fragment.iter().enumerate() {
        let (one, two) = (lane / SHARE, 2 * (lane % SHARE));
        for (offset, element) in [(0, word as u16), (1, (word >> 16) as u16)] {
            let (row, column) = if transposed { (two + offset, one) } else { (one, two + offset) };
            rows[row][column] = element;
        }
    }
    rows
}

/// A row of a matrix as memory has it.
#[must_use]
pub fn row_bytes(row: [u16; 8]) -> [u8; MatrixAccess::ROW as usize] {
    let mut bytes = [0; MatrixAccess::ROW as usize];
    for (place, element) in bytes.chunks_exact_mut(2).zip(row) {
        place.copy_from_slice(&element.to_le_bytes());
    }
    bytes
}

/// The row that memory has as these bytes.
#[must_use]
pub fn row_of(bytes: [u8; MatrixAccess::ROW as usize]) -> [u16; 8] {
    std::array::from_fn(|element| u16::from_le_bytes([bytes[2 * element], bytes[2 * element + 1]]))
}

#[cfg(test)]
mod tests {
    use super::{fragment_of, half, rows_of, small};
    use crate::float::to_f64;
    use gangway_ptx::Type;

    #[test]
    fn halves_have_the_values_that_software_finds() {
        for bits in 0..=u16::MAX {
            let (ours, exact) = (f64::from(half(bits)), to_f64(bits.into(), Type::F16));
            assert!(
                ours.to_bits() == exact.to_bits() || ours.is_nan() && exact.is_nan(),
                "{bits:#x}: {ours}"
            );
        }
    }

    #[test]
    fn eight_bits_have_the_values_of_their_formats() {
        let cases = [(0x01, 1.0 / 512.0), (0x38, 1.0), (0x7e, 448.0), (0xc4, -3.0), (0x08, 1.0 / 64.0)];
        for (bits, value) in cases {
            assert_eq!(small(Type::E4m3)(bits), value, "{bits:#x}");
        }
        assert!(small(Type::E4m3)(0xff).is_nan());
        for (bits, value) in [(0x3c, 1.0), (0x7b, 57344.0), (0x01, 1.0 / 65536.0), (0xfc, f32::NEG_INFINITY)]
        {
            assert_eq!(small(Type::E5m2)(bits), value, "{bits:#x}");
        }
    }

    #[test]
    fn fragments_lead_back_to_their_matrix() {
        let rows = std::array::from_fn(|row| std::array::from_fn(|column| (10 * row + column) as u16));
        assert_eq!(rows_of(&fragment_of(&rows, false), false), rows);
        assert_eq!(rows_of(&fragment_of(&rows, true), true), rows);
        assert_eq!(fragment_of(&rows, false)[5], 12 | 13 << 16);
        assert_eq!(fragment_of(&rows, true)[5], 21 | 31 << 16);
    }
}
