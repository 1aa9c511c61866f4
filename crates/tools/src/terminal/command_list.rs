//! Which commands may run, and with which options not: `data/terminal.toml`, with the operator's changes.

use crate::error::{ToolsError, refused};
use serde::Deserialize;
use std::collections::BTreeMap;
use steward_sandbox::files::near_matches;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    #[default]
    Read,
    Write,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Command {
    pub allow: bool,
    pub risk: Risk,
    pub forbid: Vec<String>,
    pub quiet: Vec<i32>,
}

impl Default for Command {
    fn default() -> Self {
        Self { allow: true, risk: Risk::Read, forbid: Vec::new(), quiet: Vec::new() }
    }
}

pub(super) type CommandList = BTreeMap<String, Command>;

pub(super) fn load_commands(config: TerminalConfig) -> Result<CommandList, ToolsError> {
    let standard = include_str!("../../data/terminal.toml");
    let mut allowed: CommandList = toml::from_str(standard)
        .map_err(|error| ToolsError::Data { file: "crates/tools/data/terminal.toml", reason: error.to_string() })?;
    allowed.extend(config.commands);
    allowed.retain(|_, command| command.allow);
    Ok(allowed)
}

/// The entry of a command that may run; commands that write only if `may` allows it.
pub(super) fn find_allowed<'a>(
    allowed: &'a CommandList,
    argv: &[String],
    may: Risk,
) -> Result<&'a Command, ToolsError> {
    let name = argv.first().map_or("", String::as_str);
    let command = match allowed.get(name) {
        Some(command) if command.risk == Risk::Read || may == Risk::Write => command,
        found => {
            return Err(ToolsError::Refused(refusal_text(allowed, name, may, found.is_some())));
        }
    };
    if let Some(bad) = argv.iter().find(|word| word.contains('\0')) {
        return Err(refused!("{bad:?} holds a NUL character; leave it out"));
    }
    if may == Risk::Write {
        return Ok(command);
    }
    let options = argv.iter().skip(1).take_while(|word| *word != "--");
    for word in options {
        if let Some(flag) = command.forbid.iter().find(|flag| is_option(word, flag)) {
            return Err(refused!(
                "{name} {flag} is not allowed: commands here only look and end by themselves; \
                 use the tool `write` to change a file, or `terminal_write` for this command"
            ));
        }
    }
    Ok(command)
}

/// Alone, with a value, abbreviated (`--out` for `--output`), or in a cluster (`-no`: `-o`).
fn is_option(word: &str, flag: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if let Some(long) = flag.strip_prefix("--") {
        return name.strip_prefix("--").is_some_and(|name| !name.is_empty() && long.starts_with(name));
    }
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    match flag.strip_prefix('-') {
        Some(letter) if letter.len() == 1 => {
            let cluster = letters.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
            cluster.contains(letter)
        }
        _ => word == flag,
    }
}

fn refusal_text(allowed: &CommandList, name: &str, may: Risk, writes: bool) -> String {
    let names: Vec<&str> = allowed
        .iter()
        .filter(|(_, command)| command.risk == Risk::Read || may == Risk::Write)
        .map(|(name, _)| name.as_str())
        .collect();
    let hint = if writes {
        "it may change files, so call `terminal_write` with it, which asks a person first; ".to_owned()
    } else if name.contains(char::is_whitespace) {
        "give each word as its own element, such as [\"wc\", \"-l\", \"notes.txt\"]; ".to_owned()
    } else if name.contains('/') {
        "give the command's name without a path; ".to_owned()
    } else {
        let near = near_matches(name, names.iter().copied());
        match near.first() {
            Some(near) => format!("did you mean {near}? "),
            None => String::new(),
        }
    };
    format!("the command `{name}` is not allowed; {hint}allowed are {}", names.join(", "))
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalConfig {
    /// By name; one with `allow = false` is removed.
    pub commands: BTreeMap<String, Command>,
}

impl TerminalConfig {
    pub fn parse(text: &str) -> Result<Self, String> {
        let commands: CommandList = toml::from_str(text).map_err(|error| error.to_string())?;
        if let Some(bad) = commands.keys().find(|name| name.contains(['/', ' '])) {
            return Err(format!("[{bad}]: give the command's name without a path or blanks"));
        }
        Ok(Self { commands })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Risk, TerminalConfig, find_allowed, is_option, load_commands};

    #[test]
    fn options_in_all_their_spellings() {
        for (word, flag, expect) in [
            ("-o", "-o", true),
            ("-ofile", "-o", true),
            ("-no", "-o", true),
            ("-n", "-o", false),
            ("--output=x", "--output", true),
            ("--out", "--output", true),
            ("--other", "--output", false),
            ("-delete", "-delete", true),
            ("-deleted", "-delete", false),
            ("-i.bak", "-i", true),
            ("-5", "-i", false),
            ("x-o", "-o", false),
        ] {
            assert_eq!(is_option(word, flag), expect, "{word} {flag}");
        }
    }

    #[test]
    fn refusals_say_what_to_do() {
        let allowed = load_commands(TerminalConfig::default()).unwrap();
        let refused = |argv: &[&str], expect: &str| {
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            let error = find_allowed(&allowed, &argv, Risk::Read).unwrap_err().to_string();
            assert!(error.contains(expect), "{argv:?}: {error}");
        };
        refused(&["rm", "-rf", "/"], "allowed are");
        refused(&["sh", "-c", "ls"], "not allowed");
        refused(&["bash"], "not allowed");
        refused(&["python3", "-c", "1"], "not allowed");
        refused(&["env", "ls"], "not allowed");
        refused(&["xargs", "rm"], "not allowed");
        refused(&["wc -l a.txt"], "its own element");
        refused(&["/bin/ls"], "without a path");
        refused(&["./ls"], "without a path");
        refused(&["grepp"], "did you mean grep?");
        refused(&["find", ".", "-exec", "rm", "{}", ";"], "find -exec");
        refused(&["find", ".", "-delete"], "find -delete");
        refused(&["sed", "-ni", "p", "x"], "sed -i");
        refused(&["sort", "--outp=x", "y"], "sort --output");
        refused(&["tail", "-f", "x"], "tail -f");
        refused(&["cat", "a\0b"], "NUL");
        refused(&[""], "not allowed");
        let grep = ["grep", "-e", "-i", "--", "-delete"].map(str::to_owned);
        assert!(find_allowed(&allowed, &grep, Risk::Read).is_ok());
        refused(&["cp", "a", "b"], "`terminal_write`");
        for argv in [&["cp", "a", "b"][..], &["sed", "-i", "s/a/b/", "x"], &["ls"]] {
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            assert!(find_allowed(&allowed, &argv, Risk::Write).is_ok(), "{argv:?}");
        }
        let sh = ["sh", "-c", "ls"].map(str::to_owned);
        assert!(find_allowed(&allowed, &sh, Risk::Write).is_err());
    }

    #[test]
    fn a_file_adds_and_takes_away() {
        let read = TerminalConfig::parse("[make]\nrisk = \"write\"\n[rm]\nallow = false\n").unwrap();
        assert_eq!(read.commands["make"].risk, Risk::Write);
        assert!(read.commands["make"].allow && !read.commands["rm"].allow);
        for (text, expect) in
            [("[make]\nrisk = \"huge\"", "risk"), ("[make]\ncolour = 1", "colour"), ("[\"/bin/ls\"]", "without a path")]
        {
            let error = TerminalConfig::parse(text).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }
}
