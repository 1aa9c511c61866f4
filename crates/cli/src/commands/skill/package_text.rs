//! Packages, for people.

use crate::commands::picked::{joined, text, time};
use crate::term::Term;
use serde_json::Value;

/// A revision: what it needs, what the scan found, what to do.
pub(super) fn tell(package: &Value, term: Term) {
    let (name, hash) = (text(package, "name"), text(package, "hash"));
    let state = text(package, "state");
    let version = package["version"].as_str().map_or_else(String::new, |version| format!(" ({version})"));
    println!("{} revision {}{version}: {state}", term.bold(name), package["revision"]);
    println!("{}", text(package, "description"));
    println!("hash         {hash}");
    println!("imported     {} by {}", time(package, "at"), text(package, "by"));
    let needs = &package["permissions"];
    for (title, field) in [("network", "network"), ("tools", "tools"), ("credentials", "credentials")] {
        let named = joined(&needs[field]);
        if !named.is_empty() {
            println!("{title:<12} {named}");
        }
    }
    if needs["scripts"] == true {
        println!("scripts      run");
    }
    let files = package["files"].as_object().into_iter().flatten();
    for (path, bytes) in files {
        println!("file         {path} ({bytes} bytes)");
    }
    for finding in package["findings"].as_array().into_iter().flatten() {
        let severity = text(finding, "severity");
        let severity = match severity {
            "danger" => term.red(severity),
            "warning" => term.yellow(severity),
            _ => term.dim(severity),
        };
        println!("{severity} {}:{} {}", text(finding, "file"), finding["line"], text(finding, "message"));
    }
    if state == "quarantined" {
        term.say(&format!("Nothing of it is used yet. Once it was looked at: steward skill accept {name} {hash}"));
    }
}

/// What an upgrade changes.
pub(super) fn tell_diff(diff: &Value, term: Term) {
    let files = diff["files"].as_array().map(Vec::as_slice);
    let files = files.unwrap_or_default();
    if files.is_empty() {
        term.say("They are the same.");
    }
    for file in files {
        println!("{} {}", term.bold(text(file, "change")), text(file, "path"));
        println!("{}", text(file, "diff"));
    }
}
