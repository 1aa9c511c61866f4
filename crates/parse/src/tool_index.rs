//! Finds tools by the names that models write.

use super::alias::{Aliases, key};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use steward_core::tool::ToolSpec;

/// The known tools by any spelling of their names. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct ToolIndex(Arc<HashMap<String, Vec<Known>>>);

#[derive(Debug)]
struct Known {
    name: String,
    sole_text: Option<String>,
    needs_arguments: bool,
    parameters: Arc<Value>,
}

impl ToolIndex {
    pub fn new(specs: &[ToolSpec]) -> Self {
        let mut map: HashMap<String, Vec<Known>> = HashMap::new();
        for spec in specs {
            map.entry(key(&spec.name)).or_default().push(Known {
                name: spec.name.clone(),
                sole_text: sole_text(spec),
                needs_arguments: !required(spec).is_empty(),
                parameters: spec.parameters.clone(),
            });
        }
        Self(Arc::new(map))
    }

    /// The tool's own name for `written`, whatever its case, separators and quotes. `None`: no tool or more than one.
    pub fn resolve(&self, written: &str) -> Option<&str> {
        self.known(written).map(|known| known.name.as_str())
    }

    /// The tool that `written` means: its own name, one in a name space (`functions.read`), or a usual other name.
    pub fn resolve_call(&self, written: &str, arguments: Option<&Map<String, Value>>) -> Option<&str> {
        if let Some(name) = self.resolve(written) {
            return Some(name);
        }
        let full = key(bare(written));
        let last = bare(written).rsplit(['.', ':', '/']).next().unwrap_or("");
        if let Some(name) = self.resolve(last).filter(|_| last.len() < bare(written).len()) {
            return Some(name);
        }
        let last = key(last);
        [full.as_str(), last.as_str()].into_iter().find_map(|key| self.alias(key, arguments))
    }

    fn alias(&self, key: &str, arguments: Option<&Map<String, Value>>) -> Option<&str> {
        let offered = |tools: &[String]| tools.iter().find_map(|tool| self.resolve(tool));
        let groups = |sure: bool| {
            let all = Aliases::built_in().groups(key);
            all.filter(move |(_, is_sure)| *is_sure == sure).map(|(group, _)| group)
        };
        if let Some(name) = groups(true).find_map(|group| offered(&group.tools)) {
            return Some(name);
        }
        let arguments = arguments?;
        let by_action = groups(true).find_map(|group| offered(&group.action(arguments)?.tools));
        by_action.or_else(|| {
            groups(false).filter(|group| group.speaks(arguments.keys())).find_map(|group| offered(&group.tools))
        })
    }

    /// The tool's own name for an argument that is usually called `usual`.
    pub(crate) fn argument(&self, name: &str, usual: &str) -> String {
        let known = self.parameters(name).and_then(|schema| schema["properties"].as_object());
        let own = known.filter(|known| !known.contains_key(usual)).and_then(|known| {
            let mut lines = Aliases::built_in().arguments(usual);
            lines.find_map(|line| line.iter().find(|own| known.contains_key(*own)))
        });
        own.map_or(usual, String::as_str).to_owned()
    }

    pub fn parameters(&self, name: &str) -> Option<&Value> {
        Some(&self.known(name)?.parameters)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The argument that a bare text can only mean: the only required one, a string.
    pub(crate) fn sole_text(&self, name: &str) -> Option<&str> {
        self.known(name)?.sole_text.as_deref()
    }

    /// `true` for unknown tools.
    pub(crate) fn needs_arguments(&self, name: &str) -> bool {
        self.known(name).is_none_or(|known| known.needs_arguments)
    }

    /// The tool's own name, or `written` without decoration.
    pub(crate) fn name(&self, written: &str) -> String {
        self.resolve_call(written, None).unwrap_or_else(|| bare(written)).to_owned()
    }

    fn known(&self, written: &str) -> Option<&Known> {
        let written = bare(written);
        match self.0.get(&key(written))?.as_slice() {
            [only] => Some(only),
            // They differ only in spelling, so only the exact name finds one.
            several => several.iter().find(|known| known.name == written),
        }
    }
}

/// Removes quotes, back-ticks, emphasis, empty parentheses and a full stop.
fn bare(written: &str) -> &str {
    let outer = |c: char| c.is_whitespace() || "`*\"'“”„«»‘’".contains(c);
    let name = written.trim_matches(outer);
    let name = name.strip_suffix('.').unwrap_or(name);
    name.strip_suffix("()").unwrap_or(name).trim_matches(outer)
}

fn required(spec: &ToolSpec) -> Vec<&str> {
    let list = spec.parameters["required"].as_array();
    list.map(|names| names.iter().filter_map(|name| name.as_str()).collect()).unwrap_or_default()
}

fn sole_text(spec: &ToolSpec) -> Option<String> {
    let [only] = required(spec)[..] else {
        return None;
    };
    (spec.parameters["properties"][only]["type"] == "string").then(|| only.to_owned())
}

#[cfg(test)]
mod tests {
    use super::bare;
    use crate::alias::key;

    #[test]
    fn names_lose_their_decoration() {
        for written in ["`web_search`", "**Web-Search**", "\"webSearch\"", " web search. ", "web_search()"] {
            assert_eq!(key(bare(written)), "websearch", "{written}");
        }
    }
}
