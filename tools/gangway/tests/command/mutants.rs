//! Command lines as mistyping makes them: each is refused with status 2, or is one that means
//! something. None makes the command panic, and a misspelt option never becomes the program.

use crate::support::Workshop;

/// Right command lines. What they run ends at once.
const LINES: &[&[&str]] = &[
    &["run", "--report", "--", "true"],
    &["run", "--report=json:out.json", "--device", "cpu", "--", "true", "--reprot"],
    &["run", "--trace", "out.trace", "--device=none", "true", "x"],
    &["run", "--report-file", "out.txt", "--gcc-runtime=stock", "--", "true"],
    &["info", "--json"],
    &["inspect", "--json", "program.c"],
    &["env", "--report=html:page.html", "--device", "none"],
    &["report", "diff", "--limit", "5", "old.json", "new.json"],
    &["completions", "bash"],
    &["help", "run"],
    &["--version"],
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// A line with a slip of the hand, or two.
    fn mutate(&mut self, line: &[&str]) -> Vec<String> {
        let mut words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        for _ in 0..=self.below(2) {
            let at = self.below(words.len());
            let mut letters: Vec<char> = words[at].chars().collect();
            let letter = self.below(letters.len().max(1));
            match self.below(9) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at].clone()),
                2 => words.insert(
                    at,
                    ["--", "-", "", "-x", "--no", "=", "ö\n", "--report=", "run"][self.below(9)].into(),
                ),
                3 => {
                    let other = self.below(words.len());
                    words.swap(at, other);
                }
                4 if letters.len() > 1 => drop(letters.remove(letter)),
                5 if letters.len() > 1 => {
                    let other = self.below(letters.len());
                    letters.swap(letter, other);
                }
                6 => letters.insert(letter, ['e', '-', '=', ':', ',', ' ', 'ß', '%'][self.below(8)]),
                7 => letters.truncate(letter),
                _ => letters.extend(['s', '=', ':'][self.below(3)].to_string().chars()),
            }
            if let Some(word) = words.get_mut(at).filter(|word| line.contains(&word.as_str())) {
                *word = letters.into_iter().collect();
            }
            if words.is_empty() {
                words.push("help".to_owned());
            }
        }
        words
    }
}

#[test]
fn a_thousand_slips() {
    let workshop = Workshop::new();
    let mut random = Random(7);
    let mut refused = 0;
    for turn in 0..1000 {
        let line = LINES[random.below(LINES.len())];
        let words = random.mutate(line);
        // Compilers have options of their own.
        if words.iter().any(|word| ["cc", "c++", "fc", "stand-in", "man"].contains(&word.as_str())) {
            continue;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = workshop.output(&words);
        let told = &output.stderr;
        let code = output.status.code().unwrap_or_else(|| panic!("turn {turn}: {words:?}: {output:?}"));
        assert!([0, 1, 2, 125, 126, 127].contains(&code), "turn {turn}: {words:?}: {code}\n{told}");
        assert!(!told.contains("panicked"), "turn {turn}: {words:?}\n{told}");
        // Whatever fails says why.
        assert!(code == 0 || !told.is_empty() || code == 1, "turn {turn}: {words:?}: {code}");
        let first = words.iter().position(|word| *word == "run").map(|at| &words[at + 1..]);
        if let Some([option, ..]) = first
            && option.starts_with("--")
            && !["--", "--help", "--version"].contains(option)
            && !["--report", "--trace", "--device", "--gcc-runtime"]
                .iter()
                .any(|known| option.starts_with(known))
            && words[0] == "run"
        {
            assert_eq!(code, 2, "turn {turn}: {words:?}\n{told}");
        }
        refused += usize::from(code == 2);
    }
    assert!(refused > 200, "only {refused} were refused");
}
