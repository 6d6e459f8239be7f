//! What NVIDIA's assembler and `gangway-ptx` say to instructions.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// How many instructions go into one text. The assembler gives up at the first that breaks
/// its grammar, and is asked again without it.
const BATCH: usize = 400;

/// Instructions of no form, so that the assembler never begins to make code.
const NONSENSE: &str = "add.ftz.u32 %u32_0, %u32_0, %u32_0;";

/// Under what an instruction is judged.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    assembler: &'a Path,
    version: &'a str,
    processor: u16,
}

/// The reasons to refuse; `None` where an instruction is taken.
pub struct Verdict {
    theirs: Option<String>,
    ours: Option<String>,
}

impl Verdict {
    pub fn agree(&self) -> bool {
        self.theirs.is_none() == self.ours.is_none()
    }

    pub fn who(&self) -> &'static str {
        if self.theirs.is_none() { "only-ptxas" } else { "only-gangway" }
    }

    pub fn why(&self) -> &str {
        self.theirs.as_deref().or(self.ours.as_deref()).unwrap_or("taken")
    }
}

impl<'a> Setting<'a> {
    pub fn new(assembler: &'a Path, version: &'a str, processor: u16) -> Self {
        Setting { assembler, version, processor }
    }

    pub fn name(&self) -> String {
        format!("{}/{}", self.version, self.processor)
    }

    /// A kernel with registers of every type, `%u32_0` and so on. Versions are of one digit each.
    fn head(&self) -> String {
        let mut text =
            format!(".version {}\n.target sm_{}\n.address_size 64\n", self.version, self.processor);
        text += ".global .align 16 .b8 bytes[64];\n.global .align 16 .u32 words[16];\n";
        text += ".func callee() { ret; }\n.visible .entry k()\n{\n";
        for ty in crate::candidates::REGISTERS {
            let half = matches!(*ty, "f16" | "f16x2");
            if !half || self.processor >= 53 && self.version >= "4.2" {
                text += &format!(".reg .{ty} %{ty}_<8>;\n");
            }
        }
        if self.version >= "6.0" {
            text += "list: .branchtargets label;
";
        }
        text + "bra label;
label:
"
    }
}

/// A verdict for each instruction.
pub fn verdicts(setting: &Setting<'_>, instructions: &[String]) -> Result<Vec<Verdict>> {
    let folder = tempfile::tempdir()?;
    let head = setting.head();
    let mut all = Vec::with_capacity(instructions.len());
    for batch in instructions.chunks(BATCH) {
        let mut theirs = refusals(setting, &head, batch, folder.path())?;
        for (index, instruction) in batch.iter().enumerate() {
            let text = format!("{head}{instruction}\nret;\n}}\n");
            let ours = gangway_ptx::parse(&text).err();
            let ours = ours.map(|errors| errors.to_string().lines().next().unwrap_or_default().to_owned());
            all.push(Verdict { theirs: theirs.remove(&index), ours });
        }
    }
    Ok(all)
}

/// The instructions that the assembler refuses, with its first reason.
fn refusals(
    setting: &Setting<'_>,
    head: &str,
    batch: &[String],
    folder: &Path,
) -> Result<HashMap<usize, String>> {
    let mut refused = HashMap::new();
    let mut waiting = vec![(0..batch.len()).collect::<Vec<usize>>()];
    while let Some(indices) = waiting.pop() {
        let kept: Vec<usize> = indices.into_iter().filter(|index| !refused.contains_key(index)).collect();
        let mut text = format!("{head}{NONSENSE}\n");
        let first = text.lines().count() + 1;
        for &index in &kept {
            text += &batch[index];
            text.push('\n');
        }
        text += "ret;\n}\n";
        let output = assemble(setting, &folder.join("batch.ptx"), &text)?;
        if !output.contains("aborted") {
            // It has crashed: a text that makes it do so is not taken.
            match kept.as_slice() {
                [] => bail!("the assembler fails without an instruction:\n{output}"),
                &[index] => drop(refused.insert(index, "the assembler crashes".to_owned())),
                _ => waiting.extend(kept.chunks(kept.len().div_ceil(2)).map(<[usize]>::to_vec)),
            }
            continue;
        }
        let mut broken = false;
        for line in output.lines() {
            let Some((line, kind, reason)) = message(line) else { continue };
            ensure!(line + 1 >= first, "the assembler refuses line {line} of the frame: {reason}");
            if let Some(&index) = line.checked_sub(first).and_then(|at| kept.get(at)) {
                refused.entry(index).or_insert_with(|| reason.to_owned());
                broken |= kind == "fatal";
            }
        }
        if broken {
            waiting.push(kept);
        }
    }
    Ok(refused)
}

/// What the assembler says to a text.
fn assemble(setting: &Setting<'_>, file: &Path, text: &str) -> Result<String> {
    std::fs::write(file, text)?;
    let output = Command::new(setting.assembler)
        .arg(format!("-arch=sm_{}", setting.processor))
        .arg(file)
        .args(["-o", "/dev/null"])
        .output()
        .with_context(|| format!("cannot run {}", setting.assembler.display()))?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// The line, the kind and the reason of `ptxas FILE, line 12; error   : WHY`.
fn message(line: &str) -> Option<(usize, &str, &str)> {
    let (_, rest) = line.split_once(", line ")?;
    let (number, rest) = rest.split_once("; ")?;
    let (kind, reason) = rest.split_once(':')?;
    let kind = kind.trim();
    matches!(kind, "error" | "fatal").then_some((number.parse().ok()?, kind, reason.trim()))
}
