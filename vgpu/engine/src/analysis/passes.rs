//! The passes that make machine code of a function, in their order, and what each took.

use std::fmt;
use std::time::{Duration, Instant};

/// A pass. The order is that in which they run; those up to [`Pass::Liveness`] may run twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Where registers, parameters and variables are: `slots` and `layout`.
    Layout,
    /// What instructions are: `operations`.
    Operations,
    /// What of a lane's own memory is kept in slots: `own`.
    Own,
    /// How values run through the lanes: `shape`.
    Shape,
    /// Blocks that are cut where lanes part and wait: `graph`.
    Graph,
    /// What lives where blocks begin: `liveness`.
    Liveness,
    /// What steps back and entries take: `fuel`.
    Fuel,
    /// What lanes may run by themselves: `lanewise`.
    Lanewise,
    /// How much care is taken: `tier`.
    Tier,
    /// The generator's code, for lanes that run together (`converged`) or part (`masked`).
    Emit,
    /// Tests for NaN out of loops: `sequence::sink_tests`.
    SinkTests,
    /// Machine code of that.
    Machine,
}

impl Pass {
    pub const ALL: [Pass; 12] = [
        Pass::Layout,
        Pass::Operations,
        Pass::Own,
        Pass::Shape,
        Pass::Graph,
        Pass::Liveness,
        Pass::Fuel,
        Pass::Lanewise,
        Pass::Tier,
        Pass::Emit,
        Pass::SinkTests,
        Pass::Machine,
    ];

    const fn name(self) -> &'static str {
        match self {
            Pass::Layout => "layout",
            Pass::Operations => "operations",
            Pass::Own => "own memory",
            Pass::Shape => "shape",
            Pass::Graph => "graph",
            Pass::Liveness => "liveness",
            Pass::Fuel => "fuel",
            Pass::Lanewise => "lanewise",
            Pass::Tier => "tier",
            Pass::Emit => "emit",
            Pass::SinkTests => "sink tests",
            Pass::Machine => "machine code",
        }
    }
}

/// Runs passes; what each took so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passes {
    took: [Duration; Pass::ALL.len()],
    runs: [u32; Pass::ALL.len()],
}

impl Passes {
    pub fn run<T>(&mut self, pass: Pass, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.took[pass as usize] += start.elapsed();
        self.runs[pass as usize] += 1;
        result
    }
}

/// A line for each pass: microseconds, how often it ran, its name.
impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pass in Pass::ALL {
            let (took, runs) = (self.took[pass as usize], self.runs[pass as usize]);
            let times = if runs == 1 { String::new() } else { format!(", {runs} times") };
            writeln!(f, "{:>10.1} us  {}{times}", took.as_secs_f64() * 1e6, pass.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Pass, Passes};

    #[test]
    fn a_line_tells_what_each_pass_took() {
        let mut passes = Passes::default();
        for pass in Pass::ALL {
            passes.run(pass, || ());
        }
        passes.run(Pass::Shape, || ());
        let text = passes.to_string();
        let names: Vec<&str> = text.lines().filter_map(|line| line.split(" us  ").nth(1)).collect();
        let expected = "layout/operations/own memory/shape, 2 times/graph/liveness/fuel/lanewise/tier/emit/\
                        sink tests/machine code";
        assert_eq!(names.join("/"), expected);
    }
}
