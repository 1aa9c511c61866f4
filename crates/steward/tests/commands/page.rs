//! The table of docs/cli.md, from the help of the commands.

use clap::{Command, CommandFactory as _};
use std::fmt::Write as _;
use steward::cli::Cli;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
const BEGIN: &str = "<!-- This table is made by a test (`the_page_of_commands_is_this_one`). -->\n";

#[test]
fn the_page_of_commands_is_this_one() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (introduction, rest) = page.split_once(BEGIN).unwrap();
    let (table, more) = rest.split_once("\n\n").unwrap();
    let program = Cli::command();
    let mut wanted = "| command | what it does | its own commands |\n|---|---|---|".to_owned();
    for command in shown(&program) {
        let about = command.get_about().unwrap().to_string().replace('|', "\\|");
        write!(wanted, "\n| `steward {}` | {about} | {} |", command.get_name(), below(command)).unwrap();
    }
    if std::env::var_os("STEWARD_UPDATE_OPENAPI").is_some() {
        std::fs::write(PAGE, format!("{introduction}{BEGIN}{wanted}\n\n{more}")).unwrap();
        return;
    }
    assert!(
        table == wanted,
        "docs/cli.md does not say what the commands' help says; run this test with STEWARD_UPDATE_OPENAPI=1"
    );
}

/// Those that help lists, in its order.
fn shown(command: &Command) -> Vec<&Command> {
    let mut all: Vec<&Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    all.sort_by_cached_key(|command| (command.get_display_order(), command.get_name().to_owned()));
    all
}

/// The names of its commands, with those that these have in turn.
fn below(command: &Command) -> String {
    let named = |command: &Command| {
        let more = below(command);
        let more = if more.is_empty() { more } else { format!(" ({more})") };
        format!("`{}`{more}", command.get_name())
    };
    shown(command).into_iter().map(named).collect::<Vec<_>>().join(", ")
}
