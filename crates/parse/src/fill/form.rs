//! A tool's arguments, with what their names, types and descriptions say of the values they want.

use super::clock;
use super::kind::{class_of, head_of};
use super::lexicon::{Class, Lexicon};
use super::measure::units_of;
use super::request::Request;
use super::stem::{kin, split_name, stem};
use super::told::{aliases_of, codes_of, counts_of, examples_of, pattern_of};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Deepest nesting of arguments within arguments.
const DEPTH: usize = 3;
/// Most arguments of one tool that are looked at.
const MOST: usize = 40;

/// Type of an argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Text,
    Integer,
    Number,
    Bool,
    List(Box<Type>),
    /// Anything else: no value is proposed.
    Other,
}

/// Which side of something an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    End,
}

/// One argument.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone)]
pub(super) struct Param {
    /// Names from the outermost in.
    pub path: Vec<String>,
    pub kind: Type,
    pub required: bool,
    /// Stems of its name.
    pub name: Vec<String>,
    /// Stems of its description that say something.
    pub told: Vec<String>,
    /// Stems of what its description says that it is, before what for.
    pub head: Vec<String>,
    pub description: String,
    /// Allowed values.
    pub choices: Vec<Value>,
    /// Values that the description gives as examples.
    pub examples: Vec<String>,
    /// `'c' for Celsius`: value and word.
    pub aliases: Vec<(String, String)>,
    /// What whole numbers stand for.
    pub codes: Vec<(i64, Vec<String>)>,
    pub default: Option<Value>,
    pub class: Option<Class>,
    pub side: Option<Side>,
    pub creator: bool,
    pub topic: bool,
    /// Units by the description or name.
    pub units: Vec<String>,
    /// Pattern of a date.
    pub pattern: Option<String>,
    /// Whether a time of day is wanted by 24 hours, and with seconds.
    pub clock: Option<bool>,
    /// Stem of what it counts: `Number of guests`, `How many names`.
    pub counts: Option<String>,
    /// Wants money, a share, a count.
    pub money: bool,
    pub rate: bool,
    /// `5 %` is wanted as 5.
    pub percent: bool,
}

impl Param {
    pub fn is_number(&self) -> bool {
        matches!(self.kind, Type::Integer | Type::Number)
    }

    pub fn label(&self) -> String {
        self.path.join(".")
    }

    /// The argument as a question of meaning.
    pub fn question(&self) -> String {
        let name = self.path.last().map(|name| split_name(name).join(" "));
        format!("{}: {}", name.unwrap_or_default(), self.description)
    }
}

/// A tool's form.
#[derive(Debug, Clone)]
pub struct Form {
    pub(super) params: Vec<Param>,
    /// Stems of the tool's name that say something.
    pub(super) name: Vec<String>,
    /// Stems of the verbs of its name.
    verbs: Vec<String>,
    /// Stems of the tool's name and description.
    pub(super) about: Vec<String>,
    /// In how many arguments a stem occurs.
    pub(super) spread: HashMap<String, usize>,
    /// Stems that are one of the allowed values of an argument.
    pub(super) chosen: HashSet<String>,
}

impl Form {
    /// Reads a tool's name, description and JSON Schema.
    pub fn of(name: &str, description: &str, schema: &Value) -> Self {
        let words = Lexicon::get();
        let mut params = Vec::new();
        collect(schema, &mut Vec::new(), true, &mut params, words);
        let mut about: Vec<String> = split_name(name).iter().map(|word| stem(word)).collect();
        about.extend(meaning(description, words));
        let mut spread: HashMap<String, usize> = HashMap::new();
        for param in &params {
            let mut own: Vec<&String> = param.name.iter().chain(&param.told).collect();
            own.sort_unstable();
            own.dedup();
            for word in own {
                *spread.entry(word.clone()).or_default() += 1;
            }
        }
        let verbs = split_name(name).iter().filter(|word| words.verbs.contains(*word)).map(|word| stem(word)).collect();
        let name = split_name(name)
            .iter()
            .filter(|word| !words.verbs.contains(*word) && !words.stop.contains(*word))
            .map(|word| stem(word))
            .collect();
        let chosen = params
            .iter()
            .flat_map(|param| &param.choices)
            .filter_map(Value::as_str)
            .filter(|choice| !choice.contains(' '))
            .map(stem)
            .collect();
        Self { params, name, verbs, about, spread, chosen }
    }

    /// The share of a request's words that carry meaning and that the form has as well, 0 to 1.
    pub fn overlap(&self, request: &Request) -> f32 {
        let words = Lexicon::get();
        let mut own: Vec<&String> = request
            .tokens
            .iter()
            .filter(|token| token.is_content(words) && token.lower.len() > 2)
            .map(|token| &token.stem)
            .collect();
        own.sort_unstable();
        own.dedup();
        let known = |word: &&&String| self.knows(word);
        #[expect(clippy::cast_precision_loss, reason = "some hundred words")]
        let share = own.iter().filter(known).count() as f32 / own.len().max(1) as f32;
        share
    }

    /// Whether a stem is one of the tool's own words.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.about.iter().any(|one| kin(one, word))
            || self.params.iter().any(|param| param.name.iter().chain(&param.told).any(|one| kin(one, word)))
    }

    /// The share of the words of the tool's own name that a request has, 0 to 1.
    pub fn called(&self, request: &Request) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a few words")]
        let share = self.named(request) as f32 / self.name.len().max(1) as f32;
        share
    }

    /// Whether a verb of the tool's name is asked for in the request, in the same or a like word.
    pub fn asked(&self, request: &Request) -> bool {
        let words = Lexicon::get();
        self.verbs
            .iter()
            .any(|own| request.tokens.iter().any(|token| token.stem == *own || words.alike(own, &token.stem)))
    }

    /// How many words of the tool's own name a request has.
    pub fn named(&self, request: &Request) -> usize {
        let words = Lexicon::get();
        self.name
            .iter()
            .filter(|own| request.tokens.iter().any(|token| token.is_content(words) && kin(own, &token.stem)))
            .count()
    }

    /// Descriptions whose meaning is compared with phrases.
    pub fn questions(&self) -> Vec<String> {
        self.params
            .iter()
            .filter(|param| match &param.kind {
                Type::Text => true,
                Type::List(item) => **item == Type::Text,
                _ => false,
            })
            .map(Param::question)
            .collect()
    }
}

/// Stems of a text that say something.
fn meaning(text: &str, words: &Lexicon) -> Vec<String> {
    let mut out = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        for part in split_name(word) {
            let own = stem(&part);
            if !words.stop.contains(&part) && !words.form_stop.contains(&own) && !own.is_empty() && !out.contains(&own)
            {
                out.push(own);
            }
        }
    }
    out
}

fn collect(schema: &Value, path: &mut Vec<String>, required: bool, out: &mut Vec<Param>, words: &Lexicon) {
    let needed = |name: &str| schema["required"].as_array().is_some_and(|list| list.iter().any(|one| one == name));
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if out.len() >= MOST {
            return;
        }
        path.push(name.clone());
        let must = required && needed(name);
        let inner = field["properties"].as_object().is_some_and(|map| !map.is_empty());
        if field["type"] == "object" && inner && path.len() < DEPTH {
            collect(field, path, must, out, words);
        } else {
            out.push(param(path, field, must, words));
        }
        path.pop();
    }
}

fn kind_of(field: &Value) -> Type {
    let name = match &field["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("string"),
        Value::String(name) => name,
        _ => "string",
    };
    match name {
        "string" => Type::Text,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Bool,
        "array" => match kind_of(&field["items"]) {
            Type::List(inner) if !matches!(*inner, Type::List(_)) => Type::List(Box::new(Type::List(inner))),
            Type::Other => Type::Other,
            item => Type::List(Box::new(item)),
        },
        _ => Type::Other,
    }
}

fn param(path: &[String], field: &Value, required: bool, words: &Lexicon) -> Param {
    let description = field["description"].as_str().unwrap_or_default().to_owned();
    let own_name = path.last().cloned().unwrap_or_default();
    let name: Vec<String> =
        path.iter().rev().take(2).flat_map(|part| split_name(part)).map(|word| stem(&word)).collect();
    let lower = description.to_lowercase();
    let (main, fallback) = without_default(&description);
    let told = meaning(&main, words);
    let head = meaning(&head_of(&main), words);
    let kind = kind_of(field);
    let choices = field["enum"].as_array().or_else(|| field["items"]["enum"].as_array()).cloned().unwrap_or_default();
    let role = |role: &str| words.roles.get(role).is_some_and(|role| name.iter().any(|word| role.names.contains(word)));
    let side = if role("start") && !role("end") {
        Some(Side::Start)
    } else if role("end") && !role("start") {
        Some(Side::End)
    } else {
        side_told(&lower)
    };
    let own_words: Vec<String> = split_name(&own_name).iter().map(|word| stem(word)).collect();
    let rate = own_words.iter().chain(&told).any(|word| words.rates.contains(word));
    let units = units_of(&own_name, &main, words);
    let mut class = class_of(&own_words, &main, words);
    // `years`: how many, not which.
    if class == Some(Class::Year)
        && (split_name(&own_name).iter().any(|word| word == "years")
            || (!own_words.iter().any(|word| word == "year") && lower.contains("years")))
    {
        class = None;
    }
    // A number called `date` or `season` whose description speaks of a year is one.
    if matches!(kind, Type::Integer) && class != Some(Class::Year) && units.iter().all(|unit| unit == "year") {
        let head: Vec<&str> = lower.split_whitespace().take(6).collect();
        if head.contains(&"year") && !own_words.iter().any(|word| word.starts_with("num") || word == "count") {
            class = Some(Class::Year);
        }
    }
    Param {
        class,
        money: own_words.iter().chain(&told).any(|word| words.money.contains(word)),
        rate,
        percent: !words.decimal.iter().any(|mark| lower.contains(mark.as_str()))
            && words
                .percent
                .iter()
                .any(|mark| without_default(&lower).0.contains(mark.as_str()) || own_name.contains("percent")),
        creator: role("creator"),
        topic: role("topic"),
        side,
        units,
        pattern: pattern_of(&description),
        clock: clock::shown(&description),
        counts: counts_of(&lower),
        examples: examples_of(&main),
        aliases: aliases_of(&description),
        codes: if matches!(kind, Type::Integer) { codes_of(&description) } else { Vec::new() },
        default: (!field["default"].is_null()).then(|| field["default"].clone()).or_else(|| fallback.map(Value::from)),
        path: path.to_vec(),
        kind,
        required,
        name,
        told,
        head,
        description,
        choices,
    }
}

/// `The starting …`, `The first …` at the beginning of a description.
fn side_told(lower: &str) -> Option<Side> {
    let head: Vec<&str> = lower.split_whitespace().take(4).collect();
    let any = |list: &[&str]| head.iter().any(|word| list.contains(word));
    if any(&["start", "starting", "beginning", "initial", "origin"]) {
        Some(Side::Start)
    } else if any(&["end", "ending", "final", "destination"]) {
        Some(Side::End)
    } else {
        None
    }
}

/// A description without the sentence about its default, and the default that it tells.
fn without_default(description: &str) -> (String, Option<String>) {
    let lower = description.to_lowercase();
    let Some(at) = ["default", "if not specified", "if not provided", "if omitted"]
        .iter()
        .filter_map(|mark| lower.find(mark))
        .min()
        .filter(|at| description.is_char_boundary(*at))
    else {
        return (description.to_owned(), None);
    };
    let (before, after) = description.split_at(at);
    let cut = before.rfind(['.', ';', '(']).map_or(before.len(), |mark| mark + 1);
    let quoted = after
        .split_once(['\'', '"'])
        .and_then(|(_, rest)| rest.split_once(['\'', '"']))
        .map(|(inner, _)| inner.to_owned());
    let plain = || {
        after
            .split_whitespace()
            .skip(1)
            .map(|word| word.trim_matches(['.', ',', ')', '(', ':', '\'', '"']))
            .find(|word| {
                !matches!(word.to_lowercase().as_str(), "is" | "to" | "value" | "as" | "the" | "of" | "a" | "set" | "")
            })
            .unwrap_or_default()
            .to_owned()
    };
    let kept = if cut < before.len() || before.is_empty() {
        before[..cut].to_owned()
    } else {
        before.trim_end_matches([' ', ',', '(']).to_owned()
    };
    (kept, Some(quoted.unwrap_or_else(plain)))
}
