//! Loops of `kernels` and `auto` loops with random subscripts: some of their iterations depend on each other.
//!
//! Every loop is in a function of its own, to which pointers lead to the same array, or to others. All
//! arrays are printed as one number behind each.

use crate::random::Random;
use std::fmt::Write;

/// Loops of a program.
const LOOPS: usize = 20;

/// What begins each program. Subscripts are far from both ends of the arrays.
const BEGIN: &str = "#include <stdio.h>
#include <stdlib.h>
enum { SIZE = 4096, MIDDLE = 2000, SIDE = 40 };
static int a[SIZE], b[SIZE], m[SIDE][SIDE];
static int *p, *q;
static void print(int loop, int result) {
  unsigned sum = result;
  for (int i = 0; i < SIZE; i++) sum = sum * 31 + a[i] + 7 * b[i] + 3 * p[i] + 5 * q[i];
  for (int i = 0; i < SIDE * SIDE; i++) sum = sum * 31 + m[i / SIDE][i % SIDE];
  printf(\"%d %u\\n\", loop, sum);
}
";

/// The source of the program with a number. It prints all that it has computed.
#[must_use]
pub fn program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = BEGIN.to_owned();
    let mut calls = String::new();
    for number in 0..LOOPS {
        let function = function(number, &mut random);
        text.push_str(&function);
        let pointers = random.of(&["p, q", "p, p", "p + 1, p", "q, p + 3", "p, q + 2"]);
        let _ = writeln!(calls, "    print({number}, loop{number}(n, {pointers}));");
    }
    text + "int main(int argc, char **argv) {
  int n = 8 + argc;
  p = malloc(SIZE * sizeof *p);
  q = malloc(SIZE * sizeof *q);
  for (int i = 0; i < SIZE; i++) a[i] = i % 17, b[i] = i % 23, p[i] = i % 29, q[i] = i % 31;
  for (int i = 0; i < SIDE * SIDE; i++) m[i / SIDE][i % SIDE] = i % 37;
#pragma acc data copy(a, b, m, p[0:SIZE], q[0:SIZE])
  {
" + &calls
        + "  }
  return 0;
}
"
}

fn function(number: usize, random: &mut Random) -> String {
    let is_auto = random.chance(25);
    let mut text = format!("static int loop{number}(int n, int *x, int *y) {{\n  int sum = 0, i, j;\n");
    let nested = random.chance(55);
    let declares = random.chance(60);
    let int = if declares { "int " } else { "" };
    let head = |variable: &str, random: &mut Random, outer: Option<&str>| {
        let first = random.of(&["0", "1", "2"]);
        let last = match outer {
            Some(outer) if random.chance(20) => outer.to_owned(),
            _ => (*random.of(&["n", "n", "n - 1", "9", "n + 2"])).to_owned(),
        };
        match random.below(5) {
            0 => format!("for ({int}{variable} = {last}; {variable} > {first}; {variable}--)"),
            1 => format!("for ({int}{variable} = {first}; {variable} <= {last}; {variable} += 2)"),
            _ => format!("for ({int}{variable} = {first}; {variable} < {last}; {variable}++)"),
        }
    };
    let construct = match (is_auto, random.below(3)) {
        (true, _) => "parallel loop auto copy(sum) private(j)",
        (false, 0) => "kernels loop",
        (false, _) => "kernels",
    };
    let _ = writeln!(text, "#pragma acc {construct} present(x[0:1], y[0:1])");
    let block = construct == "kernels" && random.chance(40);
    let loops = if block { 1 + random.below(3) } else { 1 };
    if block {
        text.push_str("  {\n");
    }
    for _ in 0..loops {
        let _ = writeln!(text, "  {} {{", head("i", random, None));
        let inner = nested && (!is_auto || declares);
        if random.chance(30) {
            let _ = writeln!(text, "    {}", statement(random, false));
        }
        if inner {
            if random.chance(30) {
                text.push_str(if is_auto { "#pragma acc loop auto\n" } else { "#pragma acc loop\n" });
            }
            let _ = writeln!(text, "    {} {{", head("j", random, Some("i")));
            for _ in 0..1 + random.below(2) {
                let _ = writeln!(text, "      {}", statement(random, true));
            }
            text.push_str("    }\n");
        } else {
            for _ in 0..1 + random.below(2) {
                let _ = writeln!(text, "    {}", statement(random, false));
            }
        }
        text.push_str("  }\n");
    }
    if block {
        text.push_str("  }\n");
    }
    text.push_str("#pragma acc update self(a, b, m, p[0:SIZE], q[0:SIZE])\n  return sum;\n}\n");
    text
}

/// One access.
fn access(random: &mut Random, inner: bool) -> String {
    let part = |random: &mut Random, variable: &str| {
        let distance = *random.of(&["", "", "", " + 1", " - 1", " + 2", " + n"]);
        match random.below(6) {
            0 => format!("2 * {variable}{distance}"),
            1 => format!("-{variable}{distance}"),
            2 => format!("n * {variable}{distance}"),
            _ => format!("{variable}{distance}"),
        }
    };
    if random.chance(25) {
        let side = |random: &mut Random, variable: &str| {
            let distance = *random.of(&["", "", " + 1", " + 2"]);
            format!("[{variable} + 1{distance}]")
        };
        let (row, column) = if inner {
            (side(random, "i"), side(random, "j"))
        } else {
            (side(random, "i"), "[3]".to_owned())
        };
        return if random.chance(20) { format!("m{column}{row}") } else { format!("m{row}{column}") };
    }
    let array = random.of(&["a", "b", "x", "y"]);
    let subscript = match (inner, random.below(10)) {
        (true, 0..=4) => format!("i * n + {}", part(random, "j")),
        (true, 5) => format!("(i + 1) * (n + 3) + {}", part(random, "j")),
        (true, 6) => part(random, "j"),
        (true, 7) => format!("{} + {}", part(random, "i"), part(random, "j")),
        (_, 8) => (*random.of(&["5", "n"])).to_owned(),
        _ => part(random, "i"),
    };
    if random.chance(15) {
        format!("(*({array} + (MIDDLE + {subscript})))")
    } else {
        format!("{array}[MIDDLE + {subscript}]")
    }
}

fn statement(random: &mut Random, inner: bool) -> String {
    let target = access(random, inner);
    let value = match random.below(4) {
        0 => format!("{} + i", access(random, inner)),
        1 => format!("{} - {}", access(random, inner), access(random, inner)),
        2 => format!("3 * {}", access(random, inner)),
        _ => "i + 2".to_owned(),
    };
    match random.below(10) {
        0 => format!("sum += {value};"),
        1 => format!("if ({} & 1) {target} = {value};", access(random, inner)),
        2 => format!("{{ int t = i + 1; a[MIDDLE + t] = {value}; }}"),
        3 => format!("{{ int t = {value}; {target} = t * t; }}"),
        4 => format!("{target} += {value};"),
        5 => format!("{target}++;"),
        _ => format!("{target} = {value};"),
    }
}
