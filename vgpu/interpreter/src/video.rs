//! What video instructions compute for one lane: on exact values, which then have to fit.
//!
//! The scalar ones work on 32 bits, the packed ones on two halves or four bytes.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Video, VideoMad, VideoOperation, VideoThen};

use crate::compare::is_in_order;
use crate::integer::{extend, mask};

/// `c` is the last operand, where there is one.
#[must_use]
pub fn evaluate(video: Video, a: u64, b: u64, c: Option<u64>) -> u64 {
    let Video { op, to, sat, .. } = video;
    if video.parts == 1 {
        let value = fitted(sat, single(op, extend(a, video.a), extend(b, video.b)), to, 32);
        let (exact, c) = (extend(value, to), extend(c.unwrap_or(0), to));
        let combined = match video.then {
            None => return value,
            Some(VideoThen::Add) => exact + c,
            Some(VideoThen::Min) => exact.min(c),
            Some(VideoThen::Max) => exact.max(c),
        };
        return combined as u64 & mask(32);
    }
    let bits = 32 / u32::from(video.parts);
    let (mut packed, mut sum) = (0, extend(c.unwrap_or(0), to));
    for shift in (0..u32::from(video.parts)).map(|part| part * bits) {
        let exact = single(op, part(a >> shift, bits, video.a), part(b >> shift, bits, video.b));
        packed |= fitted(sat, exact, to, bits) << shift;
        sum += exact;
    }
    if video.then.is_some() { sum as u64 & mask(32) } else { packed }
}

/// One result, exactly.
fn single(op: VideoOperation, a: i128, b: i128) -> i128 {
    let count = |clamp: bool| if clamp { b.min(32) } else { b & 31 };
    match op {
        VideoOperation::Add => a + b,
        VideoOperation::Sub => a - b,
        VideoOperation::AbsDiff => (a - b).abs(),
        VideoOperation::Min => a.min(b),
        VideoOperation::Max => a.max(b),
        VideoOperation::ShiftLeft { clamp } => a << count(clamp),
        VideoOperation::ShiftRight { clamp } => a >> count(clamp),
        VideoOperation::Set(order) => is_in_order(order, a.cmp(&b)).into(),
    }
}

/// The low bits of a value by the signedness of a type.
fn part(value: u64, bits: u32, ty: Type) -> i128 {
    let value = value & mask(bits);
    let negative = ty.is_signed() && value >> (bits - 1) != 0;
    i128::from(value) - if negative { 1 << bits } else { 0 }
}

/// A value in so many bits: the nearest one with `.sat`, otherwise the low bits.
fn fitted(sat: bool, value: i128, ty: Type, bits: u32) -> u64 {
    let (least, most) =
        if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let value = if sat { value.clamp(least, most) } else { value };
    value as u64 & mask(bits)
}

/// `vmad`: the product and the third operand, one more with `.po`, shifted down.
#[must_use]
pub fn multiply(video: VideoMad, a: u64, b: u64, c: u64) -> u64 {
    let VideoMad { to, a: first, b: second, plus_one, sat, shift } = video;
    let sum = extend(a, first) * extend(b, second) + extend(c, to) + i128::from(plus_one);
    let value = sum >> shift;
    // The result is a signed one when any operand is.
    let signed = [to, first, second].iter().any(|ty| ty.is_signed());
    let (least, most) = (if signed { Type::S32 } else { Type::U32 }).limits();
    let value = if sat { value.clamp(least, most) } else { value };
    value as u64 & mask(32)
}
