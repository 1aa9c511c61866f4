use super::Bench;
use std::path::PathBuf;
use steward_testkit::model_server::Script;

const CORPUS: &str = r#"{"_id": "tide", "title": "Tides", "text": "The tide is high twice a day, when the moon pulls at the sea."}
{"_id": "bread", "title": "Bread", "text": "Dough rests for an hour before it goes into the oven."}
{"_id": "roof", "title": "Roofs", "text": "Slate lasts for a hundred years; set roof_pitch to 35."}
"#;
const QUERIES: &str = r#"{"_id": "q1", "text": "how often does the sea rise"}
{"_id": "q2", "text": "roof_pitch"}
{"_id": "q3", "text": "nobody judged this"}
"#;

fn file(bench: &Bench, name: &str, text: &str) -> PathBuf {
    let path = bench.work.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_collection_is_measured() {
    let bench = Bench::new(Script::default());
    let corpus = file(&bench, "corpus.jsonl", CORPUS).display().to_string();
    let queries = file(&bench, "queries.jsonl", QUERIES).display().to_string();
    let qrels =
        file(&bench, "test.tsv", "query-id\tcorpus-id\tscore\nq1\ttide\t1\nq2\troof\t1\n").display().to_string();
    let command = ["eval", "retrieval", "--corpus", &corpus, "--queries", &queries, "--qrels", &qrels];
    let found = bench.run(&[&command[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&found["documents"], &found["queries"]), (&3.into(), &2.into()), "{found}");
    let stages = found["stages"].as_array().unwrap();
    let names: Vec<&str> = stages.iter().filter_map(|stage| stage["name"].as_str()).collect();
    assert_eq!(names, ["bm25", "vectors", "rrf", "exact"]);
    assert_eq!(stages[2]["ndcg_at_10"], 1.0, "{found}");
    assert_eq!(found["vector_recall_at_10"], 1.0, "{found}");
    let shown = bench.run(&command).exits(0);
    assert!(shown.out.contains("nDCG@10") && shown.out.contains("3 documents"), "{shown:#?}");

    let broken = file(&bench, "broken.jsonl", "{\"_id\": 1}").display().to_string();
    let bad = ["eval", "retrieval", "--corpus", &corpus, "--queries", &broken, "--qrels", &qrels];
    bench.run(&bad).exits(1).tells(&["broken.jsonl, line 1"]);
    let missing = ["eval", "retrieval", "--corpus", "nowhere", "--queries", &queries, "--qrels", &qrels];
    bench.run(&missing).exits(1).tells(&["nowhere can't be read"]);
}
