use super::Evidence;
use super::lexicon::{Proofs, proofs};
use super::object::{Name, Objects};
use super::token::Kind;
use super::why;
use serde_json::Value;

#[derive(Debug)]
pub(super) struct Linked {
    pub action: String,
    /// The calls that prove it; empty if it is unproved.
    pub calls: Vec<String>,
    pub why: String,
}

pub(super) fn link(class: &str, objects: &Objects, evidence: &[Evidence<'_>]) -> Linked {
    let claimed = refine(class, objects);
    let action = action(class, &claimed);
    let fits: Vec<_> = evidence.iter().filter(|one| accepts(&claimed, class, objects, one)).collect();
    let good: Vec<_> = fits.iter().copied().filter(|one| one.ok && !one.undone).collect();
    let unproved = |why: String| Linked { action: action.clone(), calls: Vec::new(), why };
    if good.is_empty() {
        return unproved(why::nothing(&action, &fits, evidence.is_empty()));
    }
    let wanted: Vec<_> = objects.names.iter().filter(|name| needed(name, class, objects)).collect();
    let mut proving: Vec<&Evidence<'_>> = Vec::new();
    for name in &wanted {
        let before = proving.len();
        proving.extend(good.iter().copied().filter(|one| about(name, one)));
        if proving.len() == before {
            let lost = fits.iter().find(|one| (!one.ok || one.undone) && about(name, one));
            return unproved(match lost {
                Some(lost) => why::lost(lost),
                None => why::other(&good, &name.text),
            });
        }
    }
    if wanted.is_empty() {
        proving.clone_from(&good);
    }
    if claimed == ["remind"] && !objects.times.is_empty() {
        proving.retain(|one| objects.times.iter().any(|time| mentions(one, time)));
        if proving.is_empty() {
            return unproved(why::other(&good, &objects.times.join(", ")));
        }
    }
    let mut calls: Vec<String> = Vec::new();
    for one in evidence {
        if proving.iter().any(|proof| proof.call_id == one.call_id) {
            calls.push(one.call_id.to_owned());
        }
    }
    if let Some(count) = objects.count
        && class == "make"
        && calls.len() < count
        && !proving.iter().any(|one| classes(one).contains(&"run"))
    {
        return unproved(why::too_few(count, calls.len()));
    }
    proving.dedup_by_key(|one| one.call_id);
    Linked { action, calls, why: why::proved(&proving) }
}

/// The classes a claim stands for: "created a reminder" is about reminders.
fn refine(class: &str, objects: &Objects) -> Vec<String> {
    let looks = |kind: &&String| *kind == "query";
    let mut kinds: Vec<String> = match class {
        "make" => objects.kinds.iter().filter(|kind| !looks(kind)).cloned().collect(),
        // A query is run, too.
        "run" => objects.kinds.iter().filter(looks).cloned().collect(),
        _ => Vec::new(),
    };
    if kinds.is_empty() || class != "make" {
        kinds.push(class.to_owned());
    }
    kinds
}

fn action(class: &str, claimed: &[String]) -> String {
    match (class, claimed) {
        ("make", [one]) if one != "file" && one != "make" => one.clone(),
        ("make" | "transform", _) => "write".to_owned(),
        (class, _) => class.to_owned(),
    }
}

fn accepts(claimed: &[String], class: &str, objects: &Objects, one: &Evidence<'_>) -> bool {
    if class == "do" {
        return true;
    }
    let has = classes(one);
    let table = &proofs().accepts;
    let fits = |claim: &str| {
        let list = table.get(claim);
        list.is_some_and(|list| list.iter().any(|class| has.contains(&class.as_str())))
    };
    // Removing a line from a file means writing the file.
    let rewritten = class == "delete" && (objects.part || objects.names.iter().any(|name| name.source)) && fits("make");
    rewritten || claimed.iter().any(|claim| fits(claim))
}

/// Whether a proof must mention `name`; the source of something need not be written.
fn needed(name: &Name, class: &str, objects: &Objects) -> bool {
    if class == "transform" {
        // A merge or conversion keeps its sources; another file holds the result.
        return false;
    }
    let writes = matches!(class, "make" | "delete");
    if writes && name.kind == Kind::Quote && objects.names.iter().any(Name::is_target) {
        // The file is decisive; a quote beside it is what was changed in it.
        return false;
    }
    !(name.source && matches!(class, "make" | "draft" | "run" | "send" | "remember"))
}

/// Whether the call did or saw anything: a tool that only delivers the answer proves nothing.
pub(super) fn works(one: &Evidence<'_>) -> bool {
    proofs().tools.get(one.tool).is_none_or(|list| !list.is_empty())
}

fn classes(one: &Evidence<'_>) -> Vec<&'static str> {
    let Proofs { tools, commands, words, .. } = proofs();
    let mut all: Vec<&str> = Vec::new();
    if let Some(list) = tools.get(one.tool) {
        all.extend(list.iter().map(String::as_str));
    } else {
        let action = one.receipt.map_or("", |receipt| receipt.action.as_str());
        let names = one.tool.split(|c: char| !c.is_alphanumeric()).chain(action.split_whitespace());
        for name in names.take(20) {
            let name = name.to_lowercase();
            all.extend(words.get(&name).into_iter().flatten().map(String::as_str));
        }
    }
    let program = match one.arguments.get("argv").or_else(|| one.arguments.get("command")) {
        Some(Value::Array(argv)) => argv.first().and_then(Value::as_str),
        Some(Value::String(line)) => line.split_whitespace().next(),
        _ => None,
    };
    if let Some(program) = program
        && all.contains(&"run")
    {
        let name = program.rsplit('/').next().unwrap_or(program);
        all.extend(commands.get(name).into_iter().flatten().map(String::as_str));
    }
    all
}

fn about(name: &Name, one: &Evidence<'_>) -> bool {
    let same = |text: &str| match name.kind {
        Kind::Path => text.split(apart).chain([text]).any(|part| same_path(&name.text, part)),
        Kind::Address => text.to_lowercase().contains(address(&name.text)),
        _ => spoken(text).contains(&spoken(&name.text)),
    };
    if one.receipt.is_some_and(|receipt| same(&receipt.object)) {
        return true;
    }
    let quote = name.kind == Kind::Quote;
    let mut leaves = Vec::new();
    strings(one.arguments, quote, 0, &mut leaves);
    if leaves.iter().any(|text| same(text)) {
        return true;
    }
    (quote || proofs().names_in_content.contains(one.tool)) && same(one.content)
}

fn mentions(one: &Evidence<'_>, time: &str) -> bool {
    let mut leaves = Vec::new();
    strings(one.arguments, true, 0, &mut leaves);
    leaves.iter().any(|text| text.contains(time)) || one.receipt.is_some_and(|receipt| receipt.object.contains(time))
}

/// The strings in `value`; `texts` includes arguments that hold only text.
fn strings<'a>(value: &'a Value, texts: bool, depth: usize, into: &mut Vec<&'a str>) {
    match value {
        _ if depth > 8 => {}
        Value::String(text) => into.push(text),
        Value::Array(list) => {
            for item in list {
                strings(item, texts, depth + 1, into);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                if texts || !proofs().text_arguments.contains(key) {
                    strings(item, texts, depth + 1, into);
                }
            }
        }
        _ => {}
    }
}

fn apart(c: char) -> bool {
    c.is_whitespace() || "\"'`,;:()[]".contains(c)
}

fn same_path(claimed: &str, other: &str) -> bool {
    let other = other.to_lowercase();
    let (a, b) = (plain_path(claimed), plain_path(&other));
    if a.is_empty() || b.is_empty() {
        return false;
    }
    if let Some((head, tail)) = b.split_once('*') {
        let name = a.rsplit('/').next().unwrap_or(a);
        let fits = |text: &str| text.len() >= head.len() + tail.len() && text.starts_with(head) && text.ends_with(tail);
        return fits(a) || fits(name);
    }
    let within = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    let folder = claimed.ends_with('/') && b.strip_prefix(a).is_some_and(|rest| rest.starts_with('/'));
    within(a, b) || within(b, a) || folder
}

fn plain_path(path: &str) -> &str {
    path.trim_start_matches("./").trim_start_matches("/workspace/").trim_matches('/')
}

fn address(text: &str) -> &str {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    text.trim_start_matches("www.").trim_end_matches('/')
}

/// `text` as lower-case words separated by single spaces.
fn spoken(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
