//! Copies of elements in the functions that clang-22 and flang-22 make for reductions on GPUs.
//!
//! These functions copy a variable in pieces of 8, 4, 2 and 1 bytes, and that is wrong in four ways
//! for all but scalars and what is made of words:
//!
//! - What is less than 4 bytes travels between lanes in 4, and all 4 are stored, behind the variable's end.
//! - Between warps, pieces of 2 and 1 bytes are those at the beginning, though they are the rest behind
//!   the words.
//! - A piece is accessed as if the variable were as aligned as the piece.
//! - A structure is copied as if it were aligned to 8 bytes.
//!
//! LLVM's passes rely on all of that. So it is put right in LLVM's text before they run.

mod types;

use std::collections::HashMap;
use std::fmt::Write as _;

use types::{Types, integer};

/// The device runtime's functions that are handed those of a reduction.
const CALLS: [&str; 3] = [
    "@__kmpc_nvptx_parallel_reduce_nowait_v2(",
    "@__kmpc_nvptx_teams_reduce_nowait_v2(",
    // From clang 23 on in the place of the one before.
    "@__kmpc_gpu_xteam_reduce_nowait(",
];
const SHUFFLE: &str = "@_omp_reduction_shuffle_and_reduce_func";
const BETWEEN_WARPS: &str = "@_omp_reduction_inter_warp_copy_func";
/// How the names of all of them begin.
const PREFIX: &str = "@_omp_reduction_";

/// The mended text; `None` if there is nothing to mend.
pub fn mended(text: &str) -> Option<String> {
    let groups = groups(text);
    if groups.is_empty() {
        return None;
    }
    let types = Types::of(text);
    let variables: HashMap<&str, Vec<Variable>> = functions(text)
        .filter(|(name, _)| name.starts_with(SHUFFLE))
        .map(|(name, body)| (name, variables(&body, &types)))
        .collect();
    let mut result = String::with_capacity(text.len() + text.len() / 16);
    let mut function = None;
    for line in text.lines() {
        if let Some(name) = defined(line) {
            let variables = groups.get(name).and_then(|shuffle| variables.get(shuffle));
            function = variables.map(|variables| Function::new(name, variables));
        } else if line == "}" {
            function = None;
        }
        match &mut function {
            Some(function) => function.line(line, &mut result),
            None => {
                result.push_str(line);
                result.push('\n');
            }
        }
    }
    (result != text).then_some(result)
}

/// The functions that calls name together, each with the one among them that shuffles.
fn groups(text: &str) -> HashMap<&str, &str> {
    let mut groups = HashMap::new();
    for line in text.lines() {
        if !CALLS.iter().any(|call| line.contains(call)) || line.starts_with("declare ") {
            continue;
        }
        let names: Vec<&str> = line
            .split("ptr ")
            .skip(1)
            .filter_map(|rest| rest.split([',', ')']).next())
            .filter(|name| name.starts_with(PREFIX))
            .collect();
        if let Some(shuffle) = names.iter().find(|name| name.starts_with(SHUFFLE)) {
            groups.extend(names.iter().map(|name| (*name, *shuffle)));
        }
    }
    groups
}

/// The name of the function that a line begins.
fn defined(line: &str) -> Option<&str> {
    let at = line.strip_prefix("define ")?.find('@')? + "define ".len();
    line[at..].split('(').next()
}

/// The names and bodies of functions.
fn functions(text: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let name = lines.by_ref().find_map(defined)?;
        Some((name, lines.by_ref().take_while(|line| *line != "}").collect()))
    })
}

/// A variable of a reduction.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Variable {
    kind: String,
    alignment: u64,
}

/// The variables of a reduction in the order of its list, as the function that shuffles has them.
fn variables(body: &[&str], types: &Types<'_>) -> Vec<Variable> {
    let mut own: HashMap<&str, &str> = body.iter().filter_map(|line| variable(line)).collect();
    // On AMD's GPUs variables are in a space of their own, and used by generic addresses.
    for (name, cast) in body.iter().filter_map(|line| line.trim_start().split_once(" = addrspacecast ptr ")) {
        let from = cast.split_once(") ").and_then(|(_, rest)| rest.strip_suffix(" to ptr"));
        if let Some(kind) = from.and_then(|from| own.get(from)).copied() {
            own.insert(name, kind);
        }
    }
    let places: HashMap<&str, usize> = body.iter().filter_map(|line| in_list(line)).collect();
    let mut found = Vec::new();
    for line in body {
        let stored = line.trim_start().strip_prefix("store ptr ").and_then(|rest| rest.split_once(", ptr "));
        let Some((element, place)) = stored else { continue };
        let place = places.get(place.split(',').next().unwrap_or_default());
        if let (Some(kind), Some(&place)) = (own.get(element), place) {
            found.resize(found.len().max(place + 1), Variable::default());
            found[place] = Variable { kind: (*kind).to_owned(), alignment: types.alignment(kind) };
        }
    }
    found
}

/// `%x = alloca {type}, align n`: the name and the type.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().split_once(" = alloca ")?;
    Some((name, rest.split_once(", align ")?.0))
}

/// `%x = getelementptr inbounds [n x ptr], ptr %list, i64 0, i64 i`: the name and `i`.
fn in_list(line: &str) -> Option<(&str, usize)> {
    let (name, rest) = line.trim_start().split_once(" = getelementptr inbounds [")?;
    let (_, rest) = rest.split_once(" x ptr], ptr ")?;
    let (_, index) = rest.split_once(", i64 0, i64 ")?;
    Some((name, index.split(',').next()?.parse().ok()?))
}

/// A function whose lines are mended one after the other.
struct Function<'a> {
    variables: &'a [Variable],
    between_warps: bool,
    /// The variable whose place in the list was asked for last.
    current: Option<&'a Variable>,
    /// Where that is.
    address: &'a str,
    /// What a value of 4 bytes was before it was widened, and a shuffled value that way.
    widened: HashMap<&'a str, &'a str>,
    added: usize,
}

impl<'a> Function<'a> {
    fn new(name: &str, variables: &'a [Variable]) -> Self {
        let between_warps = name.starts_with(BETWEEN_WARPS);
        Self { variables, between_warps, current: None, address: "", widened: HashMap::new(), added: 0 }
    }

    fn line(&mut self, line: &'a str, result: &mut String) {
        if let Some((_, index)) = in_list(line) {
            self.current = self.variables.get(index).filter(|variable| variable.alignment > 0);
        }
        self.note(line);
        let mended = self
            .current
            .and_then(|variable| copied(line, variable).or_else(|| self.access(line, variable, result)));
        result.push_str(mended.as_deref().unwrap_or(line));
        result.push('\n');
    }

    /// Remembers what a value is.
    fn note(&mut self, line: &'a str) {
        let Some((name, value)) = line.trim_start().split_once(" = ") else { return };
        if value.starts_with("load ptr, ptr ") {
            self.address = name;
        } else if let Some((from, _)) =
            value.strip_prefix("sext ").and_then(|rest| rest.split_once(" to i32"))
        {
            self.widened.extend(from.split_once(' ').map(|(kind, _)| (name, kind)));
        } else if let Some((_, rest)) = value.split_once("@__kmpc_shuffle_int32(i32 ") {
            let kind = rest.split(',').next().and_then(|value| self.widened.get(value)).copied();
            self.widened.extend(kind.map(|kind| (name, kind)));
        }
    }

    /// A load or store of a piece.
    fn access(&mut self, line: &str, variable: &Variable, result: &mut String) -> Option<String> {
        let access = Access::read(line)?;
        let (mut kind, mut value) = (access.kind, access.value.map(str::to_owned));
        if let Some(narrow) = access.value.and_then(|value| self.widened.get(value).copied()) {
            let tail = self.name("piece");
            _ = writeln!(result, "  {tail} = trunc i32 {} to {narrow}", access.value?);
            (kind, value) = (narrow, Some(tail));
        }
        let bytes = integer(kind)? / 8;
        let mut address = access.address.to_owned();
        // In a variable of one such piece the place is 0.
        if self.between_warps && bytes < 4 && address == self.address {
            let (offset, place) = (self.name("offset"), self.name("place"));
            let size = format!("ptrtoint (ptr getelementptr ({}, ptr null, i64 1) to i64)", variable.kind);
            _ = writeln!(result, "  {offset} = and i64 {size}, -{}", 2 * bytes);
            _ = writeln!(result, "  {place} = getelementptr i8, ptr {address}, i64 {offset}");
            address = place;
        }
        let alignment = bytes.min(variable.alignment);
        let rest = access.rest;
        Some(match value {
            Some(value) => {
                format!("  store {}{kind} {value}, ptr {address}, align {alignment}{rest}", access.volatile)
            }
            None => format!("{}load {kind}, ptr {address}, align {alignment}{rest}", access.head),
        })
    }

    fn name(&mut self, what: &str) -> String {
        self.added += 1;
        format!("%gangway.{what}{}", self.added)
    }
}

/// A load or store of an integer through a generic address.
struct Access<'a> {
    /// What is before the word `load`.
    head: &'a str,
    volatile: &'a str,
    kind: &'a str,
    /// What is stored.
    value: Option<&'a str>,
    address: &'a str,
    /// What is behind the alignment.
    rest: &'a str,
}

impl<'a> Access<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (accessed, aligned) = line.split_once(", align ")?;
        let digits = aligned.len() - aligned.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let rest = &aligned[digits..];
        let (what, address) = accessed.split_once(", ptr ")?;
        if address.starts_with("addrspace") {
            return None;
        }
        let (head, volatile, kind, value) = match what.trim_start().strip_prefix("store ") {
            Some(stored) => {
                let plain = stored.strip_prefix("volatile ");
                let (kind, value) = plain.unwrap_or(stored).split_once(' ')?;
                ("  ", if plain.is_some() { "volatile " } else { "" }, kind, Some(value))
            }
            None => {
                let at = what.find(" = load ")? + " = ".len();
                (&what[..at], "", what[at..].strip_prefix("load ")?, None)
            }
        };
        integer(kind)?;
        Some(Self { head, volatile, kind, value, address, rest })
    }
}

/// A whole variable copied.
fn copied(line: &str, variable: &Variable) -> Option<String> {
    let (call, arguments) = line.split_once("@llvm.memcpy.p0.p0.i64(")?;
    let mut parts = arguments.splitn(3, ", ");
    let aligned = |part: &str| {
        let (alignment, address) = part.strip_prefix("ptr align ")?.split_once(' ')?;
        let alignment = alignment.parse::<u64>().ok()?.min(variable.alignment);
        Some(format!("ptr align {alignment} {address}"))
    };
    let (to, from) = (aligned(parts.next()?)?, aligned(parts.next()?)?);
    Some(format!("{call}@llvm.memcpy.p0.p0.i64({to}, {from}, {}", parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What clang-22 prints for AMD's GPUs.
    const AMD: &str = "\
define internal void @_omp_reduction_shuffle_and_reduce_func(ptr noundef %0, i16 noundef signext %1) #1 {
  %9 = alloca [1 x ptr], align 8, addrspace(5)
  %10 = alloca [1 x i8], align 1, addrspace(5)
  %11 = addrspacecast ptr addrspace(5) %10 to ptr
  %16 = addrspacecast ptr addrspace(5) %9 to ptr
  %21 = getelementptr inbounds [1 x ptr], ptr %17, i64 0, i64 0
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds [1 x ptr], ptr %16, i64 0, i64 0
  %25 = load i8, ptr %22, align 1
  %26 = sext i8 %25 to i32
  %29 = call i32 @__kmpc_shuffle_int32(i32 %26, i16 %19, i16 %28)
  store i32 %29, ptr %11, align 4
  store ptr %11, ptr %23, align 8
}
define void @kernel() {
  %61 = call i32 @__kmpc_nvptx_parallel_reduce_nowait_v2(ptr @1, i64 225, ptr %list, \
ptr @_omp_reduction_shuffle_and_reduce_func, ptr @_omp_reduction_inter_warp_copy_func)
}
";

    #[test]
    fn variables_in_a_space_of_their_own_are_known() {
        let text = mended(AMD).expect("there is something to mend");
        assert!(
            text.contains("trunc i32 %29 to i8")
                && text.contains("store i8 %gangway.piece1, ptr %11, align 1")
        );
    }

    /// What clang-22 prints, without what is not about copies.
    const TEXT: &str = "\
%struct.odd = type { [11 x i8] }
define internal void @_omp_reduction_shuffle_and_reduce_func(ptr noundef %0, i16 noundef signext %1) #1 {
  %.omp.reduction.remote_reduce_list = alloca [2 x ptr], align 8
  %.omp.reduction.element = alloca [5 x i16], align 2
  %.omp.reduction.element4 = alloca %struct.odd, align 8
  %8 = getelementptr inbounds [2 x ptr], ptr %4, i64 0, i64 0
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds [2 x ptr], ptr %.omp.reduction.remote_reduce_list, i64 0, i64 0
  %12 = load i64, ptr %9, align 8
  store i64 %15, ptr %.omp.reduction.element, align 8
  %19 = load i16, ptr %16, align 2
  %20 = sext i16 %19 to i32
  %23 = call i32 @__kmpc_shuffle_int32(i32 %20, i16 %6, i16 %22)
  store i32 %23, ptr %17, align 4
  store ptr %.omp.reduction.element, ptr %10, align 8
  %30 = getelementptr inbounds [2 x ptr], ptr %.omp.reduction.remote_reduce_list, i64 0, i64 1
  store ptr %.omp.reduction.element4, ptr %30, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %44, ptr align 8 %42, i64 11, i1 false)
}
define internal void @_omp_reduction_inter_warp_copy_func(ptr noundef %0, i32 noundef %1) #1 {
  %20 = getelementptr inbounds [2 x ptr], ptr %5, i64 0, i64 0
  %21 = load ptr, ptr %20, align 8
  %23 = load i16, ptr %21, align 2
  store volatile i16 %23, ptr addrspace(3) %22, align 2
}
  %61 = call i32 @__kmpc_nvptx_parallel_reduce_nowait_v2(ptr @1, i64 225, ptr %list, \
ptr @_omp_reduction_shuffle_and_reduce_func, ptr @_omp_reduction_inter_warp_copy_func)
";

    #[test]
    fn pieces_stay_inside_and_are_where_they_belong() {
        let mended = mended(TEXT).expect("it has pieces");
        let changed: Vec<_> =
            mended.lines().filter(|line| !TEXT.contains(line)).map(str::trim_start).collect();
        let size = "ptrtoint (ptr getelementptr ([5 x i16], ptr null, i64 1) to i64)";
        let expected = [
            "%12 = load i64, ptr %9, align 2".to_owned(),
            "store i64 %15, ptr %.omp.reduction.element, align 2".into(),
            "%gangway.piece1 = trunc i32 %23 to i16".into(),
            "store i16 %gangway.piece1, ptr %17, align 2".into(),
            "call void @llvm.memcpy.p0.p0.i64(ptr align 1 %44, ptr align 1 %42, i64 11, i1 false)".into(),
            format!("%gangway.offset1 = and i64 {size}, -4"),
            "%gangway.place2 = getelementptr i8, ptr %21, i64 %gangway.offset1".into(),
            "%23 = load i16, ptr %gangway.place2, align 2".into(),
        ];
        assert_eq!(changed, expected);
    }

    #[test]
    fn what_is_made_of_words_stays() {
        // Of the pieces there are words alone.
        let words = TEXT.replace("[11 x i8]", "[11 x i64]").replace("[5 x i16]", "[5 x i64]");
        let is_word = |line: &&str| !["%17, align 4", "%21, align 2"].iter().any(|end| line.ends_with(end));
        let words =
            words.replace("align 2\n  %.omp.reduction.element4", "align 8\n  %.omp.reduction.element4");
        let words: String = words.lines().filter(is_word).map(|line| format!("{line}\n")).collect();
        assert_eq!(mended(&words), None);
        assert_eq!(mended(TEXT.split_once("  %61").unwrap().0), None);
    }
}
