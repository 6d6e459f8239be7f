//! The text of a program, line by line.

use super::Mistake;

#[derive(Clone, Debug, Default)]
pub struct Text {
    /// What stands before `main`.
    head: String,
    body: String,
}

/// What every program begins with. Values fit into every type, so that conversions lose nothing.
const HEAD: &str = "#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define MIX(x, c) ((unsigned)((unsigned)(x) * 2654435761u ^ (unsigned)(c)) >> 9 & 0x7fff)
struct pair { int key; double value; };
static unsigned long seen;
static void look(unsigned value) { seen = seen * 31 + value; }
";

impl Text {
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.body.push_str(line.as_ref());
        self.body.push('\n');
    }

    pub fn lines<T: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = T>) {
        lines.into_iter().for_each(|line| self.line(line));
    }

    /// Something outside of functions.
    pub fn global(&mut self, line: impl AsRef<str>) {
        self.head.push_str(line.as_ref());
        self.head.push('\n');
    }

    /// A line that is another one with the mistake, or none at all where it is empty.
    pub fn either(&mut self, mistake: Option<Mistake>, wrong: impl AsRef<str>, right: impl AsRef<str>) {
        let Some(mistake) = mistake else { return self.some(right.as_ref()) };
        self.line(format!("#ifdef {}", mistake.name()));
        self.some(wrong.as_ref());
        self.line("#else");
        self.some(right.as_ref());
        self.line("#endif");
    }

    fn some(&mut self, line: &str) {
        if !line.is_empty() {
            self.line(line);
        }
    }

    pub fn finished(self) -> String {
        format!(
            "{HEAD}{}int main(void)\n{{\n{}printf(\"%lu\\n\", seen);\nreturn 0;\n}}\n",
            self.head, self.body
        )
    }
}
