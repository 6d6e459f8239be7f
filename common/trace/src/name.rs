//! Kernel symbols as a person would write them.
//!
//! clang names a target region `__omp_offloading_<device>_<file>_<function>_l<line>`
//! with an optional `_<count>`; flang does the same with its own mangling. The
//! function is shown by its qualified name without parameters or template arguments,
//! which is what tells the regions of a program apart. Kernels of C++ are shown in the same way.
//! numba's are named as if they were functions of C++, with a tag for the version of its ABI and one
//! for the compilation, by some versions in a namespace `cudapy`: they are shown as Python has them.
//! A name in any other form is shown as it is;
//! nothing is ever guessed.

use std::borrow::Cow;

/// `__omp_offloading_fe00_98c021_main_l7` as `main:7`, a mangled name as the function's; anything
/// else unchanged.
pub fn pretty(symbol: &str) -> Cow<'_, str> {
    match region(symbol) {
        Some((function, line)) => Cow::Owned(format!("{}:{line}", function_name(function))),
        None if symbol.starts_with("_Z") => function_name(symbol),
        None => Cow::Borrowed(symbol),
    }
}

/// The function and the line (with `_<count>` for a second region on it).
fn region(symbol: &str) -> Option<(&str, &str)> {
    let rest = symbol.strip_prefix("__omp_offloading_")?;
    let (device, rest) = rest.split_once('_')?;
    let (file, rest) = rest.split_once('_')?;
    let hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (function, line) = rest.rsplit_once("_l")?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = match line.split_once('_') {
        Some((line, count)) => digits(line) && digits(count),
        None => digits(line),
    };
    (hex(device) && hex(file) && !function.is_empty() && numbered).then_some((function, line))
}

fn function_name(mangled: &str) -> Cow<'_, str> {
    let readable = match mangled {
        _ if mangled.starts_with("_Z") => itanium(&mangled[2..]),
        _ if mangled.starts_with("_Q") => fortran(&mangled[2..]),
        _ => None,
    };
    readable.map_or(Cow::Borrowed(mangled), Cow::Owned)
}

/// flang: `_QQmain` is the main program, `_QPsolve` a procedure, `_QMgridFstepPinner`
/// a procedure in a procedure of a module.
fn fortran(mangled: &str) -> Option<String> {
    if let Some(special) = mangled.strip_prefix('Q') {
        return Some(special.to_owned());
    }
    let mut parts = Vec::new();
    let mut rest = mangled;
    while !rest.is_empty() {
        // Names are lower case; a capital starts the next part and says what it is.
        let (tag, tail) = rest.split_at_checked(1)?;
        if !matches!(tag, "M" | "S" | "F" | "P") {
            return None;
        }
        let end = tail.bytes().position(|byte| byte.is_ascii_uppercase()).unwrap_or(tail.len());
        parts.push(&tail[..end]);
        rest = &tail[end..];
    }
    parts.iter().all(|part| !part.is_empty()).then(|| parts.join("::"))
}

/// The qualified name at the start of an Itanium-mangled function, or `None` for
/// anything rarer than namespaces, classes, templates, constructors and lambdas.
fn itanium(mangled: &str) -> Option<String> {
    let mut parser = Itanium { rest: mangled };
    if !parser.eat("N") {
        let scope = if parser.eat("St") { "std::" } else { "" };
        return parser.component().map(|name| format!("{scope}{name}"));
    }
    // cv- and ref-qualifiers of the member function.
    while parser.eat("r") || parser.eat("V") || parser.eat("K") || parser.eat("R") || parser.eat("O") {}
    let mut parts: Vec<String> = Vec::new();
    let mut tags: Vec<String> = Vec::new();
    while !parser.eat("E") {
        if parser.eat("St") {
            parts.push("std".to_owned());
        } else if parser.eat("I") {
            parser.skip_until_end()?;
        } else if parser.eat("B") {
            tags.push(parser.identifier()?.to_owned());
        } else if parser.eat("C1") || parser.eat("C2") {
            parts.push(parts.last()?.clone());
        } else if parser.eat("D1") || parser.eat("D2") || parser.eat("D0") {
            parts.push(format!("~{}", parts.last()?));
        } else {
            parts.push(parser.component()?);
        }
    }
    let version = |tag: &String| tag.strip_prefix('v').is_some_and(|number| number.parse::<u8>().is_ok());
    if tags.len() > 1 && version(&tags[0]) {
        return python(parts.strip_prefix(&["cudapy".to_owned()]).unwrap_or(&parts));
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// The qualified name of a Python function, of which numba makes the parts of a mangled one:
/// without the module that is the program, and with what cannot be in a symbol.
fn python(parts: &[String]) -> Option<String> {
    let parts = if parts.len() > 1 && parts[0] == "__main__" { &parts[1..] } else { parts };
    (!parts.is_empty()).then(|| parts.join(".").replace("_3clocals_3e", "<locals>"))
}

struct Itanium<'a> {
    rest: &'a str,
}

impl Itanium<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A `<length><identifier>`, or a lambda's `Ul...E_`.
    fn component(&mut self) -> Option<String> {
        self.eat("L"); // internal linkage
        if self.eat("Ul") {
            self.skip_until_end()?;
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            self.rest = self.rest[digits..].strip_prefix('_')?;
            return Some("lambda".to_owned());
        }
        if self.eat("cl") {
            return Some("operator()".to_owned());
        }
        let name = self.identifier()?;
        Some(if name.starts_with("_GLOBAL__N") { "(anonymous)".to_owned() } else { name.to_owned() })
    }

    fn identifier(&mut self) -> Option<&str> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = self.rest[..digits].parse().ok()?;
        let (name, rest) = self.rest[digits..].split_at_checked(length)?;
        self.rest = rest;
        Some(name)
    }

    /// Skips encoded types up to the `E` that closes what was opened before.
    fn skip_until_end(&mut self) -> Option<()> {
        let mut depth = 1;
        while depth > 0 {
            let first = self.rest.bytes().next()?;
            match first {
                b'0'..=b'9' => {
                    self.identifier()?;
                    continue;
                }
                // Literals: a type and digits, or an external name; the digits would be
                // taken for a length.
                b'L' => {
                    let end = self.rest.find('E')?;
                    if self.rest[..end].contains("_Z") {
                        return None;
                    }
                    self.rest = &self.rest[end + 1..];
                    continue;
                }
                b'S' | b'T' => {
                    // S_, S1_, T_, T0_; or the two-letter St, Sa, Ss...
                    let digits = self.rest[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
                    let letter = self.rest.as_bytes().get(1).is_some_and(u8::is_ascii_lowercase);
                    let length = if letter { 2 } else { digits + 2 };
                    self.rest = self.rest.get(length..)?;
                    continue;
                }
                b'N' | b'I' | b'J' | b'F' | b'X' => depth += 1,
                b'E' => depth -= 1,
                _ => {}
            }
            self.rest = self.rest.get(1..)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn regions() {
        for (symbol, shown) in [
            ("__omp_offloading_fe00_98c021_main_l7", "main:7"),
            ("__omp_offloading_fe00_98c021_main_l7_1", "main:7_1"),
            ("__omp_offloading_10_2a_a_l3_b_l12", "a_l3_b:12"),
            ("__omp_offloading_10_2a__Z4axpyidPdS__l9", "axpy:9"),
            ("__omp_offloading_10_2a__ZN4heat4stepEPdi_l9", "heat::step:9"),
            ("__omp_offloading_10_2a__ZN4heat4GridIdLi3EE4stepEv_l9", "heat::Grid::step:9"),
            ("__omp_offloading_10_2a__ZNK3BoxISt6vectorIdSaIdEEE3sumEv_l9", "Box::sum:9"),
            ("__omp_offloading_10_2a__ZN12_GLOBAL__N_14stepEv_l9", "(anonymous)::step:9"),
            ("__omp_offloading_10_2a__ZN3BoxC2Ev_l9", "Box::Box:9"),
            ("__omp_offloading_10_2a__ZL4axpyv_l2", "axpy:2"),
            ("__omp_offloading_10_2a__QQmain_l5", "main:5"),
            ("__omp_offloading_10_2a__QPsolve_l5", "solve:5"),
            ("__omp_offloading_10_2a__QMgrid_dataPstep_l5", "grid_data::step:5"),
        ] {
            assert_eq!(pretty(symbol), shown, "{symbol}");
        }
    }

    #[test]
    fn kernels_of_cuda_programs() {
        let numba = "B2v1B38c8tJTIcFKzyF2ILShI4CrgQElQb6HczSBAA_3dEf5ArrayIfLi1E1C7mutable7alignedE";
        for (symbol, shown) in [
            ("_Z4axpyifPfS_", "axpy"),
            ("_Z6reduceIfLi256EEvPKT_PS0_i", "reduce"),
            ("_ZN3cub6KernelIfEEvPT_", "cub::Kernel"),
            (&*format!("_ZN6cudapy8__main__5saxpy{numba}"), "saxpy"),
            (&*format!("_ZN6cudapy5tools5saxpy{numba}"), "tools.saxpy"),
            (&*format!("_ZN8__main__5saxpy{numba}"), "saxpy"),
            (&*format!("_ZN6cudapy8__main__4test12_3clocals_3e6kernel{numba}"), "test.<locals>.kernel"),
            // Triton's and tinygrad's are as the program has them.
            ("add_kernel", "add_kernel"),
            ("main$_omp_fn$0", "main$_omp_fn$0"),
        ] {
            assert_eq!(pretty(symbol), shown, "{symbol}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for symbol in
            ["", "triad", "__omp_offloading_", "__omp_offloading_x_1_main_l7", "__omp_offloading_1_1_main_lx"]
        {
            assert_eq!(pretty(symbol), symbol);
        }
        // A mangled name beyond what is understood keeps its spelling.
        assert_eq!(pretty("__omp_offloading_1_1__ZNSt_l7"), "_ZNSt:7");
        assert_eq!(pretty("__omp_offloading_1_1__Zé9_l7"), "_Zé9:7");
        assert_eq!(pretty("__omp_offloading_1_1__ZN1aI1éE_l7"), "_ZN1aI1éE:7");
    }
}
