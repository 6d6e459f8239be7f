//! What was found, as a page for a browser that needs nothing beside it: both places of a finding stand side by side,
//! with the lines around them.

use std::fs;

use gangway_findings::{Finding, Side, Source};

/// Lines that are shown before and behind the one that is told of.
const AROUND: usize = 4;

const STYLE: &str = "
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2330; --quiet: #667085; --line: #e3e7ee; --panel: #f7f8fa;
  --alarm: #b3261e; --mark: #fde7c4; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161d; --ink: #e7ebf2; --quiet: #98a2b3; --line: #2a313d;
  --panel: #1a202a; --alarm: #f2796f; --mark: #4a3a1c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 24px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0 0 20px; font-size: 24px; }
article { margin: 0 0 28px; padding: 14px 18px; background: var(--panel); border: 1px solid var(--line);
  border-left: 4px solid var(--alarm); border-radius: 6px; }
h2 { margin: 0 0 4px; font-size: 16px; overflow-wrap: anywhere; } h2 b { color: var(--alarm); }
.quiet { color: var(--quiet); font-size: 13px; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 14px; margin: 12px 0 8px; }
.side { min-width: 0; } .side p { margin: 0 0 4px; overflow-wrap: anywhere; }
pre { margin: 0; padding: 8px 0; overflow-x: auto; background: var(--paper); border: 1px solid var(--line);
  border-radius: 4px; font: 13px/1.45 ui-monospace, monospace; }
pre span { display: block; padding: 0 10px; min-width: max-content; } pre .here { background: var(--mark); }
pre i { display: inline-block; width: 4em; color: var(--quiet); font-style: normal; user-select: none; }
code { font: 13px ui-monospace, monospace; }";

/// The page. `program` is what was run.
#[must_use]
pub fn page(program: &str, findings: &[Finding]) -> String {
    let count = match findings.len() {
        0 => "Nothing was found".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let articles: String = findings.iter().map(article).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{count} in {program}</title>\n<style>{STYLE}\n</style>\n</head>\n<body>\n\
         <h1>{count} in <code>{program}</code></h1>\n{articles}</body>\n</html>\n",
        program = escaped(program),
    )
}

fn article(finding: &Finding) -> String {
    let sides: String = finding.sides.iter().map(side).collect();
    let times = match finding.count {
        0 | 1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let kernel = match &finding.kernel[..] {
        "" => times,
        kernel => format!("in kernel <code>{}</code>, {times}", escaped(kernel)),
    };
    let notes: String =
        finding.notes.iter().map(|note| format!("<p class=\"quiet\">{}</p>\n", escaped(note))).collect();
    format!(
        "<article>\n<h2><b>{}</b> {}</h2>\n<div class=\"quiet\">{kernel}</div>\n<div class=\"sides\">\n{sides}</div>\n\
         {notes}<div class=\"quiet\">To hear no more of it: <code>{}</code> in the file of <code>--suppress</code></div>\n\
         </article>\n",
        escaped(&finding.check),
        escaped(&finding.message),
        escaped(&finding.suppression()),
    )
}

fn side(side: &Side) -> String {
    let label =
        if side.label.is_empty() { String::new() } else { format!("<b>{}</b>: ", escaped(&side.label)) };
    let plain = Side { source: None, function: String::new(), ..side.clone() };
    let place = match &side.source {
        Some(Source { file, line, .. }) => format!("{}:{line}", escaped(file)),
        None => escaped(&side.function),
    };
    let lines = side.source.as_ref().and_then(|source| Some((source, fs::read(&source.file).ok()?)));
    let excerpt =
        lines.map(|(source, text)| excerpt(&String::from_utf8_lossy(&text), source)).unwrap_or_default();
    format!(
        "<div class=\"side\">\n<p>{label}{}</p>\n<p class=\"quiet\">{place}</p>\n{excerpt}</div>\n",
        escaped(&plain.to_string())
    )
}

/// The lines around one of a file.
fn excerpt(text: &str, source: &Source) -> String {
    let here = source.line as usize;
    if here == 0 || text.lines().count() < here {
        // Another file than the program was made of.
        return String::new();
    }
    let first = here.saturating_sub(AROUND).max(1);
    let lines = (first..).zip(text.lines().skip(first - 1)).take(here + AROUND - first + 1);
    let line = |(number, text): (usize, &str)| {
        let class = if number == here { " class=\"here\"" } else { "" };
        format!("<span{class}><i>{number}</i>{}</span>", escaped(text))
    };
    format!("<pre>{}</pre>\n", lines.map(line).collect::<String>())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_places_stand_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.c");
        fs::write(&file, (1..=20).map(|line| format!("a[{line}] < b;\n")).collect::<String>()).unwrap();
        let side = |label: &str, line| Side {
            label: label.to_owned(),
            what: "a write".to_owned(),
            source: Some(Source { file: file.display().to_string(), line, column: 3 }),
            ..Side::default()
        };
        let finding = Finding {
            check: "race".to_owned(),
            message: "`a<b>` & more".to_owned(),
            kernel: "k<int>".to_owned(),
            sides: vec![side("first", 2), side("then", 19)],
            count: 3,
            ..Finding::default()
        };
        let page = page("./prog", &[finding]);
        assert!(
            page.contains("1 finding in <code>./prog</code>")
                && page.contains("k&lt;int&gt;</code>, 3 times")
        );
        assert!(page.contains("`a&lt;b&gt;` &amp; more") && !page.contains("a<b>"));
        assert!(page.contains("<span class=\"here\"><i>19</i>a[19] &lt; b;</span>"));
        assert!(page.contains("<i>1</i>a[1]") && page.contains("<i>6</i>") && !page.contains("<i>7</i>"));
        assert!(page.contains("race:a.c:19"));
    }

    #[test]
    fn a_file_that_is_not_there_has_no_lines() {
        let source = Source { file: "a.c".to_owned(), line: 9, column: 0 };
        assert_eq!(excerpt("one\ntwo\n", &source), "");
        let side = side(&Side { source: Some(source), what: "a read".to_owned(), ..Side::default() });
        assert!(side.contains("a.c:9") && !side.contains("<pre>"), "{side}");
        assert!(page("p", &[]).contains("Nothing was found in"));
    }
}
