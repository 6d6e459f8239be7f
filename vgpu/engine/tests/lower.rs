//! Every instruction that has a fast path, against the interpreter's evaluator: edge
//! values and random ones, in vectors and as scalars, with constants and with wide registers.
//!
//! `without-fast-path.txt` lists the forms that have none, or not in all their spellings; set
//! `GANGWAY_BLESS` to write it anew.

#[path = "lower/compile.rs"]
mod compile;
#[path = "lower/tolerance.rs"]
mod tolerance;
#[path = "lower/values.rs"]
mod values;

use std::fmt::Write;

use compile::{Compiled, Host, Shape};
use gangway_interpreter::evaluate;
use gangway_ptx::forms::{Op, Opcode, Role, table};
use gangway_ptx::{Type, Word};
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
    let carries = opcode.has(Word::Cc) || matches!(opcode.op, Op::Addc | Op::Subc | Op::Madc);
    let memory = opcode.expected.iter().any(|expected| matches!(expected.role, Role::Address));
    let inputs = vec![0; sources(opcode).len()];
    !carries && !memory && evaluate(opcode, &inputs, &mut false).is_some()
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
    let third = if types.len() > 2 { 400 } else { 0 };
    for _ in 0..third {
        rows.push(lists.iter().map(|list| list[random_source.below(list.len())]).collect());
    }
    for _ in 0..200 {
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
                let wanted = evaluate(opcode, &row, &mut false)?;
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

#[test]
fn fast_paths_compute_what_the_interpreter_does() {
    let host = Host::new(compile::Level::Native);
    let mut failures = Vec::new();
    let (mut fast, mut slow, mut list) = (0, 0, String::new());
    for form in table().forms() {
        let (mut with, mut without) = (0, Vec::new());
        for modifiers in form.spellings() {
            let opcode = table().find(form.row.op.text(), &modifiers).expect("a spelling of the table");
            if !is_pure(&opcode) {
                continue;
            }
            if check(&host, &opcode, &mut failures) {
                with += 1;
            } else {
                without.push(opcode.to_string());
            }
        }
        fast += with;
        slow += without.len();
        match (with, without.len()) {
            (_, 0) => {}
            (0, count) => writeln!(list, "{}: none of {count}", form.syntax()).expect("a string"),
            (_, count) => {
                let names = if count > 12 { String::new() } else { format!(": {}", without.join(" ")) };
                writeln!(list, "{}: not {count} of {}{names}", form.syntax(), with + count)
                    .expect("a string");
            }
        }
    }
    println!("{fast} spellings of instructions have a fast path, {slow} have none");
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
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
    let host = Host::new(compile::Level::Sse42);
    let mut failures = Vec::new();
    let mut fast = 0;
    for form in table().forms() {
        // Each form once or twice: what differs between processors is not the modifiers.
        let spellings = form.spellings();
        for modifiers in spellings.iter().step_by(spellings.len().div_ceil(2).max(1)) {
            let opcode = table().find(form.row.op.text(), modifiers).expect("a spelling of the table");
            if is_pure(&opcode) {
                fast += usize::from(check(&host, &opcode, &mut failures));
            }
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
    assert!(fast > 100, "only {fast} instructions have a fast path");
}
