//! What holds for all commands of `steward --help`.

use clap::{Command, CommandFactory as _};
use std::collections::BTreeSet;
use std::path::Path;
use steward::cli::Cli;

/// Calls `each` with the names that lead to a command, itself, and the options that hold for it from above.
fn walk(
    command: &Command,
    path: &[String],
    from_above: &BTreeSet<String>,
    each: &mut impl FnMut(&[String], &Command, &BTreeSet<String>),
) {
    each(path, command, from_above);
    let mut global = from_above.clone();
    global.extend(command.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.get_id().to_string()));
    for below in command.get_subcommands() {
        let path: Vec<String> = path.iter().cloned().chain([below.get_name().to_owned()]).collect();
        walk(below, &path, &global, each);
    }
}

/// clap keeps the values of equal ids in one place: a positional `database` would be taken as `--database` too.
#[test]
fn no_argument_shares_its_id_with_an_option_of_all_commands() {
    let mut shared = Vec::new();
    walk(&Cli::command(), &[], &BTreeSet::new(), &mut |path, command, global| {
        let ids = command.get_arguments().map(|arg| arg.get_id().to_string());
        shared.extend(ids.filter(|id| global.contains(id)).map(|id| format!("{}: {id}", path.join(" "))));
    });
    assert!(shared.is_empty(), "rename these arguments: {shared:?}");
    Cli::command().debug_assert();
}

fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|end| end == "rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// By the words that a test gives to the program: `"datasource", "add"`.
#[test]
fn each_command_is_tried_by_a_test() {
    let mut text = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut text);
    let text: String = text.split_whitespace().collect();
    let (mut count, mut untried) = (0, Vec::new());
    walk(&Cli::command(), &[], &BTreeSet::new(), &mut |path, command, _| {
        // What only groups others, and what the program starts itself with.
        if path.is_empty() || command.is_hide_set() || command.has_subcommands() {
            return;
        }
        count += 1;
        let words: Vec<String> = path.iter().map(|word| format!("\"{word}\"")).collect();
        if !text.contains(&words.join(",")) {
            untried.push(path.join(" "));
        }
    });
    assert!(count > 150, "only {count} were found: the search is broken");
    assert!(untried.is_empty(), "{} of {count} commands have no test: {untried:#?}", untried.len());
}
