//! Questions about what is there and what is not, who did what, and which of several dates is meant.

use crate::base::Base;
use crate::questions::Answer::{Refused, Rows};
use crate::questions::{check, number};
use serde_json::json;
use steward_domains::draft::{Alike, Request, draft, lookups};

const HARBOUR: &str = "
create table skipper(id integer primary key, name text, town text, mentor_id integer references skipper(id), birthday date, retired_on date);
insert into skipper values (1,'Ann Ray','Bergen',null,'1960-01-02','2020-05-01'),(2,'Bo Lee','Bergen',1,'1990-03-04',null),
  (3,'Cy Moe','Oslo',1,'1991-05-06',null),(4,'Di Fox','Lund',2,'1992-07-08',null);
create table boat(id integer primary key, title text, owner_id integer not null references skipper(id), painter_id integer references skipper(id), insured text, scrapped_on date);
insert into boat values (1,'Heron',1,2,'Y',null),(2,'Marsh',1,null,'N','2024-01-01'),(3,'Delta',2,2,'Y',null),(4,'Ebb',3,3,'Y',null);
create table trip(id integer primary key, boat_id integer not null references boat(id), started_on date not null, ended_on date, toll real, price_day real);
insert into trip values (1,1,'2024-02-01','2025-01-05',0,10.0),(2,1,'2024-03-01','2024-04-01',5.5,20.0),(3,3,'2025-02-01','2025-02-03',null,30.0),
  (4,3,'2025-12-30',null,2.0,40.0);
";

#[test]
fn a_relation_is_read_in_its_direction() {
    check(
        &Base::of(HARBOUR),
        &[
            ("Who is the mentor of Bo Lee?", Rows(json!([["Ann Ray"]]))),
            ("Who mentors Di Fox?", Rows(json!([["Bo Lee"]]))),
            ("Which skippers are mentored by Ann Ray?", Rows(json!([["Bo Lee"], ["Cy Moe"]]))),
            ("Which skippers who live in Bergen are mentored by Ann Ray?", Rows(json!([["Bo Lee"]]))),
            ("Who painted Delta?", Rows(json!([["Bo Lee"]]))),
            ("Which boats were painted by Bo Lee?", Rows(json!([["Heron"], ["Delta"]]))),
            ("How many skippers does Ann Ray mentor?", number(2)),
        ],
    );
}

#[test]
fn what_is_there_is_told_from_what_is_not() {
    check(
        &Base::of(HARBOUR),
        &[
            ("Which skippers have never painted a boat?", Rows(json!([["Ann Ray"], ["Di Fox"]]))),
            ("How many boats have a painter?", number(3)),
            ("Which boats are not painted?", Rows(json!([["Marsh"]]))),
            ("How many boats have a trip?", number(2)),
            ("How many boats were scrapped?", number(1)),
            ("How many boats were not scrapped?", number(3)),
            ("Which skippers have retired?", Rows(json!([["Ann Ray"]]))),
            ("How many boats are insured?", number(3)),
            ("How many boats are not insured?", number(1)),
            ("How many trips had no toll?", number(2)),
            ("How many trips have a toll of 2?", number(1)),
            ("How many skippers live in neither Bergen nor Oslo?", number(1)),
            ("Which boats were never rented?", Refused("rented")),
        ],
    );
}

#[test]
fn a_time_is_of_the_date_that_its_verb_means() {
    check(
        &Base::of(HARBOUR),
        &[
            ("How many trips started in 2024 and ended in 2025?", number(1)),
            ("How many trips ended in 2025?", number(2)),
            ("How many trips started from 2025 on?", number(2)),
            ("How many trips started between 1.3.2024 and 28.2.2025?", number(2)),
            ("How many boats were booked in 2024?", Refused("2024")),
            ("How many trips were cancelled in 2024?", Refused("cancelled")),
            ("What is the average price per day of trips?", number(25.0)),
        ],
    );
}

const YARD: &str = "
create table branch(code text primary key, town text);
insert into branch values ('K','Kiel'),('R','Rostock');
create table category(id integer primary key, label text);
insert into category values (1,'Excavator'),(2,'Crane'),(3,'Wheel loader');
create table machine(id integer primary key, model text, maker text, category_id integer references category(id), branch_code text references branch(code), build_year integer, list_price real, retired_on date);
insert into machine values (1,'A1','Volvo',1,'K',2012,10.0,null),(2,'A2','Volvo',1,'R',2010,20.0,'2024-01-01'),
  (3,'B1','Linde',3,'K',2020,30.0,null),(4,'B2','Linde',3,'K',2023,5.0,null),(5,'C1','Linde',2,'R',2015,7.0,'2023-01-01');
create table customer(id integer primary key, company text, country text, blocked text, phone text, credit real);
insert into customer values (1,'Nord','Germany','N','123',null),(2,'Hafen','Germany','Y',null,5.0),(3,'Smit','Norway','N','',0),(4,'Svea','Norway','Y','77',9.0);
create table contract(id integer primary key, customer_id integer references customer(id), signed_on date, returned_on date, paid text, deposit real, reason text);
insert into contract values (1,1,'2024-01-01','2024-02-01','Y',10.0,'fair'),(2,1,'2024-01-02',null,'N',20.0,'harbour'),
  (3,2,'2024-01-03',null,'N',30.0,'fair'),(4,3,'2024-01-04','2024-02-04','Y',40.0,'fair');
create table trip(id integer primary key, start text, duration_min integer, distance_km real);
insert into trip values (1,'Zoo',90,2.5),(2,'Zoo',20,9.5),(3,'Port',5,0.5);
";

#[test]
fn a_word_may_say_the_contrary_of_a_field() {
    check(
        &Base::of(YARD),
        &[
            ("How many unpaid contracts are there?", number(2)),
            ("How many unpaid contracts are for the harbour?", number(1)),
            ("How many unblocked customers are from Germany?", number(1)),
            ("How many blocked customers are from Germany?", number(1)),
            ("Total deposit of unpaid contracts", number(50.0)),
            ("How many unreturned contracts are there?", number(2)),
            ("How many non-paid contracts are there?", number(2)),
            ("How many reason contracts are there?", Refused("reason")),
        ],
    );
}

#[test]
fn a_negation_ends_at_the_next_condition() {
    check(
        &Base::of(YARD),
        &[
            ("Which customers are not blocked and come from Germany?", Rows(json!([["Nord"]]))),
            ("Customers that are not from Germany and are blocked", Rows(json!([["Svea"]]))),
            ("Which machines are not retired and come from Volvo?", Rows(json!([["A1"]]))),
            ("How many contracts are not paid and are for the harbour?", number(1)),
            ("Which customers are not from Germany or Norway?", Rows(json!([]))),
            ("How many contracts were paid and not for the harbour?", number(2)),
        ],
    );
}

#[test]
fn a_field_has_a_value_or_none() {
    check(
        &Base::of(YARD),
        &[
            ("Which customers have a phone?", Rows(json!([["Nord"], ["Svea"]]))),
            ("How many customers have a credit?", number(2)),
            ("Which customers are not blocked and have a phone?", Rows(json!([["Nord"]]))),
            ("Which customers have no phone?", Rows(json!([["Hafen"], ["Smit"]]))),
            ("How many customers have a phone and are blocked?", number(1)),
        ],
    );
}

#[test]
fn superlatives_of_age_and_length_take_the_column_that_tells_it() {
    check(
        &Base::of(YARD),
        &[
            ("Which is the newest machine?", Rows(json!([[4, 2023]]))),
            ("Which is the oldest machine?", Rows(json!([[2, 2010]]))),
            ("Which is the latest contract?", Rows(json!([[4, "2024-01-04"]]))),
            ("Longest trip in km from the Zoo", Rows(json!([["Zoo", 9.5]]))),
            ("Which trip was the longest by distance?", Rows(json!([["Zoo", 9.5]]))),
            ("Longest trip in min", Refused("min")),
            ("Shortest trip in km", Rows(json!([["Port", 0.5]]))),
        ],
    );
    check(
        &Base::of(
            "create table pet(id integer primary key, name text, weight real, deleted_at date);
             insert into pet values (1,'Rex',20.0,null),(2,'Max',30.0,'2024-01-01');",
        ),
        &[("Which is the oldest pet?", Refused("oldest")), ("Which is the newest pet?", Refused("newest"))],
    );
}

#[test]
fn things_of_a_kind_are_counted_rather_than_kinds() {
    check(
        &Base::of(YARD),
        &[
            ("How many excavators do we have?", number(2)),
            ("How many wheel loaders are there?", number(2)),
            ("How many excavators are in Kiel?", number(1)),
            ("How many categories are there?", number(3)),
            ("What is the total deposit per customer?", Rows(json!([["Nord", 30.0], ["Hafen", 30.0], ["Smit", 40.0]]))),
            ("Number of contracts by customer", Rows(json!([["Nord", 2], ["Hafen", 1], ["Smit", 1]]))),
        ],
    );
}

#[test]
fn who_did_nothing_has_no_row_of_it() {
    let base = Base::of(
        "create table student(id integer primary key, name text, town text);
         insert into student values (1,'Ida','Jena'),(2,'Ben','Jena'),(3,'Zoe','Ulm');
         create table course(id integer primary key, title text);
         insert into course values (1,'Choir'),(2,'Guitar');
         create table enrolment(student_id integer references student(id), course_id integer references course(id), enrolled_on text, primary key(student_id, course_id));
         insert into enrolment values (2,1,'2024-01-01'),(2,2,'2024-01-01');
         create table loan(id integer primary key, student_id integer references student(id), lent_on date, returned_on date);
         insert into loan values (1,1,'2024-01-01',null),(2,2,'2024-01-01','2024-03-01'),(3,2,'2024-04-01',null);",
    );
    check(
        &base,
        &[
            ("Which students are not enrolled?", Rows(json!([["Ida"], ["Zoe"]]))),
            ("Which students are not enrolled in any course?", Rows(json!([["Ida"], ["Zoe"]]))),
            ("How many students are not enrolled?", number(2)),
            ("Which students are not enrolled in Choir?", Refused("enrolled")),
            ("How many loans are still out?", number(2)),
            ("How many loans are out?", number(2)),
            ("How many students are still out?", Refused("out")),
            ("Which students have not borrowed anything?", Refused("borrowed")),
        ],
    );
}

#[test]
fn a_stored_value_is_no_other_word_for_its_table() {
    let base = Base::of(
        "create table owner(id integer primary key, name text);
         insert into owner values (1,'Ann'),(2,'Bo'),(3,'Cy');
         create table pet(id integer primary key, name text, species text, weight real, owner_id integer references owner(id));
         insert into pet values (1,'Rex','dog',20.0,1),(2,'Max','dog',30.0,2),(3,'Mia','cat',4.0,2),(4,'Bun','rabbit',40.0,3);",
    );
    for (text, expect) in [
        ("Who is the heaviest dog?", json!([["Max", 30.0]])),
        ("Average weight of a dog", json!([[25.0]])),
        ("How many cat owners are there?", json!([[1]])),
    ] {
        assert_eq!(ask_alike(&base, text), expect, "{text}");
    }
}

/// What a question finds where a model takes the words of animals for another name of the table.
fn ask_alike(base: &Base, text: &str) -> serde_json::Value {
    let who = crate::music::roles(&["viewer"]);
    let visible = base.domains.seen_by(&who);
    let subjects: Vec<_> = visible.iter().collect();
    let pet = subjects.iter().find(|known| known.domain.name.contains("pet")).expect("pets").domain.name.clone();
    let alike: Vec<Alike> = ["dog", "cat", "dogs", "cats"]
        .map(|word| Alike { word: word.to_owned(), domain: pet.clone(), field: None, score: 0.8 })
        .into();
    let request = Request::read(text, "2025-06-01");
    let run = |query: &steward_domains::query::Query| {
        base.query(&serde_json::to_value(query).expect("a query")).expect("rows")
    };
    let found: Vec<_> = lookups(&request, &subjects)
        .iter()
        .flat_map(|lookup| {
            lookup.found(&run(&lookup.query).into_iter().map(|mut row| row.remove(0)).collect::<Vec<_>>())
        })
        .collect();
    let made = draft(&request, visible, &subjects, &[], &found, &alike).expect("a draft");
    assert!(made.sure, "{text}: {made:?}");
    json!(run(&made.query))
}
