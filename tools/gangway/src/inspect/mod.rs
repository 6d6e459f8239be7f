//! `gangway inspect`: what a file carries for offloading.
//!
//! `gangway_image` reads the file, [`summary`] brings it into the form that both kinds
//! of output show, and `text` or serde prints that.

mod code_object;
mod summary;
mod text;

use std::ffi::OsString;
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

use anyhow::Context;
use gangway_image::Contents;

use crate::arguments::Inspect;
use crate::devices;
use crate::exit::{FAILURE, Failure, Outcome, SUCCESS};
use crate::library;
use crate::program::has_libgomp_inside;
use summary::{RuntimeSummary, Summary};

pub fn inspect(options: &Inspect) -> Outcome {
    let file = &options.file;
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let contents = gangway_image::contents(&bytes).with_context(|| file.display().to_string())?;
    if let (Some(number), Some(output)) = (options.extract, &options.output) {
        return extract(&contents, number, output);
    }
    let ours = library::directory().ok();
    let (backends, _) = devices::backends(ours.as_deref());
    let runtime = RuntimeSummary::of(&bytes, ours.as_deref());
    let summary = Summary::new(file, &contents, runtime, has_libgomp_inside(&bytes, &contents), &backends);
    let shown =
        if options.json { serde_json::to_string_pretty(&summary)? + "\n" } else { text::render(&summary) };
    stdout().lock().write_all(shown.as_bytes())?;
    // What is damaged is in the output; a script needs to see it in the status too.
    Ok(if summary.is_sound() { SUCCESS } else { FAILURE })
}

fn extract(contents: &Contents<'_>, number: usize, output: &Path) -> Outcome {
    let Some(image) = contents.images.get(number) else {
        let there_are = match contents.images.len() {
            0 => "there are no device images".to_owned(),
            1 => "there is only image 0".to_owned(),
            count => format!("there are images 0 to {}", count - 1),
        };
        return Err(Failure::new(FAILURE, format!("there is no image {number}: {there_are}")));
    };
    let write = |file: &Path, part: &[u8]| {
        gangway_trace::write_whole(file, &|out| out.write_all(part))
            .with_context(|| format!("cannot write {}", file.display()))
    };
    match &image.parts[..] {
        [part] => write(output, part)?,
        parts => {
            for (at, part) in parts.iter().enumerate() {
                let mut name = OsString::from(output);
                name.push(format!(".{at}"));
                write(Path::new(&name), part)?;
            }
        }
    }
    Ok(SUCCESS)
}
