//! Compares with the C library of the host over many inputs, and prints what the README's table
//! says (`cargo test -- --nocapture`). An error is counted in units of the last place of the
//! result. The C library's own errors are in the figures for double precision. Its cube root is
//! not trusted, as versions of it err by several units: [`cube_root_units`] needs no reference.

use gangway_gpu_maths::elementary::c;
use gangway_gpu_maths::{fortran, libdevice};

#[allow(dead_code, reason = "one list declares both precisions, and not all are compared")]
mod glibc {
    macro_rules! declare {
        ($($name:ident $single:ident;)*) => {
            unsafe extern "C" {
                $(pub safe fn $name(x: f64) -> f64; pub safe fn $single(x: f32) -> f32;)*
            }
        };
    }
    declare! {
        acos acosf; acosh acoshf; asin asinf; asinh asinhf; atan atanf; atanh atanhf; cbrt cbrtf;
        cos cosf; cosh coshf; erf erff; erfc erfcf; exp expf; exp10 exp10f; exp2 exp2f;
        expm1 expm1f; j0 j0f; j1 j1f; lgamma lgammaf; log logf; log10 log10f; log1p log1pf;
        log2 log2f; sin sinf; sinh sinhf; sqrt sqrtf; tan tanf; tanh tanhf; tgamma tgammaf;
        y0 y0f; y1 y1f; rint rintf; round roundf; trunc truncf; floor floorf; ceil ceilf;
        logb logbf; fabs fabsf; nearbyint nearbyintf;
    }
    macro_rules! declare_two {
        ($($name:ident $single:ident;)*) => {
            unsafe extern "C" {
                $(
                    pub safe fn $name(x: f64, y: f64) -> f64;
                    pub safe fn $single(x: f32, y: f32) -> f32;
                )*
            }
        };
    }
    declare_two! {
        atan2 atan2f; fdim fdimf; fmax fmaxf; fmin fminf; fmod fmodf; hypot hypotf;
        nextafter nextafterf; pow powf; remainder remainderf; copysign copysignf;
    }
    unsafe extern "C" {
        pub safe fn ilogb(x: f64) -> i32;
        pub safe fn llrint(x: f64) -> i64;
        pub safe fn llround(x: f64) -> i64;
        pub safe fn ldexp(x: f64, n: i32) -> f64;
        pub safe fn fma(x: f64, y: f64, z: f64) -> f64;
    }
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Evenly from `low` to `high`, or by exponent where `low` and `high` have a sign and many
    /// orders of magnitude lie between them.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let part = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        if low > 0.0 && high / low > 1e3 {
            return (low.ln() + part * (high.ln() - low.ln())).exp();
        }
        low + part * (high - low)
    }
}

const COUNT: usize = 200_000;

/// How many units of the last place two numbers are apart.
fn units(got: f64, wanted: f64, digits: i32, least: i32) -> f64 {
    if got == wanted || got.is_nan() && wanted.is_nan() {
        return 0.0;
    }
    if !got.is_finite() || !wanted.is_finite() {
        return f64::INFINITY;
    }
    let exponent = if wanted == 0.0 { least } else { glibc::ilogb(wanted).max(least) };
    (got - wanted).abs() / glibc::ldexp(1.0, exponent + 1 - digits)
}

fn worst(name: &str, low: f64, high: f64, mut error: impl FnMut(f64) -> f64) -> (f64, f64) {
    let seed = name.bytes().fold(0x9e37_79b9_7f4a_7c15, |seed, byte| (seed ^ u64::from(byte)) << 1);
    let mut random = Random(seed | 1);
    let mut worst = (0.0, low);
    for _ in 0..COUNT {
        let x = random.between(low, high);
        let error = error(x);
        if error > worst.0 {
            worst = (error, x);
        }
    }
    worst
}

/// By how many units a double-precision cube root is wrong: what its cube is too large, over the
/// slope. The products are taken with their rounding errors, so that the figure is good to far
/// less than a thousandth of a unit.
fn cube_root_units(root: f64, x: f64) -> f64 {
    let square = root * root;
    let cube = square * root;
    let square_error = glibc::fma(root, root, -square);
    let cube_error = glibc::fma(square, root, -cube);
    let excess = (cube - x) + (cube_error + square_error * root);
    (excess / (3.0 * square)).abs() / glibc::ldexp(1.0, glibc::ilogb(root) - 52)
}

#[test]
fn cube_roots() {
    // Known ones: exact, and off by one place.
    assert_eq!(cube_root_units(3.0, 27.0), 0.0);
    assert!((cube_root_units(3.0 + 2.0 * f64::EPSILON, 27.0) - 1.0).abs() < 1e-3);
    let measured =
        |cbrt: extern "C" fn(f64) -> f64| worst("cbrt", -1e3, 1e3, |x| cube_root_units(cbrt(x), x));
    let (error, at) = measured(c::cbrt);
    println!("| `cbrt` | -1e3 to 1e3 | {error:.2} | (glibc's: {:.2})", measured(glibc::cbrt).0);
    assert!(error < 0.501, "cbrt({at:e}): {error} units: it is not correctly rounded");
    let (error, at) = worst("cbrtf", -1e3, 1e3, |x| {
        let x = x as f32;
        units(c::cbrtf(x).into(), glibc::cbrt(x.into()), 24, -126)
    });
    println!("| `cbrtf` | -1e3 to 1e3 | {error:.2} |");
    assert!(error < 0.501, "cbrtf({at:e}): {error} units: it is not correctly rounded");
}

/// Checks both precisions of functions of one argument: range, and the errors allowed.
macro_rules! one {
    ($($name:ident $single:ident $low:literal $high:literal $double_units:literal $single_units:literal;)*) => {
        [$(
            (stringify!($name), $low, $high, $double_units, worst(stringify!($name), $low, $high, |x| {
                units(c::$name(x), glibc::$name(x), 53, -1022)
            })),
            (stringify!($single), $low, $high, $single_units, worst(stringify!($single), $low, $high, |x| {
                // The double-precision function is exact beside the single-precision one.
                let x = x as f32;
                units(c::$single(x).into(), glibc::$name(x.into()), 24, -126)
            })),
        )*]
    };
}

#[test]
fn functions_of_one_argument() {
    let measured = one! {
        acos acosf -1.0 1.0 1.5 1.0;
        acosh acoshf 1.0 1e6 2.5 2.5;
        asin asinf -1.0 1.0 1.5 1.0;
        asinh asinhf -1e3 1e3 2.5 2.0;
        atan atanf -100.0 100.0 1.5 1.0;
        atanh atanhf -1.0 1.0 2.5 2.0;
        cos cosf -1e3 1e3 1.5 1.0;
        cosh coshf -80.0 80.0 2.5 1.5;
        erf erff -6.0 6.0 1.5 1.5;
        erfc erfcf -5.0 9.0 5.5 3.5;
        exp expf -80.0 80.0 1.5 1.0;
        exp10 exp10f -37.0 37.0 2.0 1.0;
        j0 j0f 0.0 2.0 5.0 4.0;
        j1 j1f 0.0 3.0 5.0 4.0;
        y0 y0f 1.0 3.0 8.0 6.0;
        y1 y1f 0.1 2.0 15.0 13.0;
        exp2 exp2f -120.0 120.0 1.5 1.0;
        expm1 expm1f -80.0 80.0 1.5 1.5;
        lgamma lgammaf 3.0 1e3 4.0 3.0;
        log logf 1e-30 1e30 1.5 1.0;
        log10 log10f 1e-30 1e30 2.5 1.5;
        log1p log1pf -0.9 100.0 1.5 1.5;
        log2 log2f 1e-30 1e30 1.5 1.0;
        sin sinf -1e3 1e3 1.5 1.0;
        sinh sinhf -80.0 80.0 2.5 2.0;
        tan tanf -1e3 1e3 1.5 1.0;
        tanh tanhf -20.0 20.0 3.0 2.0;
        tgamma tgammaf 0.1 30.0 10.0 1.0;
        sqrt sqrtf 1e-30 1e30 0.0 0.5;
        fabs fabsf -1e3 1e3 0.0 0.0;
        floor floorf -1e3 1e3 0.0 0.0;
        ceil ceilf -1e3 1e3 0.0 0.0;
        trunc truncf -1e3 1e3 0.0 0.0;
        rint rintf -1e3 1e3 0.0 0.0;
        nearbyint nearbyintf -1e3 1e3 0.0 0.0;
        round roundf -1e3 1e3 0.0 0.0;
        logb logbf 1e-30 1e30 0.0 0.0;
    };
    let mut wrong = Vec::new();
    for (name, low, high, allowed, (error, at)) in measured {
        println!("| `{name}` | {low:e} to {high:e} | {error:.2} |");
        if error > allowed {
            wrong.push(format!("{name}({at:e}): {error:.2} units, {allowed} are allowed"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks both precisions of functions of two arguments.
macro_rules! two {
    ($($name:ident $single:ident $low:literal $high:literal $low2:literal $high2:literal
       $double_units:literal $single_units:literal;)*) => {
        [$(
            (stringify!($name), $double_units, {
                let mut random = Random(0x2545_f491_4f6c_dd1d);
                worst(stringify!($name), $low, $high, |x| {
                    let y = random.between($low2, $high2);
                    units(c::$name(x, y), glibc::$name(x, y), 53, -1022)
                })
            }),
            (stringify!($single), $single_units, {
                let mut random = Random(0x2545_f491_4f6c_dd1d);
                worst(stringify!($single), $low, $high, |x| {
                    let (x, y) = (x as f32, random.between($low2, $high2) as f32);
                    let wanted = if stringify!($name) == "nextafter" {
                        glibc::$single(x, y).into()
                    } else {
                        glibc::$name(x.into(), y.into())
                    };
                    units(c::$single(x, y).into(), wanted, 24, -126)
                })
            }),
        )*]
    };
}

#[test]
fn functions_of_two_arguments() {
    let measured = two! {
        atan2 atan2f -10.0 10.0 -10.0 10.0 1.5 1.5;
        copysign copysignf -10.0 10.0 -10.0 10.0 0.0 0.0;
        fdim fdimf -10.0 10.0 -10.0 10.0 0.0 0.5;
        fmax fmaxf -10.0 10.0 -10.0 10.0 0.0 0.0;
        fmin fminf -10.0 10.0 -10.0 10.0 0.0 0.0;
        fmod fmodf -1e5 1e5 1e-3 1e3 0.0 0.0;
        hypot hypotf -1e3 1e3 -1e3 1e3 1.0 1.0;
        nextafter nextafterf -10.0 10.0 -10.0 10.0 0.0 0.0;
        pow powf 1e-3 1e3 -10.0 10.0 1.5 1.0;
        remainder remainderf -1e5 1e5 1e-3 1e3 0.0 0.0;
    };
    let mut wrong = Vec::new();
    for (name, allowed, (error, at)) in measured {
        println!("| `{name}` | {error:.2} |");
        if error > allowed {
            wrong.push(format!("{name}({at:e}, ...): {error:.2} units, {allowed} are allowed"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Values that have no neighbours.
const EDGES: [f64; 15] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.5,
    -2.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    5e-324,
    f64::MAX,
    9_007_199_254_740_993.0,
];

fn same(name: &str, at: f64, got: f64, wanted: f64) {
    let equal = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
    assert!(equal || units(got, wanted, 53, -1022) <= 10.0, "{name}({at:e}) is {got:e}, not {wanted:e}");
    assert_eq!(
        got.is_sign_negative() && !got.is_nan(),
        wanted.is_sign_negative() && !wanted.is_nan(),
        "{name}({at:e})"
    );
}

#[test]
fn edges() {
    macro_rules! edges {
        ($($name:ident)*) => {$(
            for x in EDGES {
                same(stringify!($name), x, c::$name(x), glibc::$name(x));
            }
        )*};
    }
    edges! {
        acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor
        log log10 log1p log2 logb nearbyint rint round sin sinh sqrt tan tanh trunc
    }
    for x in EDGES {
        for y in EDGES {
            same("pow", x, c::pow(x, y), glibc::pow(x, y));
            same("atan2", x, c::atan2(x, y), glibc::atan2(x, y));
            same("fmod", x, c::fmod(x, y), glibc::fmod(x, y));
            same("hypot", x, c::hypot(x, y), glibc::hypot(x, y));
            same("nextafter", x, c::nextafter(x, y), glibc::nextafter(x, y));
            same("fma", x, c::fma(x, y, 1e-3), glibc::fma(x, y, 1e-3));
        }
        if x.is_finite() && x != 0.0 {
            assert_eq!(c::ilogb(x), glibc::ilogb(x));
        }
        if x.abs() < 1e18 {
            assert_eq!(c::llrint(x), glibc::llrint(x));
            assert_eq!(c::llround(x), glibc::llround(x));
        }
    }
}

#[test]
fn results_through_pointers() {
    let (mut exponent, mut whole, mut sin, mut cos) = (0, 0.0, 0.0, 0.0);
    assert_eq!(c::frexp(-10.0, &mut exponent), -0.625);
    assert_eq!(exponent, 4);
    assert_eq!(c::modf(-2.75, &mut whole), -0.75);
    assert_eq!(whole, -2.0);
    assert!(units(c::remquo(29.0, 3.0, &mut exponent), -1.0, 53, -1022) == 0.0);
    assert_eq!(exponent & 7, 10 & 7);
    c::sincos(1.0, &mut sin, &mut cos);
    assert_eq!((sin, cos), (c::sin(1.0), c::cos(1.0)));
}

#[test]
fn functions_of_libdevice_only() {
    let known = [
        ("erfcx(1)", libdevice::erfcx(1.0), 0.427_583_576_155_807),
        ("erfcx(10)", libdevice::erfcx(10.0), 0.056_140_992_743_822_59),
        ("erfcx(-3)", libdevice::erfcx(-3.0), 16_205.988_853_999_587),
        ("i0(1)", libdevice::cyl_bessel_i0(1.0), 1.266_065_877_752_008_4),
        ("i1(1)", libdevice::cyl_bessel_i1(1.0), 0.565_159_103_992_485),
        ("normcdf(-1)", libdevice::normcdf(-1.0), 0.158_655_253_931_457_05),
        ("normcdf(-5)", libdevice::normcdf(-5.0), 2.866_515_718_791_939e-7),
        ("normcdf(-10)", libdevice::normcdf(-10.0), 7.619_853_024_160_526e-24),
        ("erfinv(0.5)", libdevice::erfinv(0.5), 0.476_936_276_204_469_9),
        ("sinpi(1/6)", libdevice::sinpi(1.0 / 6.0), 0.5),
        ("cospi(1e15 + 1)", libdevice::cospi(1e15 + 1.0), -1.0),
        ("norm3d", libdevice::norm3d(2e300, 3e300, 6e300), 7e300),
        ("rnorm4d", libdevice::rnorm4d(1.0, 1.0, 1.0, 1.0), 0.5),
        ("rcbrt(8)", libdevice::rcbrt(8.0), 0.5),
        ("rsqrt(4)", libdevice::rsqrt(4.0), 0.5),
    ];
    for (name, got, wanted) in known {
        assert!(units(got, wanted, 53, -1022) <= 4.0, "{name} is {got:e}, not {wanted:e}");
    }
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut worst = [0.0f64; 6];
    let mut note = |place: usize, error: f64| worst[place] = worst[place].max(error);
    for _ in 0..COUNT {
        // An inverse is as good as its neighbours: the difference over the slope, in units.
        let x = random.between(-0.999, 0.999);
        let y = libdevice::erfinv(x);
        let slope = std::f64::consts::FRAC_2_SQRT_PI * glibc::exp(-y * y);
        let (at, ulp) = (glibc::erf(y), glibc::ldexp(1.0, glibc::ilogb(y) - 52));
        note(0, ((at - x).abs() - glibc::ldexp(1.0, glibc::ilogb(x) - 53)).max(0.0) / slope / ulp);
        let p = random.between(1e-300, 0.5);
        let y = libdevice::erfcinv(p);
        let slope = std::f64::consts::FRAC_2_SQRT_PI * glibc::exp(-y * y);
        let ulp = glibc::ldexp(1.0, glibc::ilogb(y) - 52);
        note(1, (glibc::erfc(y) - p).abs() / slope / ulp);
        let x = random.between(-30.0, 30.0);
        // Recurrences and identities that join functions.
        note(2, units(libdevice::normcdf(x) + libdevice::normcdf(-x), 1.0, 53, -1022));
        let (mut sin, mut cos) = (0.0, 0.0);
        libdevice::sincospi(x, &mut sin, &mut cos);
        note(3, units(sin * sin + cos * cos, 1.0, 53, -1022));
        let large = random.between(20.0, 40.0);
        let (i0, below) = (libdevice::cyl_bessel_i0(large), libdevice::cyl_bessel_i1(large));
        // Both sides of the place where one series takes over from the other have this ratio.
        let ratio = 1.0 - 0.5 / large - 0.125 / (large * large) - 0.125 / large.powi(3);
        note(4, (below / i0 / ratio - 1.0).abs() * large.powi(4));
        note(5, units(libdevice::norm4d(3.0 * x, 4.0 * x, 0.0, 12.0 * x), 13.0 * x.abs(), 53, -1022));
    }
    println!("erfinv, erfcinv, normcdf, sincospi, bessel, norm: {worst:.2?}");
    assert!(worst[0] <= 8.0 && worst[1] <= 8.0 && worst[2] <= 2.0 && worst[3] <= 3.0);
    assert!(worst[4] <= 1.0 && worst[5] <= 2.0);
}

#[test]
fn integers_of_libdevice() {
    assert_eq!(libdevice::byte_perm(0x3322_1100, 0x7766_5544, 0x7531), 0x7755_3311);
    assert_eq!(libdevice::byte_perm(0x0000_0080, 0, 0x0008), 0xff_i32 | 0x8080_8000u32 as i32);
    assert_eq!(libdevice::ffs(0), 0);
    assert_eq!(libdevice::ffs(8), 4);
    assert_eq!(libdevice::mulhi(i32::MIN, 4), -2);
    assert_eq!(libdevice::umul64hi(u64::MAX, u64::MAX), u64::MAX - 1);
    assert_eq!(libdevice::mul24(0x0180_0001, 2), -0xff_fffe);
    assert_eq!(libdevice::hadd(-3, -4), -4);
    assert_eq!(libdevice::rhadd(-3, -4), -3);
    assert_eq!(libdevice::sad(-5, 3, 10), 18);
    assert_eq!(libdevice::hiloint2double(0x3ff0_0000, 0), 1.0);
}

#[test]
fn intrinsics_of_fortran() {
    let file = std::ptr::null();
    assert_eq!(fortran::ModuloReal8(-7.0, 3.0, file, 0), 2.0);
    assert_eq!(fortran::ModReal8(-7.0, 3.0, file, 0), -1.0);
    assert_eq!(fortran::ModuloInteger4(-7, 3, file, 0), 2);
    assert_eq!(fortran::ModuloInteger4(i32::MIN, -1, file, 0), 0);
    assert_eq!(fortran::Exponent8_4(8.0), 4);
    assert_eq!(fortran::Fraction8(8.0), 0.5);
    assert_eq!(fortran::Spacing8(1.0), f64::EPSILON);
    assert_eq!(fortran::Spacing4(0.0), f32::MIN_POSITIVE);
    assert_eq!(fortran::RRSpacing8(-3.0), 0.75 * 9_007_199_254_740_992.0);
    assert_eq!(fortran::SetExponent8(3.0, 1), 1.5);
    assert_eq!(fortran::Nearest8(1.0, true), 1.0 + f64::EPSILON);
    assert_eq!(fortran::Nearest4(1.0, false), 1.0 - f32::EPSILON / 2.0);
    assert_eq!(fortran::FPow8i(2.0, -3), 0.125);
    assert_eq!(fortran::FPow4k(3.0, 4), 81.0);
    assert_eq!(fortran::Nint8_4(-2.5), -3);
    assert_eq!(fortran::Scale8(1.5, 4), 24.0);
}
