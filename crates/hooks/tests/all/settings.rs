//! Settings as JSON.

use serde_json::{Value, json};
use steward_hooks::{Filter, HeaderName, Headers, Place, Pointer, Signing};

use super::support::all_signings;

#[test]
fn ways_of_signing_are_read_and_written() {
    for (text, written) in [
        (json!({"kind": "standard"}), json!({"kind": "standard"})),
        (json!({"kind": "token"}), json!({"kind": "token", "header": "authorization"})),
        (json!({"kind": "token", "header": "X-Api-Key"}), json!({"kind": "token", "header": "x-api-key"})),
    ] {
        let signing: Signing = serde_json::from_value(text).unwrap();
        assert_eq!(serde_json::to_value(signing).unwrap(), written);
    }
    for signing in all_signings() {
        let written = serde_json::to_value(signing.clone()).unwrap();
        assert_eq!(serde_json::from_value::<Signing>(written).unwrap(), signing);
    }
}

#[test]
fn broken_settings_are_refused() {
    fn read<T: serde::de::DeserializeOwned>(value: Value) -> Option<String> {
        serde_json::from_value::<T>(value).err().map(|error| error.to_string())
    }
    let many: Vec<usize> = (0..101).collect();
    for (error, expected) in [
        (read::<Signing>(json!({"kind": "hmac"})), "unknown variant `hmac`"),
        (read::<Signing>(json!({})), "missing field `kind`"),
        (read::<Signing>(json!({"kind": "github", "secret": "x"})), "unknown field `secret`"),
        (read::<Signing>(json!({"kind": "github", "header": "x-token"})), "Only the kind `token` has a `header`."),
        (read::<Signing>(json!({"kind": "token", "header": "X Token"})), "isn't the name of a header"),
        (read::<Signing>(json!({"kind": "token", "header": ""})), "isn't the name of a header"),
        (read::<Place>(json!({})), "neither a `header` nor a `pointer`"),
        (read::<Place>(json!({"header": "x", "pointer": "/x"})), "both a `header` and a `pointer`"),
        (read::<Place>(json!({"pointer": "action"})), "doesn't begin with `/`"),
        (read::<Place>(json!({"pointer": "/a~2"})), "`~0` or `~1`"),
        (read::<Place>(json!({"pointer": "/".repeat(501)})), "too long"),
        (read::<Place>(json!({"header": "Authorization"})), "holds a credential"),
        (read::<Place>(json!({"path": "/a"})), "unknown field `path`"),
        (read::<Place>(json!("/a")), "invalid type"),
        (read::<Filter>(json!({"pointer": "/a"})), "exactly one test"),
        (read::<Filter>(json!({"equals": 1})), "neither a `header` nor a `pointer`"),
        (read::<Filter>(json!({"pointer": "/a", "equals": 1, "exists": true})), "exactly one test"),
        (read::<Filter>(json!({"pointer": "/a", "equal": 1})), "unknown field `equal`"),
        (read::<Filter>(json!({"pointer": "/a", "one_of": []})), "`one_of` has 0 values"),
        (read::<Filter>(json!({"pointer": "/a", "one_of": many})), "`one_of` has 101 values"),
        (read::<Filter>(json!({"pointer": "/a", "contains": ""})), "`contains` is empty"),
        (read::<Filter>(json!({"pointer": "/a", "contains": 5})), "invalid type"),
        (read::<Filter>(json!({"header": "cookie", "exists": true})), "holds a credential"),
    ] {
        let error = error.unwrap_or_else(|| panic!("no error; expected {expected}"));
        assert!(error.contains(expected), "{error}\nexpected {expected}");
    }
}

#[test]
fn filters_and_places_are_written_as_they_are_read() {
    for value in [
        json!({"pointer": "/action", "equals": "opened"}),
        json!({"pointer": "/action", "equals": null}),
        json!({"header": "x-github-event", "one_of": ["issues", "push", 3]}),
        json!({"pointer": "", "contains": "text"}),
        json!({"header": "x-a", "exists": false}),
    ] {
        let filter: Filter = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(filter).unwrap(), value);
    }
    for value in [json!({"header": "x-a"}), json!({"pointer": "/a~1b"})] {
        let place: Place = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(place).unwrap(), value);
    }
    assert_eq!(HeaderName::parse("X-GitHub-Event").unwrap().as_str(), "x-github-event");
    assert_eq!(Pointer::parse("/a/0").unwrap().find(&json!({"a": [7]})), Some(&json!(7)));
}

#[test]
fn headers_are_found_in_any_case_and_bounded() {
    let long = "ü".repeat(9_000);
    let headers = Headers::new([("X-One", " first\t"), ("x-one", "second"), ("X-Long", &long)]);
    assert_eq!(headers.get("X-ONE"), Some("first"));
    assert_eq!(headers.get("x-two"), None);
    assert_eq!(headers.get("x-long").map(str::len), Some(8_192));
    let written = serde_json::to_value(&headers).unwrap();
    assert_eq!(written[0], json!(["x-one", " first\t"]));
    assert_eq!(serde_json::from_value::<Headers>(written).unwrap(), headers);
}

#[test]
fn credentials_are_removed() {
    let headers = Headers::new([
        ("X-GitHub-Event", "push"),
        ("Authorization", "Bearer x"),
        ("X-Hub-Signature-256", "sha256=00"),
        ("X-Api-Key", "secret"),
        ("Cookie", "a=b"),
    ]);
    let names = |signing: &Signing| -> Vec<String> {
        signing.remove_credentials(&headers).iter().map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(names(&Signing::Github), ["x-github-event", "x-api-key"]);
    let token = serde_json::from_value(json!({"kind": "token", "header": "x-api-key"})).unwrap();
    assert_eq!(names(&token), ["x-github-event"]);
}
