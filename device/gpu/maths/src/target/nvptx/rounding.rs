//! The functions of libdevice that have a rounding mode, and the fast ones without guarantees.
//!
//! Each is one instruction of PTX, so there is nothing that a host could test. `rn` rounds to the
//! nearest, `rz` towards zero, `rd` down and `ru` up; LLVM calls the last two `rm` and `rp`.

use crate::export::export_nv;

/// Binds intrinsics under the name that follows them.
macro_rules! intrinsics {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $intrinsic:literal;)*) => {
        mod raw {
            unsafe extern "C" {
                $(#[link_name = $intrinsic] pub fn $name($($argument: $type),*) -> $result;)*
            }
        }
        export_nv! {$(
            fn $name($($argument: $type),*) -> $result = {
                // SAFETY: the intrinsic has this type and is defined for all values.
                unsafe { raw::$name($($argument),*) }
            };
        )*}
    };
}

intrinsics! {
    dadd_rd(x: f64, y: f64) -> f64 = "llvm.nvvm.add.rm.d";
    dadd_rn(x: f64, y: f64) -> f64 = "llvm.nvvm.add.rn.d";
    dadd_ru(x: f64, y: f64) -> f64 = "llvm.nvvm.add.rp.d";
    dadd_rz(x: f64, y: f64) -> f64 = "llvm.nvvm.add.rz.d";
    dmul_rd(x: f64, y: f64) -> f64 = "llvm.nvvm.mul.rm.d";
    dmul_rn(x: f64, y: f64) -> f64 = "llvm.nvvm.mul.rn.d";
    dmul_ru(x: f64, y: f64) -> f64 = "llvm.nvvm.mul.rp.d";
    dmul_rz(x: f64, y: f64) -> f64 = "llvm.nvvm.mul.rz.d";
    ddiv_rd(x: f64, y: f64) -> f64 = "llvm.nvvm.div.rm.d";
    ddiv_rn(x: f64, y: f64) -> f64 = "llvm.nvvm.div.rn.d";
    ddiv_ru(x: f64, y: f64) -> f64 = "llvm.nvvm.div.rp.d";
    ddiv_rz(x: f64, y: f64) -> f64 = "llvm.nvvm.div.rz.d";
    dsqrt_rd(x: f64) -> f64 = "llvm.nvvm.sqrt.rm.d";
    dsqrt_rn(x: f64) -> f64 = "llvm.nvvm.sqrt.rn.d";
    dsqrt_ru(x: f64) -> f64 = "llvm.nvvm.sqrt.rp.d";
    dsqrt_rz(x: f64) -> f64 = "llvm.nvvm.sqrt.rz.d";
    drcp_rd(x: f64) -> f64 = "llvm.nvvm.rcp.rm.d";
    drcp_rn(x: f64) -> f64 = "llvm.nvvm.rcp.rn.d";
    drcp_ru(x: f64) -> f64 = "llvm.nvvm.rcp.rp.d";
    drcp_rz(x: f64) -> f64 = "llvm.nvvm.rcp.rz.d";
    fadd_rd(x: f32, y: f32) -> f32 = "llvm.nvvm.add.rm.f";
    fadd_rn(x: f32, y: f32) -> f32 = "llvm.nvvm.add.rn.f";
    fadd_ru(x: f32, y: f32) -> f32 = "llvm.nvvm.add.rp.f";
    fadd_rz(x: f32, y: f32) -> f32 = "llvm.nvvm.add.rz.f";
    fmul_rd(x: f32, y: f32) -> f32 = "llvm.nvvm.mul.rm.f";
    fmul_rn(x: f32, y: f32) -> f32 = "llvm.nvvm.mul.rn.f";
    fmul_ru(x: f32, y: f32) -> f32 = "llvm.nvvm.mul.rp.f";
    fmul_rz(x: f32, y: f32) -> f32 = "llvm.nvvm.mul.rz.f";
    fdiv_rd(x: f32, y: f32) -> f32 = "llvm.nvvm.div.rm.f";
    fdiv_rn(x: f32, y: f32) -> f32 = "llvm.nvvm.div.rn.f";
    fdiv_ru(x: f32, y: f32) -> f32 = "llvm.nvvm.div.rp.f";
    fdiv_rz(x: f32, y: f32) -> f32 = "llvm.nvvm.div.rz.f";
    fsqrt_rd(x: f32) -> f32 = "llvm.nvvm.sqrt.rm.f";
    fsqrt_rn(x: f32) -> f32 = "llvm.nvvm.sqrt.rn.f";
    fsqrt_ru(x: f32) -> f32 = "llvm.nvvm.sqrt.rp.f";
    fsqrt_rz(x: f32) -> f32 = "llvm.nvvm.sqrt.rz.f";
    frcp_rd(x: f32) -> f32 = "llvm.nvvm.rcp.rm.f";
    frcp_rn(x: f32) -> f32 = "llvm.nvvm.rcp.rn.f";
    frcp_ru(x: f32) -> f32 = "llvm.nvvm.rcp.rp.f";
    frcp_rz(x: f32) -> f32 = "llvm.nvvm.rcp.rz.f";
    fma_rd(x: f64, y: f64, z: f64) -> f64 = "llvm.nvvm.fma.rm.d";
    fma_rn(x: f64, y: f64, z: f64) -> f64 = "llvm.nvvm.fma.rn.d";
    fma_ru(x: f64, y: f64, z: f64) -> f64 = "llvm.nvvm.fma.rp.d";
    fma_rz(x: f64, y: f64, z: f64) -> f64 = "llvm.nvvm.fma.rz.d";
    fmaf_rd(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rm.f";
    fmaf_rn(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rn.f";
    fmaf_ru(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rp.f";
    fmaf_rz(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rz.f";
    fmaf_ieee_rd(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rm.f";
    fmaf_ieee_rn(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rn.f";
    fmaf_ieee_ru(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rp.f";
    fmaf_ieee_rz(x: f32, y: f32, z: f32) -> f32 = "llvm.nvvm.fma.rz.f";
    double2float_rd(x: f64) -> f32 = "llvm.nvvm.d2f.rm";
    double2float_rn(x: f64) -> f32 = "llvm.nvvm.d2f.rn";
    double2float_ru(x: f64) -> f32 = "llvm.nvvm.d2f.rp";
    double2float_rz(x: f64) -> f32 = "llvm.nvvm.d2f.rz";
    double2int_rd(x: f64) -> i32 = "llvm.nvvm.d2i.rm";
    double2int_rn(x: f64) -> i32 = "llvm.nvvm.d2i.rn";
    double2int_ru(x: f64) -> i32 = "llvm.nvvm.d2i.rp";
    double2int_rz(x: f64) -> i32 = "llvm.nvvm.d2i.rz";
    double2uint_rd(x: f64) -> u32 = "llvm.nvvm.d2ui.rm";
    double2uint_rn(x: f64) -> u32 = "llvm.nvvm.d2ui.rn";
    double2uint_ru(x: f64) -> u32 = "llvm.nvvm.d2ui.rp";
    double2uint_rz(x: f64) -> u32 = "llvm.nvvm.d2ui.rz";
    double2ll_rd(x: f64) -> i64 = "llvm.nvvm.d2ll.rm";
    double2ll_rn(x: f64) -> i64 = "llvm.nvvm.d2ll.rn";
    double2ll_ru(x: f64) -> i64 = "llvm.nvvm.d2ll.rp";
    double2ll_rz(x: f64) -> i64 = "llvm.nvvm.d2ll.rz";
    double2ull_rd(x: f64) -> u64 = "llvm.nvvm.d2ull.rm";
    double2ull_rn(x: f64) -> u64 = "llvm.nvvm.d2ull.rn";
    double2ull_ru(x: f64) -> u64 = "llvm.nvvm.d2ull.rp";
    double2ull_rz(x: f64) -> u64 = "llvm.nvvm.d2ull.rz";
    float2int_rd(x: f32) -> i32 = "llvm.nvvm.f2i.rm";
    float2int_rn(x: f32) -> i32 = "llvm.nvvm.f2i.rn";
    float2int_ru(x: f32) -> i32 = "llvm.nvvm.f2i.rp";
    float2int_rz(x: f32) -> i32 = "llvm.nvvm.f2i.rz";
    float2uint_rd(x: f32) -> u32 = "llvm.nvvm.f2ui.rm";
    float2uint_rn(x: f32) -> u32 = "llvm.nvvm.f2ui.rn";
    float2uint_ru(x: f32) -> u32 = "llvm.nvvm.f2ui.rp";
    float2uint_rz(x: f32) -> u32 = "llvm.nvvm.f2ui.rz";
    float2ll_rd(x: f32) -> i64 = "llvm.nvvm.f2ll.rm";
    float2ll_rn(x: f32) -> i64 = "llvm.nvvm.f2ll.rn";
    float2ll_ru(x: f32) -> i64 = "llvm.nvvm.f2ll.rp";
    float2ll_rz(x: f32) -> i64 = "llvm.nvvm.f2ll.rz";
    float2ull_rd(x: f32) -> u64 = "llvm.nvvm.f2ull.rm";
    float2ull_rn(x: f32) -> u64 = "llvm.nvvm.f2ull.rn";
    float2ull_ru(x: f32) -> u64 = "llvm.nvvm.f2ull.rp";
    float2ull_rz(x: f32) -> u64 = "llvm.nvvm.f2ull.rz";
    int2float_rd(x: i32) -> f32 = "llvm.nvvm.i2f.rm";
    int2float_rn(x: i32) -> f32 = "llvm.nvvm.i2f.rn";
    int2float_ru(x: i32) -> f32 = "llvm.nvvm.i2f.rp";
    int2float_rz(x: i32) -> f32 = "llvm.nvvm.i2f.rz";
    uint2float_rd(x: u32) -> f32 = "llvm.nvvm.ui2f.rm";
    uint2float_rn(x: u32) -> f32 = "llvm.nvvm.ui2f.rn";
    uint2float_ru(x: u32) -> f32 = "llvm.nvvm.ui2f.rp";
    uint2float_rz(x: u32) -> f32 = "llvm.nvvm.ui2f.rz";
    ll2float_rd(x: i64) -> f32 = "llvm.nvvm.ll2f.rm";
    ll2float_rn(x: i64) -> f32 = "llvm.nvvm.ll2f.rn";
    ll2float_ru(x: i64) -> f32 = "llvm.nvvm.ll2f.rp";
    ll2float_rz(x: i64) -> f32 = "llvm.nvvm.ll2f.rz";
    ull2float_rd(x: u64) -> f32 = "llvm.nvvm.ull2f.rm";
    ull2float_rn(x: u64) -> f32 = "llvm.nvvm.ull2f.rn";
    ull2float_ru(x: u64) -> f32 = "llvm.nvvm.ull2f.rp";
    ull2float_rz(x: u64) -> f32 = "llvm.nvvm.ull2f.rz";
    ll2double_rd(x: i64) -> f64 = "llvm.nvvm.ll2d.rm";
    ll2double_rn(x: i64) -> f64 = "llvm.nvvm.ll2d.rn";
    ll2double_ru(x: i64) -> f64 = "llvm.nvvm.ll2d.rp";
    ll2double_rz(x: i64) -> f64 = "llvm.nvvm.ll2d.rz";
    ull2double_rd(x: u64) -> f64 = "llvm.nvvm.ull2d.rm";
    ull2double_rn(x: u64) -> f64 = "llvm.nvvm.ull2d.rn";
    ull2double_ru(x: u64) -> f64 = "llvm.nvvm.ull2d.rp";
    ull2double_rz(x: u64) -> f64 = "llvm.nvvm.ull2d.rz";
    rcp64h(x: f64) -> f64 = "llvm.nvvm.rcp.approx.ftz.d";
    fast_sinf(x: f32) -> f32 = "llvm.nvvm.sin.approx.f";
    fast_cosf(x: f32) -> f32 = "llvm.nvvm.cos.approx.f";
    fast_log2f(x: f32) -> f32 = "llvm.nvvm.lg2.approx.f";
    fast_fdividef(x: f32, y: f32) -> f32 = "llvm.nvvm.div.approx.f";
}

mod approximation {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.ex2.approx.f"]
        pub safe fn exp2(x: f32) -> f32;
    }
}

export_nv! {
    fn dsub_rd(x: f64, y: f64) -> f64 = dadd_rd(x, -y);
    fn dsub_rn(x: f64, y: f64) -> f64 = dadd_rn(x, -y);
    fn dsub_ru(x: f64, y: f64) -> f64 = dadd_ru(x, -y);
    fn dsub_rz(x: f64, y: f64) -> f64 = dadd_rz(x, -y);
    fn fsub_rd(x: f32, y: f32) -> f32 = fadd_rd(x, -y);
    fn fsub_rn(x: f32, y: f32) -> f32 = fadd_rn(x, -y);
    fn fsub_ru(x: f32, y: f32) -> f32 = fadd_ru(x, -y);
    fn fsub_rz(x: f32, y: f32) -> f32 = fadd_rz(x, -y);
    fn int2double_rn(x: i32) -> f64 = x.into();
    fn uint2double_rn(x: u32) -> f64 = x.into();
    fn frsqrt_rn(x: f32) -> f32 = (1.0 / crate::target::f64::sqrt(f64::from(x))) as f32;
    fn fast_expf(x: f32) -> f32 = approximation::exp2(x * core::f32::consts::LOG2_E);
    fn fast_exp10f(x: f32) -> f32 = approximation::exp2(x * core::f32::consts::LOG2_10);
    fn fast_logf(x: f32) -> f32 = fast_log2f(x) * core::f32::consts::LN_2;
    fn fast_log10f(x: f32) -> f32 = fast_log2f(x) * core::f32::consts::LOG10_2;
    fn fast_powf(x: f32, y: f32) -> f32 = approximation::exp2(y * fast_log2f(x));
    fn fast_sincosf(x: f32, sin: &mut f32, cos: &mut f32)
        = (*sin, *cos) = (fast_sinf(x), fast_cosf(x));
    fn fast_tanf(x: f32) -> f32 = fast_fdividef(fast_sinf(x), fast_cosf(x));
    fn float2half_rn(x: f32) -> u16 = (x as f16).to_bits();
    fn half2float(x: u16) -> f32 = f16::from_bits(x) as f32;
}
