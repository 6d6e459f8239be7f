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

/// How long it takes to read a text so many times.
fn time(text: &str, times: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        let module = gangway_ptx::parse(text).unwrap();
        assert_eq!(module.functions.len(), 2);
    }
    start.elapsed()
}

/// What is declared again in each scope gets a name of its own, in a time that grows with the
/// scopes: eight times the calls took sixty times as long when each name was searched for.
///
/// As many calls are read in both ways, so that a busy machine holds both up to the same extent.
/// What is slow is so each time.
#[test]
fn reading_takes_time_in_proportion_to_scopes() {
    let (few, many) = (calls(1_000), calls(8_000));
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..40 {
        shortest[0] = shortest[0].min(time(&few, 8));
        shortest[1] = shortest[1].min(time(&many, 1));
        if shortest[1] < shortest[0] * 4 {
            return;
        }
    }
    panic!("{shortest:?} for 1,000 calls eight times, and for 8,000");
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
