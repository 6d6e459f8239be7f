//! Finds the tests: which files there are, which of them offload, what is done with each.
//!
//! Called by `main` once the sources are unpacked. Every OpenACC test belongs to
//! the suite; an OpenMP one does if it, or a file of the testsuite that it
//! includes or is built with, has a `target` or `declare target` directive.
//! Nothing here starts a compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::Regex;
use sha2::{Digest, Sha256};

use crate::arguments::Device;
use crate::directive::directives;
use crate::plan::{Decision, decide};
use crate::suite::{Level, Model, SUITES, Suite};

/// One test at one level of optimisation.
#[derive(Debug, Clone)]
pub struct Test {
    pub suite: &'static Suite,
    /// As DejaGnu names it: `libgomp.oacc-c/../libgomp.oacc-c-c++-common/x.c`.
    pub name: String,
    pub level: Level,
    pub source: PathBuf,
    pub decision: Decision,
    /// The source and everything of GCC's sources that it is built from.
    pub files: Vec<PathBuf>,
}

impl Test {
    /// Name and level, which together identify the test.
    pub fn id(&self) -> String {
        format!("{} {}", self.name, self.level.option())
    }

    /// Whether the test belongs to the tenth that continuous integration runs:
    /// decided by its name alone, so that new tests move no others.
    pub fn in_tenth(&self) -> bool {
        let digest = Sha256::digest(self.id());
        u16::from_be_bytes([digest[0], digest[1]]) % 10 == 0
    }
}

/// All tests in GCC's `sources`, sorted by name.
pub fn tests(sources: &Path, device: Device) -> Result<Vec<Test>> {
    let testsuite = &sources.join("libgomp/testsuite");
    let mut tests = Vec::new();
    for suite in &SUITES {
        for (name, source) in files_of(suite, testsuite)? {
            let text = read(&source)?;
            let found = directives(&text).with_context(|| name.clone())?;
            let mut files = BTreeSet::new();
            collect(&source, sources, &mut files)?;
            for directive in found.iter().filter(|it| it.name == "dg-additional-sources") {
                for file in directive.words.iter().flat_map(|words| words.split_whitespace()) {
                    collect(&source.with_file_name(file), sources, &mut files)?;
                }
            }
            if suite.model == Model::OpenMp && !any_offloads(&files)? {
                continue;
            }
            for level in Level::ALL {
                let mut decision = decide(suite, device, level, &found).with_context(|| name.clone())?;
                if let Decision::Run(plan) = &mut decision
                    && let Some(file) = &plan.output_file
                {
                    let whole = regex::escape(&read(&source.with_file_name(file))?);
                    plan.output = Some(format!("^{whole}$"));
                }
                let files = files.iter().cloned().collect();
                tests.push(Test {
                    suite,
                    name: name.clone(),
                    level,
                    source: source.clone(),
                    decision,
                    files,
                });
            }
        }
    }
    Ok(tests)
}

/// The names of a suite's tests, and their files.
fn files_of(suite: &Suite, testsuite: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let own = testsuite.join(suite.name);
    for file in files_below(&own)? {
        if suite.owns(&file) {
            found.insert(format!("{}/{}", suite.name, relative(&file, &own)), file);
        }
    }
    if let Some(common) = suite.common {
        let folder = testsuite.join(common);
        for file in files_below(&folder)? {
            if file.extension().is_some_and(|it| it == "c") {
                found.insert(format!("{}/../{common}/{}", suite.name, relative(&file, &folder)), file);
            }
        }
    }
    Ok(found)
}

fn relative(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned()
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn read(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| file.display().to_string())?;
    // A few Fortran tests hold Latin-1 in comments.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds `file` and what it includes, as far as that lies in `sources`.
fn collect(file: &Path, sources: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    static INCLUDE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?mi)^[ \t]*#?[ \t]*include[ \t]+["'<]([^"'>]+)["'>]"#)
            .expect("a constant that the tests use")
    });
    let file = file.canonicalize().with_context(|| file.display().to_string())?;
    if !files.insert(file.clone()) {
        return Ok(());
    }
    for captures in INCLUDE.captures_iter(&read(&file)?) {
        let included = file.with_file_name(&captures[1]);
        // Anything else is a header of the system.
        if included.canonicalize().is_ok_and(|it| it.starts_with(sources)) {
            collect(&included, sources, files)?;
        }
    }
    Ok(())
}

fn any_offloads(files: &BTreeSet<PathBuf>) -> Result<bool> {
    for file in files {
        if offloads(&read(file)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the text has a `target` or `declare target` directive of OpenMP, as
/// pragma, `_Pragma` or sentinel.
fn offloads(text: &str) -> bool {
    static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"(?im)(?:#[ \t]*pragma[ \t]+omp|_Pragma[ \t]*\([ \t]*"omp|^[ \t]*[!c*]\$omp)"#,
            r"[ \t&]+(?:begin[ \t]+|end[ \t]*)?(?:declare[ \t]*)?target",
        ))
        .expect("a constant that the tests use")
    });
    // A directive may go on after a backslash.
    DIRECTIVE.is_match(&text.replace("\\\n", " "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::{collect, offloads};

    #[test]
    fn directives_that_offload() {
        for text in [
            "#pragma omp target map(a)",
            "  #  pragma omp declare target",
            "#pragma omp begin declare target",
            "_Pragma(\"omp target teams\")",
            "#pragma omp \\\n  target",
            "  !$omp target enter data",
            "c$omp target",
            "      !$OMP DECLARE TARGET",
            "!$omp end target",
        ] {
            assert!(offloads(text), "{text}");
        }
    }

    #[test]
    fn directives_that_do_not() {
        for text in [
            "#pragma omp parallel",
            "/* target */",
            "!$omp parallel",
            "omp_target_alloc (8, 0);",
            "#pragma acc target",
        ] {
            assert!(!offloads(text), "{text}");
        }
    }

    #[test]
    fn included_files_of_the_testsuite() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("b")).unwrap();
        fs::write(root.join("a.c"), "#include <stdio.h>\n#include \"b/x.h\"\n").unwrap();
        fs::write(root.join("b/x.h"), "#include \"../a.c\"\n# include \"y.h\"\n").unwrap();
        fs::write(root.join("b/y.h"), "").unwrap();
        let mut files = BTreeSet::new();
        collect(&root.join("a.c"), &root, &mut files).unwrap();
        assert_eq!(
            files.into_iter().collect::<Vec<_>>(),
            [root.join("a.c"), root.join("b/x.h"), root.join("b/y.h")]
        );
    }
}
