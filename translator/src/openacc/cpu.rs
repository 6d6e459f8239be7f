//! Compute constructs for processors: a gang is a thread, which does the work of all its workers and lanes.

use std::collections::HashMap;
use std::ops::Range;

use super::header;
use super::index::Variable;
use super::iteration;
use super::loops::Counts;
use super::nest::Levels;
use super::region::Region;
use super::share::{Share, numbers};
use super::slice::{Purpose, Slice};
use super::writer::{For, Names, Writer, Written};

impl<'w> Writer<'w> {
    /// The text of a region for CPU devices, and for the host.
    pub fn for_processors(&mut self, region: &Region<'_, 'w>) -> Written {
        let mut names = region.names.clone();
        let mut text = String::new();
        let at = region.directive.range.start;
        for variable in &region.unset {
            text += &self.own_copy(variable, &mut names);
        }
        for variable in &region.private {
            text += &self.private_of_processor(variable, at, &mut names);
        }
        let first = |slice: &&Slice| slice.at == at && slice.purpose == Purpose::FirstPrivate;
        for slice in self.slices.iter().filter(first).cloned().collect::<Vec<_>>() {
            let name = self.fresh("p", "slice");
            text += &slice.on_processor(&name, region.names.get(&slice.key).map(String::as_str));
            names.insert(slice.key, name);
        }
        let mut after = String::new();
        for one in &region.reductions {
            let outer = region.names.get(&one.variable.key).cloned().unwrap_or_default();
            let name = self.fresh("r", &one.variable.name);
            let declared = match &one.slice {
                Some(slice) => slice.on_processor(&name, None),
                None => one.declared(&name),
            };
            text += &format!("{declared} {} ", one.begin(&name, &outer, true));
            after += &one.add_atomically(&outer, &name);
            names.insert(one.variable.key, name);
        }
        let begin = if region.directive.is_loop { region.directive.range.start } else { region.body.start };
        text += &self.for_processor(begin..region.body.end, &names, &region.assigned.levels)?;
        Ok(text + &after)
    }

    /// Text with those of its loops divided that gangs share.
    pub fn for_processor(
        &mut self,
        range: Range<usize>,
        names: &Names,
        levels: &HashMap<usize, Levels>,
    ) -> Written {
        self.sequential(range, names, levels, For::Processors)
    }

    /// Text of one thread, whose loops have private variables; those that gangs share are divided.
    pub fn sequential(
        &mut self,
        range: Range<usize>,
        names: &Names,
        levels: &HashMap<usize, Levels>,
        code: For,
    ) -> Written {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut at = range.start;
        let directives: Vec<_> =
            self.source.directives.iter().filter(|one| range.contains(&one.range.start)).collect();
        for directive in directives {
            let begin = directive.range.start;
            if begin < at {
                continue;
            }
            let own = levels.get(&begin).copied().unwrap_or_default();
            let statement = self.statement(directive);
            let moves_others = || {
                let statement = statement.as_ref().ok()?;
                let heads = self.heads(directive, *statement).ok()?;
                Some(heads.iter().any(|head| head.declared.is_none()))
            };
            let changes = own.has_gangs() || directive.clause("private").is_some();
            if directive.is_loop && (changes || moves_others() == Some(true)) {
                let statement = statement?;
                let whole = self.whole(statement);
                let text = self.processor_loop(directive, statement, own, names, levels, code)?;
                edits.push((begin..whole.end, text + &self.source.marker(whole.end)));
                at = whole.end;
                continue;
            }
            let text = if directive.name == super::directive::Name::Atomic {
                self.plain(directive.range.clone(), names, code)
            } else {
                String::new()
            };
            edits.push((directive.range.clone(), text));
            at = directive.range.end;
        }
        let marker = self.source.marker(range.start);
        Ok(marker + &self.edited(range, names, edits, code))
    }

    /// A private copy of a clause of the directive at a byte: its declaration.
    fn private_of_processor(&mut self, variable: &Variable, at: usize, names: &mut Names) -> String {
        let Some(slice) = self.slice_of(Purpose::Private, Some(at), variable.key).cloned() else {
            return self.own_copy(variable, names);
        };
        let name = self.fresh("p", &variable.name);
        let text = slice.on_processor(&name, None);
        names.insert(variable.key, name);
        text
    }

    fn processor_loop(
        &mut self,
        directive: &super::directive::Directive,
        statement: crate::ast::Node<'w>,
        own: Levels,
        names: &Names,
        levels: &HashMap<usize, Levels>,
        code: For,
    ) -> Written {
        let mut names = names.clone();
        let mut declared = String::new();
        for key in self.listed(directive, "private") {
            let Some(variable) = self.index.variable(key).cloned() else { continue };
            declared += &self.private_of_processor(&variable, directive.range.start, &mut names);
        }
        if !own.has_gangs() {
            // Loops' variables are of this thread's, whatever stands around.
            for head in self.heads(directive, statement)?.iter().filter(|head| head.declared.is_none()) {
                let key = self.loop_key(head);
                let Some(variable) = key.and_then(|key| self.index.variable(key)).cloned() else { continue };
                declared += &self.own_copy(&variable, &mut names);
            }
            let text = self.sequential(self.whole(statement), &names, levels, code)?;
            return Ok(format!("{{ {declared}{text} }}"));
        }
        // The copies of reductions are the construct's, as each gang is one thread.
        let heads = self.heads(directive, statement)?;
        let last = heads.last().map(|head| head.body.clone()).unwrap_or_default();
        let body = last;
        let Counts { declared: before, total, .. } = self.counts(&heads, &names);
        let gangs = Share::of_gangs(own);
        let head = match self.chunk(directive, own, &total.text, &names) {
            Some(chunk) => gangs.in_chunks(&Share::all(), "__acc_k", &total.text, &chunk),
            None => gangs.in_one_piece(&Share::all(), "__acc_k", &total),
        };
        let numbers = numbers(&heads);
        let variables = self.loop_variables(&heads, &numbers, &mut names);
        let mut last = String::new();
        for one in self.of_iterations(directive, (&heads, header::body(statement, heads.len())), &names) {
            declared += &self.own_copy(&one.variable, &mut names);
            if let (Some(outer), Some(own)) = (one.outer, names.get(&one.variable.key)) {
                last += &format!("{outer} = {own}; ");
            }
        }
        if !last.is_empty() {
            last = format!("if ({}) {{ {last}}} ", iteration::is_last(&numbers));
        }
        let body = self.sequential(body, &names, levels, code)?;
        Ok(format!("{{ {before}{head} {{ {variables}{declared}{body} {last}}} }}"))
    }
}
