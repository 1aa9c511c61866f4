//! The size of source files, where `unsafe` may stand, who may read the database, and who may resolve paths.

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST: usize = 600;

/// Rooms that talk to the kernel or to C, and so may hold `unsafe` blocks.
const MAY_BE_UNSAFE: &[&str] = &["sandbox", "models"];

/// What may follow the keyword; elsewhere it is a word in a text.
const FOLLOWS: &[&str] = &["{", "fn", "impl", "extern", "trait"];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file with its path below `crates/`.
pub(super) fn sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    let mut paths = Vec::new();
    rust_files(crates, &mut paths);
    assert!(paths.len() > 20, "only {} source files were found", paths.len());
    paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(crates).expect("a path below crates").display().to_string();
            (name, fs::read_to_string(&path).expect("UTF-8 source"))
        })
        .collect()
}

/// The numbers of the lines with an `unsafe` item or block, or with an exception from the lint against them.
fn unsafe_lines(source: &str) -> Vec<usize> {
    let is_unsafe = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        let keyword = words.iter().enumerate().any(|(at, word)| {
            word.trim_start_matches(['(', '=', '{', '|', '&', '!', '*']) == "unsafe"
                && words.get(at + 1).is_none_or(|next| FOLLOWS.iter().any(|follow| next.starts_with(follow)))
        });
        let lint = ["allow(", "expect(", "warn("].iter().any(|level| code.contains(level));
        keyword || (lint && code.contains("unsafe_code")) || code.contains("[unsafe(")
    };
    source.lines().zip(1..).filter(|(line, _)| is_unsafe(line)).map(|(_, number)| number).collect()
}

#[test]
fn files_are_short() {
    let long: Vec<String> = sources()
        .iter()
        .map(|(name, source)| (name, source.lines().count()))
        .filter(|(_, lines)| *lines >= LONGEST)
        .map(|(name, lines)| format!("{name}: {lines} lines, split it below {LONGEST}"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn unsafe_stands_in_two_rooms_only() {
    let this_file = "testkit/tests/house/sources.rs";
    let found: Vec<String> = sources()
        .iter()
        .filter(|(name, _)| name != this_file)
        .filter(|(name, _)| !MAY_BE_UNSAFE.iter().any(|room| name.starts_with(&format!("{room}/"))))
        .flat_map(|(name, source)| unsafe_lines(source).into_iter().map(move |line| format!("{name}:{line}")))
        .collect();
    assert!(found.is_empty(), "`unsafe` belongs to {MAY_BE_UNSAFE:?} only, found in {found:?}");
}

/// `AppParts` hands the store to the application; whoever serves a request goes through `authorize`.
#[test]
fn handlers_reach_rows_through_the_application_only() {
    let is_handler = |name: &str| name.starts_with("api/src/") && !name.starts_with("api/src/testing");
    let all = sources();
    let handlers: Vec<_> = all.iter().filter(|(name, _)| is_handler(name)).collect();
    assert!(handlers.len() > 50, "only {} files of handlers were found", handlers.len());
    let uses = |source: &str| {
        source.split(".store").skip(1).any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    let found: Vec<&str> = handlers.iter().filter(|(_, source)| uses(source)).map(|(name, _)| name.as_str()).collect();
    assert!(found.is_empty(), "use a method of `App` instead of its store in {found:?}");
}

/// Files of the rooms that answer people which resolve a path by themselves, each with what kind of path that is. A path outside
/// of the workspace that somebody names goes through `HostPolicy` of the sandbox.
const MAY_RESOLVE: &[(&str, &str)] = &[
    ("app/src/backups.rs", "the folders of the installation, to keep a backup out of them"),
    ("app/src/backups/contents.rs", "the data folder"),
    ("app/src/runs/attachments.rs", "a file of the workspace"),
    ("tools/src/browser/launch.rs", "a program of the settings"),
    ("tools/src/datasource/folder.rs", "a folder of the workspace"),
    ("tools/src/mcp/program.rs", "a program that a person names, whose files and folders `HostPolicy` opens"),
    ("tools/src/outside_watch.rs", "a file of the workspace"),
    ("tools/src/own_database/metatron.rs", "a file that was sent"),
    ("tools/src/skills/program.rs", "a program of the settings"),
    ("tools/src/sql/databases.rs", "a file of the workspace"),
];

#[test]
fn paths_that_people_name_are_resolved_in_one_place() {
    let resolves =
        |source: &str| source.split("#[cfg(test)]").next().is_some_and(|code| code.contains("canonicalize("));
    let found: Vec<String> = sources()
        .into_iter()
        .filter(|(name, _)| ["app/src/", "tools/src/", "api/src/"].iter().any(|room| name.starts_with(room)))
        .filter(|(name, _)| !name.contains("/testing/") && !MAY_RESOLVE.iter().any(|(known, _)| known == name))
        .filter(|(_, source)| resolves(source))
        .map(|(name, _)| name)
        .collect();
    assert!(found.is_empty(), "open paths that people name by `HostPolicy`, or say what kind they are: {found:?}");
}

#[test]
fn unsafe_code_is_recognised() {
    let bad = [
        "let x = unsafe { call() };",
        "pub unsafe fn call() {}",
        "unsafe impl Send for A {}",
        "unsafe extern \"C\" {}",
        "    (unsafe {",
        "#![allow(unsafe_code)]",
        "#[unsafe(no_mangle)]",
        "let x = unsafe",
    ];
    for line in bad {
        assert_eq!(unsafe_lines(line), vec![1], "{line}");
    }
    let fine = ["// unsafe { }", "\"an unsafe path\"", "let unsafe_path = 1;", "the unsafe words", "allow(dead_code)"];
    for line in fine {
        assert!(unsafe_lines(line).is_empty(), "{line}");
    }
}
