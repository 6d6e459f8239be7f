//! One random program.

use crate::random::Random;
use std::fmt::Write;

/// Where code stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// In a loop of gangs of the dimension behind this one: those of this dimension have no loop yet.
    Grid(usize),
    Gang,
    Worker,
    Lane,
}

/// What code at a place may use.
#[derive(Debug, Clone, Default)]
struct Scope {
    /// What it may read.
    readable: Vec<String>,
    /// What it may assign.
    assignable: Vec<String>,
    /// Arrays that loops in it may update.
    arrays: Vec<String>,
    /// The loops around, and how often they run.
    loops: Vec<(String, usize)>,
    /// Gangs of some dimension all do the same.
    is_redundant: bool,
}

/// A program, while it is written.
struct Writer {
    random: Random,
    names: usize,
    sizes: [usize; 3],
    /// Results: arrays, and how many elements each has.
    results: Vec<(String, usize)>,
    text: String,
}

/// Blocks in each other.
const DEPTH: usize = 3;

/// The source of the program with a number. It prints all that it has computed.
#[must_use]
pub fn program(seed: u64) -> String {
    let mut random = Random(seed);
    let sizes = [*random.of(&[1, 3, 5, 8]), *random.of(&[1, 2, 4, 7]), *random.of(&[1, 5, 32, 33, 70])];
    let dimensions = *random.of(&[1, 1, 1, 2, 3]);
    let mut clauses = String::new();
    let clause = |name: &str, counts: &[usize], several: usize, random: &mut Random| {
        if !random.chance(75) {
            return String::new();
        }
        let counts: Vec<String> = (0..several).map(|_| random.of(counts).to_string()).collect();
        format!(" {name}({})", counts.join(", "))
    };
    clauses += &match dimensions {
        1 => clause("num_gangs", &[1, 2, 3, 32], 1, &mut random),
        several => clause("num_gangs", &[1, 2, 3, 5], several, &mut random),
    };
    clauses += &clause("num_workers", &[1, 2, 3, 4, 8], 1, &mut random);
    clauses += &clause("vector_length", &[1, 2, 32, 64, 96, 128], 1, &mut random);
    let mut writer = Writer { random, names: 0, sizes, results: Vec::new(), text: String::new() };
    let scope = Scope {
        readable: ["g", "n", "k"].map(str::to_owned).to_vec(),
        loops: vec![("g".to_owned(), sizes[0])],
        is_redundant: dimensions > 1,
        ..Scope::default()
    };
    let level = if dimensions > 1 { Level::Grid(dimensions - 1) } else { Level::Gang };
    writer.block(level, scope.clone(), DEPTH);
    if let Level::Grid(dimension) = level {
        writer.gangs(dimension, &scope);
    }
    writer.whole(&clauses, dimensions)
}

impl Writer {
    fn whole(self, clauses: &str, dimensions: usize) -> String {
        let mut text = "#include <stdio.h>\nstatic int in[64], hist[8];\n".to_owned();
        let mut copied = String::new();
        let mut printed = String::new();
        for (name, size) in &self.results {
            let _ = writeln!(text, "static int {name}[{size}];");
            let _ = write!(copied, ", {name}");
            let _ = writeln!(
                printed,
                "  {{ unsigned h = 0; for (int i = 0; i < {size}; i++) h = h * 31 + (unsigned){name}[i]; \
                 printf(\"{name} %u\\n\", h); }}"
            );
        }
        // Gangs of several dimensions reduce nothing (section 2.9.11).
        let (reduces, gangs, sum) = match dimensions {
            1 => (" reduction(+:total)", "gang reduction(+:total)".to_owned(), "  total += g + n;\n"),
            last => (" copy(total)", format!("gang(dim:{last})"), ""),
        };
        let _ = write!(
            text,
            "int main(void) {{\n  int n = 11, k = 7, total = 0;\n  for (int i = 0; i < 64; i++) in[i] = i * 37 % 101;\n\
             #pragma acc parallel{clauses} copyin(in) copy(hist{copied}){reduces}\n  {{\n\
             #pragma acc loop {gangs}\n  for (int g = 0; g < {}; g++) {{\n{}{sum}  }}\n  }}\n\
             printf(\"%d\\n\", total);\n  for (int i = 0; i < 8; i++) printf(\"%d \", hist[i]);\n{printed}  return 0;\n}}\n",
            self.sizes[0], self.text
        );
        text
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn expression(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 || self.random.chance(35) {
            if !scope.readable.is_empty() && self.random.chance(75) {
                return self.random.of(&scope.readable).clone();
            }
            return self.random.below(10).to_string();
        }
        if self.random.chance(25) {
            return format!("in[({}) & 63]", self.expression(scope, depth - 1));
        }
        let one = self.expression(scope, depth - 1);
        let operator = *self.random.of(&["+", "-", "*", "^", "&", "|"]);
        format!("({one} {operator} {})", self.expression(scope, depth - 1))
    }

    fn value(&mut self, scope: &Scope) -> String {
        self.expression(scope, 2)
    }

    fn block(&mut self, level: Level, mut scope: Scope, depth: usize) {
        for _ in 0..2 + self.random.below(4) {
            match self.random.below(100) {
                0..22 => {
                    let (name, value) = (self.name("x"), self.value(&scope));
                    self.line(&format!("int {name} = {value};"));
                    scope.readable.push(name.clone());
                    scope.assignable.push(name);
                }
                22..30 if level != Level::Lane => {
                    let name = self.name("a");
                    let values: Vec<String> = (0..4).map(|_| self.value(&scope)).collect();
                    self.line(&format!("int {name}[4] = {{ {} }};", values.join(", ")));
                    scope.readable.extend((0..4).map(|at| format!("{name}[{at}]")));
                    scope.arrays.push(name);
                }
                30..42 if !scope.assignable.is_empty() => {
                    let name = self.random.of(&scope.assignable).clone();
                    let operator = *self.random.of(&["=", "+=", "^=", "-="]);
                    let value = self.value(&scope);
                    self.line(&format!("{name} {operator} {value};"));
                }
                42..50 => self.condition(level, &scope, depth),
                50..60 if depth > 0 => self.counted(level, &scope, depth),
                60..86 if level != Level::Lane && depth > 0 => self.partitioned(level, &scope, depth),
                86..90 if depth > 0 => {
                    self.line("{");
                    self.block(level, scope.clone(), depth - 1);
                    self.line("}");
                }
                _ if scope.is_redundant => {}
                _ => {
                    let (at, value) = (self.value(&scope), self.value(&scope));
                    self.line(&format!("#pragma acc atomic update\nhist[({at}) & 7] += {value};"));
                }
            }
        }
    }

    fn condition(&mut self, level: Level, scope: &Scope, depth: usize) {
        let value = self.value(scope);
        self.line(&format!("if (({value}) & 1) {{"));
        if depth > 0 {
            self.block(level, scope.clone(), depth - 1);
            if self.random.chance(40) {
                self.line("} else {");
                self.block(level, scope.clone(), depth - 1);
            }
        }
        self.line("}");
    }

    /// Perhaps a copy of what is only read, where a loop's body begins.
    fn cache(&mut self) {
        if self.random.chance(20) {
            self.line("#pragma acc cache(in[0:64])");
        }
    }

    /// A loop that every thread of a level goes through.
    fn counted(&mut self, level: Level, scope: &Scope, depth: usize) {
        let name = self.name("s");
        let end = match self.random.chance(50) {
            true => "3".to_owned(),
            false => format!("(({}) & 3)", self.expression(scope, 1)),
        };
        let mut inner = scope.clone();
        inner.readable.push(name.clone());
        self.line(&format!("for (int {name} = 0; {name} < {end}; {name}++) {{"));
        self.cache();
        self.block(level, inner.clone(), depth - 1);
        if self.random.chance(30) {
            let value = self.value(&inner);
            let jump = *self.random.of(&["continue", "break"]);
            self.line(&format!("if (({value}) & 1) {jump};"));
        }
        self.line("}");
    }

    /// A loop that the gangs of a dimension share, in code that they have all done.
    fn gangs(&mut self, dimension: usize, scope: &Scope) {
        let index = self.name("i");
        let mut inner = scope.clone();
        inner.readable.push(index.clone());
        inner.assignable.clear();
        inner.arrays.clear();
        inner.is_redundant = dimension > 1;
        let count = *self.random.of(&[1, 2, 4, 7]);
        inner.loops.push((index.clone(), count));
        let clause = if dimension > 1 { format!("gang(dim:{dimension})") } else { "gang".to_owned() };
        self.line(&format!(
            "#pragma acc loop {clause}\nfor (int {index} = 0; {index} < {count}; {index}++) {{"
        ));
        self.cache();
        let inside = if dimension > 1 { Level::Grid(dimension - 1) } else { Level::Gang };
        self.block(inside, inner.clone(), DEPTH - 1);
        if let Level::Grid(dimension) = inside {
            self.gangs(dimension, &inner);
        } else {
            let value = self.value(&inner);
            self.line(&format!("#pragma acc atomic update\ntotal += {value};"));
        }
        self.line("}");
    }

    fn partitioned(&mut self, level: Level, scope: &Scope, depth: usize) {
        if let Level::Grid(dimension) = level
            && self.random.chance(30)
        {
            return self.gangs(dimension, scope);
        }
        let [_, workers, lanes] = self.sizes;
        let mut kinds = vec![(Level::Lane, "vector", lanes)];
        if matches!(level, Level::Grid(_) | Level::Gang) {
            kinds.extend([
                (Level::Worker, "worker", workers),
                (Level::Lane, "worker vector", workers * lanes),
            ]);
        }
        let (inside, clause, count) = *self.random.of(&kinds);
        let mut reduced: Vec<(String, &str)> = Vec::new();
        for name in &scope.assignable {
            if reduced.len() < 2 && self.random.chance(50) {
                reduced.push((name.clone(), *self.random.of(&["+", "^", "max", "|"])));
            }
        }
        let updated: Vec<String> = scope.arrays.iter().filter(|_| self.random.chance(30)).cloned().collect();
        let index = self.name("i");
        let mut inner = scope.clone();
        // What others write meanwhile is not read.
        inner.readable.retain(|name| {
            let object = name.split('[').next().unwrap_or(name);
            !reduced.iter().any(|(reduced, _)| reduced == object)
                && !updated.iter().any(|array| array == object)
        });
        inner.readable.push(index.clone());
        inner.assignable.clear();
        inner.arrays.clear();
        inner.loops.push((index.clone(), count));
        let clauses: String =
            reduced.iter().map(|(name, operator)| format!(" reduction({operator}:{name})")).collect();
        self.line(&format!(
            "#pragma acc loop {clause}{clauses}\nfor (int {index} = 0; {index} < {count}; {index}++) {{"
        ));
        self.cache();
        self.block(inside, inner.clone(), depth - 1);
        for (name, operator) in &reduced {
            let value = self.value(&inner);
            self.line(&match *operator {
                "max" => format!("{{ int m = {value}; if (m > {name}) {name} = m; }}"),
                operator => format!("{name} = {name} {operator} ({value});"),
            });
        }
        for array in &updated {
            let (at, value) = (self.value(&inner), self.value(&inner));
            self.line(&format!("#pragma acc atomic update\n{array}[({at}) & 3] += {value};"));
        }
        if inside == Level::Lane {
            let place = inner
                .loops
                .iter()
                .fold("0".to_owned(), |place, (name, count)| format!("({place} * {count} + {name})"));
            let size = inner.loops.iter().map(|(_, count)| count).product();
            let (result, value) = (self.name("o"), self.value(&inner));
            self.line(&format!("{result}[{place}] = {value};"));
            self.results.push((result, size));
        }
        self.line("}");
    }
}
