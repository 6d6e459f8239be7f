//! Code is made of all that the interpreter is tested with, in both flavours and for all shapes
//! of blocks. What is refused would run in the interpreter.

#[path = "../../tests/shapes/mod.rs"]
mod shapes;

use std::sync::atomic::{AtomicUsize, Ordering};

use gangway_simt::{Extent, Kind, Operation, Read, Scalar};

use super::{compile, compile_by};
use crate::abi::Flavour;
use crate::analysis::block::BlockShape;
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::shape::Shape;
use crate::analysis::unit::{Refused, Request, Unit};
use crate::code::Compiled;
use crate::cranelift::Cranelift;
use crate::cranelift::tier::{Tier, tier};
use crate::generator::{Generator, Texts};
use crate::lower::{Features, Operand};

/// Lives as long as the tests.
fn waits(module: &gangway_ptx::Module) -> &'static [bool] {
    crate::load::waits(module).leak()
}

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
                    shape: BlockShape { row, whole: row == 32 },
                    check: false,
                    watch: false,
                    abreast: false,
                    waits: waits(&module),
                    lanewise: false,
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
    let request = kernel(&module, Flavour::Masked);
    assert_eq!(compile(&request), Err(Refused("'absent' is declared and not defined".to_owned())));
}

/// The parser lets a constant stand for an array. What would be written is longer than the array.
#[test]
fn values_that_are_passed_for_arrays_are_refused() {
    let text = "\
.version 8.0
.target sm_80
.address_size 64
.func callee(.param .b8 array[3])
{
ret;
}
.visible .entry caller()
{
call callee, (5);
ret;
}
";
    let module = gangway_ptx::parse(text).expect("valid PTX");
    let refused = Refused("an operand of 'call' in 'caller'".to_owned());
    for flavour in [Flavour::Converged, Flavour::Masked] {
        assert_eq!(compile(&kernel(&module, flavour)), Err(refused.clone()));
    }
}

/// The module of a shape's kernel of this size, which is its last function.
fn large(name: &str, size: u32) -> gangway_ptx::Module {
    let shape = shapes::SHAPES.iter().find(|shape| shape.name == name).expect("a shape");
    gangway_ptx::parse(&(shape.text)(size)).expect("valid PTX")
}

/// What is asked for of a module's last function.
pub(super) fn kernel(module: &gangway_ptx::Module, flavour: Flavour) -> Request<'_> {
    let function = module.functions.len() - 1;
    Request {
        module,
        function: function as u32,
        symbols: symbols(module, function),
        flavour,
        shape: BlockShape { row: 32, whole: true },
        abreast: false,
        check: false,
        watch: false,
        waits: waits(module),
        lanewise: false,
    }
}

/// Every function of the file tests is one for generators, and its text is read again.
#[test]
fn functions_are_what_generators_rely_on() {
    let mut seen = 0;
    for name in gangway_filetests::files() {
        let text = std::fs::read_to_string(&name).expect("a test");
        let module = gangway_ptx::parse(&text).expect("valid PTX");
        for (index, function) in module.functions.iter().enumerate() {
            if function.body.is_none() {
                continue;
            }
            let request = Request {
                function: index as u32,
                symbols: symbols(&module, index),
                ..kernel(&module, Flavour::Converged)
            };
            let unit = Unit::new(&request, Features::default(), &mut Passes::default()).expect("not refused");
            assert_eq!(unit.code.verify(), Ok(()), "{}, '{}'", name.display(), function.name);
            let printed = unit.code.to_string();
            let read: gangway_simt::Function =
                printed.parse().unwrap_or_else(|error| panic!("{}: {error}\n{printed}", name.display()));
            assert!(read == unit.code, "{}, '{}'", name.display(), function.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} functions");
}

/// The analyses of the module's last function.
pub(super) fn with_unit<T>(
    module: &gangway_ptx::Module,
    abreast: bool,
    what: impl FnOnce(&Unit<'_>) -> T,
) -> T {
    let features = Cranelift.features().expect("this processor");
    let request = Request { abreast, ..kernel(module, Flavour::Converged) };
    let mut passes = Passes::default();
    let unit = Unit::new(&request, features, &mut passes);
    what(&unit.expect("not refused"))
}

/// Cranelift leaves out what nothing reads, in the function that it is given.
#[test]
fn what_is_shown_is_what_has_been_emitted() {
    let text = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry unused(.param .u32 a)
{
.reg .b32 %r<3>;
ld.param.u32 %r1, [a];
mul.lo.u32 %r2, %r1, %r1;
ret;
}
";
    let module = gangway_ptx::parse(text).expect("valid PTX");
    let request = kernel(&module, Flavour::Converged);
    let mut texts = Vec::new();
    let mut passes = Passes::default();
    let unit = Unit::new(&request, Cranelift.features().expect("this processor"), &mut passes);
    let unit = unit.expect("not refused");
    Cranelift.generate(&unit, Flavour::Converged, &mut passes, Some(&mut texts)).expect("code");
    let (_, emitted) = texts.iter().find(|(kind, _)| *kind == "clif").expect("the text of Cranelift");
    let multiplies = |line: &str| line.starts_with("@0001") && line.contains("imul");
    assert!(emitted.lines().any(multiplies), "{emitted}");
}

/// A generator that makes no code. It counts what it would make, with nothing of Cranelift's.
#[derive(Default)]
struct Counting {
    blocks: AtomicUsize,
    operations: AtomicUsize,
    /// Those that are the same in all lanes.
    uniform: AtomicUsize,
}

impl Generator for Counting {
    fn processor(&self) -> Result<String, Refused> {
        Ok("a counter".to_owned())
    }

    fn features(&self) -> Result<Features, Refused> {
        Ok(Features { fma: true })
    }

    fn generate(
        &self,
        unit: &Unit<'_>,
        _: Flavour,
        passes: &mut Passes,
        texts: Option<&mut Texts>,
    ) -> Result<Compiled, Refused> {
        assert!(texts.is_none(), "nobody has asked for texts");
        passes.run(Pass::Emit, || {
            self.blocks.fetch_add(unit.code.blocks.len(), Ordering::Relaxed);
            for index in unit.code.blocks.iter().flat_map(|block| block.operations.clone()) {
                self.count(unit, unit.operation(index));
            }
        });
        Ok(Compiled::default())
    }
}

impl Counting {
    fn count(&self, unit: &Unit<'_>, operation: &Operation) {
        let Kind::Compute(compute) = &operation.kind else { return };
        let source = |read: &Read| {
            let constant = read.source.constant().map(|value| value as u64);
            let uniform = constant.is_some() || unit.shapes.of(read.source) == Shape::Uniform;
            let extent = if uniform { Extent::One } else { Extent::Lanes };
            match read.ty {
                Scalar::Predicate => Operand::Predicate(extent),
                ty => Operand::Bits { wide: ty.is_wide(), extent, constant },
            }
        };
        let sources: Vec<Operand> = compute.sources.iter().map(source).collect();
        let Some(sequence) = unit.sequence(compute, &sources) else { return };
        let made = sequence.definitions.iter().skip(sequence.parameters());
        self.uniform.fetch_add(made.clone().filter(|made| made.ty.is_one()).count(), Ordering::Relaxed);
        self.operations.fetch_add(made.count(), Ordering::Relaxed);
    }
}

/// Analyses and `lower` need nothing of a generator.
#[test]
fn another_generator_plugs_in() {
    let text = include_str!("../../tests/analyses/collapsed.ptx");
    let module = gangway_ptx::parse(text).expect("valid PTX");
    let counting = Counting::default();
    let code = compile_by(&counting, &kernel(&module, Flavour::Converged));
    assert_eq!(code, Ok(Compiled::default()));
    let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
    assert_eq!([&counting.blocks, &counting.operations, &counting.uniform].map(count), [3, 17, 4]);
}

/// The passes that are ours.
#[test]
fn passes_take_n_log_n_steps() {
    for shape in shapes::SHAPES {
        // Of this one the result is as large as the square.
        if shape.name == "blocks with live values" {
            continue;
        }
        let steps = |size| {
            let module = large(shape.name, size);
            let joins = |unit: &Unit<'_>| crate::analysis::joins::joins(unit).len();
            crate::work::of(|| with_unit(&module, false, joins)).1
        };
        let (few, many) = (steps(shape.size.min(500)), steps(4 * shape.size.min(500)));
        assert!(many <= 6 * few + 1000, "{}: {few} steps, {many} for four times the size", shape.name);
    }
}

#[test]
fn what_is_large_is_compiled_with_less_care() {
    let of = |name, size, flavour| with_unit(&large(name, size), false, |unit| tier(flavour, unit));
    for shape in shapes::SHAPES {
        assert_eq!(of(shape.name, 10, Flavour::Converged), Tier::Full, "{}", shape.name);
    }
    assert_eq!(of("live values", 200, Flavour::Converged), Tier::Quick);
    assert_eq!(of("live values", 800, Flavour::Converged), Tier::Memory);
    assert_eq!(of("accumulators in a loop", 500, Flavour::Converged), Tier::Full);
    assert_eq!(of("accumulators in a loop", 5000, Flavour::Converged), Tier::Quick);
    assert_eq!(of("blocks with live values", 500, Flavour::Converged), Tier::Memory);
    assert_eq!(of("blocks, divergent", 5000, Flavour::Masked), Tier::Memory);
    assert_eq!(of("loops in a row", 40, Flavour::Masked), Tier::Quick);
}

/// The processor's time of this thread: others that use the machine do not count.
fn seconds(what: impl FnOnce()) -> f64 {
    let now = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the clock exists on Linux, and the time may be written.
        let read = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        assert_eq!(read, 0);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let start = now();
    what();
    now() - start
}

/// Of those shapes that took the square of the size, and more. A square would be 16 times as much.
#[test]
fn four_times_the_size_takes_four_times_the_time() {
    for (name, size, flavour) in [
        ("live values", 300, Flavour::Converged),
        ("live values", 200, Flavour::Masked),
        ("predicated instructions", 400, Flavour::Converged),
        ("blocks with live values", 200, Flavour::Converged),
        ("loops in a row", 300, Flavour::Masked),
        ("branch targets", 500, Flavour::Masked),
        ("one target many times", 500, Flavour::Masked),
    ] {
        let time = |size| {
            let module = large(name, size);
            seconds(|| assert!(compile(&kernel(&module, flavour)).is_ok()))
        };
        let (few, many) = (time(size), time(4 * size));
        assert!(
            many < 10.0 * few + 0.5,
            "{name}, {flavour:?}: {few:.3} s, {many:.3} s for four times the size"
        );
    }
}
