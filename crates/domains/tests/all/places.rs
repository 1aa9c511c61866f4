//! Who or what comes first, with all that share the place; each of something, also without rows; one of several databases.

use crate::base::{Base, ask_several};
use crate::questions::Answer::{Refused, Rows};
use crate::questions::{check, number};
use serde_json::json;

const INN: &str = "
create table lodger(id integer primary key, name text);
insert into lodger values (1,'Ann'),(2,'Bo'),(3,'Cy'),(4,'Di');
create table stay(id integer primary key, lodger_id integer not null references lodger(id), total real, note text);
insert into stay values (1,1,100.0,'a'),(2,2,60.0,'b'),(3,2,70.0,'c'),(4,3,130.0,'d');
create table bag(id integer primary key, stay_id integer references stay(id), tare_kg integer);
insert into bag values (1,1,7),(2,1,9),(3,1,9),(4,2,3);
";

#[test]
fn totals_of_several_rows_are_added_up_and_ties_are_shown() {
    check(
        &Base::of(INN),
        &[
            ("Which lodger has the highest total of stays?", Rows(json!([["Bo", 130.0], ["Cy", 130.0]]))),
            ("Which lodger has the lowest total of stays?", Rows(json!([["Ann", 100.0]]))),
            ("Which stay has the highest total?", Rows(json!([[130.0]]))),
            ("Which lodger has the most stays?", Rows(json!([["Bo", 2]]))),
            ("Which lodger has the fewest stays?", Rows(json!([["Di", 0]]))),
            ("Which bag has the highest tare?", Rows(json!([[9], [9]]))),
            ("Show the stay with the highest note", Refused("note")),
        ],
    );
}

const SCHOOL: &str = "
create table pupil(id integer primary key, name text);
insert into pupil values (1,'Amy Orr'),(2,'Amy Orr'),(3,'Ben');
create table lesson(id integer primary key, pupil_id integer references pupil(id), held_on date);
insert into lesson values (1,1,'2024-01-01'),(2,1,'2025-01-01'),(3,2,'2024-02-02');
";

#[test]
fn each_counts_also_what_has_no_rows() {
    let base = Base::of(SCHOOL);
    check(
        &base,
        &[
            ("How many lessons has each pupil?", Rows(json!([[1, "Amy Orr", 2], [2, "Amy Orr", 1], [3, "Ben", 0]]))),
            (
                "How many lessons are there for every pupil?",
                Rows(json!([[1, "Amy Orr", 2], [2, "Amy Orr", 1], [3, "Ben", 0]])),
            ),
        ],
    );
    let asked = base.ask("How many lessons are there per pupil?");
    assert!(asked.said.contains("count ≥ 1"), "{asked:?}");
}

const LADEN: &str = "
create table artikel(id integer primary key, bezeichnung text, warengruppe text, preis real);
insert into artikel values (1,'Hammer','Werkzeug',9.5),(2,'Zange','Werkzeug',20.5),(3,'Lampe','Licht',39.0);
";
const SHELF: &str = "
create table writer(id integer primary key, name text);
insert into writer values (1,'Ann Hill'),(2,'Cees Vos'),(3,'Emil Rask');
create table volume(id integer primary key, title text, writer_id integer references writer(id), editor_id integer references writer(id), language text);
insert into volume values (1,'Tides',1,2,'en'),(2,'Fjord',1,2,'da'),(3,'Polder',2,1,'nl'),(4,'Heron',3,2,'en');
create table player(id integer primary key, name text, \"order\" integer);
insert into player values (1,'A',10),(2,'B',10),(3,'C',7);
create table crate(id integer primary key, name text);
insert into crate values (1,'x'),(2,'y');
create table tin(id integer primary key, crate_id integer references crate(id));
insert into tin values (1,1),(2,1),(3,1),(4,2);
";

#[test]
fn plain_words_are_read() {
    check(
        &Base::of(LADEN),
        &[
            ("Was ist der Durchschnittspreis der Artikel?", number(23.0)),
            (
                "Was ist der Durchschnittspreis der Artikel je Warengruppe?",
                Rows(json!([["Werkzeug", 15.0], ["Licht", 39.0]])),
            ),
            ("Welcher Artikel ist am teuersten?", Rows(json!([[3, 39.0]]))),
            ("Wie viele Artikel kosten mehr als 9,50 Euro?", number(2)),
            ("Wie viele Artikel kosten zwischen 9,50 und 39 Euro?", number(3)),
        ],
    );
    check(
        &Base::of(SHELF),
        &[
            ("How many players have the order 10?", number(2)),
            ("Which writers have exactly 2 volumes?", Rows(json!([["Ann Hill", 2]]))),
            ("Which writers have more than one volume?", Rows(json!([["Ann Hill", 2]]))),
            ("How many crates have more than 2 tins?", Rows(json!([["x", 3]]))),
        ],
    );
}

#[test]
fn a_word_right_before_a_value_is_not_left_out() {
    let base = Base::of(
        "create table sale(id integer primary key, city text, article text, price real);
         insert into sale values (1,'Oslo','Tea',4.0),(2,'Oslo','Salt',1.0),(3,'Bergen','Tea',6.0);",
    );
    check(
        &base,
        &[
            ("What is the average price of Tea?", number(5.0)),
            ("What is the average price of green Tea?", Refused("green")),
            ("How many sales of black Salt are there?", Refused("black")),
            ("How many sales in the city Oslo are there?", number(2)),
        ],
    );
}

#[test]
fn a_question_goes_to_the_database_that_explains_its_words() {
    let inn = "create table booking(id integer primary key, total real, cancelled integer); insert into booking values (1,5.0,0);
        create table visitor(id integer primary key, name text, town text); insert into visitor values (1,'Ann','Lund');";
    let stage = "create table ticket(id integer primary key, amount real, currency text); insert into ticket values (1,5.0,'EUR');
        create table visitors(id integer primary key, name text, town text); insert into visitors values (1,'Bo','Lund');";
    let both = [("inn", inn), ("stage", stage)];
    let asked = |text: &str| ask_several(&both, text);
    assert_eq!(asked("How many bookings are there?").as_deref(), Ok("inn"));
    assert_eq!(asked("What is the sum of the amount of tickets in EUR?").as_deref(), Ok("stage"));
    assert!(asked("What is the total value of the bookings in EUR?").is_err());
    for question in ["How many visitors are from Lund?", "How many visitors are there?"] {
        let open = asked(question).expect_err("two databases fit");
        assert!(open.iter().any(|word| word.contains("inn / stage")), "{open:?}");
    }
    assert_eq!(asked("How many visitors are in the inn?").as_deref(), Ok("inn"));
    assert_eq!(asked("How many visitors from Lund are in stage?").as_deref(), Ok("stage"));
}
