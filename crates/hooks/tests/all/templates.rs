use serde_json::{Value, json};
use steward_hooks::{Headers, MAX_FILLED, Values, check_template, fill_template};

fn fill_from(text: &str, payload: &Value) -> String {
    let headers = Headers::new([("X-GitHub-Event", "issues"), ("Authorization", "Bearer secret")]);
    fill_template(
        text,
        &Values { payload, headers: &headers, event: "evt_1", hook: "Bugs", received: "2027-03-14 08:00" },
    )
}

fn payload() -> Value {
    json!({
        "issue": {"title": "It {{event}} broke", "number": 7, "labels": ["a", "b"], "user": null, "open": true},
        "items": [{"id": 1}, {"id": 2.5}], "a/b": "slash", "a key": "space", "t~": "tilde", "": {"x": "empty"}, "0": "zero",
    })
}

#[test]
fn fields_are_filled_in() {
    for (text, expected) in [
        ("plain text", "plain text"),
        ("", ""),
        ("{{event}} of {{hook}} at {{received}}", "evt_1 of Bugs at 2027-03-14 08:00"),
        ("{{ event }}{{event}}", "evt_1evt_1"),
        ("{{header.x-github-event}}/{{header.X-GitHub-Event}}", "issues/issues"),
        ("[{{header.x-missing}}]", "[]"),
        ("{{payload.issue.number}} {{payload.issue.open}} {{payload.issue.user}}", "7 true null"),
        ("{{payload.issue.labels}}", r#"["a","b"]"#),
        ("{{payload.issue.labels.1}}{{payload.items.0.id}}{{payload.items.1.id}}{{payload.0}}", "b12.5zero"),
        ("{{payload.items.01.id}}{{payload.items.-1.id}}{{payload.items.9.id}}{{payload.nope.x}}", ""),
        ("{{payload:/a~1b}} {{payload:/a key}} {{payload:/t~0}} {{payload://x}}", "slash space tilde empty"),
        ("{{payload:/items/1/id}}", "2.5"),
        // What is filled in is no template.
        ("{{payload.issue.title}}", "It {{event}} broke"),
        ("a } b }} c { d", "a } b }} c { d"),
        // What isn't valid stays.
        ("{{nope}} {{header.authorization}} {{event", "{{nope}} {{header.authorization}} {{event"),
        ("{{event {{hook}}", "{{event Bugs"),
        ("{{{{hook}}}}", "{{Bugs}}"),
    ] {
        assert_eq!(fill_from(text, &payload()), expected, "{text}");
    }
    let small = json!({"a": [1, "ü"]});
    assert_eq!(fill_from("{{payload}}", &small), "{\n  \"a\": [\n    1,\n    \"ü\"\n  ]\n}");
    assert_eq!(fill_from("{{payload:}}", &small), fill_from("{{payload}}", &small));
    assert_eq!(fill_from("{{payload}}", &json!("text")), "text");
}

#[test]
fn what_is_filled_in_cannot_become_a_field() {
    let payload = json!({"open": "{{", "name": "event", "close": "}}"});
    assert_eq!(fill_from("{{payload.open}}{{payload.name}}{{payload.close}}", &payload), "{{event}}");
    assert_eq!(fill_from("{{payload.open}}event}}", &payload), "{{event}}");
}

#[test]
fn what_is_filled_in_is_bounded() {
    let payload = json!({"long": "ü".repeat(300_000), "short": "s", "list": vec![1; 50_000]});
    let count = |text: &str| text.chars().count();
    let filled = fill_from("Before {{payload.long}} between {{payload.short}} after", &payload);
    let own = count("Before  between  after") + 2 * 40;
    let kept = MAX_FILLED - own;
    let note = format!("[… {} more characters]", 300_000 - kept);
    assert_eq!(filled, format!("Before {}{note} between [… 1 more characters] after", "ü".repeat(kept)));
    assert!(count(&filled) <= MAX_FILLED);
    for text in [
        "{{payload}}",
        "{{payload.list}}",
        "{{payload.long}}{{payload.list}}{{payload}}",
        &"{{payload}}".repeat(10),
        &format!("{}{{{{payload}}}}", "x".repeat(300_000)),
        &"{{event}}".repeat(30_000),
    ] {
        assert!(count(&fill_from(text, &payload)) <= MAX_FILLED, "{}", &text[..20]);
    }
    let twice = fill_from("{{payload.short}}{{payload.long}}{{payload.short}} end", &payload);
    assert!(twice.starts_with("sü") && twice.ends_with("[… 1 more characters] end"));
}

#[test]
fn templates_are_checked() {
    for text in [
        "",
        "no fields",
        "{{payload}}",
        "{{ payload.a-b_c.0.$x.@y.ü }}",
        "{{payload:/a~1b/c d}}",
        "{{payload:}}",
        "{{header.X-GitHub-Event}}",
        "{{event}}{{hook}}{{received}}",
        "}} {",
        "{ {event} }",
    ] {
        assert_eq!(check_template(text), Ok(()), "{text}");
    }
    for (text, problem, hint) in [
        ("{{paylod}}", "`{{paylod}}` is unknown.", "`{{payload}}`?"),
        ("{{payloads.issue.title}}", "unknown", "`{{payload.issue.title}}`?"),
        ("{{Payload.issue}}", "unknown", "`{{payload.issue}}`?"),
        ("{{headers.x-event}}", "unknown", "`{{header.x-event}}`?"),
        ("{{header}}", "unknown", "`{{header.x-github-event}}`?"),
        ("{{header:x-event}}", "unknown", "`{{header.x-event}}`?"),
        ("{{recieved}}", "unknown", "`{{received}}`?"),
        ("{{evnt}}", "unknown", "`{{event}}`?"),
        ("{{issue.title}}", "unknown", "`{{payload.issue.title}}`?"),
        ("{{title}}", "unknown", "`{{payload.title}}`?"),
        ("{{event.id}}", "unknown", "`{{event}}`?"),
        ("{{payload/issue/title}}", "unknown", "`{{payload:/issue/title}}`?"),
        ("{{payload['issue'].title}}", "unknown", "`{{payload.issue.title}}`?"),
        ("{{}}", "`{{}}` is unknown", "Write `{{payload}}`"),
        ("{{#if x}}", "unknown", "Write `{{payload}}`"),
        ("{{payload.items[0].id}}", "isn't a place", "`{{payload.items.0.id}}`"),
        ("{{payload.a key.b}}", "isn't a place", "`{{payload:/a key/b}}`"),
        ("{{payload.}}", "isn't a place", "JSON pointer"),
        ("{{payload..a}}", "isn't a place", "`{{payload:/a}}`"),
        ("{{payload:a}}", "doesn't begin with `/`", "`/issue/labels/0/name`"),
        ("{{payload:/a~b}}", "`~0` or `~1`", "`~1` means `/`"),
        ("{{header.}}", "isn't the name of a header", "X-GitHub-Event"),
        ("{{header.a b}}", "isn't the name of a header", "X-GitHub-Event"),
        ("{{header.Authorization}}", "holds a credential", "another header"),
        ("{{header.x-hub-signature-256}}", "holds a credential", "another header"),
        ("Read {{payload.issue", "`{{payload.issue` isn't closed", "`{{payload.issue}}`"),
        ("Read {{payload} and {{event}}", "isn't closed", "`{{payload}}`"),
        ("Read {{ event now", "isn't closed", "`{{event}}`"),
        ("{{", "isn't closed", "Write `{{payload}}`"),
        ("{{{{event}}}}", "isn't closed", "Write `{{payload}}`"),
        ("{{{event}}}", "`{{{event}}` is unknown", ""),
    ] {
        let error = check_template(text).expect_err(text);
        assert!(error.problem.contains(problem) && error.hint.contains(hint), "{text}: {error}");
        assert!(error.hint.ends_with(['.', '?']), "{error}");
    }
    let fields = "{{event}}".repeat(101);
    assert!(check_template(&fields).unwrap_err().problem.contains("101 fields"));
    assert_eq!(check_template(&fields[9..]), Ok(()));
    assert!(check_template(&"ü".repeat(50_001)).unwrap_err().problem.contains("50001 characters"));
    assert_eq!(check_template(&"ü".repeat(50_000)), Ok(()));
}
