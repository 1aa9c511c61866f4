//! Random tables and writes.

use std::fmt::Write as _;

use crate::undo_support::Dice;

/// Any value, as SQL text.
pub fn literal(dice: &mut Dice) -> String {
    match dice.below(16) {
        0 => "NULL".to_owned(),
        1 => dice.below(5).to_string(),
        2 => dice.number().cast_signed().to_string().replace("-9223372036854775808", "0"),
        3 => "9e999".to_owned(),
        4 => "-9e999".to_owned(),
        5 => "-0.0".to_owned(),
        6 => {
            let real = f64::from_bits(dice.number());
            if real.is_finite() { format!("{real:e}") } else { "0.1".to_owned() }
        }
        7 => format!("{}.5", dice.below(9)),
        8 => format!("x'{:x}{:x}'", dice.number() | 1 << 63, dice.number() | 1 << 63),
        9 => "x''".to_owned(),
        10 => "''".to_owned(),
        11 => format!("'{}'", dice.below(4)),
        12 => format!("'{}.0e1'", dice.below(4)),
        13 => "'grüße 🦀 ''quoted'''".to_owned(),
        14 => format!("'a' || char(0) || '{}'", dice.below(9)),
        _ => format!("'text {}'", dice.below(6)),
    }
}

/// A table that was made.
pub struct Made {
    pub name: String,
    pub columns: Vec<String>,
    pub unique: Vec<String>,
}

/// A few tables of any shape, with rows.
pub fn tables(dice: &mut Dice) -> (String, Vec<Made>) {
    let mut sql = String::new();
    let mut made: Vec<Made> = Vec::new();
    for table in 0..2 + dice.below(2) {
        let name = format!("t{table}");
        let mut columns: Vec<String> = Vec::new();
        let mut unique = Vec::new();
        let mut parts = Vec::new();
        let key = dice.below(5);
        for at in 0..2 + dice.below(4) {
            let column = format!("c{at}");
            let kinds = ["INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC", "", "VARCHAR(9)", "TEXT COLLATE NOCASE"];
            let mut part = format!("{column} {}", dice.one(&kinds));
            if at == 0 && key == 1 {
                part = format!("{column} INTEGER PRIMARY KEY");
                unique.push(column.clone());
            } else if at == 0 && key == 2 {
                part = format!("{part} PRIMARY KEY");
                unique.push(column.clone());
            } else if dice.once_in(5) {
                part = format!("{part} UNIQUE");
                unique.push(column.clone());
            } else if dice.once_in(6) {
                part = format!("{part} DEFAULT 7");
            }
            if at == 1 && table > 0 && made[0].unique.contains(&"c0".to_owned()) && dice.once_in(2) {
                let rule = dice.one(&["CASCADE", "SET NULL", "NO ACTION"]);
                part = format!("{part} REFERENCES t0(c0) ON DELETE {rule} ON UPDATE {rule}");
            }
            columns.push(column);
            parts.push(part);
        }
        if dice.once_in(3) {
            parts.push("g AS (c0) STORED".to_owned());
        }
        let mut tail = "";
        if key == 3 {
            parts.push("PRIMARY KEY (c1, c0)".to_owned());
            tail = " WITHOUT ROWID";
        }
        let _ = writeln!(sql, "CREATE TABLE {name}({}){tail};", parts.join(", "));
        made.push(Made { name, columns, unique });
    }
    if dice.once_in(3) {
        sql.push_str(
            "CREATE TABLE audit(n INTEGER PRIMARY KEY, was, is_now);
             CREATE TRIGGER audits AFTER UPDATE ON t0 BEGIN INSERT INTO audit(was, is_now) VALUES (OLD.c0, NEW.c1); END;
             CREATE TRIGGER clears BEFORE DELETE ON t1 BEGIN DELETE FROM audit WHERE n % 2 = 0; END;",
        );
    }
    (sql, made)
}

/// A write of any kind.
pub fn statement(dice: &mut Dice, tables: &[Made]) -> String {
    let table = dice.one(tables);
    let name = &table.name;
    let column = dice.one(&table.columns).clone();
    let mut condition = match dice.below(5) {
        0 => String::new(),
        1 => format!(" WHERE {column} IS NOT NULL"),
        2 => format!(" WHERE {column} = {}", literal(dice)),
        3 => format!(" WHERE typeof({column}) = '{}'", dice.one(&["text", "integer", "real", "blob"])),
        _ => format!(" WHERE {column} > {}", literal(dice)),
    };
    let or = *dice.one(&["", "", "", " OR IGNORE", " OR REPLACE"]);
    match dice.below(7) {
        0 => format!("DELETE FROM {name}{condition}"),
        1..=3 => {
            let target = dice.one(&table.columns).clone();
            let value = match dice.below(4) {
                0 => format!("{target} || 'x'"),
                1 => format!("{target} + 1"),
                2 => column.clone(),
                _ => literal(dice),
            };
            if dice.once_in(3) {
                let _ = write!(condition, " RETURNING {column}");
            }
            format!("UPDATE{or} {name} SET {target} = {value}, {column} = {column}{condition}")
        }
        4 => format!(
            "INSERT{or} INTO {name}({}) SELECT {} FROM {name}{condition}",
            table.columns.join(", "),
            table
                .columns
                .iter()
                .map(|column| if table.unique.contains(column) { "random()".to_owned() } else { column.clone() })
                .collect::<Vec<_>>()
                .join(", ")
        ),
        _ => {
            let values: Vec<String> = table.columns.iter().map(|_| literal(dice)).collect();
            let mut sql =
                format!("INSERT{or} INTO {name}({}) VALUES ({})", table.columns.join(", "), values.join(", "));
            if or.is_empty()
                && let Some(unique) = table.unique.first()
            {
                let _ = write!(sql, " ON CONFLICT ({unique}) DO UPDATE SET {column} = {}", literal(dice));
            }
            sql
        }
    }
}
