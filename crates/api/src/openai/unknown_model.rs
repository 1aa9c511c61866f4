//! What a client is told that names a model which isn't there: the nearest name, and what its key may use.

use crate::model_name::PREFIX;
use crate::openai::OpenAiError;

/// Most names that an error lists.
const MAX_LISTED: usize = 20;
/// What clients put before a name.
const KINDS: [&str; 8] =
    ["connection/", "connections/", "connection:", "models/", "model/", "agents/", "agent/", "steward/"];

/// `known`: the models that the caller may use, connections with their prefix. `served`: connections by the models behind them.
pub(crate) fn unknown_model(name: &str, known: &[String], served: &[(String, String)]) -> OpenAiError {
    let shown: String = name.chars().take(80).collect();
    let what = match name.strip_prefix(PREFIX) {
        Some(connection) => format!("there is no connection `{}`", connection.chars().take(80).collect::<String>()),
        None => format!("there is no agent `{shown}`"),
    };
    let prefixed = format!("{PREFIX}{name}");
    let of_model =
        |wanted: &str| served.iter().find(|(model, _)| bare(model) == wanted).map(|(_, connection)| connection);
    let hint = if known.is_empty() {
        "this key opens no agent and no connection: give it some with `steward key`, or send another key".to_owned()
    } else if known.contains(&prefixed) {
        format!("`{shown}` is a connection: name the model `{prefixed}`")
    } else if let Some(near) = nearest(name, known).filter(|near| bare(near) == bare(name)) {
        format!("did you mean `{near}`? There are: {}", listed(known))
    } else if let Some(connection) = of_model(&bare(name)) {
        format!("it is the model of a connection: name the model `{PREFIX}{connection}`. There are: {}", listed(known))
    } else if let Some(near) = nearest(name, known) {
        format!("did you mean `{near}`? There are: {}", listed(known))
    } else {
        format!("there are: {}", listed(known))
    };
    OpenAiError::unknown(format!("{what}; {hint}"), "model")
}

/// A name without what says of which kind it is, in small letters.
fn bare(name: &str) -> String {
    let name = name.trim().to_lowercase();
    KINDS.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(&name).to_owned()
}

/// The one with the fewest letters to change, a third of them at most, or one that goes on where the name ends.
fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k str> {
    let wanted = bare(name);
    let length = wanted.chars().count();
    let edits = |one: &&String| {
        let one = bare(one);
        let longer = |long: &str, short: &str| {
            short.len() > 3
                && long.strip_prefix(short).is_some_and(|rest| rest.starts_with(['-', '_', '.', ':', '/', ' ']))
        };
        if longer(&one, &wanted) || longer(&wanted, &one) {
            return Some(1);
        }
        Some(strsim::damerau_levenshtein(&wanted, &one)).filter(|edits| *edits <= (length / 3).max(1))
    };
    let found = known.iter().filter_map(|one| Some((edits(&one)?, one)));
    found.min_by_key(|(edits, _)| *edits).map(|(_, one)| one.as_str())
}

fn listed(known: &[String]) -> String {
    let mut text = known.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if known.len() > MAX_LISTED {
        text.push_str(", … (all: GET /v1/models)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::unknown_model;

    fn told(name: &str, known: &[&str]) -> String {
        let known: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
        let served = [("claude-sonnet-4-5", "ant"), ("models/gemini-2.5-flash", "gem")];
        let served = served.map(|(model, connection)| (model.to_owned(), connection.to_owned()));
        unknown_model(name, &known, &served).message
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let known = ["steward", "clerk", "connection/up", "connection/gpt-4o-mini"];
        for (name, part) in [
            ("up", "`up` is a connection: name the model `connection/up`"),
            ("stewart", "did you mean `steward`?"),
            ("Steward", "did you mean `steward`?"),
            ("gpt-4o", "did you mean `connection/gpt-4o-mini`?"),
            ("connection/upp", "there is no connection `upp`; did you mean `connection/up`?"),
            ("connections/up", "did you mean `connection/up`?"),
            ("Connection/UP", "did you mean `connection/up`?"),
            ("agents/clerk", "did you mean `clerk`?"),
            ("models/gemini-2.5-flash", "name the model `connection/gem`"),
            ("gemini-2.5-flash", "name the model `connection/gem`"),
            ("connection/claude-sonnet-4-5", "name the model `connection/ant`"),
            ("nope", "there is no agent `nope`; there are: steward"),
            ("open", "there is no agent `open`; there are: steward"),
            ("zzz", "there are: steward, clerk, connection/up"),
        ] {
            assert!(told(name, &known).contains(part), "{name}: {}", told(name, &known));
        }
        assert!(told("steward", &[]).contains("this key opens no agent and no connection"));
        let only = told("steward", &["connection/up"]);
        assert!(only.ends_with("there are: connection/up"), "{only}");
    }
}
