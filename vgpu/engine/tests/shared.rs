//! Accesses outside of a block's shared memory. The bench gives each block 256 bytes besides the kernel's own.

mod bench;

use bench::{Bench, options};
use gangway_engine::{Checks, Execution, Options, Reason};

#[test]
fn accesses_outside_of_shared_memory_are_told_as_such() {
    let engines = [
        options(),
        Options { checks: Checks::MEMORY, ..options() },
        Options { execution: Execution::Interpreted, ..options() },
    ];
    let accesses = [
        "ld.shared.u32 %x, [%a];",
        "st.volatile.shared.u32 [%a], 1;",
        "atom.shared.add.u32 %x, [%a], 1;",
        "st.shared.v2.u32 [%a], {1, 2};",
    ];
    for options in engines {
        for access in accesses {
            let text = format!(
                ".shared .align 8 .b8 block[96];
                .visible .entry k(.param .u64 buffer) {{
                    .reg .u64 %a, %b; .reg .u32 %x; .reg .pred %p;
                    mov.u64 %a, block; add.u64 %a, %a, 4000000; {access}
                    ld.param.u64 %b, [buffer]; st.global.u32 [%b], %x; ret; }}"
            );
            let bench = Bench::new(options.clone(), &text);
            let fault = bench.launch(1, [32, 1, 1], false).expect_err(access);
            assert_eq!(fault.reason, Reason::IllegalAddress, "{fault}");
            let told = "is an offset into shared memory, of which a block has 352 bytes";
            assert!(fault.report.contains(told), "{access}: {fault}");
            assert!(!fault.report.contains("is an address"), "{access}: {fault}");
        }
    }
}
