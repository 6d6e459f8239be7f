//! Edits of LLVM's text for the device runtime: what Rust cannot say about code for a GPU.

use std::collections::BTreeSet;

/// The section that marks a static of the crate as shared memory of a block.
const SHARED_SECTION: &str = ", section \".gangway.shared\"";

/// The name of the memory whose size a launch says.
const DYNAMIC_SHARED: &str = "__gangway_dynamic_shared";

/// Prefix of the names that Rust gives to what is not exported.
const MANGLED: &str = "_R";

/// The edits before the optimiser runs.
pub fn prepare(text: &str) -> String {
    let shared = shared_names(text);
    let mut output = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        let line = place_in_shared_memory(line, &shared);
        let line = mark_indirect_calls(&line);
        output.push_str(&without_processor(&line));
        output.push('\n');
    }
    with_openmp_flags(&output)
}

/// The edits after it: functions that the compiler of the program is to recognise by name stayed
/// whole until now, and what is exported is for the image alone.
pub fn finish(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for line in text.lines() {
        output.push_str(&hide(line));
        output.push('\n');
    }
    output
}

/// The names of functions and variables that programs may refer to.
pub fn exports(text: &str) -> Vec<&str> {
    let defined = |line: &&str| {
        let function = line.starts_with("define ") && !line.starts_with("define internal ");
        let variable = line.starts_with('@')
            && !["internal", "private", "external"]
                .iter()
                .any(|linkage| line.split_once(" = ").is_some_and(|(_, rest)| rest.starts_with(linkage)));
        function || variable
    };
    text.lines()
        .filter(defined)
        .filter_map(first_name)
        .filter(|name| !name.starts_with(MANGLED) && !name.starts_with("llvm."))
        .collect()
}

fn first_name(line: &str) -> Option<&str> {
    let rest = &line[line.find('@')? + 1..];
    let end = rest.find(|letter: char| !is_name(letter))?;
    Some(&rest[..end])
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_.$-".contains(letter)
}

/// The variables that are to be in shared memory.
fn shared_names(text: &str) -> BTreeSet<&str> {
    let dynamic = format!("@{DYNAMIC_SHARED} = ");
    text.lines()
        .filter(|line| line.contains(SHARED_SECTION) || line.starts_with(&dynamic))
        .filter_map(|line| line.strip_prefix('@')?.split_once(" = ").map(|(name, _)| name))
        .collect()
}

/// Rust has no address spaces: a marked static moves to the third one, and where it is used its
/// address is converted. LLVM's passes take the conversion away again.
fn place_in_shared_memory(line: &str, shared: &BTreeSet<&str>) -> String {
    if let Some((name, rest)) = line.split_once(" = ")
        && name.strip_prefix('@').is_some_and(|name| shared.contains(name))
    {
        if name == format!("@{DYNAMIC_SHARED}") {
            return format!("{name} = external addrspace(3) global [0 x i8], align 16");
        }
        let rest = rest.replacen(" global ", " addrspace(3) global ", 1);
        return format!("{name} = {}", rest.replacen(SHARED_SECTION, "", 1));
    }
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("ptr @") {
        let after = &rest[at + "ptr @".len()..];
        let end = after.find(|letter: char| !is_name(letter)).unwrap_or(after.len());
        output.push_str(&rest[..at]);
        if shared.contains(&after[..end]) {
            let name = &after[..end];
            output.push_str(&format!("ptr addrspacecast (ptr addrspace(3) @{name} to ptr)"));
        } else {
            output.push_str(&rest[at..at + "ptr @".len() + end]);
        }
        rest = &after[end..];
    }
    output + rest
}

/// A call through a pointer may reach a barrier. Rust marks functions as convergent, but not these
/// calls, and LLVM would move them into branches that threads of a warp take apart.
fn mark_indirect_calls(line: &str) -> String {
    let Some(call) = line.find("call ") else { return line.to_owned() };
    let body = &line[call..];
    let Some(open) = body.find('(').map(|at| call + at) else { return line.to_owned() };
    // The callee is the last word before its arguments; attributes may have parentheses, too.
    let mut open = open;
    loop {
        let callee = line[..open].rsplit([' ', '*']).next().unwrap_or("");
        if callee.starts_with('@') || callee == "asm" {
            return line.to_owned();
        }
        if callee.starts_with('%') {
            break;
        }
        let Some(next) = line[open + 1..].find('(') else { return line.to_owned() };
        open += 1 + next;
    }
    let mut depth = 0;
    for (at, letter) in line[open..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let end = open + at + 1;
            return format!("{} convergent{}", &line[..end], &line[end..]);
        }
    }
    line.to_owned()
}

/// Takes the processor off an attribute group: clang inlines a function only where the program's
/// own has all of its features.
fn without_processor(line: &str) -> String {
    let mut line = line.to_owned();
    if line.starts_with("attributes #") {
        for key in [" \"target-cpu\"=\"", " \"target-features\"=\""] {
            if let Some(at) = line.find(key) {
                let end = line[at + key.len()..].find('"').map_or(line.len(), |end| at + key.len() + end + 1);
                line.replace_range(at..end, "");
            }
        }
    }
    line
}

/// Hidden: the image is where the function ends, and what it does not use is left out.
fn hide(line: &str) -> String {
    let Some(rest) = line.strip_prefix("define ") else { return line.to_owned() };
    let visible =
        !["internal ", "hidden ", "private ", "weak hidden "].iter().any(|word| rest.starts_with(word));
    match rest.strip_prefix("weak ") {
        _ if !visible => line.to_owned(),
        Some(rest) => format!("define weak hidden {rest}"),
        None => format!("define hidden {rest}"),
    }
}

/// The flags by which LLVM's passes for OpenMP know device code of a version of OpenMP.
fn with_openmp_flags(text: &str) -> String {
    let numbers =
        text.lines().filter_map(|line| line.strip_prefix('!')?.split_once(" = ")?.0.parse::<u32>().ok());
    let next = numbers.max().map_or(0, |last| last + 1);
    let flags = format!(
        "!{next} = !{{i32 7, !\"openmp\", i32 51}}\n!{} = !{{i32 7, !\"openmp-device\", i32 51}}\n",
        next + 1
    );
    let marked = format!("!llvm.module.flags = !{{!{next}, !{}, ", next + 1);
    text.replacen("!llvm.module.flags = !{", &marked, 1) + &flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_statics_move_to_address_space_three() {
        let text = "\
@_RA = internal global [8 x i8] undef, section \".gangway.shared\", align 4
@_RAB = internal global [8 x i8] undef, align 4
  store i32 5, ptr @_RA, align 4
  %1 = getelementptr i8, ptr @_RAB, i64 4
  store ptr @_RA, ptr @_RAB
";
        let edited = prepare(text);
        let lines: Vec<&str> = edited.lines().collect();
        assert_eq!(lines[0], "@_RA = internal addrspace(3) global [8 x i8] undef, align 4");
        assert_eq!(lines[1], "@_RAB = internal global [8 x i8] undef, align 4");
        assert_eq!(lines[2], "  store i32 5, ptr addrspacecast (ptr addrspace(3) @_RA to ptr), align 4");
        assert_eq!(lines[3], "  %1 = getelementptr i8, ptr @_RAB, i64 4");
        assert_eq!(lines[4], "  store ptr addrspacecast (ptr addrspace(3) @_RA to ptr), ptr @_RAB");
    }

    #[test]
    fn calls_through_pointers_are_convergent() {
        let cases = [
            ("  call void %0(i32 noundef %14) #6", "  call void %0(i32 noundef %14) convergent #6"),
            ("  tail call void %f()", "  tail call void %f() convergent"),
            (
                "  %1 = call range(i32 0, 4) i32 %g(ptr byval(i8) %2)",
                "  %1 = call range(i32 0, 4) i32 %g(ptr byval(i8) %2) convergent",
            ),
            ("  call void @direct(ptr %f)", "  call void @direct(ptr %f)"),
            (
                "  %2 = call range(i32 0, 4) i32 @direct(i32 %1)",
                "  %2 = call range(i32 0, 4) i32 @direct(i32 %1)",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(mark_indirect_calls(line), expected);
        }
    }

    #[test]
    fn processors_are_taken_off() {
        let line = "attributes #0 = { convergent nounwind \"target-cpu\"=\"sm_30\" }";
        assert_eq!(without_processor(line), "attributes #0 = { convergent nounwind }");
    }

    #[test]
    fn exported_names_are_found() {
        let text = "\
@__omp_rtl_debug_kind = weak constant i32 0
@_RX = internal global i8 0
define void @__kmpc_target_deinit() {
define hidden void @_RNvThing(ptr %0) {
define internal void @inner() {
declare void @other()
";
        assert_eq!(exports(text), ["__omp_rtl_debug_kind", "__kmpc_target_deinit"]);
    }

    #[test]
    fn exported_functions_are_hidden_from_outside_the_image() {
        assert_eq!(hide("define void @f() {"), "define hidden void @f() {");
        assert_eq!(
            hide("define weak double @sin(double %0) {"),
            "define weak hidden double @sin(double %0) {"
        );
        assert_eq!(hide("define internal void @f() {"), "define internal void @f() {");
        assert_eq!(hide("declare void @f()"), "declare void @f()");
    }

    #[test]
    fn flags_for_openmp_are_added() {
        let edited = prepare("!llvm.module.flags = !{!0}\n!0 = !{i32 8, !\"PIC Level\", i32 2}\n");
        assert!(edited.contains("!llvm.module.flags = !{!1, !2, !0}"), "{edited}");
        assert!(edited.contains("!2 = !{i32 7, !\"openmp-device\", i32 51}"), "{edited}");
    }
}
