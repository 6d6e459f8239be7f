//! The functions of `complex.h` under C's names for AMD's GPUs: a member of their archive.
//!
//! clang-22 hands a number of double precision over as its two parts there, and one of single precision as two
//! words of bits. Rust has no word for the second, so the functions are text, and call those with
//! numbers apart (`device/gpu/maths/src/complex/fortran.rs`). `cproj` has none.

use std::fmt::Write;

use super::fortran::{COMPLEX, REAL};
use super::ir;

pub fn text() -> String {
    let mut text = String::from("source_filename = \"complex\"\n");
    text.push_str(ir::Kind::Amdgcn.target());
    for float in [DOUBLE, SINGLE] {
        for name in COMPLEX {
            float.function(&mut text, name, 1, true);
        }
        for name in REAL {
            float.function(&mut text, name, 1, false);
        }
        float.function(&mut text, "pow", 2, true);
        for (name, body) in [
            ("creal", "  ret %F %re0\n"),
            ("cimag", "  ret %F %im0\n"),
            (
                "conj",
                "  %im = fneg %F %im0\n  %pair = insertvalue { %F, %F } undef, %F %re0, 0\n  \
                      %result = insertvalue { %F, %F } %pair, %F %im, 1\n",
            ),
        ] {
            let is_complex = name == "conj";
            float.head(&mut text, name, 1, is_complex);
            text.push_str(&body.replace("%F", float.name));
            float.end(&mut text, is_complex);
        }
    }
    text
}

/// A precision.
#[derive(Clone, Copy)]
struct Float {
    name: &'static str,
    suffix: &'static str,
    /// Numbers are handed over as words of bits.
    in_bits: bool,
}

const DOUBLE: Float = Float { name: "double", suffix: "", in_bits: false };
const SINGLE: Float = Float { name: "float", suffix: "f", in_bits: true };

impl Float {
    /// A function of complex numbers that calls the one with numbers apart.
    fn function(self, text: &mut String, name: &str, arguments: usize, is_complex: bool) {
        let (float, suffix) = (self.name, self.suffix);
        let result = if is_complex { format!("{{ {float}, {float} }}") } else { float.to_owned() };
        let types = vec![float; 2 * arguments].join(", ");
        let _ = writeln!(text, "\ndeclare {result} @__gangway_c{name}{suffix}({types})");
        self.head(text, &format!("c{name}"), arguments, is_complex);
        let parts: Vec<String> =
            (0..arguments).map(|at| format!("{float} %re{at}, {float} %im{at}")).collect();
        let _ = writeln!(text, "  %result = call {result} @__gangway_c{name}{suffix}({})", parts.join(", "));
        if !is_complex {
            let _ = writeln!(text, "  ret {float} %result");
        }
        self.end(text, is_complex);
    }

    /// Up to where the parts of the arguments have names.
    fn head(self, text: &mut String, name: &str, arguments: usize, is_complex: bool) {
        let (float, suffix) = (self.name, self.suffix);
        let result = match (is_complex, self.in_bits) {
            (false, _) => float.to_owned(),
            (true, false) => format!("{{ {float}, {float} }}"),
            (true, true) => "[2 x i32]".to_owned(),
        };
        let parameter = |at| match self.in_bits {
            true => format!("[2 x i32] %a{at}"),
            false => format!("{float} %re{at}, {float} %im{at}"),
        };
        let parameters: Vec<String> = (0..arguments).map(parameter).collect();
        let _ = writeln!(text, "\ndefine weak hidden {result} @{name}{suffix}({}) {{", parameters.join(", "));
        for at in (0..arguments).filter(|_| self.in_bits) {
            for (place, part) in ["re", "im"].iter().enumerate() {
                let _ = writeln!(text, "  %{part}{at}.bits = extractvalue [2 x i32] %a{at}, {place}");
                let _ = writeln!(text, "  %{part}{at} = bitcast i32 %{part}{at}.bits to {float}");
            }
        }
    }

    /// From where a complex result has its name.
    fn end(self, text: &mut String, is_complex: bool) {
        let float = self.name;
        match (is_complex, self.in_bits) {
            (false, _) => {}
            (true, false) => {
                let _ = writeln!(text, "  ret {{ {float}, {float} }} %result");
            }
            (true, true) => text.push_str(
                "  %re = extractvalue { float, float } %result, 0\n  \
                 %im.of = extractvalue { float, float } %result, 1\n  \
                 %re.bits = bitcast float %re to i32\n  %im.bits = bitcast float %im.of to i32\n  \
                 %first = insertvalue [2 x i32] undef, i32 %re.bits, 0\n  \
                 %both = insertvalue [2 x i32] %first, i32 %im.bits, 1\n  ret [2 x i32] %both\n",
            ),
        }
        text.push_str("}\n");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_of_single_precision_come_in_bits() {
        let text = super::text();
        assert!(text.contains("define weak hidden { double, double } @cpow(double %re0, double %im0, double %re1, double %im1) {"));
        assert!(text.contains("define weak hidden [2 x i32] @csinf([2 x i32] %a0) {"), "{text}");
        assert!(text.contains("define weak hidden float @crealf([2 x i32] %a0) {"), "{text}");
    }
}
