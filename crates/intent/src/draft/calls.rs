//! Calls that need few arguments.

use super::{Desk, Draft, call};
use crate::read::arithmetic::calculation;
use crate::read::urls;
use serde_json::json;
use steward_core::text::{quoted, words};

/// Most words of a command line if nothing marks its end.
const LONGEST: usize = 8;

pub(crate) fn clock() -> Draft {
    let argv = json!({"argv": ["date", "+%Y-%m-%d %H:%M %Z"]});
    call("terminal", argv, "clock", Vec::new())
}

pub(crate) fn bare(tool: &str) -> Draft {
    call(tool, json!({}), "plain", Vec::new())
}

impl Desk<'_> {
    pub(crate) fn calc(&self) -> Option<Draft> {
        let found = calculation(self.wanted.text)?;
        let program = format!("BEGIN{{printf \"%.15g\\n\", {}}}", found.expression);
        let argv = json!({"argv": ["awk", program]});
        Some(call("terminal", argv, "calc", vec![("formula", found.expression)]))
    }

    /// A command line between quotation marks, or from the first word that is a command.
    pub(crate) fn run(&self) -> Option<Draft> {
        let text = self.wanted.text;
        let runs = |program: &str| self.view.reader().runs(program);
        let line = if let Some(quote) = quoted(text).into_iter().next() {
            quote.text
        } else {
            let mut words = words(text).into_iter();
            let start = words.find(|word| runs(word.text))?.start;
            text[start..].trim_end_matches(['.', '?', '!', ' '])
        };
        let mut argv = self.view.reader().split_command(line)?;
        let said = argv
            .iter()
            .skip(1)
            .position(|word| self.wanted.asking.contains(&word.to_lowercase()) && !word.starts_with('-'));
        argv.truncate(said.map_or(LONGEST, |at| at + 1));
        runs(argv.first()?).then(|| call("terminal", json!({"argv": argv}), "plain", Vec::new()))
    }

    pub(crate) fn fetch(&self) -> Option<Draft> {
        let url = urls(self.wanted.text).into_iter().next()?;
        Some(call("web_fetch", json!({"url": url}), "plain", Vec::new()))
    }
}
