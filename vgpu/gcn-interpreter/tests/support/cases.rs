//! Lines of instructions, and kernels of them.

use std::fmt::Write as _;

use gangway_gcn::Gpu;

/// A line of the file.
pub struct Case {
    pub only: Option<String>,
    pub code: Vec<String>,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
}

/// The cases in a text.
pub fn read(text: &str) -> Vec<Case> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(Case::read).collect()
}

fn numbers(text: &str) -> Vec<u32> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    text.split_whitespace().map(|text| number(text).expect("a number")).collect()
}

impl Case {
    pub fn is_for(&self, gpu: Gpu) -> bool {
        self.only.as_deref().is_none_or(|only| only == gpu.name())
    }

    fn read(line: &str) -> Self {
        let (only, rest) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((only, rest)) => (Some(only.to_owned()), rest),
            None => (None, line),
        };
        // An absolute value has the mark that parts are divided by, but no blanks around it.
        let parts: Vec<_> = rest.split(" | ").collect();
        let (code, from, to) = match parts[..] {
            [code, from, to] => (code, from, to),
            [code] => (code, "", ""),
            _ => panic!("{line}: three parts, or one"),
        };
        let code = code.split(';').map(|text| text.trim().to_owned()).collect();
        Self { only, code, from: numbers(from), to: numbers(to) }
    }
}

/// All cases as one assembly source.
pub fn source(gpu: Gpu, cases: &[&Case]) -> String {
    let mut text = ".text\n".to_owned();
    let accumulators = if gpu.unified_registers() { "  .amdhsa_accum_offset 32\n" } else { "" };
    for (number, case) in cases.iter().enumerate() {
        let _ = write!(
            text,
            ".p2align 8\n.globl t{number}\n.type t{number},@function\nt{number}:\n\
             s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 5, v0\n\
             s_waitcnt lgkmcnt(0)\nglobal_load_dwordx4 v[8:11], v1, s[4:5]\n\
             global_load_dwordx4 v[12:15], v1, s[4:5] offset:16\ns_waitcnt vmcnt(0)\n\
             v_mov_b32 v16, 0xdeadbeef\nv_mov_b32 v17, v16\nv_mov_b32 v18, v16\nv_mov_b32 v19, v16\n\
             {}\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 4, v0\n\
             global_store_dwordx4 v1, v[16:19], s[6:7]\ns_endpgm\n\
             .section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel t{number}\n\
             .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_group_segment_fixed_size 1024\n\
             .amdhsa_next_free_vgpr 40\n.amdhsa_next_free_sgpr 64\n.amdhsa_float_denorm_mode_32 3\n\
             {accumulators}.end_amdhsa_kernel\n.text\n",
            case.code.join("\n")
        );
    }
    text.push_str(".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n");
    for number in 0..cases.len() {
        let _ = write!(
            text,
            "  - .name: t{number}\n    .symbol: t{number}.kd\n    .kernarg_segment_size: 16\n    \
             .group_segment_fixed_size: 1024\n    .private_segment_fixed_size: 0\n    \
             .kernarg_segment_align: 8\n    .wavefront_size: 64\n    .sgpr_count: 64\n    .vgpr_count: 40\n    \
             .max_flat_workgroup_size: 64\n    .args:\n      - {{.offset: 0, .size: 8, .value_kind: by_value}}\n      \
             - {{.offset: 8, .size: 8, .value_kind: by_value}}\n"
        );
    }
    text + "...\n.end_amdgpu_metadata\n"
}
