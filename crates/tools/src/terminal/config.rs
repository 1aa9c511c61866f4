//! What an operator can change: commands beside those of `data/terminal.toml`, or instead of one.

use super::allow::{Allowed, Command};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalConfig {
    /// By name; one with `allow = false` is taken off the list.
    pub commands: BTreeMap<String, Command>,
}

impl TerminalConfig {
    /// Reads a file of the same form as `data/terminal.toml`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let commands: Allowed = toml::from_str(text).map_err(|error| error.to_string())?;
        if let Some(bad) = commands.keys().find(|name| name.contains(['/', ' '])) {
            return Err(format!("[{bad}]: give the command's name without a path or blanks"));
        }
        Ok(Self { commands })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::TerminalConfig;
    use crate::terminal::Risk;

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
