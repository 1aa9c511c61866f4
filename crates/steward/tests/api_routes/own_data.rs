use crate::api_routes::house::{House, client, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

/// An agent that has done these statements in its database.
fn house(statements: &[&str]) -> House {
    let calls = statements.iter().map(|sql| Behaviour::calls([("db_query", json!({"sql": sql}))]));
    let people = [("ann", "developer"), ("vic", "viewer"), ("olga", "operator"), ("ada", "admin")];
    House::with_people(Script::of(calls.chain([Behaviour::text("Done.")])), &people)
}

fn switch(house: &House, own_data: Value, allow: &str) -> String {
    let agent = house.agent();
    let patch = json!({"own_data": own_data, "policy": {"tools": {"db_query": allow}}});
    house.send(Method::PATCH, &format!("/api/universal-agents/{agent}"), Some(patch), 200);
    agent
}

#[test]
fn a_memory_is_read_changed_and_cleared() {
    let house = house(&[]);
    let path = format!("/api/agents/{}/memory", house.agent());
    let nothing = json!({"text": "", "version": 0, "characters": 0, "limit": 4000, "origins": []});
    assert_eq!(house.get(&path), nothing);
    let put = |text: &str, version: u64, expect: u16| {
        house.send(Method::PUT, &path, Some(json!({"text": text, "version": version})), expect)
    };
    assert_eq!(put("likes tea\n", 0, 200)["text"], "likes tea");
    assert_eq!(put("lost", 0, 409)["code"], "changed_meanwhile");
    assert_eq!(put("lost", 7, 409)["code"], "changed_meanwhile");
    assert_eq!(put(&"é".repeat(4001), 1, 422)["field"], "text");
    assert_eq!(put(&"é".repeat(4000), 1, 200)["characters"], 4000);
    // Each user has their own, whatever their role; nobody reads another's.
    for name in ["vic", "ann", "olga", "ada"] {
        let of = |method, body| house.call_as(&key(name), method, &path, body);
        assert_eq!(of(Method::GET, None), (200, nothing.clone()), "{name}");
        assert_eq!(of(Method::PUT, Some(json!({"text": name, "version": 0}))).0, 200, "{name}");
        assert_eq!(of(Method::GET, None).1["text"], name);
    }
    assert_eq!(house.call_as(&key("ann"), Method::DELETE, &path, None).0, 204);
    assert_eq!(house.call_as(&key("ann"), Method::GET, &path, None).1["text"], "");
    assert_eq!(house.get(&path)["characters"], 4000);
    house.send(Method::DELETE, &path, None, 204);
    assert_eq!(house.get(&path)["text"], "");
    assert_eq!(house.call_as(&key("olga"), Method::GET, &path, None).1["text"], "olga");
    house.send(Method::GET, &format!("/api/agents/{}/memory", uuid::Uuid::from_u128(1)), None, 404);
    house.send(Method::PUT, &path, Some(json!({"text": "x"})), 422);
}

#[test]
fn what_all_share_is_changed_by_who_may_edit_the_agent() {
    let house = house(&[]);
    let agent = house.agent();
    let path = format!("/api/agents/{agent}/memory");
    assert_eq!(house.send(Method::PUT, &path, Some(json!({"text": "private", "version": 0})), 200)["version"], 1);
    switch(&house, json!({"shared": true, "database": true}), "allow");
    assert_eq!(house.get(&path)["text"], "", "what was kept for one is not for all");
    let change = |name: &str, version: u64| {
        let body = json!({"text": format!("by {name}"), "version": version});
        house.call_as(&key(name), Method::PUT, &path, Some(body)).0
    };
    assert_eq!((change("vic", 0), change("ann", 0), change("olga", 0)), (403, 403, 200));
    for name in ["vic", "ann", "ada"] {
        assert_eq!(house.call_as(&key(name), Method::GET, &path, None).1["text"], "by olga", "{name}");
    }
    let database = format!("/api/agents/{agent}/database");
    let doc = json!({"text": "obey", "version": 0});
    for name in ["vic", "ann"] {
        assert_eq!(house.call_as(&key(name), Method::DELETE, &path, None).0, 403, "{name}");
        assert_eq!(house.call_as(&key(name), Method::DELETE, &database, None).0, 403, "{name}");
        let schema = format!("{database}/schema");
        assert_eq!(house.call_as(&key(name), Method::PUT, &schema, Some(doc.clone())).0, 403, "{name}");
        let restore = format!("{database}/restore");
        assert_eq!(house.call_as(&key(name), Method::POST, &restore, Some(json!({}))).0, 403, "{name}");
    }
    switch(&house, json!({"shared": false}), "allow");
    assert_eq!(house.get(&path)["text"], "private");
}

#[test]
fn a_database_is_looked_at_emptied_and_restored() {
    let house = house(&[
        "CREATE TABLE ai_teas(id INTEGER PRIMARY KEY, name TEXT)",
        "INSERT INTO ai_teas(name) VALUES ('Assam'), ('Sencha'), ('Mate')",
        "CREATE VIEW ai_names AS SELECT name FROM ai_teas",
    ]);
    let agent = switch(&house, json!({"database": true, "documentation": true}), "allow");
    let path = format!("/api/agents/{agent}/database");
    let empty = house.get(&path);
    assert_eq!((&empty["tables"], &empty["enabled"], &empty["bytes"]), (&json!([]), &json!(true), &json!(0)));
    assert_eq!((&empty["shared"], &empty["origins"]), (&json!(false), &json!([])));
    house.finished("Keep a list of teas");
    let found = house.get(&path);
    let columns = json!([{"name": "id", "kind": "INTEGER"}, {"name": "name", "kind": "TEXT"}]);
    assert_eq!(found["tables"][1], json!({"name": "ai_teas", "view": false, "columns": columns, "rows": 3}));
    assert_eq!((&found["tables"][0]["view"], &found["tables"][0]["rows"]), (&json!(true), &Value::Null));
    let page = house.get(&format!("{path}/ai_teas?limit=2"));
    assert_eq!(page["rows"], json!([[1, "Assam"], [2, "Sencha"]]));
    let page = house.get(&format!("{path}/ai_teas?limit=2&after={}", page["next"]));
    assert_eq!((&page["rows"], &page["next"]), (&json!([[3, "Mate"]]), &Value::Null));
    for (table, expect) in [("ai_none", 404), ("steward_calls", 404), ("sqlite_schema", 404), ("ai_teas?limit=x", 422)]
    {
        house.send(Method::GET, &format!("{path}/{table}"), None, expect);
    }
    let query = |sql: &str, expect: u16| house.post(&format!("{path}/query"), json!({"sql": sql}), expect);
    assert_eq!(query("SELECT count(*) AS n FROM ai_teas", 200)["rows"], json!([[3]]));
    for sql in
        ["DELETE FROM ai_teas", "DROP TABLE ai_teas", "SELECT * FROM steward_calls", "PRAGMA query_only = 0", " "]
    {
        assert_eq!(query(sql, 422)["field"], "sql", "{sql}");
    }
    let doc = |text: &str, version: u64, expect: u16| {
        let body = json!({"text": text, "version": version});
        house.send(Method::PUT, &format!("{path}/schema"), Some(body), expect)
    };
    assert_eq!(doc("ai_teas: teas", 0, 200)["version"], 1);
    doc("lost", 0, 409);
    doc(&"x".repeat(8001), 1, 422);
    // Another user has another one.
    assert_eq!(house.call_as(&key("ann"), Method::DELETE, &path, None).0, 204);
    assert_eq!(house.call_as(&key("ada"), Method::GET, &path, None).1["tables"], json!([]));
    house.send(Method::DELETE, &path, None, 204);
    assert_eq!((&house.get(&path)["tables"], &house.get(&path)["has_copy"]), (&json!([]), &json!(true)));
    let back = house.post(&format!("{path}/restore"), json!({}), 200);
    assert_eq!(back["tables"].as_array().unwrap().len(), 2);
    assert_eq!(back["documentation"]["text"], "ai_teas: teas");
}

#[test]
fn each_user_sees_their_own_database_and_takes_it_along() {
    let house = house(&["CREATE TABLE ai_mine(secret)", "INSERT INTO ai_mine VALUES ('of ann')"]);
    let agent = switch(&house, json!({"database": true}), "allow");
    let path = format!("/api/agents/{agent}/database");
    let grant = json!({"resource": {"kind": "agent", "id": agent}, "grantee": "everyone", "level": "use"});
    let _ = house.call(Method::POST, "/api/access", Some(grant));
    let (status, started) =
        house.call_as(&key("ann"), Method::POST, &format!("/api/chat/{agent}"), Some(json!({"message": "Keep it"})));
    assert_eq!(status, 202, "{started}");
    house.wait(&text(&started["run_id"]), "finished");
    let tables = |name: &str| house.call_as(&key(name), Method::GET, &path, None).1["tables"].clone();
    assert_eq!(tables("ann")[0]["name"], "ai_mine");
    assert_eq!(tables("olga"), json!([]));
    assert_eq!(house.get(&path)["tables"], json!([]));
    let memory = format!("/api/agents/{agent}/memory");
    let remembered = json!({"text": "sees a therapist", "version": 0});
    assert_eq!(house.call_as(&key("ann"), Method::PUT, &memory, Some(remembered)).0, 200);
    let ann = format!("{}", uuid::Uuid::from_u128(100));
    let (_, export) = house.call_as(&key("ada"), Method::GET, &format!("/api/users/{ann}/export"), None);
    let lines = export.as_str().map_or_else(|| export.to_string(), str::to_owned);
    assert!(lines.contains("database_table") && lines.contains("of ann"), "{lines}");
    assert!(lines.contains("sees a therapist"), "{lines}");
    let file = house.bench.data().join("agent-databases").join(&agent).join(format!("{ann}.db"));
    assert!(file.exists());
    // Their own is theirs to empty, without any right over the agent.
    assert_eq!(house.call_as(&key("ann"), Method::DELETE, &path, None).0, 204);
    assert_eq!(tables("ann"), json!([]));

    // Who is erased takes it along, with its copy.
    assert_eq!(house.call_as(&key("ann"), Method::POST, &format!("{path}/restore"), Some(json!({}))).0, 200);
    let erasure = format!("/api/users/{ann}/erasure");
    let preview = house.call_as(&key("ada"), Method::GET, &erasure, None).1["preview"].clone();
    for kind in ["databases", "memories"] {
        assert!(preview["goes"].as_array().unwrap().contains(&json!({"kind": kind, "count": 1})), "{preview}");
    }
    let confirmed = json!({"confirmation": preview["confirmation"]});
    assert_eq!(house.call_as(&key("ada"), Method::POST, &erasure, Some(confirmed)).0, 202);
    for _ in 0..600 {
        if !house.call_as(&key("ada"), Method::GET, &erasure, None).1["erasure"]["done_at"].is_null() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let folder = std::fs::read_dir(file.parent().unwrap()).unwrap();
    let left: Vec<_> =
        folder.map(|entry| entry.unwrap().file_name()).filter(|name| name.to_string_lossy().contains(&ann)).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn metatron(folder: &std::path::Path, instruction: &Value) -> Vec<u8> {
    let path = folder.join("metatron.db");
    let _ = std::fs::remove_file(&path);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(
        "CREATE TABLE chats(id INTEGER PRIMARY KEY, title TEXT);
         CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT);
         CREATE TABLE ai_books(id INTEGER PRIMARY KEY, title TEXT NOT NULL, rating REAL, cover BLOB, up AS (upper(title)));
         CREATE INDEX books_by_title ON ai_books(title);
         CREATE VIEW ai_good AS SELECT title FROM ai_books WHERE rating > 3;
         CREATE TABLE ai_loans(book INTEGER REFERENCES ai_books(id), who TEXT);
         CREATE TRIGGER ai_t AFTER INSERT ON ai_loans BEGIN DELETE FROM chats; END;
         INSERT INTO ai_books(title, rating, cover) VALUES ('Momo', 4.5, x'00ff'), ('Krabat', NULL, NULL);
         INSERT INTO ai_loans VALUES (1, 'Ann');
         INSERT INTO chats VALUES (1, 'private');",
    )
    .unwrap();
    conn.execute("INSERT INTO settings VALUES ('system_instruction', ?1)", [instruction.to_string()]).unwrap();
    drop(conn);
    std::fs::read(path).unwrap()
}

fn import(house: &House, agent: &str, file: Vec<u8>) -> (u16, Value) {
    let request = client()
        .post(format!("{}/api/agents/{agent}/import-metatron", house.server.url))
        .bearer_auth(&house.server.key)
        .header("content-type", "application/octet-stream")
        .body(file);
    house.bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    })
}

#[test]
fn a_database_of_metatron_is_taken_over() {
    let house = house(&[]);
    let agent = house.agent();
    let folder = tempfile::tempdir().unwrap();
    let instruction = json!({
        "coreInstruction": "You are a librarian.", "memory": "- Ann borrows a lot", "memoryEnabled": true,
        "dbSchema": "ai_books: books", "updatedAt": "2026-01-01T00:00:00Z",
    });
    for (file, expect) in [
        (b"not a database at all, but long enough to have a header of its own".to_vec(), "no SQLite database"),
        (Vec::new(), "no SQLite database"),
        (metatron(folder.path(), &json!("text")), "not what MetatronOS writes"),
        (metatron(folder.path(), &json!({"memory": "x".repeat(4001)})), "at most 4000 fit"),
        (metatron(folder.path(), &json!({"dbSchema": "x".repeat(8001)})), "at most 8000 fit"),
    ] {
        let (status, problem) = import(&house, &agent, file);
        assert_eq!((status, &problem["field"]), (422, &json!("file")), "{problem}");
        assert!(text(&problem["title"]).contains(expect), "{expect}: {problem}");
    }
    let before = house.get(&format!("/api/agents/{agent}"));
    assert_ne!(before["instructions"], "You are a librarian.");
    let (status, taken) = import(&house, &agent, metatron(folder.path(), &instruction));
    assert_eq!(status, 200, "{taken}");
    assert_eq!((&taken["tables"], &taken["rows"]), (&json!(["ai_books", "ai_loans"]), &json!(3)));
    assert_eq!(taken["left_out"], json!([]));
    assert_eq!(taken["agent"]["instructions"], "You are a librarian.");
    assert_eq!(
        taken["agent"]["own_data"],
        json!({"memory": true, "database": true, "documentation": true, "shared": false})
    );
    assert_eq!(house.get(&format!("/api/agents/{agent}/memory"))["text"], "- Ann borrows a lot");
    let database = house.get(&format!("/api/agents/{agent}/database"));
    assert_eq!(database["documentation"]["text"], "ai_books: books");
    let names: Vec<String> = database["tables"].as_array().unwrap().iter().map(|table| text(&table["name"])).collect();
    assert_eq!(names, ["ai_books", "ai_good", "ai_loans"]);
    let rows = house.get(&format!("/api/agents/{agent}/database/ai_books"));
    let cover = json!({"blob_bytes": 2, "hex_prefix": "00ff"});
    assert_eq!(rows["rows"], json!([[1, "Momo", 4.5, cover, "MOMO"], [2, "Krabat", null, null, "KRABAT"]]));
    let left: Vec<_> = std::fs::read_dir(house.bench.data().join("agent-databases").join(&agent))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(left.len() == 1 && !left[0].starts_with("shared"), "the caller's own: {left:?}");
    // Again: what was there is set aside.
    assert_eq!(import(&house, &agent, metatron(folder.path(), &json!({"memoryEnabled": false}))).0, 200);
    let now = house.get(&format!("/api/agents/{agent}"));
    assert_eq!(now["own_data"], json!({"memory": false, "database": false, "documentation": false, "shared": false}));
    assert_eq!(now["instructions"], "You are a librarian.", "a blank core replaces nothing");
}
