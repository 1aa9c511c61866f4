use crate::commands::{both, with_input};
use serde_json::json;

#[test]
fn the_memory_of_an_agent() {
    both(|bench, _| {
        bench.run(&["agents", "memory", "show"]).exits(0).tells(&["it remembers nothing yet", "0 of 4000"]);
        bench.run(&["agents", "memory", "set", "steward", "likes tea"]).exits(0).tells(&["9 of 4000 characters"]);
        bench.run(&["agents", "memory", "append", "steward", "lives in Graz"]).exits(0);
        assert_eq!(bench.run(&["agents", "memory", "show", "steward"]).exits(0).out, "likes tea\nlives in Graz\n");
        with_input(bench, &["agents", "memory", "set", "steward", "--from", "-"], "from a file\n").exits(0);
        let shown = bench.run(&["agents", "memory", "show", "--json"]).exits(0).json();
        assert_eq!((&shown["text"], &shown["version"]), (&json!("from a file"), &json!(3)));
        let long = "x".repeat(4001);
        bench.run(&["agents", "memory", "set", "steward", &long]).exits(1).tells(&["at most 4000 fit"]);
        bench.run(&["agents", "memory", "append", "steward", " "]).exits(1).tells(&["the line is empty"]);
        bench.run(&["agents", "memory", "show", "nobody"]).exits(1).tells(&["there is no agent `nobody`"]);
        bench.run(&["agents", "memory", "clear", "steward"]).exits(1).tells(&["-y"]);
        bench.run(&["agents", "memory", "clear", "steward", "-y"]).exits(0).tells(&["remembers nothing any more"]);
        bench.run(&["agents", "memory", "show"]).exits(0).tells(&["it remembers nothing yet"]);
    });
}

#[test]
fn the_database_of_an_agent() {
    both(|bench, _| {
        bench.run(&["agents", "database", "tables"]).exits(0).tells(&["no tables yet", "can't use it"]);
        let edit = [
            "agents",
            "edit",
            "steward",
            "--memory",
            "on",
            "--own-database",
            "on",
            "--documentation",
            "on",
            "--shared",
            "off",
            "--json",
        ];
        let agent = bench.run(&edit).exits(0).json();
        assert_eq!(
            agent["own_data"],
            json!({"memory": true, "database": true, "documentation": true, "shared": false})
        );
        let file = bench.work.path().join("metatron.db");
        let _ = std::fs::remove_file(&file);
        let conn = rusqlite::Connection::open(&file).unwrap();
        conn.execute_batch(
            "CREATE TABLE settings(key TEXT, value TEXT); CREATE TABLE ai_books(title TEXT, rating REAL);
             INSERT INTO ai_books VALUES ('Momo', 4.5), ('Krabat', NULL);",
        )
        .unwrap();
        drop(conn);
        let file = file.display().to_string();
        bench.run(&["agents", "import-metatron", &file, "steward"]).exits(1).tells(&["-y"]);
        bench.run(&["agents", "import-metatron", &file, "steward", "-y"]).exits(0).tells(&["1 table with 2 rows"]);
        bench
            .run(&["agents", "import-metatron", "nothing.db", "steward", "-y"])
            .exits(1)
            .tells(&["cannot read nothing.db"]);
        let shown = bench.run(&["agents", "database", "tables"]).exits(0).out;
        assert!(["ai_books", "2 rows", "title, rating"].iter().all(|part| shown.contains(part)), "{shown}");
        let query = ["agents", "database", "query", "steward", "SELECT title FROM ai_books ORDER BY title"];
        assert!(bench.run(&query).exits(0).out.contains("title\nKrabat\nMomo"));
        let query = ["agents", "database", "query", "steward", "DELETE FROM ai_books"];
        bench.run(&query).exits(1).tells(&["not allowed"]);
        bench.run(&["agents", "database", "clear", "steward"]).exits(1).tells(&["-y"]);
        bench.run(&["agents", "database", "clear", "steward", "-y"]).exits(0).tells(&["database restore steward"]);
        bench.run(&["agents", "database", "tables"]).exits(0).tells(&["no tables yet"]);
        bench.run(&["agents", "database", "restore", "steward"]).exits(0).tells(&["as it was before"]);
        assert!(bench.run(&["agents", "database", "tables"]).exits(0).out.contains("ai_books"));
    });
}
