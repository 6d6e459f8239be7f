//! `gangway run --check`.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::Duration;

use crate::support::Workshop;

const FOUND: &str = r#"{"check":"race","message":"nothing orders them","kernel":"main:7","count":3,"notes":[],"sides":[
{"label":"first","what":"a write","function":"f","instruction":"st","source":{"file":"a.c","line":7,"column":3}},
{"label":"then","what":"a read","function":"f","instruction":"ld","source":{"file":"a.c","line":9,"column":5}}]}"#;

/// A program that has found something, as the virtual GPU's driver tells it.
fn finds(status: u8) -> String {
    format!("echo '{}' >> \"$GANGWAY_CHECK_LOG\"; exit {status}", FOUND.replace('\n', ""))
}

#[test]
fn the_status_says_that_something_was_found() {
    let workshop = Workshop::new();
    let status = |options: &[&str], line: &str| {
        workshop.output(&[&["run"], options, &["--", "sh", "-c", line]].concat()).status.code()
    };
    assert_eq!(status(&["--check=race"], &finds(0)), Some(1));
    assert_eq!(status(&["--check", "--check-exit", "7"], &finds(0)), Some(7));
    assert_eq!(status(&["--check=race", "--check-exit", "0"], &finds(0)), Some(0));
    // The program's own failure is more.
    assert_eq!(status(&["--check=race", "--check-exit", "7"], &finds(3)), Some(3));
    assert_eq!(status(&["--check=race"], "true"), Some(0));
    assert_eq!(status(&["--check=race"], "kill -9 $$"), Some(137));
}

#[test]
fn the_program_ends_where_the_command_is_killed() {
    let workshop = Workshop::new();
    let mut command = workshop.gangway();
    command
        .args(["run", "--check=race", "--", "sh", "-c", "echo begun; exec sleep 1000"])
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    child.kill().unwrap();
    child.wait().unwrap();
    // The pipe is closed when the program has ended.
    let (tell, told) = channel();
    spawn(move || tell.send(said.read_to_end(&mut Vec::new()).unwrap()));
    assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(0), "the program has not ended");
}

#[test]
fn checks_are_asked_for_by_their_variables() {
    let workshop = Workshop::new();
    let line = "echo $GANGWAY_VGPU_CHECK $GANGWAY_CHECK $GANGWAY_CHECK_SUPPRESS";
    let said = |options: &[&str]| {
        workshop.output(&[&["run"], options, &["--", "sh", "-c", line]].concat()).stdout.trim().to_owned()
    };
    assert_eq!(said(&["--check=race"]), "race race");
    assert_eq!(said(&["--check"]), "memory,map,race,sync,init memory,map,race,sync,init");
    workshop.write("known", "race:a.c\n");
    let known = std::fs::canonicalize(workshop.path("known")).unwrap();
    assert_eq!(said(&["--check=race", "--suppress", "known"]), format!("race race {}", known.display()));
}

#[test]
fn what_is_found_is_written_for_other_tools() {
    let workshop = Workshop::new();
    workshop.output(&["run", "--check=race", "--sarif", "found.sarif", "--", "sh", "-c", &finds(0)]);
    let text = std::fs::read_to_string(workshop.path("found.sarif")).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 9);
    assert_eq!(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 7);
}

#[test]
fn what_is_found_is_shown_in_a_page() {
    let workshop = Workshop::new();
    workshop.write("a.c", (1..=12).map(|line| format!("line {line};\n")).collect::<String>());
    workshop.output(&["run", "--check=race", "--check-page", "found.html", "--", "sh", "-c", &finds(0)]);
    let page = std::fs::read_to_string(workshop.path("found.html")).unwrap();
    for part in
        ["1 finding in <code>", "nothing orders them", "<i>7</i>line 7;</span>", "<i>9</i>line 9;</span>"]
    {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
}

#[test]
fn other_checks_are_refused_by_name() {
    let workshop = Workshop::new();
    let output = workshop.output(&["run", "--check=race,rice", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.contains("`rice` is no check"), "{}", output.stderr);
    for lonely in [&["--check-exit", "3"], &["--sarif", "x"], &["--check-page", "x"], &["--suppress", "x"]] {
        let output = workshop.output(&[&["run"], &lonely[..], &["--", "true"]].concat());
        assert_eq!(output.status.code(), Some(2), "{lonely:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_the_program_starts() {
    let workshop = Workshop::new();
    let line = ["--", "sh", "-c", "echo started"];
    for option in ["--sarif", "--check-page"] {
        let output =
            workshop.output(&[&["run", "--check=race", option, "nowhere/found"], &line[..]].concat());
        assert_eq!((output.status.code(), output.stdout), (Some(125), String::new()));
        assert!(output.stderr.contains("nowhere"), "{}", output.stderr);
    }
}
