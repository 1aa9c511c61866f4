//! What a client is told that names a model which isn't there: the nearest name, and what its key may use.

use crate::model_name::PREFIX;
use crate::openai::OpenAiError;

/// Most names that an error lists.
const MAX_LISTED: usize = 20;
/// How like the nearest name must be, of 1.
const NEAR: f64 = 0.75;

/// `known`: the models that the caller may use, connections with their prefix.
pub(crate) fn unknown_model(name: &str, known: &[String]) -> OpenAiError {
    let shown: String = name.chars().take(80).collect();
    let what = match name.strip_prefix(PREFIX) {
        Some(connection) => format!("there is no connection `{}`", connection.chars().take(80).collect::<String>()),
        None => format!("there is no agent `{shown}`"),
    };
    let prefixed = format!("{PREFIX}{name}");
    let hint = if known.is_empty() {
        "this key opens no agent and no connection: give it some with `steward key`, or send another key".to_owned()
    } else if known.contains(&prefixed) {
        format!("`{shown}` is a connection: name the model `{prefixed}`")
    } else if let Some(near) = nearest(name, known) {
        format!("did you mean `{near}`? There are: {}", listed(known))
    } else {
        format!("there are: {}", listed(known))
    };
    OpenAiError::unknown(format!("{what}; {hint}"), "model")
}

/// Also without the prefix of connections, and whatever the case of letters.
fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k str> {
    let bare = |text: &str| text.strip_prefix(PREFIX).unwrap_or(text).to_lowercase();
    let wanted = bare(name);
    let likeness = |one: &&String| strsim::jaro_winkler(&wanted, &bare(one));
    let best = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(&best) >= NEAR).then_some(best.as_str())
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
        unknown_model(name, &known).message
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
            ("zzz", "there are: steward, clerk, connection/up"),
        ] {
            assert!(told(name, &known).contains(part), "{name}: {}", told(name, &known));
        }
        assert!(told("steward", &[]).contains("this key opens no agent and no connection"));
        let only = told("steward", &["connection/up"]);
        assert!(only.ends_with("there are: connection/up"), "{only}");
    }
}
