//! That code is made of whatever the interpreter is tested with, in both flavours and for
//! all shapes of blocks: what is refused would silently run in the interpreter.

use super::{BlockShape, Refused, Request, compile};
use crate::abi::Flavour;

fn symbols(module: &gangway_ptx::Module, function: usize) -> u32 {
    let before = module.functions[..function].iter().filter_map(|function| function.body.as_ref());
    (module.variables.len() + before.map(|body| body.variables.len()).sum::<usize>()) as u32
}

#[test]
fn all_tests_of_the_interpreter_compile() {
    let mut compiled = 0;
    for name in gangway_filetests::files() {
        let text = std::fs::read_to_string(&name).expect("a test");
        let module = gangway_ptx::parse(&text).expect("valid PTX");
        for (index, function) in module.functions.iter().enumerate() {
            if function.body.is_none() {
                continue;
            }
            for (flavour, row) in [
                (Flavour::Masked, 32),
                (Flavour::Converged, 32),
                (Flavour::Converged, 8),
                (Flavour::Converged, 1),
            ] {
                let request = Request {
                    module: &module,
                    function: index as u32,
                    symbols: symbols(&module, index),
                    flavour,
                    shape: BlockShape { row },
                    check: false,
                    abreast: false,
                };
                let code = compile(&request);
                assert!(code.is_ok(), "{}, '{}', {flavour:?}: {code:?}", name.display(), function.name);
                compiled += 1;
            }
        }
    }
    assert!(compiled > 100, "only {compiled} functions");
}

#[test]
fn what_is_only_declared_is_refused_by_name() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func absent();\n";
    let module = gangway_ptx::parse(text).expect("valid PTX");
    let request = Request {
        module: &module,
        function: 0,
        symbols: 0,
        flavour: Flavour::Masked,
        shape: BlockShape { row: 32 },
        check: false,
        abreast: false,
    };
    assert_eq!(compile(&request), Err(Refused("'absent' is declared and not defined".to_owned())));
}
