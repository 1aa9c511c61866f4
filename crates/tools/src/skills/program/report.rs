//! What a program printed, for models and people.

use crate::skills::template::quote;
use std::fmt::Write as _;
use steward_sandbox::process::Output;

/// The command as one would type it.
pub(super) fn line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

pub(super) fn printed(stdout: &Output, stderr: &Output) -> String {
    let mut text = stream(stdout);
    let errors = stream(stderr);
    if !errors.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "[stderr] {errors}");
    }
    text
}

fn stream(output: &Output) -> String {
    let mut text = output.text().trim_end().to_owned();
    if output.truncated() {
        let left = output.total.saturating_sub(output.bytes.len() as u64);
        let _ = write!(text, "\n[{left} more bytes were not kept]");
    }
    text
}
