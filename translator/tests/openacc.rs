//! Every file in `openacc/` is translated; beside it stand the notes on its loops and variables, or the message that
//! refuses it. `GANGWAY_BLESS=1` writes these.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use gangway_translator::Request;
use gangway_translator::openacc::{Result, translate};

/// What `then` makes of a file's translation, or why there is none.
fn translated(file: &Path, then: impl FnOnce(Option<Result>) -> String) -> String {
    let is_cxx = file.extension().is_some_and(|extension| extension == "cpp");
    let language = if is_cxx { "c++" } else { "c" };
    let name = file.to_str().expect("names are text");
    let arguments = ["clang-22", "-Wall", "-x", language, name];
    let request = Request {
        arguments: arguments.map(|argument| argument.as_bytes().to_vec()).to_vec(),
        file,
        is_cxx,
        identity: 0x1234,
    };
    match translate(&request, [None; 3]) {
        Ok(result) => then(result),
        Err(error) => format!("{error}\n"),
    }
}

fn notes(result: Option<Result>) -> String {
    let Some(result) = result else { return "untouched\n".to_owned() };
    result.notes.iter().fold(String::new(), |mut text, note| {
        let _ = writeln!(text, "{}: {}", note.line, note.text);
        text
    })
}

#[test]
fn files_have_the_notes_that_stand_beside_them() {
    // The tests of a crate run in its folder; names in the results are relative.
    let bless = std::env::var_os("GANGWAY_BLESS").is_some();
    let mut files: Vec<_> =
        fs::read_dir("tests/openacc").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    let mut wrong = String::new();
    for file in files {
        let expected = file.with_file_name(format!("{}.out", file.file_name().unwrap().display()));
        let got = translated(&file, notes);
        if bless {
            fs::write(&expected, &got).unwrap();
            continue;
        }
        let text = fs::read_to_string(&expected).unwrap_or_default();
        if text != got {
            let difference = similar::TextDiff::from_lines(&text, &got);
            let _ = writeln!(wrong, "{}:\n{}", file.display(), difference.unified_diff());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Where the threads of a gang wait for each other, by function.
#[test]
fn gangs_that_share_nothing_do_not_wait_between_iterations() {
    let text = translated(Path::new("tests/openacc/barriers.c"), |result| {
        String::from_utf8(result.expect("it has directives").file.text).expect("text")
    });
    for (function, barriers) in
        [("none", 0), ("one", 1), ("private", 2), ("around", 2), ("behind", 1), ("called", 1)]
    {
        let begin = text.find(&format!("void {function}(void)")).expect("the function");
        let body = text[begin + 1..].split("\nvoid ").next().unwrap_or_default();
        let found = body.matches("__gangway_acc_gang_barrier();").count();
        assert_eq!(found, barriers, "{function}: {body}");
    }
}

#[test]
fn variables_stand_for_types_in_settings() {
    let text = translated(Path::new("tests/openacc/settings.c"), |result| {
        let result = result.expect("it has directives");
        // Of those that only a directive uses nothing is said, of others it is.
        let warnings: Vec<_> =
            result.warnings.lines().filter_map(|line| line.split_once("warning: ")).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(warnings[0].1, "unused variable 'nobodys'");
        String::from_utf8(result.file.text).expect("text")
    });
    for call in [
        "__gangway_acc_init((int)(device_type));",
        "__gangway_acc_set_device_num(0, (int)(t));",
        "if (t) { __gangway_acc_shutdown((int)(device_type));",
        "__gangway_acc_set_device_type(2);",
    ] {
        assert!(text.contains(call), "{call} is not in {text}");
    }
}

/// What stands in the translation as it stands in the source, has its line: debuggers and findings name it.
#[test]
fn what_stays_as_it_is_keeps_its_line() {
    let mut wrong = String::new();
    let mut compared = 0;
    for folder in ["tests/openacc", "../tests/openacc/programs"] {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
        files.sort();
        for file in files {
            let text = translated(&file, |result| {
                result.map_or_else(String::new, |result| {
                    String::from_utf8_lossy(&result.file.text).into_owned()
                })
            });
            let source = fs::read_to_string(&file).unwrap();
            compared += lines_that_moved(&source, &text, &file, &mut wrong);
        }
    }
    assert!(compared > 1000, "{compared}");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Compares the lines that both have once, as the marks in the translation number them; how many there are.
fn lines_that_moved(source: &str, text: &str, file: &Path, wrong: &mut String) -> usize {
    let only = |all: &str, line: &str| all.lines().filter(|other| other.trim() == line).count() == 1;
    let (mut number, mut here, mut compared) = (0, false, 0);
    for line in text.lines() {
        if let Some((marked, name)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(' ')) {
            number = marked.parse().unwrap_or(0);
            here = name.trim_start_matches('"').starts_with(file.to_str().expect("names are text"));
            continue;
        }
        let line = line.trim();
        // A loop's head is written anew, with a brace that it had or not.
        let stays = line.len() > 8 && !line.starts_with('#') && !line.starts_with("for (");
        if here && stays && only(source, line) && only(text, line) {
            let own = source.lines().position(|other| other.trim() == line).expect("it has it") + 1;
            if own != number {
                let _ = writeln!(wrong, "{}:{own} is told as line {number}: {line}", file.display());
            }
            compared += 1;
        }
        number += 1;
    }
    compared
}
