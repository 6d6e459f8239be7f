//! A file as the preprocessor leaves it, with its directives: macros, `_Pragma` and headers need no care
//! after that, and every name that stands in it is spelt.
//!
//! The preprocessor does not expand macros in `#pragma acc`, as the compiler does later. So it is asked a
//! second time, for the directives alone, with the macros that are defined where each stands.

use std::io::Write as _;
use std::ops::Range;
use std::process::{Command, Stdio};

use super::directive::Directive;
use crate::error::{Complaint, Error};
use crate::lexer::{self, Kind};

/// A preprocessed file.
#[derive(Debug)]
pub struct Source {
    pub text: String,
    /// In the order of the text.
    pub directives: Vec<Directive>,
    /// The text without what has been added to `kernels` constructs, if anything was.
    pub plain: Option<String>,
    /// Where the lines begin that say which line of which file follows, and what they say.
    markers: Vec<(usize, usize, String)>,
}

/// GCC's functions that say which gang, worker or lane a thread is, and how many there are; and what has their
/// meaning here.
const PLACES: [&str; 2] = [
    "-D__builtin_goacc_parlevel_id=__gangway_acc_parlevel_id",
    "-D__builtin_goacc_parlevel_size=__gangway_acc_parlevel_size",
];

/// What stands at the beginning of a directive's line in the second question.
const ASKED: &str = "__gangway_acc_directive";

impl Source {
    /// Preprocesses with the arguments of a compiler, of which the first is the compiler.
    ///
    /// # Errors
    /// What clang says, or a directive that is wrong.
    pub fn read(arguments: &[Vec<u8>], is_cxx: bool) -> Result<Self, Error> {
        let [id, size] = PLACES;
        let text = preprocessed(arguments, &["-E", "-dD", "-fopenacc", id, size], None)?;
        let (text, lines) = without_definitions(&without_digraphs(text));
        let plain = with_places(with_what_is_meant(&expanded(&arguments[0], is_cxx, text, lines)?), is_cxx);
        let lines = Self { markers: markers(&plain), text: plain, directives: Vec::new(), plain: None };
        let text = super::kernels::with_loops(&lines.text, &|at| lines.marker(at));
        let plain = (text != lines.text).then_some(lines.text);
        Ok(Self { plain, ..Self::of(text)? })
    }

    /// Reads the directives of a preprocessed text.
    ///
    /// # Errors
    /// A directive that is wrong.
    pub fn of(text: String) -> Result<Self, Error> {
        let markers = markers(&text);
        let mut source = Self { text, directives: Vec::new(), markers, plain: None };
        source.directives = source.read_directives().map_err(|complaint| source.error(&complaint))?;
        Ok(source)
    }

    fn read_directives(&self) -> Result<Vec<Directive>, Complaint> {
        let mut found = Vec::new();
        for range in pragmas(&self.text) {
            let mut tokens = lexer::tokens(self.text[range.clone()].as_bytes());
            for token in &mut tokens {
                token.range = token.range.start + range.start..token.range.end + range.start;
            }
            found.push(Directive::read(range, &tokens[3..])?);
        }
        Ok(found)
    }

    /// The file and the line that a byte belongs to for the user.
    #[must_use]
    pub fn presumed(&self, at: usize) -> (&str, usize) {
        let marker = self.markers.partition_point(|(begin, ..)| *begin <= at);
        let Some((begin, line, file)) = marker.checked_sub(1).map(|index| &self.markers[index]) else {
            return ("", 1);
        };
        let behind = self.text.get(*begin..at).unwrap_or_default();
        // The line behind the marker has its number.
        (file, (line + behind.matches('\n').count()).saturating_sub(1))
    }

    /// A line that says where a byte stands, with an empty line's end before it.
    #[must_use]
    pub fn marker(&self, at: usize) -> String {
        let (file, line) = self.presumed(at);
        format!("\n# {line} \"{file}\"\n")
    }

    /// A complaint about a byte.
    #[must_use]
    pub fn error(&self, complaint: &Complaint) -> Error {
        let (file, line) = self.presumed(complaint.at);
        Error::Source { file: file.into(), line, message: complaint.message.clone() }
    }
}

/// The text with brackets in the place of their digraphs, which nothing else has to know then.
fn without_digraphs(text: String) -> String {
    const DIGRAPHS: [(&str, &str, &str); 4] =
        [("<", ":", "["), (":", ">", "]"), ("<", "%", "{"), ("%", ">", "}")];
    if !["<:", ":>", "<%", "%>"].iter().any(|digraph| text.contains(digraph)) {
        return text;
    }
    let tokens = lexer::tokens(text.as_bytes());
    let (mut result, mut from) = (String::with_capacity(text.len()), 0);
    for pair in tokens.windows(2).filter(|pair| pair[0].range.end == pair[1].range.start) {
        let is = |(one, other, _): &&(&str, &str, &str)| pair[0].is(one) && pair[1].is(other);
        if let Some((.., bracket)) = DIGRAPHS.iter().find(is).filter(|_| from <= pair[0].range.start) {
            result.push_str(&text[from..pair[0].range.start]);
            result.push_str(bracket);
            from = pair[1].range.end;
        }
    }
    result.push_str(&text[from..]);
    result
}

/// What a call of the preprocessor writes.
fn preprocessed(arguments: &[Vec<u8>], options: &[&str], input: Option<&str>) -> Result<String, Error> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let words = arguments.iter().map(|word| OsString::from_vec(word.clone())).collect::<Vec<_>>();
    let failed =
        |error: std::io::Error| Error::Library(format!("cannot execute {}: {error}", words[0].display()));
    let mut command = Command::new(&words[0]);
    command.args(options).args(&words[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(failed)?;
    let output = std::thread::scope(|scope| {
        if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
            // A preprocessor that has stopped says why by itself.
            scope.spawn(move || drop(pipe.write_all(text.as_bytes())));
        }
        child.wait_with_output()
    });
    let output = output.map_err(failed)?;
    if !output.status.success() {
        return Err(Error::Clang(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Error::Clang("the source is not UTF-8, which OpenACC's translation needs".to_owned()))
}

/// The text with definitions of macros made empty lines, and these: where each stood, and what it said.
fn without_definitions(text: &str) -> (String, Vec<(usize, String)>) {
    let mut rest = String::with_capacity(text.len());
    let mut definitions = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("#define ") || line.starts_with("#undef ") {
            definitions.push((rest.len(), line.to_owned()));
            rest.push('\n');
        } else {
            rest.push_str(line);
        }
    }
    (rest, definitions)
}

/// The bytes of the directives, without the ends of their lines.
fn pragmas(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let words = line.trim_start().strip_prefix('#').map(str::trim_start);
        let words = words.and_then(|rest| rest.strip_prefix("pragma")).map(str::trim_start);
        if words.and_then(|rest| rest.strip_prefix("acc")).is_some_and(|rest| rest.starts_with([' ', '\t'])) {
            found.push(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    found
}

/// The text with macros in directives expanded.
fn expanded(
    compiler: &[u8],
    is_cxx: bool,
    text: String,
    definitions: Vec<(usize, String)>,
) -> Result<String, Error> {
    let pragmas = pragmas(&text);
    let names: std::collections::HashSet<&str> = definitions
        .iter()
        .filter_map(|(_, line)| line.strip_prefix("#define "))
        .filter_map(|line| line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next())
        .collect();
    let has_macro = |range: &Range<usize>| {
        let tokens = lexer::tokens(text[range.clone()].as_bytes());
        tokens[3..].iter().any(|token| token.kind == Kind::Identifier && names.contains(&*token.text))
    };
    if !pragmas.iter().any(has_macro) {
        return Ok(text);
    }
    let mut question = String::new();
    let mut definitions = definitions.into_iter().peekable();
    for range in &pragmas {
        while let Some((_, line)) = definitions.next_if(|(at, _)| *at < range.start) {
            question.push_str(&line);
        }
        let (_, words) = text[range.clone()].split_once("acc").unwrap_or_default();
        question.push_str(ASKED);
        question.push_str(words);
        question.push('\n');
    }
    let language = if is_cxx { "c++" } else { "c" };
    let arguments = [compiler.to_vec(), b"-".to_vec()];
    let answer = preprocessed(&arguments, &["-E", "-P", "-undef", "-w", "-x", language], Some(&question))?;
    let mut lines = answer.lines().filter_map(|line| line.trim_start().strip_prefix(ASKED));
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for range in &pragmas {
        let Some(line) = lines.next() else { continue };
        result.push_str(&text[from..range.start]);
        result.push_str("#pragma acc");
        result.push_str(line);
        from = range.end;
    }
    result.push_str(&text[from..]);
    Ok(result)
}

/// The text with declarations of what says where a thread is, if it is asked for.
fn with_places(text: String, is_cxx: bool) -> String {
    if !text.contains("__gangway_acc_parlevel_") {
        return text;
    }
    let declared = "int __gangway_acc_parlevel_id(int); int __gangway_acc_parlevel_size(int);";
    match is_cxx {
        true => format!("extern \"C\" {{ {declared} }}\n{text}"),
        false => format!("{declared}\n{text}"),
    }
}

/// The text without what clang takes for an error and GCC does not: directives `routine` that name no level get
/// `seq`, which programs of before OpenACC 2.0 mean, `data` without a clause goes, as nothing is asked for, what is
/// reduced by `-` is a sum, as in OpenMP, and of `atomic update capture`, as OpenACC 2.7 has it (section 2.12), `capture`
/// says all.
fn with_what_is_meant(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for range in pragmas(text) {
        let tokens = lexer::tokens(text[range.clone()].as_bytes());
        let has_level = tokens
            .iter()
            .any(|token| ["gang", "worker", "vector", "seq"].iter().any(|level| token.is(level)));
        if tokens[3].is("data") && tokens.len() == 4 {
            result.push_str(&text[from..range.start]);
            from = range.end;
        }
        if tokens.len() > 5 && tokens[3].is("atomic") && tokens[4].is("update") && tokens[5].is("capture") {
            result.push_str(&text[from..range.start + tokens[4].range.start]);
            from = range.start + tokens[4].range.end;
        }
        if tokens[3].is("routine") && !has_level {
            result.push_str(&text[from..range.end]);
            result.push_str(" seq");
            from = range.end;
        }
        for word in tokens.windows(4) {
            if word[0].is("reduction") && word[1].is("(") && word[2].is("-") && word[3].is(":") {
                let at = range.start + word[2].range.start;
                result.push_str(&text[from..at]);
                result.push('+');
                from = at + 1;
            }
        }
    }
    result.push_str(&text[from..]);
    result
}

/// Lines such as `# 12 "file.c" 2`: where the text behind them begins, and what they say.
fn markers(text: &str) -> Vec<(usize, usize, String)> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let Some(rest) = line.strip_prefix("# ") else { continue };
        let Some((number, rest)) = rest.split_once(' ') else { continue };
        let (Ok(number), Some(rest)) = (number.parse::<usize>(), rest.strip_prefix('"')) else { continue };
        if let Some((file, _)) = rest.rsplit_once('"') {
            found.push((begin, number, file.to_owned()));
        }
    }
    found
}
