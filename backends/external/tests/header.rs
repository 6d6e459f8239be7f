//! `gangway/rtl.h` and `src/abi.rs` say the same. The header is written for people, so neither is made
//! of the other. Here a C++ compiler compares all that the Rust side says: each structure, member,
//! constant and function.

mod support;

use std::fmt::Write as _;

use gangway_commands::Folder;
use support::{compile, crate_file};

const ABI: &str = include_str!("../src/abi.rs");

/// Pointers are all the same to an ABI; everything else has to be what it is.
const ERASURE: &str = "\
#include <gangway/rtl.h>
#include <type_traits>
template <class T> struct erased { using type = T; };
template <class T> struct erased<T *> { using type = void *; };
template <class R, class... A> struct erased<R(A...)> {
  using type = typename erased<R>::type(typename erased<A>::type...);
};
#define IS(function, ...) \\
  static_assert(std::is_same<erased<decltype(function)>::type, __VA_ARGS__>::value, #function)
#define HAS(type, member, ours) \\
  static_assert(offsetof(type, member) == offsetof(ours, member), #type \".\" #member); \\
  static_assert(sizeof(type::member) == sizeof(ours::member), #type \".\" #member)
";

/// A type of C's as large as one of Rust's, and with its sign.
fn c_type(rust: &str) -> &'static str {
    match rust.trim() {
        "i32" | "Status" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" | "Address" => "uint64_t",
        "u8" => "uint8_t",
        "usize" => "size_t",
        "Handle" => "void *",
        pointer if pointer.starts_with('*') || pointer.starts_with("unsafe extern \"C\" fn(") => "void *",
        other => panic!("what is {other} in C?"),
    }
}

/// The types of a list, in which functions have lists of their own.
fn types(list: &str) -> Vec<&'static str> {
    let (mut depth, mut begin, mut found) = (0, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(c_type(&list[begin..at]));
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.extend((!list.is_empty()).then(|| c_type(&list[begin..])));
    found
}

/// Each structure as Rust lays it out, and the header's beside it.
fn structures(checks: &mut String) -> usize {
    let texts = ABI.split("/// `gangway_rtl_").skip(1).filter(|text| text.contains("`.\n#[repr(C)]"));
    let mut count = 0;
    for text in texts {
        let (theirs, text) = text.split_once('`').unwrap();
        let (head, members) = text.split_once("}\n").unwrap().0.split_once(" {\n").unwrap();
        let Some(ours) = head.split_once("struct ").map(|(_, name)| name) else { continue };
        let (mut fields, mut same) = (String::new(), String::new());
        for member in members.lines() {
            let (name, ty) = member.trim().trim_start_matches("pub ").split_once(": ").unwrap();
            let ty = ty.trim_end_matches(',');
            let (ty, size) = match ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')?.split_once("; "))
            {
                Some((ty, count)) => (ty, format!("[{count}]")),
                None => (ty, String::new()),
            };
            writeln!(fields, "  {} {name}{size};", c_type(ty)).unwrap();
            writeln!(same, "HAS(gangway_rtl_{theirs}, {name}, {ours});").unwrap();
        }
        writeln!(checks, "struct {ours} {{\n{fields}}};\n{same}").unwrap();
        writeln!(checks, "static_assert(sizeof(gangway_rtl_{theirs}) == sizeof({ours}), \"{theirs}\");")
            .unwrap();
        count += 1;
    }
    count
}

fn constants(checks: &mut String) -> usize {
    let lines = ABI.lines().filter_map(|line| line.strip_prefix("pub(crate) const ")?.split_once(": "));
    let numbers = lines.filter_map(|(name, rest)| {
        let value = rest.split_once(" = ")?.1.trim_end_matches(';');
        Some((name, value.parse::<i64>().ok()?))
    });
    let numbers: Vec<_> = numbers.collect();
    for (name, value) in &numbers {
        writeln!(checks, "static_assert(GANGWAY_RTL_{name} == {value}, \"{name}\");").unwrap();
    }
    numbers.len()
}

fn functions(checks: &mut String) -> usize {
    let table = ABI.split_once("\nfunctions! {\n").unwrap().1.split_once("\n}\n").unwrap().0;
    let mut count = 0;
    for function in table.split(": c\"").skip(1) {
        let (name, rest) = function.split_once(';').unwrap().0.split_once('"').unwrap();
        let (arguments, result) = match rest.split_once(" -> ") {
            Some((arguments, result)) => (arguments, c_type(result)),
            None => (rest, "void"),
        };
        let arguments = arguments.trim().strip_prefix('(').unwrap().strip_suffix(')').unwrap();
        writeln!(checks, "IS({name}, {result}({}));", types(arguments).join(", ")).unwrap();
        count += 1;
    }
    count
}

#[test]
fn the_header_says_what_the_table_says() {
    let mut checks = ERASURE.to_owned();
    let header = include_str!("../include/gangway/rtl.h");
    let structures_there =
        header.matches("typedef struct gangway_rtl_").count() - header.matches("_s *gangway").count();
    assert_eq!(structures(&mut checks), structures_there);
    // All but the one that tells the version.
    assert_eq!(functions(&mut checks), header.matches("\nGANGWAY_RTL_API ").count() - 1);
    assert!(constants(&mut checks) > 30);
    let folder = Folder::new();
    folder.write("checks.cpp", &checks);
    let file = folder.path("checks.cpp");
    compile("c++", &["-std=c++11", "-pedantic", "-fsyntax-only"], &[file.to_str().unwrap()]);
}

#[test]
fn the_header_is_c11() {
    let header = crate_file("include/gangway/rtl.h");
    compile("cc", &["-std=c11", "-pedantic", "-fsyntax-only", "-xc"], &[header.to_str().unwrap()]);
}
