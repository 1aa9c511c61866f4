//! What a person should look at before a package is used. The rules are `data/package-rules.toml`.

mod rules;
mod skill_checks;
mod text_checks;

use super::error::PackageError;
use super::read::{MAIN, PackageContents, SKILLS};
use rules::{Rules, TextKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use steward_core::package::{Finding, Severity};
use text_checks::{Lines, TextScan};

/// Listed findings of one rule in one file; the last one says how many more there are.
const MAX_PER_RULE: usize = 10;
const MOST: usize = 500;
/// Text that is scanned, all files together; a package with more can't be judged.
const SCANNED_BYTES: usize = 4 << 20;

/// Scans all files. Findings are sorted by severity, the worst first, then by file and line.
pub fn scan(package: &PackageContents) -> Result<Vec<Finding>, PackageError> {
    let rules = rules::rules()?;
    let mut found = Findings::default();
    let mut left = SCANNED_BYTES;
    for (path, content) in &package.files {
        scan_file(path, content, package, rules, &mut left, &mut found);
    }
    skill_checks::skills(package, &mut found);
    Ok(found.into_sorted())
}

fn scan_file(
    path: &str,
    content: &[u8],
    package: &PackageContents,
    rules: &Rules,
    left: &mut usize,
    found: &mut Findings,
) {
    let Some(text) = readable_text(path, content, rules, found) else {
        return;
    };
    let Some(rest) = left.checked_sub(text.len()) else {
        let message = "was not scanned, since the package has over 4 MiB of text; make it smaller";
        return found.add(Severity::Danger, path, 0, "not_scanned", message);
    };
    *left = rest;
    let place = place_of(path, text, rules);
    let permissions = &package.front.permissions;
    TextScan { path, text, place, permissions, rules, lines: Lines::of(text), found }.scan();
}

fn place_of(path: &str, text: &str, rules: &Rules) -> TextKind {
    let ending = path.rsplit_once('.').map_or("", |(_, last)| last);
    let ending = ending.to_lowercase();
    if path == MAIN || path.starts_with(SKILLS) {
        TextKind::Prompt
    } else if path.starts_with("scripts/") || rules.files.program.contains(&ending) || text.starts_with("#!") {
        TextKind::Script
    } else {
        TextKind::Reference
    }
}

/// The text of a file; a file that isn't text is reported as a finding.
fn readable_text<'a>(path: &str, content: &'a [u8], rules: &Rules, found: &mut Findings) -> Option<&'a str> {
    let begin = hex::encode(content.get(..content.len().min(16)).unwrap_or_default());
    let is = |codes: &[String]| codes.iter().any(|code| begin.starts_with(code));
    if let Ok(text) = std::str::from_utf8(content)
        && !content.contains(&0)
    {
        // `MZ` may begin a text; a program has zero bytes.
        return Some(text);
    }
    let executable = rules.files.executable.iter().find(|one| begin.starts_with(&one.begin));
    if let Some(program) = executable {
        let message = format!("is {}; a package has no use for one: leave it out", program.name);
        found.add(Severity::Danger, path, 0, "executable", message);
    } else if is(&rules.files.pictures) {
        let message = "is a picture or PDF, which the scan can't read; look at it yourself";
        found.add(Severity::Info, path, 0, "not_text", message);
    } else if is(&rules.files.office) {
        let message =
            "is an office document, which the scan can't read; look at it yourself, or put its text into a .md file";
        found.add(Severity::Warning, path, 0, "not_text", message);
    } else {
        let message = "is binary, and the scan can't tell what it is; leave it out unless you know it";
        found.add(Severity::Warning, path, 0, "binary", message);
    }
    None
}

/// Collects findings, a limited number of each rule and file.
#[derive(Default)]
struct Findings {
    all: Vec<Finding>,
    counts: BTreeMap<(String, String), usize>,
    /// Lines that have a finding of a rule already.
    lines: BTreeSet<(String, String, u32)>,
}

impl Findings {
    fn add(&mut self, severity: Severity, file: &str, line: u32, rule: &str, message: impl Into<String>) {
        let place = (file.to_owned(), rule.to_owned(), line);
        if line > 0 && !self.lines.insert(place) {
            return;
        }
        let count = self.counts.entry((file.to_owned(), rule.to_owned())).or_default();
        *count += 1;
        if *count > MAX_PER_RULE {
            return;
        }
        let (file, rule, message) = (file.to_owned(), rule.to_owned(), message.into());
        self.all.push(Finding { severity, file, line, rule, message });
    }

    fn into_sorted(mut self) -> Vec<Finding> {
        for ((file, rule), count) in &self.counts {
            if *count <= MAX_PER_RULE {
                continue;
            }
            let of_rule = |one: &&mut Finding| one.file == *file && one.rule == *rule;
            if let Some(last) = self.all.iter_mut().rev().find(of_rule) {
                let more = count - MAX_PER_RULE;
                let _ = write!(last.message, " (and {more} more in this file)");
            }
        }
        self.all.sort_by(|a, b| {
            b.severity.cmp(&a.severity).then_with(|| (&a.file, a.line, &a.rule).cmp(&(&b.file, b.line, &b.rule)))
        });
        self.all.dedup();
        self.all.truncate(MOST);
        self.all
    }
}

/// A short piece of a file for a message, on one line, without control characters.
fn excerpt(text: &str) -> String {
    const MOST: usize = 90;
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect();
    let dots = if text.chars().count() > MOST { "…" } else { "" };
    format!("“{}{dots}”", shown.trim())
}
