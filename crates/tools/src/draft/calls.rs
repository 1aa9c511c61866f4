//! Calls that need little.

use super::{Desk, call};
use crate::suggest::extract::address::urls;
use crate::suggest::extract::arithmetic::calculation;
use crate::suggest::extract::command::split;
use crate::suggest::extract::quoted::quoted;
use crate::suggest::extract::text::words;
use serde_json::json;
use steward_core::ports::Draft;

/// Words of a command line at most, where nothing says where it ends.
const LONGEST: usize = 8;

pub(super) fn clock() -> Draft {
    let argv = json!({"argv": ["date", "+%Y-%m-%d %H:%M %Z"]});
    call("terminal", argv, "clock", Vec::new())
}

pub(super) fn bare(tool: &str) -> Draft {
    call(tool, json!({}), "plain", Vec::new())
}

impl Desk<'_> {
    pub(super) fn calc(&self) -> Option<Draft> {
        let found = calculation(self.wanted.text)?;
        let program = format!("BEGIN{{printf \"%.15g\\n\", {}}}", found.expression);
        let argv = json!({"argv": ["awk", program]});
        Some(call("terminal", argv, "calc", vec![("formula", found.expression)]))
    }

    /// A command line between quotation marks, or from the first word that is a command.
    pub(super) fn run(&self) -> Option<Draft> {
        let text = self.wanted.text;
        let line = if let Some(quote) = quoted(text).into_iter().next() {
            quote.text
        } else {
            let mut words = words(text).into_iter();
            let start = words.find(|word| crate::terminal::is_known_command(word.text))?.start;
            text[start..].trim_end_matches(['.', '?', '!', ' '])
        };
        let mut argv = split(line)?;
        let said = argv
            .iter()
            .skip(1)
            .position(|word| self.wanted.asking.contains(&word.to_lowercase()) && !word.starts_with('-'));
        argv.truncate(said.map_or(LONGEST, |at| at + 1));
        crate::terminal::is_known_command(argv.first()?)
            .then(|| call("terminal", json!({"argv": argv}), "plain", Vec::new()))
    }

    pub(super) fn fetch(&self) -> Option<Draft> {
        let url = urls(self.wanted.text, |_| false).into_iter().next()?;
        Some(call("web_fetch", json!({"url": url}), "plain", Vec::new()))
    }
}
