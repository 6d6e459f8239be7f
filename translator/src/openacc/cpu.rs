//! Compute constructs for processors: a gang is a thread, which does the work of all its workers and lanes.

use std::collections::HashMap;
use std::ops::Range;

use super::header::{self, Header};
use super::index::range_of;
use super::nest::Levels;
use super::region::Region;
use super::share::{Share, numbers};
use super::writer::{For, Names, Writer, Written};
use crate::error::Complaint;

impl Writer<'_> {
    /// The text of a region for CPU devices, and for the host.
    pub fn for_processors(&mut self, region: &Region<'_, '_>) -> Written {
        let mut names = region.names.clone();
        let mut text = String::new();
        for variable in &region.private {
            let name = self.fresh("p", &variable.name);
            text += &format!("__typeof__({}) {name}; ", variable.ty);
            names.insert(variable.key, name);
        }
        let mut after = String::new();
        for one in &region.reductions {
            let outer = region.names.get(&one.variable.key).cloned().unwrap_or_default();
            let name = self.fresh("r", &one.variable.name);
            text += &format!("{} {} ", one.declared(&name), one.begin(&name, &outer));
            after += &one.add_atomically(&outer, &name)?;
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
            let changes = own.has(Levels::GANG) || directive.clause("private").is_some();
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

    fn processor_loop(
        &mut self,
        directive: &super::directive::Directive,
        statement: crate::ast::Node<'_>,
        own: Levels,
        names: &Names,
        levels: &HashMap<usize, Levels>,
        code: For,
    ) -> Written {
        let mut names = names.clone();
        let mut declared = String::new();
        for key in self.listed(directive, "private") {
            let Some(variable) = self.index.variable(key).cloned() else { continue };
            let name = self.fresh("p", &variable.name);
            declared += &format!("__typeof__({}) {name}; (void){name}; ", variable.ty);
            names.insert(key, name);
        }
        if !own.has(Levels::GANG) {
            // Loops' variables are of this thread's, whatever stands around.
            for head in self.heads(directive, statement)?.iter().filter(|head| head.declared.is_none()) {
                let key = self.loop_key(head);
                let Some(variable) = key.and_then(|key| self.index.variable(key)).cloned() else { continue };
                let name = self.fresh("p", &variable.name);
                declared += &format!("__typeof__({}) {name}; (void){name}; ", variable.ty);
                names.insert(variable.key, name);
            }
            let text = self.sequential(self.whole(statement), &names, levels, code)?;
            return Ok(format!("{{ {declared}{text} }}"));
        }
        // The copies of reductions are the construct's, as each gang is one thread.
        let heads = self.heads(directive, statement)?;
        let last = heads.last().map(|head| head.body.clone()).unwrap_or_default();
        let body = last;
        let (before, total) = self.counts(&heads, &names);
        let gangs = Share::level("__gangway_acc_gang()", "__gangway_acc_gangs()");
        let head = match self.chunk(directive, &total, &names) {
            Some(chunk) => gangs.in_chunks(&Share::all(), "__acc_k", &total, &chunk),
            None => gangs.head("__acc_k", &total),
        };
        let variables = self.loop_variables(&heads, &numbers(&heads), &mut names);
        let body = self.sequential(body, &names, levels, code)?;
        Ok(format!("{{ {before}{head} {{ {variables}{declared}{body} }} }}"))
    }

    /// How many loops a directive is about.
    pub fn collapsed(&self, directive: &super::directive::Directive) -> usize {
        let number = directive.value("collapse").and_then(|range| {
            let text = self.text[range].trim();
            text.rsplit(':').next()?.trim().parse::<usize>().ok()
        });
        let tiles = directive.clause("tile").map(|clause| clause.items().len());
        number.or(tiles).unwrap_or(1).max(1)
    }

    /// Whether loops are collapsed that have something between them.
    fn is_forced(&self, directive: &super::directive::Directive) -> bool {
        let collapse = directive.clause("collapse");
        collapse.is_some_and(|clause| clause.named().into_iter().any(|(name, _)| name == "force"))
    }

    /// The heads of the loops that a directive is about.
    pub fn heads(
        &self,
        directive: &super::directive::Directive,
        statement: crate::ast::Node<'_>,
    ) -> Result<Vec<Header>, Complaint> {
        let count = self.collapsed(directive);
        let mut heads: Vec<Header> = Vec::new();
        let mut node = header::loop_in(statement);
        for _ in 0..count {
            let Some(one) = node else {
                // What stands between loops would be repeated: those around it are partitioned alone, which
                // `collapse(force: n)` leaves open (section 2.9.1).
                if self.is_forced(directive) && !heads.is_empty() {
                    break;
                }
                let at = range_of(statement).map_or(directive.range.start, |range| range.start);
                let message = format!(
                    "this directive is about {count} loops in each other, with nothing between them, and here are {}",
                    heads.len()
                );
                return Err(Complaint::new(at, message));
            };
            let mut head = Header::read(one, self.text)?;
            head.body = one.children().last().map_or(head.body, |body| self.whole(*body));
            for outer in &heads {
                let uses = |range: &Range<usize>| {
                    crate::lexer::tokens(self.text[range.clone()].as_bytes())
                        .iter()
                        .any(|token| token.is(&outer.variable))
                };
                if uses(&head.first) || uses(&head.last) {
                    let message =
                        format!("collapsed loops cannot have bounds with `{}` in them", outer.variable);
                    return Err(Complaint::new(head.first.start, message));
                }
            }
            heads.push(head);
            node = one.children().last().copied().and_then(header::loop_in);
        }
        Ok(heads)
    }

    /// Declarations of first values, steps and numbers of iterations, and the number of all.
    pub fn counts(&self, heads: &[Header], names: &Names) -> (String, String) {
        let mut text = String::new();
        let mut total = Vec::new();
        for (at, head) in heads.iter().enumerate() {
            let first = self.expression(&head.first, names);
            let last = self.expression(&head.last, names);
            let step = head.step.as_ref().map_or("1".to_owned(), |step| self.expression(step, names));
            let variable = self.loop_key(head).and_then(|key| self.index.variable(key));
            let is_number = variable.is_none_or(|variable| variable.class == super::index::Class::Scalar);
            let ty = variable.map(|variable| variable.ty.clone()).or_else(|| head.declared.clone());
            let ty = ty.filter(|_| is_number).unwrap_or_else(|| "__auto_type".to_owned());
            let down = matches!(head.order, ">" | ">=") || head.order == "!=" && head.descends;
            // The step in the direction in which the variable goes.
            let step =
                if down == head.descends { format!("(long)({step})") } else { format!("-(long)({step})") };
            let (low, high) = if down {
                (format!("__acc_l{at}"), format!("__acc_i{at}"))
            } else {
                (format!("__acc_i{at}"), format!("__acc_l{at}"))
            };
            // Numbers are compared as they are, and their distance is that of 64 bits.
            let distance = match is_number {
                true => format!("(long)((unsigned long){high} - (unsigned long){low})"),
                false => format!("({high} - {low})"),
            };
            let count = match head.order {
                "<=" | ">=" => format!("{high} >= {low} ? {distance} / __acc_s{at} + 1 : 0"),
                "!=" => format!("{distance} / __acc_s{at}"),
                _ => format!("{high} > {low} ? ({distance} + __acc_s{at} - 1) / __acc_s{at} : 0"),
            };
            text += &format!(
                "const {ty} __acc_i{at} = {first}; const __auto_type __acc_l{at} = {last}; const long __acc_s{at} = {step}; \
                 const long __acc_n{at} = {count}; "
            );
            total.push(format!("__acc_n{at}"));
        }
        (text, total.join(" * "))
    }

    /// The declarations of loops' variables in an iteration, of which `numbers` are the numbers, by loop.
    pub fn loop_variables(&mut self, heads: &[Header], numbers: &[String], names: &mut Names) -> String {
        let mut text = String::new();
        for (at, (head, number)) in heads.iter().zip(numbers).enumerate() {
            let down = matches!(head.order, ">" | ">=") || head.order == "!=" && head.descends;
            let sign = if down { "-" } else { "+" };
            let key = self.loop_key(head);
            let variable = key.and_then(|key| self.index.variable(key));
            let ty = variable.map(|variable| variable.ty.clone()).or_else(|| head.declared.clone());
            let name = &head.variable;
            let ty = ty.unwrap_or_else(|| "long".to_owned());
            let is_number = variable.is_none_or(|variable| variable.class == super::index::Class::Scalar);
            let first =
                if is_number { format!("(unsigned long)__acc_i{at}") } else { format!("__acc_i{at}") };
            let moved = if is_number { "(unsigned long)" } else { "" };
            text += &format!(
                "{ty} {name} = ({ty})({first} {sign} {moved}({number} * __acc_s{at})); (void){name}; "
            );
            if let Some(key) = key {
                names.remove(&key);
            }
        }
        text
    }

    /// The key of a loop's variable.
    pub fn loop_key(&self, head: &Header) -> Option<super::index::Key> {
        let declared = self.index.variables.get(&head.at).map(|variable| variable.key);
        declared.or_else(|| self.index.uses.get(&head.at).map(|found| found.key))
    }
}
