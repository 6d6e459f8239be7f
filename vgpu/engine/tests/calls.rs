//! Calls that go wrong.

mod bench;

use bench::{Bench, options};
use gangway_engine::{Options, Reason};

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
    for interpret in [false, true] {
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
            let bench = Bench::new(Options { interpret, stack: 1 << 18, ..options() }, &text);
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
