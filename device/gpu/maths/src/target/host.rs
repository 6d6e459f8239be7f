//! The host's half: what the standard library has.

macro_rules! host {
    ($float:ident: $($name:ident($($argument:ident),+) = $body:expr;)*) => {
        pub mod $float {
            $(#[must_use] pub fn $name($($argument: $float),+) -> $float { $body })*
        }
    };
}

macro_rules! both {
    ($($float:ident)*) => {$(
        host! { $float:
            sqrt(x) = x.sqrt();
            fma(x, y, z) = x.mul_add(y, z);
            floor(x) = x.floor();
            ceil(x) = x.ceil();
            trunc(x) = x.trunc();
            rint(x) = x.round_ties_even();
            max(x, y) = x.max(y);
            min(x, y) = x.min(y);
            fabs(x) = x.abs();
            copysign(x, y) = x.copysign(y);
        }
    )*};
}

both! { f32 f64 }
