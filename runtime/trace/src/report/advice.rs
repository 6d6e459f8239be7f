//! What a programmer could change, with the figures that say so.
//!
//! Each rule looks at the sums of a recording and speaks only where much is to be gained. The
//! thresholds are those at which the cost is plain on every machine: a transfer below some
//! kilobytes, or a kernel below some microseconds, costs what it costs to ask for it.

use std::collections::BTreeMap;

use super::share;
use crate::recording::{Key, Recording, Sums};
use crate::table::{bytes, time};
use crate::{Kind, Shape, name};

/// A transfer below this is mostly overhead.
const SMALL: u64 = 4096;
/// So is a kernel below this, in nanoseconds.
const SHORT: u64 = 20_000;
/// What happens less often is no pattern.
const OFTEN: u64 = 10;
/// What takes less of the elapsed time is not worth a change.
const WORTH: f64 = 0.02;

/// One thing to change.
#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do.
    pub text: String,
    /// What was measured.
    pub evidence: String,
    /// `file:line:column` of the construct, if it is known.
    pub source: String,
    /// Nanoseconds that it is about.
    time: u64,
}

/// The advice for a recording, what costs most first.
pub fn of(recording: &Recording) -> Vec<Advice> {
    let mut all = Vec::new();
    copied_again_and_again(recording, &mut all);
    for (key, sums) in &recording.rows {
        all.extend(match key.kind {
            Kind::ToDevice | Kind::FromDevice => small_transfers(key, sums),
            Kind::Kernel => short_kernels(key, sums).or_else(|| one_block(key, sums, recording)),
            Kind::OnHost => Some(on_host(key, sums)),
            Kind::LoadImage | Kind::Compile => made_ready(key, sums, recording),
            _ => None,
        });
    }
    all.sort_by_key(|advice| std::cmp::Reverse(advice.time));
    all
}

fn advice(key: &Key, time: u64, text: String, evidence: String) -> Advice {
    let source = key.place.as_ref().map(ToString::to_string).unwrap_or_default();
    Advice { text, evidence, source, time }
}

fn direction(kind: Kind) -> &'static str {
    if kind == Kind::ToDevice { "to" } else { "from" }
}

fn variable(key: &Key) -> String {
    if key.name.is_empty() { "data without a name".to_owned() } else { format!("`{}`", key.name) }
}

fn small_transfers(key: &Key, sums: &Sums) -> Option<Advice> {
    let average = sums.bytes / sums.count.max(1);
    (sums.count >= OFTEN && average < SMALL).then(|| {
        let text = format!("Pack {} with other data, or keep it on the device.", variable(key));
        let evidence = format!(
            "{} transfers of {} on average {} device {}, {} in all",
            sums.count,
            bytes(average),
            direction(key.kind),
            key.device,
            time(sums.time)
        );
        advice(key, sums.time, text, evidence)
    })
}

/// A variable that goes to the device many times, and makes up much of what is moved.
fn copied_again_and_again(recording: &Recording, all: &mut Vec<Advice>) {
    let mut variables: BTreeMap<(i32, &str), (&Key, Sums, Sums)> = BTreeMap::new();
    let mut moved = Sums::NONE;
    for (key, sums) in &recording.rows {
        if matches!(key.kind, Kind::ToDevice | Kind::FromDevice) {
            moved.merge(sums);
            let new = (key, Sums::NONE, Sums::NONE);
            let (_, to, from) = variables.entry((key.device, &key.name)).or_insert(new);
            if key.kind == Kind::ToDevice { to.merge(sums) } else { from.merge(sums) }
        }
    }
    for (key, to, from) in variables.into_values() {
        let (part, taken) = (to.bytes + from.bytes, to.time + from.time);
        let large = to.bytes / to.count.max(1) >= SMALL;
        let worth = share(taken, recording.elapsed) >= WORTH;
        if to.count >= OFTEN && large && worth && part * 4 >= moved.bytes && !key.name.is_empty() {
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
            all.push(advice(key, taken, text, evidence));
        }
    }
}

fn short_kernels(key: &Key, sums: &Sums) -> Option<Advice> {
    let average = sums.time / sums.count.max(1);
    (sums.count >= 10 * OFTEN && average < SHORT).then(|| {
        let text = format!(
            "Give `{}` more to do in a launch: join it with its neighbours, or move the loop around it into it.",
            name::pretty(&key.name)
        );
        let evidence = format!("{} launches of {} on average", sums.count, time(average));
        advice(key, sums.time, text, evidence)
    })
}

fn one_block(key: &Key, sums: &Sums, recording: &Recording) -> Option<Advice> {
    let Shape { grid, block } = key.shape?;
    let single = grid == [1, 1, 1] && share(sums.time, recording.elapsed) >= WORTH;
    single.then(|| {
        let threads: u32 = block.iter().product();
        let text = format!(
            "Spread `{}` over the device: one block runs on one multiprocessor (`teams distribute`, `gang`).",
            name::pretty(&key.name)
        );
        let evidence =
            format!("{} launches of 1 block of {threads} threads, {}", sums.count, time(sums.time));
        advice(key, sums.time, text, evidence)
    })
}

fn on_host(key: &Key, sums: &Sums) -> Advice {
    let text = format!("`{}` ran on the host: {}.", name::pretty(&key.name), key.detail);
    let times = if sums.count == 1 { "once".to_owned() } else { format!("{} times", sums.count) };
    // Before anything else: the program does not do what it is for.
    advice(key, u64::MAX, text, times)
}

fn made_ready(key: &Key, sums: &Sums, recording: &Recording) -> Option<Advice> {
    (sums.time >= 100_000_000 && share(sums.time, recording.elapsed) >= 0.3).then(|| {
        let text = match key.kind {
            Kind::Compile => {
                "Let compiled kernels be kept (GANGWAY_VGPU_CACHE), so that later runs have them."
            }
            _ => "A longer run makes the loading of images count for less.",
        };
        let of_elapsed = 100.0 * share(sums.time, recording.elapsed);
        let evidence =
            format!("{} of {}, {of_elapsed:.0} % of the run", time(sums.time), time(recording.elapsed));
        advice(key, sums.time, text.to_owned(), evidence)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on_virtual_gpu, recording};
    use super::*;
    use crate::recording::Place;

    fn row(kind: Kind, name: &str, sums: Sums, grid: u32) -> (Key, Sums) {
        let place = Place { file: "a.c".into(), function: "main".into(), line: 42, column: 1 };
        let shape = (grid != 0).then_some(Shape { grid: [grid, 1, 1], block: [128, 1, 1] });
        (Key { kind, device: 0, name: name.into(), place: Some(place), shape, detail: "".into() }, sums)
    }

    fn sums(count: u64, time: u64, bytes: u64) -> Sums {
        Sums { count, time, waited: 0, min: 0, max: time, bytes }
    }

    fn said(rows: Vec<(Key, Sums)>) -> Vec<(String, String)> {
        let found = of(&Recording { rows, ..recording() });
        assert!(found.iter().all(|advice| advice.source == "a.c:42:1"));
        found.into_iter().map(|advice| (advice.text, advice.evidence)).collect()
    }

    #[test]
    fn small_transfers_are_to_be_packed() {
        assert_eq!(
            said(vec![row(Kind::ToDevice, "n", sums(13, 65_000, 312), 0)]),
            [(
                "Pack `n` with other data, or keep it on the device.".into(),
                "13 transfers of 24 B on average to device 0, 65.0 us in all".into()
            )]
        );
        assert_eq!(said(vec![row(Kind::ToDevice, "n", sums(9, 65_000, 24), 0)]), []);
        assert_eq!(said(vec![row(Kind::ToDevice, "n", sums(13, 65_000, 13 << 20), 0)]), []);
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
            said(vec![row(Kind::Kernel, "__omp_offloading_1_2_main_l42", sums(1000, 3_000_000, 0), 64)]);
        assert_eq!(short[0].1, "1000 launches of 3.00 us on average");
        assert!(short[0].0.contains("`main:42`"));
        let single = said(vec![row(Kind::Kernel, "k", sums(2, 200_000_000, 0), 1)]);
        assert_eq!(single[0].1, "2 launches of 1 block of 128 threads, 200 ms");
        assert_eq!(said(vec![row(Kind::Kernel, "k", sums(2, 200_000_000, 0), 2)]), []);
    }

    #[test]
    fn what_the_host_ran_comes_first() {
        let found = of(&on_virtual_gpu());
        assert_eq!(found[0].text, "`step:41` ran on the host: no device is present.");
        assert_eq!(found[0].evidence, "12 times");
    }
}
