//! Which databases can be added, and folders of files as one.

use super::{PEOPLE, place, rows, shop};
use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::json;
use std::path::Path;
use steward_testkit::model_server::Script;

#[test]
fn datasources_that_can_t_be_are_refused() {
    let house = shop(Script::default());
    for (body, part) in [
        (json!({"name": "1st", "database": "sqlite:chinook.db"}), "can't be the name"),
        (json!({"name": "a", "database": "oracle://x/y"}), "none of"),
        (json!({"name": "a", "database": "postgres://me:secret@db/x"}), "password"),
        (json!({"name": "a", "database": "sqlite:chinook.db", "limits": {"rows": 0}}), "use at least 1"),
    ] {
        let problem = house.post("/api/datasources", body.clone(), 422);
        assert!(problem.to_string().contains(part), "{body}: {problem}");
    }
    house.post("/api/datasources", json!({"name": "music", "database": "sqlite:chinook.db"}), 409);
    // Steward's own files can't be added; what is not there can be, but not opened.
    let own = format!("sqlite:{}", house.bench.data().join("steward.db").display());
    let problem = house.post("/api/datasources", json!({"name": "other", "database": own}), 422);
    assert!(problem.to_string().contains("belongs to Steward itself"), "{problem}");
    for database in ["sqlite:../x.db", "sqlite:missing.db"] {
        let made = house.post("/api/datasources", json!({"name": "other", "database": database}), 201);
        let problem = house.post(&place(&made, "check"), json!({}), 409);
        assert!(!problem["title"].as_str().unwrap_or_default().is_empty(), "{problem}");
        house.send(Method::DELETE, &format!("/api/datasources/{}", text(&made["id"])), None, 204);
    }
}

#[test]
fn a_login_goes_to_the_servers_of_its_credential_only() {
    let house = House::with_people(Script::default(), PEOPLE);
    let fields = json!({"username": "reader", "password": "only-for-reading"});
    let body = json!({"name": "erp reader", "kind": "password", "fields": fields, "hosts": ["db.example.org:5432"]});
    let credential = house.post("/api/credentials", body, 201);
    let named = |database: &str| json!({"name": "erp", "database": database, "credential": credential["id"]});
    for elsewhere in [
        "postgres://db.example.net/erp",
        "postgres://db.example.org:5433/erp",
        "mysql://db.example.org/erp",
        "postgres://db.example.org/erp?host=db.example.net",
    ] {
        let problem = house.post("/api/datasources", named(elsewhere), 422);
        assert_eq!(problem["field"], "credential", "{elsewhere}: {problem}");
    }
    let made = house.post("/api/datasources", named("postgres://db.example.org/erp"), 201);
    let path = format!("/api/credentials/{}", text(&credential["id"]));
    house.send(Method::PATCH, &path, Some(json!({"hosts": ["other.example.org"]})), 200);
    let problem = house.post(&place(&made, "check"), json!({}), 503);
    assert!(text(&problem["title"]).contains("may only be sent to other.example.org"), "{problem}");
    let uses = house.get(&format!("{path}/uses"));
    assert_eq!(uses["items"], json!([]), "it was not opened: {uses}");
}

#[test]
fn a_folder_of_files_is_a_database_that_is_only_read() {
    let house = House::with_people(Script::default(), PEOPLE);
    std::fs::create_dir(house.bench.work.path().join("numbers")).unwrap();
    house.bench.work.write("numbers/stations.csv", "id,name\n1,Oslo\n2,Bergen\n").unwrap();
    house
        .bench
        .work
        .write("numbers/readings.tsv", "station_id\ttaken\tvalue\n1\t2024-01-01\t3.5\n2\t2024-01-02\t4\n")
        .unwrap();
    house.bench.work.write("numbers/notes.txt", "no table").unwrap();
    let soil = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sandbox/tests/data/parquet/polars.parquet");
    std::fs::copy(soil, house.bench.work.path().join("numbers/soil.parquet")).unwrap();
    let body = json!({"name": "numbers", "database": "folder:numbers", "writable": true});
    let problem = house.post("/api/datasources", body, 422);
    assert!(problem.to_string().contains("only read"), "{problem}");
    let made = house.post("/api/datasources", json!({"name": "numbers", "database": "folder:numbers"}), 201);
    let init = house.post(&place(&made, "init"), json!({"save": true}), 200);
    assert_eq!(init["domains"].as_array().unwrap().len(), 3, "{init}");
    house.bench.work.write("numbers/more.xlsx", "PK").unwrap();
    house.bench.work.write("numbers/list.json", "[]").unwrap();
    let check = house.post(&place(&made, "check"), json!({}), 200);
    let told = check["left_out"].to_string();
    for part in ["`list.json`: it is no list of objects", "`more.xlsx`: a spreadsheet is no table", "CSV"] {
        assert!(told.contains(part) && !told.contains("notes.txt"), "{check}");
    }
    // A list of objects is a table, and so are lines of them; other JSON is not.
    let sites = r#"[{"id": 1, "place": {"name": "Oslo"}, "height": 23.5}, {"id": 2, "place": {"name": "Bergen"}}]"#;
    house.bench.work.write("numbers/sites.json", sites).unwrap();
    house
        .bench
        .work
        .write("numbers/visits.jsonl", "{\"site\": 1, \"people\": 3}\n{\"site\": 2, \"people\": 4}\n")
        .unwrap();
    house.bench.work.write("numbers/settings.json", "{\"unit\": \"mm\"}").unwrap();
    let check = house.post(&place(&made, "check"), json!({}), 200);
    let tables: Vec<String> = check["tables"].as_array().unwrap().iter().map(|table| text(&table["name"])).collect();
    assert_eq!(tables, ["readings", "sites", "soil", "stations", "visits"]);
    assert!(check["left_out"].to_string().contains("`settings.json`: it is no list of objects"), "{check}");
    let init = house.post(&place(&made, "init"), json!({"tables": ["sites", "visits"], "save": true}), 200);
    assert_eq!(init["domains"].as_array().unwrap().len(), 2, "{init}");
    let people = json!({"domain": "visits", "aggregate": [{"fn": "sum", "field": "people"}]});
    assert_eq!(rows(&house, people), [json!([7])]);
    let names = json!({"domain": "sites", "fields": ["place_name", "height"], "order": [{"field": "id"}]});
    assert_eq!(rows(&house, names), [json!(["Oslo", 23.5]), json!(["Bergen", null])]);
    let by_year = json!({"domain": "soil", "group": [{"field": "taken", "by": "year"}],
        "where": [{"field": "taken", "op": "gt", "value": "2023"}], "aggregate": [{"fn": "sum", "field": "value"}]});
    assert_eq!(rows(&house, by_year), [json!(["2024", 1.5]), json!(["2025", 3.0])]);
    let sum = || rows(&house, json!({"domain": "readings", "aggregate": [{"fn": "sum", "field": "value"}]}));
    assert_eq!(sum(), [json!([7.5])]);
    // What is written comes with the next question.
    house.bench.work.write("numbers/readings.tsv", "station_id\ttaken\tvalue\n1\t2024-01-01\t10.25\n").unwrap();
    assert_eq!(sum(), [json!([10.25])]);
    for (database, part) in [
        ("folder:nowhere", "can't be read"),
        ("folder:../up", "inside of the workspace"),
        ("folder:/etc", "inside of the workspace"),
        ("folder:", "name a folder"),
    ] {
        let (status, problem) =
            house.call(Method::POST, "/api/datasources", Some(json!({"name": "other", "database": database})));
        let told = if status == 201 {
            house.call(Method::POST, &place(&problem, "init"), Some(json!({"save": true}))).1.to_string()
        } else {
            problem.to_string()
        };
        assert!(told.contains(part), "{database}: {told}");
        if status == 201 {
            house.send(Method::DELETE, &format!("/api/datasources/{}", text(&problem["id"])), None, 204);
        }
    }
}
