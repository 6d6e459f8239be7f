//! `long double` of templates in GPU code, as in `std::uniform_real_distribution`.
//!
//! clang refuses the type in a GPU's code, but lets it pass in functions of templates, whose text then has the host's
//! `x86_fp80`, of which LLVM dies. Numbers that are a function's own are as good as doubles. So they become that,
//! and functions of `math.h` those of doubles. Where a number may stand in memory that the host sees, in a
//! structure or behind a pointer, nothing is done: its size would not be the host's.

use std::collections::HashSet;

const TYPE: &str = "x86_fp80";
/// A literal, up to LLVM 22 and from 23 on, before its twenty digits.
const LITERALS: [&str; 2] = ["0xK", "f0x"];
const DIGITS: usize = 20;

/// What may be done with such a number, but for `alloca`, `load` and `store`.
const INSTRUCTIONS: [&str; 16] = [
    "call", "fadd", "fcmp", "fdiv", "fmul", "fneg", "fpext", "fptosi", "fptoui", "fptrunc", "frem", "fsub",
    "phi", "select", "sitofp", "uitofp",
];

/// Functions of `math.h` of one and of two numbers, without the last letter.
const FUNCTIONS: [(&[&str], usize); 2] = [
    (
        &[
            "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
            "exp2", "expm1", "lgamma", "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh",
            "tgamma",
        ],
        1,
    ),
    (&["atan2", "fmod", "hypot", "pow", "remainder"], 2),
];

/// The text with doubles; `None` if it has no such numbers, or some that have to stay.
pub fn mended(text: &str) -> Option<String> {
    if !text.contains(TYPE) {
        return None;
    }
    let mut result = String::with_capacity(text.len());
    let mut names = HashSet::new();
    let mut own = HashSet::new();
    for line in text.lines() {
        if line.starts_with("define ") {
            own.clear();
        }
        let changed = if line.starts_with(' ') {
            instruction(line, &mut own)?
        } else if !line.contains(TYPE) || line.starts_with("define ") {
            with_doubles(line)
        } else if line.starts_with("declare ") {
            declaration(line, text, &mut names)?
        } else {
            return None;
        };
        result.push_str(&changed);
        result.push('\n');
    }
    Some(result)
}

/// An instruction with doubles; `None` if its number may be seen by others. `own` has the addresses of the function's
/// own numbers.
fn instruction<'a>(line: &'a str, own: &mut HashSet<&'a str>) -> Option<String> {
    let (name, operation) = line.trim_start().split_once(" = ").unwrap_or(("", line.trim_start()));
    let is_there = line.contains(TYPE);
    let word = operation.split(' ').next()?;
    match word {
        "alloca" if is_there => {
            own.insert(name);
            // As much room as before: the ABI takes results out of it in two words.
            return operation.starts_with("alloca x86_fp80, ").then(|| line.replace(TYPE, "[2 x double]"));
        }
        "addrspacecast" if operation.split(' ').any(|operand| own.contains(operand)) => {
            own.insert(name);
        }
        "call" if operation.contains("ptr @__kmpc_alloc_shared(i64 16)") => {
            own.insert(name);
        }
        "load" | "store" if is_there => {
            let address = operation.split(", ptr ").nth(1)?.trim_start_matches("addrspace(5) ");
            return own.contains(address.split(',').next()?).then(|| with_doubles(line));
        }
        // What `printf` gets is read as the host's.
        "call" if is_there && operation.contains("...") => return None,
        "fpext" | "fptrunc" if is_there => {
            let (before, after) = operation.split_once(" to ")?;
            let (types, value) = before.rsplit_once(' ')?;
            if types.ends_with(" double") || after.starts_with("double") {
                let place = after.find(',').map_or("", |at| &after[at..]);
                return Some(format!("  {name} = bitcast double {value} to double{place}"));
            }
        }
        "ret" => {}
        _ if is_there && !INSTRUCTIONS.contains(&word) => return None,
        _ => {}
    }
    Some(with_doubles(line))
}

/// A declaration with doubles, or the definition of a function of `math.h` by the one of doubles.
fn declaration<'a>(line: &'a str, text: &str, names: &mut HashSet<&'a str>) -> Option<String> {
    let (head, rest) = line.split_once('@')?;
    let name = rest.split('(').next()?;
    if name.starts_with("llvm.") {
        let is_declared = text.contains(&format!("@{}(", name.replace("f80", "f64")));
        return Some(if is_declared { String::new() } else { with_doubles(line) });
    }
    let of_doubles = name.strip_suffix('l')?;
    let (_, arguments) = FUNCTIONS.iter().find(|(names, _)| names.contains(&of_doubles))?;
    let is_declared = text.contains(&format!(" @{of_doubles}(")) || !names.insert(name);
    let list = |form: fn(usize) -> String| (0..*arguments).map(form).collect::<Vec<_>>().join(", ");
    let types = list(|_| "double".to_owned());
    let values = list(|place| format!("double %a{place}"));
    let declared =
        if is_declared { String::new() } else { format!("declare double @{of_doubles}({types})\n") };
    let is_pair = head.contains("[2 x i64]");
    let (result, end) = if is_pair {
        let words = "  %word = bitcast double %result to i64\n  \
                     %words = insertvalue [2 x i64] zeroinitializer, i64 %word, 0\n  ret [2 x i64] %words";
        ("[2 x i64]", words)
    } else {
        ("double", "  ret double %result")
    };
    Some(format!(
        "{declared}define internal {result} @{name}({values}) alwaysinline {{\n  \
         %result = call double @{of_doubles}({values})\n{end}\n}}"
    ))
}

fn with_doubles(line: &str) -> String {
    if !line.contains(TYPE) {
        return line.to_owned();
    }
    let mut rest = line.replace(TYPE, "double").replace(".f80", ".f64");
    let mut result = String::new();
    while let Some((at, length)) = literal(&rest) {
        let digits = &rest[at + length..at + length + DIGITS];
        let number = u128::from_str_radix(digits, 16).map_or(f64::NAN, double);
        result += &format!("{}0x{:016X}", &rest[..at], number.to_bits());
        rest.drain(..at + length + DIGITS);
    }
    result + &rest
}

/// Where the first literal begins, and how long what stands before its digits is.
fn literal(text: &str) -> Option<(usize, usize)> {
    LITERALS.iter().find_map(|start| {
        let at = text.find(start)?;
        let digits = text.get(at + start.len()..at + start.len() + DIGITS)?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some((at, start.len()))
    })
}

/// Of sign, exponent and digits of the host's `long double`.
fn double(bits: u128) -> f64 {
    const BIAS: i32 = 0x3fff;
    let exponent = (bits >> 64) as i32 & 0x7fff;
    let digits = bits as u64;
    let size = if exponent == 0x7fff {
        if digits << 1 == 0 { f64::INFINITY } else { f64::NAN }
    } else {
        // In two steps, as the number is up to 64 binary digits from its exponent.
        digits as f64 * 2f64.powi(-63) * 2f64.powi(exponent - BIAS)
    };
    if bits >> 79 & 1 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_function_become_doubles() {
        let given = "define linkonce_odr [2 x i64] @_ZSt3loge(x86_fp80 noundef %x) #5 {\n  \
                     %retval = alloca x86_fp80, align 16\n  %x.addr = alloca x86_fp80, align 16, addrspace(5)\n  \
                     %x.ascast = addrspacecast ptr addrspace(5) %x.addr to ptr\n  \
                     store x86_fp80 %x, ptr %x.ascast, align 16, !tbaa !3\n  \
                     %0 = load x86_fp80, ptr %x.ascast, align 16\n  \
                     %add = fadd x86_fp80 %0, 0xK3FFF8000000000000000, !dbg !9\n  \
                     %call = call [2 x i64] @logl(x86_fp80 noundef %add) #6\n  \
                     %wide = fpext fast double %d to x86_fp80, !dbg !9\n  %f = fptrunc x86_fp80 %wide to float\n  \
                     %1 = load [2 x i64], ptr %retval, align 16\n  ret [2 x i64] %1\n}\n\
                     declare [2 x i64] @logl(x86_fp80 noundef) #17\n";
        let expected = "define linkonce_odr [2 x i64] @_ZSt3loge(double noundef %x) #5 {\n  \
                     %retval = alloca [2 x double], align 16\n  %x.addr = alloca [2 x double], align 16, addrspace(5)\n  \
                     %x.ascast = addrspacecast ptr addrspace(5) %x.addr to ptr\n  \
                     store double %x, ptr %x.ascast, align 16, !tbaa !3\n  \
                     %0 = load double, ptr %x.ascast, align 16\n  \
                     %add = fadd double %0, 0x3FF0000000000000, !dbg !9\n  \
                     %call = call [2 x i64] @logl(double noundef %add) #6\n  \
                     %wide = bitcast double %d to double, !dbg !9\n  %f = fptrunc double %wide to float\n  \
                     %1 = load [2 x i64], ptr %retval, align 16\n  ret [2 x i64] %1\n}\n\
                     declare double @log(double)\n\
                     define internal [2 x i64] @logl(double %a0) alwaysinline {\n  \
                     %result = call double @log(double %a0)\n  %word = bitcast double %result to i64\n  \
                     %words = insertvalue [2 x i64] zeroinitializer, i64 %word, 0\n  ret [2 x i64] %words\n}\n";
        assert_eq!(mended(given).as_deref(), Some(expected));
    }

    #[test]
    fn functions_are_declared_once() {
        let text = "declare double @pow(double, double)\ndeclare x86_fp80 @powl(x86_fp80, x86_fp80)\n\
                    declare x86_fp80 @llvm.fabs.f80(x86_fp80)\ndeclare double @llvm.fabs.f64(double)\n";
        let mended = mended(text).unwrap();
        assert_eq!(mended.matches("declare double @pow(").count(), 1, "{mended}");
        assert_eq!(mended.matches("@llvm.fabs.f64(").count(), 1, "{mended}");
        assert!(mended.contains("define internal double @powl(double %a0, double %a1)"), "{mended}");
    }

    #[test]
    fn what_others_see_stays() {
        for text in [
            "define void @f(ptr %p) {\n  %0 = load x86_fp80, ptr %p, align 16\n}\n",
            "define void @f(ptr %p) {\n  store x86_fp80 0xK3FFF8000000000000000, ptr %p, align 16\n}\n",
            "%struct.s = type { x86_fp80 }\n",
            "@x = global x86_fp80 0xK00000000000000000000\n",
            "define void @f() {\n  %p = getelementptr x86_fp80, ptr %q, i64 1\n}\n",
            "define void @f() {\n  %a = alloca [4 x x86_fp80], align 16\n}\n",
            "define void @f() {\n  %c = call i32 (ptr, ...) @printf(ptr @s, x86_fp80 0xK3FFF8000000000000000)\n}\n",
            "declare x86_fp80 @other(x86_fp80)\n",
            "define double @f(double %x) {\n  ret double %x\n}\n",
        ] {
            assert_eq!(mended(text), None, "{text}");
        }
    }

    #[test]
    fn literals_have_their_values() {
        for (digits, value) in [
            ("3FFF8000000000000000", 1.0),
            ("C000A000000000000000", -2.5),
            ("403EFFFFFFFFFFFFFFFF", 18_446_744_073_709_551_616.0),
            ("00000000000000000000", 0.0),
            ("7FFF8000000000000000", f64::INFINITY),
        ] {
            for start in LITERALS {
                let line = with_doubles(&format!("  ret x86_fp80 {start}{digits}, !dbg !1"));
                assert_eq!(line, format!("  ret double 0x{:016X}, !dbg !1", value.to_bits()));
            }
        }
    }
}
