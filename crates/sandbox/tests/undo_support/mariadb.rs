//! Random tables and writes.

use std::fmt::Write as _;

use crate::undo_support::Dice;

/// A value of a type, as SQL text.
fn value(dice: &mut Dice, kind: &str) -> String {
    if dice.once_in(8) {
        return "NULL".to_owned();
    }
    let n = dice.number();
    let small = dice.below(5);
    match kind.split(' ').next().unwrap() {
        "INT" => small.to_string(),
        "BIGINT" => n.to_string(),
        "TINYINT" => format!("-{small}"),
        "DECIMAL(30,10)" => format!("{n}.{small}1"),
        "FLOAT" => format!(
            "'{:e}'",
            Some(f32::from_bits(u32::try_from(n >> 32).unwrap())).filter(|f| f.is_normal()).unwrap_or(0.3)
        ),
        "DOUBLE" => format!("'{:e}'", Some(f64::from_bits(n)).filter(|f| f.is_normal()).unwrap_or(0.1)),
        "VARCHAR(20)" | "TEXT" | "CHAR(9)" => {
            format!("'{}{small}'", dice.one(&["", "grüße", "it''s \\ ", "NULL", "a\nb", " x "]))
        }
        "LATIN" | "VARCHAR(9)" => format!("'é{small}'"),
        "VARBINARY(20)" | "BLOB" => format!("x'{n:016x}00ff'"),
        "BINARY(4)" => "x'00ff'".to_owned(),
        "BIT(9)" => format!("b'10110{}'", small % 2),
        "DATE" => (*dice.one(&["'2024-02-29'", "'0000-00-00'", "'9999-12-31'"])).to_owned(),
        "DATETIME(6)" => (*dice.one(&["'2024-10-27 02:30:00.123456'", "'1000-01-01 00:00:00'"])).to_owned(),
        "TIMESTAMP(3)" | "TIMESTAMP" => {
            (*dice.one(&["'2024-10-27 02:30:00.123'", "'2024-10-27 01:30:00'", "now()"])).to_owned()
        }
        "TIME(2)" => (*dice.one(&["'-838:59:59'", "'00:00:00.25'", "'12:00:00'"])).to_owned(),
        "YEAR" => "'1999'".to_owned(),
        "JSON" => format!("'{{\"b\": 1.50,  \"a\": [null, {small}]}}'"),
        "ENUM('a','ü')" => (*dice.one(&["'a'", "'ü'"])).to_owned(),
        "SET('x','y','z')" => (*dice.one(&["''", "'x,z'", "'y'"])).to_owned(),
        "UUID" => format!("'{:08x}-0000-1000-8000-{:012x}'", n >> 32, n >> 16),
        "INET6" => (*dice.one(&["'::1'", "'2001:db8::ff00:42:8329'"])).to_owned(),
        "POINT" => format!("ST_GeomFromText('POINT({small} 0.1)')"),
        other => panic!("{other}"),
    }
}

const KINDS: &[&str] = &[
    "INT",
    "BIGINT UNSIGNED",
    "TINYINT",
    "DECIMAL(30,10)",
    "FLOAT",
    "DOUBLE",
    "VARCHAR(20)",
    "TEXT",
    "CHAR(9)",
    "VARCHAR(9) CHARACTER SET latin1",
    "VARBINARY(20)",
    "BLOB",
    "BINARY(4)",
    "BIT(9)",
    "DATE",
    "DATETIME(6)",
    "TIMESTAMP(3) NULL",
    "TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP",
    "TIME(2)",
    "YEAR",
    "JSON",
    "ENUM('a','ü')",
    "SET('x','y','z')",
    "UUID",
    "INET6",
];

/// A table that was made.
pub struct Made {
    pub name: String,
    pub columns: Vec<(String, &'static str)>,
}

pub fn table(dice: &mut Dice, number: usize) -> (String, Made) {
    let name = format!("`t {number}`");
    let mut columns = vec![
        ("k".to_owned(), *dice.one(&["INT", "BIGINT UNSIGNED", "VARCHAR(20)", "VARBINARY(20)", "UUID", "DATETIME(6)"])),
        ("key 2".to_owned(), *dice.one(&["INT", "CHAR(9)", "DECIMAL(30,10)"])),
    ];
    for at in 0..2 + dice.below(6) {
        columns.push((format!("c{at}"), *dice.one(KINDS)));
    }
    let mut parts: Vec<String> = columns.iter().map(|(name, kind)| format!("`{name}` {kind}")).collect();
    match dice.below(4) {
        0 => parts[0].push_str(" NOT NULL UNIQUE"),
        1 => parts.push("PRIMARY KEY (`key 2`, k)".to_owned()),
        2 => parts.push("i INT AUTO_INCREMENT PRIMARY KEY".to_owned()),
        _ => parts[0].push_str(" PRIMARY KEY"),
    }
    if dice.once_in(3) {
        parts.push("g VARCHAR(200) AS (concat(k, '!')) VIRTUAL".to_owned());
    }
    let mut sql = format!("CREATE TABLE {name}({});\n", parts.join(", "));
    for _ in 0..12 {
        let made = insert(dice, &name, &columns).replacen("INSERT", "INSERT IGNORE", 1);
        let _ = writeln!(sql, "{made};");
    }
    (sql, Made { name, columns })
}

fn insert(dice: &mut Dice, name: &str, columns: &[(String, &'static str)]) -> String {
    let values: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, (_, kind))| {
            loop {
                let value = value(dice, kind);
                if at > 1 || value != "NULL" {
                    break value;
                }
            }
        })
        .collect();
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("`{name}`")).collect();
    format!("INSERT INTO {name}({}) VALUES ({})", names.join(", "), values.join(", "))
}

pub fn statement(dice: &mut Dice, table: &Made) -> String {
    let name = &table.name;
    let (column, _) = dice.one(&table.columns);
    let condition = match dice.below(4) {
        0 => String::new(),
        1 => format!(" WHERE `{column}` IS NOT NULL"),
        2 => format!(" WHERE length(k) % {} = 0", 1 + dice.below(3)),
        _ => format!(" WHERE k = {}", value(dice, table.columns[0].1)),
    };
    match dice.below(5) {
        0 => format!("DELETE FROM {name}{condition}"),
        1..=3 => {
            let target = 2 + dice.below(table.columns.len() - 2);
            let (target, kind) = &table.columns[target];
            format!("UPDATE {name} SET `{target}` = {}{condition}", value(dice, kind))
        }
        _ => insert(dice, name, &table.columns),
    }
}
