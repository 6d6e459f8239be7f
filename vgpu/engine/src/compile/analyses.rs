//! What the analyses find out, as text: each file in `tests/analyses` is a module with one kernel,
//! and ends with what is expected, in lines such as `//= shape: %r1 steps 1`. `GANGWAY_BLESS=1`
//! writes it anew.

use std::fmt::Write;
use std::path::Path;

use gangway_ptx::{Function, Module, RegisterId};
use gangway_simt::{Block, End, Place, Scalar, loops};

use super::tests::with_unit;
use crate::abi::Flavour;
use crate::analysis::joins::joins;
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
        let (names, function) = (names(&module), last(&module));
        let found = with_unit(&module, abreast, |unit| Shown { unit, names, function }.describe());
        gangway_commands::golden(&file, &format!("{source}{found}"));
    }
}

/// The kernel.
fn last(module: &Module) -> &Function {
    module.functions.last().expect("a kernel")
}

/// The names of slots: registers, with the element if there are several.
fn names(module: &Module) -> Vec<String> {
    let body = last(module).body.as_ref().expect("a kernel");
    let registers = body.registers.iter().zip(0u32..).flat_map(|(register, id)| {
        let name = body.register_name(RegisterId(id));
        (0..register.vector.max(1)).map(move |element| match register.vector {
            0 | 1 => name.clone(),
            _ => format!("{name}.{element}"),
        })
    });
    registers.collect()
}

/// What is shown of a unit.
struct Shown<'a> {
    unit: &'a Unit<'a>,
    names: Vec<String>,
    function: &'a Function,
}

fn list(what: &str, of: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = of.into_iter().collect();
    if all.is_empty() { format!("{what} none") } else { format!("{what} {}", all.join(" ")) }
}

impl Shown<'_> {
    /// All sections.
    fn describe(&self) -> String {
        let joins = joins(self.unit);
        let mut text = String::new();
        for (section, lines) in [
            ("layout", self.layout()),
            ("operations", self.operations()),
            ("shape", self.shape()),
            ("graph", self.graph()),
            ("liveness", self.liveness()),
            ("joins", vec![list("blocks", joins.iter().map(ToString::to_string))]),
            ("turns", self.turns()),
            ("fuel", self.fuel()),
            ("tier", self.tiers()),
        ] {
            for line in lines {
                let _ = writeln!(text, "//= {section}: {line}");
            }
        }
        text
    }

    fn name(&self, slot: u32) -> String {
        self.names.get(slot as usize).cloned().unwrap_or_else(|| format!("slot{slot}"))
    }

    fn layout(&self) -> Vec<String> {
        let place = |place: &Place| match place {
            Place::Slot(slot) => format!("in {}", self.name(*slot)),
            Place::Argument(number) => format!("behind pointer {number}"),
            Place::Parameter(offset) => format!("in the kernel's parameters at {offset}"),
            Place::Local(offset) => format!("in local memory at {offset}"),
            Place::Symbol(index) => format!("symbol {index}"),
            Place::Function(index) => format!("function {index}"),
        };
        let layout = &self.unit.layout;
        let parameters = self.function.parameters.iter().zip(&layout.parameters);
        let variables =
            self.function.body.iter().flat_map(|body| body.variables.iter().zip(&layout.variables));
        let mut lines: Vec<String> = parameters
            .chain(variables)
            .map(|(variable, at)| format!("{} {}", variable.name, place(at)))
            .collect();
        lines.push(format!("{} bytes of local memory", layout.local));
        lines
    }

    fn operations(&self) -> Vec<String> {
        let text = self.unit.code.to_string();
        text.lines().map(str::to_owned).collect()
    }

    /// What does not differ anyhow.
    fn shape(&self) -> Vec<String> {
        let known = (0u32..).zip(&self.unit.shapes.slots).filter_map(|(slot, shape)| {
            let shape = match shape {
                Shape::Nothing => "nothing".to_owned(),
                Shape::Uniform => "uniform".to_owned(),
                Shape::Steps(step) => format!("steps {step}"),
                Shape::General => "general".to_owned(),
            };
            (self.unit.code.slots[slot as usize] != Scalar::Predicate || shape != "general")
                .then(|| format!("{} {shape}", self.name(slot)))
        });
        known.collect()
    }

    fn graph(&self) -> Vec<String> {
        let blocks = &self.unit.code.blocks;
        let loops = loops(blocks);
        let block = |(number, block): (usize, &Block)| {
            let end = match &block.end {
                End::Jump(to) => format!("jumps to {to}"),
                End::Branch(guard, yes, no) => {
                    let not = if guard.negated { "!" } else { "" };
                    format!("goes to {yes} if {not}{}, or to {no}", self.name(guard.slot))
                }
                End::Table { targets, .. } => list("goes to one of", targets.iter().map(ToString::to_string)),
                End::Barrier { next, .. } => format!("waits at a barrier before {next}"),
                End::Call { next, .. } => format!("calls before {next}"),
                End::Return => "returns".to_owned(),
                End::Exit => "exits".to_owned(),
                End::Trap { .. } => "traps".to_owned(),
            };
            let collective = if block.collective { ", the first for all lanes" } else { "" };
            let repeats = if loops[number] { ", in a loop" } else { "" };
            format!("{number} has {:?}{collective}{repeats}, {end}", block.operations)
        };
        blocks.iter().enumerate().map(block).collect()
    }

    fn liveness(&self) -> Vec<String> {
        let blocks = 0..self.unit.code.blocks.len() as u32;
        blocks
            .map(|block| {
                let entering = self.unit.liveness.entering(block).iter().map(|&slot| self.name(slot));
                list(&format!("{block} needs"), entering)
            })
            .collect()
    }

    /// The operations that make quotients, in which lanes may agree.
    fn turns(&self) -> Vec<String> {
        let operations = self.unit.code.operations.iter().enumerate();
        let lines: Vec<String> = operations
            .filter(|(_, operation)| divides(operation))
            .map(|(index, operation)| format!("{index} {operation}"))
            .collect();
        if lines.is_empty() { vec!["none".to_owned()] } else { lines }
    }

    fn fuel(&self) -> Vec<String> {
        let entry = self.unit.fuel.entry.map_or("nothing".to_owned(), |entry| entry.to_string());
        let mut lines = vec![format!("to enter takes {entry}")];
        for (block, number) in self.unit.code.blocks.iter().zip(0u32..) {
            for to in block.end.successors().into_iter().filter(|&to| to <= number) {
                lines.push(format!("from {number} back to {to} takes {}", self.unit.fuel.step(to)));
            }
        }
        lines
    }

    fn tiers(&self) -> Vec<String> {
        let Size { values, live, handed } = Size::of(self.unit);
        vec![
            format!("{values} values, {live} live, {handed} handed over"),
            format!("converged {:?}", tier(Flavour::Converged, self.unit)),
            format!("masked {:?}", tier(Flavour::Masked, self.unit)),
        ]
    }
}
