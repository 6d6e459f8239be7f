//! Registers that are read where nothing has written them: zero, whatever their shape is
//! elsewhere.

mod bench;

use bench::{Bench, options};
use gangway_engine::{Execution, Options};

/// `%r3` steps from lane to lane where it is written, which is not where it is read first.
const TEXT: &str = "
.visible .entry k(.param .u64 out)
{
    .reg .u32 %r<9>;
    .reg .u64 %d<4>;
    .reg .pred %p;
    ld.param.u64 %d0, [out];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %d1, %r1, 4, %d0;
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p, %r2, 0;
    @%p bra write;
    bra read;
write:
    add.u32 %r3, %r1, 5;
read:
    add.u32 %r4, %r3, 1;
    st.global.u32 [%d1+256], %r4;
    ret;
}
";

#[test]
fn a_register_that_nothing_has_written_is_zero_in_all_lanes() {
    for execution in [Execution::CompiledOnly, Execution::Interpreted] {
        let bench = Bench::new(Options { execution, ..options() }, TEXT);
        bench.launch(1, [32, 1, 1], false).expect("no fault");
        assert_eq!(bench.words()[64..96], [1; 32], "{execution:?}");
    }
}
