//! Compares the functions of `complex.h` with the C library of the host: errors over many numbers, and
//! what zeros, infinities and NaNs give.
//!
//! The error is counted in units of the last place of the result's magnitude, as a part beside a
//! much larger one is worth less.

use gangway_gpu_maths::complex::c::{self, ComplexFloat};
use gangway_gpu_maths::complex::functions::{self, Complex};

mod glibc {
    use super::Complex;

    macro_rules! declare {
        ($($name:ident)*) => { unsafe extern "C" { $(pub safe fn $name(z: Complex) -> Complex;)* } };
    }
    #[allow(improper_ctypes, reason = "two numbers are passed as a complex one is")]
    mod declarations {
        use super::Complex;
        declare! {
            cacos cacosh casin casinh catan catanh ccos ccosh cexp clog cproj csin csinh csqrt ctan ctanh
        }
        unsafe extern "C" {
            pub safe fn cpow(z: Complex, w: Complex) -> Complex;
            pub safe fn cabs(z: Complex) -> f64;
            pub safe fn carg(z: Complex) -> f64;
        }
    }
    pub use declarations::*;
}

fn complex(re: f64, im: f64) -> Complex {
    Complex { re, im }
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

    /// Of either sign, with a magnitude between two to the power of `-range` and of `range`.
    fn number(&mut self, range: f64) -> f64 {
        let part = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let size = ((part * 2.0 - 1.0) * range).exp2();
        if self.bits() & 1 == 0 { size } else { -size }
    }

    fn complex(&mut self, range: f64) -> Complex {
        complex(self.number(range), self.number(range))
    }
}

const COUNT: usize = 100_000;

/// How many units of the last place of `wanted`'s magnitude two numbers are apart.
fn units(got: Complex, wanted: Complex) -> f64 {
    let (re, im) = (got.re - wanted.re, got.im - wanted.im);
    let error = re.hypot(im) / (wanted.re.hypot(wanted.im) * f64::EPSILON);
    if got == wanted { 0.0 } else { error }
}

/// The functions, ours and the C library's, how large a number's exponent gets, and the error allowed.
type Case = (&'static str, fn(Complex) -> Complex, fn(Complex) -> Complex, f64, f64);

fn cases() -> [Case; 16] {
    macro_rules! case {
        ($name:ident = $function:ident, $range:literal, $allowed:literal) => {
            (
                stringify!($name),
                functions::$function as fn(Complex) -> Complex,
                (|z| glibc::$name(z)) as fn(Complex) -> Complex,
                $range,
                $allowed,
            )
        };
    }
    [
        case!(cacos = acos, 400.0, 3.0),
        case!(cacosh = acosh, 400.0, 3.0),
        case!(casin = asin, 400.0, 3.0),
        case!(casinh = asinh, 400.0, 3.0),
        case!(catan = atan, 400.0, 3.0),
        case!(catanh = atanh, 400.0, 3.0),
        case!(ccos = cos, 9.0, 3.0),
        case!(ccosh = cosh, 9.0, 3.0),
        case!(cexp = exp, 9.0, 3.0),
        case!(clog = log, 900.0, 2.5),
        case!(cproj = proj, 900.0, 0.0),
        case!(csin = sin, 9.0, 3.0),
        case!(csinh = sinh, 9.0, 3.0),
        case!(csqrt = square_root, 900.0, 2.5),
        case!(ctan = tan, 9.0, 3.0),
        case!(ctanh = tanh, 9.0, 3.0),
    ]
}

#[test]
fn errors() {
    let mut wrong = Vec::new();
    for (name, ours, theirs, range, allowed) in cases() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (mut worst, mut at) = (0.0, complex(0.0, 0.0));
        for turn in 0..COUNT {
            // Small exponents half of the time, where all the branches meet.
            let z = random.complex(if turn % 2 == 0 { range } else { 2.0 });
            let (got, wanted) = (ours(z), theirs(z));
            let finite = wanted.re.is_finite() && wanted.im.is_finite();
            let error = if finite { units(got, wanted) } else { difference(got, wanted) };
            if error > worst {
                (worst, at) = (error, z);
            }
        }
        println!("| `{}` | {worst:.1} |", &name[1..]);
        if worst > allowed {
            wrong.push(format!("{name}({at:?}): {worst:.2} units: {:?}, not {:?}", ours(at), theirs(at)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Zero if both are NaN, or the same number with the same sign, or finite and close. The sign of a
/// zero or an infinity beside a NaN is mostly not specified.
fn difference(got: Complex, wanted: Complex) -> f64 {
    let any_sign = wanted.re.is_nan() || wanted.im.is_nan();
    let same = |got: f64, wanted: f64| {
        let close = (got - wanted).abs() <= 8.0 * f64::EPSILON * wanted.abs() + 4.0 * f64::from_bits(1);
        let sign = got.is_sign_negative() == wanted.is_sign_negative();
        let equal = got == wanted || any_sign && got.abs() == wanted.abs();
        got.is_nan() && wanted.is_nan() || (equal || close) && (sign || any_sign)
    };
    if same(got.re, wanted.re) && same(got.im, wanted.im) { 0.0 } else { f64::INFINITY }
}

#[test]
fn edges() {
    const EDGES: [f64; 15] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.0,
        3.0,
        1e-310,
        -1e-310,
        1e308,
        -1.7e308,
        750.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut wrong = Vec::new();
    for (name, ours, theirs, ..) in cases() {
        for re in EDGES {
            for im in EDGES {
                let z = complex(re, im);
                let (got, wanted) = (ours(z), theirs(z));
                if difference(got, wanted) != 0.0 {
                    wrong.push(format!("{name}({re:e}, {im:e}): {got:?}, not {wanted:?}"));
                }
            }
        }
    }
    for re in EDGES {
        for im in EDGES {
            let z = complex(re, im);
            let (size, angle) = (functions::abs(z), functions::arg(z));
            let wanted = complex(glibc::cabs(z), glibc::carg(z));
            if difference(complex(size, angle), wanted) != 0.0 {
                wrong.push(format!("magnitude and angle of {z:?}: {size:e}, {angle:e}, not {wanted:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

#[test]
fn powers() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..COUNT {
        let (z, w) = (random.complex(3.0), random.complex(2.0));
        let (got, wanted) = (functions::pow(z, w), glibc::cpow(z, w));
        // The product with the logarithm loses what the exponential makes of it.
        let log = glibc::clog(z);
        let allowed = 8.0 * (1.0 + w.re.hypot(w.im) * log.re.hypot(log.im));
        assert!(units(got, wanted) <= allowed, "{z:?} to the power of {w:?}: {got:?}, not {wanted:?}");
    }
    let (zero, one, two) = (complex(0.0, 0.0), complex(1.0, 0.0), complex(2.0, 0.0));
    assert_eq!(functions::pow(zero, zero), one);
    assert_eq!(functions::pow(zero, two), zero);
}

#[test]
fn names_of_c() {
    let z = complex(0.75, -1.25);
    // SAFETY: the numbers can be read, here and below.
    let ((re, im), size) = unsafe { (c::csinh(&raw const z), c::cabs(&raw const z)) };
    assert_eq!(complex(re, im), functions::sinh(z));
    assert_eq!(size, functions::abs(z));
    let single = ComplexFloat { re: 0.75, im: -1.25 };
    // SAFETY: as above.
    let (parts, angle) = unsafe { (c::csinhf(&raw const single), c::cargf(&raw const single)) };
    assert_eq!(parts, (functions::sinh(z).re as f32, functions::sinh(z).im as f32));
    assert_eq!(angle, functions::arg(z) as f32);
}
