//! The loops that a directive is about: their heads, how often they run, and their variables in an iteration.

use std::ops::Range;

use super::affine::{self, Poly, Values};
use super::directive::Directive;
use super::header::{self, Header};
use super::index::{Class, Key, range_of};
use super::writer::{Names, Writer};
use crate::ast::Node;
use crate::error::Complaint;

/// Up to so many iterations are counted in 32 bits, which is what GPUs divide well.
const NARROW: u64 = 1 << 31;

/// How often loops in each other run.
pub struct Counts {
    /// Declarations of first values, steps, and numbers of iterations.
    pub declared: String,
    pub total: Total,
    /// The number of all iterations, if it is known.
    pub known: Option<u64>,
}

/// The number of all iterations.
pub struct Total {
    pub text: String,
    /// It is known, and of 32 bits.
    pub is_narrow: bool,
}

/// Variables that are numbers, and no others.
struct Numbers<'n, 'w>(&'n Writer<'w>);

impl<'u> Values<'u> for Numbers<'_, '_> {
    fn value(&mut self, node: Node<'u>, key: Key) -> Option<Poly> {
        if let Some(value) = node.referenced().and_then(Node::enumerator) {
            return Some(Poly::number(value));
        }
        self.0.constant(key).map(Poly::number)
    }
}

impl Writer<'_> {
    /// The value of a variable that is a number which is known.
    pub fn constant(&self, key: Key) -> Option<i64> {
        let variable = self.index.variable(key).filter(|variable| variable.is_constant)?;
        self.text.get(variable.initialiser.clone()?)?.trim().parse().ok()
    }

    /// How many loops a directive is about.
    pub fn collapsed(&self, directive: &Directive) -> usize {
        let number = directive.clause("collapse").and_then(|clause| {
            let number = &clause.tokens.as_deref()?.last()?.text;
            number.trim_end_matches(['u', 'U', 'l', 'L']).parse::<usize>().ok()
        });
        let tiles = directive.clause("tile").map(|clause| clause.items().len());
        number.or(tiles).unwrap_or(1).max(1)
    }

    /// The value of an expression below a node, if it is a number that is known.
    pub fn known_number(&self, node: Node<'_>, range: &Range<usize>) -> Option<i64> {
        let found = affine::expression(node, range)?;
        affine::read(found, self.text, &mut Numbers(self))?.as_number()
    }

    /// How often a loop runs, if its head says it in numbers.
    fn iterations_of(&self, head: &Header, node: Node<'_>) -> Option<u64> {
        let number = |range: &Range<usize>| self.known_number(node, range);
        let (first, last) = (number(&head.first)?, number(&head.last)?);
        let step = head.step.as_ref().map_or(Some(1), number).filter(|step| *step > 0)?;
        let (distance, is_last_one) = match head.order {
            "<" => (last.checked_sub(first)?, false),
            "<=" => (last.checked_sub(first)?, true),
            ">" => (first.checked_sub(last)?, false),
            ">=" => (first.checked_sub(last)?, true),
            _ => return None,
        };
        // One that goes the other way runs as often as its type lets it.
        if head.descends != head.order.starts_with('>') {
            return None;
        }
        let count = match is_last_one {
            true if distance >= 0 => distance / step + 1,
            false if distance > 0 => (distance - 1) / step + 1,
            _ => 0,
        };
        u64::try_from(count).ok()
    }

    /// Whether loops are collapsed that have something between them.
    fn is_forced(&self, directive: &Directive) -> bool {
        let collapse = directive.clause("collapse");
        collapse.is_some_and(|clause| clause.named().into_iter().any(|(name, _)| name == "force"))
    }

    /// The heads of the loops that a directive is about.
    pub fn heads(&self, directive: &Directive, statement: Node<'_>) -> Result<Vec<Header>, Complaint> {
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
            head.iterations = self.iterations_of(&head, one);
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
    pub fn counts(&self, heads: &[Header], names: &Names) -> Counts {
        let mut text = String::new();
        let mut total = Vec::new();
        let known = heads.iter().try_fold(1u64, |all, head| all.checked_mul(head.iterations?));
        let known = known.filter(|all| *all <= NARROW);
        for (at, head) in heads.iter().enumerate() {
            let first = self.expression(&head.first, names);
            let last = self.expression(&head.last, names);
            let step = head.step.as_ref().map_or("1".to_owned(), |step| self.expression(step, names));
            let variable = self.loop_key(head).and_then(|key| self.index.variable(key));
            let is_number = variable.is_none_or(|variable| variable.class == Class::Scalar);
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
            let count = match head.iterations.filter(|_| known.is_some()) {
                Some(count) => format!("const unsigned __acc_n{at} = {count}u; "),
                None => format!("const long __acc_n{at} = {count}; "),
            };
            text += &format!(
                "const {ty} __acc_i{at} = {first}; const __auto_type __acc_l{at} = {last}; const long __acc_s{at} = {step}; \
                 {count}"
            );
            total.push(format!("__acc_n{at}"));
        }
        let total = Total { text: total.join(" * "), is_narrow: known.is_some() };
        Counts { declared: text, total, known }
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
            let is_number = variable.is_none_or(|variable| variable.class == Class::Scalar);
            let first =
                if is_number { format!("(unsigned long)__acc_i{at}") } else { format!("__acc_i{at}") };
            let moved = if is_number { "(unsigned long)" } else { "" };
            let value = format!("{first} {sign} {moved}({number} * __acc_s{at})");
            text += &match is_number {
                // It counts without going round, so what lanes compute of it is as far apart as they are.
                true => format!(
                    "const long __acc_v{at} = (long)({value}); {ty} {name} = ({ty})__acc_v{at}; \
                     __builtin_assume(sizeof {name} < sizeof(int) || {name} == __acc_v{at}); (void){name}; "
                ),
                false => format!("{ty} {name} = ({ty})({value}); (void){name}; "),
            };
            if let Some(key) = key {
                names.remove(&key);
            }
        }
        text
    }

    /// The key of a loop's variable.
    pub fn loop_key(&self, head: &Header) -> Option<Key> {
        let declared = self.index.variables.get(&head.at).map(|variable| variable.key);
        declared.or_else(|| self.index.uses.get(&head.at).map(|found| found.key))
    }
}
