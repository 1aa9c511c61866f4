//! Random tables and writes.

use std::fmt::Write as _;

use crate::undo_support::Dice;

/// A type with values of it, as SQL text.
#[allow(clippy::too_many_lines, reason = "a list")]
fn value(dice: &mut Dice, kind: &str) -> String {
    if dice.once_in(8) {
        return "NULL".to_owned();
    }
    let n = dice.number();
    let small = dice.below(5);
    match kind {
        "int" => dice.below(5).to_string(),
        "bigint" => format!("{}", n.cast_signed() >> 1),
        "numeric" => {
            (*dice.one(&["'NaN'", "1e-30", "12345678901234567890.123456789012345678901234567890", "1.500", "0"]))
                .to_owned()
        }
        "numeric(10,2)" => format!("{}.{small}", n % 1_000_000),
        "double precision" | "real" => match dice.below(6) {
            0 => "'NaN'".to_owned(),
            1 => "'-Infinity'".to_owned(),
            2 => "'-0'".to_owned(),
            3 => "0.1".to_owned(),
            _ if kind == "real" => format!(
                "'{:e}'",
                Some(f32::from_bits(u32::try_from(n >> 32).unwrap())).filter(|f| f.is_finite()).unwrap_or(0.3)
            ),
            _ => format!("'{:e}'", Some(f64::from_bits(n)).filter(|f| f.is_finite()).unwrap_or(0.3)),
        },
        "text" | "varchar(20)" => {
            format!("'{}{small}'", dice.one(&["", "grüße 🦀", "it''s \\ ", "NULL", "{\"a\"}", "line\nbreak", " x "]))
        }
        "char(5)" => format!("'{small} '"),
        "bytea" => format!("'\\x{n:016x}00ff'"),
        "boolean" => format!("{}", small > 2),
        "date" => (*dice.one(&["'infinity'", "'0044-03-15 BC'", "'2024-02-29'", "'9999-12-31'"])).to_owned(),
        "timestamp" => {
            (*dice.one(&["'2024-10-27 02:30:00.123456'", "'-infinity'", "'1890-01-01 00:00:00'"])).to_owned()
        }
        "timestamptz" => (*dice.one(&[
            "'2024-10-27 02:30:00.000001+02'",
            "'2024-10-27 02:30:00+01'",
            "'1880-01-01 00:00:00+00:53:28'",
            "'infinity'",
        ]))
        .to_owned(),
        "time" => format!("'0{small}:00:00.00000{small}'"),
        "timetz" => format!("'0{small}:00:00-03:30'"),
        "interval" => (*dice.one(&[
            "'1 mon -1 day 00:00:00.000001'",
            "'-3 years 2 mons -4 days -05:06:07.89'",
            "'0'",
            "'178000000 years'",
            "'-0.000001 s'",
        ]))
        .to_owned(),
        "json" => format!("'{{\"b\": 1.50,  \"a\": [null, {small}]}}'"),
        "jsonb" => format!("'{{\"b\": 1.50, \"a\": \"\\u00fc{small}\"}}'"),
        "uuid" => format!("'{n:016x}{:016x}'", n ^ 7),
        "int[]" => (*dice.one(&["'{}'", "'{1,NULL,3}'", "'[0:1]={1,2}'", "'{{1,2},{3,4}}'"])).to_owned(),
        "text[]" => (*dice.one(&["ARRAY['a,b', NULL, 'NULL', '', '\"q\"', 'back\\slash']", "'{}'"])).to_owned(),
        "inet" => (*dice.one(&["'10.0.0.1/8'", "'::1'", "'192.168.0.1'"])).to_owned(),
        "cidr" => "'10.1.0.0/16'".to_owned(),
        "macaddr" => "'08:00:2b:01:02:03'".to_owned(),
        "bit(5)" => "B'10101'".to_owned(),
        "varbit" => (*dice.one(&["B''", "B'1011001110'"])).to_owned(),
        "mood" => (*dice.one(&["'sad'", "'very happy'"])).to_owned(),
        "numrange" => (*dice.one(&["'empty'", "'[1.5,)'", "'(,3]'"])).to_owned(),
        "tsvector" => "'a:1A fat:2,4B'".to_owned(),
        "xml" => "'<a b=\"1\">x</a>'".to_owned(),
        "money" => format!("'{small}.50'"),
        "point" => format!("'(0.1,{small})'"),
        "short" => format!("'s{small}'"),
        "pair" => (*dice.one(&["ROW(1, 'a,\"b\"')", "ROW(NULL, '')"])).to_owned(),
        "\"char\"" => "'x'".to_owned(),
        other => panic!("{other}"),
    }
}

const KINDS: &[&str] = &[
    "int",
    "bigint",
    "numeric",
    "numeric(10,2)",
    "double precision",
    "real",
    "text",
    "varchar(20)",
    "char(5)",
    "bytea",
    "boolean",
    "date",
    "timestamp",
    "timestamptz",
    "time",
    "timetz",
    "interval",
    "json",
    "jsonb",
    "uuid",
    "int[]",
    "text[]",
    "inet",
    "cidr",
    "macaddr",
    "bit(5)",
    "varbit",
    "mood",
    "numrange",
    "tsvector",
    "money",
    "point",
    "short",
    "pair",
    "\"char\"",
];

/// A table that was made.
pub struct Made {
    pub name: String,
    pub columns: Vec<(String, &'static str)>,
}

pub fn table(dice: &mut Dice, number: usize) -> (String, Made) {
    let name = format!("\"T {number}\"");
    let mut columns = Vec::new();
    let key = dice.below(4);
    let first = *dice.one(&["int", "bigint", "text", "uuid", "varchar(20)"]);
    columns.push(("k".to_owned(), first));
    let second = *dice.one(&["int", "char(5)", "numeric(10,2)"]);
    columns.push(("Key 2".to_owned(), second));
    for at in 0..2 + dice.below(6) {
        columns.push((format!("c{at}"), *dice.one(KINDS)));
    }
    let mut parts: Vec<String> = columns.iter().map(|(name, kind)| format!("\"{name}\" {kind}")).collect();
    match key {
        0 => parts[0] = format!("k {first} NOT NULL UNIQUE"),
        1 => parts.push("PRIMARY KEY (\"Key 2\", k)".to_owned()),
        2 => parts.push("i int GENERATED ALWAYS AS IDENTITY PRIMARY KEY".to_owned()),
        _ => parts[0] = format!("k {first} PRIMARY KEY"),
    }
    if dice.once_in(3) {
        parts.push("g text GENERATED ALWAYS AS (upper(k::text)) STORED".to_owned());
    }
    let mut sql = format!("CREATE TABLE {name}({});\n", parts.join(", "));
    for _ in 0..12 {
        let _ = writeln!(sql, "{} ON CONFLICT DO NOTHING;", insert(dice, &name, &columns, false));
    }
    (sql, Made { name, columns })
}

fn insert(dice: &mut Dice, name: &str, columns: &[(String, &'static str)], null_keys: bool) -> String {
    let values: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, (_, kind))| {
            loop {
                let value = value(dice, kind);
                if at > 1 || null_keys || value != "NULL" {
                    break value;
                }
            }
        })
        .collect();
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    format!("INSERT INTO {name}({}) VALUES ({})", names.join(", "), values.join(", "))
}

pub fn statement(dice: &mut Dice, table: &Made) -> String {
    let name = &table.name;
    let any = dice.below(table.columns.len());
    let (column, _) = &table.columns[any];
    let condition = match dice.below(4) {
        0 => String::new(),
        1 => format!(" WHERE \"{column}\" IS NOT NULL"),
        2 => format!(" WHERE length(k::text) % {} = 0", 1 + dice.below(3)),
        _ => format!(" WHERE k = {}", value(dice, table.columns[0].1)),
    };
    match dice.below(6) {
        0 => format!("DELETE FROM {name}{condition}"),
        1..=3 => {
            let target = 2 + dice.below(table.columns.len() - 2);
            let (target, kind) = &table.columns[target];
            let other = 2 + dice.below(table.columns.len() - 2);
            let (other, other_kind) = &table.columns[other];
            let mut sql = format!("UPDATE {name} SET \"{target}\" = {}", value(dice, kind));
            if other != target {
                let _ = write!(sql, ", \"{other}\" = {}", value(dice, other_kind));
            }
            sql + &condition
        }
        4 => insert(dice, name, &table.columns, true),
        _ => {
            let (target, kind) = &table.columns[2];
            let made = insert(dice, name, &table.columns, false);
            format!("{made} ON CONFLICT (k) DO UPDATE SET \"{target}\" = {}", value(dice, kind))
        }
    }
}
