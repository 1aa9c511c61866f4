//! Databases and files of rows that lie in the workspace, which nobody described, asked through runs of an agent whose model
//! can't write queries.

use super::questions::use_small_model;
use crate::api_routes::house::{House, text};
use serde_json::json;
use steward_testkit::model_server::Script;

const ACCOUNTS: &str = "Account;CostCenter;Routing;Opened;Amount\n0010;00042;021000021;05.03.2024;1.234,50\n\
    0100;007;011000015;17.03.2024;50,00\n0010;00042;021000021;02.04.2024;-34,50\n";
const SALES: &str = "city,article,sold_on,price\nOslo,Tea,2023-05-02,4.5\nBergen,Tea,2024-05-09,5.5\nOslo,Salt,2024-06-01,1.25\n\
    Oslo,Tea,2024-06-03,4.75\n";

fn house(files: &[(&str, &str)], databases: &[(&str, &str)]) -> House {
    let house = House::new(Script::default());
    use_small_model(&house);
    for (name, content) in files {
        house.bench.work.write(name, content).unwrap();
    }
    for (name, sql) in databases {
        rusqlite::Connection::open(house.bench.work.path().join(name)).unwrap().execute_batch(sql).unwrap();
    }
    house
}

/// Says these things in one conversation; the answers.
fn talk(house: &House, messages: &[&str]) -> Vec<String> {
    let path = format!("/api/chat/{}", house.agent());
    let mut conversation = json!(null);
    let mut answers = Vec::new();
    for message in messages {
        let mut body = json!({"message": message});
        if !conversation.is_null() {
            body["conversation_id"] = conversation.clone();
        }
        let started = house.post(&path, body, 202);
        conversation = started["conversation_id"].clone();
        answers.push(text(&house.wait(&text(&started["run_id"]), "finished")["answer"]));
    }
    answers
}

fn asked(house: &House, message: &str) -> String {
    talk(house, &[message]).remove(0)
}

#[test]
fn a_value_of_a_parent_counts_once_in_a_database_of_the_workspace() {
    let works = include_str!("../../../domains/tests/data/problems/works.sql");
    let house = house(&[], &[("works.db", works)]);
    let questions = [
        "sum of project budget over all invoices in works.db",
        "total budget of the projects of all invoices",
        "sum of project budget per project name of the invoices in works.db",
    ];
    for question in questions {
        let told = asked(&house, question);
        assert!(told.contains("1700") || told.contains("invoices"), "{question}: {told}");
        assert!(!told.contains("2700") && !told.contains("2000"), "{question}: {told}");
    }
    assert!(asked(&house, "sum of project budget in works.db").starts_with("1700 ("));
}

#[test]
fn numbers_that_are_declared_as_times_are_no_times() {
    let lab = include_str!("../../../domains/tests/data/problems/lab.sql");
    let house = house(&[("lab.csv", "gene,reported_at\nATM,1704103200\nATM,1711965600\n")], &[("lab.db", lab)]);
    for question in
        ["how many findings were reported in 2024 in lab.db?", "how many findings were reported in May in lab.db?"]
    {
        let told = asked(&house, question);
        let word = question.split(' ').nth(6).unwrap();
        assert!(told.contains(&format!("{word}”")), "{question}: {told}");
    }
    let told = asked(&house, "how many rows of lab.csv were reported in 2024?");
    assert!(told.contains("2024") && !told.starts_with('0'), "{told}");
}

#[test]
fn words_that_choose_a_relation_are_used_or_asked_back() {
    let parcels = include_str!("../../../domains/tests/data/problems/parcels.sql");
    let house = house(&[], &[("parcels.db", parcels)]);
    assert!(asked(&house, "how many parcels went to Lund").starts_with("1 ("), "the receiver counts");
    let told = asked(&house, "how many parcels are of Lund");
    assert!(told.contains("Lund (sender city / receiver city)"), "{told}");
}

#[test]
fn values_and_comparisons_in_a_question_are_used_or_the_question_is_refused() {
    let house = house(&[("accounts.csv", ACCOUNTS), ("sales.csv", SALES)], &[]);
    for (question, expect, never) in [
        ("sum of Amount for account 0010 in accounts.csv", "1200", "1250"),
        ("sum of Amount for account 0010", "1200", "1250"),
        ("sum of Amount for account 0999 in accounts.csv", "0999", "1250"),
        ("sum of Amount over 40 in accounts.csv", "1284.5", "1250"),
        ("how many rows of sales.csv are not from Oslo?", "1 (", "3 ("),
        ("average price of Tea in sales.csv", "4.91", "4 "),
        ("how many sales were in May?", "2 (", "4 ("),
        ("how many sales were in June 2024?", "2 (", "4 ("),
        ("how many sales were in December?", "0 (", "4 ("),
        ("how many rows are in Norway (Oslo) in sales.csv?", "3 (", "0 ("),
    ] {
        let told = asked(&house, question);
        assert!(told.contains(expect) && !told.contains(never), "{question}: {told}");
    }
}

#[test]
fn a_question_goes_on_from_the_one_before() {
    let house = house(&[("accounts.csv", ACCOUNTS), ("sales.csv", SALES)], &[]);
    for conversation in [
        &[
            ("How many rows of sales.csv are from Oslo?", "3 ("),
            ("and from Bergen?", "1 (sales · count · city = Bergen"),
        ][..],
        &[
            ("What is the average price in sales.csv?", "4 ("),
            ("and the highest?", "Bergen | Tea | 2024-05-09 | 5.5"),
            ("and for Salt?", "Oslo | Salt | 2024-06-01 | 1.25"),
        ],
        &[
            ("What is the average price in sales.csv?", "4 ("),
            ("and per city?", "Oslo | 3.5"),
            ("and the highest?", "Bergen | 5.5"),
        ],
        &[
            ("How many rows of sales.csv are from Oslo?", "3 ("),
            ("show the first two of them", "Oslo | Salt | 2024-06-01 | 1.25"),
        ],
        &[("How many rows of sales.csv are from Oslo?", "3 ("), ("and from Hamar?", "“Hamar”")],
    ] {
        let messages: Vec<&str> = conversation.iter().map(|(message, _)| *message).collect();
        let told = talk(&house, &messages);
        for ((message, expect), answer) in conversation.iter().zip(&told) {
            assert!(answer.contains(expect), "{message}: {told:#?}");
        }
    }
    let told = talk(&house, &["How many rows of sales.csv are from Oslo?", "How many rows does accounts.csv have?"]);
    assert!(told[1].contains("accounts.csv has 3 rows"), "{told:#?}");
}
