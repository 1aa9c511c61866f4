//! Other names of the usual tools and their arguments, from `data/aliases.toml`.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Tools that do the same under different names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    /// Names that an offered tool may have, the best first.
    pub tools: Vec<String>,
    also: Vec<String>,
    unsure: Vec<String>,
    keys: Vec<String>,
    #[serde(default)]
    action: Vec<Action>,
}

/// What one tool does according to its argument `action`, and others as tools of their own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Action {
    /// The best first.
    pub tools: Vec<String>,
    words: Vec<String>,
}

/// An argument of a tool's published form, and what it means here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    tool: String,
    pub argument: String,
    pub becomes: String,
    /// What goes with it.
    pub with: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    same: Vec<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aliases {
    group: Vec<Group>,
    published: Vec<Published>,
    arguments: Arguments,
}

static BUILT_IN: LazyLock<Aliases> =
    LazyLock::new(|| toml::from_str(include_str!("../data/aliases.toml")).unwrap_or_default());

impl Aliases {
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    pub fn published<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Published> {
        self.published.iter().filter(move |one| one.tool == tool)
    }

    pub fn does_one_action(&self, tool: &str) -> bool {
        let actions = self.group.iter().flat_map(|group| &group.action);
        actions.into_iter().any(|action| action.tools.iter().any(|known| known == tool))
    }

    /// The groups with a name spelled `wanted`, the sure ones first. `false`: the name is unsure.
    pub fn groups<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = (&'a Group, bool)> {
        let is = move |names: &[String]| names.iter().any(|name| key(name) == wanted);
        let sure = self.group.iter().filter(move |group| is(&group.tools) || is(&group.also));
        let unsure = self.group.iter().filter(move |group| is(&group.unsure));
        sure.map(|group| (group, true)).chain(unsure.map(|group| (group, false)))
    }

    /// The lines of the file that have the argument `name`.
    pub fn arguments<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [String]> {
        let lines = self.arguments.same.iter();
        lines.filter(move |line| line.iter().any(|one| one == name)).map(Vec::as_slice)
    }
}

pub(crate) const ACTION: &str = "action";

impl Group {
    /// The action that the arguments name; the first if they name none. `None`: the group has no such action.
    pub fn action(&self, arguments: &Map<String, Value>) -> Option<&Action> {
        match arguments.get(ACTION) {
            None | Some(Value::Null) => self.action.first(),
            Some(word) => {
                let word = key(word.as_str()?);
                let has = |one: &&Action| one.words.iter().any(|known| key(known) == word);
                self.action.iter().find(has)
            }
        }
    }

    /// Whether one of `keys` is typical of this group's tools.
    pub fn speaks<'a>(&self, mut keys: impl Iterator<Item = &'a String>) -> bool {
        keys.any(|key| self.keys.contains(key))
    }
}

pub(crate) fn key(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '‐' | '‑')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::Aliases;

    #[test]
    fn the_file_can_be_read() {
        let aliases = Aliases::built_in();
        assert_eq!(aliases.group.len(), 6);
        assert_eq!(aliases.groups("bash").count(), 1);
        assert_eq!(aliases.groups("open").count(), 2);
    }
}
