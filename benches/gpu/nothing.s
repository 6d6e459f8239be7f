// The kernel of null_kernels.h.
    .amdgcn_target "amdgcn-amd-amdhsa--gfx906"
    .text
    .globl nothing
    .p2align 8
    .type nothing,@function
nothing:
    s_endpgm

    .rodata
    .p2align 6
    .amdhsa_kernel nothing
        .amdhsa_next_free_vgpr 1
        .amdhsa_next_free_sgpr 8
    .end_amdhsa_kernel

    .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx906
amdhsa.kernels:
  - .name: nothing
    .symbol: nothing.kd
    .args: []
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 1
    .max_flat_workgroup_size: 1024
...
    .end_amdgpu_metadata
