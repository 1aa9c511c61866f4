//! Strategy `fuzzy`: phrases that imply a call, from `data/fuzzy.toml`. Such calls are weak, so in doubt there is none.

use super::grammar::Call;
use super::prose::sentences;
use super::tool_index::ToolIndex;
use regex::Regex;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::LazyLock;
use steward_core::tool::CallSource;

const CONFIDENCE: f32 = 0.4;
/// Longest sentence that is read as a phrase, in bytes.
const LONGEST: usize = 800;
/// A reply with more calls is a list, not an intention.
const MOST: usize = 8;

pub(crate) fn calls(text: &str, tools: &ToolIndex) -> Vec<Call> {
    let mut all: Vec<Call> = Vec::new();
    for intent in Rules::built_in().intents(text) {
        let Some(name) = tools.resolve_call(&intent.tool, None) else {
            continue;
        };
        let key = tools.argument(name, &intent.argument);
        let arguments = json!({key: intent.object});
        if all.iter().any(|call| call.name == name && call.arguments == arguments) {
            continue;
        }
        all.push(Call::new(name.to_owned(), arguments, CallSource::Fuzzy, CONFIDENCE));
    }
    all.truncate(MOST);
    all
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub tool: String,
    pub argument: String,
    pub object: String,
}

impl Rules {
    /// What the writer of `text` says to be about to do.
    pub fn intents(&self, text: &str) -> Vec<Intent> {
        let lines = sentences(text, |line| self.example.as_ref().is_some_and(|example| example.is_match(line)));
        lines.into_iter().filter_map(|sentence| self.sentence(sentence)).collect()
    }

    fn sentence(&self, sentence: &str) -> Option<Intent> {
        // Who has an intention says it briefly.
        if sentence.len() > LONGEST || sentence.ends_with(['?', '؟', '？']) {
            return None;
        }
        let sentence = sentence.trim_end_matches(['.', '!', '…', ':', ' ', '*']).trim_start_matches(['*', '_']);
        self.all.iter().find_map(|rule| {
            let found = rule.pattern.find(sentence)?;
            super::complexity_counter::count(sentence.len());
            let rest = &sentence[found.end()..];
            let object = find(rule, rest, self)?;
            let after = &rest[object.end..];
            if rule.after.as_ref().is_some_and(|after_rule| !after_rule.is_match(after)) {
                return None;
            }
            let guard = self.guards.get(&rule.row.lang)?;
            if guard.is_match(&sentence[..found.end()]) || guard.is_match(after) {
                return None;
            }
            Some(Intent { tool: rule.row.tool.clone(), argument: rule.row.argument.clone(), object: object.text })
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    example_intro: String,
    stop: String,
    empty: Vec<String>,
    intent: HashMap<String, String>,
    guard: HashMap<String, String>,
    rule: Vec<RuleText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    tool: String,
    lang: String,
    pattern: String,
    argument: String,
    object: Object,
    after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Object {
    Text,
    Url,
    Path,
    Quoted,
}

/// A row of the file with its patterns.
#[derive(Debug)]
pub(crate) struct Rule {
    row: RuleText,
    pattern: Regex,
    after: Option<Regex>,
}

#[derive(Debug, Default)]
pub struct Rules {
    example: Option<Regex>,
    stop: Option<Regex>,
    empty: Vec<String>,
    guards: HashMap<String, Regex>,
    all: Vec<Rule>,
}

static BUILT_IN: LazyLock<Rules> =
    LazyLock::new(|| Rules::read(include_str!("../data/fuzzy.toml")).unwrap_or_default());

impl Rules {
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    fn read(text: &str) -> Result<Self, String> {
        let file: File =
            toml::from_str(text).map_err(|error| format!("the file of phrases can't be read: {error}; correct it"))?;
        let compile = |name: &str, pattern: &str| {
            let failed = |error| format!("the pattern of `{name}` is no regular expression: {error}; correct it");
            Regex::new(pattern).map_err(failed)
        };
        let mut guards = HashMap::new();
        for (lang, pattern) in &file.guard {
            guards.insert(lang.clone(), compile(lang, pattern)?);
        }
        let mut rules = Vec::new();
        for rule in file.rule {
            let intent = file.intent.get(&rule.lang).filter(|_| guards.contains_key(&rule.lang));
            let missing = || format!("`{}` has rules but no entry under [intent] or [guard]; add it", rule.lang);
            let intent = intent.ok_or_else(missing)?;
            let name = format!("{} {}", rule.lang, rule.tool);
            let pattern = compile(&name, &format!("{intent}{}", rule.pattern))?;
            let after = rule.after.as_deref().map(|after| compile(&name, after)).transpose()?;
            rules.push(Rule { row: rule, pattern, after });
        }
        Ok(Self {
            example: Some(compile("example_intro", &file.example_intro)?),
            stop: Some(compile("stop", &file.stop)?),
            empty: file.empty,
            guards,
            all: rules,
        })
    }

    /// Where the object at the start of `rest` ends.
    pub(crate) fn stop(&self, rest: &str) -> Option<usize> {
        Some(self.stop.as_ref()?.find(rest)?.start())
    }
}

const LONGEST_OBJECT: usize = 300;

pub(crate) struct Found {
    pub text: String,
    pub end: usize,
}

/// The object at the start of `rest`, if it is what the rule wants.
pub(crate) fn find(rule: &Rule, rest: &str, rules: &Rules) -> Option<Found> {
    let found = match (quoted(rest), rule.row.object) {
        (Some(found), Object::Text | Object::Quoted) => found,
        (Some(found), Object::Url) if is_url(&found.text) => found,
        (Some(found), Object::Path) if is_path(&found.text, true) => found,
        (None, Object::Url) => word(rest).filter(|found| is_url(&found.text))?,
        (None, Object::Path) => word(rest).filter(|found| is_path(&found.text, false))?,
        (None, Object::Text) => text(rest, rules)?,
        _ => return None,
    };
    let says_nothing = found.text.trim().is_empty() || rules.empty.contains(&found.text.to_lowercase());
    let sound = !says_nothing && found.text.len() <= LONGEST_OBJECT;
    sound.then_some(found)
}

const QUOTES: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('`', '`'), ('«', '»'), ('„', '“')];

fn quoted(rest: &str) -> Option<Found> {
    let first = rest.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let body = &rest[first.len_utf8()..];
    // An apostrophe inside a word closes nothing.
    let end = body.match_indices(*close).map(|(at, _)| at).find(|at| {
        let next = body[at + close.len_utf8()..].chars().next();
        next.is_none_or(|c| !c.is_alphanumeric())
    })?;
    let text = body[..end].trim().to_owned();
    Some(Found { text, end: first.len_utf8() + end + close.len_utf8() })
}

fn word(rest: &str) -> Option<Found> {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let text = rest[..end].trim_end_matches(['.', ',', ';', ':', ')', '!', '…', '*']);
    (!text.is_empty()).then(|| Found { text: text.to_owned(), end })
}

fn text(rest: &str, rules: &Rules) -> Option<Found> {
    let end = rules.stop(rest).unwrap_or(rest.len());
    let text = rest[..end].trim().trim_end_matches(['.', '!', '…', ':']);
    (text.chars().count() > 1).then(|| Found { text: text.to_owned(), end })
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.len() > 2 && !rest.contains(char::is_whitespace))
}

/// A path has a folder or an extension. In quotes a name with blanks is one, too.
fn is_path(text: &str, quoted: bool) -> bool {
    if is_url(text) || text.contains('\n') {
        return false;
    }
    let ending = text.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let folder = text.starts_with(['/', '~', '.']) && text.len() > 1 || text.contains('/');
    (ending || folder) && (quoted || !text.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::Rules;

    #[test]
    fn the_file_can_be_read() {
        let rules = Rules::read(include_str!("../data/fuzzy.toml")).unwrap();
        assert!(rules.all.len() >= 20);
        let error = Rules::read("x = 1").unwrap_err();
        assert!(error.contains("correct it"), "{error}");
    }
}
