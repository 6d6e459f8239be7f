//! Products and quotients of complex numbers as C's annex G defines them: clang calls these for
//! `*` and `/`. The functions of `complex.h` are in the modules below.
//!
//! All have Rust's calling convention, in which a pair is returned as clang returns a complex
//! number.

// Of AMD's GPUs they are text (`xtask/src/gpu/complex.rs`).
#[cfg(not(target_arch = "amdgpu"))]
pub mod c;
pub mod fortran;
pub mod functions;

macro_rules! complex {
    ($float:ident $multiply:ident $divide:ident) => {
        /// `(a + ib) * (c + id)`.
        #[cfg_attr(gpu, unsafe(no_mangle), linkage = "weak")]
        pub fn $multiply(a: $float, b: $float, c: $float, d: $float) -> ($float, $float) {
            let (ac, bd, ad, bc) = (a * c, b * d, a * d, b * c);
            let (re, im) = (ac - bd, ad + bc);
            if !(re.is_nan() && im.is_nan()) {
                return (re, im);
            }
            // An infinity times anything but zero is one, whatever the other parts are.
            let (mut a, mut b, mut c, mut d) = (a, b, c, d);
            let mut infinite = false;
            if a.is_infinite() || b.is_infinite() {
                (a, b) = (box_of(a.into()) as $float, box_of(b.into()) as $float);
                (c, d) = (zero(c.into()) as $float, zero(d.into()) as $float);
                infinite = true;
            }
            if c.is_infinite() || d.is_infinite() {
                (c, d) = (box_of(c.into()) as $float, box_of(d.into()) as $float);
                (a, b) = (zero(a.into()) as $float, zero(b.into()) as $float);
                infinite = true;
            }
            if !infinite && [ac, bd, ad, bc].iter().any(|part| part.is_infinite()) {
                (a, b) = (zero(a.into()) as $float, zero(b.into()) as $float);
                (c, d) = (zero(c.into()) as $float, zero(d.into()) as $float);
                infinite = true;
            }
            if infinite {
                return ($float::INFINITY * (a * c - b * d), $float::INFINITY * (a * d + b * c));
            }
            (re, im)
        }

        /// `(a + ib) / (c + id)`.
        #[cfg_attr(gpu, unsafe(no_mangle), linkage = "weak")]
        pub fn $divide(a: $float, b: $float, c: $float, d: $float) -> ($float, $float) {
            let (re, im) = divide(a.into(), b.into(), c.into(), d.into());
            (re as $float, im as $float)
        }
    };
}

complex! { f64 __muldc3 __divdc3 }
complex! { f32 __mulsc3 __divsc3 }

fn box_of(part: f64) -> f64 {
    libm::copysign(if part.is_infinite() { 1.0 } else { 0.0 }, part)
}

/// A part that is not a number counts as zero beside an infinity.
fn zero(part: f64) -> f64 {
    if part.is_nan() { libm::copysign(0.0, part) } else { part }
}

fn divide(a: f64, b: f64, c: f64, d: f64) -> (f64, f64) {
    // The divisor is scaled to about 1, so that its square neither overflows nor vanishes.
    let largest = c.abs().max(d.abs());
    let scaled = largest.is_finite() && largest != 0.0;
    let exponent = if scaled { libm::frexp(largest).1 - 1 } else { 0 };
    let (c1, d1) = (libm::scalbn(c, -exponent), libm::scalbn(d, -exponent));
    let square = c1 * c1 + d1 * d1;
    let re = libm::scalbn((a * c1 + b * d1) / square, -exponent);
    let im = libm::scalbn((b * c1 - a * d1) / square, -exponent);
    if !(re.is_nan() && im.is_nan()) {
        return (re, im);
    }
    if square == 0.0 && (!a.is_nan() || !b.is_nan()) {
        let infinity = libm::copysign(f64::INFINITY, c);
        return (infinity * a, infinity * b);
    }
    if (a.is_infinite() || b.is_infinite()) && c.is_finite() && d.is_finite() {
        let (a, b) = (box_of(a), box_of(b));
        return (f64::INFINITY * (a * c + b * d), f64::INFINITY * (b * c - a * d));
    }
    if (c.is_infinite() || d.is_infinite()) && a.is_finite() && b.is_finite() {
        let (c, d) = (box_of(c), box_of(d));
        return (0.0 * (a * c + b * d), 0.0 * (b * c - a * d));
    }
    (re, im)
}
