//! Every file in `openacc/` is translated; beside it stand the notes on its loops and variables, or the message that
//! refuses it. `GANGWAY_BLESS=1` writes these.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use gangway_translator::Request;
use gangway_translator::openacc::translate;

fn translated(file: &Path) -> String {
    let is_cxx = file.extension().is_some_and(|extension| extension == "cpp");
    let language = if is_cxx { "c++" } else { "c" };
    let name = file.to_str().expect("names are text");
    let arguments = ["clang-22", "-x", language, name];
    let request = Request {
        arguments: arguments.map(|argument| argument.as_bytes().to_vec()).to_vec(),
        file,
        is_cxx,
        identity: 0x1234,
    };
    match translate(&request, [None; 3]) {
        Ok(None) => "untouched\n".to_owned(),
        Ok(Some(result)) => result.notes.iter().fold(String::new(), |mut text, note| {
            let _ = writeln!(text, "{}: {}", note.line, note.text);
            text
        }),
        Err(error) => format!("{error}\n"),
    }
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
        let got = translated(&file);
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
