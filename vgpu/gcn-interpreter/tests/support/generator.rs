//! Random C functions: expressions, arrays, loops, branches, calls, of all types. A seed gives the same program always.

use std::fmt::Write as _;

/// A source of random numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let found = self.0;
        (found ^ found >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A type: its name, and whether it is a floating-point one.
type Type = (&'static str, bool);

const TYPES: [Type; 12] = [
    ("u8", false),
    ("signed char", false),
    ("u16", false),
    ("short", false),
    ("u32", false),
    ("int", false),
    ("u32", false),
    ("u64", false),
    ("long", false),
    ("float", true),
    ("double", true),
    ("_Float16", true),
];

struct Generator {
    numbers: Numbers,
    text: String,
    /// Types of the variables `v0`, `v1`, ...
    variables: Vec<Type>,
    loops: usize,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    let count = 6 + numbers.below(6);
    let variables = (0..count).map(|_| numbers.pick(&TYPES)).collect();
    let mut generator = Generator { numbers, text: String::new(), variables, loops: 0 };
    generator.program();
    generator.text
}

impl Generator {
    fn program(&mut self) {
        self.text.push_str(concat!(
            "#include \"run.h\"\n",
            // What is undefined in C is defined here.
            "#define DIVIDE(a, b) ((b) == 0 || (b) == -1 ? (a) : HIDE(a) / HIDE(b))\n",
            "#define MODULO(a, b) ((b) == 0 || (b) == -1 ? (a) : HIDE(a) % HIDE(b))\n",
            "#define TO_INTEGER(type, v) ((v) > -100.0 && (v) < 100.0 ? (type)(v) : (type)1)\n",
            "#define TO_SIGNED(type, v) ((v) > -100.0 && (v) < 100.0 ? (type)(long)(v) : (type)1)\n",
            "NOINLINE static u64 helper(u64 a, u32 b, int c) { return b % 5u ? a * 3 + (u64)c : a ^ b; }\n",
            "NOINLINE static double mean(double a, float b) { return a * 0.5 + b; }\n",
            "static void compute(struct run *run) {\n",
        ));
        for index in 0..self.variables.len() {
            let (name, is_float) = self.variables[index];
            let value = match (is_float, name) {
                (true, "float") => format!("FLOAT(IN({index}))"),
                (true, "double") => format!("DOUBLE(IN({index}))"),
                (true, _) => format!("HALF(IN({index}))"),
                _ => format!("({name})IN({index})"),
            };
            let _ = writeln!(self.text, "  {name} v{index} = {value};");
        }
        self.text.push_str("  u32 array[16];\n  u64 wide[8];\n");
        self.text.push_str("  for (int i = 0; i < 16; i++) array[i] = (u32)IN(20 + i);\n");
        self.text.push_str("  for (int i = 0; i < 8; i++) wide[i] = IN(40 + i);\n");
        for _ in 0..12 {
            self.statement(1);
        }
        for index in 0..self.variables.len() {
            let value = match self.variables[index].0 {
                "float" => format!("BITS32(v{index})"),
                "double" => format!("BITS64(v{index})"),
                "_Float16" => format!("BITS16(v{index})"),
                _ => format!("v{index}"),
            };
            let _ = writeln!(self.text, "  OUT({value});");
        }
        self.text.push_str(
            "  for (int i = 0; i < 16; i++) OUT(array[i]);\n  for (int i = 0; i < 8; i++) OUT(wide[i]);\n}\n",
        );
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
    }

    fn statement(&mut self, depth: usize) {
        let kind = self.numbers.below(if depth > 3 { 6 } else { 11 });
        self.indent(depth);
        match kind {
            0..4 => {
                let index = self.numbers.below(self.variables.len());
                let value = self.expression(self.variables[index], 3);
                let _ = writeln!(self.text, "v{index} = {value};");
            }
            4 => {
                let (at, value) = (self.expression(("u32", false), 2), self.expression(("u32", false), 3));
                let _ = writeln!(self.text, "array[({at}) & 15] ^= {value};");
            }
            5 => {
                let (at, value) = (self.expression(("u32", false), 2), self.expression(("u64", false), 3));
                let _ = writeln!(self.text, "wide[({at}) & 7] += {value};");
            }
            6 | 7 => {
                let condition = self.condition(2);
                let _ = writeln!(self.text, "if ({condition}) {{");
                self.block(depth);
                if self.numbers.below(2) == 0 {
                    self.indent(depth);
                    self.text.push_str("} else {\n");
                    self.block(depth);
                }
                self.indent(depth);
                self.text.push_str("}\n");
            }
            8 | 9 => {
                self.loops += 1;
                let name = self.loops;
                // Lanes leave at different turns.
                let count = self.expression(("u32", false), 2);
                let _ = writeln!(
                    self.text,
                    "for (u32 i{name} = 0, n{name} = ({count}) % 6; i{name} < n{name}; i{name}++) {{"
                );
                self.block(depth);
                if self.numbers.below(3) == 0 {
                    let condition = self.condition(1);
                    self.indent(depth + 1);
                    let _ = writeln!(
                        self.text,
                        "if ({condition}) {};",
                        ["break", "continue"][self.numbers.below(2)]
                    );
                }
                self.indent(depth);
                self.text.push_str("}\n");
            }
            _ => {
                let value = self.expression(("u32", false), 2);
                let _ = writeln!(self.text, "switch (({value}) % 5) {{");
                for case in 0..3 {
                    self.indent(depth);
                    let _ = writeln!(self.text, "case {}:", case * 2);
                    self.statement(depth + 1);
                    if self.numbers.below(3) > 0 {
                        self.indent(depth + 1);
                        self.text.push_str("break;\n");
                    }
                }
                self.indent(depth);
                self.text.push_str("default:\n");
                self.statement(depth + 1);
                self.indent(depth);
                self.text.push_str("}\n");
            }
        }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.numbers.below(3) {
            self.statement(depth + 1);
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let ty = self.numbers.pick(&TYPES);
        let comparison = self.numbers.pick(&["<", "<=", "==", "!=", ">", ">="]);
        format!("{} {comparison} {}", self.expression(ty, depth), self.expression(ty, depth))
    }

    /// An expression of a type.
    fn expression(&mut self, ty: Type, depth: usize) -> String {
        let (name, is_float) = ty;
        if depth == 0 || self.numbers.below(6) == 0 {
            return self.leaf(ty);
        }
        let deeper = depth - 1;
        if is_float {
            let [a, b] = [0, 1].map(|_| self.expression(ty, deeper));
            return match self.numbers.below(9) {
                0 | 1 => format!("({name})({a} + {b})"),
                2 => format!("({name})({a} - {b})"),
                3 | 4 => format!("({name})({a} * {b})"),
                5 => format!("({name})({a} / {b})"),
                6 => format!("({name})({} ? {a} : {b})", self.condition(deeper)),
                7 if name == "double" => format!("mean({a}, (float){b})"),
                _ => format!("({name})(-{a})"),
            };
        }
        let [a, b] = [0, 1].map(|_| self.expression(ty, deeper));
        let shift = format!("(({b}) & {})", if name.contains('l') || name == "u64" { 63 } else { 7 });
        match self.numbers.below(16) {
            0 | 1 => format!("({name})({a} + {b})"),
            2 => format!("({name})({a} - {b})"),
            3 | 4 => format!("({name})({a} * {b})"),
            5 => format!("({name})DIVIDE({a}, {b})"),
            6 => format!("({name})MODULO({a}, {b})"),
            7 => format!("({name})({a} << {shift})"),
            8 => format!("({name})({a} >> {shift})"),
            9 => format!("({name})({a} & {b})"),
            10 => format!("({name})({a} ^ {b})"),
            11 => format!("({name})({a} | {b})"),
            12 => format!("({name})({} ? {a} : {b})", self.condition(deeper)),
            13 => format!("({name})helper({a}, (u32){b}, 3)"),
            14 => {
                let other = self.numbers.pick(&TYPES);
                let value = self.expression(other, deeper);
                match other.1 {
                    true if name.starts_with('u') => format!("TO_SIGNED({name}, {value})"),
                    true => format!("TO_INTEGER({name}, {value})"),
                    false => format!("({name})({value})"),
                }
            }
            _ => match self.numbers.below(4) {
                0 => format!("({name})__builtin_popcountl((u64){a})"),
                1 => format!("({name})__builtin_clz((u32){a} | 1)"),
                2 => format!("({name})array[({b}) & 15]"),
                _ => format!("({name})wide[({b}) & 7]"),
            },
        }
    }

    fn leaf(&mut self, (name, is_float): Type) -> String {
        if self.numbers.below(3) > 0 {
            let index = self.numbers.below(self.variables.len());
            let (_, other) = self.variables[index];
            return match (is_float, other) {
                (false, true) if name.starts_with('u') => format!("TO_SIGNED({name}, v{index})"),
                (false, true) => format!("TO_INTEGER({name}, v{index})"),
                _ => format!("({name})v{index}"),
            };
        }
        if is_float {
            return format!(
                "({name}){}",
                self.numbers.pick(&["0.5", "-1.25", "3.0", "0.125", "1e-3", "77.0", "-2.0"])
            );
        }
        let constant = match self.numbers.below(4) {
            0 => self.numbers.next() & 0xff,
            1 => self.numbers.next() & 0xffff,
            2 => self.numbers.next() & 0xffff_ffff,
            _ => self.numbers.next() & 7,
        };
        format!("({name}){constant}u")
    }
}
