//! Where Fortran's code calls functions of flang's run time that GPU code lacks.
//!
//! Most of these functions get the source's name and the line, for messages of their own. The name is a constant
//! that flang calls by its letters, and the line a number, so both stand in the PTX.

use std::collections::BTreeSet;

/// What flang's functions begin with.
pub const PREFIX: &str = "_FortranA";
/// What flang's constant texts are called, before their bytes in hexadecimal digits.
const TEXT: &str = "_QQclX";
/// Lines before a call in which its parameters are stored.
const PARAMETERS: usize = 64;

/// The places of the calls of a function in a PTX text, as `file:line`.
pub fn places(text: &str, function: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let calls = |line: &&str| line.starts_with("call") && line.contains(&format!(" {function},"));
    let numbers = lines.iter().enumerate().filter(|(_, line)| calls(line)).map(|(number, _)| number);
    numbers.filter_map(|number| place(&lines[..number])).collect()
}

/// The place of the call behind these lines: the parameter behind the one with the source's name is the line.
fn place(before: &[&str]) -> Option<String> {
    let stored: Vec<(u32, &str)> = before
        .iter()
        .rev()
        .take(PARAMETERS)
        .take_while(|line| !line.starts_with('{'))
        .filter_map(|line| {
            let (parameter, value) =
                line.strip_prefix("st.param.b")?.split_once("[param")?.1.split_once("], ")?;
            Some((parameter.parse().ok()?, value.strip_suffix(';')?))
        })
        .collect();
    stored.iter().find_map(|&(parameter, register)| {
        let name = text_in(before, register)?;
        let (_, line) = stored.iter().find(|(other, _)| *other == parameter + 1)?;
        let line: u32 = line.parse().ok()?;
        Some(format!("{name}:{line}"))
    })
}

/// The constant text whose address a register has.
fn text_in(before: &[&str], register: &str) -> Option<String> {
    let mut register = register;
    // The generic address of an address.
    for _ in 0..2 {
        let is_set = |line: &&&str| {
            let words = ["mov.b64", "mov.u64", "cvta.global.u64"];
            let rest = words.into_iter().find_map(|word| line.strip_prefix(word));
            rest.and_then(|rest| rest.trim_start().strip_prefix(register))
                .is_some_and(|rest| rest.starts_with(','))
        };
        let source = before.iter().rev().find(is_set)?.split_once(", ")?.1.strip_suffix(';')?;
        if let Some(digits) = source.strip_prefix(TEXT) {
            return decoded(digits);
        }
        register = source;
    }
    None
}

/// Letters, and a zero byte.
fn decoded(digits: &str) -> Option<String> {
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    let mut bytes = bytes?;
    if bytes.pop() != Some(0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As LLVM prints it: the second call uses the name's address again.
    const CODE: &str = "\t{ // callseq 0, 0\n\
        \t.param .b64 \tparam0;\n\
        \tmov.b64 \t%rd4, _QQclX612F722E66393000;\n\
        \tcvta.global.u64 \t%rd5, %rd4;\n\
        \tst.param.b64 \t[param1], %rd5;\n\
        \tst.param.b64 \t[param0], %rd3;\n\
        \tst.param.b32 \t[param2], 7;\n\
        \tcall.uni _FortranARandomNumber, (param0, param1, param2);\n\
        \t} // callseq 0\n\
        \t{ // callseq 1, 0\n\
        \tst.param.b64 \t[param1], %rd5;\n\
        \tst.param.b64 \t[param0], %rd3;\n\
        \tst.param.b32 \t[param2], 9;\n\
        \tcall.uni _FortranARandomNumber, (param0, param1, param2);\n\
        \t} // callseq 1\n\
        \t{ // callseq 2, 0\n\
        \tst.param.b64 \t[param0], %rd3;\n\
        \tst.param.b32 \t[param1], %r1;\n\
        \tcall.uni _FortranANameless, (param0, param1);\n\
        \t}";

    #[test]
    fn calls_are_found_with_their_lines() {
        let found: Vec<String> = places(CODE, "_FortranARandomNumber").into_iter().collect();
        assert_eq!(found, ["a/r.f90:7", "a/r.f90:9"]);
        assert!(places(CODE, "_FortranANameless").is_empty());
        assert!(places(CODE, "_FortranARandom").is_empty());
        assert!(places("call _FortranARandomNumber, ();", "_FortranARandomNumber").is_empty());
    }

    #[test]
    fn texts_are_decoded() {
        assert_eq!(decoded("6100").as_deref(), Some("a"));
        for wrong in ["", "61", "6", "xx00", "ff00"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
