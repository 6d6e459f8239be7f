//! `llvm-objdump`: what it prints of a file, and files for it to print.

use std::path::Path;
use std::process::Command;

use gangway_gcn::Gpu;
use libtest_mimic::Failed;

/// One line: an instruction, or a word that is none.
#[derive(Debug)]
pub struct Line {
    pub text: String,
    pub words: Vec<u32>,
    /// LLVM printed a comment that something is wrong.
    pub complaint: bool,
}

impl Line {
    pub fn refused(&self) -> bool {
        self.text.starts_with(".long") || self.text.starts_with(".byte")
    }

    pub fn is_graphics(&self) -> bool {
        ["image_", "exp ", "v_interp_"].iter().any(|name| self.text.starts_with(name))
    }
}

/// What was printed of a file.
#[derive(Debug, Default)]
pub struct Printed {
    pub lines: Vec<Line>,
    /// The tool ended by a signal behind these lines.
    pub crashed: bool,
}

/// Disassembles all code of a file.
pub fn disassemble(file: &Path, gpu: Gpu) -> Result<Printed, Failed> {
    let output = Command::new("llvm-objdump-22")
        .args(["--disassemble", "--disassemble-zeroes", "--no-print-imm-hex"])
        .arg(format!("--mcpu={gpu}"))
        .arg(file)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let crashed = !output.status.success();
    // The last line may be cut when the tool has crashed.
    let whole = if crashed { &text[..text.rfind('\n').map_or(0, |end| end + 1)] } else { &text };
    let lines = whole.lines().filter_map(line).collect::<Result<_, _>>()?;
    Ok(Printed { lines, crashed })
}

/// `\tTEXT  // ADDRESS: WORDS <SYMBOL> ; COMMENT`; other lines are headings.
fn line(line: &str) -> Option<Result<Line, Failed>> {
    let (text, comment) = line.strip_prefix('\t')?.rsplit_once("// ")?;
    let (_, behind) = comment.split_once(": ")?;
    let (words, complaint) = behind.split_once(" ; ").map_or((behind, false), |(words, _)| (words, true));
    let words = words.split_ascii_whitespace().take_while(|word| !word.starts_with('<'));
    let words: Result<Vec<_>, _> = words.map(|word| u32::from_str_radix(word, 16)).collect();
    Some(words.map_err(|error| format!("{line}: {error}").into()).map(|words| Line {
        text: text.trim_end().to_owned(),
        complaint: complaint || text.contains("/*"),
        words,
    }))
}

/// An object file with these words as its code.
pub fn object(gpu: Gpu, words: &[u32]) -> Vec<u8> {
    let machine: u32 = match gpu {
        Gpu::Gfx900 => 0x2c,
        Gpu::Gfx906 => 0x2f,
        Gpu::Gfx908 => 0x30,
        Gpu::Gfx90a => 0x3f,
        Gpu::Gfx942 => 0x4c,
    };
    let names = b"\0.text\0.shstrtab\0\0\0\0\0\0\0\0";
    let (code, names_at) = (64u64, 64 + words.len() as u64 * 4);
    let sections_at = (names_at + names.len() as u64).next_multiple_of(8);
    let mut file = b"\x7fELF\x02\x01\x01\x40\x03\0\0\0\0\0\0\0".to_vec();
    let half = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    half(&mut file, 1);
    half(&mut file, 224);
    file.extend(1u32.to_le_bytes());
    for value in [0, 0, sections_at] {
        file.extend(value.to_le_bytes());
    }
    file.extend(machine.to_le_bytes());
    for value in [64, 0, 0, 64, 3, 2] {
        half(&mut file, value);
    }
    file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    file.extend(names);
    file.resize(sections_at as usize, 0);
    let mut section = |name: u32, kind: u32, flags: u64, offset: u64, size: u64| {
        file.extend(name.to_le_bytes());
        file.extend(kind.to_le_bytes());
        for value in [flags, 0, offset, size, 0, 4, 0] {
            file.extend(value.to_le_bytes());
        }
    };
    section(0, 0, 0, 0, 0);
    section(1, 1, 6, code, words.len() as u64 * 4);
    section(7, 3, 0, names_at, 17);
    file
}
