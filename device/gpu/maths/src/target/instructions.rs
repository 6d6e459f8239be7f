//! LLVM's intrinsics: each function is one instruction, or a short and exact sequence of them.

macro_rules! intrinsics {
    ($float:ident: $($name:ident($($argument:ident),+) = $intrinsic:literal;)*) => {
        pub mod $float {
            mod raw {
                unsafe extern "C" {
                    $(#[link_name = $intrinsic] pub fn $name($($argument: $float),+) -> $float;)*
                }
            }
            $(
                #[inline(always)]
                #[must_use]
                pub fn $name($($argument: $float),+) -> $float {
                    // SAFETY: the intrinsic has this type and is defined for all values.
                    unsafe { raw::$name($($argument),+) }
                }
            )*
        }
    };
}

intrinsics! { f32:
    sqrt(x) = "llvm.sqrt.f32";
    fma(x, y, z) = "llvm.fma.f32";
    floor(x) = "llvm.floor.f32";
    ceil(x) = "llvm.ceil.f32";
    trunc(x) = "llvm.trunc.f32";
    rint(x) = "llvm.rint.f32";
    max(x, y) = "llvm.maxnum.f32";
    min(x, y) = "llvm.minnum.f32";
    fabs(x) = "llvm.fabs.f32";
    copysign(x, y) = "llvm.copysign.f32";
}

intrinsics! { f64:
    sqrt(x) = "llvm.sqrt.f64";
    fma(x, y, z) = "llvm.fma.f64";
    floor(x) = "llvm.floor.f64";
    ceil(x) = "llvm.ceil.f64";
    trunc(x) = "llvm.trunc.f64";
    rint(x) = "llvm.rint.f64";
    max(x, y) = "llvm.maxnum.f64";
    min(x, y) = "llvm.minnum.f64";
    fabs(x) = "llvm.fabs.f64";
    copysign(x, y) = "llvm.copysign.f64";
}

mod intrinsic {
    unsafe extern "C" {
        #[link_name = "llvm.trap"]
        pub safe fn trap() -> !;
    }
}

/// Ends the kernel.
pub fn trap() -> ! {
    intrinsic::trap()
}
