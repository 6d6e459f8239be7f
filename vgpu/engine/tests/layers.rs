//! The layers of the engine, from below: what is agreed on, computing, compiling and the helpers
//! of compiled code, running. The sources are read: no layer uses one above it.

use std::path::{Path, PathBuf};

/// A folder of `src`, and the modules that nothing in it may use.
const ABOVE: &[(&str, &[&str])] = &[
    ("lower", &["compile", "support", "run", "engine"]),
    ("compile", &["run", "engine"]),
    ("support", &["compile", "run", "engine"]),
    ("load", &["compile", "support", "run", "engine"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn no_layer_uses_one_above_it() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (folder, above) in ABOVE {
        let files = sources(&top.join(folder));
        assert!(!files.is_empty(), "no sources in {folder}");
        for path in files {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            for (line, number) in text.lines().zip(1..) {
                let code = line.split("//").next().unwrap_or_default();
                for module in *above {
                    if code.contains(&format!("crate::{module}")) {
                        let place = path.strip_prefix(&top).unwrap_or(&path).display();
                        wrong.push(format!(
                            "{place}:{number}: '{folder}' uses '{module}', which is above it; \
                             what both need goes below both, as 'abi', 'code' and 'frame' are"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
