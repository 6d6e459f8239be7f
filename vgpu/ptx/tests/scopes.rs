//! Bodies with many scopes: compilers open one for every call.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

fn calls(count: usize) -> String {
    let mut text = String::from(
        ".version 7.8\n.target sm_80\n.address_size 64\n\
         .func (.param .b32 r) f(.param .b32 a) {\n\
         .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n\
         .visible .entry e() {\n.reg .b32 %r; mov.u32 %r, 0;\n",
    );
    for _ in 0..count {
        let call = "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r; call (r), f, (a); \
                    ld.param.b32 %r, [r]; }";
        writeln!(text, "{call}").unwrap();
    }
    text + "ret; }\n"
}

/// The shortest of some times that reading takes.
fn time(text: &str) -> Duration {
    let once = |_| {
        let start = Instant::now();
        let module = gangway_ptx::parse(text).unwrap();
        assert_eq!(module.functions.len(), 2);
        start.elapsed()
    };
    (0..5).map(once).min().unwrap()
}

/// What is declared again in each scope gets a name of its own, in a time that grows with
/// the scopes: eight times the calls took sixty times as long when each name was searched for.
#[test]
fn reading_takes_time_in_proportion_to_scopes() {
    let (few, many) = (time(&calls(1_000)), time(&calls(8_000)));
    assert!(many < few * 30, "{few:?} for 1,000 calls, {many:?} for 8,000");
}

#[test]
fn names_stay_apart() {
    let module = gangway_ptx::parse(&calls(300)).unwrap();
    let body = module.functions[1].body.as_ref().unwrap();
    let mut names: Vec<_> = body.variables.iter().map(|variable| variable.name.clone()).collect();
    assert_eq!(names.len(), 600);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 600);
}
