//! The list items of data clauses, and the items that the runtime gets for them.

use std::ops::Range;

use super::directive::{Clause, Directive, bytes};
use super::index::{Class, Index, Key, Variable};
use crate::error::Complaint;
use crate::lexer::{Kind, Token};
use crate::pragma::{closing, split};

/// What a clause does with an item, by the runtime's names, and whether the item may be a mere address.
const KINDS: [(&str, &str); 24] = [
    ("copy", "COPY"),
    ("pcopy", "COPY"),
    ("present_or_copy", "COPY"),
    ("copyin", "COPYIN"),
    ("pcopyin", "COPYIN"),
    ("present_or_copyin", "COPYIN"),
    ("copyout", "COPYOUT"),
    ("pcopyout", "COPYOUT"),
    ("present_or_copyout", "COPYOUT"),
    ("create", "CREATE"),
    ("pcreate", "CREATE"),
    ("present_or_create", "CREATE"),
    ("no_create", "NO_CREATE"),
    ("present", "PRESENT"),
    ("deviceptr", "DEVICEPTR"),
    ("attach", "ATTACH"),
    ("detach", "DETACH"),
    ("delete", "DELETE"),
    ("use_device", "USE_DEVICE"),
    ("self", "UPDATE_SELF"),
    ("host", "UPDATE_SELF"),
    ("device", "UPDATE_DEVICE"),
    ("device_resident", "CREATE"),
    ("link", "CREATE"),
];

/// The first element of a section and how many there are, as far as they are said; an element alone has
/// [`Section::ONE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub first: Option<Range<usize>>,
    pub count: Option<Range<usize>>,
}

impl Section {
    /// The count of what is no section.
    pub const ONE: Range<usize> = 0..0;
}

/// One list item.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: &'static str,
    pub flags: Vec<&'static str>,
    /// The variable that it begins with.
    pub key: Option<Key>,
    pub at: usize,
    /// What is subscripted, or the whole of it, as source.
    pub object: Range<usize>,
    /// It is the variable and no part of it.
    pub is_variable: bool,
    /// First elements and numbers of elements.
    pub sections: Vec<Section>,
    /// The sections behind the first that are reached through pointers, of which each leads to a row (section 2.7.1).
    pub rows: Vec<usize>,
    /// As the user wrote it.
    pub whole: Range<usize>,
    /// What is written for it where no clause names it.
    pub spelled: Option<String>,
    /// The number of the object that it is a member of, which is on the device in one piece; 0: it is none's.
    pub group: u32,
}

/// What a clause does, as the runtime calls it; nothing for clauses of other things.
pub fn kind(clause: &Clause, directive: &Directive) -> Option<&'static str> {
    let (_, kind) = KINDS.iter().find(|(name, _)| *name == clause.name)?;
    // `self` of compute constructs is a condition.
    (!(clause.name == "self" && directive.is_compute())).then_some(*kind)
}

/// The items of all data clauses of a directive.
pub fn read(directive: &Directive, index: &Index<'_>, text: &str) -> Result<Vec<Item>, Complaint> {
    let mut items = Vec::new();
    for clause in directive.for_gpus() {
        let Some(kind) = kind(clause, directive) else { continue };
        let (words, list) = clause.modified();
        let mut flags = Vec::new();
        for word in words {
            match word {
                "readonly" => flags.push("READONLY"),
                "zero" => flags.push("ZERO"),
                "always" => flags.extend(["ALWAYS_IN", "ALWAYS_OUT"]),
                "alwaysin" => flags.push("ALWAYS_IN"),
                "alwaysout" => flags.push("ALWAYS_OUT"),
                _ => {}
            }
        }
        if directive.clause("finalize").is_some() {
            flags.push("FINALIZE");
        }
        if directive.clause("if_present").is_some() {
            flags.push("IF_PRESENT");
        }
        for tokens in list {
            items.push(Item::read(kind, flags.clone(), tokens, index, clause.at)?);
        }
    }
    group(&mut items, index, text);
    Ok(items)
}

/// Numbers the objects of which there are members and not the whole: `v.a` and `v.b[0:n]`.
fn group(items: &mut [Item], index: &Index<'_>, text: &str) {
    let whole: Vec<Key> = items.iter().filter(|item| item.is_variable).filter_map(|item| item.key).collect();
    let mut objects: Vec<String> = Vec::new();
    for item in items.iter_mut().filter(|item| !item.is_variable) {
        let tokens = crate::lexer::tokens(text[item.object.clone()].as_bytes());
        let [base, step, _member] = &tokens[..] else { continue };
        let Some(variable) = item.key.and_then(|key| index.variable(key)) else { continue };
        let is_member = step.is(".") && variable.class == Class::Record || step.is("->");
        if !is_member || step.is(".") && whole.contains(&variable.key) {
            continue;
        }
        let object = format!("{}{}", base.text, step.text);
        let known = objects.iter().position(|known| *known == object).unwrap_or_else(|| {
            objects.push(object);
            objects.len() - 1
        });
        item.group = u32::try_from(known).unwrap_or(0) + 1;
    }
}

impl Item {
    fn read(
        kind: &'static str,
        flags: Vec<&'static str>,
        tokens: &[Token],
        index: &Index<'_>,
        at: usize,
    ) -> Result<Self, Complaint> {
        let whole = bytes(tokens).unwrap_or(at..at);
        // Sections stand at the end.
        let mut end = tokens.len();
        let mut sections = Vec::new();
        while end > 1 && tokens[end - 1].is("]") {
            let Some(open) = (0..end)
                .rev()
                .find(|open| tokens[*open].is("[") && closing(&tokens[*open..end]) == Some(end - 1 - open))
            else {
                break;
            };
            let inner = &tokens[open + 1..end - 1];
            let parts = split(inner, ":");
            // `a[i].p[0:n]`: subscripts before a member belong to the object; `a[0:n][3]` is a section.
            let section = match parts[..] {
                [first, count] => Section { first: bytes(first), count: bytes(count) },
                _ => Section { first: bytes(inner), count: Some(Section::ONE) },
            };
            sections.push((section, end));
            end = open;
        }
        // Without a colon they are an element of an array, which is one object.
        let has_section = sections.iter().any(|(section, _)| section.count != Some(Section::ONE));
        if !has_section {
            end = tokens.len();
            sections.clear();
        }
        sections.reverse();
        let subscripted = bytes(&tokens[..end]).and_then(|range| index.subscripts.get(&range.end));
        let mut through = subscripted.map_or(&[][..], |through| &through[..]);
        // `a[i][0:n]` is a section of what the pointer `a[i]` leads to.
        while let ([(first, behind), _, ..], [_, true, ..]) = (&sections[..], through)
            && first.count == Some(Section::ONE)
        {
            (end, through) = (*behind, &through[1..]);
            sections.remove(0);
        }
        let sections: Vec<Section> = sections.into_iter().map(|(section, _)| section).collect();
        let is_row = |at: &usize| through.get(*at).copied().unwrap_or(false);
        let rows = (1..sections.len()).filter(is_row).collect();
        let object = bytes(&tokens[..end]).unwrap_or(at..at);
        let key = index.uses_in(&object).next().map(|found| found.key);
        let first = tokens.first().filter(|token| token.kind == Kind::Identifier);
        // A member of the object at `this` has no key.
        let is_variable = end == 1 && first.is_some() && key.is_some();
        Ok(Self {
            kind,
            flags,
            key,
            at: whole.start,
            object,
            is_variable,
            sections,
            rows,
            whole,
            spelled: None,
            group: 0,
        })
    }

    /// Of `p[i].a` the element `p[i]`; `None`: the item begins with no subscript.
    pub fn element(&self, text: &str) -> Option<Range<usize>> {
        let tokens = crate::lexer::tokens(text[self.object.clone()].as_bytes());
        let mut end = 1;
        while tokens.get(end).is_some_and(|token| token.is("[")) {
            end += closing(&tokens[end..])? + 1;
        }
        let behind = self.object.start + tokens.get(end - 1)?.range.end;
        (end > 1).then_some(self.object.start..behind)
    }

    /// What the user wrote, or would have.
    pub fn written(&self, text: &str) -> String {
        let written = self.spelled.as_deref().unwrap_or(&text[self.whole.clone()]);
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The source of its fields: begin, bytes, pointer, kind, flags, name, rows; and before it that of the
    /// declarations which they need. `read` gives expressions as the place of the construct sees them, `at` is the
    /// item's number. `is_on_devices`: devices have the variable themselves.
    pub fn fields(
        &self,
        variable: Option<&Variable>,
        text: &str,
        label: &str,
        at: usize,
        is_on_devices: bool,
        read: &dyn Fn(&Range<usize>) -> String,
    ) -> Result<(String, String), Complaint> {
        let object = self.spelled.clone().unwrap_or_else(|| read(&self.object));
        let flags =
            self.flags.iter().fold("0".to_owned(), |all, flag| format!("{all} | __GANGWAY_ACC_{flag}"));
        let flags =
            if self.group > 0 { format!("{flags} | __GANGWAY_ACC_MEMBER_OF({})", self.group) } else { flags };
        let kind = format!("__GANGWAY_ACC_{}", self.kind);
        let is_pointer =
            self.is_variable && variable.is_some_and(|variable| variable.class == Class::Pointer);
        let is_address =
            matches!(self.kind, "DEVICEPTR" | "USE_DEVICE" | "PRESENT" | "NO_CREATE") && is_pointer;
        if self.sections.is_empty() && (is_address || matches!(self.kind, "ATTACH" | "DETACH")) {
            let pointer = if matches!(self.kind, "ATTACH" | "DETACH") {
                format!("(void **)&({object})")
            } else {
                "0".to_owned()
            };
            let fields = format!("{{ (void *)({object}), 0, {pointer}, {kind}, {flags}, {label}, 0 }}");
            return Ok((String::new(), fields));
        }
        if self.sections.is_empty() {
            let flags = if is_pointer { format!("{flags} | __GANGWAY_ACC_POINTER") } else { flags };
            let fields =
                format!("{{ (void *)&({object}), sizeof({object}), 0, {kind}, {flags}, {label}, 0 }}");
            return Ok((String::new(), fields));
        }
        let starts: Vec<usize> = [0].into_iter().chain(self.rows.iter().copied()).collect();
        // What the subscripts so far lead to, of which only the type counts.
        let mut reached = format!("({object})");
        let (mut begin, mut bytes, mut rows) = (String::new(), String::new(), Vec::new());
        let mut pieces = Vec::new();
        for (number, from) in starts.iter().enumerate() {
            let next = starts.get(number + 1);
            // A pointer to rows is not read here: there may be none.
            let base = match number {
                0 => reached.clone(),
                _ => format!("((__typeof__({reached}))4096UL)"),
            };
            let (mut first, mut last) = (base.clone(), base.clone());
            let until = next.copied().unwrap_or(self.sections.len());
            for (at, section) in self.sections.iter().enumerate().take(until).skip(*from) {
                let low = section.first.as_ref().map_or("0".to_owned(), read);
                let length = match &section.count {
                    Some(range) if *range == Section::ONE => "1".to_owned(),
                    Some(range) => read(range),
                    None if at == *from && (number > 0 || is_pointer) => {
                        let message = format!(
                            "`{}` is a pointer: the section needs a length",
                            &text[self.whole.clone()]
                        );
                        return Err(Complaint::new(self.at, message));
                    }
                    None => format!("(sizeof({first}) / sizeof({first}[0]) - ({low}))"),
                };
                last = format!("{last}[({low}) + ({length}) - 1]");
                first = format!("{first}[{low}]");
                reached = format!("{reached}[{low}]");
                pieces.push(match at + 1 < until {
                    true => format!("{{ (unsigned long)({length}), sizeof({first}) }}"),
                    false => format!("{{ (unsigned long)({length}) * sizeof({first}), 0 }}"),
                });
            }
            let size = format!("(unsigned long)((char *)(&{last} + 1) - (char *)&{first})");
            if number == 0 {
                (begin, bytes) = (first, size);
            } else {
                let more = i32::from(next.is_some());
                rows.push(format!(
                    "{{ (unsigned long)((char *)&{first} - (char *){base}), {size}, {more} }}"
                ));
            }
        }
        let pointer = match self.is_variable {
            // Where devices have the pointer itself, it has to point to there.
            true if is_pointer && is_on_devices => format!("(void **)&({object})"),
            true => "0".to_owned(),
            // So does a pointer in an object that is on the device.
            false => format!("__gangway_acc_pointer({object})"),
        };
        let in_pieces = pieces.len() > 1 && matches!(self.kind, "UPDATE_SELF" | "UPDATE_DEVICE");
        let (declared, flags, device) = match rows.is_empty() {
            true if in_pieces => (
                format!(
                    "const struct __gangway_acc_pieces __acc_pieces_{at}[] = {{ {} }}; ",
                    pieces.join(", ")
                ),
                format!("{flags} | __GANGWAY_ACC_PIECES"),
                format!("(void *)__acc_pieces_{at}"),
            ),
            true => (String::new(), flags, "0".to_owned()),
            false => (
                format!("const struct __gangway_acc_rows __acc_rows_{at}[] = {{ {} }}; ", rows.join(", ")),
                format!("{flags} | __GANGWAY_ACC_ROWS"),
                format!("(void *)__acc_rows_{at}"),
            ),
        };
        let fields =
            format!("{{ (void *)&{begin}, {bytes}, {pointer}, {kind}, {flags}, {label}, {device} }}");
        Ok((declared, fields))
    }
}
