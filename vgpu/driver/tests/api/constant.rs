//! Constants: the host writes them between launches, kernels do not.

use crate::cuda::*;

const NULL: Handle = std::ptr::null_mut();

/// `get(to, n)` copies words of the table to memory, `set()` stores to it.
const TABLE: &str = ".const .align 16 .u32 table[2048] = {1, 2, 3, 4};
.visible .entry get(.param .u64 to, .param .u32 n) {
    .reg .b64 %rd<5>; .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u64 %rd0, [to]; ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r0; @%p ret;
    mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;
    mov.u64 %rd2, table; add.u64 %rd2, %rd2, %rd1;
    ld.const.u32 %r2, [%rd2]; st.global.u32 [%rd0], %r2;
    ret;
}
.visible .entry set() {
    .reg .b64 %rd;
    mov.u64 %rd, table; cvta.const.u64 %rd, %rd; st.u32 [%rd+4], 7;
    ret;
}";

struct Table {
    module: Handle,
    address: u64,
    results: u64,
}

impl Table {
    fn new(context: &Context) -> Self {
        let module = context.load(&ptx(TABLE));
        let (mut address, mut size) = (0, 0);
        check!(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"table".as_ptr()));
        assert_eq!(size, 8192);
        Self { module, address, results: to_device(&[0; 8]) }
    }

    /// The first words as a kernel reads them.
    fn words(&self) -> Vec<u32> {
        let get = get!(cuModuleGetFunction for Handle; self.module, c"get".as_ptr());
        check!(launch(get, 1, 32, NULL, &[argument(&self.results), argument(&8_u32)]));
        from_device(self.results, 8)
    }
}

#[test]
fn the_host_writes_constants_in_every_way() {
    let context = Context::new();
    let table = Table::new(&context);
    let at = table.address;
    assert_eq!(table.words(), [1, 2, 3, 4, 0, 0, 0, 0]);
    assert_eq!(from_device(at, 4), [1, 2, 3, 4]);

    let values = [5_u32, 6];
    check!(cuMemcpyHtoD_v2(at + 4, values.as_ptr().cast(), 8));
    assert_eq!(table.words(), [1, 5, 6, 4, 0, 0, 0, 0]);
    check!(cuMemcpyHtoDAsync_v2(at + 16, values.as_ptr().cast(), 8, NULL));
    assert_eq!(table.words(), [1, 5, 6, 4, 5, 6, 0, 0]);
    check!(cuMemcpyDtoD_v2(at, to_device(&[8, 9]), 8));
    assert_eq!(table.words(), [8, 9, 6, 4, 5, 6, 0, 0]);
    // Within the constant, and overlapping.
    check!(cuMemcpyDtoD_v2(at + 4, at, 24));
    assert_eq!(table.words(), [8, 8, 9, 6, 4, 5, 6, 0]);
    check!(cuMemcpy(at, at + 4, 24));
    assert_eq!(table.words(), [8, 9, 6, 4, 5, 6, 6, 0]);
    check!(cuMemsetD8_v2(at + 28, 1, 4));
    check!(cuMemsetD32_v2(at, 3, 2));
    assert_eq!(table.words(), [3, 3, 6, 4, 5, 6, 6, 0x0101_0101]);
    check!(cuMemsetD2D16_v2(at + 8, 8, 2, 2, 2));
    assert_eq!(table.words(), [3, 3, 0x0002_0002, 4, 0x0002_0002, 6, 6, 0x0101_0101]);
    check!(cuStreamWriteValue32_v2(NULL, at, 10, 0));
    check!(cuStreamWriteValue64_v2(NULL, at + 8, 11, 0));
    assert_eq!(table.words()[..4], [10, 3, 11, 0]);
    let rows = Memcpy2D {
        src_x: 0,
        src_y: 0,
        src_type: 1,
        src_host: values.as_ptr().cast(),
        src_device: 0,
        src_array: NULL,
        src_pitch: 4,
        dst_x: 4,
        dst_y: 0,
        dst_type: 2,
        dst_host: NULL,
        dst_device: at,
        dst_array: NULL,
        dst_pitch: 8,
        width: 4,
        height: 2,
    };
    check!(cuMemcpy2D_v2(&rows));
    assert_eq!(table.words()[..4], [10, 5, 11, 6]);
    // The last word, and one too many.
    check!(cuMemsetD32_v2(at + 8188, 1, 1));
    check!(cuMemsetD32_v2(at + 8188, 1, 2), INVALID_VALUE);
    check!(cuModuleUnload(table.module));
    check!(cuMemsetD32_v2(at, 1, 1), INVALID_VALUE);
}

#[test]
fn a_kernel_that_writes_a_constant_fails() {
    let context = Context::new();
    let table = Table::new(&context);
    let set = get!(cuModuleGetFunction for Handle; table.module, c"set".as_ptr());
    check!(launch(set, 1, 1, NULL, &[]));
    check!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
}

/// While the host writes a constant, again and again, no kernel gets a store through.
#[test]
fn no_kernel_writes_a_constant_while_the_host_does() {
    for _ in 0..20 {
        let context = Context::new();
        let table = Table::new(&context);
        let set = get!(cuModuleGetFunction for Handle; table.module, c"set".as_ptr());
        check!(launch(set, 1, 1, NULL, &[]));
        // SAFETY: the table lives until the context ends.
        while unsafe { cuMemcpyHtoD_v2(table.address, [5_u32].as_ptr().cast(), 4) } == SUCCESS {}
        check!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    }
}

#[test]
fn memory_of_constants_is_used_again() {
    let context = Context::new();
    // More modules than are kept out of use after they have been freed.
    for _ in 0..600 {
        let table = Table::new(&context);
        assert_eq!(table.words(), [1, 2, 3, 4, 0, 0, 0, 0]);
        check!(cuMemsetD32_v2(table.address, 0x5a5a_5a5a, 2048));
        check!(cuMemFree_v2(table.results));
        check!(cuModuleUnload(table.module));
        assert_eq!(from_device(to_device(&[7; 2048]), 1), [7]);
    }
}
