//! What the text of regions has for LLVM, and what not, where loops look something up.

use super::tests;
use crate::abi::Flavour;
use crate::analysis::passes::Passes;
use crate::analysis::unit::{Request, Unit};
use crate::generator::Generator;
use crate::llvm::Llvm;
use crate::lower::Features;

/// A loop over indices, with what is done with each; `%n` is how many there are, a value of the lane's own or not.
fn kernel(count: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 indices, .param .u64 table)\n{{
  .reg .u32 %r<9>;\n  .reg .u64 %rd<9>;\n  .reg .u32 %n;\n  .reg .f64 %d<9>;\n  .reg .pred %p;
  ld.param.u64 %rd1, [indices];\n  ld.param.u64 %rd2, [table];\n  mov.f64 %d1, 0d0000000000000000;\n  {count}
  mov.u64 %rd3, %rd1;\nNEXT:\n  ld.global.u32 %r1, [%rd3];\n{body}\n  add.u64 %rd3, %rd3, 4;\n  sub.u32 %n, %n, 1;
  setp.ne.u32 %p, %n, 0;\n  @%p bra NEXT;\n  st.global.f64 [%rd2], %d1;\n  ret;\n}}\n"
    )
}

/// All lanes do the same; and each has its own place among the indices, and its own number of them.
const UNIFORM: &str = "mov.u32 %n, 100;";
const LANES: &str = "mov.u32 %r8, %tid.x;\n  mul.wide.u32 %rd8, %r8, 4;\n  add.u64 %rd8, %rd1, %rd8;
  ld.global.u32 %n, [%rd8];\n  mul.wide.u32 %rd8, %n, 4;\n  add.u64 %rd1, %rd1, %rd8;";

fn text(kernel: &str) -> String {
    let module = gangway_ptx::parse(kernel).expect("valid PTX");
    let request = Request { lanewise: true, ..tests::kernel(&module, Flavour::Lanewise) };
    let unit = Unit::new(&request, Features { fma: true }, &mut Passes::default()).expect("a unit");
    assert_eq!(unit.regions(), Ok(1), "{kernel}");
    let mut texts = Vec::new();
    // Where there is no LLVM there is the text all the same.
    let _ = Llvm.generate(&unit, Flavour::Lanewise, &mut Passes::default(), Some(&mut texts));
    texts.swap_remove(0).1
}

/// How many more addresses are looked at, in the loop and in its copy, than of a loop that only reads its indices.
fn checks(count: &str, body: &str) -> usize {
    let looks = |body: &str| text(&kernel(count, body)).matches("call i64 @llvm.fshr.i64").count();
    looks(body) - looks(PLAIN)
}

const PLAIN: &str = "  cvt.rn.f64.u32 %d2, %r1;\n  add.f64 %d1, %d1, %d2;";
const LOOKUP: &str =
    "  mul.wide.s32 %rd4, %r1, 8;\n  add.u64 %rd5, %rd2, %rd4;\n  ld.global.f64 %d2, [%rd5+16];
  add.f64 %d1, %d1, %d2;";

#[test]
fn what_an_index_of_32_bits_leads_to_is_looked_at_before_the_loop() {
    let forms = [
        LOOKUP,
        "  cvt.s64.s32 %rd4, %r1;\n  shl.b64 %rd4, %rd4, 3;\n  add.u64 %rd5, %rd4, %rd2;\n  ld.global.f64 %d2, [%rd5];
  add.f64 %d1, %d1, %d2;",
        "  mad.wide.u32 %rd5, %r1, 8, %rd2;\n  ld.global.f64 %d2, [%rd5];\n  add.f64 %d1, %d1, %d2;",
        "  ld.global.u32 %rd4, [%rd3];\n  mad.lo.u64 %rd5, %rd4, 16, %rd2;\n  mov.u64 %rd6, %rd5;
  ld.global.f64 %d2, [%rd6];\n  add.f64 %d1, %d1, %d2;\n  cvt.rn.f64.u32 %d3, %r1;\n  add.f64 %d1, %d1, %d3;",
    ];
    for body in forms {
        // The loop itself looks at them, and its copy at none.
        let loads = body.matches("ld.global").count();
        for count in [UNIFORM, LANES] {
            assert_eq!(checks(count, body), loads, "{count} {body}");
        }
    }
}

#[test]
fn what_may_be_anywhere_is_looked_at_each_time() {
    let forms = [
        // All bits of an address, elements that an index may lead between, and a step that is too far.
        "  ld.global.u64 %rd5, [%rd3];\n  ld.global.f64 %d2, [%rd5];\n  add.f64 %d1, %d1, %d2;\n  cvt.rn.f64.u32 %d3, %r1;
  add.f64 %d1, %d1, %d3;",
        "  mad.wide.u32 %rd5, %r1, 4, %rd2;\n  ld.global.f64 %d2, [%rd5];\n  add.f64 %d1, %d1, %d2;",
        "  mad.wide.u32 %rd5, %r1, 1024, %rd2;\n  ld.global.f64 %d2, [%rd5];\n  add.f64 %d1, %d1, %d2;",
    ];
    for body in forms {
        // The copy looks at one of them, too.
        let loads = body.matches("ld.global").count();
        assert_eq!(checks(UNIFORM, body), loads + 1, "{body}");
    }
}

/// A loop that looks something up has the processor fetch its indices before it needs them.
#[test]
fn indices_are_fetched_ahead() {
    for count in [UNIFORM, LANES] {
        let text = text(&kernel(count, LOOKUP));
        assert_eq!(text.matches("call void @llvm.prefetch.p0(").count(), 4, "{text}");
    }
    assert_eq!(text(&kernel(UNIFORM, PLAIN)).matches("call void @llvm.prefetch.p0(").count(), 0);
}
