//! Hand-written images with the variables that clang puts beside its kernels.

use std::fmt::Write as _;

/// Modes of a kernel, as LLVM numbers them.
pub const GENERIC: u8 = 1;
pub const SPMD: u8 = 2;

/// What an image says about a kernel.
#[derive(Clone, Copy)]
pub struct Environment {
    pub mode: u8,
    pub max_threads: i32,
    pub max_teams: i32,
    pub reduction: (i32, i32),
}

impl Environment {
    pub const fn of(mode: u8) -> Self {
        Self { mode, max_threads: 0, max_teams: 0, reduction: (0, 0) }
    }
}

/// The beginning of an image.
pub fn header(target: &str) -> String {
    format!(".version 7.0\n.target {target}\n.address_size 64\n")
}

/// The environment of a kernel.
pub fn environment(kernel: &str, environment: Environment) -> String {
    let mut bytes = vec![0_u8, 1, environment.mode, 0];
    let (size, length) = environment.reduction;
    for number in [1, environment.max_threads, 1, environment.max_teams, size, length] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.resize(48, 0);
    let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!(".visible .global .align 8 .b8 {kernel}_kernel_environment[48] = {{{}}};\n", list.join(", "))
}

/// A kernel that writes to its argument: teams and threads, bytes of dynamic shared memory,
/// its launch environment.
pub fn shape(kernel: &str) -> String {
    format!(
        ".visible .entry {kernel}(.param .u64 environment, .param .u64 out)\n{{\n\
         .reg .b64 %rd<4>;\n.reg .b32 %r<6>;\n.reg .pred %p<2>;\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nor.b32 %r1, %r1, %r2;\n\
         setp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n\
         ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [environment];\n\
         mov.u32 %r3, %nctaid.x;\nst.global.u32 [%rd1], %r3;\n\
         mov.u32 %r3, %ntid.x;\nst.global.u32 [%rd1+4], %r3;\n\
         mov.u32 %r3, %dynamic_smem_size;\nst.global.u32 [%rd1+8], %r3;\n\
         mov.u32 %r3, 0;\nst.global.u32 [%rd1+12], %r3;\n\
         st.global.u64 [%rd1+16], %rd2;\n\
         DONE:\nret;\n}}\n"
    )
}

/// A kernel with reductions: counts its teams in the launch environment, and writes to its
/// argument the largest count it has seen, the environment and the buffer.
pub fn counter(kernel: &str) -> String {
    format!(
        ".visible .entry {kernel}(.param .u64 environment, .param .u64 out)\n{{\n\
         .reg .b64 %rd<5>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n\
         mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n\
         ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [environment];\n\
         atom.global.add.u32 %r2, [%rd2], 1;\n\
         atom.global.max.u32 %r3, [%rd1], %r2;\n\
         st.global.u64 [%rd1+8], %rd2;\nld.global.u64 %rd3, [%rd2+8];\nst.global.u64 [%rd1+16], %rd3;\n\
         mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd4, %r1, 8;\nadd.u64 %rd3, %rd3, %rd4;\n\
         st.global.u64 [%rd3], %rd2;\n\
         DONE:\nret;\n}}\n"
    )
}

/// A kernel without arguments that does nothing.
pub fn empty(kernel: &str) -> String {
    format!(".visible .entry {kernel}(.param .u64 environment)\n{{\nret;\n}}\n")
}

/// A kernel that stores where nothing is.
pub fn fault(kernel: &str) -> String {
    format!(
        ".visible .entry {kernel}(.param .u64 environment)\n{{\n.reg .b64 %rd<2>;\n\
         mov.u64 %rd1, 16;\nst.global.u64 [%rd1], %rd1;\nret;\n}}\n"
    )
}

/// A kernel that runs until the word at its argument is not zero.
pub fn wait(kernel: &str) -> String {
    format!(
        ".visible .entry {kernel}(.param .u64 environment, .param .u64 flag)\n{{\n\
         .reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n.reg .pred %p<2>;\n\
         ld.param.u64 %rd1, [flag];\nAGAIN:\nld.volatile.global.u32 %r1, [%rd1];\n\
         setp.eq.u32 %p1, %r1, 0;\n@%p1 bra AGAIN;\nret;\n}}\n"
    )
}

/// The device runtime's description of its device.
pub fn device_environment(size: usize) -> String {
    format!(".visible .global .align 8 .b8 __omp_rtl_device_environment[{size}];\n")
}

/// Functions to be called at loading and unloading, each of which adds its digit to `log`,
/// and the kernels that call them, as clang makes both.
pub fn initialisers() -> String {
    let mut text = String::from(".visible .global .align 8 .u64 log = 0;\n");
    for (name, digit) in [("first", 1), ("second", 2), ("last", 9)] {
        let _ = write!(
            text,
            ".func {name}()\n{{\n.reg .b64 %rd<3>;\nld.global.u64 %rd1, [log];\n\
             mad.lo.u64 %rd1, %rd1, 10, {digit};\nst.global.u64 [log], %rd1;\nret;\n}}\n"
        );
    }
    text.push_str(
        ".visible .global .align 8 .u64 __init_array_object_second_0_200 = second;\n\
         .visible .global .align 8 .u64 __init_array_object_first_0_101 = first;\n\
         .visible .global .align 8 .u64 __fini_array_object_last_0_101 = last;\n",
    );
    for (kernel, array) in [("nvptx$device$init", "__init_array"), ("nvptx$device$fini", "__fini_array")] {
        let _ = write!(
            text,
            ".visible .global .align 8 .u64 {array}_start;\n.visible .global .align 8 .u64 {array}_end;\n\
             .visible .entry {kernel}()\n{{\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n\
             ld.global.u64 %rd1, [{array}_start];\nld.global.u64 %rd2, [{array}_end];\n\
             AGAIN:\nsetp.eq.u64 %p1, %rd1, %rd2;\n@%p1 bra DONE;\n\
             ld.global.u64 %rd3, [%rd1];\n\
             {{\nprototype : .callprototype _ ();\ncall %rd3, (), prototype;\n}}\n\
             add.u64 %rd1, %rd1, 8;\nbra AGAIN;\nDONE:\nret;\n}}\n"
        );
    }
    text
}
