//! GPU code of Fortran in which functions take or return complex numbers.
//!
//! flang-22 ends there: its step that makes a target's calling convention has none of complex numbers
//! for GPUs. Even the quotient of two is such a call. Without the step functions get pairs, which
//! suits what `gangway fc` links (`xtask/src/gpu/fortran.rs`). But they get pairs of address and
//! length for text as well, where other files of the program expect them apart, and LLVM's
//! passes for OpenMP read pairs of constants from a memory that there is not. So those are taken apart
//! here, as the step would have done.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use super::{flang_text, llvm_text};
use crate::compile::GpuKind;
use crate::exit::Failure;

/// The file of flang's in which the step's messages come from.
const STEP: &str = "Optimizer/CodeGen/Target.cpp";
const NO_STEP: [&str; 2] = ["-mmlir", "-disable-target-rewrite"];
/// How LLVM ends after such a message.
const END: &str = "LLVM ERROR: aborting";

/// The type of text that is handed to a function.
const CHARACTERS: &str = "{ ptr, i64 } ";

/// What flang has said that is still true without the step; `None` if it has not failed there.
pub fn other_messages(messages: &str) -> Option<String> {
    let (of_step, others): (Vec<&str>, Vec<&str>) =
        messages.lines().partition(|line| line.contains(STEP) || *line == END);
    let failed = of_step.iter().any(|line| line.contains("not yet implemented"));
    failed.then(|| others.iter().map(|line| format!("{line}\n")).collect())
}

/// Compiles without the step.
pub fn compile(tool: &Path, arguments: &[OsString], output: &Path) -> Result<(), Failure> {
    let after = |name: &str| arguments.iter().position(|argument| argument == name).map(|at| at + 1);
    let processor = after("-target-cpu").and_then(|at| arguments.get(at)).and_then(|name| name.to_str());
    let mut arguments = arguments.to_vec();
    arguments.extend(NO_STEP.map(OsString::from));
    let edit = |text: &str| {
        let text = with_text_apart(text, processor.unwrap_or("sm_80"));
        Some(flang_text::mended(&text).unwrap_or(text))
    };
    llvm_text::recompile(tool, &arguments, output, Stdio::null(), edit).map(drop)
}

/// Functions that take addresses and lengths of text apart, the lengths behind all other arguments.
fn with_text_apart(text: &str, processor: &str) -> String {
    let mut result = String::with_capacity(text.len() + text.len() / 4);
    let mut calls = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("define ") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            define(line, &body, processor, &mut calls, &mut result);
        } else if line.starts_with("declare ") {
            result += &declaration(line).unwrap_or_else(|| line.to_owned());
            result.push('\n');
        } else {
            result += line;
            result.push('\n');
        }
    }
    result
}

/// Where the arguments of a line with a function begin and end: behind its name.
fn arguments(line: &str) -> Option<(usize, usize)> {
    let is_name = |at: &usize| {
        let name = line[..*at].rsplit(' ').next().unwrap_or("");
        name.starts_with(['@', '%'])
    };
    let open = line.match_indices('(').map(|(at, _)| at).find(is_name)?;
    let mut depth = 0;
    let close = line[open..].find(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        depth == 0
    })?;
    Some((open + 1, open + close))
}

/// The arguments of a list.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list.trim().is_empty() {
        parts.push(list[start..].trim());
    }
    parts
}

/// The list with address and length of each text as `apart` names them; `None` if there is no text in it.
fn taken_apart(list: &str, mut apart: impl FnMut(&str) -> (String, String)) -> Option<String> {
    let (mut arguments, mut lengths) = (Vec::new(), Vec::new());
    for argument in split(list) {
        match format!("{argument} ").strip_prefix(CHARACTERS) {
            Some(value) => {
                let (address, length) = apart(value.trim());
                arguments.push(format!("ptr {address}").trim_end().to_owned());
                lengths.push(format!("i64 {length}").trim_end().to_owned());
            }
            None => arguments.push(argument.to_owned()),
        }
    }
    if lengths.is_empty() {
        return None;
    }
    arguments.extend(lengths);
    Some(arguments.join(", "))
}

fn declaration(line: &str) -> Option<String> {
    let (from, to) = arguments(line)?;
    let list = taken_apart(&line[from..to], |_| (String::new(), String::new()))?;
    Some(format!("{}{list}{}", &line[..from], &line[to..]))
}

fn define(line: &str, body: &[&str], processor: &str, calls: &mut usize, result: &mut String) {
    let mut header = line.to_owned();
    let mut texts = Vec::new();
    let named = arguments(line).and_then(|(from, to)| {
        let renamed = named(&line[from..to]);
        let list = taken_apart(&renamed, |value| {
            texts.push(value.to_owned());
            (format!("{value}.address"), format!("{value}.length"))
        })?;
        let numbered = split(&line[from..to]).iter().filter(|argument| is_numbered(argument)).count();
        header = format!("{}{list}{}", &line[..from], &line[to..]);
        Some(numbered)
    });
    *result += &with_processor(&header, processor);
    result.push('\n');
    let mut body = body.iter();
    if let Some(numbered) = named {
        // The first block had the next number.
        match body.as_slice().first() {
            Some(first) if first.split(' ').next().is_some_and(|word| word.ends_with(':')) => {
                *result += &format!("{}\n", named_line(first));
                body.next();
            }
            _ => *result += &format!("v{numbered}:\n"),
        }
        for text in texts {
            *result += &format!(
                "  {text}.part = insertvalue {CHARACTERS}poison, ptr {text}.address, 0\n  \
                 {text} = insertvalue {CHARACTERS}{text}.part, i64 {text}.length, 1\n"
            );
        }
    }
    for line in body {
        let line = if named.is_some() { named_line(line) } else { (*line).to_owned() };
        *result += &call(&line, calls).unwrap_or(line);
        result.push('\n');
    }
    *result += "}\n";
}

/// `ptr noalias %3`: LLVM counts these, and would count otherwise with fewer of them.
fn is_numbered(argument: &str) -> bool {
    argument.rsplit(' ').next().and_then(|name| name.strip_prefix('%')).is_some_and(starts_with_digit)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// A line of a function with names instead of the numbers of values and blocks.
fn named_line(line: &str) -> String {
    let label = if starts_with_digit(line) && line.contains(':') { "v" } else { "" };
    label.to_owned() + &named(line)
}

fn named(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 8);
    let mut parts = text.split('%');
    result += parts.next().unwrap_or("");
    for part in parts {
        result += if starts_with_digit(part) { "%v" } else { "%" };
        result += part;
    }
    result
}

/// A call with text among its arguments.
fn call(line: &str, calls: &mut usize) -> Option<String> {
    let at = line.find("call ").filter(|at| line[..*at].ends_with([' ', '=']))?;
    let (from, to) = arguments(&line[at..]).map(|(from, to)| (from + at, to + at))?;
    let mut before = String::new();
    let list = taken_apart(&line[from..to], |value| {
        *calls += 1;
        let (address, length) = (format!("%text.{calls}.address"), format!("%text.{calls}.length"));
        before += &format!(
            "  {address} = extractvalue {CHARACTERS}{value}, 0\n  \
             {length} = extractvalue {CHARACTERS}{value}, 1\n"
        );
        (address, length)
    })?;
    Some(format!("{before}{}{list}{}", &line[..from], &line[to..]))
}

/// The step would also have said for what processor a function is; LLVM inlines only what is for the same.
fn with_processor(line: &str, processor: &str) -> String {
    let Some((_, close)) = arguments(line) else { return line.to_owned() };
    let mut at = close + 1;
    for word in [" unnamed_addr", " local_unnamed_addr"] {
        if line[at..].starts_with(word) {
            at += word.len();
        }
    }
    // NVIDIA's processors are features, too.
    let features = match GpuKind::of_processor(processor) {
        Some(GpuKind::Nvidia) => format!(" \"target-features\"=\"+{processor}\""),
        _ => String::new(),
    };
    format!("{} \"target-cpu\"=\"{processor}\"{features}{}", &line[..at], &line[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_known_by_its_file() {
        let warning = "a.f90:3: warning: portability\n";
        let step = "loc(\"a.f90\":6:2): error: flang/lib/Optimizer/CodeGen/Target.cpp:1501: not yet \
                    implemented: handle complex return types\nLLVM ERROR: aborting\n";
        assert_eq!(other_messages(&format!("{warning}{step}")), Some(warning.to_owned()));
        let other = step.replace("CodeGen/Target", "CodeGen/CodeGen");
        assert_eq!(other_messages(&other), None);
    }

    #[test]
    fn text_is_address_and_length() {
        let code = "\
declare i32 @other({ ptr, i64 }, ptr)
define { ptr, i64 } @f(ptr noalias %0, { ptr, i64 } %1, i64 %2) #1 {
  %4 = extractvalue { ptr, i64 } %1, 1
  br label %5

5:                                                ; preds = %3
  %6 = phi i64 [ %4, %3 ]
  %7 = call i32 @other({ ptr, i64 } { ptr @text, i64 3 }, ptr %0)
  ret { ptr, i64 } %1
}
";
        let expected = "\
declare i32 @other(ptr, ptr, i64)
define { ptr, i64 } @f(ptr noalias %v0, ptr %v1.address, i64 %v2, i64 %v1.length) \
\"target-cpu\"=\"sm_90\" \"target-features\"=\"+sm_90\" #1 {
v3:
  %v1.part = insertvalue { ptr, i64 } poison, ptr %v1.address, 0
  %v1 = insertvalue { ptr, i64 } %v1.part, i64 %v1.length, 1
  %v4 = extractvalue { ptr, i64 } %v1, 1
  br label %v5

v5:                                                ; preds = %v3
  %v6 = phi i64 [ %v4, %v3 ]
  %text.1.address = extractvalue { ptr, i64 } { ptr @text, i64 3 }, 0
  %text.1.length = extractvalue { ptr, i64 } { ptr @text, i64 3 }, 1
  %v7 = call i32 @other(ptr %text.1.address, ptr %v0, i64 %text.1.length)
  ret { ptr, i64 } %v1
}
";
        assert_eq!(with_text_apart(code, "sm_90"), expected);
    }

    #[test]
    fn other_functions_keep_their_numbers() {
        let code = "\
define void @f(ptr %0) {
  %2 = call { double, double } @cexp({ double, double } %1)
  ret void
}
";
        let expected = code.replace("%0) {", "%0) \"target-cpu\"=\"sm_80\" \"target-features\"=\"+sm_80\" {");
        assert_eq!(with_text_apart(code, "sm_80"), expected);
        let expected = code.replace("%0) {", "%0) \"target-cpu\"=\"gfx90a\" {");
        assert_eq!(with_text_apart(code, "gfx90a"), expected);
    }
}
