//! What each kernel takes of shared memory, as the report of a run has it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use gangway_bench::process::output;
use gangway_bench::table;
use serde_json::Value;

use crate::Table;
use crate::cases::Case;
use crate::programs::{Programs, WAYS};

/// What the device gives a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Resources {
    /// Bytes of shared memory of a gang.
    shared: u64,
    /// Registers of a thread.
    registers: u64,
}

/// One line: the kernel of a function as each of `WAYS` has it.
struct Row {
    kernel: String,
    needs: u64,
    of: [Resources; 3],
}

impl Row {
    fn passes(&self) -> bool {
        let [.., gangway] = self.of;
        gangway.shared <= self.needs
    }

    fn cells(&self) -> [String; 7] {
        let [gcc, openmp, gangway] = self.of.map(|of| format!("{} B", of.shared));
        let registers = self.of.map(|of| of.registers.to_string()).join(", ");
        let result = if self.passes() { "pass" } else { "MISS" };
        [self.kernel.clone(), format!("{} B", self.needs), gcc, openmp, gangway, registers, result.into()]
    }
}

pub fn measure(programs: &Programs, cases: &[&Case]) -> Result<Table> {
    let mut rows = Vec::new();
    for case in cases {
        let mut kernels = Vec::new();
        for way in WAYS {
            let report = programs.report(case, way)?;
            output(&mut programs.run(case, way, &["--report=json", "--report-file", &report]))?;
            let text = std::fs::read_to_string(&report).with_context(|| report.clone())?;
            kernels.push(by_function(&text).with_context(|| format!("the report {report}"))?);
        }
        let [gcc, openmp, gangway] = &kernels[..] else { bail!("one report for each way") };
        for (function, ours) in gangway {
            let of = |kernels: &BTreeMap<String, Resources>| {
                let found = kernels.get(function).copied();
                found.with_context(|| format!("{}: a program has no kernel in `{function}`", case.name))
            };
            rows.push(Row {
                kernel: format!("{}, `{function}`", case.name),
                needs: case.needs(function),
                of: [of(gcc)?, of(openmp)?, *ours],
            });
        }
    }
    let head = ["Kernel", "Needed", "GCC", "OpenMP", "Gangway", "Registers of these", "Result"];
    let lines: Vec<_> = std::iter::once(head.map(String::from)).chain(rows.iter().map(Row::cells)).collect();
    Ok(Table { shown: table::render(&lines), passes: rows.iter().all(Row::passes) })
}

/// The kernels of a report, by the function that each is in.
fn by_function(report: &str) -> Result<BTreeMap<String, Resources>> {
    let report: Value = serde_json::from_str(report)?;
    let kernels = report["kernels"].as_array().context("there are no kernels")?;
    let mut found = BTreeMap::new();
    for kernel in kernels {
        let name = kernel["name"].as_str().context("a kernel has no name")?;
        // `run:8` of clang, `run$_omp_fn$0` of GCC.
        let function = name.split([':', '$']).next().unwrap_or(name);
        let number = |key: &str| kernel[key].as_u64().with_context(|| format!("{name} has no {key}"));
        let resources = Resources { shared: number("shared_bytes")?, registers: number("registers")? };
        if found.insert(function.to_owned(), resources).is_some() {
            bail!("two kernels are in `{function}`");
        }
    }
    Ok(found)
}

/// What stands below the table.
pub const NOTES: &str = "\
- Bytes of each gang (block, team), and registers of each thread, as the driver gives them to a\n  \
  launch: `gangway run --report`. `gangway inspect` shows what a program's kernels declare.\n\
- Needed is what the threads of a gang share of the source's variables: `f64` sums of four warps, what\n  \
  `cache` names, the bins. Other variables have registers.\n\
- `cache` copies what the threads of a gang go through together. What the matrix product\n  \
  names is each thread's own, so it has no shared memory at all.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_by_function() {
        let report = r#"{ "kernels": [
            { "name": "run:8", "shared_bytes": 1024, "registers": 32 },
            { "name": "step$_omp_fn$0", "shared_bytes": 0, "registers": 24 } ] }"#;
        let found = by_function(report).unwrap();
        assert_eq!(found["run"], Resources { shared: 1024, registers: 32 });
        assert_eq!(found["step"], Resources { shared: 0, registers: 24 });
        assert!(by_function(r#"{ "kernels": [{ "name": "run:8" }] }"#).is_err());
    }
}
