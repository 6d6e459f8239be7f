//! The report: where the time of the kernels went, what was moved, what the host ran, what the
//! driver was asked, and the totals.
//!
//! [`text`] is for people, [`json`] for scripts; both are made from the same [`Summary`]. [`html`]
//! is a page that shows the second of them, with the time line and with [advice](advice::of).

mod advice;
mod html;
mod json;
mod text;

use std::collections::BTreeMap;

use crate::recording::{Key, Recording, Sums};
use crate::{Kind, Resources, Shape};

pub use html::html;
pub use json::json;
pub use text::{dropped_note, text};

/// Rows by purpose, each sorted by the time it took.
struct Summary<'a> {
    kernels: Vec<Kernel<'a>>,
    /// Joined over source locations: a variable is one row per direction and device.
    transfers: Vec<Row<'a>>,
    /// Joined over names and locations: a row per operation and device.
    operations: Vec<Row<'a>>,
    /// A row per function and device.
    host_calls: Vec<Row<'a>>,
    /// Regions that the host ran: a row per region and reason.
    on_host: Vec<Row<'a>>,
    /// Calls of the driver's functions.
    calls: Vec<Row<'a>>,
}

type Row<'a> = (&'a Key, Sums);

/// A kernel, joined over the shapes it was launched in.
struct Kernel<'a> {
    key: &'a Key,
    sums: Sums,
    shapes: Vec<(Shape, Sums)>,
    /// The most that a launch of it took.
    resources: Resources,
}

impl<'a> Summary<'a> {
    fn of(recording: &'a Recording) -> Self {
        let mut kernels: BTreeMap<_, Kernel<'a>> = BTreeMap::new();
        let mut transfers = BTreeMap::new();
        let mut operations = BTreeMap::new();
        let (mut on_host, mut calls, mut host_calls) = (Vec::new(), Vec::new(), Vec::new());
        // What has not ended has a row, and no sums.
        for (key, sums) in recording.rows.iter().filter(|(_, sums)| sums.count != 0) {
            let joined = match key.kind {
                Kind::Kernel => {
                    let kernel = kernels.entry((key.device, &*key.name, &key.place));
                    let kernel = kernel.or_insert(Kernel {
                        key,
                        sums: Sums::NONE,
                        shapes: Vec::new(),
                        resources: key.resources,
                    });
                    kernel.resources = most(kernel.resources, key.resources);
                    kernel.sums.merge(sums);
                    kernel.shapes.extend(key.shape.map(|shape| (shape, *sums)));
                    continue;
                }
                Kind::OnHost => {
                    on_host.push((key, *sums));
                    continue;
                }
                Kind::Call => {
                    calls.push((key, *sums));
                    continue;
                }
                Kind::HostCall => {
                    host_calls.push((key, *sums));
                    continue;
                }
                Kind::ToDevice | Kind::FromDevice | Kind::DeviceToDevice => {
                    transfers.entry((key.kind, key.device, &*key.name))
                }
                Kind::Allocate
                | Kind::Free
                | Kind::DataBegin
                | Kind::DataEnd
                | Kind::Update
                | Kind::LoadImage
                | Kind::Compile => operations.entry((key.kind, key.device, "")),
            };
            joined.or_insert((key, Sums::NONE)).1.merge(sums);
        }
        let by_time = |mut rows: Vec<Row<'a>>| {
            rows.sort_by(|(a, x), (b, y)| y.time.cmp(&x.time).then_with(|| a.cmp(b)));
            rows
        };
        let mut kernels: Vec<_> = kernels.into_values().collect();
        kernels.sort_by(|a, b| b.sums.time.cmp(&a.sums.time).then_with(|| a.key.cmp(b.key)));
        on_host.sort_by(|(a, x), (b, y)| y.count.cmp(&x.count).then_with(|| a.cmp(b)));
        Summary {
            kernels,
            transfers: by_time(transfers.into_values().collect()),
            operations: by_time(operations.into_values().collect()),
            host_calls: by_time(host_calls),
            on_host,
            calls: by_time(calls),
        }
    }

    fn launched(&self) -> Sums {
        total(self.kernels.iter().map(|kernel| &kernel.sums))
    }

    fn moved(&self) -> Sums {
        total(self.transfers.iter().map(|(_, sums)| sums))
    }

    /// What each device has done, by its number.
    fn by_device(&self) -> BTreeMap<i32, OnDevice> {
        let mut devices: BTreeMap<i32, OnDevice> = BTreeMap::new();
        for Kernel { key, sums, .. } in &self.kernels {
            devices.entry(key.device).or_default().launched.merge(sums);
        }
        for (key, sums) in &self.transfers {
            devices.entry(key.device).or_default().moved.merge(sums);
        }
        devices
    }

    /// How many regions the host ran.
    fn ran_on_host(&self) -> u64 {
        self.on_host.iter().map(|(_, sums)| sums.count).sum()
    }
}

/// What one device has done.
struct OnDevice {
    launched: Sums,
    moved: Sums,
}

impl Default for OnDevice {
    fn default() -> Self {
        Self { launched: Sums::NONE, moved: Sums::NONE }
    }
}

/// The larger of each; what is not known is less than all.
fn most(one: Resources, other: Resources) -> Resources {
    Resources { registers: one.registers.max(other.registers), shared: one.shared.max(other.shared) }
}

fn total<'a>(rows: impl Iterator<Item = &'a Sums>) -> Sums {
    let mut all = Sums::NONE;
    rows.for_each(|sums| all.merge(sums));
    all
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use super::*;
    use crate::Lane;
    use crate::about::{About, Rank};
    use crate::busy::BusyTimes;
    use crate::recording::{Note, Place, Track, Unfinished};

    fn sums(count: u64, time: u64, min: u64, max: u64, bytes: u64) -> Sums {
        Sums { count, time, waited: 0, min, max, bytes }
    }

    pub(super) fn recording() -> Recording {
        let key = |kind, device, name: &str, line| Key {
            kind,
            device,
            name: name.into(),
            place: (line != 0).then(|| Place {
                file: "heat.c".into(),
                function: "step".into(),
                line,
                column: 9,
            }),
            shape: None,
            resources: Resources::default(),
            detail: "".into(),
        };
        let rows = vec![
            (
                key(Kind::Kernel, 0, "__omp_offloading_10_2a_step_l41", 41),
                sums(1000, 12_500_000, 9_000, 41_000, 0),
            ),
            (
                key(Kind::Kernel, 0, "__omp_offloading_10_2a__ZN4heat4normEPKdi_l60", 60),
                sums(10, 260_000, 20_000, 30_000, 0),
            ),
            (key(Kind::ToDevice, 0, "field", 33), sums(1, 1_000_000, 1_000_000, 1_000_000, 8 << 20)),
            (key(Kind::ToDevice, 0, "field", 77), sums(1, 1_000_000, 1_000_000, 1_000_000, 8 << 20)),
            (key(Kind::FromDevice, 0, "", 0), sums(3, 0, 0, 0, 24)),
            (key(Kind::Allocate, 0, "field", 33), sums(2, 5_000, 2_000, 3_000, 16 << 20)),
            (key(Kind::LoadImage, 0, "", 0), sums(1, 130_000, 130_000, 130_000, 0)),
            (
                key(Kind::HostCall, 0, "write_checkpoint", 0),
                Sums { waited: 30_000, ..sums(20, 400_000, 10_000, 50_000, 1280) },
            ),
            (key(Kind::HostCall, 1, "write_checkpoint", 0), sums(1, 9_000, 9_000, 9_000, 0)),
        ];
        Recording {
            program: "heat".into(),
            pid: 4242,
            about: About {
                command: "./heat 100".into(),
                host: "node7".into(),
                rank: Some(Rank { rank: 3, of: Some(8) }),
                started: 1_700_000_000,
                devices: [(0, "cuda, sm_90".into())].into(),
            },
            elapsed: 1_234_000_000,
            busy: BusyTimes { kernels: 12_000_000, transfers: 1_500_000, operations: 135_000 },
            rows,
            events: Vec::new(),
            running: Vec::new(),
            threads: Vec::new(),
            notes: Vec::new(),
            dropped: 7,
        }
    }

    /// What the driver of the virtual GPU records, and a region that no device could run.
    pub(super) fn on_virtual_gpu() -> Recording {
        let key = |kind, device, name: &str, blocks: u32| Key {
            kind,
            device,
            name: name.into(),
            place: None,
            shape: (blocks != 0).then_some(Shape { grid: [blocks, 1, 1], block: [16, 16, 1] }),
            resources: Resources {
                registers: (blocks == 2).then_some(24),
                shared: (blocks != 0).then_some(1024 * blocks),
            },
            detail: if kind == Kind::OnHost { "no device is present".into() } else { "".into() },
        };
        let called = |sums: Sums, waited| Sums { waited, ..sums };
        let numba = "_ZN6cudapy8__main__5saxpyB2v1B38c8tJTIcFKzyF2ILShI4CrgQElQb6HczSBAA_3dEf5ArrayIfLi1E1C7mutable7alignedE";
        let rows = vec![
            (key(Kind::Kernel, 0, numba, 4), sums(3, 900, 300, 300, 0)),
            (key(Kind::Kernel, 0, numba, 8), sums(1, 600, 600, 600, 0)),
            (key(Kind::Kernel, 0, "_Z5scalePff", 2), sums(1, 500, 500, 500, 0)),
            (key(Kind::ToDevice, 0, "", 0), sums(2, 4_000, 2_000, 2_000, 8_000)),
            (key(Kind::Compile, 0, "", 0), sums(2, 7_000_000, 1_000_000, 6_000_000, 0)),
            (key(Kind::Call, -1, "cuCtxSynchronize", 0), called(sums(2, 2_000, 500, 1_500, 0), 5_000)),
            (key(Kind::Call, -1, "cuLaunchKernel", 0), sums(5, 5_000, 1_000, 1_000, 0)),
            (key(Kind::OnHost, -1, "__omp_offloading_10_2a_step_l41", 0), sums(12, 0, 0, 0, 0)),
            (key(Kind::Kernel, 0, "_Z4spinPi", 1), Sums::NONE),
        ];
        let notes = vec![
            Note { text: "compiled kernels are not kept: no home".into(), count: 1, at: 0 },
            Note { text: "`odd` is interpreted".into(), count: 3, at: 0 },
        ];
        let track = Track::of(Lane::Thread, 0);
        let running = vec![Unfinished { key: 8, start: 34_000_000, age: 1_200_000_000, track }];
        Recording { program: "python3".into(), rows, notes, running, dropped: 0, ..recording() }
    }

    /// Where regions went is worth a table where they went to several devices.
    #[test]
    fn several_devices_have_a_table() {
        let mut recording = recording();
        assert!(!text(&recording, None, usize::MAX).contains("\ndevices\n"));
        let on_other: Vec<_> = recording.rows[..3]
            .iter()
            .map(|(key, sums)| {
                (Key { device: 1, ..key.clone() }, Sums { count: sums.count.div_ceil(10), ..*sums })
            })
            .collect();
        recording.rows.extend(on_other);
        let text = text(&recording, None, usize::MAX);
        let table = text.split_once("\ndevices\n").unwrap().1.split_once("\n\n").unwrap().0;
        let rows: Vec<Vec<_>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["device", "launches", "time", "transfers", "size", "time"]);
        assert_eq!(rows[1], ["0", "1010", "12.8", "ms", "5", "16.0", "MiB", "2.00", "ms"]);
        assert_eq!(rows[2], ["1", "101", "12.8", "ms", "1", "8.0", "MiB", "1.00", "ms"]);
        let parsed: serde_json::Value = serde_json::from_str(&json(&recording, None)).unwrap();
        assert_eq!(parsed["by_device"][1]["device"], 1);
        assert_eq!(parsed["by_device"][1]["launches"], 101);
        assert_eq!(parsed["by_device"][0]["transfer_bytes"], (16 << 20) + 24);
    }

    #[test]
    fn text_is_as_written_down() {
        let expected = include_str!("../../tests/report.txt");
        assert_eq!(text(&recording(), Some(Path::new("heat.json")), usize::MAX), expected);
    }

    #[test]
    fn text_of_the_virtual_gpu_is_as_written_down() {
        let expected = include_str!("../../tests/report-vgpu.txt");
        assert_eq!(text(&on_virtual_gpu(), None, usize::MAX), expected);
    }

    #[test]
    fn text_fits_a_terminal() {
        for recording in [recording(), on_virtual_gpu()] {
            let text = text(&recording, Some(Path::new("heat.json")), 72);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(72), "{text}");
            for shown in ["step:41", "heat.c:41:9", "still running", "node7"] {
                assert_eq!(text.contains(shown), self::text(&recording, None, usize::MAX).contains(shown));
            }
        }
    }

    #[test]
    fn json_of_the_virtual_gpu_has_the_documented_form() {
        let parsed: serde_json::Value = serde_json::from_str(&json(&on_virtual_gpu(), None)).unwrap();
        let kernel = &parsed["kernels"][0];
        assert_eq!((&kernel["name"], &kernel["count"]), (&"saxpy".into(), &4.into()));
        assert_eq!(kernel["shapes"][1]["grid"], serde_json::json!([8, 1, 1]));
        assert_eq!(kernel["shapes"][1]["block"], serde_json::json!([16, 16, 1]));
        assert_eq!(kernel["shapes"][1]["time_ns"], 600);
        assert_eq!((&kernel["registers"], &kernel["shared_bytes"]), (&serde_json::Value::Null, &8192.into()));
        assert_eq!(parsed["kernels"][1]["registers"], 24);
        assert_eq!(parsed["calls"][1]["function"], "cuCtxSynchronize");
        assert_eq!(parsed["calls"][1]["waited_ns"], 5_000);
        assert_eq!(parsed["on_host"][0]["name"], "step:41");
        assert_eq!(parsed["on_host"][0]["reason"], "no device is present");
        assert_eq!(parsed["totals"]["on_host"], 12);
        assert_eq!(parsed["notes"][1]["count"], 3);
        assert_eq!(parsed["kernels"].as_array().unwrap().len(), 2, "what has not ended has no sums");
        assert_eq!(parsed["running"][0]["name"], "spin");
        assert_eq!(parsed["running"][0]["age_ns"], 1_200_000_000);
        assert_eq!(parsed["running"][0]["grid"], serde_json::json!([1, 1, 1]));
    }

    #[test]
    fn json_has_the_documented_form() {
        let parsed: serde_json::Value = serde_json::from_str(&json(&recording(), None)).unwrap();
        assert_eq!(parsed["format"], "gangway-report");
        assert_eq!(parsed["version"], 1);
        assert_eq!(parsed["command"], "./heat 100");
        assert_eq!(parsed["host"], "node7");
        assert_eq!(parsed["rank"], serde_json::json!({"rank": 3, "of": 8}));
        assert_eq!(parsed["date"], "2023-11-14 22:13:20 UTC");
        assert_eq!(parsed["gangway"], env!("CARGO_PKG_VERSION"));
        assert_eq!(parsed["devices"], serde_json::json!([{"device": 0, "what": "cuda, sm_90"}]));
        assert_eq!(parsed["totals"]["busy"]["kernels_ns"], 12_000_000);
        assert_eq!(parsed["kernels"][0]["name"], "step:41");
        assert_eq!(parsed["kernels"][0]["location"]["line"], 41);
        assert_eq!(parsed["kernels"][1]["name"], "heat::norm:60");
        assert_eq!(parsed["transfers"][0]["bytes"], 16 << 20);
        assert_eq!(parsed["operations"][0]["operation"], "load_image");
        let calls = &parsed["host_calls"][0];
        assert_eq!((&calls["function"], &calls["count"]), (&"write_checkpoint".into(), &20.into()));
        assert_eq!((&calls["time_ns"], &calls["waited_ns"]), (&400_000.into(), &30_000.into()));
        assert_eq!(parsed["totals"]["launches"], 1010);
        assert_eq!(parsed["totals"]["transfer_bytes"], (16 << 20) + 24);
        assert!(parsed["trace"].is_null());
        let with_trace: serde_json::Value =
            serde_json::from_str(&json(&recording(), Some(Path::new("a\"b")))).unwrap();
        assert_eq!(with_trace["trace"]["file"], "a\"b");
        assert_eq!(with_trace["trace"]["dropped"], 7);
    }
}
