//! `gangway report`.

use crate::support::{Workshop, golden};

/// A report with one kernel of `count` launches that took `time`, and transfers of `x`.
pub fn report(program: &str, kernel: &str, count: u64, time: u64, bytes: u64) -> String {
    format!(
        r#"{{"format":"gangway-report","version":1,"program":"{program}","pid":1,"elapsed_ns":{elapsed},
"kernels":[{{"name":"{kernel}","symbol":"k","device":0,"count":{count},"time_ns":{time},"min_ns":1,"max_ns":2,"share":1.0,"location":null}},
 {{"name":"same:9","symbol":"s","device":0,"count":1,"time_ns":500,"min_ns":1,"max_ns":2,"share":1.0,"location":null}}],
"transfers":[{{"direction":"to_device","variable":"x","device":0,"count":2,"bytes":{bytes},"time_ns":2000}}],
"totals":{{"launches":{launches},"kernel_time_ns":{all},"transfers":2,"transfer_bytes":{bytes},"transfer_time_ns":2000}}}}"#,
        elapsed = 10 * time,
        launches = count + 1,
        all = time + 500,
    )
}

#[test]
fn a_diff_shows_what_changed_most_first() {
    let workshop = Workshop::new();
    workshop.write("old.json", report("heat", "step:41", 1000, 12_500_000, 4096));
    workshop.write("new.json", report("heat", "step:41", 500, 6_250_000, 8192));
    let output = workshop.output(&["report", "diff", "old.json", "new.json"]);
    assert_eq!((output.status.code(), output.stderr), (Some(0), String::new()));
    golden("diff.txt", &output.stdout);
}

#[test]
fn what_is_in_one_report_only_is_said() {
    let workshop = Workshop::new();
    workshop.write("old.json", report("heat", "step:41", 1000, 12_500_000, 4096));
    workshop.write("new.json", report("cold", "jump:4", 1000, 12_500_000, 4096));
    let shown = workshop.output(&["report", "diff", "old.json", "new.json"]).stdout;
    assert!(shown.starts_with("two programs: heat and cold\n"), "{shown}");
    for (kernel, what) in [("step:41", "gone"), ("jump:4", "new")] {
        let line = shown.lines().find(|line| line.contains(kernel)).unwrap();
        assert!(line.ends_with(what), "{line}");
    }
}

#[test]
fn a_limit_fails() {
    let workshop = Workshop::new();
    workshop.write("old.json", report("heat", "step:41", 1000, 12_500_000, 4096));
    workshop.write("new.json", report("heat", "step:41", 1000, 12_500_000, 8192));
    let diff = |limit| workshop.output(&["report", "diff", "--limit", limit, "old.json", "new.json"]);
    assert_eq!(diff("100").status.code(), Some(0));
    let over = diff("99");
    assert_eq!(over.status.code(), Some(1));
    assert!(over.stdout.ends_with("\ngrown by more than 99 %: bytes moved\n"));
}

#[test]
fn what_is_no_report_is_refused_by_name() {
    let workshop = Workshop::new();
    workshop.write("old.json", report("heat", "step:41", 1, 1, 1));
    workshop.write("text.txt", "kernels\n");
    workshop
        .write("other.json", report("heat", "step:41", 1, 1, 1).replace("gangway-report", "gangway-info"));
    for (file, said) in [
        ("none.json", "gangway: cannot read none.json: No such file"),
        ("text.txt", "gangway: text.txt is no report in JSON (gangway run --report=json:FILE): "),
        ("other.json", "gangway: other.json is gangway-info 1, expected gangway-report 1"),
    ] {
        let output = workshop.output(&["report", "diff", "old.json", file]);
        let stderr = output.stderr;
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr.starts_with(said), "{stderr}");
    }
}
