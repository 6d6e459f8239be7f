//! Arguments that are constant expressions, which say how many loops or which dimension a clause is about
//! (sections 2.9.1 and 2.9.2): spelt as the numbers that they are.

use std::ops::Range;

use super::directive::{Clause, Directive, bytes};
use super::index::range_of;
use crate::ast::{Node, Unit};
use crate::lexer::Kind;

/// What is left as it is depends on a template's parameters, or stands where libclang shows no expression.
pub fn spell(directives: &mut [Directive], unit: &Unit) {
    for clause in directives.iter_mut().flat_map(|directive| &mut directive.clauses) {
        let Some(place) = place(clause) else { continue };
        let Some(tokens) = clause.tokens.as_mut() else { continue };
        let Some(range) = bytes(&tokens[place.clone()]) else { continue };
        if place.len() == 1 && tokens[place.start].kind == Kind::Number {
            continue;
        }
        let covers = |node: &Node<'_>| {
            range_of(*node).is_some_and(|node| node.start <= range.start && range.end <= node.end)
        };
        let mut declarations = unit.root().children().into_iter().filter(covers);
        let node = declarations.find_map(|declaration| expression(declaration, &range));
        let Some(number) = node.and_then(Node::constant_value) else { continue };
        let mut token = tokens[place.start].clone();
        (token.kind, token.text, token.range) = (Kind::Number, number.to_string(), range);
        tokens.splice(place, [token]);
    }
}

/// The tokens of such an argument: behind `dim:` of `gang`, or behind `force:` of `collapse`.
fn place(clause: &Clause) -> Option<Range<usize>> {
    let tokens = clause.tokens.as_deref()?;
    let (begin, end) = match clause.name.as_str() {
        "gang" => {
            let pairs = tokens.windows(2);
            let begin = 2 + pairs.into_iter().position(|pair| pair[0].is("dim") && pair[1].is(":"))?;
            let mut open = 0;
            let end = tokens[begin..].iter().position(|token| {
                open += i32::from(token.is("(")) - i32::from(token.is(")"));
                open == 0 && token.is(",")
            });
            (begin, end.map_or(tokens.len(), |end| begin + end))
        }
        "collapse" => match tokens {
            [force, colon, ..] if force.is("force") && colon.is(":") => (2, tokens.len()),
            _ => (0, tokens.len()),
        },
        _ => return None,
    };
    (begin < end).then_some(begin..end)
}

/// The expression with these bytes in a declaration. All of it is looked at: the range of a construct ends with
/// its directive, before what is in it.
fn expression<'u>(node: Node<'u>, wanted: &Range<usize>) -> Option<Node<'u>> {
    if node.is_expression() && range_of(node).as_ref() == Some(wanted) {
        return Some(node);
    }
    node.children().into_iter().find_map(|child| expression(child, wanted))
}
