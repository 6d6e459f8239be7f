//! Calls that go wrong: other prototypes, full stacks, and what must be left as it was behind them.

mod bench;

use std::sync::mpsc;
use std::time::Duration;

use bench::{Bench, options};
use gangway_engine::{Execution, Options, Reason};

/// Calls `f` through a register, with this prototype.
fn indirect(declared: &str, returns: &str, parameters: &str) -> String {
    let list = |text: &str| if text.is_empty() { String::new() } else { format!("({text})") };
    let names = |text: &str, name: char| -> (String, String) {
        let each: Vec<&str> = text.split(", ").filter(|text| !text.is_empty()).collect();
        let number = |index: usize| format!("{name}{index}");
        let declare = each.iter().enumerate();
        let declare = declare.map(|(index, text)| text.replacen('_', &number(index), 1) + "; ").collect();
        (declare, (0..each.len()).map(number).collect::<Vec<_>>().join(", "))
    };
    let ((results, given), (arguments, taken)) = (names(returns, 'r'), names(parameters, 'a'));
    let given = if given.is_empty() { String::new() } else { format!("({given}), ") };
    let prototype = format!("p: .callprototype {} _ {};", list(returns), list(parameters));
    format!(
        "{declared} {{ ret; }} .visible .entry k(.param .u64 buffer) {{ .reg .u64 %f; {results} {arguments}
         mov.u64 %f, f; {prototype} call {given}%f, ({taken}), p; ret; }}"
    )
}

#[test]
fn prototypes_that_differ_are_faults() {
    let array = ".param .align 8 .b8 _[64]";
    for execution in [Execution::CompiledOnly, Execution::Interpreted] {
        for (declared, returns, parameters, fits) in [
            (".func f(.param .b32 a)", "", ".param .b32 _", true),
            // The same bits by another name.
            (".func f(.param .f32 a)", "", ".param .b32 _", true),
            (".func f(.param .b32 a)", "", ".param .b64 _", false),
            (".func f(.param .b64 a)", "", ".param .b32 _", false),
            (".func f(.param .b8 a)", "", ".param .b16 _", false),
            (".func f(.param .b32 a)", "", "", false),
            (".func f", ".param .b32 _", "", false),
            (".func (.param .b32 r) f", ".param .b32 _", "", true),
            (".func (.param .b32 r) f", ".param .b64 _", "", false),
            (".func (.param .b32 r) f", ".param .align 8 .b8 _[65536]", "", false),
            (".func (.param .align 8 .b8 r[65536]) f", ".param .b32 _", "", false),
            (".func f(.param .align 8 .b8 a[64])", "", array, true),
            (".func f(.param .align 8 .b8 a[72])", "", array, false),
            (".func f(.param .align 16 .b8 a[64])", "", array, false),
            (".func f(.param .b64 a)", "", ".param .align 8 .b8 _[8]", false),
            // What has moved from one side to the other.
            (".func (.param .b32 r) f(.param .b64 a)", ".param .b64 _", ".param .b32 _", false),
            (".func f(.param .b32 a, .param .b64 b)", "", ".param .b64 _, .param .b32 _", false),
        ] {
            let text = indirect(declared, returns, parameters);
            let bench = Bench::new(Options { execution, stack: 1 << 18, ..options() }, &text);
            for threads in [1, 64] {
                let ended = bench.launch(1, [threads, 1, 1], false);
                assert_eq!(ended.is_ok(), fits, "{text}: {ended:?}");
                if let Err(fault) = ended {
                    assert_eq!(fault.reason, Reason::Failed, "{fault}");
                    assert!(fault.report.contains("the prototype of the call is not that of 'f'"), "{fault}");
                }
            }
        }
    }
}

/// A kernel that calls itself as often as the buffer's second word says, noting how deep it is in
/// the first, and then allocates memory and calls a function that nobody has called before. Its
/// stack is full soon.
fn deep(size: u32) -> String {
    format!(
        ".extern .func (.param .b64 r) malloc(.param .b64 n);
         .func g(.param .align 8 .b8 p[{size}]) {{ .reg .u32 %x; ld.param.u32 %x, [p]; ret; }}
         .func f(.param .u32 d, .param .u64 b) {{
            .reg .u32 %d, %most; .reg .u64 %b, %n; .reg .pred %p;
            .param .align 8 .b8 big[{size}]; .param .b64 n; .param .b64 r;
            ld.param.u32 %d, [d]; ld.param.u64 %b, [b]; st.global.u32 [%b], %d;
            ld.global.u32 %most, [%b+4]; add.u32 %d, %d, 1; setp.lt.u32 %p, %d, %most; @!%p bra last;
            call f, (%d, %b); bra end;
            last: mov.u64 %n, 8; st.param.b64 [n], %n; call (r), malloc, (n); call g, (big);
            end: ret; }}
         .visible .entry k(.param .u64 buffer) {{
            .reg .u64 %b; .reg .u32 %z; ld.param.u64 %b, [buffer]; mov.u32 %z, 0; call f, (%z, %b); ret; }}"
    )
}

#[test]
fn what_a_full_stack_abandons_is_not_locked() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        for size in [16384u32, 15360, 14336, 12288, 9216] {
            let make = || Bench::new(Options { stack: 8 << 20, ..options() }, &deep(size));
            let bench = make();
            bench.fill(|_| u32::MAX);
            let fault = bench.launch(1, [1, 1, 1], false).expect_err("the stack is full");
            assert!(fault.report.contains("the stack is full"), "{fault}");
            let deepest = bench.words()[0];
            assert!(deepest > 10, "{deepest}");
            for depth in [deepest + 1, deepest, deepest - 1] {
                let bench = make();
                bench.fill(|_| depth);
                if let Err(fault) = bench.launch(1, [1, 1, 1], false) {
                    assert!(fault.report.contains("the stack is full"), "{fault}");
                }
                // Who comes later needs the same code and the same heap.
                bench.fill(|_| 1);
                bench.launch(1, [1, 1, 1], false).expect("there is room");
            }
        }
        let _ = done.send(());
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(120)), Ok(()), "it hangs, or has failed");
}

/// The function whose frame has no room is the one at fault, and not its caller, which has called
/// the runtime before.
#[test]
fn a_full_stack_names_the_function_that_fills_it() {
    let text = "
        .extern .func (.param .b64 r) malloc(.param .b64 n);
        .func f(.param .b64 b);
        .func h(.param .align 8 .b8 p[40000], .param .b64 b) {
            .reg .u64 %x, %b; ld.param.u64 %b, [b]; ld.param.u64 %x, [p+39992]; st.global.u64 [%b], %x; ret; }
        .func g(.param .b64 b) {
            .reg .u64 %b; .param .align 8 .b8 big[40000]; ld.param.u64 %b, [b];
            st.param.b64 [big+39992], %b; call h, (big, %b); call f, (%b); ret; }
        .func f(.param .b64 b) {
            .reg .u64 %b; .param .b64 n; .param .b64 r; ld.param.u64 %b, [b];
            st.param.b64 [n], 8; call (r), malloc, (n); call g, (%b); ret; }
        .visible .entry k(.param .u64 buffer) { .reg .u64 %b; ld.param.u64 %b, [buffer]; call f, (%b); ret; }";
    for threads in [1, 32] {
        let bench = Bench::new(Options { stack: 8 << 20, ..options() }, text);
        let fault = bench.launch(1, [threads, 1, 1], false).expect_err("the stack is full");
        assert!(fault.report.contains("the stack is full"), "{fault}");
        assert!(fault.report.contains("in function 'g'"), "{fault}");
    }
}
