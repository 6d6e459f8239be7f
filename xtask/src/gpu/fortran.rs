//! What `gangway fc` links into each unit of GPU code before it is optimised: functions of complex numbers
//! under the names that flang-22 calls.
//!
//! flang does not know how a GPU's functions are handed complex numbers, and leaves them pairs. The
//! archive has these functions with numbers apart (`device/gpu/maths/src/complex/fortran.rs`), and
//! under C's names with what clang hands them. For AMD's GPUs flang calls most of them by the names of
//! ROCm's library, which has pairs as well.

use std::fmt::Write;

use super::ir;

/// The file's name, in the folder of the kind of GPU.
pub const FILE: &str = "fortran.bc";

/// Functions of one complex number.
pub const COMPLEX: [&str; 15] = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "sin", "sinh", "sqrt",
    "tan", "tanh",
];

pub const REAL: [&str; 2] = ["abs", "arg"];

pub fn text(kind: ir::Kind) -> String {
    // Without a name of its own the module has that of its file, and so a folder of this machine.
    let mut text = String::from("source_filename = \"fortran\"\n");
    text.push_str(kind.target());
    for (float, bits, c_suffix, letter) in [("double", "f64", "", 'z'), ("float", "f32", "f", 'c')] {
        let pair = format!("{{ {float}, {float} }}");
        let of_one =
            COMPLEX.map(|name| (name, pair.as_str())).into_iter().chain(REAL.map(|name| (name, float)));
        for (name, result) in of_one {
            let own = format!("c{name}{c_suffix}");
            wrap(&mut text, float, result, &own, &own, &[&pair]);
            if kind == ir::Kind::Amdgcn {
                wrap(&mut text, float, result, &format!("__ocml_c{name}_{bits}"), &own, &[&pair]);
            }
        }
        let power = format!("cpow{c_suffix}");
        wrap(&mut text, float, &pair, &power, &power, &[&pair, &pair]);
        for (integer, kind) in [("i32", 'i'), ("i64", 'k')] {
            let power = format!("{letter}pow{kind}");
            wrap(&mut text, float, &pair, &format!("_FortranA{power}"), &power, &[&pair, integer]);
        }
    }
    text
}

/// Writes a function that takes pairs, and calls the archive's with their numbers.
fn wrap(text: &mut String, float: &str, result: &str, name: &str, own: &str, arguments: &[&str]) {
    let mut body = String::new();
    let (mut outer, mut inner, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for (place, kind) in arguments.iter().enumerate() {
        outer.push(format!("{kind} %a{place}"));
        if !kind.starts_with('{') {
            inner.push(format!("{kind} %a{place}"));
            types.push(*kind);
            continue;
        }
        for part in 0..2 {
            let _ = writeln!(body, "  %a{place}.{part} = extractvalue {kind} %a{place}, {part}");
            inner.push(format!("{float} %a{place}.{part}"));
            types.push(float);
        }
    }
    let (outer, inner, types) = (outer.join(", "), inner.join(", "), types.join(", "));
    let declaration = format!("\ndeclare {result} @__gangway_{own}({types})\n");
    if !text.contains(&declaration) {
        text.push_str(&declaration);
    }
    let _ = write!(
        text,
        "\n\
         define {result} @{name}({outer}) alwaysinline {{\n{body}  \
         %result = call {result} @__gangway_{own}({inner})\n  ret {result} %result\n}}\n"
    );
}

#[cfg(test)]
mod tests {
    #[test]
    fn pairs_are_taken_apart() {
        let text = super::text(super::ir::Kind::Nvptx);
        let expected = "
declare { float, float } @__gangway_cpowi(float, float, i32)

define { float, float } @_FortranAcpowi({ float, float } %a0, i32 %a1) alwaysinline {
  %a0.0 = extractvalue { float, float } %a0, 0
  %a0.1 = extractvalue { float, float } %a0, 1
  %result = call { float, float } @__gangway_cpowi(float %a0.0, float %a0.1, i32 %a1)
  ret { float, float } %result
}
";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("define double @cabs({ double, double } %a0) alwaysinline {"), "{text}");
        assert!(!text.contains("__ocml"), "{text}");
    }

    #[test]
    fn rocm_has_the_functions_under_other_names() {
        let text = super::text(super::ir::Kind::Amdgcn);
        for head in [
            "define double @cabs({ double, double } %a0)",
            "define double @__ocml_cabs_f64({ double, double } %a0)",
            "define { float, float } @__ocml_ctanh_f32({ float, float } %a0)",
        ] {
            assert!(text.contains(head), "{head}\n{text}");
        }
        assert_eq!(text.matches("declare double @__gangway_cabs(").count(), 1, "{text}");
    }
}
