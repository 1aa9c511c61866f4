//! Chunks of domains, and the search over them.

use std::fmt::Write as _;

use serde_json::{Value, json};
use steward_domains::chunks::{self, Chunk, LONGEST};
use steward_domains::model::{ButtonAction, Domain, View};
use steward_domains::search::Search;

use crate::music::Music;

fn view() -> View {
    let view: View = serde_json::from_value(json!({
        "name": "albums", "title": "All albums", "domain": "album",
        "toolbar": [{"action": "new", "label": "New", "target": null}],
        "tables": [{"domain": "album", "on_select": null, "columns": [
            {"field": "title", "label": "Name of the record", "width": 60, "format": null},
            {"field": "price", "label": "price", "width": null, "format": "money:EUR"}]}],
        "sections": [{"title": "Facts", "rows": [[{"kind": "text", "field": "title"}]]}],
    }))
    .expect("a view");
    assert_eq!(view.toolbar[0].action, ButtonAction::New);
    view
}

#[test]
fn texts_for_models() {
    let music = Music::open();
    let mut text = String::new();
    for domain in music.domains.iter() {
        let _ = writeln!(text, "{}", chunks::index_line(domain));
    }
    for name in ["album", "customer", "odd"] {
        for chunk in chunks::of_domain(music.domains.get(name).expect("a domain")) {
            let _ = writeln!(text, "--\n{}", chunk.text);
        }
    }
    for chunk in chunks::of_view(&view()) {
        let _ = writeln!(text, "--\n{}", chunk.text);
    }
    let _ = writeln!(
        text,
        "--\n{}",
        chunks::hint(&view(), music.domains.get("album").expect("a domain"), |to| to != "track")
    );
    insta::assert_snapshot!(text);
}

#[test]
fn what_may_not_be_read_is_in_no_text() {
    let music = Music::open();
    let texts = |name: &str, hidden: &[&str]| -> String {
        let found = chunks::of_domain(music.domains.get(name).expect("a domain"));
        found.iter().map(|chunk| chunk.text_for(|to| !hidden.contains(&to))).collect()
    };
    assert!(texts("customer", &[]).contains("each customer has many salary"));
    let text = texts("customer", &["salary"]);
    assert!(!text.contains("salar") && text.contains("each customer has many invoice"), "{text}");
    assert!(texts("genre", &["track"]).ends_with("is_null not_null)"), "no title without lines");
    let domain = music.domains.get("customer").expect("a domain");
    assert!(!chunks::hint(&view(), domain, |to| to != "salary").contains("salar"));
}

fn domain(name: &str, fields: &[String], aliases: &[&str], scope: &str) -> Domain {
    let fields: Vec<Value> = fields
        .iter()
        .map(|field| json!({"name": field, "kind": "string", "readonly": false, "filterable": true, "options": null, "examples": []}))
        .collect();
    serde_json::from_value(json!({
        "name": name, "table": name, "datasource": "d", "permissions": [], "fields": fields, "relations": [], "metas": [],
        "notes": [{"tag": "scope", "text": scope}], "aliases": aliases,
    }))
    .expect("a domain")
}

#[test]
fn wide_domains_are_split_with_their_head() {
    let fields: Vec<String> = (0..400).map(|n| format!("measured_value_{n}")).collect();
    let wide = domain("sensor", &fields, &["probe"], "Readings of sensors.");
    let found = chunks::of_domain(&wide);
    assert!(found.len() > 10, "{} chunks", found.len());
    for (at, chunk) in found.iter().enumerate() {
        assert_eq!(chunk.part, at);
        assert!(chunk.text.chars().count() <= LONGEST, "{} characters", chunk.text.chars().count());
        assert!(
            chunk.text.starts_with("Domain sensor: Readings of sensors.\nAlso called: probe\nFields:\n"),
            "{}",
            chunk.text
        );
    }
    let together: String = found.iter().map(|chunk| chunk.text.as_str()).collect();
    assert!(fields.iter().all(|field| together.contains(&format!("- {field}: "))));
    assert_eq!(chunks::of_domain(&wide), found, "the same bytes each time");
    let mut other = wide.clone();
    other.fields[399].readonly = true;
    let changed = chunks::of_domain(&other);
    let same = found.iter().zip(&changed).filter(|(a, b)| a.hash == b.hash).count();
    assert_eq!(same, found.len() - 1, "only what changed has another hash");
    let mut hostile = wide;
    hostile.notes[0].text = "x\n\nDomain fake: \u{0}\u{1b}[31m".repeat(200);
    assert!(
        chunks::of_domain(&hostile)
            .iter()
            .all(|chunk| chunk.text.chars().count() <= LONGEST && !chunk.text.contains('\u{1b}'))
    );
}

/// Words for a thing and other words for it.
const THINGS: [(&str, &str, &str); 20] = [
    ("customer", "client", "address"),
    ("invoice", "bill", "amount"),
    ("product", "article", "colour"),
    ("supplier", "vendor", "rating"),
    ("employee", "staff", "salary"),
    ("shipment", "delivery", "carrier"),
    ("warehouse", "depot", "capacity"),
    ("contract", "agreement", "term"),
    ("vehicle", "car", "mileage"),
    ("patient", "sick person", "diagnosis"),
    ("course", "class", "lecturer"),
    ("ticket", "issue", "severity"),
    ("payment", "remittance", "currency"),
    ("machine", "device", "voltage"),
    ("meeting", "appointment", "room"),
    ("recipe", "dish", "ingredient"),
    ("flight", "plane", "gate"),
    ("building", "house", "floor"),
    ("loan", "credit", "interest"),
    ("species", "animal", "habitat"),
];
const KINDS: [&str; 50] = [
    "archive", "audit", "backup", "batch", "budget", "campaign", "category", "channel", "claim", "comment", "config",
    "country", "daily", "detail", "draft", "error", "event", "export", "feedback", "forecast", "gallery", "group",
    "history", "holiday", "import", "journal", "label", "limit", "log", "lookup", "manual", "measure", "member",
    "mobile", "monthly", "note", "online", "option", "period", "policy", "quota", "region", "report", "review",
    "schedule", "season", "stage", "target", "temp", "version",
];

#[test]
fn a_thousand_tables_are_searched_by_names_and_aliases() {
    let mut list = Vec::new();
    for (thing, alias, field) in THINGS {
        for kind in KINDS {
            let fields = ["id", field, "created_at", "updated_by"].map(str::to_owned);
            let alias = format!("{alias} {kind}");
            list.push(domain(&format!("{thing}_{kind}"), &fields, &[&alias], &format!("Each {kind} of a {thing}.")));
        }
    }
    let all: Vec<Chunk> = list.iter().flat_map(chunks::of_domain).collect();
    assert_eq!(all.len(), 1000);
    let search = Search::new(&all);
    let (mut asked, mut right) = (0, 0);
    let mut times = Vec::new();
    for (at, (thing, alias, field)) in THINGS.iter().enumerate() {
        for (n, kind) in KINDS.iter().enumerate().skip(at % 5).step_by(5) {
            let request = match n % 4 {
                0 => format!("How many {alias} {kind}s were there last month?"),
                1 => format!("show the {kind} of every {thing} please"),
                2 => format!("which {thing}{kind} has the highest {field}"),
                _ => format!("{alias}s by {field} in the {kind}"),
            };
            let begun = std::time::Instant::now();
            let hits = search.find(&request, None, 5);
            times.push(begun.elapsed());
            asked += 1;
            right += usize::from(hits.iter().any(|hit| hit.domain == format!("{thing}_{kind}")));
        }
    }
    assert_eq!(asked, 200);
    assert!(right >= 190, "{right} of {asked}");
    times.sort_unstable();
    assert!(times[100] < std::time::Duration::from_millis(20), "{:?} in a build without optimisation", times[100]);
}

#[test]
fn similarities_find_what_words_do_not() {
    let list = [domain("customer", &[], &[], ""), domain("invoice", &[], &[], ""), domain("album", &[], &[], "")];
    let all: Vec<Chunk> = list.iter().flat_map(chunks::of_domain).collect();
    let search = Search::new(&all);
    let names = |request: &str, similarities: Option<&[f32]>| -> Vec<String> {
        search.find(request, similarities, 5).into_iter().map(|hit| hit.domain).collect()
    };
    for (request, similarities, expect) in [
        ("customers", None, vec!["customer"]),
        ("purchasers", None, vec![]),
        ("purchasers", Some([0.7, 0.3, 0.1]), vec!["customer", "invoice", "album"]),
        ("the albums of purchasers", Some([0.5, 0.1, 0.3]), vec!["album", "customer", "invoice"]),
        ("x", Some([0.5, 0.5, 0.5]), vec!["album", "customer", "invoice"]),
        ("x", Some([f32::NAN, -1.0, 0.5]), vec!["album"]),
        ("", None, vec![]),
    ] {
        assert_eq!(names(request, similarities.as_ref().map(<[f32; 3]>::as_slice)), expect, "{request}");
    }
    assert_eq!(names("customers", Some(&[0.1])), ["customer"], "similarities of other chunks are ignored");
    assert_eq!(search.find("customer invoice album", None, 2).len(), 2);
    assert!(Search::new(&[]).find("customer", None, 5).is_empty());
}
