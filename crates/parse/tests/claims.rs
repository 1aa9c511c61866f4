//! Promises and claims of actions (RUN-9).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde::Deserialize;
use steward_parse::claims::{Kind, Patterns, false_completion};

#[derive(Deserialize)]
struct File {
    group: Vec<Group>,
    none: Texts,
}

#[derive(Deserialize)]
struct Group {
    kind: Kind,
    language: String,
    texts: Vec<String>,
}

#[derive(Deserialize)]
struct Texts {
    texts: Vec<String>,
}

#[test]
fn all_cases() {
    let file: File = toml::from_str(include_str!("data/claims.toml")).unwrap();
    let mut wrong = Vec::new();
    for group in &file.group {
        for text in &group.texts {
            match false_completion(text) {
                Some(hit) if hit.kind == group.kind && hit.language == group.language => {
                    assert!(text.get(hit.range.clone()).is_some(), "{text}: {hit:?}");
                }
                hit => wrong.push(format!(
                    "{text}: {hit:?}, expected {:?} {}",
                    group.kind, group.language
                )),
            }
        }
    }
    for text in &file.none.texts {
        if let Some(hit) = false_completion(text) {
            wrong.push(format!("{text}: {hit:?}, expected none"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_file_holds_enough() {
    let all = Patterns::read(include_str!("../data/false-completion.toml")).unwrap();
    assert!(all.count(Kind::Future, "en") >= 20 && all.count(Kind::Past, "en") >= 50);
    for language in ["de", "fr", "es", "ar"] {
        assert!(all.count(Kind::Future, language) >= 5, "{language}");
        assert!(all.count(Kind::Past, language) >= 6, "{language}");
    }
}

#[test]
fn a_file_that_is_wrong_says_so() {
    let lang = "[lang.en]\nobj = 'x'\ndid = 'y'\nguard = 'z'\nnot_future = 'z'\n";
    for (text, part) in [
        ("x = 1".to_owned(), "can't be read"),
        (
            format!("{lang}[[rule]]\nlang = \"xx\"\nkind = \"past\"\npatterns = ['a']"),
            "[lang.xx]",
        ),
        (
            format!("{lang}[[rule]]\nlang = \"en\"\nkind = \"past\"\npatterns = ['(']"),
            "no regular expression",
        ),
    ] {
        let error = Patterns::read(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn the_claim_is_found_amid_other_text() {
    let text = "Hello Ada.\n\nThe sum is 42. I've saved it to notes.md.\n";
    let hit = false_completion(text).unwrap();
    assert!(text[hit.range].starts_with("I've saved"));
}
