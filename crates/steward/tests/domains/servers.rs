//! Domains over databases of a PostgreSQL server.

use super::changes::{decide, propose};
use super::questions::{examples, use_small_model};
use super::{PEOPLE, ask, ask_as_an_ideal_model, describe, place};
use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_testkit::model_server::Script;
use steward_testkit::postgres::TestPostgres;

const PASSWORD: &str = "only-for-reading";

/// A new database in which `reader` may log in, made by these statements: its address for the server's owner.
fn database(house: &House, statements: &str) -> String {
    let runtime = &house.bench.runtime;
    let server = runtime.block_on(TestPostgres::shared()).unwrap();
    let url = runtime.block_on(server.fresh_database()).unwrap();
    let reader = format!("create role reader login password '{PASSWORD}';");
    runtime.block_on(server.execute(&url, &format!("{reader}{statements}"))).unwrap();
    url
}

/// Adds it as a datasource.
fn add(house: &House, name: &str, url: &str, more: &Value) -> Value {
    let fields = json!({"username": "reader", "password": PASSWORD});
    let credential = json!({"name": format!("{name} reader"), "kind": "password", "fields": fields});
    let credential = house.post("/api/credentials", credential, 201);
    let address = url.split_once('@').unwrap().1;
    let mut body = json!({"name": name, "database": format!("postgres://{address}"), "credential": credential["id"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    house.post("/api/datasources", body, 201)
}

#[test]
fn a_server_runs_statements_as_the_person_who_asks() {
    let house = House::with_people(Script::default(), PEOPLE);
    let roles = r#"
        create role "dan@example.org"; create role "olga@example.org";
        grant "dan@example.org", "olga@example.org" to reader;
        create table note (id int primary key, owner text not null, text text);
        insert into note values (1, 'dan@example.org', 'of Dan'), (2, 'olga@example.org', 'of Olga'), (3, 'nobody', 'of nobody');
        alter table note enable row level security;
        create policy own on note using (owner = current_user);
        grant select on note to reader, "dan@example.org";
        grant select, update on note to "olga@example.org";"#;
    let url = database(&house, roles);
    let source = add(&house, "notes", &url, &json!({"writable": true, "as_asking_user": true}));
    house.post(&place(&source, "init"), json!({"save": true}), 200);

    let query = json!({"domain": "note", "fields": ["text"]});
    let (olga, dan, vera) = (key("olga"), key("dan"), key("vera"));
    for _ in 0..3 {
        // The same connection serves both.
        for (who, expect) in [(&dan, "of Dan"), (&olga, "of Olga")] {
            let (status, answer) = ask(&house, who, query.clone());
            assert_eq!((status, &answer["rows"]), (200, &json!([[expect]])), "{answer}");
        }
    }
    let text_of = |status: u16, answer: &Value| format!("{status} {} {}", answer["title"], answer["detail"]);
    // The role has a domain's right, the database has no role.
    let (status, answer) = ask(&house, &vera, query.clone());
    let told = text_of(status, &answer);
    assert!(status >= 400 && told.contains("vera@example.org"), "{told}");
    let (status, answer) =
        house.call_as(&dan, Method::POST, "/api/graphql", Some(json!({"query": "{ note { text } }"})));
    assert_eq!(answer["data"]["note"], json!([{"text": "of Dan"}]), "{status} {answer}");

    // A change of a row that the database does not show is none, and one is written as who confirms it.
    let change = |key: u32| json!({"change": "update", "domain": "note", "key": key, "set": {"text": "seen"}});
    let (status, answer) = propose(&house, &olga, change(1));
    assert!(status == 422 && text(&answer["title"]).contains("no such record"), "{answer}");
    let (status, proposed) = propose(&house, &olga, change(2));
    assert_eq!(status, 201, "{proposed}");
    for (verb, state) in [("confirm", "done"), ("undo", "undone")] {
        let (status, answer) = decide(&house, &olga, &proposed, verb);
        assert_eq!((status, &answer["change"]["state"]), (200, &json!(state)), "{answer}");
    }

    // Without roles, a policy can still ask who it is.
    let runtime = &house.bench.runtime;
    let server = runtime.block_on(TestPostgres::shared()).unwrap();
    let policy = "create policy told on note using (owner = current_setting('steward.user', true))";
    runtime.block_on(server.execute(&url, policy)).unwrap();
    let path = format!("/api/datasources/{}", text(&source["id"]));
    let mut shared = source.clone();
    shared["as_asking_user"] = false.into();
    shared.as_object_mut().unwrap().retain(|name, _| !["id", "changed_at"].contains(&name.as_str()));
    house.send(Method::PUT, &path, Some(shared), 200);
    for (who, expect) in [(&dan, json!([["of Dan"]])), (&vera, json!([]))] {
        let (status, answer) = ask(&house, who, query.clone());
        assert_eq!((status, &answer["rows"]), (200, &expect), "{answer}");
    }

    let body = json!({"name": "files", "database": "sqlite:files.db", "as_asking_user": true});
    let (status, problem) = house.call_as(&house.server.key, Method::POST, "/api/datasources", Some(body));
    assert!(status == 422 && text(&problem["title"]).contains("only PostgreSQL"), "{problem}");
}

const MUSIC: &str = "
    create table artist (id int primary key, name text);
    create table album (id int primary key, title text not null, artist_id int not null references artist);
    create table genre (id int primary key, name text);
    create table media_type (id int primary key, name text);
    create table track (id int primary key, name text not null, album_id int references album,
        media_type_id int references media_type, genre_id int references genre, composer text, milliseconds int not null,
        bytes int, unit_price numeric(10, 2) not null);
    create table employee (id int primary key, first_name text, last_name text, title text, reports_to int references employee,
        birth_date date, hire_date date, address text, city text, state text, country text, postal_code text, phone text,
        fax text, email text);
    create table customer (id int primary key, first_name text, last_name text, company text, address text, city text,
        state text, country text, postal_code text, phone text, fax text, email text not null,
        support_rep_id int references employee);
    create table invoice (id int primary key, customer_id int not null references customer, invoice_date date not null,
        billing_address text, billing_city text, billing_state text, billing_country text, billing_postal_code text,
        total numeric(10, 2) not null);
    create table invoice_line (id int primary key, invoice_id int not null references invoice,
        track_id int not null references track, unit_price numeric(10, 2) not null, quantity int not null);
    create table playlist (id int primary key, name text);
    create table playlist_track (playlist_id int not null references playlist, track_id int not null references track,
        primary key (playlist_id, track_id));
    grant select on all tables in schema public to reader;";

/// The music shop of the workspace, as statements for PostgreSQL; read through its domains.
fn copied(house: &House) -> String {
    let mut statements = MUSIC.to_owned();
    for table in
        "artist album genre media_type track employee customer invoice invoice_line playlist playlist_track".split(' ')
    {
        let mut after = Value::Null;
        loop {
            let mut query = json!({"domain": table, "limit": 1000});
            if !after.is_null() {
                query["after"] = after;
            }
            let (status, answer) = ask(house, &house.server.key, query);
            assert_eq!(status, 200, "{answer}");
            let names: Vec<String> =
                answer["columns"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
            for row in answer["rows"].as_array().unwrap() {
                let values: Vec<String> = row.as_array().unwrap().iter().map(literal).collect();
                let _ =
                    writeln!(statements, "insert into {table} ({}) values ({});", names.join(", "), values.join(", "));
            }
            after = answer["next"].clone();
            if after.is_null() {
                break;
            }
        }
    }
    // The boss stands after those who report to her.
    format!(
        "begin; {} commit;",
        statements.replace("references employee,", "references employee deferrable initially deferred,")
    )
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}

/// The questions about the music shop, of the same rows on a server: as `init` describes it, and with what a person refined.
#[test]
fn prove_the_questions_about_the_shop_are_answered_on_a_server_too() {
    let house = House::with_people(Script::default(), PEOPLE);
    describe(&house);
    let rows = copied(&house);
    let url = database(&house, &rows);
    for name in house.items("/api/domains/texts").iter().map(|one| (text(&one["kind"]), text(&one["name"]))) {
        house.send(Method::DELETE, &format!("/api/domains/texts/{}/{}", name.0, name.1), None, 204);
    }
    let old = house.items("/api/datasources").remove(0);
    house.send(Method::DELETE, &format!("/api/datasources/{}", text(&old["id"])), None, 204);
    let source = add(&house, "music", &url, &json!({}));
    let init = house.post(&place(&source, "init"), json!({"save": true}), 200);
    assert_eq!(init["domains"].as_array().unwrap().len(), 11, "{init}");
    // Examples and lists of choices come from the rows.
    assert!(text(&init["text"]).contains("MPEG") && text(&init["text"]).contains("meta "), "{}", text(&init["text"]));

    ask_as_an_ideal_model(&house);
    use_small_model(&house);
    let file = examples("chinook.jsonl").display().to_string();
    let asked = || -> Value {
        let done = house.bench.run(&["eval", "domains", &file, "--json"]).exits(0);
        serde_json::from_str(&done.out).unwrap()
    };
    let by_init = asked();
    let domains = std::fs::read_to_string(examples("chinook.oos")).unwrap();
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": domains})), 200);
    let refined = asked();
    eprintln!("music shop on PostgreSQL: {} and, refined, {} of 60", by_init["right"], refined["right"]);
    let wrong = |found: &Value| {
        let all = found["results"].as_array().unwrap().iter();
        all.filter(|one| one["right"] == false).map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(by_init["right"].as_u64().unwrap() >= 36, "{}", wrong(&by_init));
    assert!(refined["right"].as_u64().unwrap() >= 36, "{}", wrong(&refined));
}
