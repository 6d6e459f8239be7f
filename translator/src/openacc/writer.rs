//! The file as it becomes: text that is kept, with names replaced, and directives that are translated.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::directive::{Directive, Name};
use super::index::{Index, Key, Lambda, Use, Variable, range_of};
use super::lambdas;
use super::left::{Flow, Flows};
use super::nest::{self, Independent, Levels, Reason};
use super::notes::Notes;
use super::rows::{self, Copied};
use super::slice::Slice;
use super::source::Source;
use crate::ast::{Node, Unit};
use crate::error::Complaint;
use crate::lexer;

/// What stands for the names of variables at a place.
pub type Names = HashMap<Key, String>;

/// The key of what stands for `this`.
pub const THIS: Key = usize::MAX;

/// A text, or what is wrong.
pub type Written = Result<String, Complaint>;

/// Whatever is known of the file, while it is written.
pub struct Writer<'w> {
    pub source: &'w Source,
    pub text: &'w str,
    pub index: Index<'w>,
    pub directives: HashMap<usize, &'w Directive>,
    pub routines: HashMap<Key, Levels>,
    /// Functions that there are not on the host.
    pub nohost: HashSet<Key>,
    /// Functions of another name on GPUs.
    pub bound: HashMap<Key, String>,
    pub notes: Notes,
    /// What has been found of loops that do not say whether their iterations are independent.
    pub independent: HashMap<usize, Result<Independent, Reason>>,
    /// Gangs, workers and lanes of constructs that do not say how many, where the command line does.
    pub dimensions: [Option<u64>; 3],
    /// Parts of declarations that are replaced.
    exposed: Vec<(Range<usize>, String)>,
    /// Variables in clauses of the data constructs around (section 2.6.2: visible data clauses).
    pub visible: Vec<Key>,
    /// Those of them that are named as a whole.
    pub visible_pointers: Vec<Key>,
    /// What leads to the pointers of `declare deviceptr` that stand before.
    pub pointers: Vec<String>,
    /// What is wrong in routines, which are looked at before the text around them.
    pub complaints: Vec<Complaint>,
    /// Names that stand for the elements of arrays, and how many arrays are in each other around those.
    pub elements: HashMap<String, usize>,
    /// Names that stand for copies of sections of arrays.
    pub copies: HashMap<String, Copied>,
    /// Copies of the construct that is written whose length is known when the program runs.
    pub slices: Vec<Slice>,
    /// What functions do with variables.
    flows: Flows<'w>,
    counter: usize,
}

/// Which code a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    Host,
    Processors,
    Gpus,
}

impl<'w> Writer<'w> {
    pub fn new(source: &'w Source, unit: &'w Unit, identity: u64) -> Self {
        let concerns = |range: &Range<usize>| {
            source.directives.iter().any(|directive| {
                range.contains(&directive.range.start)
                    || directive.name == Name::Routine && directive.range.end <= range.start
            })
        };
        let index = Index::new(unit.root(), &source.text, &concerns);
        let directives =
            source.directives.iter().map(|directive| (directive.range.start, directive)).collect();
        let mut writer = Self {
            source,
            text: &source.text,
            index,
            directives,
            routines: HashMap::new(),
            nohost: HashSet::new(),
            bound: HashMap::new(),
            notes: Notes::default(),
            independent: HashMap::new(),
            dimensions: [None; 3],
            exposed: Vec::new(),
            visible: Vec::new(),
            visible_pointers: Vec::new(),
            pointers: Vec::new(),
            complaints: Vec::new(),
            elements: HashMap::new(),
            copies: HashMap::new(),
            slices: Vec::new(),
            flows: Flows::default(),
            counter: 0,
        };
        writer.find_routines(unit.root());
        writer.exposed = writer.exposed(identity);
        writer.exposed.extend(lambdas::inline(&writer.index, writer.text));
        writer
    }

    /// What the function around a byte does with a variable.
    pub fn flow(&self, key: Key, at: usize) -> Option<Rc<Flow<'w>>> {
        self.flows.around(at, key, &self.index)
    }

    /// The whole file.
    pub fn file(&mut self) -> Written {
        for directive in &self.source.directives {
            if nest::gangs(directive).is_none() {
                let message = "the dimension of these gangs is spelt as no number";
                return Err(Complaint::new(directive.range.start, message));
            }
        }
        let text = self.host(0..self.text.len(), &Names::new())?;
        if self.complaints.is_empty() { Ok(text) } else { Err(self.complaints.remove(0)) }
    }

    /// A name that nothing else has.
    pub fn fresh(&mut self, stem: &str, of: &str) -> String {
        self.counter += 1;
        let of: String =
            of.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
        format!("__acc_{stem}{}_{of}", self.counter)
    }

    /// A variable's copy that begins with nothing: its declaration. Names lead to it from then on.
    pub fn own_copy(&mut self, variable: &Variable, names: &mut Names) -> String {
        let name = self.fresh("p", &variable.name);
        let text = format!("__typeof__({}) {name}; (void){name}; ", variable.ty);
        names.insert(variable.key, name);
        text
    }

    /// Text for the host, with its directives translated.
    pub fn host(&mut self, range: Range<usize>, names: &Names) -> Written {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut at = range.start;
        let inside: Vec<&'w Directive> = self
            .source
            .directives
            .iter()
            .filter(|directive| range.start <= directive.range.start && directive.range.end <= range.end)
            .collect();
        edits.extend(self.routine_bodies(&range));
        let bodies: Vec<Range<usize>> = edits.iter().map(|(range, _)| range.clone()).collect();
        let within = |part: &Range<usize>| range.start <= part.start && part.end <= range.end;
        edits.extend(self.exposed.iter().filter(|(part, _)| within(part)).cloned());
        for directive in inside {
            let begin = directive.range.start;
            if begin < at || bodies.iter().any(|body| body.contains(&begin)) {
                continue;
            }
            let (end, text) = self.directive(directive, names)?;
            let behind = if end > directive.range.end { self.source.marker(end) } else { String::new() };
            edits.push((begin..end, text + &behind));
            at = end;
        }
        Ok(self.edited(range, names, edits, For::Host))
    }

    /// One directive for the host, and the byte behind what it covers.
    fn directive(&mut self, directive: &'w Directive, names: &Names) -> Result<(usize, String), Complaint> {
        let end = directive.range.end;
        match directive.name {
            Name::Parallel | Name::Kernels | Name::Serial => self.compute(directive, names),
            Name::Data | Name::HostData => self.data_region(directive, names),
            Name::EnterData | Name::ExitData | Name::Update => {
                Ok((end, self.unstructured(directive, names)?))
            }
            Name::Wait => Ok((end, self.wait(directive, names)?)),
            Name::Init | Name::Shutdown | Name::Set => Ok((end, self.settings(directive, names)?)),
            Name::Declare => Ok((end, self.declare(directive, names)?)),
            Name::Routine => Ok((end, self.routine_directive(directive))),
            Name::Atomic => Ok((end, self.atomic(directive))),
            Name::Cache => Ok((end, String::new())),
            // In no construct and in no routine: the thread that comes here runs it.
            Name::Loop => Ok((end, String::new())),
        }
    }

    /// Text with names replaced, and other parts as well.
    pub fn edited(
        &self,
        range: Range<usize>,
        names: &Names,
        mut edits: Vec<(Range<usize>, String)>,
        code: For,
    ) -> String {
        for found in self.index.uses_in(&range) {
            if let Some(edit) = self.capture(found, names) {
                edits.extend(edit);
                continue;
            }
            if let Some((name, copied)) =
                names.get(&found.key).and_then(|name| self.copies.get_key_value(name))
            {
                edits.extend(copied.edits(self.text, &found.range, name));
                continue;
            }
            match names.get(&found.key).map(|name| (name, self.elements.get(name))) {
                Some((name, Some(depth))) => edits.extend(rows::edits(self.text, &found.range, name, *depth)),
                Some((name, None)) => edits.push((found.range.clone(), name.clone())),
                None => {}
            }
        }
        if let Some(this) = names.get(&THIS) {
            let within = |at: &&usize| range.contains(*at);
            edits.extend(self.index.this.iter().filter(within).map(|at| (*at..*at + 4, this.clone())));
            let implicit = self.index.implicit_this.iter().filter(within);
            edits.extend(implicit.map(|at| (*at..*at, format!("{this}->"))));
        }
        if code != For::Host {
            for call in self.index.calls.iter().filter(|call| range.contains(&call.name.start)) {
                let name = &self.text[call.name.clone()];
                // The headers have been read for the host already.
                let name = if name == "acc_on_device" { Some("__gangway_acc_on_device") } else { None };
                let bound = self.bound.get(&call.function).filter(|_| code == For::Gpus);
                if let Some(name) = name.or(bound.map(String::as_str)) {
                    edits.push((call.name.clone(), name.to_owned()));
                }
            }
        }
        // What covers more comes first where two begin together.
        edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut text = String::new();
        let mut at = range.start;
        for (part, new) in edits {
            if part.start < at {
                continue;
            }
            text.push_str(&self.text[at..part.start]);
            text.push_str(&new);
            at = part.end;
        }
        text.push_str(&self.text[at.min(range.end)..range.end]);
        text
    }

    /// A variable that a lambda expression captures under its name: it has that name in there, with the value of what
    /// stands for it here. `None`: it is none such.
    fn capture(&self, found: &Use, names: &Names) -> Option<Option<(Range<usize>, String)>> {
        let here = names.get(&found.key)?;
        let at = found.range.start;
        let inside = |lambda: &&Lambda| lambda.whole.contains(&at);
        self.index.lambdas.iter().filter(inside).find_map(|lambda| {
            if lambda.captures.contains(&at) {
                let name = &self.text[found.range.clone()];
                return Some(Some((found.range.clone(), format!("{name} = {here}"))));
            }
            let mut captured = lambda.captures.iter().filter_map(|place| self.index.uses.get(place));
            let is_inside = !lambda.brackets.contains(&at) && captured.any(|named| named.key == found.key);
            is_inside.then_some(None)
        })
    }

    /// An expression of the user's, in one line.
    pub fn expression(&self, range: &Range<usize>, names: &Names) -> String {
        self.expression_with(range, names, Vec::new())
    }

    /// The same with other parts replaced as well.
    pub fn expression_with(
        &self,
        range: &Range<usize>,
        names: &Names,
        edits: Vec<(Range<usize>, String)>,
    ) -> String {
        let text = self.edited(range.clone(), names, edits, For::Host);
        let lines = text.lines().filter(|line| !line.starts_with("# "));
        lines.collect::<Vec<_>>().join(" ").trim().to_owned()
    }

    /// Code of a device that nothing has to be done for: directives in it ask for nothing, but atomic ones.
    pub fn plain(&self, range: Range<usize>, names: &Names, code: For) -> String {
        let inside = self.source.directives.iter().filter(|directive| range.contains(&directive.range.start));
        let edits = inside.map(|directive| {
            let text = if directive.name == Name::Atomic { self.atomic(directive) } else { String::new() };
            (directive.range.clone(), text)
        });
        let edits = edits.collect();
        self.edited(range, names, edits, code)
    }

    /// Atomic constructs are OpenMP's (OpenACC 3.3 section 2.12).
    fn atomic(&self, directive: &Directive) -> String {
        let words: Vec<&str> = directive
            .clauses
            .iter()
            .map(|clause| clause.name.as_str())
            .filter(|name| matches!(*name, "read" | "write" | "update" | "capture"))
            .collect();
        format!("#pragma omp atomic {}", words.join(" "))
    }

    /// The statement that a construct is about.
    pub fn statement(&self, directive: &Directive) -> Result<Node<'w>, Complaint> {
        let construct = self.index.constructs.get(&directive.range.start);
        let children = construct.map(|construct| construct.children()).unwrap_or_default();
        let behind =
            |node: &Node<'w>| range_of(*node).is_some_and(|range| range.start >= directive.range.end);
        children.into_iter().rev().find(behind).ok_or_else(|| {
            Complaint::new(
                directive.range.start,
                "this construct is not understood here: it has no statement",
            )
        })
    }

    /// The bytes of a statement, with its semicolon; of a construct, with the statement that it is about.
    pub fn whole(&self, node: Node<'_>) -> Range<usize> {
        let range = range_of(node).unwrap_or_default();
        if let Some(directive) = self.directives.get(&range.start)
            && range.end <= directive.range.end
        {
            let statement = self.statement(directive).ok();
            let end = statement.map_or(directive.range.end, |statement| self.whole(statement).end);
            return range.start..end;
        }
        // A construct that is the body ends behind what clang says.
        let has_body = matches!(
            node.kind(),
            clang_sys::CXCursor_ForStmt
                | clang_sys::CXCursor_WhileStmt
                | clang_sys::CXCursor_IfStmt
                | clang_sys::CXCursor_CXXForRangeStmt
                | clang_sys::CXCursor_LabelStmt
                | clang_sys::CXCursor_CaseStmt
                | clang_sys::CXCursor_DefaultStmt
        );
        let body = if has_body { node.children().last().map(|body| self.whole(*body)) } else { None };
        if let Some(body) = body.filter(|body| body.end > range.end) {
            return range.start..body.end;
        }
        let last = self.text.as_bytes().get(range.end.wrapping_sub(1));
        if matches!(last, Some(b'}' | b';')) {
            // A block, or a declaration. An initialiser may end so, too.
            let is_block = node.kind() != clang_sys::CXCursor_DeclStmt && !node.is_expression();
            if is_block || last == Some(&b';') {
                return range;
            }
        }
        let tokens =
            lexer::tokens(self.text[range.end..].split_inclusive('\n').next().unwrap_or("").as_bytes());
        if let Some(first) = tokens.first().filter(|token| token.is(";")) {
            return range.start..range.end + first.range.end;
        }
        // The semicolon may be on a later line.
        let rest = &self.text[range.end..];
        let trimmed = rest.trim_start();
        if trimmed.starts_with(';') {
            return range.start..range.end + (rest.len() - trimmed.len()) + 1;
        }
        range
    }
}
