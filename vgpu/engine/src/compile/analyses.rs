//! What the analyses find out, as text: each file in `tests/analyses` is a module with one kernel,
//! and ends with what is expected, in lines such as `//= shape: %r1 steps 1`. `GANGWAY_BLESS=1`
//! writes it anew.

use std::fmt::Write;
use std::path::Path;

use gangway_ptx::{RegisterId, Type};

use super::tests::with_unit;
use crate::abi::Flavour;
use crate::analysis::graph::End;
use crate::analysis::joins::joins;
use crate::analysis::layout::Place;
use crate::analysis::quotients::divides;
use crate::analysis::shape::Shape;
use crate::analysis::unit::Unit;
use crate::cranelift::tier::{Size, tier};

#[test]
fn analyses_find_what_is_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analyses");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 6, "only {} files in {}", files.len(), folder.display());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        let source = text.split("//=").next().unwrap_or_default();
        let module = gangway_ptx::parse(source).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let abreast = source.starts_with("// abreast\n");
        let found = with_unit(&module, abreast, describe);
        gangway_commands::golden(&file, &format!("{source}{found}"));
    }
}

/// All sections.
fn describe(unit: &Unit) -> String {
    let mut text = String::new();
    for (section, lines) in [
        ("layout", layout(unit)),
        ("shape", shape(unit)),
        ("graph", graph(unit)),
        ("liveness", liveness(unit)),
        ("joins", vec![list("blocks", joins(unit).iter().map(ToString::to_string))]),
        ("turns", turns(unit)),
        ("fuel", fuel(unit)),
        ("tier", tiers(unit)),
    ] {
        for line in lines {
            let _ = writeln!(text, "//= {section}: {line}");
        }
    }
    text
}

fn list(what: &str, of: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = of.into_iter().collect();
    if all.is_empty() { format!("{what} none") } else { format!("{what} {}", all.join(" ")) }
}

/// A slot's register, with the element if there are several; or its number.
fn name(unit: &Unit, slot: u32) -> String {
    for (id, register) in
        unit.body.registers.iter().zip(0u32..).map(|(register, id)| (RegisterId(id), register))
    {
        for element in 0..register.vector.max(1) {
            if unit.slots.of(id, element) == slot {
                let name = unit.body.register_name(id);
                return if register.vector > 1 { format!("{name}.{element}") } else { name };
            }
        }
    }
    format!("slot{slot}")
}

fn layout(unit: &Unit) -> Vec<String> {
    let place = |place: &Place| match place {
        Place::Slot(slot) => format!("in {}", name(unit, *slot)),
        Place::Argument(number) => format!("behind pointer {number}"),
        Place::Parameter(offset) => format!("in the kernel's parameters at {offset}"),
        Place::Local(offset) => format!("in local memory at {offset}"),
        Place::Symbol(index) => format!("symbol {index}"),
    };
    let layout = &unit.slots.layout;
    let parameters = unit.function.parameters.iter().zip(&layout.parameters);
    let variables = unit.body.variables.iter().zip(&layout.variables);
    let mut lines: Vec<String> = parameters
        .chain(variables)
        .map(|(variable, at)| format!("{} {}", variable.name, place(at)))
        .collect();
    lines.push(format!("{} bytes of local memory", layout.local));
    lines
}

/// What does not differ anyhow.
fn shape(unit: &Unit) -> Vec<String> {
    let known = (0u32..).zip(&unit.shapes.slots).filter_map(|(slot, shape)| {
        let shape = match shape {
            Shape::Nothing => "nothing".to_owned(),
            Shape::Uniform => "uniform".to_owned(),
            Shape::Steps(step) => format!("steps {step}"),
            Shape::General => "general".to_owned(),
        };
        (unit.slots.types[slot as usize] != Type::Pred || shape != "general")
            .then(|| format!("{} {shape}", name(unit, slot)))
    });
    known.collect()
}

fn graph(unit: &Unit) -> Vec<String> {
    let loops = unit.graph.loops();
    let block = |(number, block): (usize, &crate::analysis::graph::Block)| {
        let end = match &block.end {
            End::Jump(to) => format!("jumps to {to}"),
            End::Branch(guard, yes, no) => {
                let (not, register) = (if guard.negated { "!" } else { "" }, guard.register);
                format!("goes to {yes} if {not}{}, or to {no}", unit.body.register_name(register))
            }
            End::Table { targets, .. } => list("goes to one of", targets.iter().map(ToString::to_string)),
            End::Barrier { next, .. } => format!("waits at a barrier before {next}"),
            End::Call { next, .. } => format!("calls before {next}"),
            End::Return => "returns".to_owned(),
            End::Exit => "exits".to_owned(),
            End::Trap { .. } => "traps".to_owned(),
        };
        let collective = if block.collective.is_some() { ", the first for all lanes" } else { "" };
        let repeats = if loops[number] { ", in a loop" } else { "" };
        format!("{number} has {:?}{collective}{repeats}, {end}", block.instructions)
    };
    unit.graph.blocks.iter().enumerate().map(block).collect()
}

fn liveness(unit: &Unit) -> Vec<String> {
    let blocks = 0..unit.graph.blocks.len() as u32;
    blocks
        .map(|block| {
            let entering = unit.liveness.entering(block).iter().map(|&slot| name(unit, slot));
            list(&format!("{block} needs"), entering)
        })
        .collect()
}

/// The instructions that make quotients, in which lanes may agree.
fn turns(unit: &Unit) -> Vec<String> {
    let dividing =
        unit.body.instructions.iter().enumerate().filter(|(_, instruction)| divides(unit, instruction));
    let lines: Vec<String> =
        dividing.map(|(index, instruction)| format!("{index} {}", unit.module.opcode(instruction))).collect();
    if lines.is_empty() { vec!["none".to_owned()] } else { lines }
}

fn fuel(unit: &Unit) -> Vec<String> {
    let entry = unit.fuel.entry.map_or("nothing".to_owned(), |entry| entry.to_string());
    let mut lines = vec![format!("to enter takes {entry}")];
    for (block, number) in unit.graph.blocks.iter().zip(0u32..) {
        for to in block.end.successors().into_iter().filter(|&to| to <= number) {
            lines.push(format!("from {number} back to {to} takes {}", unit.fuel.step(to)));
        }
    }
    lines
}

fn tiers(unit: &Unit) -> Vec<String> {
    let Size { values, live, handed } = Size::of(unit);
    vec![
        format!("{values} values, {live} live, {handed} handed over"),
        format!("converged {:?}", tier(Flavour::Converged, unit)),
        format!("masked {:?}", tier(Flavour::Masked, unit)),
    ]
}
