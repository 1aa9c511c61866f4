use crate::common::{Bench, Done};
use serde_json::{Value, json};
use std::path::Path;
use steward_testkit::model_server::Script;

fn slugs(done: &Done) -> Vec<String> {
    done.json().as_array().unwrap().iter().map(|one| one["slug"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn organisations_are_made_disabled_and_deleted() {
    let bench = Bench::new(Script::default());
    let run = |args: &[&str]| bench.run(args);
    assert_eq!(slugs(&run(&["tenant", "--json"]).exits(0)), ["default"]);
    let made = run(&["tenant", "create", "acme", "--admin", "ann@acme.example", "--json"]).exits(0).json();
    assert_eq!(made["user"]["role"], "admin");
    assert!(made["invitation"]["token"].as_str().is_some_and(|token| token.starts_with('t')), "{made}");
    run(&["tenant", "create", "acme", "--admin", "ann@acme.example"]).exits(1).tells(&["another slug"]);
    run(&["tenant", "create", "Acme", "--admin", "ann@acme.example"]).exits(1).tells(&["lower-case"]);
    run(&["tenant", "rename", "acme", "Acme Ltd"]).exits(0).tells(&["Acme Ltd"]);
    let list = run(&["tenant"]).exits(0);
    assert!(list.out.contains("Acme Ltd") && list.out.contains("the installation's own"), "{list:?}");
    let id = made["tenant"]["id"].as_str().unwrap();
    let folder = bench.data().join("tenants").join(id);
    assert!(folder.join("workspace").is_dir());

    run(&["tenant", "delete", "acme", "--confirm", "acme"]).exits(1).tells(&["disable it first"]);
    run(&["tenant", "disable", "acme"]).exits(0).tells(&["have ended"]);
    run(&["tenant", "delete", "acme"]).exits(1).tells(&["--confirm acme"]);
    run(&["tenant", "delete", "acme", "--confirm", "other"]).exits(1).tells(&["not the slug"]);
    let deleted = run(&["tenant", "delete", "acme", "--confirm", "acme", "--json"]).exits(0).json();
    let rows = |table: &str| {
        let tables = deleted["tables"].as_array().unwrap();
        tables.iter().find(|one| one["table"] == table).map_or(Value::Null, |one| one["rows"].clone())
    };
    assert_eq!((rows("users"), rows("agents")), (json!(1), json!(1)));
    assert!(!folder.exists());
    assert_eq!(slugs(&run(&["tenant", "--json"]).exits(0)), ["default"]);
    run(&["tenant", "disable", "default"]).exits(1).tells(&["can't be disabled"]);
    nothing_is_left(&bench.data().join("steward.db"), id);
    let audit = run(&["audit", "--action", "tenants.deleted", "--json"]).exits(0);
    assert!(audit.out.contains("\"rows\""), "{audit:?}");
}

/// Looks into every table that has a tenant.
fn nothing_is_left(file: &Path, tenant: &str) {
    let database = rusqlite::Connection::open(file).unwrap();
    let mut tables = database
        .prepare("select m.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and c.name = 'tenant_id'")
        .unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.len() > 40, "{tables:?}");
    let digits = tenant.replace('-', "");
    for table in tables {
        // Ids are bytes or text.
        let count =
            format!("select count(*) from {table} where lower(hex(tenant_id)) = '{digits}' or tenant_id = '{tenant}'");
        let left: i64 = database.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}
