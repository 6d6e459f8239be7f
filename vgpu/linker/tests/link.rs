//! What linking makes of modules that share names, and what it refuses.

use gangway_linker::{Input, LinkError, link};
use gangway_ptx::{Linkage, Module, Op, Symbol};

fn complete(text: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{text}")
}

fn module(text: &str) -> Module {
    gangway_ptx::parse(&complete(text)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn inputs(texts: &[&str]) -> Vec<Input> {
    let named = texts.iter().enumerate();
    named.map(|(index, text)| Input::new(format!("input {}", index + 1), module(text))).collect()
}

/// The same with bodies that are read while they are linked.
fn outlines(texts: &[&str]) -> Vec<Input> {
    let named = texts.iter().enumerate();
    let outline =
        |text: &str| gangway_ptx::Outline::new(complete(text)).unwrap_or_else(|errors| panic!("{errors}"));
    named.map(|(index, text)| Input::outline(format!("input {}", index + 1), outline(text))).collect()
}

/// The linked module; what is printed of it reads back as the same.
fn linked(texts: &[&str]) -> Module {
    let module = link(inputs(texts)).unwrap_or_else(|errors| panic!("{errors}"));
    let printed = module.to_string();
    let again = gangway_ptx::parse_linked(&printed).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
    assert_eq!(again, module, "reads back as another module:\n{printed}");
    assert_eq!(link(outlines(texts)).as_ref(), Ok(&module), "read as it is linked");
    module
}

fn errors(texts: &[&str]) -> Vec<String> {
    let errors = link(inputs(texts)).expect_err("these modules do not fit together");
    assert_eq!(link(outlines(texts)).as_ref(), Err(&errors), "read as it is linked");
    errors.0.iter().map(ToString::to_string).collect()
}

fn names<'a, T>(list: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
    list.iter().map(name).collect()
}

fn functions(module: &Module) -> Vec<&str> {
    names(&module.functions, |function| &function.name)
}

fn variables(module: &Module) -> Vec<&str> {
    names(&module.variables, |variable| &variable.name)
}

/// The name of the function that `caller` calls.
fn callee<'a>(module: &'a Module, caller: &str) -> &'a str {
    let body = module.function(caller).and_then(|function| function.body.as_ref()).expect("a body");
    let callee = body.operands.iter().find_map(|operand| match operand {
        gangway_ptx::Operand::Function(id) => Some(&*module.functions[id.index()].name),
        _ => None,
    });
    callee.expect("a call")
}

const CALLER: &str = "
.extern .func f();
.visible .entry k() { call f; ret; }";

#[test]
fn a_call_finds_its_function_in_another_module() {
    let module = linked(&[CALLER, ".visible .func f() { ret; }"]);
    assert_eq!(functions(&module), ["k", "f"]);
    assert_eq!(callee(&module, "k"), "f");
    assert!(module.functions[1].body.is_some());
    // One `ret` for both.
    assert_eq!(module.opcodes.iter().filter(|opcode| opcode.op == Op::Ret).count(), 1);
}

#[test]
fn the_order_of_inputs_does_not_matter() {
    let module = linked(&[".visible .func f() { ret; }", CALLER]);
    assert_eq!((functions(&module), callee(&module, "k")), (vec!["f", "k"], "f"));
}

#[test]
fn what_nothing_reaches_is_dropped() {
    let module = linked(&[
        CALLER,
        ".visible .func f() { ret; } .func unused() { call f; ret; } .visible .func also_unused() { ret; }",
    ]);
    assert_eq!(functions(&module), ["k", "f"]);
}

#[test]
fn variables_keep_functions() {
    let module = linked(&[
        ".func f() { ret; } .func g() { ret; } .visible .global .u64 table[2] = {f, 0};",
        ".extern .global .u64 table[2]; .visible .entry k() { .reg .u64 %r; ld.global.u64 %r, [table+8]; ret; }",
    ]);
    assert_eq!(functions(&module), ["f", "k"]);
    assert_eq!(variables(&module), ["table"]);
}

#[test]
fn an_internal_variable_is_not_found_from_outside() {
    let found = errors(&[
        ".global .u32 x = 1;",
        ".extern .global .u32 x; .visible .entry k() { .reg .u32 %r; ld.global.u32 %r, [x]; ret; }",
    ]);
    assert_eq!(found, ["undefined reference to 'x' in 'input 2'"]);
}

#[test]
fn internal_names_are_kept_apart() {
    let own = |value: &str| {
        format!(
            ".global .u32 x = {value};
            .func f() {{ .reg .u32 %r; ld.global.u32 %r, [x]; ret; }}
            .visible .entry k{value}() {{ call f; ret; }}"
        )
    };
    let module = linked(&[&own("1"), &own("2")]);
    assert_eq!(functions(&module), ["f", "k1", "f$static1", "k2"]);
    assert_eq!(variables(&module), ["x", "x$static1"]);
    assert_eq!((callee(&module, "k1"), callee(&module, "k2")), ("f", "f$static1"));
    for (function, variable) in [(0, 0), (2, 1)] {
        let body = module.functions[function].body.as_ref().expect("a body");
        let reads = body.operands.iter().any(|operand| {
            let symbol = Symbol::Variable(gangway_ptx::VariableId(variable));
            *operand == gangway_ptx::Operand::Address(gangway_ptx::Base::Symbol(symbol), 0)
        });
        assert!(reads, "function {function} reads its own variable");
    }
}

#[test]
fn shared_names_stay_as_they_are() {
    let module = linked(&[
        ".func f() { ret; } .visible .entry k() { call f; ret; }",
        ".visible .func f() { ret; } .visible .entry l() { call f; ret; }",
    ]);
    assert_eq!(functions(&module), ["f$static1", "k", "f", "l"]);
}

#[test]
fn a_strong_definition_wins_over_weak_ones() {
    let weak = ".weak .global .u32 x = 1; .weak .func f() { ret; }";
    let strong = ".visible .global .u32 x = 2; .visible .func f() { trap; ret; }";
    for texts in [[CALLER, weak, strong], [CALLER, strong, weak], [strong, weak, CALLER]] {
        let module = linked(&texts);
        assert_eq!(module.variables.len(), 1);
        assert_eq!(
            module.variables[0].initializer.as_ref().map(|value| &*value.bytes),
            Some(&[2, 0, 0, 0][..])
        );
        let function = module.function("f").expect("f");
        assert_eq!(function.linkage, Linkage::Visible);
        assert_eq!(function.body.as_ref().map(|body| body.instructions.len()), Some(2));
    }
}

#[test]
fn of_weak_definitions_the_first_is_taken() {
    let module = linked(&[CALLER, ".weak .func f() { ret; }", ".weak .func f() { trap; ret; }"]);
    assert_eq!(
        module.function("f").and_then(|f| f.body.as_ref()).map(|body| body.instructions.len()),
        Some(1)
    );
}

#[test]
fn common_variables_become_the_largest() {
    let user = ".extern .global .align 16 .b8 c[8]; .visible .entry k()
        { .reg .u32 %r; ld.global.u32 %r, [c]; ret; }";
    let module = linked(&[
        ".common .global .align 4 .b8 c[4];",
        ".common .global .align 8 .b8 c[8];",
        ".common .global .align 2 .b8 c[2];",
        user,
    ]);
    assert_eq!(module.variables.len(), 1);
    assert_eq!((module.variables[0].size(), module.variables[0].align), (Some(8), 16));
    assert_eq!(module.variables[0].linkage, Linkage::Common);
    let module = linked(&[
        ".common .global .align 4 .b8 c[4];",
        ".visible .global .align 4 .b8 c[8] = {1, 2, 3};",
        user,
    ]);
    assert_eq!(module.variables[0].linkage, Linkage::Visible);
}

#[test]
fn dynamic_shared_memory_needs_no_definition() {
    let user = |kernel: &str, align: u32| {
        format!(
            ".extern .shared .align {align} .b8 x[]; .visible .entry {kernel}()
            {{ .reg .u32 %r; ld.shared.u32 %r, [x]; ret; }}"
        )
    };
    let module = linked(&[&user("k", 4), &user("l", 16)]);
    assert_eq!(variables(&module), ["x"]);
    assert_eq!((module.variables[0].size(), module.variables[0].align), (None, 16));
    // With a size it is a variable like others.
    let module = linked(&[&user("k", 4), ".visible .shared .align 8 .b8 x[64];"]);
    assert_eq!((module.variables[0].size(), module.variables[0].align), (Some(64), 8));
}

#[test]
fn an_alias_is_its_function() {
    let module = linked(&[CALLER, ".func g() { ret; } .visible .func f(); .alias f, g;"]);
    assert_eq!((functions(&module), callee(&module, "k")), (vec!["k", "g"], "g"));
    assert!(module.aliases.is_empty());
    // An alias is a definition as others are.
    let found = errors(&[
        CALLER,
        ".func g() { ret; } .visible .func f(); .alias f, g;",
        ".visible .func f() { ret; }",
    ]);
    assert_eq!(found, ["multiple definition of 'f' in 'input 3', first defined in 'input 2'"]);
}

#[test]
fn the_device_provides_some_functions() {
    let printing = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
        .visible .entry k() { .param .b32 r; .reg .u64 %x; mov.u64 %x, 0; call (r), vprintf, (%x, %x); ret; }";
    let module = linked(&[printing, printing.replace("entry k", "entry l").as_str()]);
    assert_eq!(functions(&module), ["vprintf", "k", "l"]);
    let found = errors(&[".extern .func malloc(.param .b32 a);
        .visible .entry k() { .reg .u32 %x; mov.u32 %x, 0; call malloc, (%x); ret; }"]);
    assert_eq!(found, ["the prototype of 'malloc' in 'input 1' does not match that in 'the device'"]);
}

#[test]
fn undefined_names_are_reported_where_they_are_used() {
    let found = errors(&[
        CALLER,
        ".extern .func g(); .extern .global .u32 x; .func f() { call g; ret; }
        .visible .entry l() { .reg .u32 %r; ld.global.u32 %r, [x]; call f; ret; }",
    ]);
    assert_eq!(found.len(), 3);
    for expected in [
        "undefined reference to 'f' in 'input 1'",
        "undefined reference to 'g' in 'input 2'",
        "undefined reference to 'x' in 'input 2'",
    ] {
        assert!(found.iter().any(|error| error == expected), "{expected}: {found:?}");
    }
    // What is declared and not used is not missing.
    linked(&[".extern .func g(); .extern .global .u32 x; .visible .entry l() { ret; }"]);
}

#[test]
fn disagreement_is_reported_with_both_modules() {
    let define = ".visible .global .u32 x[4]; .visible .func f(.param .u32 a) { ret; }";
    for (text, expected) in [
        (
            ".visible .global .u32 x[4];",
            "multiple definition of 'x' in 'input 2', first defined in 'input 1'",
        ),
        (".extern .global .u32 x[3];", "the size of 'x' in 'input 2' does not match that in 'input 1'"),
        (".extern .const .u32 x[4];", "the state space of 'x' in 'input 2' does not match that in 'input 1'"),
        (".extern .func x();", "the kind of 'x' in 'input 2' does not match that in 'input 1'"),
        (
            ".extern .func f(.param .u32 a, .param .u32 b);",
            "the prototype of 'f' in 'input 2' does not match that in 'input 1'",
        ),
        (
            ".extern .func f(.param .u64 a);",
            "the prototype of 'f' in 'input 2' does not match that in 'input 1'",
        ),
    ] {
        assert_eq!(errors(&[define, text]), [expected]);
    }
    // Without a size, or with another element type, it is the same variable.
    linked(&[define, ".extern .global .align 4 .b8 x[];", ".extern .global .align 4 .b8 x[16];"]);
}

#[test]
fn addresses_have_one_size() {
    let small = gangway_ptx::parse(".version 7.0\n.target sm_50\n.address_size 32\n").expect("a module");
    let mut inputs = inputs(&[".visible .entry k() { ret; }"]);
    inputs.push(Input::new("small", small));
    let errors = link(inputs).expect_err("two sizes of addresses");
    assert!(matches!(&errors.0[..], [LinkError::AddressSize { .. }]), "{errors}");
    // A text that names none has the machine's: one like this is in programs of GCC 13 to 16.
    let unnamed =
        ".version 7.3.target sm_52.file 1 \"<dummy>\".func __dummy$func ( );.func __dummy$func ( ){}";
    let mut inputs = self::inputs(&[".visible .entry k() { ret; }"]);
    inputs.push(Input::new("unnamed", gangway_ptx::parse(unnamed).expect("a module")));
    assert_eq!(link(inputs).expect("one size of addresses").address_size, 64);
}

#[test]
fn members_join_when_they_are_needed() {
    let member = |name: &str, text: &str| Input::new(name, module(text)).on_demand();
    let mut list = inputs(&[CALLER]);
    // The first needs the second's definition, the third is not needed.
    list.push(member("g.o", ".visible .func g() { ret; }"));
    list.push(member("f.o", ".extern .func g(); .visible .func f() { call g; ret; }"));
    list.push(member("h.o", ".visible .func h() { ret; } .visible .global .u32 unused;"));
    let module = link(list).expect("a module");
    assert_eq!((functions(&module), variables(&module)), (vec!["k", "g", "f"], vec![]));
}

#[test]
fn files_are_one_table() {
    let located = |kernel: &str, files: &str| {
        format!(
            ".file 1 \"{files}.c\"\n.file 2 \"common.h\"\n.visible .entry {kernel}()
            {{ .loc 1 10 1\n bar.sync 0;\n .loc 2 20 1\n ret; }}"
        )
    };
    let module = linked(&[&located("k", "a"), &located("l", "b")]);
    let files: Vec<_> = module.files.iter().map(|file| (file.index, &*file.name)).collect();
    assert_eq!(files, [(1, "a.c"), (2, "common.h"), (3, "b.c")]);
    let of = |kernel: &str| {
        let body = module.function(kernel).and_then(|function| function.body.as_ref()).expect("a body");
        body.locations.iter().map(|location| (location.file, location.line)).collect::<Vec<_>>()
    };
    assert_eq!((of("k"), of("l")), (vec![(1, 10), (2, 20)], vec![(3, 10), (2, 20)]));
}

#[test]
fn the_newest_version_and_processor_stand_for_all() {
    let old = ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k() {
        .reg .u32 %r; mov.u32 %r, %tid.x; shfl.down.b32 %r, %r, 1, 31; ret; }";
    let new = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n.visible .entry l() { ret; }";
    let parse = |text| Input::new("module", gangway_ptx::parse(text).expect("a module"));
    let module = link(vec![parse(old), parse(new)]).expect("a module");
    assert_eq!(module.version, gangway_ptx::Version::new(8, 0));
    assert_eq!((module.target.processor, module.target.suffix, module.target.debug), (90, Some('a'), true));
    // sm_90 itself has no `shfl` without a mask.
    let printed = module.to_string();
    assert!(gangway_ptx::parse(&printed).is_err());
    assert_eq!(gangway_ptx::parse_linked(&printed).expect("what was linked"), module);
}

#[test]
fn what_is_reached_is_read() {
    let bad = ".visible .func f() { rat; ret; }\n.func unused() { cat {1, \"}\"}; /* } */ }";
    let errors = link(outlines(&[CALLER, bad])).expect_err("no instruction is called rat");
    assert_eq!(errors.code(), gangway_linker::Code::InvalidPtx);
    let text = errors.to_string();
    assert!(text.starts_with("input 2: ") && text.contains("'rat'") && text.contains("--> 4:"), "{text}");
    assert!(!text.contains("cat"), "{text}");
    let good = bad.replace("rat; ", "");
    assert_eq!(functions(&link(outlines(&[CALLER, &good])).expect("nothing bad is reached")), ["k", "f"]);
    let open = gangway_ptx::Outline::new(complete(".func f() { { ret; }")).expect_err("a brace is missing");
    assert!(open.to_string().contains("this brace is not closed"), "{open}");
}

#[test]
fn calls_get_the_results_that_there_are() {
    let wants = ".extern .func (.param .u64 r) f(.param .u32 a);
        .visible .entry k() { .param .u64 r; .reg .u64 %x; .param .u32 a; st.param.u32 [a], 1;
        call (r), f, (a); ld.param.u64 %x, [r]; ret; }";
    let ignores = ".extern .func f(.param .u32 a); .visible .entry l()
        { .param .u32 a; st.param.u32 [a], 1; call f, (a); ret; }";
    let without = ".visible .func f(.param .u32 a) { ret; }";
    let with = ".visible .func (.param .u64 r) f(.param .u32 a) { st.param.u64 [r], 7; ret; }";
    // A changed call leaves operands behind, so only the texts are the same.
    let linked = |texts: &[&str]| {
        let text = link(inputs(texts)).unwrap_or_else(|errors| panic!("{errors}")).to_string();
        assert_eq!(
            gangway_ptx::parse_linked(&text).unwrap_or_else(|errors| panic!("{errors}")).to_string(),
            text
        );
        text
    };
    let text = linked(&[wants, ignores, without]);
    assert_eq!(text.matches("call f, (a);").count(), 2, "{text}");
    let text = linked(&[wants, ignores, with]);
    assert!(text.contains("call (r), f, (a);") && text.contains("call (_), f, (a);"), "{text}");
}
