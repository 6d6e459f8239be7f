//! Values that instructions are tried with.

use gangway_ptx::Type;

/// A generator that gives the same numbers in every run (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }
}

const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The values at which instructions of a type change what they do.
pub fn edges(ty: Type) -> Vec<u64> {
    match ty {
        Type::Pred => vec![0, 1],
        Type::F32 | Type::Tf32 => singles(),
        Type::F64 => doubles(),
        Type::F16 => HALVES.into(),
        Type::Bf16 => singles().into_iter().map(|bits| bits >> 16).collect(),
        Type::F16x2 => pairs(&HALVES),
        Type::Bf16x2 => pairs(&singles().into_iter().map(|bits| bits >> 16).collect::<Vec<_>>()),
        _ => integers(ty.bits()),
    }
}

fn integers(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    let mut all = vec![0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 255, 256];
    all.extend([top, top - 1, top + 1, top - 2, top >> 1, mask(bits), mask(bits) - 1, mask(bits) - 6]);
    all.extend([
        0x5555_5555_5555_5555,
        0x0f00_ff80_1234_8001,
        0xffff_8000,
        0x8000_ffff,
        0x1_0000,
        0x00ff_ff00,
    ]);
    all.iter().map(|value| value & mask(bits)).collect()
}

fn singles() -> Vec<u64> {
    let mut all: Vec<u64> = vec![
        0,
        1,
        2,
        0x0040_0000,
        0x007f_ffff,
        0x0080_0000,
        0x0080_0001,
        0x3f80_0000,
        0x3f7f_ffff,
        0x3f80_0001,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fc1_2345,
        0x7fff_ffff,
    ];
    let numbers = [
        0.5,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        0.25,
        0.75,
        1e-3,
        7.0,
        100.0,
        126.5,
        127.5,
        255.5,
        32767.5,
        65519.0,
        65520.0,
        65535.5,
        6e-8,
        3e-8,
        2.0f32.powi(23),
        8388607.5,
        2.0f32.powi(31),
        2147483520.0,
        2.0f32.powi(32),
        4294967040.0,
        2.0f32.powi(63),
        2.0f32.powi(64),
        1e30,
        1e-30,
        88.0,
        126.0,
        -149.0,
        std::f32::consts::PI,
    ];
    all.extend(numbers.iter().map(|number: &f32| u64::from(number.to_bits())));
    with_signs(all, 1 << 31)
}

fn doubles() -> Vec<u64> {
    let mut all: Vec<u64> = vec![
        0,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3fef_ffff_ffff_ffff,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0x7ff8_0000_0000_0000,
        0x7ff8_1234_5678_9abc,
        0x7fff_ffff_ffff_ffff,
    ];
    let numbers = [
        1.0,
        0.5,
        1.5,
        2.5,
        3.5,
        0.1,
        127.5,
        255.5,
        32767.5,
        65535.5,
        2147483647.0,
        2147483647.5,
        2147483648.0,
        4294967295.0,
        4294967295.5,
        4294967296.0,
        9.2e18,
        1.8e19,
        1.9e19,
        1e300,
        1e-300,
        1e40,
        3.4028236e38,
        1.17549435e-38,
        1e-46,
        4503599627370496.5,
        1.0000000596046448,
    ];
    all.extend(numbers.iter().map(|number: &f64| number.to_bits()));
    with_signs(all, 1 << 63)
}

const HALVES: [u64; 26] = [
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3bff, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0x4000, 0x4100,
    0xc200, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe55, 0x7fff, 0x5640, 0x2e66, 0x6000,
];

fn pairs(values: &[u64]) -> Vec<u64> {
    let shifted = |index: usize| values[(index * 7 + 3) % values.len()];
    values.iter().enumerate().map(|(index, &low)| shifted(index) << 16 | low).collect()
}

fn with_signs(values: Vec<u64>, sign: u64) -> Vec<u64> {
    values.into_iter().flat_map(|value| [value, value ^ sign]).collect()
}

/// Any bits, or for floats half of the time numbers of middling size.
pub fn random(ty: Type, source: &mut Random) -> u64 {
    let bits = source.next();
    let middling = (source.next() as i32) as f64 / 65536.0;
    match ty {
        Type::F32 if bits & 1 == 0 => u64::from((middling as f32).to_bits()),
        Type::F64 if bits & 1 == 0 => middling.to_bits(),
        Type::Pred => bits >> 20 & 1,
        _ => bits.rotate_right(17) & mask(ty.bits()),
    }
}
