//! Which values have a shape behind regions that lanes run by themselves, and which not.

use gangway_simt::{Kind, Source};

use super::tests;
use crate::abi::Flavour;
use crate::analysis::passes::Passes;
use crate::analysis::shape::Shape;
use crate::analysis::unit::{Request, Unit};
use crate::lower::Features;

/// The shape of what is added one to, in a loop that `leave` leaves.
fn counter(leave: &str, lanewise: bool) -> Shape {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 words)\n{{
  .reg .u32 %r<9>;\n  .reg .u64 %rd<9>;\n  .reg .pred %p;\n  ld.param.u64 %rd1, [words];\n  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;\n  add.u64 %rd2, %rd1, %rd2;\n  ld.global.u32 %r2, [%rd2];\n  mov.u32 %r3, 0;\nTURN:
  mad.lo.u32 %r2, %r2, 1664525, 1013904223;\n  add.u32 %r3, %r3, 1;\n  {leave}\n  @%p bra TURN;\n  bar.sync 0;
  st.global.u32 [%rd2], %r3;\n  ret;\n}}\n"
    );
    let module = gangway_ptx::parse(&text).expect("valid PTX");
    let request = Request { lanewise, ..tests::kernel(&module, Flavour::Converged) };
    let unit = Unit::new(&request, Features { fma: true }, &mut Passes::default()).expect("a unit");
    let counts = |kind: &Kind| match kind {
        Kind::Compute(compute) => {
            let slot = compute.results[0].slot?;
            let [own, one] = &compute.sources[..] else { return None };
            (own.source == Source::Slot(slot) && one.source.constant() == Some(1)).then_some(slot)
        }
        _ => None,
    };
    let slot = unit.code.operations.iter().find_map(|operation| counts(&operation.kind));
    unit.shapes.slots[slot.expect("what counts") as usize]
}

#[test]
fn turns_of_a_loop_that_lanes_leave_at_different_times_have_no_shape() {
    assert_eq!(counter("setp.gt.s32 %p, %r2, 0;", true), Shape::General);
    // Without such regions it is tried all the same, and so it is where all lanes leave it together.
    assert_eq!(counter("setp.gt.s32 %p, %r2, 0;", false), Shape::Uniform);
    assert_eq!(counter("setp.lt.u32 %p, %r3, 10;", true), Shape::Uniform);
}
