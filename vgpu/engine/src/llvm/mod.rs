//! The generator that has LLVM make code: of the regions that each lane runs by itself
//! ([`lanewise`](crate::analysis::lanewise)), and of those in which all lanes do the same
//! ([`uniform`](crate::analysis::uniform)).
//!
//! A region of the first kind becomes a loop over the lanes whose body is scalar code, as a compiler for the host
//! would have it: control is control, and no register has 32 values. All of a function's regions are one piece of
//! code, which Cranelift's converged code calls where all lanes enter one.
//!
//! LLVM runs in a process of its own (`gangway-llvm`); `object` and `lines` read what it makes.
//! `region` and `uniform` write a region's function, `counted` its innermost loops with what is `going` on in steps and
//! what `near` knows of indices, and `lane` what is in it, with `operations`, `numbers`, `memory`, in check mode
//! `windows` of what is `granted`, and `sequence`, as the `text` of LLVM's IR. Where accesses are watched, each is
//! `told` of, those of loops behind their turns, where they have `passed`.

mod callee;
mod counted;
mod going;
mod granted;
mod lane;
mod lines;
mod memory;
mod near;
mod numbers;
mod object;
mod operations;
mod passed;
mod region;
mod sequence;
mod text;
mod told;
mod uniform;
mod windows;

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use gangway_llvm::Target;
use rustc_hash::FxHashMap;

use self::lane::Reads;
use self::sequence::Declared;
use crate::abi::Flavour;
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::unit::{Refused, Unit};
use crate::code::Compiled;
use crate::generator::{Generator, Texts};
use crate::lower::Features;

/// LLVM, for this process's processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Llvm;

/// The version of LLVM that there is, or why there is none. It starts LLVM's process.
pub fn llvm_version() -> Result<String, String> {
    Ok(gangway_llvm::target()?.version.clone())
}

/// Whether LLVM seems to be installed. Nothing is loaded or started.
#[must_use]
pub fn has_llvm() -> bool {
    gangway_llvm::is_installed()
}

/// What has come of a function whose lanes may run regions by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub function: String,
    /// How many regions there is code of; or why there is none.
    pub outcome: Result<usize, String>,
}

/// More than these are not told of.
const MOST_NOTED: usize = 256;

static NOTED: Mutex<Vec<Noted>> = Mutex::new(Vec::new());

/// What LLVM has made of the functions of this process, in that order. It takes a lock, and is empty while another
/// thread holds that.
#[must_use]
pub fn lanewise() -> Vec<Noted> {
    NOTED.try_lock().map_or_else(|_| Vec::new(), |noted| noted.clone())
}

/// Code has been made of a function's regions, or has not.
pub(crate) fn note(function: &str, outcome: Result<usize, String>) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if noted.len() < MOST_NOTED {
        noted.push(Noted { function: function.to_owned(), outcome });
    }
}

/// Where the numbers of debug locations begin: a line each, in the scope of each region.
const LOCATIONS: u32 = 16;

impl Generator for Llvm {
    fn processor(&self) -> Result<String, Refused> {
        let target = gangway_llvm::target().map_err(|why| Refused(format!("LLVM: {why}")))?;
        let Target { version, processor, features } = &*target;
        Ok(format!("LLVM {version}\n{processor}\n{features}"))
    }

    fn features(&self) -> Result<Features, Refused> {
        let fma = self.processor()?.contains("+fma,");
        Ok(Features { fma })
    }

    fn generate(
        &self,
        unit: &Unit<'_>,
        flavour: Flavour,
        passes: &mut Passes,
        texts: Option<&mut Texts>,
    ) -> Result<Compiled, Refused> {
        let made = regions(unit, flavour, passes, texts);
        note(unit.name, made.as_ref().map_err(Clone::clone).and_then(|_| Ok(unit.regions()?)));
        made.map_err(|why| Refused(format!("LLVM: '{}': {why}", unit.name)))
    }
}

fn regions(
    unit: &Unit<'_>,
    flavour: Flavour,
    passes: &mut Passes,
    texts: Option<&mut Texts>,
) -> Result<Compiled, String> {
    if flavour != Flavour::Lanewise {
        return Err("only of regions that lanes run by themselves".to_owned());
    }
    unit.regions()?;
    let ir = passes.run(Pass::Emit, || module(unit));
    let made = passes.run(Pass::Machine, || gangway_llvm::compile(&ir, texts.is_some()));
    if let Some(texts) = texts {
        texts.push(("ll", ir));
        let optimised = made.as_ref().ok().and_then(|made| made.optimised.clone());
        texts.extend(optimised.map(|optimised| ("optimised.ll", optimised)));
    }
    object::link(&made?.object)
}

/// A module with the regions of a function. Its first function, which is the code's entry, takes a region's number.
fn module(unit: &Unit<'_>) -> String {
    let regions = unit.lanewise.as_deref().unwrap_or_default();
    let operations = unit.code.operations.len() as u32;
    let reads = Reads::new(unit);
    let mut declared = Declared::new();
    let (mut cases, mut calls, mut functions, mut locations) =
        (String::new(), String::new(), String::new(), String::new());
    for number in 0..regions.len() + unit.uniform.len() {
        // A line for each operation, one for none, and the scope before them.
        let scope = LOCATIONS + number as u32 * (operations + 2);
        let name = format!("region{number}");
        functions += &match regions.get(number) {
            Some(region) => {
                region::write(unit, region, &name, scope + 1, &reads, &mut declared, &mut locations)
            }
            None => {
                let region = &unit.uniform[number - regions.len()];
                uniform::write(unit, region, &name, scope + 1, &reads, &mut declared, &mut locations)
            }
        };
        let _ = writeln!(cases, "    i64 {number}, label %call{number}");
        let _ = writeln!(
            calls,
            "call{number}:\n  %exit{number} = call i64 @{name}(ptr %warp, ptr %frame)\n  ret i64 %exit{number}"
        );
    }
    let mut callees = FxHashMap::default();
    for (&number, callee) in &unit.callees {
        callee::write(number, callee, &mut declared, &mut callees);
    }
    let mut callees: Vec<(u32, String)> = callees.into_iter().collect();
    callees.sort_unstable();
    functions.extend(callees.into_iter().map(|(_, text)| text));
    let declared: String = declared.into_iter().map(|line| line + "\n").collect();
    format!(
        "define i64 @entry(ptr %warp, ptr %frame, i64 %region) #0 {{\n  \
         switch i64 %region, label %none [\n{cases}  ]\n{calls}none:\n  ret i64 0\n}}\n\
         {functions}{declared}\
         attributes #0 = {{ nounwind \"frame-pointer\"=\"all\" \"no-builtins\" \"no-jump-tables\"=\"true\" \
         \"probe-stack\"=\"inline-asm\" }}\n\
         attributes #1 = {{ cold nounwind nomerge }}\n\
         attributes #2 = {{ nounwind \"frame-pointer\"=\"all\" \"no-builtins\" \"no-jump-tables\"=\"true\" \
         \"probe-stack\"=\"inline-asm\" }}\n\
         !llvm.dbg.cu = !{{!1}}\n!llvm.module.flags = !{{!4, !5}}\n\
         !0 = !{{!\"branch_weights\", i32 1, i32 4000}}\n\
         !1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)\n\
         !2 = !DIFile(filename: \"operations\", directory: \"/\")\n\
         !3 = !DISubroutineType(types: !{{}})\n\
         !4 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n\
         !5 = !{{i32 2, !\"Dwarf Version\", i32 4}}\n\
         !6 = !{{!\"branch_weights\", i32 4000, i32 1}}\n{locations}"
    )
}
