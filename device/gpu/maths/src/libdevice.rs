//! What only NVIDIA's libdevice has: further functions, integers, and bits of numbers.
//!
//! The variants with a rounding mode are in `target`, as only a GPU of NVIDIA's can do them.

use crate::elementary::clamp;
use crate::export::export_nv;
use crate::special;
use crate::target::f32 as single;
use crate::target::f64::sqrt;

export_nv! {
    fn cospi(x: f64) -> f64 = special::sincospi(x).1;
    fn cospif(x: f32) -> f32 = special::sincospi(f64::from(x)).1 as f32;
    fn cyl_bessel_i0(x: f64) -> f64 = special::bessel_i(0, x);
    fn cyl_bessel_i0f(x: f32) -> f32 = special::bessel_i(0, f64::from(x)) as f32;
    fn cyl_bessel_i1(x: f64) -> f64 = special::bessel_i(1, x);
    fn cyl_bessel_i1f(x: f32) -> f32 = special::bessel_i(1, f64::from(x)) as f32;
    fn erfcinv(x: f64) -> f64 = special::erfcinv(x);
    fn erfcinvf(x: f32) -> f32 = special::erfcinv(f64::from(x)) as f32;
    fn erfcx(x: f64) -> f64 = special::erfcx(x);
    fn erfcxf(x: f32) -> f32 = special::erfcx(f64::from(x)) as f32;
    fn erfinv(x: f64) -> f64 = special::erfinv(x);
    fn erfinvf(x: f32) -> f32 = special::erfinv(f64::from(x)) as f32;
    fn normcdf(x: f64) -> f64 = special::normcdf(x);
    fn normcdff(x: f32) -> f32 = special::normcdf(f64::from(x)) as f32;
    fn normcdfinv(x: f64) -> f64 = special::normcdfinv(x);
    fn normcdfinvf(x: f32) -> f32 = special::normcdfinv(f64::from(x)) as f32;
    fn norm3d(x: f64, y: f64, z: f64) -> f64 = three(x, y, z);
    fn norm3df(x: f32, y: f32, z: f32) -> f32 = three(x.into(), y.into(), z.into()) as f32;
    fn norm4d(x: f64, y: f64, z: f64, t: f64) -> f64 = four(x, y, z, t);
    fn norm4df(x: f32, y: f32, z: f32, t: f32) -> f32
        = four(x.into(), y.into(), z.into(), t.into()) as f32;
    fn rnorm3d(x: f64, y: f64, z: f64) -> f64 = 1.0 / three(x, y, z);
    fn rnorm3df(x: f32, y: f32, z: f32) -> f32
        = (1.0 / three(x.into(), y.into(), z.into())) as f32;
    fn rnorm4d(x: f64, y: f64, z: f64, t: f64) -> f64 = 1.0 / four(x, y, z, t);
    fn rnorm4df(x: f32, y: f32, z: f32, t: f32) -> f32
        = (1.0 / four(x.into(), y.into(), z.into(), t.into())) as f32;
    fn norm(count: i32, numbers: *const f64) -> f64 = many(count, numbers);
    fn normf(count: i32, numbers: *const f32) -> f32 = many(count, numbers) as f32;
    fn rnorm(count: i32, numbers: *const f64) -> f64 = 1.0 / many(count, numbers);
    fn rnormf(count: i32, numbers: *const f32) -> f32 = (1.0 / many(count, numbers)) as f32;
    fn powi(x: f64, n: i32) -> f64 = libm::pow(x, f64::from(n));
    fn powif(x: f32, n: i32) -> f32 = libm::pow(f64::from(x), f64::from(n)) as f32;
    fn rcbrt(x: f64) -> f64 = 1.0 / libm::cbrt(x);
    fn rcbrtf(x: f32) -> f32 = (1.0 / libm::cbrt(f64::from(x))) as f32;
    fn rhypot(x: f64, y: f64) -> f64 = 1.0 / libm::hypot(x, y);
    fn rhypotf(x: f32, y: f32) -> f32 = (1.0 / libm::hypot(x.into(), y.into())) as f32;
    fn rsqrt(x: f64) -> f64 = 1.0 / sqrt(x);
    fn rsqrtf(x: f32) -> f32 = (1.0 / sqrt(f64::from(x))) as f32;
    fn saturatef(x: f32) -> f32 = single::min(single::max(x, 0.0), 1.0);
    fn scalbln(x: f64, n: i64) -> f64 = libm::scalbn(x, clamp(n));
    fn sincospi(x: f64, sin: &mut f64, cos: &mut f64) = (*sin, *cos) = special::sincospi(x);
    fn sincospif(x: f32, sin: &mut f32, cos: &mut f32) = {
        let parts = special::sincospi(f64::from(x));
        (*sin, *cos) = (parts.0 as f32, parts.1 as f32);
    };
    fn sinpi(x: f64) -> f64 = special::sincospi(x).0;
    fn sinpif(x: f32) -> f32 = special::sincospi(f64::from(x)).0 as f32;

    fn finitef(x: f32) -> i32 = x.is_finite().into();
    fn isfinited(x: f64) -> i32 = x.is_finite().into();
    fn isinfd(x: f64) -> i32 = x.is_infinite().into();
    fn isinff(x: f32) -> i32 = x.is_infinite().into();
    fn isnand(x: f64) -> i32 = x.is_nan().into();
    fn isnanf(x: f32) -> i32 = x.is_nan().into();
    fn signbitd(x: f64) -> i32 = x.is_sign_negative().into();
    fn signbitf(x: f32) -> i32 = x.is_sign_negative().into();
    fn nan(_payload: *const u8) -> f64 = f64::NAN;
    fn nanf(_payload: *const u8) -> f32 = f32::NAN;

    fn double2hiint(x: f64) -> i32 = (x.to_bits() >> 32) as i32;
    fn double2loint(x: f64) -> i32 = x.to_bits() as i32;
    fn double_as_longlong(x: f64) -> u64 = x.to_bits();
    fn float_as_int(x: f32) -> i32 = x.to_bits() as i32;
    fn float_as_uint(x: f32) -> u32 = x.to_bits();
    fn hiloint2double(high: i32, low: i32) -> f64
        = f64::from_bits((high as u32 as u64) << 32 | low as u32 as u64);
    fn int_as_float(x: i32) -> f32 = f32::from_bits(x as u32);
    fn longlong_as_double(x: i64) -> f64 = f64::from_bits(x as u64);
    fn uint_as_float(x: u32) -> f32 = f32::from_bits(x);

    fn abs(x: i32) -> i32 = x.wrapping_abs();
    fn brev(x: i32) -> i32 = x.reverse_bits();
    fn brevll(x: i64) -> i64 = x.reverse_bits();
    fn byte_perm(x: i32, y: i32, selector: i32) -> i32 = permute(x, y, selector);
    fn clz(x: i32) -> i32 = x.leading_zeros() as i32;
    fn clzll(x: i64) -> i32 = x.leading_zeros() as i32;
    fn ffs(x: i32) -> i32 = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
    fn ffsll(x: i64) -> i32 = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
    fn hadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y)) >> 1) as i32;
    fn llabs(x: i64) -> i64 = x.wrapping_abs();
    fn llmax(x: i64, y: i64) -> i64 = if x > y { x } else { y };
    fn llmin(x: i64, y: i64) -> i64 = if x < y { x } else { y };
    fn max(x: i32, y: i32) -> i32 = if x > y { x } else { y };
    fn min(x: i32, y: i32) -> i32 = if x < y { x } else { y };
    fn mul24(x: i32, y: i32) -> i32 = (x << 8 >> 8).wrapping_mul(y << 8 >> 8);
    fn mul64hi(x: i64, y: i64) -> i64 = ((i128::from(x) * i128::from(y)) >> 64) as i64;
    fn mulhi(x: i32, y: i32) -> i32 = ((i64::from(x) * i64::from(y)) >> 32) as i32;
    fn popc(x: u32) -> i32 = x.count_ones() as i32;
    fn popcll(x: u64) -> i32 = x.count_ones() as i32;
    fn rhadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y) + 1) >> 1) as i32;
    fn sad(x: i32, y: i32, z: u32) -> u32 = z.wrapping_add(x.abs_diff(y));
    fn uhadd(x: u32, y: u32) -> u32 = ((u64::from(x) + u64::from(y)) >> 1) as u32;
    fn ullmax(x: u64, y: u64) -> u64 = if x > y { x } else { y };
    fn ullmin(x: u64, y: u64) -> u64 = if x < y { x } else { y };
    fn umax(x: u32, y: u32) -> u32 = if x > y { x } else { y };
    fn umin(x: u32, y: u32) -> u32 = if x < y { x } else { y };
    fn umul24(x: u32, y: u32) -> u32 = (x & 0xff_ffff).wrapping_mul(y & 0xff_ffff);
    fn umul64hi(x: u64, y: u64) -> u64 = ((u128::from(x) * u128::from(y)) >> 64) as u64;
    fn umulhi(x: u32, y: u32) -> u32 = ((u64::from(x) * u64::from(y)) >> 32) as u32;
    fn urhadd(x: u32, y: u32) -> u32 = ((u64::from(x) + u64::from(y) + 1) >> 1) as u32;
    fn usad(x: u32, y: u32, z: u32) -> u32 = z.wrapping_add(x.abs_diff(y));
}

fn three(x: f64, y: f64, z: f64) -> f64 {
    special::norm(3, |index| [x, y, z][index])
}

fn four(x: f64, y: f64, z: f64, t: f64) -> f64 {
    special::norm(4, |index| [x, y, z, t][index])
}

/// The norm of an array of C's.
fn many<T: Copy + Into<f64>>(count: i32, numbers: *const T) -> f64 {
    // SAFETY: the caller of `norm` names an array of `count` numbers.
    special::norm(count.max(0) as usize, |index| unsafe { *numbers.add(index) }.into())
}

/// Picks four of the eight bytes of `y` and `x`, as PTX's `prmt` does.
fn permute(x: i32, y: i32, selector: i32) -> i32 {
    let bytes = (y as u32 as u64) << 32 | x as u32 as u64;
    let mut result = 0;
    for place in 0..4 {
        let choice = (selector as u32 >> (4 * place)) & 15;
        let byte = (bytes >> (8 * (choice & 7))) as u8;
        // The fourth bit asks for the sign instead.
        let byte = if choice & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
        result |= i32::from(byte) << (8 * place);
    }
    result
}
