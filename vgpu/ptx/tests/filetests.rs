//! Runs the self-describing tests in `tests/files`.
//!
//! A test is PTX text whose first line is `// accept` or `// refuse`. At its end, in
//! lines that start with `//=`, stands what is expected: the module as it is printed, or
//! the errors in full. With `GANGWAY_BLESS=1` the expectations are written anew.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

const MARK: &str = "//=";

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files: Vec<PathBuf> = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    let trials = files.into_iter().map(|path| {
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        Trial::test(name, move || run(&path))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of tests").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
}

fn run(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let (source, expected) = match text.find(&format!("\n{MARK}")) {
        Some(at) => text.split_at(at + 1),
        None => (text.as_str(), ""),
    };
    let refuses = match source.lines().next() {
        Some("// accept") => false,
        Some("// refuse") => true,
        other => return Err(format!("the first line is {other:?}, not // accept or // refuse").into()),
    };
    let found = match (gangway_ptx::parse(source), refuses) {
        (Ok(module), false) => {
            let printed = module.to_string();
            match gangway_ptx::parse(&printed) {
                Ok(again) if again == module => printed,
                Ok(_) => return Err(format!("reads back as another module:\n{printed}").into()),
                Err(errors) => return Err(format!("does not read back: {errors}\n{printed}").into()),
            }
        }
        (Err(errors), true) => errors.to_string(),
        (Ok(module), true) => return Err(format!("was accepted:\n{module}").into()),
        (Err(errors), false) => return Err(format!("was refused:\n{errors}").into()),
    };
    let mut marked = String::new();
    for line in found.lines() {
        marked += format!("{MARK} {line}").trim_end();
        marked.push('\n');
    }
    if marked == expected {
        return Ok(());
    }
    if std::env::var_os("GANGWAY_BLESS").is_some_and(|value| value == "1") {
        fs::write(path, format!("{source}{marked}"))?;
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{marked}\nGANGWAY_BLESS=1 accepts it").into())
}
