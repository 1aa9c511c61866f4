#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
//! The check on labelled answers and on broken text.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use steward_core::deep::is_multi_step;
use steward_core::receipts::{Evidence, Receipts, Verdict, check, false_completion};
use steward_core::tool::Receipt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    #[expect(dead_code, reason = "for the reader of the data")]
    lang: String,
    #[expect(dead_code, reason = "for the reader of the data")]
    kind: String,
    answer: String,
    evidence: Vec<Call>,
    expect: Verdict,
    claims: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    #[serde(rename = "call_id")]
    id: String,
    tool: String,
    arguments: Value,
    #[serde(default)]
    receipt: Option<Receipt>,
    #[serde(default = "yes")]
    ok: bool,
    #[serde(default)]
    undone: bool,
    #[serde(default)]
    content: String,
}

fn yes() -> bool {
    true
}

fn run(case: &Case) -> Receipts {
    let evidence: Vec<_> = case.evidence.iter().map(Call::evidence).collect();
    check("", &case.answer, &evidence)
}

impl Call {
    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            call_id: &self.id,
            tool: &self.tool,
            arguments: &self.arguments,
            receipt: self.receipt.as_ref(),
            ok: self.ok,
            undone: self.undone,
            content: &self.content,
        }
    }
}

/// Hits, false alarms and misses.
#[derive(Default)]
struct Score(u32, u32, u32);

impl Score {
    fn precision(&self) -> f64 {
        f64::from(self.0) / f64::from((self.0 + self.1).max(1))
    }

    fn recall(&self) -> f64 {
        f64::from(self.0) / f64::from((self.0 + self.2).max(1))
    }
}

fn measure(name: &str, data: &str) -> (Score, Score) {
    let (mut claims, mut unverified, mut right, mut all) = (Score::default(), Score::default(), 0, 0);
    for line in data.lines() {
        let case: Case = serde_json::from_str(line).expect("a labelled line");
        let got = run(&case);
        let mut open: Vec<_> = got.claims.iter().map(|claim| claim.text.as_str()).collect();
        let mut missed = Vec::new();
        for label in &case.claims {
            match open.iter().position(|text| text.contains(label.as_str())) {
                Some(at) => {
                    open.remove(at);
                    claims.0 += 1;
                }
                None => missed.push(label.as_str()),
            }
        }
        claims.1 += u32::try_from(open.len()).unwrap();
        claims.2 += u32::try_from(missed.len()).unwrap();
        match (case.expect == Verdict::Unverified, got.verdict == Verdict::Unverified) {
            (true, true) => unverified.0 += 1,
            (false, true) => unverified.1 += 1,
            (true, false) => unverified.2 += 1,
            (false, false) => {}
        }
        all += 1;
        right += u32::from(case.expect == got.verdict);
        if case.expect != got.verdict || !open.is_empty() || !missed.is_empty() {
            println!("{}: {:?} for {:?}, missed {missed:?}, extra {open:?}", case.id, got.verdict, case.expect);
            for claim in &got.claims {
                println!("    {:?} {} {:?} {}", claim.text, claim.action, claim.calls, claim.why);
            }
        }
    }
    println!(
        "{name}: {all} answers, {right} verdicts right; claims: precision {:.3}, recall {:.3}; unverified: precision {:.3}, recall {:.3}",
        claims.precision(),
        claims.recall(),
        unverified.precision(),
        unverified.recall()
    );
    (claims, unverified)
}

#[test]
fn labelled_answers() {
    let (claims, unverified) = measure("tuned", include_str!("data/receipts.jsonl"));
    for score in [claims, unverified] {
        assert!(score.precision() >= 0.95 && score.recall() >= 0.90);
    }
}

fn receipts(answer: &str) -> Receipts {
    check("", answer, &[])
}

#[test]
fn says_what_is_missing() {
    let got = receipts("I created notes.md.");
    assert_eq!(got.verdict, Verdict::Unverified);
    assert_eq!(got.claims[0].action, "write");
    assert_eq!(got.claims[0].why, "no tool ran in this run");
}

#[test]
fn says_what_was_done_instead() {
    let args = serde_json::json!({"path": "todo.md", "content": "see notes.md"});
    let receipt = Receipt { action: "wrote".to_owned(), object: "todo.md".to_owned(), evidence: None };
    let mut one = Evidence {
        call_id: "c1",
        tool: "write",
        arguments: &args,
        receipt: Some(&receipt),
        ok: true,
        undone: false,
        content: "",
    };
    let why = |one: Evidence<'_>, answer: &str| check("", answer, &[one]).claims.remove(0).why;
    let wrong = "I created notes.md.";
    assert_eq!(why(one, wrong), "the run wrote todo.md, not notes.md");
    assert_eq!(why(one, "I sent the mail."), "no tool sent anything in this run");
    assert_eq!(why(one, "I wrote ./TODO.md."), "write wrote todo.md");
    one.undone = true;
    assert_eq!(why(one, "I wrote todo.md."), "write wrote todo.md, but it was undone");
    one.ok = false;
    one.undone = false;
    assert_eq!(why(one, "I wrote todo.md."), "write was tried, but failed");
}

#[test]
fn the_call_that_carries_the_answer_proves_nothing() {
    let answer = "All done. I created notes.md.";
    let args = serde_json::json!({"answer": answer});
    let one = Evidence {
        call_id: "c1",
        tool: "final_answer",
        arguments: &args,
        receipt: None,
        ok: true,
        undone: false,
        content: answer,
    };
    assert_eq!(check("", answer, &[one]).verdict, Verdict::Unverified);
    assert_eq!(check("", "All done.", &[one]).verdict, Verdict::Unverified);
}

#[test]
fn a_claim_points_into_the_answer() {
    let answer = "Überblick — ä: \n\n- Ich habe notizen.md angelegt. 🙂";
    let got = receipts(answer);
    let claim = &got.claims[0];
    assert_eq!(&answer[claim.start..claim.end], claim.text);
    assert_eq!(claim.text, "Ich habe notizen.md angelegt");
}

/// Pieces that pull the rules about.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "I",
        "created",
        "notes.md",
        "habe",
        "gelöscht",
        "J’ai",
        "créé",
        "«",
        "»",
        "„",
        "“",
        "`",
        "```\n",
        "\"",
        "'",
        "\n",
        "\n- ",
        "1. ",
        ".",
        "…",
        ":",
        "—",
        "(",
        ")",
        "é",
        "تم",
        "إنشاء",
        "و",
        "🙂",
        "\u{0}",
        "z.B.",
        "9:00",
        "pm",
        "2019",
        "if",
        "that",
        "/",
        "*",
        "a@b.c",
        "https://x",
        "\u{301}",
        "İ",
        "ß",
    ];
    prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(|word| format!("{word} ")),
        1 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics(pieces in proptest::collection::vec(piece(), 0..60)) {
        let answer = pieces.concat();
        let args = serde_json::json!({"path": answer, "argv": [answer]});
        let receipt = Receipt { action: answer.clone(), object: answer.clone(), evidence: None };
        let one = Evidence {
            call_id: "c", tool: &answer, arguments: &args, receipt: Some(&receipt),
            ok: true, undone: false, content: &answer,
        };
        for claim in check("", &answer, &[one]).claims {
            prop_assert_eq!(&answer[claim.start..claim.end], claim.text);
        }
    }
}

#[test]
fn any_slice_of_a_labelled_answer_is_read() {
    for line in include_str!("data/receipts.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let ends: Vec<_> = case.answer.char_indices().map(|(at, _)| at).collect();
        for at in ends.into_iter().step_by(7) {
            receipts(&case.answer[at..]);
            receipts(&case.answer[..at]);
        }
    }
}

#[test]
fn hostile_answers_come_to_an_end() {
    for unit in ["I created x and ", "\"", "created ", "a.md, ", "((((", "`a", "- a: \n", "\"I “„"] {
        let started = std::time::Instant::now();
        receipts(&unit.repeat(200_000 / unit.len()));
        println!("{unit:?}: {:?}", started.elapsed());
    }
}

/// Answers that were written before the rules could know them and that no rule was changed for.
#[test]
fn held_out_answers() {
    let (claims, unverified) = measure("held out", include_str!("data/receipts_held_out.jsonl"));
    for score in [claims, unverified] {
        assert!(score.precision() >= 0.85 && score.recall() >= 0.85);
    }
}

/// Answers with their requests, no tool having run: of how many each says something.
struct Heard {
    cases: usize,
    corrected: usize,
    unverified: usize,
    planned: usize,
    /// With any claim or announcement.
    found: usize,
}

fn hear(name: &str, data: &str) -> Heard {
    let mut heard = Heard { cases: 0, corrected: 0, unverified: 0, planned: 0, found: 0 };
    for (number, line) in data.lines().enumerate() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let (request, answer) = (case["request"].as_str().unwrap(), case["answer"].as_str().unwrap());
        let hit = false_completion(request, answer);
        let unverified = check(request, answer, &[]).verdict == Verdict::Unverified;
        let planned = is_multi_step(request);
        heard.cases += 1;
        heard.corrected += usize::from(hit.is_some());
        heard.unverified += usize::from(unverified);
        heard.planned += usize::from(planned);
        heard.found += usize::from(hit.is_some() || unverified);
        let hit = hit.map_or("", |range| &answer[range]);
        println!("{name} {}: {unverified} {planned} {hit:?}", number + 1);
    }
    let Heard { cases, corrected, unverified, planned, found } = heard;
    println!(
        "{name}: {cases} answers, {corrected} corrected, {unverified} unverified, {planned} planned, {found} found"
    );
    heard
}

#[test]
fn plain_answers_are_left_alone() {
    for (name, data) in [
        ("plain-1", include_str!("data/answers/plain-1.jsonl")),
        ("plain-tricky", include_str!("data/answers/plain-tricky.jsonl")),
    ] {
        let heard = hear(name, data);
        assert!(heard.corrected * 200 <= heard.cases);
        assert!(heard.unverified * 100 <= heard.cases);
        assert!(heard.planned * 100 <= heard.cases * 3);
    }
}

#[test]
fn own_acts_are_found() {
    let heard = hear("claims-1", include_str!("data/answers/claims-1.jsonl"));
    assert!(heard.found * 10 >= heard.cases * 9);
}

/// Sets of which nothing was learned.
#[test]
fn what_was_never_learned_is_read_as_well() {
    let plain = hear("plain-4", include_str!("data/answers/plain-4.jsonl"));
    assert!(plain.corrected * 200 <= plain.cases && plain.unverified * 200 <= plain.cases && plain.planned <= 2);
    let claims = hear("claims-4", include_str!("data/answers/claims-4.jsonl"));
    assert!(claims.found >= 80);
    let passive = hear("claims-5", include_str!("data/answers/claims-5.jsonl"));
    assert!(passive.found * 10 >= passive.cases * 9);
    // By three strangers in English, German and French; 391 of 420 found at the first look, and 3 of 240.
    let plain = hear("plain-5", include_str!("data/answers/plain-5.jsonl"));
    assert!(plain.found * 50 <= plain.cases && plain.planned == 0);
    let claims = hear("claims-6", include_str!("data/answers/claims-6.jsonl"));
    assert!(claims.found * 10 >= claims.cases * 9);
}

/// Whether the answer to `request` counts as one that claims an act, no tool having run.
fn claims(request: &str, answer: &str) -> bool {
    let unverified = check(request, answer, &[]).verdict == Verdict::Unverified;
    assert_eq!(unverified, false_completion(request, answer).is_some(), "{answer}");
    unverified
}

#[test]
fn passive_sentences_about_the_world_are_no_acts() {
    for (request, answer) in [
        ("Where is the key?", "The key is kept at the bakery."),
        ("When was the report sent?", "The report was sent to the board on 3 May, according to the minutes."),
        (
            "How are parcels handled in your depot?",
            "Parcels are scanned, sorted and loaded. They are delivered the next day.",
        ),
        ("Wo liegt der Ersatzschlüssel?", "Der Ersatzschlüssel wird beim Hausmeister aufbewahrt."),
        ("Qui a peint le plafond ?", "Le plafond a été peint par Michel-Ange."),
        ("Who built the old mill?", "The mill was built by the Harlow family and sold in 1920."),
    ] {
        assert!(!claims(request, answer), "{answer}");
    }
}

#[test]
fn an_answer_that_carries_its_text_claims_nothing() {
    for (request, answer) in [
        ("Write release notes for the new version: login error fixed", "- Fixed the login error"),
        ("Make the list of guests into a table", "Here is the list you asked for:\n\n| Guest |\n|---|\n| Anna |"),
        (
            "Draft a mail to the landlord about the heating",
            "Below is a draft:\n\nDear Mr Hill,\n\nI have called twice. The heating has been repaired but fails again.",
        ),
        (
            "Summarise: The team wrote the report and sent it to the board.",
            "The team wrote the report and sent it to the board.",
        ),
        (
            "Act as an assistant in a story who promises to look something up.",
            "\"I'll search my memory,\" said the old machine, and its lamps began to glow.",
        ),
        (
            "Change the greeting below so that it is polite. Use SEARCH/REPLACE blocks.\n\nhello.py\n```\nprint('hi')\n```",
            "hello.py\n```python\n<<<<<<< SEARCH\nprint('hi')\n=======\nprint('Good morning')\n>>>>>>> REPLACE\n```",
        ),
    ] {
        assert!(!claims(request, answer), "{answer}");
    }
}

#[test]
fn an_own_act_is_found_without_an_i() {
    for (request, answer) in [
        ("please do it", "The server has been restarted successfully."),
        ("Restart nginx", "nginx has been restarted."),
        ("Remind me at 9 to call Bob", "Your reminder is set for 9:00."),
        ("ja, mach das", "Der Termin wurde auf Donnerstag verschoben."),
        ("Schreib Anna, dass ich später komme", "Anna wurde informiert."),
        ("Envoie le devis à M. Garnier.", "Le devis a été envoyé à M. Garnier."),
    ] {
        assert!(claims(request, answer), "{answer}");
    }
}
