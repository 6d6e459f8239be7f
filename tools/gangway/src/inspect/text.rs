//! The summary of a file for people.

use std::fmt::Write;

use gangway_trace::table::{Align, Table, bytes};

use super::code_object::Resources;
use super::summary::{EntrySummary, ImageSummary, Summary, TableSummary};
use crate::program::LIBGOMP_INSIDE;

pub fn render(summary: &Summary) -> String {
    let mut out = String::new();
    let count = match summary.images.len() {
        0 => "no device images".to_owned(),
        1 => "1 device image".to_owned(),
        count => format!("{count} device images"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}: {}, {count}", summary.file, summary.container);
    if let Some(runtime) = &summary.runtime {
        let release = runtime.llvm.map_or(String::new(), |release| format!(", of LLVM {release}"));
        let fate = if runtime.replaced { "Gangway takes its place" } else { "Gangway does not replace it" };
        let _ = writeln!(out, "linked with {}{release}: {fate}", runtime.library);
    }
    for image in &summary.images {
        render_image(&mut out, image);
    }
    for table in &summary.tables {
        render_table(&mut out, table);
    }
    if let Some(gcc) = &summary.gcc {
        let _ = writeln!(
            out,
            "\nhost tables of GCC: {}, {}",
            counted(gcc.functions, "function"),
            counted(gcc.variables, "variable")
        );
        if gcc.libgomp_inside {
            let _ = writeln!(out, "note: {} {LIBGOMP_INSIDE}", summary.file);
        }
    }
    for problem in &summary.problems {
        let places = problem.member.iter().chain(&problem.section);
        let place: String = places.map(|place| format!("{place}: ")).collect();
        let _ = writeln!(out, "\nproblem: {place}{}", problem.message);
    }
    out
}

fn render_image(out: &mut String, image: &ImageSummary) {
    let _ = writeln!(out, "\nimage {}: {}", image.index, image.description);
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<10} {value}");
    };
    if let Some(error) = &image.error {
        field("problem", error);
    }
    if let Some(triple) = &image.triple {
        field("triple", triple);
    }
    // The image's own word counts; the compiler's is shown where it says more.
    match (&image.arch, &image.processor) {
        (Some(arch), Some(processor)) if arch != processor => {
            field("arch", &format!("{processor} (made for {arch})"));
        }
        (Some(arch), _) | (None, Some(arch)) => field("arch", arch),
        (None, None) => {}
    }
    match (image.producer, image.offload_kind) {
        ("unknown", None) => {}
        ("unknown", Some(kind)) => field("made for", kind),
        (producer, Some(kind)) => field("made by", &format!("{producer}, for {kind}")),
        (producer, None) => field("made by", producer),
    }
    match (&image.back_end, &image.skipped) {
        (Some(back_end), _) => field("back end", back_end),
        (None, Some(why)) => field("skipped", why),
        (None, None) => {}
    }
    let parts = if image.parts > 1 { format!(" in {} parts", image.parts) } else { String::new() };
    field("size", &format!("{} ({} bytes){parts}", bytes(image.size), image.size));
    let mut place = format!("offset {:#x}", image.offset);
    if let Some(section) = &image.section {
        place.push_str(&format!(" in {section}"));
    }
    if let Some(member) = &image.member {
        place.push_str(&format!(" of {member}"));
    }
    field("where", &place);
    if !image.needed.is_empty() {
        field("needs", &image.needed.join(" "));
    }
    render_kernels(out, image);
    if !image.globals.is_empty() {
        let mut table = Table::new(&[("  global", Align::Left), ("size", Align::Right)]);
        for global in &image.globals {
            table.row([format!("  {}", global.name), global.size.map_or("?".to_owned(), bytes)]);
        }
        let _ = write!(out, "{table}");
    }
    // Kernels and globals of a host image are in its entry table; show what else is.
    let other = |entry: &&EntrySummary| !matches!(entry.kind, "kernel" | "global");
    let others: Vec<_> = image.entries.iter().filter(other).collect();
    if !others.is_empty() {
        let mut table = Table::new(&[("  other entry", Align::Left), ("symbol", Align::Left)]);
        for entry in others {
            table.row([format!("  {}", entry.kind), entry.symbol.clone()]);
        }
        let _ = write!(out, "{table}");
    }
}

fn render_kernels(out: &mut String, image: &ImageSummary) {
    let kernels = &image.kernels;
    if kernels.is_empty() {
        return;
    }
    // Columns in which every cell would be empty, or the same as the name, are left out.
    let environments = kernels.iter().any(|kernel| kernel.environment.is_some());
    let symbols = kernels.iter().any(|kernel| kernel.symbol != kernel.name);
    let mut columns = vec![("  kernel", Align::Left)];
    if environments {
        columns.extend([("mode", Align::Left), ("threads", Align::Left)]);
    }
    let is_ptx = kernels.iter().any(|kernel| kernel.declared_registers.is_some());
    if is_ptx {
        columns.extend([("registers", Align::Right), ("shared", Align::Right)]);
    }
    let is_amd = kernels.iter().any(|kernel| kernel.code_object.is_some());
    let accumulates =
        kernels.iter().any(|kernel| kernel.code_object.is_some_and(|of| of.accumulation_registers > 0));
    if is_amd {
        columns.push(("vector", Align::Right));
        if accumulates {
            columns.push(("accumulation", Align::Right));
        }
        columns.extend([
            ("scalar", Align::Right),
            ("shared", Align::Right),
            ("scratch", Align::Right),
            ("wave", Align::Right),
        ]);
    }
    if symbols {
        columns.push(("symbol", Align::Left));
    }
    let mut table = Table::new(&columns);
    for kernel in kernels {
        let mut cells = vec![format!("  {}", kernel.name)];
        if environments {
            let environment = kernel.environment.as_ref();
            cells.push(environment.map_or("?", |environment| environment.mode).to_owned());
            cells.push(environment.map_or("?".to_owned(), |environment| range(environment.threads)));
        }
        if is_ptx {
            let registers = kernel.declared_registers;
            cells.push(registers.map_or("?".to_owned(), |count| count.to_string()));
            cells.push(kernel.shared_memory.map_or("?".to_owned(), bytes));
        }
        if is_amd {
            let number = |of: fn(&Resources) -> u32| {
                kernel.code_object.as_ref().map_or("?".to_owned(), |kernel| of(kernel).to_string())
            };
            cells.push(number(|of| of.vector_registers));
            if accumulates {
                cells.push(number(|of| of.accumulation_registers));
            }
            cells.push(number(|of| of.scalar_registers));
            cells.push(kernel.shared_memory.map_or("?".to_owned(), bytes));
            let scratch = kernel.code_object.map(|of| {
                let more = if of.dynamic_stack { " and more" } else { "" };
                bytes(of.scratch_memory.into()) + more
            });
            cells.push(scratch.unwrap_or("?".to_owned()));
            cells.push(number(|of| of.wave));
        }
        if symbols {
            cells.push(kernel.symbol.clone());
        }
        table.row(cells);
    }
    let _ = write!(out, "{table}");
    if is_ptx {
        let _ = writeln!(
            out,
            "  registers: 32-bit ones that the PTX declares; what a thread has is decided when it is compiled \
             (a report says it)"
        );
    } else if is_amd {
        let _ = writeln!(
            out,
            "  vector registers and scratch memory: of each lane; scalar ones: of each wave; shared: LDS"
        );
    } else if image.is_gpu() {
        let _ = writeln!(out, "  registers and shared memory: not read from this kind of image");
    }
}

fn render_table(out: &mut String, table: &TableSummary) {
    let member = table.member.as_ref().map_or(String::new(), |member| format!(" of {member}"));
    let legacy = if table.layout == "legacy" { ", of clang 20 or older" } else { "" };
    let _ =
        writeln!(out, "\nhost entries in {}{member} at offset {:#x}{legacy}", table.section, table.offset);
    let mut rows = Table::new(&[
        ("kind", Align::Left),
        ("name", Align::Left),
        ("size", Align::Right),
        ("address", Align::Right),
    ]);
    for entry in &table.entries {
        rows.row([
            entry.kind.to_owned(),
            entry.name.clone(),
            if entry.size == 0 { "-".to_owned() } else { bytes(entry.size) },
            entry.address.map_or("-".to_owned(), |address| format!("{address:#x}")),
        ]);
    }
    let _ = write!(out, "{rows}");
}

/// -1 and 0 stand for no limit.
fn range((from, to): (i32, i32)) -> String {
    let bound = |value: i32| if value > 0 { value.to_string() } else { "any".to_owned() };
    if from == to { bound(from) } else { format!("{} to {}", bound(from), bound(to)) }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
