//! Parquet files that Arrow and Polars wrote, and files that nobody wrote so.

use serde_json::{Value, json};
use std::path::Path;
use steward_sandbox::sql::{Guard, Policy, SqlError, TableContent, TableFile};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet").join(name)).unwrap()
}

fn open(content: Vec<u8>) -> Result<Guard, SqlError> {
    let file = TableFile { source: "t.parquet", name: "t", content: TableContent::Parquet(content.into()) };
    Guard::of_tables(&[file], Policy::default())
}

fn rows(guard: &Guard, sql: &str) -> Value {
    json!(guard.query(sql).unwrap().rows)
}

#[test]
fn each_kind_of_column_keeps_its_values() {
    for codec in ["none", "snappy", "zstd", "gzip", "lz4"] {
        let guard = open(bytes(&format!("kinds-{codec}.parquet"))).unwrap();
        for (column, expect) in [
            ("id", json!([1, 2, 3, 4, 5, 6])),
            ("small", json!([1, -2, null, 4, 5, 6])),
            // One number that would lose digits makes all of them texts.
            ("large", json!(["18446744073709551615", "2", "3", "4", "5", "6"])),
            ("name", json!(["Ann", "Bo", null, "Zoë", "", "x'y\"z"])),
            ("ok", json!([1, 0, null, 1, 1, 0])),
            ("price", json!([12.5, -0.25, null, 99_999_999.99, 0.0, 1.1])),
            ("exact", json!(vec!["12345678901234567890.123"; 6])),
            ("single", json!([0.1, 2.5, null, -1e-20, 3e20, null])),
            ("double", json!([0.1, 2.5, null, 1e300, -0.0, 7.0])),
            ("day", json!(["2024-02-29", "1969-12-31", null, "0001-01-01", "9999-12-31", "2000-01-01"])),
            (
                "substr(at_ms, 1, 23)",
                json!([
                    "1970-01-01 00:00:00",
                    "2024-02-29 09:46:40.123",
                    null,
                    "1969-12-31 23:59:59.999",
                    "1970-01-01 00:00:00.001",
                    "1970-01-01 00:00:00.002"
                ]),
            ),
            (
                "at_us",
                json!([
                    "1970-01-01 00:00:00",
                    "2024-02-29 09:46:40.123456",
                    null,
                    "1969-12-31 23:59:59.999999",
                    "1970-01-01 00:00:00.000001",
                    "1970-01-01 00:00:00.000002"
                ]),
            ),
            (
                "at_ns",
                json!([
                    "1970-01-01 00:00:00",
                    "2024-02-29 09:46:40.123456789",
                    null,
                    "1969-12-31 23:59:59.999999999",
                    "1970-01-01 00:00:00.000000001",
                    "1970-01-01 00:00:00.000000002"
                ]),
            ),
            ("substr(clock, 1, 8)", json!(["00:00:00", "00:00:01", null, "00:00:03", "00:00:04", "23:59:59"])),
            ("tags", json!(["[\"a\",\"b\"]", "[]", null, "[\"c\"]", "[null]", "[\"d\"]"])),
            ("json_extract(place, '$.zip')", json!([5003, null, 1, 2, 3, 4])),
        ] {
            let found = guard.query(&format!("SELECT {column} FROM t ORDER BY id")).unwrap().rows;
            let found: Value = found.into_iter().map(|row| row[0].clone()).collect();
            assert_eq!(found, expect, "{codec}: {column}");
        }
        let kinds: Vec<String> = guard.schema().unwrap().tables[0].columns.iter().map(|one| one.kind.clone()).collect();
        let expect =
            "INTEGER INTEGER TEXT TEXT BOOLEAN REAL TEXT REAL REAL DATE DATETIME DATETIME DATETIME TEXT TEXT TEXT TEXT";
        assert_eq!(kinds.join(" "), expect);
    }
    let error = open(bytes("kinds-brotli.parquet")).unwrap_err().to_string();
    assert!(error.to_lowercase().contains("brotli"), "{error}");
    let guard = open(bytes("polars.parquet")).unwrap();
    assert_eq!(
        rows(&guard, "SELECT station, sum(value), max(taken) FROM t GROUP BY 1 ORDER BY 1"),
        json!([["a", 4.5, "2025-01-01 00:00:00"], ["b", null, null]])
    );
}

#[test]
fn several_files_are_tables_of_one_database() {
    let parquet =
        TableFile { source: "s.parquet", name: "s", content: TableContent::Parquet(bytes("polars.parquet").into()) };
    let text =
        TableFile { source: "n.csv", name: "n", content: TableContent::Text("station,name\na,North\nb,South\n") };
    let guard = Guard::of_tables(&[parquet, text], Policy::default()).unwrap();
    let joined = "SELECT n.name, count(*) FROM s JOIN n USING (station) GROUP BY 1 ORDER BY 1";
    assert_eq!(rows(&guard, joined), json!([["North", 2], ["South", 1]]));
}

#[test]
fn damaged_files_are_errors_and_end_nothing() {
    let good = bytes("kinds-zstd.parquet");
    let mut refused = 0;
    for cut in (0..good.len()).step_by(97) {
        let error = open(good[..cut].to_vec()).unwrap_err().to_string();
        assert!(error.contains("t.parquet"), "{error}");
        refused += 1;
    }
    let mut random = 0x9e37_79b9_u32;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random as usize % below
    };
    for _ in 0..400 {
        let mut changed = good.clone();
        for _ in 0..=next(4) {
            let at = next(changed.len());
            changed[at] = u8::try_from(next(256)).unwrap();
        }
        // Some changes are not seen; then the rows can be asked for.
        match open(changed) {
            Ok(guard) => drop(guard.query("SELECT * FROM t")),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 200, "{refused}");
    assert!(open(b"id,name\n1,Ann\n".to_vec()).is_err());
}
