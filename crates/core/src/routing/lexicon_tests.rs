#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Lexicon, Sheet};
use serde_json::json;

fn lexicon() -> Lexicon {
    let sheet: Sheet = serde_json::from_value(json!({
        "about": "", "order": ["speak", "run"],
        "sets": {"language": ["german", "french"]},
        "ignore": ["long run"],
        "tasks": {
            "speak": {"en": {"words": ["speak|s|ing", "speak||s * @language"], "weak": ["in @language"]}},
            "run": {"en": {"words": ["run||s", "كتب"]}}
        }
    }))
    .unwrap();
    Lexicon::new(&sheet)
}

fn check(message: &str, speak: (u32, &[&str]), run: (u32, &[&str])) {
    let found = lexicon().search(message);
    let got: Vec<(u32, Vec<&str>)> =
        found.iter().map(|one| (one.points, one.words.iter().map(String::as_str).collect())).collect();
    let expected = [(speak.0, speak.1.to_vec()), (run.0, run.1.to_vec())];
    assert_eq!(got, expected, "{message}");
}

#[test]
fn whole_words_and_the_longest_phrase() {
    check("He runs.", (0, &[]), (6, &["runs"]));
    check("RUN!", (0, &[]), (6, &["run"]));
    check("rerun the trunk runt", (0, &[]), (0, &[]));
    check("in the long run", (0, &[]), (0, &[]));
    check("run, then run again, it runs", (0, &[]), (6, &["run"]));
    check("speak a bit of German", (12, &["speak a bit of german"]), (0, &[]));
    check("say it in French", (3, &["in french"]), (0, &[]));
    check("speak and run in german", (12, &["speak and run in german"]), (6, &["run"]));
    check("speak one two three four five six seven german", (0, &[]), (0, &[]));
    check("", (0, &[]), (0, &[]));
    check(" *|@ ", (0, &[]), (0, &[]));
}

#[test]
fn what_comes_later_counts_less_and_the_far_end_not_at_all() {
    let filler = "word ".repeat(30);
    check(&format!("{filler} run"), (0, &[]), (2, &["run"]));
    let filler = "ö".repeat(5000);
    check(&format!("{filler} run"), (0, &[]), (0, &[]));
}

#[test]
fn arabic_words_with_what_is_written_together_with_them() {
    check("وكتب", (0, &[]), (6, &["وكتب"]));
    check("الكُتب", (0, &[]), (6, &["الكُتب"]));
    check("مكتبة", (0, &[]), (0, &[]));
}
