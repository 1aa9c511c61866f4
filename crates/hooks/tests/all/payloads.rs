use serde_json::json;
use steward_hooks::read_payload;

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn bodies_are_read_by_their_type() {
    for (media, body, expected) in [
        (Some("application/json"), r#"{"a": 1}"#, json!({"a": 1})),
        (Some("Application/JSON; charset=utf-8"), " [1, 2] ", json!([1, 2])),
        (Some("application/json"), "\"text\"", json!("text")),
        (Some("application/cloudevents+json"), r#"{"a": null}"#, json!({"a": null})),
        (Some("text/json"), "5", json!(5)),
        (Some("application/json"), "\u{feff}{}", json!({})),
        (Some("application/json"), "", json!({})),
        (None, "", json!({})),
        (None, "\r\n", json!({})),
        (None, r#"{"a": 1}"#, json!({"a": 1})),
        (None, "hello", json!({"text": "hello"})),
        (None, "{not json", json!({"text": "{not json"})),
        // Amazon SNS says that its JSON is text.
        (Some("text/plain; charset=UTF-8"), r#"{"Type": "Notification"}"#, json!({"Type": "Notification"})),
        (Some("text/plain"), "5", json!({"text": "5"})),
        (Some("text/xml"), "<a/>", json!({"text": "<a/>"})),
        (Some("application/octet-stream"), "a\tb\r\nc", json!({"text": "a\tb\r\nc"})),
        (Some("nonsense"), "hello", json!({"text": "hello"})),
        (Some(FORM), "a=1&b=x+y%21&c=&d", json!({"a": "1", "b": "x y!", "c": "", "d": ""})),
        (Some(FORM), "a=1&a=2&&a=3&b=4", json!({"a": ["1", "2", "3"], "b": "4"})),
        (Some(FORM), "a=%zz%4&%C3%BC=%FF&=x", json!({"a": "%zz%4", "ü": "\u{fffd}", "": "x"})),
        (Some(FORM), "payload=%7B%22action%22%3A+%22opened%22%7D", json!({"action": "opened"})),
        (Some(FORM), "x=1&payload=%5B1%5D", json!([1])),
        (Some(FORM), "payload=hello&x=1", json!({"payload": "hello", "x": "1"})),
        (Some(FORM), "payload=5", json!({"payload": "5"})),
        // What `curl -d '{"a": "b&c=d"}'` sends.
        (Some(FORM), r#"{"a": "b&c=d"}"#, json!({"a": "b&c=d"})),
        (
            Some("application/x-www-form-urlencoded; charset=utf-8"),
            "command=%2Fdeploy&text=api+now",
            json!({"command": "/deploy", "text": "api now"}),
        ),
    ] {
        assert_eq!(read_payload(media, body.as_bytes()), Ok(expected), "{media:?}, {body}");
    }
}

#[test]
fn what_is_not_text_is_refused() {
    let deep = "[".repeat(10_000);
    for (media, body, problem) in [
        (Some("application/json"), &b"{\"a\": "[..], "isn't valid JSON: EOF while parsing a value at line 1 column 6"),
        (Some("application/json"), b"hello", "isn't valid JSON"),
        (Some("application/json"), b"{} {}", "isn't valid JSON: trailing characters"),
        (Some("application/json"), deep.as_bytes(), "recursion limit"),
        (Some("image/png"), b"\x89PNG\r\n", "isn't text in UTF-8 (`image/png`)"),
        (None, b"\xff\xfe", "isn't text in UTF-8 (no content type)"),
        (Some("text/plain; charset=iso-8859-1"), b"Gr\xfc\xdfe", "isn't text in UTF-8"),
        (Some("text/plain"), b"a\0b", "isn't text in UTF-8"),
        (Some("application/json"), b"\x1f\x8b\x08", "isn't text in UTF-8"),
        (Some("multipart/form-data; boundary=x"), b"--x\r\n", "`multipart/form-data`"),
    ] {
        let error = read_payload(media, body).unwrap_err();
        assert!(error.problem.contains(problem), "{media:?}: {error}");
        assert!(error.problem.ends_with('.') && error.hint.ends_with('.'), "{error}");
    }
    // No JSON, but text.
    assert_eq!(read_payload(None, deep.as_bytes()), Ok(json!({"text": deep})));
}
