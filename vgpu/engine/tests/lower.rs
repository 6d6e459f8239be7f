//! Every instruction that has a fast path, against the interpreter's evaluator: edge
//! values and random ones, in vectors and as scalars, with constants and with wide registers.
//!
//! `without-fast-path.txt` lists the forms that have none, or not in all their spellings; set
//! `GANGWAY_BLESS` to write it anew.

#[path = "lower/compile.rs"]
mod compile;
#[path = "lower/loops.rs"]
mod loops;
#[path = "lower/tolerance.rs"]
mod tolerance;
#[path = "lower/values.rs"]
mod values;

use std::fmt::Write;

use compile::{Compiled, Host, Shape};
use gangway_interpreter::evaluate;
use gangway_ptx::forms::{Form, Opcode, Role, table};
use gangway_ptx::{Compute, Meaning, Op, Type};
use values::{Random, edges, random};

const LANES: usize = 32;

/// The types of an opcode's source operands.
fn sources(opcode: &Opcode) -> Vec<Type> {
    let reads = opcode.expected.iter().filter(|expected| !expected.role.writes());
    reads.map(|expected| expected.ty.unwrap_or(Type::B64)).collect()
}

/// The types of its destinations.
fn results(opcode: &Opcode) -> Vec<Type> {
    let writes = opcode.expected.iter().filter(|expected| expected.role.writes());
    writes.map(|expected| expected.ty.unwrap_or(Type::B64)).collect()
}

/// Whether it computes from values alone, as the interpreter sees it.
fn is_pure(opcode: &Opcode) -> bool {
    matches!(opcode.meaning, Meaning::Compute(_)) && !opcode.meaning.carries()
}

fn computed(opcode: &Opcode) -> Compute {
    match opcode.meaning {
        Meaning::Compute(compute) => compute,
        other => panic!("{opcode} is {other:?}"),
    }
}

/// Operands that instructions want to be constants: those are what fast paths look at.
fn constant_operands(opcode: &Opcode) -> Vec<usize> {
    let mut fixed: Vec<usize> = opcode
        .expected
        .iter()
        .filter(|expected| !expected.role.writes())
        .enumerate()
        .filter(|(_, expected)| expected.role == Role::Constant)
        .map(|(index, _)| index)
        .collect();
    match opcode.op {
        Op::Shl | Op::Shr | Op::Div | Op::Rem | Op::Min | Op::Max => fixed.push(1),
        Op::Shf | Op::Prmt => fixed.push(2),
        Op::Bfe => fixed.extend([1, 2]),
        Op::Bfi => fixed.extend([2, 3]),
        _ => {}
    }
    fixed
}

/// Rows of inputs, one for each lane: combinations of edge values, then random ones.
fn rows(types: &[Type], random_source: &mut Random) -> Vec<Vec<u64>> {
    let lists: Vec<Vec<u64>> = types.iter().map(|&ty| edges(ty)).collect();
    let mut rows = Vec::new();
    if let [first, second, ..] = &lists[..] {
        for &a in first {
            for &b in second {
                let rest = lists[2..].iter().map(|list| list[random_source.below(list.len())]);
                rows.push([a, b].into_iter().chain(rest).collect());
            }
        }
    } else {
        rows.extend(lists[0].iter().map(|&a| vec![a]));
    }
    let third = if types.len() > 2 { 200 } else { 0 };
    for _ in 0..third {
        rows.push(lists.iter().map(|list| list[random_source.below(list.len())]).collect());
    }
    for _ in 0..80 {
        rows.push(types.iter().map(|&ty| random(ty, random_source)).collect());
    }
    while !rows.len().is_multiple_of(LANES) {
        rows.push(types.iter().map(|&ty| random(ty, random_source)).collect());
    }
    rows
}

/// Compares what one compiled form of an opcode gives with the interpreter; the first difference
/// as text.
fn difference(opcode: &Opcode, compiled: &Compiled, shape: Shape, rows: &[Vec<u64>]) -> Option<String> {
    let outputs = results(opcode);
    let types = sources(opcode);
    for chunk in rows.chunks_exact(LANES) {
        let lanes = if shape == Shape::Scalar { 4 } else { LANES };
        let batches: Vec<Vec<&Vec<u64>>> = match shape {
            Shape::Scalar => chunk[..lanes].iter().map(|row| vec![row; LANES]).collect(),
            _ => vec![chunk.iter().collect()],
        };
        for batch in batches {
            let inputs: Vec<Vec<u64>> = (0..types.len())
                .map(|operand| {
                    let from = |row: &&Vec<u64>| row[operand];
                    match shape {
                        Shape::FirstVector if operand > 0 => vec![batch[0][operand]; LANES],
                        _ => batch.iter().map(from).collect(),
                    }
                })
                .collect();
            let got = compiled.run(&types, &inputs, &outputs);
            for lane in 0..LANES {
                let row: Vec<u64> = inputs.iter().map(|operand| operand[lane]).collect();
                let wanted = evaluate(computed(opcode), &row, &mut false);
                let second = wanted.second.map(u64::from);
                for (number, wanted) in [Some(wanted.first), second].into_iter().flatten().enumerate() {
                    let Some(values) = got.get(number) else { continue };
                    if !tolerance::accepts(opcode, &row, values[lane], wanted) {
                        let operands: Vec<String> = row.iter().map(|value| format!("{value:#x}")).collect();
                        return Some(format!(
                            "{opcode} ({shape:?}) of {}: result {number} is {:#x}, not {wanted:#x}",
                            operands.join(", "),
                            values[lane]
                        ));
                    }
                }
            }
        }
    }
    None
}

/// Checks an opcode in all shapes; whether it has a fast path for vectors.
fn check(host: &Host, opcode: &Opcode, failures: &mut Vec<String>) -> bool {
    let types = sources(opcode);
    let mut random_source = Random::new(opcode.to_string().bytes().map(u64::from).sum());
    let rows = rows(&types, &mut random_source);
    let mut fast = false;
    let mut run = |shape: Shape, constants: &[(usize, u64)]| {
        let Some(compiled) = host.compile(opcode, &types, shape, constants) else { return false };
        let mut rows = rows.clone();
        for row in &mut rows {
            constants.iter().for_each(|&(operand, value)| row[operand] = value);
        }
        failures.extend(difference(opcode, &compiled, shape, &rows));
        true
    };
    let always_constant =
        opcode.expected.iter().any(|expected| expected.role == Role::Constant && !expected.optional);
    if !always_constant {
        fast |= run(Shape::Vector, &[]);
        run(Shape::Scalar, &[]);
        if types.len() > 1 {
            run(Shape::FirstVector, &[]);
        }
        if opcode.expected.iter().any(|expected| expected.relaxed) {
            run(Shape::WideVector, &[]);
        }
    }
    let fixed = constant_operands(opcode);
    if !fixed.is_empty() {
        let choices = if opcode.op == Op::Lop3 { 256 } else { 24 };
        for choice in 0..choices {
            let constants: Vec<(usize, u64)> = fixed
                .iter()
                .map(|&operand| {
                    let list = edges(types[operand]);
                    let value = match opcode.op {
                        Op::Lop3 => choice as u64,
                        Op::Prmt => random_source.next() & 0xffff,
                        _ if fixed.len() == 1 && choice < list.len() => list[choice],
                        _ => list[random_source.below(list.len())],
                    };
                    (operand, value)
                })
                .collect();
            fast |= run(Shape::Vector, &constants);
            if choice % 8 == 0 {
                run(Shape::Scalar, &constants);
            }
        }
    }
    fast
}

/// What came of an opcode: whether it has a fast path, and where that one is wrong.
struct Outcome {
    fast: bool,
    failures: Vec<String>,
}

/// Checks opcodes on all processors of this machine.
fn check_all(level: compile::Level, opcodes: &[Opcode]) -> Vec<Outcome> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = |opcodes: &[Opcode]| -> Vec<Outcome> {
        let host = Host::new(level);
        let check = |opcode| {
            let mut failures = Vec::new();
            Outcome { fast: check(&host, opcode, &mut failures), failures }
        };
        opcodes.iter().map(check).collect()
    };
    std::thread::scope(|scope| {
        let parts = opcodes.chunks(opcodes.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn expect_none(failures: &[String]) {
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn fast_paths_compute_what_the_interpreter_does() {
    let mut opcodes = Vec::new();
    let mut forms = Vec::new();
    for form in table().forms() {
        let spelled = form.spellings().into_iter();
        let spelled = spelled.filter_map(|modifiers| table().find(form.row.op.text(), &modifiers));
        let before = opcodes.len();
        opcodes.extend(spelled.filter(is_pure));
        forms.push((form, before..opcodes.len()));
    }
    let outcomes = check_all(compile::Level::Native, &opcodes);
    let failures: Vec<String> = outcomes.iter().flat_map(|outcome| outcome.failures.clone()).collect();
    let fast = outcomes.iter().filter(|outcome| outcome.fast).count();
    println!("{fast} spellings of instructions have a fast path, {} have none", outcomes.len() - fast);
    expect_none(&failures);

    let mut list = String::new();
    for (form, range) in forms {
        let slow = opcodes[range.clone()].iter().zip(&outcomes[range.clone()]);
        let slow: Vec<String> =
            slow.filter(|(_, outcome)| !outcome.fast).map(|(opcode, _)| opcode.to_string()).collect();
        let count = slow.len();
        let line = match range.len() {
            _ if count == 0 => continue,
            all if all == count => format!("none of {count}"),
            all if count > 12 => format!("not {count} of {all}"),
            all => format!("not {count} of {all}: {}", slow.join(" ")),
        };
        writeln!(list, "{}: {line}", form.syntax()).expect("a string");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/without-fast-path.txt");
    if std::env::var_os("GANGWAY_BLESS").is_some() {
        std::fs::write(path, &list).expect("the list can be written");
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert!(list == known, "the forms without a fast path are no longer those in {path}:\n{list}");
}

/// A processor of SSE4.2, with neither AVX nor FMA, computes the same.
#[test]
fn old_processors_compute_the_same() {
    // Each form once or twice: what differs between processors is not the modifiers.
    let some = |form: &'static Form| {
        let spellings = form.spellings();
        let step = spellings.len().div_ceil(2).max(1);
        let find = |modifiers: &Vec<_>| table().find(form.row.op.text(), modifiers);
        spellings.iter().step_by(step).filter_map(find).collect::<Vec<_>>()
    };
    let opcodes: Vec<Opcode> = table().forms().iter().flat_map(some).filter(is_pure).collect();
    let outcomes = check_all(compile::Level::Sse42, &opcodes);
    expect_none(&outcomes.iter().flat_map(|outcome| outcome.failures.clone()).collect::<Vec<_>>());
    let fast = outcomes.iter().filter(|outcome| outcome.fast).count();
    assert!(fast > 100, "only {fast} instructions have a fast path");
}
