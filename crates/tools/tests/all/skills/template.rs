//! Values that try to leave their place, in every place.

use secrecy::SecretString;
use serde_json::{Value, json};
use steward_core::ports::OpenedCredential;
use steward_tools::skills::template::{
    Secrets, Template, TemplateError, TemplateUse, Values, argv, check_argv, check_json, check_text, check_url,
    json as filled, quote, remote_line, text, url,
};

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "n": {"type": "integer", "default": 7}, "o": {"type": "object"},
    }})
}

fn values<'a>(arguments: &'a Value, schema: &'a Value) -> Values<'a> {
    Values { arguments, schema, result: None, secrets: Secrets::Open(None), strict: false }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// Values that have broken out of templates elsewhere.
const NASTY: &[&str] = &[
    "; rm -rf /",
    "$(touch /tmp/x)",
    "`id`",
    "a && b || c",
    "a | b > c < d",
    "'; DROP TABLE users; --",
    "\"}, \"admin\": true, \"x\": {\"",
    "\\\"",
    "a\nb",
    "a\r\nX-Injected: 1",
    "../../etc/passwd",
    "..",
    ".",
    "%2e%2e",
    "%252e%252e/x",
    "..\\..\\x",
    "@evil.example",
    "//evil.example/",
    "https://evil.example/",
    "#frag",
    "?x=1&y=2",
    "a b",
    "日本 ①",
    "*",
    "~",
    "$HOME",
    "{{b}}",
    "{{credential.token}}",
    "!!",
    "x\u{202e}y",
];

#[test]
fn json_values_stay_values() {
    let schema = schema();
    let source = json!({"x": "{{a}}", "y": "say {{a}} twice: {{a}}", "list": ["{{a}}", "{{b}}"], "gone": "{{b}}"});
    for nasty in NASTY {
        let arguments = json!({"a": nasty});
        let body = filled(&source, &values(&arguments, &schema)).unwrap();
        let again: Value = serde_json::from_str(&body.to_string()).unwrap();
        let expect = json!({"x": nasty, "y": format!("say {nasty} twice: {nasty}"), "list": [nasty]});
        assert_eq!(again, expect, "{nasty}");
    }
    // Types are kept; an object is an object only where nothing else stands beside it.
    let arguments = json!({"o": {"k": [1, "2"]}, "a": null});
    let source = json!({"o": "{{o}}", "t": "o={{o}}", "n": "{{n}}", "d": "{{n|default:9}}", "k": "{{o.k.1}}", "z": "{{a|default:q}}"});
    assert_eq!(
        filled(&source, &values(&arguments, &schema)).unwrap(),
        json!({"o": {"k": [1, "2"]}, "t": "o={\"k\":[1,\"2\"]}", "n": 7, "d": 9, "k": "2", "z": "q"})
    );
}

#[test]
fn urls_keep_their_host_and_folder() {
    let schema = schema();
    let source = "https://api.example.org:8443/v1/{{a}}/items?q={{a}}#{{a}}";
    check_url(source, &schema).unwrap();
    for nasty in NASTY {
        let arguments = json!({"a": nasty});
        match url(source, &values(&arguments, &schema)) {
            Ok(url) => {
                assert_eq!(url.origin().ascii_serialization(), "https://api.example.org:8443");
                let segments: Vec<_> = url.path_segments().unwrap().collect();
                assert_eq!((segments.len(), segments[0], segments[2]), (3, "v1", "items"), "{nasty}: {url}");
                let pairs: Vec<_> = url.query_pairs().collect();
                assert_eq!(pairs, [("q".into(), (*nasty).into())], "{nasty}: {url}");
                assert!(url.username().is_empty() && url.password().is_none());
            }
            Err(error) => {
                assert!(matches!(error, TemplateError::Dots(_)), "{nasty}: {error}");
                assert!(nasty.contains("..") || nasty.contains("2e") || *nasty == ".", "{nasty}");
            }
        }
    }
    for dots in ["..", ".", "../x", "a/../b", "%2e%2E", "%252e%252e", "..\\x"] {
        let arguments = json!({"a": dots});
        let error = url(source, &values(&arguments, &schema)).unwrap_err();
        assert_eq!(error, TemplateError::Dots("a".into()), "{dots}");
    }
    // What is harmless by itself and not beside the fixed text.
    let arguments = json!({"a": "."});
    assert!(url("https://x.example/.{{b|default:.}}/y", &values(&arguments, &schema)).is_err());
    let empty = json!({"a": ""});
    assert!(matches!(url(source, &values(&empty, &schema)), Err(TemplateError::Missing { .. })));
    assert!(matches!(url(source, &values(&json!({}), &schema)), Err(TemplateError::Missing { .. })));
}

#[test]
fn hosts_are_fixed_text() {
    for bad in [
        "https://{{a}}/x",
        "https://{{a}}.example.org/x",
        "https://example.org{{a}}",
        "https://example.org{{a}}/x",
        "https://example.org:{{n}}/x",
        "https://user@example.org/{{a}}",
        "https://user:{{a}}@example.org/",
        "https://example.org\\{{a}}/",
        "{{a}}",
        "{{a}}://example.org/",
        "/path/{{a}}",
        "ftp://example.org/{{a}}",
        "file:///{{a}}",
        "https:///{{a}}",
        "https://exa mple.org/{{a}}",
        "https://example.org/../{{a}}",
        "https://example.org/%2e%2e/{{a}}",
    ] {
        assert!(check_url(bad, &schema()).is_err(), "{bad}");
    }
    for good in [
        "https://example.org",
        "http://example.org:8080/{{a}}",
        "https://example.org/?q={{a}}",
        "https://[2001:db8::1]/x/{{a}}",
        "https://example.org/a..b/{{a}}.json",
    ] {
        check_url(good, &schema()).unwrap();
    }
}

#[test]
fn headers_hold_one_line() {
    let schema = schema();
    let template = Template::parse("v={{a}}").unwrap();
    for bad in ["a\r\nX: 1", "a\nb", "a\rb", "a\0b", "\u{7f}", "\u{85}x"] {
        let arguments = json!({"a": bad});
        let error = template.header("X-A", &values(&arguments, &schema)).unwrap_err();
        assert!(error.to_string().contains("line break"), "{bad:?}: {error}");
    }
    let arguments = json!({"a": "x; y=\"z\", ü\t1"});
    let header = template.header("X-A", &values(&arguments, &schema)).unwrap();
    assert_eq!(header.unwrap(), "v=x; y=\"z\", ü\t1");
    assert_eq!(template.header("X-A", &values(&json!({}), &schema)).unwrap(), None);
}

#[test]
fn argv_elements_stay_one() {
    let schema = schema();
    let command = words(&["tool", "--name={{a}}", "x{{a}}y", "{{b}}", "end"]);
    check_argv(&command, &schema).unwrap();
    for nasty in NASTY {
        let arguments = json!({"a": nasty});
        let argv = argv(&command, &values(&arguments, &schema)).unwrap();
        assert_eq!(argv, ["tool".to_owned(), format!("--name={nasty}"), format!("x{nasty}y"), "end".to_owned(),]);
    }
    let nul = json!({"a": "x\0y"});
    assert!(argv(&command, &values(&nul, &schema)).is_err());
    for option in ["-rf", "--output=/etc/passwd", "-"] {
        let arguments = json!({"b": option});
        let error = argv(&command, &values(&arguments, &schema)).unwrap_err();
        assert!(matches!(error, TemplateError::Option { .. }), "{error}");
        // An empty value before it does not hide it.
        let two = words(&["tool", "{{a}}{{b}}"]);
        let arguments = json!({"a": "", "b": option});
        assert!(argv(&two, &values(&arguments, &schema)).is_err());
        let allowed = words(&["tool", "{{b|option}}"]);
        let arguments = json!({"b": option});
        assert_eq!(argv(&allowed, &values(&arguments, &schema)).unwrap()[1], option);
    }
    let negative = json!({"n": -9});
    assert!(argv(&words(&["kill", "{{n}}"]), &values(&negative, &schema)).is_err());
    for bad in [words(&[]), words(&["{{a}}"]), words(&["{{a}}/bin/x"]), words(&[" "])] {
        assert!(check_argv(&bad, &schema).is_err(), "{bad:?}");
    }
}

#[test]
fn remote_shells_read_the_same_words() {
    let schema = schema();
    let command = words(&["printf", "%s\\0", "{{a}}", "fixed word's"]);
    for nasty in NASTY {
        let arguments = json!({"a": nasty});
        let line = remote_line(&command, &values(&arguments, &schema)).unwrap();
        let out = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
        let expect = format!("{nasty}\0fixed word's\0");
        assert_eq!(String::from_utf8(out.stdout).unwrap(), expect, "{line}");
    }
    assert_eq!(quote(""), "''");
    assert_eq!(quote("a-b_c/d.e:f,g+h@i"), "a-b_c/d.e:f,g+h@i");
    assert_eq!(quote("=x"), "'=x'");
}

#[test]
fn unknown_and_broken_placeholders() {
    for (source, expect) in [
        ("{{c}}", "its inputs are a, b, n, o"),
        ("{{result.id}}", "no input"),
        ("{{a", "not closed"),
        ("{{}}", "no placeholder"),
        ("{{a b}}", "no placeholder"),
        ("{{a|upper}}", "no placeholder"),
        ("{{.a}}", "no placeholder"),
        ("{{env(\"HOME\")}}", "no placeholder"),
    ] {
        let error = check_text(source, TemplateUse::Text, &schema()).unwrap_err().to_string();
        assert!(error.contains(expect), "{source}: {error}");
    }
    let fixed = json!({"{{a}}": 1});
    assert!(check_json(&fixed, TemplateUse::Body, &schema()).is_err());
    check_text("{{result.id}} {{a}}", TemplateUse::Compensation, &schema()).unwrap();
    let values_of = json!({"a": "1"});
    let got = text("\\{{a}} is {{a}}, { } }}", &values(&values_of, &schema())).unwrap();
    assert_eq!(got.unwrap(), "{{a}} is 1, { } }}");
}

#[test]
fn credentials_stand_where_only_the_receiver_looks() {
    let source = "Bearer {{credential.token}}";
    for (place, fine) in [
        (TemplateUse::Argv, false),
        (TemplateUse::Url, false),
        (TemplateUse::Query, false),
        (TemplateUse::Sql, false),
        (TemplateUse::Text, false),
        (TemplateUse::Compensation, false),
        (TemplateUse::Header, true),
        (TemplateUse::Body, true),
        (TemplateUse::Stdin, true),
        (TemplateUse::Env, true),
    ] {
        assert_eq!(check_text(source, place, &schema()).is_ok(), fine, "{place}");
    }
    assert!(check_argv(&words(&["curl", source]), &schema()).is_err());
    assert!(check_url("https://x.example/?k={{credential.key}}", &schema()).is_err());
    let credential = json!({
        "id": super::world::id(1), "name": "c", "kind": "token", "description": "", "shown": {}, "secret": [],
        "roles": [], "discoverable": false, "created_at": 0, "changed_at": 0,
    });
    let opened = OpenedCredential {
        credential: serde_json::from_value(credential).unwrap(),
        fields: [("token".to_owned(), SecretString::from("s3cret"))].into(),
    };
    let (arguments, schema) = (json!({"a": "{{credential.token}}"}), schema());
    let mut values = values(&arguments, &schema);
    values.secrets = Secrets::Open(Some(&opened));
    assert_eq!(text(source, &values).unwrap().unwrap(), "Bearer s3cret");
    // A value is never read as a template.
    assert_eq!(text("{{a}}", &values).unwrap().unwrap(), "{{credential.token}}");
    values.secrets = Secrets::Hidden;
    assert_eq!(text(source, &values).unwrap().unwrap(), "Bearer [credential.token]");
}
