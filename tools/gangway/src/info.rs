//! `gangway info`: which back ends there are, what they offer, and why one is missing.
//!
//! Asks the same back ends that the runtime asks, in the same environment, and opens
//! every device: what is shown as a device works.

use std::env;
use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::path::PathBuf;

use gangway_backend::Backend;
use gangway_image::GccTarget;
use gangway_trace::table::{Align, Table};
use serde::Serialize;

use crate::arguments::Info;
use crate::compilers::{self, Found};
use crate::devices;
use crate::exit::{FAILURE, Outcome, SUCCESS};
use crate::libomp::Libomp;
use crate::library::{self, LIBOMPTARGET};
use crate::variables::warn_of_misspelt;
use crate::vgpu;

/// The JSON form; docs/cli.md describes it.
#[derive(Debug, Serialize)]
struct Report {
    format: &'static str,
    version: u32,
    gangway: &'static str,
    library: Option<PathBuf>,
    library_problem: Option<String>,
    /// The releases of LLVM whose programs it runs.
    releases: Vec<u32>,
    backends: Vec<BackendReport>,
    gcc: GccReport,
    /// That of programs of clang's.
    libomp: Option<Libomp>,
    /// What compilers there are, and what their programs run on.
    compilers: Vec<Found>,
    warnings: Vec<String>,
}

/// What becomes of GCC's programs.
#[derive(Debug, Serialize)]
struct GccReport {
    /// The front end that runs them.
    library: Option<PathBuf>,
    library_problem: Option<String>,
    /// What their images may be for.
    images: Vec<&'static str>,
    /// What no back end takes.
    skipped: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct BackendReport {
    name: String,
    selected: bool,
    devices: Vec<DeviceReport>,
    why_absent: Option<String>,
}

#[derive(Debug, Serialize)]
struct DeviceReport {
    ordinal: usize,
    unique_id: String,
    properties: Vec<(String, String)>,
    error: Option<String>,
}

pub fn info(options: &Info) -> Outcome {
    warn_of_misspelt();
    let report = gather();
    let shown = if options.json { serde_json::to_string_pretty(&report)? + "\n" } else { render(&report) };
    stdout().lock().write_all(shown.as_bytes())?;
    // The status is about what `gangway run` offers by itself.
    let works = |backend: &BackendReport| {
        backend.name != library::VGPU && backend.devices.iter().any(|device| device.error.is_none())
    };
    let complete = report.library.is_some() && report.backends.iter().any(works);
    Ok(if complete { SUCCESS } else { FAILURE })
}

fn gather() -> Report {
    let directory = library::directory();
    let wanted = env::var("GANGWAY_DEVICE").ok().filter(|names| !names.is_empty());
    let selected = |name: &str| wanted.as_deref().is_none_or(|names| names.split(',').any(|one| one == name));
    let (all, warnings) = devices::backends(directory.as_deref().ok());
    let mut backends: Vec<_> = all.iter().map(|backend| ask(&**backend, selected(backend.name()))).collect();
    backends.push(virtual_gpu());
    Report {
        format: "gangway-info",
        version: 1,
        gangway: env!("CARGO_PKG_VERSION"),
        library: directory.as_ref().ok().map(|directory| directory.join(LIBOMPTARGET)),
        releases: directory.as_deref().map(library::releases).unwrap_or_default(),
        library_problem: directory.err().map(|failure| failure.to_string()),
        backends,
        gcc: gcc(),
        libomp: Libomp::find(&[]),
        compilers: compilers::found(),
        warnings,
    }
}

fn gcc() -> GccReport {
    let front = library::libgomp_front();
    let (taken, skipped): (Vec<_>, _) =
        GccTarget::COMPILED.into_iter().partition(|target| target.is_registered());
    let triples = |targets: Vec<GccTarget>| targets.into_iter().filter_map(GccTarget::triple).collect();
    GccReport {
        library_problem: front.as_ref().err().map(ToString::to_string),
        library: front.ok(),
        images: triples(taken),
        skipped: triples(skipped),
    }
}

fn ask(backend: &dyn Backend, selected: bool) -> BackendReport {
    let name = backend.name().to_owned();
    if !selected {
        // The runtime does not touch a back end that is left out, so neither is it here.
        let why = Some("left out by GANGWAY_DEVICE".to_owned());
        return BackendReport { name, selected, devices: Vec::new(), why_absent: why };
    }
    let devices: Vec<_> = (0..backend.device_count()).map(|ordinal| open(backend, ordinal)).collect();
    let why_absent =
        devices.is_empty().then(|| backend.why_absent().unwrap_or_else(|| "it finds no device".to_owned()));
    BackendReport { name, selected, devices, why_absent }
}

/// Not of `GANGWAY_DEVICE`: programs choose it with the library that they load.
fn virtual_gpu() -> BackendReport {
    let name = library::VGPU.to_owned();
    let (devices, why_absent) = match vgpu::devices() {
        Ok(devices) => (devices, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let report = |(ordinal, device): (usize, vgpu::Device)| {
        let unique_id = format!("gangway-vgpu-{ordinal}");
        match device {
            Ok(properties) => DeviceReport { ordinal, unique_id, properties, error: None },
            Err(error) => DeviceReport { ordinal, unique_id, properties: Vec::new(), error: Some(error) },
        }
    };
    let devices = devices.into_iter().enumerate().map(report).collect();
    BackendReport { name, selected: true, devices, why_absent }
}

fn open(backend: &dyn Backend, ordinal: usize) -> DeviceReport {
    let (properties, error) = match backend.open(ordinal) {
        Ok(device) => (device.describe(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    DeviceReport { ordinal, unique_id: backend.unique_id(ordinal), properties, error }
}

fn render(report: &Report) -> String {
    let mut out = format!("gangway {}\n", report.gangway);
    // Writing to a string cannot fail.
    let _ = match (&report.library, &report.library_problem) {
        (Some(library), _) => writeln!(
            out,
            "library {}\n  for programs of LLVM {}",
            library.display(),
            library::listed(&report.releases)
        ),
        (None, problem) => writeln!(out, "library: {}", problem.as_deref().unwrap_or("missing")),
    };
    for warning in &report.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    for backend in &report.backends {
        render_backend(&mut out, backend);
    }
    render_libomp(&mut out, report.libomp.as_ref());
    render_gcc(&mut out, &report.gcc);
    render_compilers(&mut out, &report.compilers);
    out
}

/// A row for each, and what is missing of it below.
fn render_compilers(out: &mut String, compilers: &[Found]) {
    if compilers.is_empty() {
        out.push_str("\ncompilers: none is found whose programs offload\n");
        return;
    }
    let columns = ["compiler", "OpenMP on", "OpenACC on"].map(|column| (column, Align::Left));
    let mut table = Table::new(&columns);
    let devices = |devices: &[&str]| match devices {
        [] => "-".to_owned(),
        some => some.iter().map(|device| on(device)).collect::<Vec<_>>().join(", "),
    };
    for found in compilers {
        table.row([found.name.clone(), devices(&found.openmp), devices(&found.openacc)]);
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "\n{table}");
    for found in compilers {
        if let Some(note) = &found.note {
            let _ = writeln!(out, "  {}: {note}", found.name);
        }
    }
}

/// A kind of devices in words.
fn on(device: &str) -> &str {
    match device {
        "cpu" => "CPU devices",
        "nvptx" => "GPUs",
        other => other,
    }
}

fn render_libomp(out: &mut String, libomp: Option<&Libomp>) {
    // Writing to a string cannot fail.
    let _ = match libomp {
        Some(libomp) => writeln!(out, "\nprograms of clang: {}", libomp.shown()),
        None => {
            writeln!(out, "\nprograms of clang: no libomp is found (Debian: apt-get install libomp-22-dev)")
        }
    };
    if let Some(problem) = libomp.and_then(|libomp| libomp.problem.as_ref()) {
        let _ = writeln!(out, "  {problem}");
    }
}

fn render_gcc(out: &mut String, gcc: &GccReport) {
    // Writing to a string cannot fail.
    let _ = match (&gcc.library, &gcc.library_problem) {
        (Some(library), _) => writeln!(out, "\nprograms of GCC: {}", library.display()),
        (None, problem) => {
            writeln!(
                out,
                "\nprograms of GCC: libgomp's own runtime: {}",
                problem.as_deref().unwrap_or("missing")
            )
        }
    };
    let _ = writeln!(out, "  images for {}", gcc.images.join(", "));
    let _ = writeln!(out, "  skipped: no back end takes images for {}", gcc.skipped.join(", "));
}

fn render_backend(out: &mut String, backend: &BackendReport) {
    let name = &backend.name;
    let _ = match (backend.devices.len(), &backend.why_absent) {
        (0, why) => writeln!(out, "\n{name}: no devices: {}", why.as_deref().unwrap_or("unknown")),
        (1, _) => writeln!(out, "\n{name}: 1 device"),
        (count, _) => writeln!(out, "\n{name}: {count} devices"),
    };
    // What all devices have in common is said once.
    let common = |property: &&(String, String)| {
        backend.devices.iter().all(|device| device.properties.contains(property))
    };
    let all = backend.devices.first().map_or(&[][..], |device| &device.properties);
    let shared: Vec<_> = all.iter().filter(common).collect();
    let width = backend
        .devices
        .iter()
        .flat_map(|device| &device.properties)
        .map(|(key, _)| key.chars().count())
        .max()
        .unwrap_or(0);
    for (key, value) in &shared {
        let _ = writeln!(out, "  {key:<width$}  {value}");
    }
    for device in &backend.devices {
        let _ = writeln!(out, "  device {}  {}", device.ordinal, device.unique_id);
        if let Some(error) = &device.error {
            let _ = writeln!(out, "    cannot be opened: {error}");
        }
        // The line above has said which one it is.
        let itself = format!("{name} {}", device.ordinal);
        let own = |property: &&(String, String)| !shared.contains(property) && property.1 != itself;
        for (key, value) in device.properties.iter().filter(own) {
            let _ = writeln!(out, "    {key:<width$}  {value}");
        }
    }
}
