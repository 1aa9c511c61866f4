//! Places of a call and filters over them, as people type them.

use serde_json::{Value, json};

/// What a header's name stands after.
const HEADER: &str = "header:";
/// What takes all filters, or the place of the id, away.
const NONE: &str = "none";

/// What `--event-id` says: a place, or null for where the way of signing says.
pub fn event_id(text: &str) -> Result<Value, String> {
    if text == NONE {
        return Ok(Value::Null);
    }
    place(text).ok_or_else(|| {
        format!("`{text}` is no place of an id; write header:NAME, a place in the payload such as /id, or none")
    })
}

/// What `--filter` says; null for `none`.
pub fn filter(text: &str) -> Result<Value, String> {
    if text == NONE {
        return Ok(Value::Null);
    }
    read_filter(text).ok_or_else(|| {
        format!(
            "`{text}` is no filter; write PLACE=VALUE, PLACE=VALUE,VALUE (one of them), PLACE*=TEXT (contains it), PLACE? (is \
             there), PLACE! (isn't there), or none. PLACE is header:NAME or a place in the payload such as /action: --filter \
             'header:x-github-event=issues,push' --filter '/action=opened'"
        )
    })
}

fn place(text: &str) -> Option<Value> {
    // What stands there belongs to a test that isn't one, such as `!=`.
    if text.ends_with(['!', '?', '*']) {
        return None;
    }
    match text.strip_prefix(HEADER) {
        Some("") => None,
        Some(name) => Some(json!({"header": name})),
        None => text.starts_with('/').then(|| json!({"pointer": text})),
    }
}

fn read_filter(text: &str) -> Option<Value> {
    let (before, asked, value) = match text.split_once('=') {
        Some((before, value)) => match before.strip_suffix('*') {
            Some(before) => (before, "contains", (!value.is_empty()).then(|| json!(value))?),
            None => match values(value)?.as_mut_slice() {
                [one] => (before, "equals", one.take()),
                many => (before, "one_of", json!(many)),
            },
        },
        None => match text.strip_suffix('?') {
            Some(before) => (before, "exists", json!(true)),
            None => (text.strip_suffix('!')?, "exists", json!(false)),
        },
    };
    let mut filter = place(before)?;
    filter[asked] = value;
    Some(filter)
}

/// The values between commas; all of it is one where it is JSON, such as a text in quotes with a comma in it.
fn values(text: &str) -> Option<Vec<Value>> {
    if let Ok(whole) = serde_json::from_str(text) {
        return Some(vec![whole]);
    }
    let one = |part: &str| {
        let part = part.trim();
        (!part.is_empty()).then(|| serde_json::from_str(part).unwrap_or_else(|_| json!(part)))
    };
    text.split(',').map(one).collect()
}

/// A filter as it is typed; as JSON where it can't be.
pub fn describe_filter(filter: &Value) -> String {
    let place = describe_place(filter);
    let value = |value: &Value| match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() && !text.contains([',', '"']) => {
            text.clone()
        }
        other => other.to_string(),
    };
    let fields = filter.as_object().into_iter().flatten();
    let mut typed = fields.filter_map(|(name, wanted)| match name.as_str() {
        "equals" => Some(format!("{place}={}", value(wanted))),
        "one_of" => {
            let all: Vec<String> = wanted.as_array().into_iter().flatten().map(value).collect();
            Some(format!("{place}={}", all.join(",")))
        }
        "contains" => Some(format!("{place}*={}", wanted.as_str().unwrap_or_default())),
        "exists" => Some(format!("{place}{}", if *wanted == true { "?" } else { "!" })),
        _ => None,
    });
    typed.next_back().unwrap_or_else(|| filter.to_string())
}

/// Empty for null.
pub fn describe_place(place: &Value) -> String {
    match (place["header"].as_str(), place["pointer"].as_str()) {
        (Some(name), _) => format!("{HEADER}{name}"),
        (_, pointer) => pointer.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{describe_filter, event_id, filter};
    use serde_json::{Value, json};

    #[test]
    fn filters_are_read_as_the_api_has_them() {
        for (typed, read) in [
            ("/action=opened", json!({"pointer": "/action", "equals": "opened"})),
            ("header:x-github-event=issues,push", json!({"header": "x-github-event", "one_of": ["issues", "push"]})),
            ("/number=5", json!({"pointer": "/number", "equals": 5})),
            ("/draft=false", json!({"pointer": "/draft", "equals": false})),
            ("/id=\"5\"", json!({"pointer": "/id", "equals": "5"})),
            ("/title=\"a, b\"", json!({"pointer": "/title", "equals": "a, b"})),
            ("/level=1,2,high", json!({"pointer": "/level", "one_of": [1, 2, "high"]})),
            ("/q=a=b", json!({"pointer": "/q", "equals": "a=b"})),
            ("/a~1b*=urgent", json!({"pointer": "/a~1b", "contains": "urgent"})),
            ("/draft!", json!({"pointer": "/draft", "exists": false})),
            ("header:x-retry?", json!({"header": "x-retry", "exists": true})),
        ] {
            assert_eq!(filter(typed), Ok(read.clone()), "{typed}");
            assert_eq!(filter(&describe_filter(&read)), Ok(read), "{typed} is shown as it is typed");
        }
        assert_eq!(filter("none"), Ok(Value::Null));
        for bad in ["", "action=opened", "/action", "/action!=closed", "header:=x", "/a=", "/a=b,,c", "/a*=", "?", "=x"]
        {
            let why = filter(bad).unwrap_err();
            assert!(why.contains("is no filter") && why.contains("PLACE=VALUE"), "{bad}: {why}");
        }
    }

    #[test]
    fn the_place_of_an_id_is_read() {
        assert_eq!(event_id("header:x-request-id"), Ok(json!({"header": "x-request-id"})));
        assert_eq!(event_id("/issue/id"), Ok(json!({"pointer": "/issue/id"})));
        assert_eq!(event_id("none"), Ok(Value::Null));
        assert!(event_id("id").unwrap_err().contains("header:NAME"));
    }
}
