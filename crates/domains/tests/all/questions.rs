//! Questions whose words choose, compare or count: each is used, or the question is refused by naming it.

use crate::base::Base;
use serde_json::{Value, json};

pub enum Answer {
    /// Each row has these values among others.
    Rows(Value),
    /// With a word that is named.
    Refused(&'static str),
}
use Answer::{Refused, Rows};

fn is_right(found: &[Vec<Value>], expect: &Value) -> bool {
    let expect = expect.as_array().expect("rows");
    let has =
        |row: &Vec<Value>, wanted: &Value| wanted.as_array().expect("a row").iter().all(|value| row.contains(value));
    found.len() == expect.len() && expect.iter().all(|wanted| found.iter().any(|row| has(row, wanted)))
}

pub fn check(base: &Base, cases: &[(&str, Answer)]) {
    let mut wrong = Vec::new();
    for (text, expect) in cases {
        let asked = base.ask(text);
        let right = match expect {
            Rows(rows) => asked.sure && is_right(&asked.rows, rows),
            Refused(word) => !asked.sure && asked.unread.iter().any(|one| one.to_lowercase().contains(word)),
        };
        if !right {
            wrong.push(format!("{text}\n    {asked:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

pub fn number(value: impl Into<Value>) -> Answer {
    Rows(json!([[value.into()]]))
}

#[test]
fn words_choose_one_of_two_relations() {
    let base = Base::of(include_str!("../data/problems/parcels.sql"));
    check(
        &base,
        &[
            ("how many parcels went to Lund", number(1)),
            ("how many parcels came from Lund", number(4)),
            ("how many parcels were sent from Lund?", number(4)),
            ("how many parcels were sent to Malmo?", number(2)),
            ("how many parcels did Umea receive?", number(2)),
            ("how many parcels did Umea send?", number(1)),
            ("how many parcels went from Lund to Umea?", number(2)),
            ("how many parcels have the receiver Kiruna?", number(1)),
            ("how many parcels arrived in Malmo", number(2)),
            ("how many parcels are of Lund?", Refused("lund")),
            ("total weight of parcels to Malmo", number(12.0)),
            ("total weight of parcels for Malmo", Refused("malmo")),
            (
                "how many parcels per receiver city",
                Rows(json!([["Lund", 1], ["Umea", 2], ["Kiruna", 1], ["Malmo", 2]])),
            ),
            ("how many parcels per sender city", Rows(json!([["Lund", 4], ["Umea", 1], ["Kiruna", 1]]))),
            ("how many parcels per city", Refused("city")),
            ("which city sent the most parcels?", Rows(json!([["Lund", 4]]))),
        ],
    );
}

#[test]
fn fields_of_one_table_are_told_apart_too() {
    let base = Base::of(
        "create table flight(id integer primary key, origin text, destination text, seats integer, delayed boolean);
         insert into flight values (1,'Oslo','Rome',100,0),(2,'Rome','Oslo',150,1),(3,'Oslo','Lima',80,1),(4,'Lima','Rome',90,0),(5,'Bern','Oslo',10,0);
         create table account(id integer primary key, holder text);
         create table transfer(id integer primary key, payer_id integer references account(id), payee_id integer references account(id), amount real);
         insert into account values (1,'Ann'),(2,'Bob'),(3,'Cid');
         insert into transfer values (1,1,2,10.0),(2,2,1,20.0),(3,1,3,5.0);
         create table team(id integer primary key, name text);
         create table game(id integer primary key, home_team_id integer references team(id), away_team_id integer references team(id), goals integer);
         insert into team values (1,'Reds'),(2,'Blues');
         insert into game values (1,1,2,3),(2,2,1,1),(3,1,2,0);
         create table language(id integer primary key, name text);
         create table film(id integer primary key, title text, language_id integer references language(id), original_language_id integer references language(id));
         insert into language values (1,'English'),(2,'French');
         insert into film values (1,'A',1,2),(2,'B',1,1),(3,'C',2,1);
         create table person(id integer primary key, name text);
         create table issue(id integer primary key, title text, author_id integer references person(id), reviewer_id integer references person(id));
         insert into person values (1,'Mia'),(2,'Tom');
         insert into issue values (1,'x',1,2),(2,'y',1,2),(3,'z',2,1);",
    );
    check(
        &base,
        &[
            ("how many flights to Rome", number(2)),
            ("how many flights from Rome", number(1)),
            ("how many flights from Oslo to Lima?", number(1)),
            ("how many flights to Bern?", number(0)),
            ("how many flights of Oslo?", Refused("oslo")),
            ("total seats of flights to Oslo", number(160)),
            ("sum of amount of transfers to Ann", number(20.0)),
            ("sum of amount of transfers from Ann", number(15.0)),
            ("sum of amount of transfers for Ann", Refused("ann")),
            ("how many transfers did Bob receive", number(1)),
            ("how many games of the Reds", Refused("reds")),
            ("how many home games of the Reds", number(2)),
            ("how many games with the away team Reds", number(1)),
            ("how many films are in French?", number(1)),
            ("how many films have the original language French?", number(1)),
            ("how many issues were reviewed by Tom?", number(2)),
            ("how many issues are by Tom?", Refused("tom")),
            ("how many issues have the author Mia?", number(2)),
        ],
    );
}

const ACCOUNTS: &str = "
create table booking(id integer primary key, account text, cost_center text, amount real, state text, booked_on date);
insert into booking values (1,'0010','00042',1234.5,'open','2024-03-05'),(2,'0100','007',50.0,'paid','2024-03-17'),
  (3,'0010','00042',-34.5,'paid','2024-04-02'),(4,'2024','12',7.0,'void','2023-01-01');
create table customer(id integer primary key, name text, city text, discount real);
create table invoice(id integer primary key, customer_id integer references customer(id), total real, issued date, note text);
insert into customer values (1,'Ada','Rome',0.1),(2,'Ben','Oslo',0.0),(3,'Cleo','Rome',0.2),(4,'Dov',null,0.3);
insert into invoice values (1,1,100.0,'2024-01-10','a'),(2,1,30.0,'2025-02-11',null),(3,2,80.0,'2024-03-12','b'),(4,1,5.0,'2024-05-01',null);
";

#[test]
fn values_that_look_like_numbers_are_used() {
    check(
        &Base::of(ACCOUNTS),
        &[
            ("sum of Amount for account 0010", number(1200.0)),
            ("sum of amount for account 0100", number(50.0)),
            ("sum of amount for account 0999", Refused("0999")),
            ("total amount of cost center 007", number(50.0)),
            ("total amount of cost center 12", number(7.0)),
            ("how many bookings have the account 2024?", number(1)),
            ("how many bookings are in 2024?", number(3)),
            ("total of invoice 3", number(80.0)),
            ("how many invoices does customer 1 have?", number(3)),
            ("how many invoices 17", Refused("17")),
        ],
    );
}

#[test]
fn words_that_compare_negate_or_count_are_used_or_refused() {
    check(
        &Base::of(ACCOUNTS),
        &[
            ("how many bookings are not paid?", number(2)),
            ("how many customers are not in Rome?", number(1)),
            ("how many bookings were not booked in 2024?", Refused("not")),
            ("how many invoices are not over 50?", Refused("not")),
            ("which customers have more than 2 invoices?", Rows(json!([["Ada"]]))),
            ("which customers have at least one invoice?", Rows(json!([["Ada"], ["Ben"]]))),
            ("which customers have fewer than 1 invoice?", Rows(json!([["Cleo"], ["Dov"]]))),
            ("how many customers have more than 2 invoices?", Rows(json!([["Ada"]]))),
            ("which cities have at least 2 customers?", Rows(json!([["Rome"]]))),
            ("which customers have no invoices?", Rows(json!([["Cleo"], ["Dov"]]))),
            ("which customers have no invoices in 2025?", Refused("2025")),
            ("which customers have no invoices over 50?", Refused("50")),
            ("invoices over the average total", Refused("over")),
            ("invoices with more than last year", Refused("")),
            ("the top 2 invoices by total", Rows(json!([[100.0], [80.0]]))),
            ("show 2 invoices", Refused("2")),
            ("average total of invoices rounded to one decimal", Refused("rounded")),
            ("how many overdue invoices are there?", Refused("overdue")),
            ("what is the total of all overdue invoices from Rome?", Refused("overdue")),
            ("total of invoices rounded to full amounts", Refused("rounded")),
            ("how many invoices are in Rome or without note?", Refused("")),
            ("invoices between 30 and 90", Rows(json!([[30.0], [80.0]]))),
            ("how many customers without a city", number(1)),
            ("total of all invoices excluding Ada", number(80.0)),
            ("how many customers are in Rome or Oslo?", number(3)),
        ],
    );
}
