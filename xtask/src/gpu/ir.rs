//! Edits of LLVM's text for the device runtime: what Rust cannot say about code for a GPU.

use std::collections::{BTreeMap, BTreeSet};

/// The kind of GPU that a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nvptx,
    Amdgcn,
}

impl Kind {
    /// What stands before the name of a variable in global memory, and behind it where it is declared.
    const fn global_space(self) -> &'static str {
        match self {
            Self::Nvptx => "",
            Self::Amdgcn => "addrspace(1) ",
        }
    }

    /// The lines of a module that say what it is for.
    pub const fn target(self) -> &'static str {
        match self {
            Self::Nvptx => {
                "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n\
                 target triple = \"nvptx64-nvidia-cuda\"\n"
            }
            Self::Amdgcn => {
                "target datalayout = \"e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-\
                 p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-\
                 v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9\"\n\
                 target triple = \"amdgcn-amd-amdhsa\"\n"
            }
        }
    }
}

/// The section that marks a static of the crate as shared memory of a block.
const SHARED_SECTION: &str = ", section \".gangway.shared\"";

/// The section of functions that are inlined into programs, but whole while the runtime is optimised.
const INLINE_SECTION: &str = " section \".gangway.inline\"";

/// The section of functions that stay calls.
const CALL_SECTION: &str = " section \".gangway.call\"";

/// The sections of functions whose arguments are complex numbers, and the numbers' types.
const COMPLEX_SECTIONS: [(&str, &str); 2] = [
    (" section \".gangway.complex.double\"", "ptr byval({ double, double }) align 8"),
    (" section \".gangway.complex.float\"", "ptr byval({ float, float }) align 4"),
];

/// Constants that the program may define itself.
const COMPILER_CONSTANTS: &str = "__omp_rtl_";

/// The variable that the host writes, which it finds by its name in the image.
const DEVICE_ENVIRONMENT: &str = "__omp_rtl_device_environment";

/// The name of the memory whose size a launch says.
const DYNAMIC_SHARED: &str = "__gangway_dynamic_shared";

/// The functions that order memory, and between whom.
const FENCES: [(&str, &str); 3] = [
    ("@__gangway_fence_wave(", "wavefront"),
    ("@__gangway_fence_block(", "workgroup"),
    ("@__gangway_fence_device(", "agent"),
];

/// The function that answers where the implicit arguments of a kernel of AMD's stand.
const IMPLICIT_ARGUMENTS: &str = "@__gangway_implicit_arguments(";

/// The function that hides where a pointer comes from.
const OPAQUE: &str = "@__gangway_opaque(";

/// The function that reads a number of another type than was written.
const LOW_BYTE: &str = "@__gangway_low_byte(";

/// The function that stands in for the driver's `vprintf` in images that have it, and the driver's
/// in its own member.
const OWN_VPRINTF: &str = "@__gangway_vprintf(";
const DRIVER_VPRINTF: &str = "@__gangway_driver_vprintf(";

/// The C library's variables, which the image alone refers to.
const C_VARIABLES: [&str; 3] = ["@stdin = ", "@stdout = ", "@stderr = "];

/// Prefix of the names that Rust gives to what is not exported.
const MANGLED: &str = "_R";

/// The edits before the optimiser runs.
pub fn prepare(text: &str, kind: Kind) -> String {
    let shared = shared_names(text);
    let mut output = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        let Some(line) = expand_amd(line) else { continue };
        let line = place_in_shared_memory(&line, &shared, kind);
        let line = mark_indirect_calls(&line);
        let line = let_programs_define(&line, kind);
        let line = pass_complex_numbers(&line);
        output.push_str(&without_processor(&line));
        output.push('\n');
    }
    with_openmp_flags(&output)
}

/// The edits after it: functions that the compiler of the program is to recognise by name stayed
/// whole until now, and what is exported is for the image alone.
pub fn finish(text: &str, kind: Kind) -> String {
    let groups = attribute_groups(text);
    let mut output = String::with_capacity(text.len());
    for line in text.lines() {
        let Some(line) = expand_stand_ins(line, kind) else { continue };
        let Some(line) = replace_vprintf(&line, kind) else { continue };
        output.push_str(&hide(&decide_inlining(&make_volatile(&line), &groups)));
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
fn place_in_shared_memory(line: &str, shared: &BTreeSet<&str>, kind: Kind) -> String {
    if let Some((name, rest)) = line.split_once(" = ")
        && name.strip_prefix('@').is_some_and(|name| shared.contains(name))
    {
        if name == format!("@{DYNAMIC_SHARED}") {
            return format!("{name} = external addrspace(3) global [0 x i8], align 16");
        }
        let global = format!("{}global ", kind.global_space());
        let rest = rest.replacen(&global, "addrspace(3) global ", 1);
        return format!("{name} = {}", rest.replacen(SHARED_SECTION, "", 1));
    }
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('@') {
        let after = &rest[at + 1..];
        let end = after.find(|letter: char| !is_name(letter)).unwrap_or(after.len());
        let name = &after[..end];
        let (before, is_shared) = (&rest[..at], shared.contains(name));
        output.push_str(before.strip_suffix(kind.global_space()).filter(|_| is_shared).unwrap_or(before));
        if is_shared && kind == Kind::Amdgcn {
            // It is converted already.
            output.push_str(&format!("addrspace(3) @{name}"));
        } else if is_shared {
            output.push_str(&format!("addrspacecast (ptr addrspace(3) @{name} to ptr)"));
        } else {
            output.push('@');
            output.push_str(name);
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

/// Weak, and no longer read as volatile: the program's own definition decides. Rust had to be kept
/// from taking its value for the last word.
fn let_programs_define(line: &str, kind: Kind) -> String {
    if line.starts_with("@llvm.compiler.used") {
        // Nothing in the image refers to it; the host does.
        return line.replacen("@llvm.compiler.used", "@llvm.used", 1);
    }
    if let Some((name, rest)) = line.split_once(" = ")
        && let Some(plain) = name.strip_prefix('@').filter(|name| name.starts_with(COMPILER_CONSTANTS))
    {
        let visibility = if plain == DEVICE_ENVIRONMENT { "protected" } else { "hidden" };
        let at = rest.find("constant ").or_else(|| rest.find("global ")).unwrap_or(0);
        return format!("{name} = weak {visibility} {}{}", kind.global_space(), &rest[at..]);
    }
    if line.contains("load volatile") && line.contains(&format!("@{COMPILER_CONSTANTS}")) {
        return line.replacen("load volatile", "load", 1);
    }
    line.to_owned()
}

/// Clang passes a complex number as a copy in memory, which belongs to the function that is called.
fn pass_complex_numbers(line: &str) -> String {
    let of_section = |(section, _): &(&str, &str)| line.starts_with("define ") && line.contains(section);
    let Some((section, copy)) = COMPLEX_SECTIONS.into_iter().find(of_section) else { return line.to_owned() };
    line.replacen(section, "", 1)
        .replace("(ptr ", &format!("({copy} "))
        .replace(", ptr ", &format!(", {copy} "))
}

/// LLVM's passes for OpenMP leave other threads out of account where they see only aligned barriers,
/// also between atomic operations. What is volatile they leave alone.
fn make_volatile(line: &str) -> String {
    for operation in ["load atomic ", "store atomic ", "cmpxchg ", "atomicrmw "] {
        if let Some(at) = line.find(operation)
            && (line[..at].trim().is_empty() || line[..at].ends_with(" = "))
        {
            let end = at + operation.len();
            return format!("{}volatile {}", &line[..end], &line[end..]);
        }
    }
    line.to_owned()
}

/// Calls of functions that stand for what Rust cannot say, as what they stand for; their declarations
/// go. Hiding where a pointer comes from is two conversions, which fold as soon as the pointer is a
/// constant.
fn expand_stand_ins(line: &str, kind: Kind) -> Option<String> {
    // AMD's GPUs have no stack that grows: LLVM says how much a kernel needs, and denies recursions where it sees them.
    // A call that it does not see through has it ask the host for more.
    let opaque = match kind {
        Kind::Nvptx => "  %N = ptrtoint ptr %A to i64\n  %R = inttoptr i64 %N to ptr",
        Kind::Amdgcn => "  %R = call ptr asm \"\", \"=v,0\"(ptr %A)",
    };
    // A stack has an address space of its own there.
    let low_byte = match kind {
        Kind::Nvptx => {
            "  %N = alloca i16, align 2\n  store i16 %A, ptr %N, align 2\n  %R = load i8, ptr %N, align 2"
        }
        Kind::Amdgcn => {
            "  %N = alloca i16, align 2, addrspace(5)\n  store i16 %A, ptr addrspace(5) %N, align 2\n  \
             %R = load i8, ptr addrspace(5) %N, align 2"
        }
    };
    for (name, expansion) in [(OPAQUE, opaque), (LOW_BYTE, low_byte)] {
        let Some(at) = line.find(name) else { continue };
        if line.starts_with("declare ") {
            return None;
        }
        let (result, _) = line.trim_start().split_once(" = ")?;
        let argument = line[at + name.len()..].split(')').next()?.rsplit(' ').next()?;
        let between = result.replacen('%', "%gangway.", 1);
        return Some(expansion.replace("%N", &between).replace("%A", argument).replace("%R", result));
    }
    Some(line.to_owned())
}

/// What only code for AMD's GPUs has.
fn expand_amd(line: &str) -> Option<String> {
    let is_declaration = line.starts_with("declare ");
    if let Some((_, scope)) = FENCES.into_iter().find(|(name, _)| line.contains(name)) {
        return (!is_declaration).then(|| format!("  fence syncscope(\"{scope}\") seq_cst"));
    }
    if line.contains(IMPLICIT_ARGUMENTS) {
        if is_declaration {
            return Some("declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()".to_owned());
        }
        let (result, _) = line.trim_start().split_once(" = ")?;
        let between = result.replacen('%', "%gangway.", 1);
        return Some(format!(
            "  {between} = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n  \
             {result} = addrspacecast ptr addrspace(4) {between} to ptr"
        ));
    }
    Some(line.to_owned())
}

/// The body that `vprintf` has where the image has this member. It is available to LLVM, which
/// inlines it into all callers, but defines nothing: so a call of `vprintf` alone does not bring
/// the member into an image. What the member calls itself stays the driver's.
fn replace_vprintf(line: &str, kind: Kind) -> Option<String> {
    if kind == Kind::Amdgcn {
        // Nobody else has one there.
        return Some(line.to_owned());
    }
    if line.contains(DRIVER_VPRINTF) {
        if line.starts_with("declare ") {
            return None;
        }
        let line = line.replacen(DRIVER_VPRINTF, "@vprintf(", 1);
        let end = line.find(" #").unwrap_or(line.len());
        return Some(format!("{} noinline{}", &line[..end], &line[end..]));
    }
    if line.contains(OWN_VPRINTF)
        && let Some(rest) = line.strip_prefix("define ")
    {
        let rest = rest.replacen(OWN_VPRINTF, "@vprintf(", 1);
        return Some(format!("define available_externally {} alwaysinline {{", rest.trim_end_matches(" {")));
    }
    Some(line.to_owned())
}

/// The text of each group of attributes.
fn attribute_groups(text: &str) -> BTreeMap<&str, &str> {
    text.lines()
        .filter_map(|line| {
            let (number, rest) = line.strip_prefix("attributes ")?.split_once(" = { ")?;
            Some((number, rest.strip_suffix(" }")?))
        })
        .collect()
}

/// A function says by its section whether LLVM may inline it.
fn decide_inlining(line: &str, groups: &BTreeMap<&str, &str>) -> String {
    if line.contains(CALL_SECTION) {
        return line.replacen(CALL_SECTION, "", 1);
    }
    if !line.contains(INLINE_SECTION) {
        return line.to_owned();
    }
    let Some((head, group)) = line
        .replacen(INLINE_SECTION, "", 1)
        .rsplit_once(" #")
        .map(|(head, tail)| (head.to_owned(), format!("#{}", tail.trim_end_matches([' ', '{']))))
    else {
        return line.replacen(INLINE_SECTION, " alwaysinline", 1);
    };
    let attributes: Vec<&str> =
        groups.get(group.as_str()).into_iter().flat_map(|group| group.split(' ')).collect();
    let kept: Vec<&str> = attributes.into_iter().filter(|word| *word != "noinline").collect();
    format!("{head} alwaysinline {} {{", kept.join(" "))
}

/// Hidden: the image is where the function ends, and what it does not use is left out.
fn hide(line: &str) -> String {
    if C_VARIABLES.iter().any(|name| line.starts_with(name)) {
        return line.replacen(" = ", " = hidden ", 1);
    }
    let Some(rest) = line.strip_prefix("define ") else { return line.to_owned() };
    let visible = !["internal ", "hidden ", "private ", "weak hidden ", "available_externally "]
        .iter()
        .any(|word| rest.starts_with(word));
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
  call void @f(ptr align 8 @_RA)
";
        let edited = prepare(text, Kind::Nvptx);
        let lines: Vec<&str> = edited.lines().collect();
        assert_eq!(lines[0], "@_RA = internal addrspace(3) global [8 x i8] undef, align 4");
        assert_eq!(lines[1], "@_RAB = internal global [8 x i8] undef, align 4");
        assert_eq!(lines[2], "  store i32 5, ptr addrspacecast (ptr addrspace(3) @_RA to ptr), align 4");
        assert_eq!(lines[3], "  %1 = getelementptr i8, ptr @_RAB, i64 4");
        assert_eq!(lines[4], "  store ptr addrspacecast (ptr addrspace(3) @_RA to ptr), ptr @_RAB");
        assert_eq!(lines[5], "  call void @f(ptr align 8 addrspacecast (ptr addrspace(3) @_RA to ptr))");
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
    fn complex_numbers_are_passed_as_copies() {
        let line = "define weak { double, double } @cpow(ptr noundef %z, ptr noundef %w) unnamed_addr #0 \
                    section \".gangway.complex.double\" {";
        assert_eq!(
            pass_complex_numbers(line),
            "define weak { double, double } @cpow(ptr byval({ double, double }) align 8 noundef %z, \
             ptr byval({ double, double }) align 8 noundef %w) unnamed_addr #0 {"
        );
        let line = "define float @cabsf(ptr noundef %z) section \".gangway.complex.float\" {";
        assert_eq!(
            pass_complex_numbers(line),
            "define float @cabsf(ptr byval({ float, float }) align 4 noundef %z) {"
        );
        let line = "define double @f(ptr noundef %z) {";
        assert_eq!(pass_complex_numbers(line), line);
    }

    #[test]
    fn processors_are_taken_off() {
        let line = "attributes #0 = { convergent nounwind \"target-cpu\"=\"sm_30\" }";
        assert_eq!(without_processor(line), "attributes #0 = { convergent nounwind }");
    }

    #[test]
    fn sections_decide_on_inlining() {
        let text = "\
define void @a() unnamed_addr #1 section \".gangway.inline\" {
define void @b() unnamed_addr #1 section \".gangway.call\" {
define void @c(ptr %0) unnamed_addr #1 {
attributes #1 = { convergent noinline memory(argmem: read) }
";
        let finished = finish(text, Kind::Nvptx);
        let lines: Vec<&str> = finished.lines().collect();
        assert_eq!(
            lines[0],
            "define hidden void @a() unnamed_addr alwaysinline convergent memory(argmem: read) {"
        );
        assert_eq!(lines[1], "define hidden void @b() unnamed_addr #1 {");
        assert_eq!(lines[2], "define hidden void @c(ptr %0) unnamed_addr #1 {");
    }

    #[test]
    fn atomic_operations_become_volatile() {
        let cases = [
            ("  %8 = load atomic i32, ptr %0 monotonic", "  %8 = load atomic volatile i32, ptr %0 monotonic"),
            ("  store atomic i32 0, ptr %0 release", "  store atomic volatile i32 0, ptr %0 release"),
            (
                "  %1 = cmpxchg ptr %0, i32 0, i32 1 acquire",
                "  %1 = cmpxchg volatile ptr %0, i32 0, i32 1 acquire",
            ),
            ("  %1 = atomicrmw add ptr %0, i32 1", "  %1 = atomicrmw volatile add ptr %0, i32 1"),
            ("  %1 = load i32, ptr %0", "  %1 = load i32, ptr %0"),
        ];
        for (line, expected) in cases {
            assert_eq!(make_volatile(line), expected);
        }
    }

    #[test]
    fn stand_ins_are_expanded() {
        let cases = [
            (
                "  %7 = tail call ptr @__gangway_opaque(ptr noundef %3) #2",
                "  %gangway.7 = ptrtoint ptr %3 to i64\n  %7 = inttoptr i64 %gangway.7 to ptr",
            ),
            (
                "  %2 = tail call noundef i8 @__gangway_low_byte(i16 noundef %1)",
                "  %gangway.2 = alloca i16, align 2\n  store i16 %1, ptr %gangway.2, align 2\n  \
                 %2 = load i8, ptr %gangway.2, align 2",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(expand_stand_ins(line, Kind::Nvptx).as_deref(), Some(expected));
        }
        assert_eq!(expand_stand_ins("declare ptr @__gangway_opaque(ptr noundef) #1", Kind::Nvptx), None);
    }

    #[test]
    fn the_drivers_vprintf_is_replaced_without_a_definition() {
        let cases = [
            ("declare noundef i32 @__gangway_driver_vprintf(ptr, ptr) #2", None),
            (
                "  %7 = tail call noundef i32 @__gangway_driver_vprintf(ptr %0, ptr %1) #5",
                Some("  %7 = tail call noundef i32 @vprintf(ptr %0, ptr %1) noinline #5"),
            ),
            (
                "define noundef i32 @__gangway_vprintf(ptr %0, ptr %1) #1 {",
                Some("define available_externally noundef i32 @vprintf(ptr %0, ptr %1) #1 alwaysinline {"),
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(replace_vprintf(line, Kind::Nvptx).as_deref(), expected);
            assert_eq!(replace_vprintf(line, Kind::Nvptx).map(|line| hide(&line)).as_deref(), expected);
        }
    }

    #[test]
    fn constants_of_the_program_come_first() {
        let cases = [
            (
                "@__omp_rtl_debug_kind = constant [4 x i8] zeroinitializer, align 4",
                "@__omp_rtl_debug_kind = weak hidden constant [4 x i8] zeroinitializer, align 4",
            ),
            (
                "@__omp_rtl_device_environment = global [48 x i8] zeroinitializer, align 8",
                "@__omp_rtl_device_environment = weak protected global [48 x i8] zeroinitializer, align 8",
            ),
            (
                "  %1 = load volatile i32, ptr @__omp_rtl_debug_kind, align 4",
                "  %1 = load i32, ptr @__omp_rtl_debug_kind, align 4",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(let_programs_define(line, Kind::Nvptx), expected);
        }
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
        let edited =
            prepare("!llvm.module.flags = !{!0}\n!0 = !{i32 8, !\"PIC Level\", i32 2}\n", Kind::Nvptx);
        assert!(edited.contains("!llvm.module.flags = !{!1, !2, !0}"), "{edited}");
        assert!(edited.contains("!2 = !{i32 7, !\"openmp-device\", i32 51}"), "{edited}");
    }
}
