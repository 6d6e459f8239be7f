//! The layers of the engine, and that the modules of a folder do not use each other.

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}

/// What generators read is no vendor's: they would do for another kind of device code as they are.
#[test]
fn generators_do_not_read_ptx() {
    fn look(folder: &std::path::Path, found: &mut Vec<String>) -> usize {
        let entries =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let look_at = |path: std::path::PathBuf| {
            if path.is_dir() {
                return look(&path, found);
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            if text.contains("gangway_ptx") {
                found.push(path.display().to_string());
            }
            1
        };
        entries.map(look_at).sum()
    }
    let mut found = Vec::new();
    for (folder, least) in [("src/cranelift", 30), ("src/llvm", 8)] {
        let files = look(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
        assert!(files > least, "only {files} files");
    }
    assert_eq!(found, [""; 0], "these read PTX");
}
