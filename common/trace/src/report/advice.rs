//! What a programmer could change, with the figures that say so.
//!
//! Each rule looks at the sums of a recording and speaks only where much is to be gained: what it
//! could save of the run at most is worked out, the largest comes first, and what is below
//! [`WORTH`] is not said. The other thresholds are those at which the cost is plain on every
//! machine: a transfer below some kilobytes, or a kernel below some microseconds, costs what it
//! costs to ask for it.

use std::collections::BTreeMap;

use super::{Kernel, Summary, share};
use crate::recording::{Key, Recording, Sums, Unfinished};
use crate::table::{bytes, time};
use crate::{HOST_WAS_ASKED_FOR, Kind, Shape, name};

/// A transfer below this is mostly overhead.
const SMALL: u64 = 4096;
/// So is a kernel below this, in nanoseconds.
const SHORT: u64 = 20_000;
/// What happens less often is no pattern.
const OFTEN: u64 = 10;
/// What saves less of the elapsed time is not worth a change.
const WORTH: f64 = 0.02;
/// Fewer threads than this leave most devices idle.
const FEW_THREADS: u64 = 4096;

/// One thing to change.
#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do.
    pub text: String,
    /// What was measured.
    pub evidence: String,
    /// `file:line:column` of the construct, if it is known.
    pub source: String,
    /// Nanoseconds of the run that it could save at most. `None`: more than time is at stake.
    pub gain: Option<u64>,
}

/// The advice for a recording, what gains most first.
pub fn of(recording: &Recording) -> Vec<Advice> {
    let run = Run::of(recording);
    let mut all: Vec<Advice> = recording.running.iter().filter_map(|span| run.unfinished(span)).collect();
    run.copied_again_and_again(&mut all);
    for kernel in &run.summary.kernels {
        all.extend(run.short_kernels(kernel).or_else(|| run.one_block(kernel)).or_else(|| run.heavy(kernel)));
    }
    for (key, sums) in recording.rows.iter().filter(|(_, sums)| sums.count != 0) {
        all.extend(match key.kind {
            Kind::ToDevice | Kind::FromDevice => run.small_transfers(key, sums),
            Kind::OnHost => on_host(key, sums),
            Kind::LoadImage | Kind::Compile => run.made_ready(key, sums),
            _ => None,
        });
    }
    // `None` is before all others.
    all.sort_by_key(|advice| std::cmp::Reverse(advice.gain.unwrap_or(u64::MAX)));
    all
}

/// A recording, and how much of the run the sums of each kind stand for: where two kernels, or a
/// copy and a kernel, overlapped, a nanosecond less of one of them does not save one.
struct Run<'a> {
    recording: &'a Recording,
    summary: Summary<'a>,
    kernels: f64,
    transfers: f64,
    operations: f64,
}

fn advice(key: &Key, gain: u64, text: String, evidence: String) -> Advice {
    let source = key.place.as_ref().map(ToString::to_string).unwrap_or_default();
    Advice { text, evidence, source, gain: Some(gain) }
}

fn direction(kind: Kind) -> &'static str {
    if kind == Kind::ToDevice { "to" } else { "from" }
}

fn variable(key: &Key) -> String {
    if key.name.is_empty() { "data without a name".to_owned() } else { format!("`{}`", key.name) }
}

fn launches(count: u64) -> String {
    if count == 1 { "1 launch".to_owned() } else { format!("{count} launches") }
}

fn scaled(time: u64, factor: f64) -> u64 {
    (time as f64 * factor) as u64
}

/// What is saved if all but one of them go.
fn all_but_one(sums: &Sums) -> u64 {
    sums.time - sums.time / sums.count.max(1)
}

impl<'a> Run<'a> {
    fn of(recording: &'a Recording) -> Self {
        let summary = Summary::of(recording);
        let factor = |busy: u64, time: u64| share(busy, time).min(1.0);
        let operations = super::total(summary.operations.iter().map(|(_, sums)| sums)).time;
        let busy = recording.busy;
        Run {
            recording,
            kernels: factor(busy.kernels, summary.launched().time),
            transfers: factor(busy.transfers, summary.moved().time),
            operations: factor(busy.operations, operations),
            summary,
        }
    }

    fn is_worth(&self, gain: u64) -> bool {
        share(gain, self.recording.elapsed) >= WORTH
    }

    /// A kernel that was under way for much of the run when that ended.
    fn unfinished(&self, span: &Unfinished) -> Option<Advice> {
        let key = &self.recording.rows[span.key as usize].0;
        (key.kind == Kind::Kernel && self.is_worth(span.age)).then(|| {
            let text = format!(
                "`{}` had not ended: if the program was interrupted because it hung, look there for a loop \
                 without an end, or a barrier that not all threads reach.",
                name::pretty(&key.name)
            );
            Advice { gain: None, ..advice(key, 0, text, format!("running for {}", time(span.age))) }
        })
    }

    fn small_transfers(&self, key: &Key, sums: &Sums) -> Option<Advice> {
        let average = sums.bytes / sums.count.max(1);
        let gain = scaled(all_but_one(sums), self.transfers);
        (sums.count >= OFTEN && average < SMALL && self.is_worth(gain)).then(|| {
            let text = format!("Pack {} with other data, or keep it on the device.", variable(key));
            let evidence = format!(
                "{} transfers of {} on average {} device {}, {} in all",
                sums.count,
                bytes(average),
                direction(key.kind),
                key.device,
                time(sums.time)
            );
            advice(key, gain, text, evidence)
        })
    }

    /// A variable that goes to the device many times, and makes up much of what is moved.
    fn copied_again_and_again(&self, all: &mut Vec<Advice>) {
        let mut variables: BTreeMap<(i32, &str), (&Key, Sums, Sums)> = BTreeMap::new();
        let moved = self.summary.moved().bytes;
        for (key, sums) in &self.recording.rows {
            if matches!(key.kind, Kind::ToDevice | Kind::FromDevice) {
                let new = (key, Sums::NONE, Sums::NONE);
                let (_, to, from) = variables.entry((key.device, &key.name)).or_insert(new);
                if key.kind == Kind::ToDevice { to.merge(sums) } else { from.merge(sums) }
            }
        }
        for (key, to, from) in variables.into_values() {
            let (part, taken) = (to.bytes + from.bytes, to.time + from.time);
            let large = to.bytes / to.count.max(1) >= SMALL;
            let gain = scaled(all_but_one(&to) + all_but_one(&from), self.transfers);
            if to.count >= OFTEN && large && self.is_worth(gain) && part * 4 >= moved && !key.name.is_empty()
            {
                let text = format!(
                    "Map {} once, around what uses it (`target data` or `target enter data`), and update \
                     only what changes.",
                    variable(key)
                );
                let evidence = format!(
                    "{} copies to device {} and {} from it, {} in {}",
                    to.count,
                    key.device,
                    from.count,
                    bytes(part),
                    time(taken)
                );
                all.push(advice(key, gain, text, evidence));
            }
        }
    }

    fn short_kernels(&self, Kernel { key, sums, .. }: &Kernel<'_>) -> Option<Advice> {
        let average = sums.time / sums.count.max(1);
        // A launch costs no more than the shortest of them took.
        let gain = scaled(sums.min.saturating_mul(sums.count - 1), self.kernels);
        (sums.count >= 10 * OFTEN && average < SHORT && self.is_worth(gain)).then(|| {
            let text = format!(
                "Give `{}` more to do in a launch: join it with its neighbours, or move the loop around it into it.",
                name::pretty(&key.name)
            );
            let evidence = format!("{} launches of {} on average", sums.count, time(average));
            advice(key, gain, text, evidence)
        })
    }

    fn one_block(&self, Kernel { key, shapes, .. }: &Kernel<'_>) -> Option<Advice> {
        let single = shapes.iter().filter(|(shape, _)| shape.grid == [1, 1, 1]);
        let sums = super::total(single.clone().map(|(_, sums)| sums));
        let gain = scaled(sums.time, self.kernels);
        let (Shape { block, .. }, _) = single.max_by_key(|(_, sums)| sums.time)?;
        self.is_worth(gain).then(|| {
            let threads: u32 = block.iter().product();
            let text = format!(
                "Spread `{}` over the device: one block runs on one multiprocessor (`teams distribute`, `gang`).",
                name::pretty(&key.name)
            );
            let evidence =
                format!("{} of 1 block of {threads} threads, {}", launches(sums.count), time(sums.time));
            advice(key, gain, text, evidence)
        })
    }

    /// A kernel that the run is about, of which nothing more is known to be wrong.
    fn heavy(&self, Kernel { key, sums, shapes, .. }: &Kernel<'_>) -> Option<Advice> {
        let taken = scaled(sums.time, self.kernels);
        (share(taken, self.recording.elapsed) >= 0.2).then(|| {
            let (name, gain) = (name::pretty(&key.name), taken / 2);
            let threads = |shape: &Shape| {
                let all = shape.grid.iter().chain(&shape.block).map(|&size| u64::from(size));
                all.fold(1, u64::saturating_mul)
            };
            let most = shapes.iter().map(|(shape, _)| threads(shape)).max();
            let few = most.filter(|&most| most < FEW_THREADS);
            let text = match few {
                Some(few) => format!(
                    "Give `{name}` more threads: {few} leave most of a GPU idle (`collapse`, or more of the loop in parallel)."
                ),
                None => format!("Begin with `{name}`; what twice its speed would save is said below."),
            };
            let all = self.summary.launched().time;
            let evidence = format!(
                "{} of {} on average, the longest {}; {:.0} % of the time in kernels",
                launches(sums.count),
                time(sums.time / sums.count.max(1)),
                time(sums.max),
                100.0 * share(sums.time, all)
            );
            advice(key, gain, text, evidence)
        })
    }

    fn made_ready(&self, key: &Key, sums: &Sums) -> Option<Advice> {
        let gain = scaled(sums.time, self.operations);
        (gain >= 100_000_000 && share(gain, self.recording.elapsed) >= 0.3).then(|| {
            let text = match key.kind {
                Kind::Compile => {
                    "Let compiled kernels be kept (GANGWAY_VGPU_CACHE), so that later runs have them."
                }
                _ => "A longer run makes the loading of images count for less.",
            };
            let evidence = format!("{} of {}", time(sums.time), time(self.recording.elapsed));
            advice(key, gain, text.to_owned(), evidence)
        })
    }
}

/// Nothing where the program has asked for the host.
fn on_host(key: &Key, sums: &Sums) -> Option<Advice> {
    (*key.detail != *HOST_WAS_ASKED_FOR).then(|| {
        let text = format!("`{}` ran on the host: {}.", name::pretty(&key.name), key.detail);
        let times = if sums.count == 1 { "once".to_owned() } else { format!("{} times", sums.count) };
        // Before anything else: the program does not do what it is for.
        Advice { gain: None, ..advice(key, 0, text, times) }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on_virtual_gpu, recording};
    use super::*;
    use crate::busy::BusyTimes;
    use crate::recording::Place;

    fn row(kind: Kind, name: &str, sums: Sums, grid: u32) -> (Key, Sums) {
        let place = Place { file: "a.c".into(), function: "main".into(), line: 42, column: 1 };
        let shape = (grid != 0).then_some(Shape { grid: [grid, 1, 1], block: [128, 1, 1] });
        let resources = Default::default();
        let place = Some(place);
        (Key { kind, device: 0, name: name.into(), place, shape, resources, detail: "".into() }, sums)
    }

    fn sums(count: u64, time: u64, bytes: u64) -> Sums {
        Sums { count, time, waited: 0, min: time / count, max: time, bytes }
    }

    /// What is said of a run of a second in which nothing overlapped.
    fn found(rows: Vec<(Key, Sums)>) -> Vec<Advice> {
        let of_kinds = |kinds: &[Kind]| {
            let rows = rows.iter().filter(|(key, _)| kinds.contains(&key.kind));
            rows.map(|(_, sums)| sums.time).sum()
        };
        let busy = BusyTimes {
            kernels: of_kinds(&[Kind::Kernel]),
            transfers: of_kinds(&[Kind::ToDevice, Kind::FromDevice]),
            operations: of_kinds(&[Kind::Compile]),
        };
        let found = of(&Recording { rows, busy, elapsed: 1_000_000_000, ..recording() });
        assert!(found.iter().all(|advice| advice.source == "a.c:42:1"));
        found
    }

    fn said(rows: Vec<(Key, Sums)>) -> Vec<(String, String)> {
        found(rows).into_iter().map(|advice| (advice.text, advice.evidence)).collect()
    }

    #[test]
    fn small_transfers_are_to_be_packed() {
        assert_eq!(
            said(vec![row(Kind::ToDevice, "n", sums(13, 65_000_000, 312), 0)]),
            [(
                "Pack `n` with other data, or keep it on the device.".into(),
                "13 transfers of 24 B on average to device 0, 65.0 ms in all".into()
            )]
        );
        assert_eq!(said(vec![row(Kind::ToDevice, "n", sums(9, 65_000_000, 24), 0)]), []);
        assert_eq!(said(vec![row(Kind::FromDevice, "n", sums(13, 65_000_000, 13 << 20), 0)]), []);
        // Noise.
        assert_eq!(said(vec![row(Kind::ToDevice, "n", sums(13, 65_000, 312), 0)]), []);
    }

    #[test]
    fn what_is_copied_in_a_loop_is_to_be_mapped_around_it() {
        let to = row(Kind::ToDevice, "u", sums(100, 200_000_000, 100 << 20), 0);
        let from = row(Kind::FromDevice, "u", sums(100, 100_000_000, 100 << 20), 0);
        let found = said(vec![to.clone(), from]);
        assert_eq!(found.len(), 1);
        assert!(found[0].0.starts_with("Map `u` once"), "{found:?}");
        assert_eq!(found[0].1, "100 copies to device 0 and 100 from it, 200.0 MiB in 300 ms");
        // Not if it is a small part of what is moved.
        let other = row(Kind::FromDevice, "v", sums(1, 1, 10 << 30), 0);
        assert_eq!(said(vec![to, other]), []);
    }

    #[test]
    fn kernels() {
        let short =
            said(vec![row(Kind::Kernel, "__omp_offloading_1_2_main_l42", sums(10_000, 30_000_000, 0), 64)]);
        assert_eq!(short[0].1, "10000 launches of 3.00 µs on average");
        assert!(short[0].0.contains("`main:42`"));
        let noise = sums(1000, 3_000_000, 0);
        assert_eq!(said(vec![row(Kind::Kernel, "__omp_offloading_1_2_main_l42", noise, 64)]), []);
        let single = said(vec![row(Kind::Kernel, "k", sums(2, 200_000_000, 0), 1)]);
        assert_eq!(single[0].1, "2 launches of 1 block of 128 threads, 200 ms");
        assert_eq!(said(vec![row(Kind::Kernel, "k", sums(2, 100_000_000, 0), 2)]), []);
    }

    #[test]
    fn a_kernel_that_has_most_of_the_run_is_where_to_begin() {
        let found = found(vec![
            row(Kind::Kernel, "k", sums(4, 800_000_000, 0), 640),
            row(Kind::Kernel, "small", sums(4, 16_000_000, 0), 640),
            row(Kind::ToDevice, "n", sums(13, 65_000_000, 312), 0),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].text.starts_with("Begin with `k`"), "{found:?}");
        let evidence = "4 launches of 200 ms on average, the longest 800 ms; 98 % of the time in kernels";
        assert_eq!((&*found[0].evidence, found[0].gain), (evidence, Some(400_000_000)));
        assert_eq!(found[1].gain, Some(60_000_000), "what gains less comes later");
        let few = said(vec![row(Kind::Kernel, "k", sums(4, 800_000_000, 0), 2)]);
        assert!(few[0].0.starts_with("Give `k` more threads: 256 leave"), "{few:?}");
    }

    #[test]
    fn what_overlaps_gains_less() {
        let busy = BusyTimes { kernels: 200_000_000, ..BusyTimes::default() };
        let rows = vec![row(Kind::Kernel, "k", sums(4, 800_000_000, 0), 640)];
        let found = of(&Recording { rows, busy, elapsed: 600_000_000, ..recording() });
        assert_eq!(found[0].gain, Some(100_000_000));
    }

    #[test]
    fn what_the_host_ran_and_what_hangs_comes_first() {
        let found = of(&on_virtual_gpu());
        assert!(found[0].text.starts_with("`spin` had not ended"), "{found:?}");
        assert_eq!(found[0].evidence, "running for 1.20 s");
        assert_eq!(found[1].text, "`step:41` ran on the host: no device is present.");
        assert_eq!(found[1].evidence, "12 times");
        let mut asked = on_virtual_gpu();
        asked.rows.iter_mut().for_each(|(key, _)| key.detail = HOST_WAS_ASKED_FOR.into());
        assert_eq!(of(&asked).len(), 1);
    }
}
