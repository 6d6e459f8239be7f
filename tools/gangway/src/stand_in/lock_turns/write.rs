//! The loop over the lanes of a wave that is put around a region.

use std::fmt::Write as _;

use super::code::{Block, Function};
use super::held::Region;

const DECLARATIONS: [(&str, &str); 5] = [
    ("@llvm.amdgcn.ballot.i64(", "declare i64 @llvm.amdgcn.ballot.i64(i1)"),
    ("@llvm.amdgcn.mbcnt.lo(", "declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)"),
    ("@llvm.amdgcn.mbcnt.hi(", "declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)"),
    ("@llvm.amdgcn.wave.barrier(", "declare void @llvm.amdgcn.wave.barrier()"),
    ("@llvm.cttz.i64(", "declare i64 @llvm.cttz.i64(i64, i1 immarg)"),
];

/// Declares what the loops call.
pub fn declare(text: &mut String) {
    for (name, declaration) in DECLARATIONS {
        let is_there = text.lines().any(|line| line.starts_with("declare ") && line.contains(name));
        if !is_there {
            text.push_str(declaration);
            text.push('\n');
        }
    }
}

/// Has the lanes that come to a region run it one behind the other. All go through all turns, and each leaves by its own way
/// when all are done: then none of them has a lock.
pub fn turns(function: &mut Function<'_>, region: &Region, number: usize) {
    let name = |part: &str| format!("%gangway.turns.{number}.{part}");
    let (begin, turn, next, end) = (name("begin"), name("turn"), name("next"), name("end"));
    let mut added = Vec::new();
    let mut ways_of_end = String::new();
    let mut exits_of_next = String::new();
    for (exit, (from, to)) in region.exits.iter().enumerate() {
        let (leave, out) = (name(&format!("leave.{exit}")), name(&format!("out.{exit}")));
        let from_label = function.blocks[*from].label.clone();
        function.blocks[*from].redirect(to, &leave);
        if let Some(to) = function.find(to) {
            function.blocks[to].come_from(&from_label, &out);
        }
        added.push(block(&leave, &[format!("br label {next}")]));
        added.push(block(&out, &[format!("br label {to}")]));
        let _ = write!(exits_of_next, ", [ {exit}, {leave} ]");
        let _ = write!(ways_of_end, " i32 {exit}, label {out}");
    }
    // The others of the function, and what goes round from the region itself, come to its loop.
    for block in function.blocks.iter_mut().chain(&mut added) {
        block.redirect(&region.entry, &begin);
    }
    let [lanes, low, lane, own] = ["lanes", "low", "lane", "own"].map(name);
    let [waiting, way, first, mine] = ["waiting", "way", "first", "mine"].map(name);
    let [way_of_next, less, left, more] = ["way.next", "less", "left", "more"].map(name);
    added.push(block(
        &begin,
        &[
            format!("{lanes} = call i64 @llvm.amdgcn.ballot.i64(i1 true)"),
            format!("{low} = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)"),
            format!("{lane} = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 {low})"),
            format!("{own} = zext i32 {lane} to i64"),
            format!("br label {turn}"),
        ],
    ));
    added.push(block(
        &turn,
        &[
            format!("{waiting} = phi i64 [ {lanes}, {begin} ], [ {left}, {next} ]"),
            format!("{way} = phi i32 [ 0, {begin} ], [ {way_of_next}, {next} ]"),
            format!("{first} = call i64 @llvm.cttz.i64(i64 {waiting}, i1 true)"),
            format!("{mine} = icmp eq i64 {first}, {own}"),
            format!("br i1 {mine}, label {}, label {next}", region.entry),
        ],
    ));
    added.push(block(
        &next,
        &[
            format!("{way_of_next} = phi i32 [ {way}, {turn} ]{exits_of_next}"),
            // What has all lanes together is not moved out of the loop.
            "call void @llvm.amdgcn.wave.barrier()".into(),
            format!("{less} = add i64 {waiting}, -1"),
            format!("{left} = and i64 {waiting}, {less}"),
            format!("{more} = icmp ne i64 {left}, 0"),
            format!("br i1 {more}, label {turn}, label {end}"),
        ],
    ));
    // A region that is never left has no way behind the loop.
    let behind = match region.exits.len() {
        0 => "unreachable".into(),
        1 => format!("br label {}", name("out.0")),
        _ => format!("switch i32 {way_of_next}, label {} [{ways_of_end} ]", name("out.0")),
    };
    added.push(block(&end, &[behind]));
    function.blocks.extend(added);
}

fn block(label: &str, code: &[String]) -> Block {
    Block::new(label.into(), code.iter().map(|line| format!("  {line}")).collect())
}
