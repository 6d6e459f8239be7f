//! The functions of `complex.h` under C's names, in both precisions.
//!
//! Clang passes a complex number as a copy in memory (`byval`), which Rust cannot say: the section
//! of a function tells `xtask/src/gpu` that its pointers are such copies.

use super::functions::{self, Complex};

/// A complex number of single precision.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ComplexFloat {
    pub re: f32,
    pub im: f32,
}

macro_rules! export {
    ($($name:ident $single:ident ($($argument:ident),+) = $function:ident;)*) => {$(
        /// # Safety
        /// The numbers can be read.
        #[cfg_attr(
            gpu,
            unsafe(no_mangle),
            unsafe(link_section = ".gangway.complex.double"),
            linkage = "weak"
        )]
        pub unsafe fn $name($($argument: *const Complex),+) -> (f64, f64) {
            // SAFETY: as the caller says.
            let result = functions::$function($(unsafe { $argument.read() }),+);
            (result.re, result.im)
        }

        /// # Safety
        /// The numbers can be read.
        #[cfg_attr(
            gpu,
            unsafe(no_mangle),
            unsafe(link_section = ".gangway.complex.float"),
            linkage = "weak"
        )]
        pub unsafe fn $single($($argument: *const ComplexFloat),+) -> (f32, f32) {
            // SAFETY: as the caller says.
            let result = functions::$function($(wide(unsafe { $argument.read() })),+);
            (result.re as f32, result.im as f32)
        }
    )*};
}

macro_rules! export_real {
    ($($name:ident $single:ident = $function:path;)*) => {$(
        /// # Safety
        /// The number can be read.
        #[cfg_attr(
            gpu,
            unsafe(no_mangle),
            unsafe(link_section = ".gangway.complex.double"),
            linkage = "weak"
        )]
        pub unsafe fn $name(z: *const Complex) -> f64 {
            // SAFETY: as the caller says.
            $function(unsafe { z.read() })
        }

        /// # Safety
        /// The number can be read.
        #[cfg_attr(
            gpu,
            unsafe(no_mangle),
            unsafe(link_section = ".gangway.complex.float"),
            linkage = "weak"
        )]
        pub unsafe fn $single(z: *const ComplexFloat) -> f32 {
            // SAFETY: as the caller says.
            $function(wide(unsafe { z.read() })) as f32
        }
    )*};
}

fn wide(z: ComplexFloat) -> Complex {
    Complex { re: z.re.into(), im: z.im.into() }
}

export_real! {
    cabs cabsf = functions::abs;
    carg cargf = functions::arg;
}

export! {
    cacos cacosf(z) = acos;
    cacosh cacoshf(z) = acosh;
    casin casinf(z) = asin;
    casinh casinhf(z) = asinh;
    catan catanf(z) = atan;
    catanh catanhf(z) = atanh;
    ccos ccosf(z) = cos;
    ccosh ccoshf(z) = cosh;
    cexp cexpf(z) = exp;
    clog clogf(z) = log;
    cpow cpowf(z, w) = pow;
    cproj cprojf(z) = proj;
    csin csinf(z) = sin;
    csinh csinhf(z) = sinh;
    csqrt csqrtf(z) = square_root;
    ctan ctanf(z) = tan;
    ctanh ctanhf(z) = tanh;
}
