use serde_json::{Value, json};
use steward_hooks::{Filter, Headers, check_filters};

fn check(filters: Value) -> Result<(), String> {
    let filters: Vec<Filter> = serde_json::from_value(filters).unwrap();
    let headers = Headers::new([("X-GitHub-Event", "issues"), ("X-Try", "3"), ("X-Live", "true"), ("X-Empty", "")]);
    let payload = json!({
        "action": "opened", "number": 7, "half": 2.0, "big": u64::MAX, "draft": false, "assignee": null, "empty": "",
        "labels": ["bug", "urgent"], "issue": {"title": "It's broken", "body": "x".repeat(500), "a/b": 1},
    });
    check_filters(&filters, &headers, &payload)
}

#[test]
fn each_test_says_what_passes() {
    for (filter, passes) in [
        (json!({"pointer": "/action", "equals": "opened"}), true),
        (json!({"pointer": "/action", "equals": "Opened"}), false),
        (json!({"pointer": "/number", "equals": 7}), true),
        (json!({"pointer": "/number", "equals": 7.0}), true),
        (json!({"pointer": "/number", "equals": "7"}), false),
        (json!({"pointer": "/half", "equals": 2}), true),
        (json!({"pointer": "/big", "equals": u64::MAX}), true),
        (json!({"pointer": "/big", "equals": u64::MAX - 1}), false),
        (json!({"pointer": "/draft", "equals": false}), true),
        (json!({"pointer": "/draft", "equals": null}), false),
        (json!({"pointer": "/assignee", "equals": null}), true),
        (json!({"pointer": "/missing", "equals": null}), false),
        (json!({"pointer": "/labels", "equals": ["bug", "urgent"]}), true),
        (json!({"pointer": "/labels", "equals": ["urgent", "bug"]}), false),
        (json!({"pointer": "/labels/1", "equals": "urgent"}), true),
        (json!({"pointer": "/issue/a~1b", "equals": 1}), true),
        (json!({"header": "X-GITHUB-EVENT", "equals": "issues"}), true),
        (json!({"header": "x-github-event", "equals": "push"}), false),
        (json!({"header": "x-try", "equals": 3}), true),
        (json!({"header": "x-try", "equals": "3"}), true),
        (json!({"header": "x-try", "equals": 4}), false),
        (json!({"header": "x-live", "equals": true}), true),
        (json!({"header": "x-github-event", "one_of": ["push", "issues"]}), true),
        (json!({"header": "x-github-event", "one_of": ["push", 3]}), false),
        (json!({"pointer": "/number", "one_of": ["7", null, 7]}), true),
        (json!({"pointer": "/missing", "one_of": ["a", null]}), false),
        (json!({"pointer": "/issue/title", "contains": "broken"}), true),
        (json!({"pointer": "/issue/title", "contains": "Broken"}), false),
        (json!({"pointer": "/labels", "contains": "bug"}), true),
        (json!({"pointer": "/labels", "contains": "bu"}), false),
        (json!({"pointer": "/number", "contains": "7"}), false),
        (json!({"pointer": "/issue", "contains": "title"}), false),
        (json!({"header": "x-github-event", "contains": "issue"}), true),
        (json!({"pointer": "/action", "exists": true}), true),
        (json!({"pointer": "/action", "exists": false}), false),
        (json!({"pointer": "/empty", "exists": true}), true),
        (json!({"pointer": "/draft", "exists": true}), true),
        (json!({"pointer": "/assignee", "exists": true}), false),
        (json!({"pointer": "/assignee", "exists": false}), true),
        (json!({"pointer": "/missing", "exists": false}), true),
        (json!({"pointer": "", "exists": true}), true),
        (json!({"header": "x-empty", "exists": true}), true),
        (json!({"header": "x-missing", "exists": false}), true),
        (json!({"header": "x-missing", "equals": ""}), false),
    ] {
        assert_eq!(check(json!([filter])).is_ok(), passes, "{filter}");
    }
    assert_eq!(check(json!([])), Ok(()));
}

#[test]
fn the_first_that_does_not_pass_is_named() {
    for (filters, expected) in [
        (
            json!([
                {"pointer": "/number", "equals": 7},
                {"pointer": "/action", "equals": "closed"},
                {"header": "x-github-event", "equals": "push"},
            ]),
            r#"A filter wants `/action` of the payload to be "closed", but it is "opened"."#,
        ),
        (
            json!([{"header": "X-GitHub-Event", "one_of": ["push", "ping"]}]),
            r#"A filter wants the header `x-github-event` to be one of ["push","ping"], but it is "issues"."#,
        ),
        (
            json!([{"pointer": "/missing", "contains": "x"}]),
            r#"A filter wants `/missing` of the payload to contain "x", but it isn't there."#,
        ),
        (
            json!([{"pointer": "/action", "exists": false}]),
            r#"A filter wants `/action` of the payload to have no value, but it is "opened"."#,
        ),
        (
            json!([{"pointer": "/assignee", "exists": true}]),
            "A filter wants `/assignee` of the payload to have a value, but it is null.",
        ),
    ] {
        assert_eq!(check(filters).unwrap_err(), expected);
    }
    let long = check(json!([{"pointer": "", "equals": "y".repeat(500)}])).unwrap_err();
    let (wanted, found) = long.split_once(", but it is ").unwrap();
    assert_eq!(wanted.strip_prefix("A filter wants the payload to be ").unwrap().chars().count(), 80);
    assert_eq!(found.strip_suffix('.').unwrap().chars().count(), 80);
    assert!(found.ends_with("….") && wanted.ends_with('…'), "{long}");
}
