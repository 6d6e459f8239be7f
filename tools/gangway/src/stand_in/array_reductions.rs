//! Reductions of whole arrays in flang-22's code for GPUs.
//!
//! flang-22 hands the functions of such a reduction descriptors of the arrays. Those that the functions
//! make themselves get an address alone: the strides by which elements are found are what the stack
//! held. A function that is to copy an array copies its address, of a variable that ends with the
//! function. And the buffer for partial results over teams has room for pointers, not for arrays. So the code is
//! compiled as LLVM's text before LLVM's passes, mended, and then optimised.

use std::fmt::Write as _;

/// What LLVM calls from 23 on for a reduction across teams.
const REDUCE_AT_ONCE: &str = "@__kmpc_gpu_xteam_reduce_nowait(";

/// Every file with a reduction has such a function.
pub const SHUFFLE: &str = "_omp_reduction_shuffle_and_reduce_func";
/// How the type of a descriptor begins.
const DESCRIPTOR: &str = "{ ptr, i64, i32, i8, i8, i8, i8, [";
const PARTIAL_RESULTS: &str = "%struct._globalized_locals_ty";

/// The mended text; `None` if there is nothing to mend.
pub fn mended(text: &str) -> Option<String> {
    let mut result = String::new();
    let mut arrays = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let inside = line.starts_with("define ");
        let mend: Option<fn(&[&str], &mut String) -> usize> = match line {
            _ if inside && line.contains(SHUFFLE) => Some(mend_shuffle),
            _ if inside && line.contains("_to_global_reduce_func") => Some(mend_global),
            _ if inside && line.contains("_to_list_reduce_func") => Some(mend_global),
            _ => None,
        };
        result.push_str(line);
        result.push('\n');
        if let Some(mend) = mend {
            let body: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| *line != "}")).collect();
            arrays += mend(&body, &mut result);
        }
    }
    if arrays == 0 {
        return None;
    }
    let result = with_room(&result);
    let declared = result.contains("\ndeclare void @llvm.memcpy.p0.p0.i64(");
    Some(if declared {
        result
    } else {
        result + "\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    })
}

/// `%x = getelementptr {descriptor}, ptr %base, i32 0, i32 0`: the type and the base.
fn address_in_descriptor(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(" = getelementptr ")?;
    let (kind, base) = rest.strip_suffix(", i32 0, i32 0")?.rsplit_once(", ptr ")?;
    kind.starts_with(DESCRIPTOR).then_some((kind, base))
}

/// `%x = alloca {type}, align n`: the name and the type.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().split_once(" = alloca ")?;
    Some((name, rest.rsplit_once(", align ")?.0))
}

fn copy(to: &str, from: &str, kind: &str) -> String {
    format!(
        "  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {from}, \
         i64 ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64), i1 false)\n"
    )
}

/// The function that fetches another lane's list: its descriptors are like this lane's, and what it
/// copies are elements.
fn mend_shuffle(body: &[&str], result: &mut String) -> usize {
    let variables: Vec<_> = body.iter().filter_map(|line| variable(line)).collect();
    // This lane's descriptor, and the types of the arrays that come from the other one, in order.
    let mut own = "";
    let mut arrays = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while at < body.len() {
        let line = body[at];
        let next = body.get(at + 1).copied().unwrap_or_default();
        at += 1;
        if let Some((kind, base)) = address_in_descriptor(line) {
            if variables.iter().any(|(name, _)| *name == base) {
                result.push_str(&copy(base, own, kind));
                let array =
                    next.trim_start().strip_prefix("store ptr ").and_then(|rest| rest.split_once(", "));
                let kind = array.and_then(|(array, _)| variables.iter().find(|(name, _)| *name == array));
                arrays.extend(kind.map(|(_, kind)| *kind));
            } else {
                own = base;
            }
        }
        // An address is loaded and stored at once only where the array is to be copied.
        let load = line.trim_start().split_once(" = load ptr, ptr ");
        let store = load.and_then(|(name, _)| {
            next.trim_start().strip_prefix("store ptr ")?.strip_prefix(name)?.strip_prefix(", ptr ")
        });
        result.push_str(line);
        result.push('\n');
        if let (Some((from, _)), Some(to), Some(kind)) = (load, store, arrays.get(copied)) {
            let to = to.split(',').next().unwrap_or_default();
            _ = writeln!(result, "  %gangway.to{copied} = load ptr, ptr {to}, align 8");
            result.push_str(&copy(&format!("%gangway.to{copied}"), from, kind));
            copied += 1;
            at += 1;
        }
    }
    arrays.len()
}

/// A function that combines a list and an element of the buffer: its descriptors are like the list's.
fn mend_global(body: &[&str], result: &mut String) -> usize {
    let mut place = None;
    let mut arrays = 0;
    for line in body {
        if let Some((_, rest)) = line.split_once(" = getelementptr inbounds ") {
            place = rest.split_once(", ptr %.omp.reduction.red_list, i64 0, i64 ").or(place);
        }
        if let (Some((kind, base)), Some((list, index))) = (address_in_descriptor(line), place) {
            let (own, at) = (format!("%gangway.own{arrays}"), format!("%gangway.at{arrays}"));
            _ = writeln!(result, "  %gangway.list{arrays} = load ptr, ptr %.addr2, align 8");
            _ = writeln!(
                result,
                "  {at} = getelementptr inbounds {list}, ptr %gangway.list{arrays}, i64 0, i64 {index}"
            );
            _ = writeln!(result, "  {own} = load ptr, ptr {at}, align 8");
            result.push_str(&copy(base, &own, kind));
            arrays += 1;
        }
        result.push_str(line);
        result.push('\n');
    }
    arrays
}

/// Gives the buffers of the file's kernels room for the largest lists of partial results: for all of
/// them together.
fn with_room(text: &str) -> String {
    let lists: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once(" = type ")?.0))
        .filter(|name| name.starts_with(PARTIAL_RESULTS))
        .collect();
    let bytes = format!(
        "i32 trunc (i64 ptrtoint (ptr getelementptr ({{ {} }}, ptr null, i64 1) to i64) to i32)",
        lists.join(", ")
    );
    // Up to LLVM 22 the number of the buffer's slots comes behind the bytes of one.
    let behind = usize::from(!text.contains(REDUCE_AT_ONCE));
    let mut result = String::new();
    for line in text.lines() {
        let environment = line.contains("_kernel_environment = ") && !lists.is_empty();
        let fields = environment.then(|| line.split_once(" }, ptr ")).flatten();
        match fields.map(|(fields, rest)| (fields.rsplitn(2 + behind, ", ").collect::<Vec<_>>(), rest)) {
            Some((fields, rest)) if fields.len() == 2 + behind && fields[behind] != "i32 0" => {
                let slots: String = fields[..behind].iter().map(|slots| format!(", {slots}")).collect();
                _ = writeln!(result, "{}, {bytes}{slots} }}, ptr {rest}", fields[1 + behind]);
            }
            _ => {
                result.push_str(line);
                result.push('\n');
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
%struct._globalized_locals_ty = type { [10 x float] }
@k_kernel_environment = constant %T { %C { i8 0, i32 8, i32 1024 }, ptr @3, ptr @4 }
@l_kernel_environment = constant %T { %C { i8 0, i32 0, i32 0 }, ptr @3, ptr @4 }
define internal void @_omp_reduction_shuffle_and_reduce_func(ptr %0) {
  %element = alloca { ptr, i64, i32, i8, i8, i8, i8, [1 x [3 x i64]] }, align 8
  %4 = alloca [10 x float], align 4
  %12 = getelementptr { ptr, i64, i32, i8, i8, i8, i8, [1 x [3 x i64]] }, ptr %10, i32 0, i32 0
  %28 = getelementptr { ptr, i64, i32, i8, i8, i8, i8, [1 x [3 x i64]] }, ptr %element, i32 0, i32 0
  store ptr %4, ptr %28, align 8
  %48 = load ptr, ptr %45, align 8
  store ptr %48, ptr %47, align 8
}
define internal void @_omp_reduction_list_to_global_reduce_func(ptr %0, i32 %1, ptr %2) {
  %6 = getelementptr inbounds [2 x ptr], ptr %.omp.reduction.red_list, i64 0, i64 0
  %7 = getelementptr inbounds [2 x ptr], ptr %.omp.reduction.red_list, i64 0, i64 1
  %8 = getelementptr inbounds %struct._globalized_locals_ty, ptr %5, i32 %1
  %9 = getelementptr { ptr, i64, i32, i8, i8, i8, i8, [1 x [3 x i64]] }, ptr %3, i32 0, i32 0
}
";

    #[test]
    fn descriptors_are_whole_and_buffers_have_room() {
        let mended = mended(TEXT).expect("it has an array");
        let added: Vec<_> = mended.lines().filter(|line| !TEXT.contains(line)).map(str::trim_start).collect();
        let kind = "{ ptr, i64, i32, i8, i8, i8, i8, [1 x [3 x i64]] }";
        let size = |kind| format!("i64 ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64)");
        let copy = |to, from, kind| {
            format!("call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {from}, {}, i1 false)", size(kind))
        };
        let expected = [
            format!(
                "@k_kernel_environment = constant %T {{ %C {{ i8 0, i32 trunc ({} to i32), i32 1024 }}, ptr @3, ptr @4 }}",
                size("{ %struct._globalized_locals_ty }")
            ),
            copy("%element", "%10", kind),
            "%gangway.to0 = load ptr, ptr %47, align 8".into(),
            copy("%gangway.to0", "%48", "[10 x float]"),
            "%gangway.list0 = load ptr, ptr %.addr2, align 8".into(),
            "%gangway.at0 = getelementptr inbounds [2 x ptr], ptr %gangway.list0, i64 0, i64 1".into(),
            "%gangway.own0 = load ptr, ptr %gangway.at0, align 8".into(),
            copy("%3", "%gangway.own0", kind),
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)".into(),
        ];
        assert_eq!(added, expected);
        assert!(!mended.contains("store ptr %48"), "an address is copied:\n{mended}");
    }

    /// LLVM 23 says no number of slots.
    #[test]
    fn buffers_have_room_without_a_number_of_slots() {
        let text =
            TEXT.replace("i32 8, i32 1024", "i32 8").replace("{ i8 0, i32 0, i32 0 }", "{ i8 0, i32 0 }")
                + "declare i32 @__kmpc_gpu_xteam_reduce_nowait(ptr)\n";
        let mended = mended(&text).expect("it has an array");
        let size =
            "i64 ptrtoint (ptr getelementptr ({ %struct._globalized_locals_ty }, ptr null, i64 1) to i64)";
        let first = format!(
            "@k_kernel_environment = constant %T {{ %C {{ i8 0, i32 trunc ({size} to i32) }}, ptr @3, ptr @4 }}"
        );
        let second = "@l_kernel_environment = constant %T { %C { i8 0, i32 0 }, ptr @3, ptr @4 }";
        assert_eq!(mended.lines().skip(1).take(2).collect::<Vec<_>>(), [&*first, second]);
    }

    #[test]
    fn other_reductions_stay_as_they_are() {
        let scalars = TEXT.replace("i8, i8, i8, i8", "i8, i8, i8");
        assert_eq!(mended(&scalars), None);
    }
}
