//! Compute constructs: how each variable reaches the device, and the launch.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::directive::{Clause, Directive, Name, bytes};
use super::extent::Extent;
use super::header;
use super::index::{Class, Doing, Key, Rows, Variable, range_of};
use super::items::{self, Item};
use super::members;
use super::mode::{self, Sizes, WARP};
use super::nest::{self, Assigned, Iterations, Levels};
use super::reduction::{self, Reduction};
use super::room::{self, Slices};
use super::rows;
use super::slice::Purpose;
use super::writer::{Names, THIS, Writer};
use crate::ast::Node;
use crate::error::Complaint;
use crate::lexer::tokens;
use crate::pragma::closing;

/// Lanes of a worker where no clause says how many: a warp where workers have loops of their own, more
/// where all lanes of a gang share one loop.
const LANES: u64 = WARP;
const LANES_OF_ONE_LOOP: u64 = 128;
/// The most workers whose lanes are several warps.
const WORKERS_WITH_BARRIERS: u64 = 15;
/// The most threads of a gang.
const THREADS: u64 = 1024;
/// Workers of a gang where no clause says how many.
const WORKERS: u64 = 4;

/// A compute construct, ready to be written for a kind of device.
pub struct Region<'r, 'w> {
    pub directive: &'w Directive,
    pub statement: Node<'w>,
    pub body: Range<usize>,
    pub assigned: &'r Assigned,
    pub sizes: Sizes,
    /// What each gang has of its own.
    pub private: Vec<Variable>,
    pub reductions: Vec<Reduction>,
    /// What each thread has of its own, without a value of around: code writes it first.
    pub unset: Vec<Variable>,
    /// Where the construct's names lead to.
    pub names: Names,
}

/// The condition under which a construct runs on the host: `if` that is false, `self` that is true.
pub fn compares_to_host(directive: &Directive, read: &dyn Fn(&Range<usize>) -> String) -> String {
    let unless = directive.value("if").map(|range| format!("!({})", read(&range)));
    let own = directive.is_compute().then(|| directive.clause("self")).flatten();
    let own =
        own.map(|clause| clause.value().map_or("1".to_owned(), |range| format!("!!({})", read(&range))));
    match (unless, own) {
        (None, None) => "0".to_owned(),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(one), Some(other)) => format!("{one} || {other}"),
    }
}

impl<'w> Writer<'w> {
    /// The variables that clauses of a name list.
    pub fn listed(&self, directive: &Directive, name: &str) -> Vec<Key> {
        let clauses = directive.for_gpus().into_iter().filter(|clause| clause.name == name);
        clauses.flat_map(|clause| self.keys(clause)).collect()
    }

    fn keys(&self, clause: &Clause) -> Vec<Key> {
        let items = clause.items();
        let range = |item: &&[crate::lexer::Token]| super::directive::bytes(item);
        items
            .iter()
            .filter_map(range)
            .filter_map(|range| self.index.uses_in(&range).next().map(|found| found.key))
            .collect()
    }

    /// A compute construct for the host, and where it ends.
    pub fn compute(&mut self, directive: &'w Directive, names: &Names) -> Result<(usize, String), Complaint> {
        let statement = self.statement(directive)?;
        let body = self.whole(statement);
        let assigned = self.levels(directive, statement, &body);
        let sizes = self.sizes(directive, &body, &assigned);
        let reductions = self.region_reductions(directive, &body, &assigned)?;
        let private: Vec<Variable> = match directive.is_loop {
            true => Vec::new(),
            false => {
                let listed = self.listed(directive, "private");
                listed.iter().filter_map(|key| self.index.variable(*key).cloned()).collect()
            }
        };
        let captured = self.captured(directive, &body, &reductions, &private);
        for variable in captured.iter().filter(|variable| variable.rows.is_some()) {
            for used in self.index.uses_in(&body).filter(|used| used.key == variable.key) {
                rows::check(self.text, &used.range, &variable.name)?;
            }
        }
        let mut found = self.reaches(directive, &body, &captured, &reductions, names)?;
        let value = |name: &str, level: &str| {
            let said =
                directive.value(name).or_else(|| self.said_by_loops(directive, &body, &assigned, level));
            // What is not positive is one, as with GCC.
            said.map(|range| positive(&self.expression(&range, names)))
        };
        let serial = directive.name == Name::Serial;
        let single = serial || self.is_single(directive, statement);
        // One gang does what would be done by each.
        let is_in_order = directive.is_loop
            && self.iterations(directive, nest::independent(directive)) == Iterations::InOrder
            && assigned.levels.get(&directive.range.start).is_none_or(|levels| levels.is_empty());
        let mut gangs_reduced = self.reductions_of_gangs(directive, &assigned, &reductions)?;
        let gangs = match value("num_gangs", "gang") {
            _ if single || is_in_order => ["1"; 3].map(str::to_owned),
            Some(first) => self.said_gangs(directive, first, names),
            None => self.open_gangs(&assigned, gangs_reduced.is_empty()),
        };
        let is_grid = gangs[1..].iter().any(|count| count != "1");
        if is_grid && let Some(one) = gangs_reduced.first() {
            let name = &one.variable.name;
            let message =
                format!("gangs of several dimensions cannot reduce `{name}` (OpenACC 3.3 section 2.9.11)");
            return Err(Complaint::new(directive.range.start, message));
        }
        let known = |size: Option<u64>, name: &str, level: &str| match size {
            Some(size) => size.to_string(),
            None => value(name, level).unwrap_or("1".to_owned()),
        };
        let workers = known(sizes.workers, "num_workers", "worker");
        let lanes = match sizes.lanes {
            Some(lanes) => lanes.to_string(),
            None => format!("((unsigned)({}) + 31u) / 32u * 32u", known(None, "vector_length", "vector")),
        };
        let open = if sizes.open { "1" } else { "0" };
        let gangs = gangs.map(|count| format!("(unsigned)({count})")).join(", ");
        let site = self.site(directive, names, [&gangs, &workers, &lanes, open])?;
        if self.index.calls.iter().any(|call| body.contains(&call.range.start)) {
            let pointers = self.pointers.iter().map(|pointer| format!("*{pointer}"));
            found.items.extend(pointers.map(|spelled| implicit("UPDATE_DEVICE", body.start, None, spelled)));
        }
        let room = match self.slices(Some(directive), &body, &assigned, names, [&workers, &lanes])? {
            None => String::new(),
            Some(slices) => found.make_room(self, slices, directive.range.start),
        };
        for one in &mut gangs_reduced {
            one.slice = self.slice_of(Purpose::Reduction, None, one.variable.key).cloned();
        }
        let (declared, count) = self.items(&found.items, names)?;
        let before = std::mem::take(&mut found.before);
        let waits = self.waits(directive, names);
        let mut region = Region {
            directive,
            statement,
            body: body.clone(),
            assigned: &assigned,
            sizes,
            private,
            reductions: gangs_reduced,
            unset: std::mem::take(&mut found.unset),
            names: std::mem::take(&mut found.names),
        };
        let mut for_gpus = self.for_gpus(&region)?;
        let mut for_processors = self.for_processors(&region)?;
        let apart = self.apart(&assigned, names);
        let mut asked = String::new();
        if let Some(apart) = apart {
            // The same in one thread, if data overlaps that iterations write.
            let in_sequence = assigned.in_sequence();
            region.assigned = &in_sequence;
            let alone = "else if (__gangway_acc_gang(1) == 0)";
            let text = self.for_gpus(&region)?;
            for_gpus = format!("if (__acc_apart) {{ {for_gpus} }} {alone} {{ {text} }}");
            let text = self.for_processors(&region)?;
            for_processors = format!("if (__acc_apart) {{ {for_processors} }} {alone} {{ {text} }}");
            asked = format!("int __acc_apart = {apart}; ");
            found.first_private.push("__acc_apart".to_owned());
        }
        if is_grid {
            // Processors count gangs in one dimension.
            let counts = ["__acc_gangs_1", "__acc_gangs_2", "__acc_gangs_3"];
            for (at, name) in counts.iter().enumerate() {
                asked += &format!("unsigned {name} = __acc_launch.grid[{at}]; ");
                found.first_private.push((*name).to_owned());
            }
            for_processors = format!(
                "if (__gangway_acc_grid_begin({})) {{ {for_processors} }} __gangway_acc_grid_end();",
                counts.join(", ")
            );
        }
        self.slices.clear();
        let moved = found.declarations.concat();
        // Both texts use the same variables, so that clang passes the same.
        let used: String = found.first_private.iter().map(|name| format!("(void){name}; ")).collect();
        let first = found.first_private.join(", ");
        let first = if first.is_empty() { String::new() } else { format!(" firstprivate({first})") };
        let line = self.source.marker(directive.range.start);
        let teams = match is_grid {
            true => [0, 1, 2].map(|at| format!("__acc_launch.gangs[{at}]")).join(", "),
            false => "__acc_launch.gangs[0], 1, 1".to_owned(),
        };
        let text = format!(
            "{{ {site}{before}{room}{declared}{waits}__gangway_acc_compute_begin(&__acc_site, __acc_items, {count}, &__acc_launch); \
             {asked}{moved}{line}#pragma omp target teams ompx_bare num_teams({teams}) \
             thread_limit(__acc_launch.vector, __acc_launch.workers, 1) device(__acc_launch.device){first}\n\
             {{ {used}\n#if __GANGWAY_ACC_GPU\n__gangway_acc_start();\n{for_gpus}\n#else\n{for_processors}\n#endif\n}}\n\
             __gangway_acc_compute_end(); }}"
        );
        Ok((body.end, text))
    }

    /// How many gangs `num_gangs` says that each dimension has: one where it is not told (section 2.5.10).
    fn said_gangs(&self, directive: &Directive, first: String, names: &Names) -> [String; 3] {
        let items = directive.clause("num_gangs").map(Clause::items).unwrap_or_default();
        let other = |at: usize| {
            let range = items.get(at).and_then(|item| bytes(item));
            range.map_or("1".to_owned(), |range| positive(&self.expression(&range, names)))
        };
        [first, other(1), other(2)]
    }

    /// How many each dimension has where no clause says it: 0 leaves it open. A sum would be of all that they
    /// do, also of what those of some dimension do all again.
    fn open_gangs(&self, assigned: &Assigned, may_be_several: bool) -> [String; 3] {
        Levels::DIMENSIONS.map(|(level, dimension)| match dimension {
            _ if !assigned.all.has(level) => "1".to_owned(),
            1 => self.dimensions[0].unwrap_or(0).to_string(),
            _ if may_be_several => "0".to_owned(),
            _ => "1".to_owned(),
        })
    }

    /// The condition under which loops of a construct may be partitioned: that data does not overlap which
    /// pointers lead to. `None`: they may be.
    fn apart(&self, assigned: &Assigned, names: &Names) -> Option<String> {
        let partitioned = assigned.levels.iter().filter(|(_, levels)| !levels.is_empty());
        let found = partitioned.filter_map(|(at, _)| self.independent.get(at)?.as_ref().ok());
        let pairs: BTreeSet<_> = found.flat_map(|found| found.apart.iter().copied()).collect();
        let name = |key| self.index.variable(key).map(|variable| host_name(variable, names));
        let asked = pairs
            .into_iter()
            .filter_map(|(one, two)| Some(format!("__gangway_acc_apart({}, {})", name(one)?, name(two)?)));
        let asked: Vec<String> = asked.collect();
        (!asked.is_empty()).then(|| asked.join(" && "))
    }

    fn levels(&mut self, directive: &'w Directive, statement: Node<'_>, body: &Range<usize>) -> Assigned {
        let independent = nest::independent(directive);
        self.look_at_loops(body, directive, independent);
        let iterations = |one: &Directive| self.iterations(one, independent);
        let construct = self.index.constructs.get(&directive.range.start).copied().unwrap_or(statement);
        let root = if directive.is_loop { construct } else { statement };
        let loops = nest::loops(root, &self.index, &self.directives, &iterations, &self.routines);
        let called = nest::called(&self.index, body, &self.routines);
        let free = match directive.name {
            Name::Serial => Levels::NONE,
            _ if self.is_single(directive, statement) => Levels::WORKER | Levels::VECTOR,
            _ => Levels::ALL,
        };
        let assigned = Assigned::new(&loops, free, called);
        for (at, levels) in &assigned.levels {
            let text = match levels.is_empty() {
                true => "assigned OpenACC seq loop parallelism".to_owned(),
                false => format!("assigned OpenACC {levels} loop parallelism"),
            };
            self.notes.say(*at, text);
        }
        assigned
    }

    /// A `kernels` construct of several statements is one gang's: nothing makes gangs wait for each other.
    fn is_single(&self, directive: &Directive, statement: Node<'_>) -> bool {
        if directive.name != Name::Kernels || directive.is_loop {
            return false;
        }
        let mut node = statement;
        loop {
            let children = node.children();
            let Some(range) = range_of(node) else { return true };
            let is_loop = self.directives.get(&range.start).is_some_and(|directive| directive.is_loop);
            if is_loop || header::loop_in(node).is_some() {
                return false;
            }
            // Declarations are every gang's, but those that read what another gang's share of a loop may have changed by then.
            let mut statements = children
                .into_iter()
                .filter(|child| child.kind() != clang_sys::CXCursor_DeclStmt || self.reads_memory(*child));
            match (statements.next(), statements.next()) {
                (Some(only), None) if node.kind() == clang_sys::CXCursor_CompoundStmt => node = only,
                _ => return true,
            }
        }
    }

    /// Whether there is anything in a statement that may read what a pointer leads to, or an element of an array.
    fn reads_memory(&self, statement: Node<'_>) -> bool {
        let is_pointer = |node: &Node<'_>| node.ty().kind() == clang_sys::CXType_Pointer;
        let children = statement.children();
        let reads = match statement.kind() {
            clang_sys::CXCursor_ArraySubscriptExpr => true,
            clang_sys::CXCursor_UnaryOperator => {
                range_of(statement).is_none_or(|range| self.text[range].starts_with('*'))
            }
            clang_sys::CXCursor_MemberRefExpr | clang_sys::CXCursor_CallExpr => {
                children.iter().any(is_pointer)
            }
            _ => false,
        };
        reads || children.into_iter().any(|child| self.reads_memory(child))
    }

    /// How many workers and lanes there are, where it is known now. Lanes are whole warps, as with GCC.
    fn sizes(&self, directive: &Directive, body: &Range<usize>, assigned: &Assigned) -> Sizes {
        if directive.name == Name::Serial {
            return Sizes::ONE;
        }
        let [_, default_workers, default_lanes] = self.dimensions;
        let number = |range: Range<usize>| self.number(&range);
        let value = |name: &str, level: &str| {
            directive.value(name).or_else(|| self.said_by_loops(directive, body, assigned, level))
        };
        let has_lanes = assigned.all.has(Levels::VECTOR);
        let lanes = match value("vector_length", "vector") {
            _ if !has_lanes => Some(1),
            Some(range) => number(range).map(whole_warps),
            None if default_lanes.is_some() => default_lanes.map(whole_warps),
            None if assigned.separate_workers => Some(LANES),
            None => {
                let alone =
                    assigned.levels.values().any(|levels| levels.has(Levels::VECTOR) && !levels.has_gangs());
                let lanes = if alone { LANES } else { LANES_OF_ONE_LOOP };
                Some(self.elements_of_tiles(assigned).map_or(lanes, |elements| {
                    elements.div_ceil(WARP).saturating_mul(WARP).clamp(WARP, LANES_OF_ONE_LOOP)
                }))
            }
        };
        let has_workers = assigned.all.has(Levels::WORKER);
        let clause = value("num_workers", "worker");
        let open = has_workers && clause.is_none() && default_workers.is_none() && assigned.separate_workers;
        let workers = match clause {
            _ if !has_workers => Some(1),
            // More than a gang can have are a slip, as with GCC.
            Some(range) => number(range).map(|workers| workers.min(most_workers(lanes))),
            None if default_workers.is_some() => {
                default_workers.map(|workers| workers.min(most_workers(lanes)))
            }
            None if assigned.separate_workers => Some(WORKERS.min(most_workers(lanes))),
            None => Some(1),
        };
        Sizes { workers, lanes, open }
    }

    /// A number of gangs, workers, lanes or elements that is spelt as such: one or more.
    pub fn number(&self, range: &Range<usize>) -> Option<u64> {
        self.literal(range).map(|number| number.max(1))
    }

    /// A number that is spelt as such, in any of C's ways (C17 section 6.4.4.1), or as an enumerator.
    pub fn literal(&self, range: &Range<usize>) -> Option<u64> {
        let text = self.text[range.clone()].trim();
        let text = text.trim_start_matches('(').trim_end_matches(')').trim();
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
        let (digits, radix) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
            [b'0', _, ..] => (&digits[1..], 8),
            _ => (digits, 10),
        };
        let named = || u64::try_from(self.enumerator_named(text, range.start)?).ok();
        u64::from_str_radix(digits, radix).ok().or_else(named)
    }

    /// How many gangs, workers or lanes loops of `kernels` ask for: `gang(num: 8)`, `worker(4)` (section
    /// 2.9.2). The first that does says it, if it is known where the construct begins.
    fn said_by_loops(
        &self,
        directive: &Directive,
        body: &Range<usize>,
        assigned: &Assigned,
        level: &str,
    ) -> Option<Range<usize>> {
        if directive.name != Name::Kernels {
            return None;
        }
        let mut loops: Vec<usize> = assigned.levels.keys().copied().collect();
        loops.sort_unstable();
        let clauses = loops.iter().filter_map(|at| self.directives.get(at)?.clause(level));
        let arguments =
            clauses.flat_map(Clause::named).filter(|(name, _)| matches!(*name, "" | "num" | "length"));
        let known = |range: &Range<usize>| !self.index.uses_in(range).any(|found| body.contains(&found.key));
        arguments.filter_map(|(_, value)| bytes(value)).find(known)
    }

    /// How many elements the tiles have whose elements lanes share, if that is known.
    fn elements_of_tiles(&self, assigned: &Assigned) -> Option<u64> {
        let tiled = assigned.levels.iter().filter(|(_, levels)| levels.has(Levels::VECTOR));
        let sizes = tiled.filter_map(|(at, _)| Some(self.directives.get(at)?.clause("tile")?.items()));
        let products = sizes.map(|sizes| {
            let mut numbers = sizes.into_iter().map(|size| self.number(&bytes(size)?));
            numbers.try_fold(1u64, |all, size| all.checked_mul(size?))
        });
        products.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    /// The reductions of the construct as a whole: its own, and those of loops that gangs share.
    fn region_reductions(
        &self,
        directive: &Directive,
        body: &Range<usize>,
        assigned: &Assigned,
    ) -> Result<Vec<Reduction>, Complaint> {
        let mut all: Vec<Reduction> = Vec::new();
        let mut add = |found: Vec<Reduction>| {
            for one in found {
                if !all.iter().any(|known| known.variable.key == one.variable.key) {
                    all.push(one);
                }
            }
        };
        add(reduction::read(self, directive)?);
        // Those of loops are the construct's, too, where no clause makes the variable private (section 2.9.11).
        let mut own = self.private_by_loops(directive, body);
        own.extend(if directive.is_loop { Vec::new() } else { self.listed(directive, "private") });
        own.extend(self.listed(directive, "firstprivate"));
        let mut loops: Vec<usize> = assigned.levels.keys().copied().collect();
        loops.sort_unstable();
        for at in loops {
            if let Some(inner) = self.directives.get(&at) {
                let found = reduction::read(self, inner)?;
                let outside =
                    |one: &Reduction| !body.contains(&one.variable.key) && !own.contains(&one.variable.key);
                add(found.into_iter().filter(outside).collect());
            }
        }
        Ok(all)
    }

    /// Of a construct's reductions, those for which each gang has a copy: clauses of the construct, and of loops
    /// that gangs share, or that are in such a loop. In others one gang changes the variable itself.
    fn reductions_of_gangs(
        &self,
        directive: &Directive,
        assigned: &Assigned,
        all: &[Reduction],
    ) -> Result<Vec<Reduction>, Complaint> {
        let mut keys: Vec<Key> =
            reduction::read(self, directive)?.iter().map(|one| one.variable.key).collect();
        let of_gangs = |at: &usize| assigned.levels.get(at).is_some_and(|levels| levels.has_gangs());
        let shared = assigned.levels.keys().filter(|at| of_gangs(at));
        let shared: Vec<Range<usize>> = shared
            .filter_map(|at| {
                let statement = self.statement(self.directives.get(at)?).ok()?;
                Some(*at..self.whole(statement).end)
            })
            .collect();
        for at in assigned.levels.keys().filter(|at| shared.iter().any(|range| range.contains(at))) {
            if let Some(inner) = self.directives.get(at) {
                keys.extend(reduction::read(self, inner)?.iter().map(|one| one.variable.key));
            }
        }
        Ok(all.iter().filter(|one| keys.contains(&one.variable.key)).cloned().collect())
    }

    /// The variables of around that a construct uses, in the order of their uses.
    fn captured(
        &self,
        directive: &Directive,
        body: &Range<usize>,
        reductions: &[Reduction],
        private: &[Variable],
    ) -> Vec<Variable> {
        let mut found: Vec<Variable> =
            reductions.iter().map(|reduction| reduction.variable.clone()).collect();
        let mut seen: HashSet<Key> = found.iter().chain(private).map(|variable| variable.key).collect();
        seen.extend(self.private_by_loops(directive, body));
        for place in self.index.uses_in(body) {
            if body.contains(&place.key) || !seen.insert(place.key) {
                continue;
            }
            let Some(variable) = self.index.variable(place.key) else { continue };
            if !variable.is_constant && !self.is_on_devices(variable) {
                found.push(variable.clone());
            }
        }
        found
    }

    /// Variables of around whose every use is of a private copy: loops' own variables, and those of
    /// `private` clauses.
    pub fn private_by_loops(&self, directive: &Directive, body: &Range<usize>) -> Vec<Key> {
        let mut covered: Vec<(Key, Range<usize>)> = Vec::new();
        let inside = self.source.directives.iter().filter(|inner| body.contains(&inner.range.start));
        for inner in inside.chain([directive]).filter(|inner| inner.is_loop) {
            let Ok(statement) = self.statement(inner) else { continue };
            let Some(range) = range_of(statement) else { continue };
            covered.extend(self.listed(inner, "private").into_iter().map(|key| (key, range.clone())));
            let mut node = header::loop_in(statement);
            let mut depth = self.collapsed(inner);
            while let Some(one) = node
                && depth > 0
                && let Ok(head) = header::Header::read(one, self.text)
            {
                covered.extend(self.index.uses.get(&head.at).map(|found| (found.key, range.clone())));
                node = one.children().last().copied().and_then(header::loop_in);
                depth -= 1;
            }
        }
        let is_covered = |key: Key| {
            self.index.uses_in(body).filter(|found| found.key == key).all(|found| {
                covered.iter().any(|(covered, range)| *covered == key && range.contains(&found.range.start))
            })
        };
        let mut keys: Vec<Key> = covered.iter().map(|(key, _)| *key).filter(|key| is_covered(*key)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Whether devices have a variable of the program's of their own.
    pub fn is_on_devices(&self, variable: &Variable) -> bool {
        variable.is_static
            && self.source.directives.iter().any(|directive| {
                directive.name == Name::Declare
                    && directive.clauses.iter().any(|clause| {
                        let tokens = clause.tokens.as_deref().unwrap_or_default();
                        clause.name != "deviceptr"
                            && tokens.iter().any(|token| token.text == variable.name)
                            && (clause.name != "link" || self.is_used_in_routines(&variable.name))
                    })
            })
    }

    /// How each captured variable reaches the device.
    fn reaches(
        &mut self,
        directive: &Directive,
        body: &Range<usize>,
        captured: &[Variable],
        reductions: &[Reduction],
        outer: &Names,
    ) -> Result<Reaching, Complaint> {
        let mut explicit = items::read(directive, &self.index, self.text)?;
        explicit.extend(self.origins(directive, body, &explicit)?);
        let defaults = directive.clause("default").and_then(|clause| clause.tokens.as_deref()?.first());
        let default_none = defaults.is_some_and(|token| token.is("none"));
        let default_present = defaults.is_some_and(|token| token.is("present"));
        let first_private = self.listed(directive, "firstprivate");
        let mut reaching = Reaching { names: outer.clone(), ..Reaching::default() };
        // Objects of which a clause names members come before these.
        let mut bases: Vec<Key> = Vec::new();
        let mut needs_this =
            self.index.this.iter().chain(&self.index.implicit_this).any(|at| body.contains(at));
        for item in &explicit {
            match item.key {
                _ if item.is_variable && item.key.is_some() => {}
                Some(key) => bases.push(key),
                None => needs_this = true,
            }
        }
        let names_whole = |key: Key| explicit.iter().any(|item| item.key == Some(key) && item.is_variable);
        if needs_this {
            let name = self.fresh("m", "this");
            let at = reaching.items.len();
            let mut item = implicit("COPY", body.start, None, "*this".to_owned());
            // As in `implicit_object`.
            item.flags.push("OBJECT");
            item.group = group_of(None, &explicit);
            reaching.items.push(item);
            reaching.declare(&name, "this", at);
            reaching.names.insert(THIS, name);
        }
        for variable in captured.iter().filter(|variable| bases.contains(&variable.key)) {
            if names_whole(variable.key) {
                continue;
            }
            let group = group_of(Some(variable.key), &explicit);
            let is_named = group > 0 && self.uses_only(variable.key, &explicit, body);
            let is_pointer = variable.class == Class::Pointer;
            let element = if is_pointer { self.only_element(variable.key, &explicit, body) } else { None };
            self.implicit_object(variable, (group, is_named), element, directive, &mut reaching, outer);
        }
        for item in explicit.iter().filter(|item| item.kind != "DEVICEPTR") {
            let at = reaching.items.len();
            reaching.items.push(item.clone());
            let Some(variable) =
                item.key.and_then(|key| self.index.variable(key)).filter(|_| item.is_variable).cloned()
            else {
                continue;
            };
            if !captured.iter().any(|known| known.key == variable.key) {
                continue;
            }
            // In a template it may be an array.
            let is_pointee = variable.class == Class::Dependent && !item.sections.is_empty()
                || variable.class == Class::Pointer
                    && (!item.sections.is_empty() || matches!(item.kind, "PRESENT" | "NO_CREATE" | "ATTACH"));
            self.bind(&variable, is_pointee, at, &mut reaching, outer);
        }
        for variable in captured {
            reaching.items.extend(self.flexible(variable, &explicit, directive, outer)?);
        }
        let mut objects = Vec::new();
        for variable in captured {
            if reaching.bound.contains(&variable.key) {
                continue;
            }
            let is_reduced = reductions.iter().any(|one| one.variable.key == variable.key);
            let named = first_private.contains(&variable.key)
                || explicit.iter().any(|item| item.key == Some(variable.key));
            if default_none
                && !named
                && !is_reduced
                && !bases.contains(&variable.key)
                && !self.visible.contains(&variable.key)
                && variable.class != Class::Scalar
            {
                let message =
                    format!("`{}` is in no data clause, and `default(none)` asks for one", variable.name);
                return Err(Complaint::new(directive.range.start, message));
            }
            let device_pointer =
                explicit.iter().any(|item| item.kind == "DEVICEPTR" && item.key == Some(variable.key));
            if first_private.contains(&variable.key) || device_pointer {
                let object = host_name(variable, outer);
                match &variable.rows {
                    Some(rows) if variable.class == Class::Pointer => {
                        let name = self.fresh("m", &variable.name);
                        let elements = reaching.declare_rows(&name, &object, &object, rows);
                        self.elements.insert(elements.clone(), rows.depth);
                        reaching.names.insert(variable.key, elements);
                    }
                    _ => self.by_value(variable, body, &mut reaching, object)?,
                }
                continue;
            }
            let is_copied = is_reduced
                || self.visible.contains(&variable.key)
                || directive.name == Name::Kernels
                    && !variable.is_const
                    && self.is_written(variable, body)
                    && self.is_needed_behind(variable, body);
            // A pointer that a data construct around has on the device, and not what it leads to.
            let is_itself = self.visible_pointers.contains(&variable.key) && self.is_written(variable, body);
            let by_value = !is_copied && matches!(variable.class, Class::Scalar | Class::Dependent);
            if by_value && self.is_unset(variable, body) {
                reaching.unset.push(variable.clone());
            } else if by_value {
                reaching.before += &self.no_object(variable, body);
                self.by_value(variable, body, &mut reaching, host_name(variable, outer))?;
            } else if variable.class == Class::Pointer && !is_reduced && !is_itself {
                let at = reaching.items.len();
                let name = host_name(variable, outer);
                let is_open = defaults.is_none()
                    && variable.pointers == 1
                    && variable.rows.is_none()
                    && !self.visible.contains(&variable.key)
                    && !outer.contains_key(&variable.key);
                let statement = self.statement(directive)?;
                let extent = if is_open { self.extent(statement, body, variable, outer) } else { None };
                reaching.items.push(match extent {
                    Some(Extent { declared, first, last, is_read }) => {
                        let kind = if is_read { "SUPPOSED_COPYIN" } else { "SUPPOSED_COPY" };
                        let mut item =
                            implicit(kind, body.start, Some(variable), format!("{name} + {first}"));
                        let bytes = format!("(unsigned long)({last} - {first} + 1) * sizeof({name}[0])");
                        item.room = Some([bytes, format!("(void **)({name})")]);
                        reaching.before += &declared;
                        item
                    }
                    None => implicit("NO_CREATE", body.start, Some(variable), name),
                });
                self.bind(variable, true, at, &mut reaching, outer);
            } else {
                let kind = if default_present && !is_reduced && variable.class != Class::Scalar {
                    "PRESENT"
                } else if variable.is_const {
                    "COPYIN"
                } else {
                    "COPY"
                };
                let at = reaching.items.len();
                let mut item = implicit(kind, body.start, Some(variable), host_name(variable, outer));
                if variable.class == Class::Record {
                    // As in `implicit_object`.
                    item.flags.push("OBJECT");
                    objects.push((Some(variable.key), item.spelled.clone().unwrap_or_default()));
                }
                reaching.items.push(item);
                self.bind(variable, false, at, &mut reaching, outer);
            }
        }
        if needs_this || !objects.is_empty() {
            let used = members::used(self.statement(directive)?);
            let of_objects = used.into_iter().filter_map(|member| {
                if member.of.is_none() {
                    return Some(used_of_this(&member));
                }
                let (_, object) = objects.iter().find(|(key, _)| *key == member.of)?;
                Some(implicit("PRESENT", member.at, None, format!("{object}{}", member.path)))
            });
            reaching.items.extend(of_objects);
        }
        Ok(reaching)
    }

    /// Whether what `kernels` leaves in a variable may be read behind it: a scalar comes back then (section 2.5.3).
    /// Others are each thread's, as nobody sees the difference.
    pub fn is_needed_behind(&self, variable: &Variable, body: &Range<usize>) -> bool {
        variable.class != Class::Scalar
            || variable.is_static
            || variable.is_reference
            || self.flow(variable.key, body.start).is_none_or(|flow| flow.is_read_behind(body))
    }

    /// Whether a construct writes a number of around before it reads it.
    fn is_unset(&self, variable: &Variable, body: &Range<usize>) -> bool {
        variable.class == Class::Scalar
            && !variable.is_static
            && !variable.is_reference
            && self.is_written(variable, body)
            && self.flow(variable.key, body.start).is_some_and(|flow| flow.is_written_first(body))
    }

    /// In a template nobody knows yet whether a variable is an object, which would come back if no clause names it
    /// (section 2.6.2): then the compiler says so.
    fn no_object(&self, variable: &Variable, body: &Range<usize>) -> String {
        let is_changed =
            self.index.uses_in(body).any(|found| found.key == variable.key && found.doing == Doing::Writes);
        if variable.class != Class::Dependent || !is_changed {
            return String::new();
        }
        let name = &variable.name;
        format!(
            "_Static_assert(!__is_class(__typeof__({name})) && !__is_union(__typeof__({name})), \
             \"`{name}` is an object here, which the construct changes: name it in a data clause, as in copy({name})\"); "
        )
    }

    /// A variable of which each gang has a copy. OpenMP passes none that belongs to a thread: a variable beside it does.
    fn by_value(
        &mut self,
        variable: &Variable,
        body: &Range<usize>,
        reaching: &mut Reaching,
        object: String,
    ) -> Result<(), Complaint> {
        if !variable.is_thread_local {
            reaching.first_private.push(object);
            return Ok(());
        }
        let written =
            self.index.uses_in(body).find(|found| found.key == variable.key && found.doing != Doing::Reads);
        if let Some(found) = written {
            let message = format!(
                "`{object}` belongs to a thread of the host, and the construct changes it: a data clause has to bring it to the \
                 device, as in copy({object})"
            );
            return Err(Complaint::new(found.range.start, message));
        }
        let name = self.fresh("m", &variable.name);
        reaching.declarations.push(format!("const __typeof__({}) {name} = {object}; ", variable.ty));
        reaching.first_private.push(name.clone());
        reaching.names.insert(variable.key, name);
        Ok(())
    }

    /// The flexible array that a construct uses: it has to stand behind the structure on the device, too. Where it is not
    /// there the construct cannot have brought the structure alone.
    fn flexible(
        &self,
        variable: &Variable,
        explicit: &[Item],
        directive: &Directive,
        outer: &Names,
    ) -> Result<Option<Item>, Complaint> {
        let Some(member) = &variable.flexible else { return Ok(None) };
        let Some(at) = members::use_of(self.statement(directive)?, variable.key, member) else {
            return Ok(None);
        };
        let name = host_name(variable, outer);
        if variable.class != Class::Pointer {
            let message = format!(
                "`{}.{member}` is a flexible array, which no data clause brings to a device with the variable: use a pointer to it",
                variable.name
            );
            return Err(Complaint::new(at, message));
        }
        let mut of_it = explicit.iter().filter(|item| item.key == Some(variable.key));
        let brings = |item: &Item| matches!(item.kind, "COPY" | "COPYIN" | "COPYOUT" | "CREATE");
        let mut item = implicit("FLEXIBLE", at, Some(variable), format!("{name}->{member}"));
        if !of_it.clone().any(|item| item.is_variable && brings(item)) || of_it.any(|item| !item.is_variable)
        {
            item.flags.push("IF_PRESENT");
        }
        let before = format!("__builtin_offsetof(__typeof__(*{name}), {member})");
        item.room =
            Some([format!("sizeof(*{name}) - {before} + sizeof({name}->{member}[0])"), "0".to_owned()]);
        Ok(Some(item))
    }

    /// Whether a construct uses nothing of a variable, or of what it leads to, but members that clauses name.
    fn uses_only(&self, key: Key, explicit: &[Item], body: &Range<usize>) -> bool {
        let named: Vec<_> = explicit
            .iter()
            .filter(|item| {
                item.key == Some(key) && item.is_of_base && self.is_settled(&item.object, key, body)
            })
            .map(|item| item.object.clone())
            .collect();
        self.index
            .uses_in(body)
            .filter(|found| found.key == key)
            .all(|found| named.iter().any(|member| self.begins_with(found.range.start..body.end, member)))
    }

    /// The subscript of the one element that clauses and a construct use of what a pointer leads to.
    fn only_element(&self, key: Key, explicit: &[Item], body: &Range<usize>) -> Option<Range<usize>> {
        let mut of_it = explicit.iter().filter(|item| item.key == Some(key)).map(|item| &item.object);
        let first = of_it.next()?;
        let all = tokens(self.text[first.clone()].as_bytes());
        let close =
            all.get(1).filter(|open| open.is("[")).and_then(|_| closing(&all[1..])).map(|close| close + 1)?;
        let element = first.start..first.start + all[close].range.end;
        let uses = self.index.uses_in(body).filter(|found| found.key == key);
        let is_it = |begin: usize, end: usize| self.begins_with(begin..end, &element);
        let is_only = of_it.all(|object| is_it(object.start, object.end))
            && uses.map(|found| found.range.start).all(|begin| is_it(begin, body.end))
            && self.is_settled(&element, key, body);
        is_only.then(|| first.start + all[1].range.end..first.start + all[close].range.start)
    }

    /// Whether the subscripts of a list item have the same values in the construct as before it.
    fn is_settled(&self, item: &Range<usize>, base: Key, body: &Range<usize>) -> bool {
        let calls = self.index.calls.iter().any(|call| item.contains(&call.range.start));
        !calls
            && self.index.uses_in(item).filter(|found| found.key != base).all(|found| {
                let variable = self.index.variable(found.key);
                variable.is_some_and(|variable| {
                    variable.class == Class::Scalar && !variable.is_static && !self.is_written(variable, body)
                })
            })
    }

    /// Whether a text begins with what a list item says, of the same variables.
    fn begins_with(&self, text: Range<usize>, item: &Range<usize>) -> bool {
        let words = tokens(self.text[item.clone()].as_bytes());
        let rest = self.text[text.clone()].split(';').next().unwrap_or_default();
        let used = tokens(rest.as_bytes());
        let Some(last) = words.len().checked_sub(1).and_then(|last| used.get(last)) else { return false };
        let keys =
            |range: Range<usize>| self.index.uses_in(&range).map(|found| found.key).collect::<Vec<_>>();
        used.iter().zip(&words).all(|(one, other)| one.text == other.text)
            && keys(text.start..text.start + last.range.end) == keys(item.clone())
    }

    /// The object that a clause names a part of: all of it is on the device then, unless the construct uses no more of
    /// it than the clauses name.
    fn implicit_object(
        &mut self,
        variable: &Variable,
        (group, is_named): (u32, bool),
        element: Option<Range<usize>>,
        directive: &Directive,
        reaching: &mut Reaching,
        outer: &Names,
    ) {
        let at = reaching.items.len();
        let is_pointer = variable.class == Class::Pointer;
        let name = host_name(variable, outer);
        let spelled = match element {
            Some(subscript) => format!("{name}[{}]", self.expression(&subscript, outer)),
            None if is_pointer => format!("*{name}"),
            None => name,
        };
        let mut item = implicit("COPY", directive.range.start, Some(variable), spelled);
        // Its members may be on the device already, and it not.
        item.flags.push("OBJECT");
        if variable.flexible.is_some() {
            item.flags.push("OPEN_END");
        }
        if is_named {
            item.flags.push("NAMED");
        }
        item.group = group;
        reaching.items.push(item);
        self.bind(variable, is_pointer, at, reaching, outer);
    }

    fn is_written(&self, variable: &Variable, body: &Range<usize>) -> bool {
        self.index.uses_in(body).any(|found| found.key == variable.key && found.doing != Doing::Reads)
    }

    /// The variable on the device: a pointer to it, or where it is a pointer that leads to an item, that.
    fn bind(
        &mut self,
        variable: &Variable,
        is_pointee: bool,
        at: usize,
        reaching: &mut Reaching,
        outer: &Names,
    ) {
        if reaching.bound.contains(&variable.key) {
            return;
        }
        let name = self.fresh("m", &variable.name);
        let object = host_name(variable, outer);
        if let Some(rows) = &variable.rows {
            let pointer = format!("__gangway_acc_moved(&{object}[0], __acc_items[{at}])");
            let elements = reaching.declare_rows(&name, &object, &pointer, rows);
            self.elements.insert(elements.clone(), rows.depth);
            reaching.names.insert(variable.key, elements);
            reaching.bound.push(variable.key);
            return;
        }
        // clang cannot pass a pointer to an array of unknown length: its first element does as well.
        let is_pointee = is_pointee || variable.is_vla;
        let address = match (is_pointee, variable.is_vla || variable.class == Class::Dependent) {
            (true, true) => format!("&{object}[0]"),
            (true, _) => object,
            _ => format!("&{object}"),
        };
        reaching.declare(&name, &address, at);
        reaching.names.insert(variable.key, if is_pointee { name } else { format!("{name}[0]") });
        reaching.bound.push(variable.key);
    }
}

/// A number of gangs, workers or lanes.
fn positive(number: &str) -> String {
    format!("__gangway_acc_positive({number})")
}

/// Lanes, which are one or fill warps.
fn whole_warps(lanes: u64) -> u64 {
    if lanes <= 1 { 1 } else { (lanes.div_ceil(WARP) * WARP).min(THREADS) }
}

/// The most workers of so many lanes. Each worker of several warps has a barrier of its own.
fn most_workers(lanes: Option<u64>) -> u64 {
    match lanes {
        Some(..=WARP) => mode::WORKERS,
        Some(lanes) => (THREADS / lanes).clamp(1, WORKERS_WITH_BARRIERS),
        None => WORKERS_WITH_BARRIERS,
    }
}

/// The name of a variable outside of the construct.
fn host_name(variable: &Variable, outer: &Names) -> String {
    outer.get(&variable.key).cloned().unwrap_or_else(|| variable.path.clone())
}

/// The number of an object of which items are members: of a variable or of what it leads to, or of `this`.
fn group_of(key: Option<Key>, items: &[Item]) -> u32 {
    items.iter().find(|item| item.key == key && item.is_of_base).map_or(0, |item| item.group)
}

/// An item that no clause names.
fn implicit(kind: &'static str, at: usize, variable: Option<&Variable>, spelled: String) -> Item {
    Item {
        kind,
        flags: vec!["IMPLICIT"],
        key: variable.map(|variable| variable.key),
        at,
        object: at..at,
        is_variable: true,
        sections: Vec::new(),
        whole: at..at,
        spelled: Some(spelled),
        room: None,
        group: 0,
        is_of_base: false,
    }
}

/// What a construct uses of the object at `this`, which is put together on the device if a part of it is there, and
/// this is not.
fn used_of_this(member: &members::Member) -> Item {
    let mut item = implicit("USED", member.at, None, format!("&({})", member.path));
    let own = if member.is_pointer { format!("(void **)&({})", member.path) } else { "0".to_owned() };
    item.room = Some([format!("sizeof({})", member.path), own]);
    item
}

/// What a construct's variables need before and in it.
#[derive(Default)]
struct Reaching {
    /// What stands before the list of items.
    before: String,
    items: Vec<Item>,
    declarations: Vec<String>,
    first_private: Vec<String>,
    unset: Vec<Variable>,
    names: Names,
    bound: Vec<Key>,
}

impl Reaching {
    /// A variable whose rows have lengths that are known when the program runs; what stands for it.
    fn declare_rows(&mut self, name: &str, object: &str, pointer: &str, rows: &Rows) -> String {
        let (text, names, elements) = rows::declared(name, object, pointer, rows);
        self.declarations.push(text);
        self.first_private.extend(names);
        elements
    }

    /// Room for copies whose length is known when the program runs: what declares it.
    fn make_room(&mut self, writer: &mut Writer<'_>, mut slices: Slices, at: usize) -> String {
        let mut memory = implicit("CREATE", at, None, room::ROOM.to_owned());
        memory.room = Some([slices.make_room(), "0".to_owned()]);
        let place = self.items.len();
        self.items.push(memory);
        self.declare(room::ROOM_ON_DEVICE, room::ROOM, place);
        self.first_private.extend(slices.names);
        writer.slices = slices.all;
        slices.declared
    }

    fn declare(&mut self, name: &str, address: &str, item: usize) {
        self.declarations.push(format!(
            "__auto_type {name} = __gangway_acc_moved({address}, __acc_items[{item}]); (void){name}; "
        ));
        self.first_private.push(name.to_owned());
    }
}
