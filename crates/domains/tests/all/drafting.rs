//! Queries read from the words of requests.

use proptest::prelude::*;
use serde_json::Value;
use steward_domains::draft::{Alike, Draft, Found, Lookup, Request, draft, in_words, lookups, lookups_of_parts};
use steward_domains::model::Grantee;
use steward_domains::query::lower::{Dialect, lower};
use steward_domains::query::validate;

use crate::music::{Music, roles};

const TODAY: &str = "2024-06-01";

fn look_up(music: &Music, who: &[Grantee], lookups: Vec<Lookup>) -> Vec<Found> {
    let values = |lookup: &Lookup| -> Vec<Value> {
        let checked = validate(&lookup.query, &music.domains, who).expect("a query");
        let lowered = lower(&checked, Dialect::Sqlite);
        music.run(&lowered.sql, &lowered.values).into_iter().map(|mut row| row.remove(0)).collect()
    };
    lookups.iter().flat_map(|lookup| lookup.found(&values(lookup))).collect()
}

fn drafted(music: &Music, who: &[&str], text: &str, alike: &[Alike]) -> Option<Draft> {
    let who = roles(who);
    let visible = music.domains.seen_by(&who);
    let subjects: Vec<_> = visible.iter().collect();
    let request = Request::read(text, TODAY);
    let mut found = look_up(music, &who, lookups(&request, &subjects));
    found.extend(look_up(music, &who, lookups_of_parts(&request, &subjects, &found)));
    draft(&request, visible, &subjects, &[], &found, alike)
}

/// Requests of every kind, with what becomes of them; `?`: it is not sure enough to be answered.
#[test]
fn requests_become_queries() {
    let music = Music::open();
    let mut told = String::new();
    for text in include_str!("../data/requests.txt").lines().filter(|line| !line.is_empty()) {
        told.push_str(text);
        match drafted(&music, &["viewer"], text, &[]) {
            None => told.push_str("\n    –\n"),
            Some(draft) => {
                let query = serde_json::to_string(&draft.query).expect("JSON");
                let unread =
                    if draft.unread.is_empty() { String::new() } else { format!(" without {:?}", draft.unread) };
                let sure = if draft.sure { "" } else { "? " };
                told.push_str(&format!("\n    {sure}{}{unread}\n    {query}\n", in_words(&draft.query)));
            }
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_domain_that_may_not_be_read_is_not_drafted_from() {
    let music = Music::open();
    let text = "What is the highest salary?";
    let seen = drafted(&music, &["hr"], text, &[]).expect("a draft");
    assert_eq!(seen.query.domain, "salary");
    let hidden = drafted(&music, &["viewer"], text, &[]);
    assert!(hidden.is_none_or(|draft| draft.query.domain != "salary" && !draft.sure));
}

#[test]
fn words_that_mean_a_name_stand_for_it() {
    let music = Music::open();
    let alike = Alike { word: "performers".to_owned(), domain: "artist".to_owned(), field: None, score: 0.7 };
    let found = drafted(&music, &["viewer"], "How many performers are there?", &[alike]).expect("a draft");
    assert!(found.sure && found.query.domain == "artist", "{found:?}");
    let unknown = drafted(&music, &["viewer"], "How many performers are there?", &[]);
    assert!(unknown.is_none_or(|draft| !draft.sure));
}

#[test]
fn what_is_looked_up_is_bounded() {
    let music = Music::open();
    let who = roles(&["viewer"]);
    let visible = music.domains.seen_by(&who);
    let subjects: Vec<_> = visible.iter().collect();
    let long = "Ann of Oslo \"and\" more ".repeat(400);
    let request = Request::read(&long, TODAY);
    assert!(request.phrases().len() <= 80);
    for lookup in lookups(&request, &subjects) {
        validate(&lookup.query, &music.domains, &who).expect("a query");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is typed: no panic, and what is drafted is a query that its caller may ask.
    #[test]
    fn any_text_becomes_a_right_query_or_none(
        words in proptest::collection::vec(prop_oneof![
            proptest::sample::select(&[
                "how many", "total", "average", "most", "the", "per", "by", "each", "between", "and", "more than", "5", "2020", "March",
                "without", "not", "artist", "albums", "tracks", "customers", "price", "country", "Norway", "Oslo", "longest", "cheapest",
                "first", "sorted by", "invoices", "\"Help!\"", "who", "when", "top", "starts with", "contains", "now", "genre", "minutes",
            ][..]).prop_map(str::to_owned),
            any::<String>(),
        ], 0..12),
    ) {
        let music = Music::open();
        let text = words.join(" ");
        if let Some(draft) = drafted(&music, &["viewer"], &text, &[]) {
            let checked = validate(&draft.query, &music.domains, &roles(&["viewer"])).expect("a query");
            let lowered = lower(&checked, Dialect::Sqlite);
            music.run(&lowered.sql, &lowered.values);
            prop_assert!(!in_words(&draft.query).is_empty());
        }
    }
}
