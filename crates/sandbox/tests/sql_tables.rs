//! CSV and TSV asked in SQL.

use serde_json::{Value, json};
use steward_sandbox::sql::{Guard, Limits, Policy, SqlError, TableContent, TableFile};

fn guard(texts: &[(&str, &str)]) -> Result<Guard, SqlError> {
    let texts: Vec<TableFile<'_>> =
        texts.iter().map(|&(name, text)| TableFile { source: name, name, content: TableContent::Text(text) }).collect();
    Guard::of_tables(&texts, Policy::default())
}

fn ask(texts: &[(&str, &str)], sql: &str) -> Value {
    json!(guard(texts).unwrap().query(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).rows)
}

#[test]
fn cells_are_read_as_they_were_meant() {
    let text = "id,name,note,amount\r\n\
        007,\"Miller, Ann\",\"two\r\nlines\",1.50\r\n\
        \r\n\
        008,\"says \"\"hi\"\"\",,2\r\n\
        ,,,\r\n\
        009,short\r\n";
    let all = ask(&[("sales", text)], "SELECT * FROM sales");
    assert_eq!(
        all,
        json!([
            ["007", "Miller, Ann", "two\r\nlines", 1.5],
            ["008", "says \"hi\"", null, 2.0],
            ["009", "short", null, null],
        ])
    );
    // What the rows before have shown is not taken over by a short one, nor counted.
    let sums = "SELECT count(*), count(amount), sum(amount), avg(amount) FROM sales";
    assert_eq!(ask(&[("sales", text)], sums), json!([[3, 2, 3.5, 1.75]]));
}

#[test]
fn sums_keep_their_digits() {
    let money = "what,amount\na,0.1\nb,0.2\nc,9999999999999.01\nd,-9999999999999.01\n";
    assert_eq!(ask(&[("m", money)], "SELECT sum(amount), total(amount) FROM m"), json!([[0.3, 0.3]]));
    let running = "SELECT sum(amount) OVER (ORDER BY what ROWS 1 PRECEDING) FROM m";
    assert_eq!(ask(&[("m", money)], running), json!([[0.1], [0.3], [9_999_999_999_999.21], [0.0]]));
    let large = "n\n123456789012345678\n876543210987654321\n";
    assert_eq!(
        ask(&[("l", large)], "SELECT sum(n), max(n) FROM l"),
        json!([[999_999_999_999_999_999_i64, 876_543_210_987_654_321_i64]])
    );
    assert_eq!(ask(&[("l", large)], "SELECT sum(n) FROM l WHERE n < 0"), json!([[null]]));
    let over = guard(&[("o", "n\n9223372036854775807\n1\n")]).unwrap();
    assert!(over.query("SELECT sum(n) FROM o").unwrap_err().to_string().contains("overflow"));
    assert_eq!(ask(&[("t", "price\n\"1,234.50\"\n\"2,000.00\"\n")], "SELECT sum(price) FROM t"), json!([[3234.5]]));
    // Nothing says whether these commas stand between thousands.
    let text = guard(&[("t", "price\n\"1,250\"\n\"2,000\"\n")]).unwrap();
    let refused = text.query("SELECT sum(price) FROM t").unwrap_err().to_string();
    assert!(refused.contains("1,250") && refused.contains("CAST"), "{refused}");
    let cast = "SELECT sum(CAST(replace(price, ',', '') AS REAL)) FROM t";
    assert_eq!(json!(text.query(cast).unwrap().rows), json!([[3250.0]]));
}

#[test]
fn several_files_are_joined() {
    let texts =
        [("orders-2024", "id;customer;total\n1;7;12,50\n2;8;1.000,25\n"), ("customers", "id\tname\n7\tAnn\n8\tBo\n")];
    let sql = "SELECT c.name, sum(o.total) FROM orders_2024 o JOIN customers c ON c.id = o.customer GROUP BY 1 ORDER BY 2 DESC";
    assert_eq!(ask(&texts, sql), json!([["Bo", 1000.25], ["Ann", 12.5]]));
    let schema = guard(&texts).unwrap().schema().unwrap();
    let kinds: Vec<_> = schema.tables[1].columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
    assert_eq!(kinds, [("id", "INTEGER"), ("customer", "INTEGER"), ("total", "REAL")]);
    assert_eq!(schema.tables[1].row_estimate, Some(2));
}

#[test]
fn the_first_row_names_the_columns_where_it_does() {
    for (text, names, rows) in [
        ("a,b\n1,2\n", vec!["a", "b"], 1),
        ("city,country\nParis,France\n", vec!["city", "country"], 1),
        ("country,2019,2020\nFrance,1,2\n", vec!["country", "2019", "2020"], 1),
        ("1,2.5\n3,4.5\n", vec!["column_1", "column_2"], 2),
        ("Ann,12\nBo,13\n", vec!["column_1", "column_2"], 2),
        ("Name,name,\nx,y,z\n", vec!["Name", "name_2", "column_3"], 1),
        ("a,b\n1,2,3\n", vec!["a", "b", "column_3"], 1),
        ("\u{feff}name\nx\ny\n", vec!["name"], 2),
        ("only,names\n", vec!["only", "names"], 0),
    ] {
        let rows_got = guard(&[("t", text)]).unwrap().query("SELECT * FROM t").unwrap();
        assert_eq!(
            (rows_got.columns, rows_got.rows.len()),
            (names.iter().map(ToString::to_string).collect(), rows),
            "{text}"
        );
    }
}

#[test]
fn what_is_too_much_or_no_table_says_so() {
    for (text, why) in [
        ("", "no rows"),
        ("\n\n", "no rows"),
        ("a,b\n1,\"never closed\n2,3\n", "none closes it"),
        (&["x"; 300].join(","), "300 columns"),
    ] {
        let refused = guard(&[("t", text)]).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    let policy = Policy { limits: Limits { rows: 2, ..Limits::default() }, ..Policy::default() };
    let text = TableFile { source: "t.csv", name: "t", content: TableContent::Text("a\n1\n2\n3\n") };
    let guard = Guard::of_tables(&[text], policy).unwrap();
    assert_eq!(guard.query("SELECT a FROM t").unwrap().rows.len(), 2);
    for sql in ["DELETE FROM t", "INSERT INTO t VALUES (4)", "ATTACH 'x' AS y", "SELECT * FROM sqlite_schema"] {
        assert!(guard.query(sql).is_err(), "{sql}");
    }
    let near = guard.query("SELECT * FROM tt").unwrap_err().to_string();
    assert!(near.contains("the tables are t") || near.contains("did you mean t"), "{near}");
}
