//! Declared types and kinds.

use steward_domains::kinds::{comparable, of_column};
use steward_domains::model::FieldKind::{self, Bool, Date, Datetime, Float, Int, String, Text};

#[test]
fn declared_types_have_kinds() {
    let check = |declared: &str, first: Option<FieldKind>| {
        assert_eq!(of_column(declared).first().copied(), first, "{declared}");
    };
    for (declared, kind) in [
        ("INTEGER", Int),
        ("int", Int),
        ("bigint unsigned", Int),
        ("int(11)", Int),
        ("SERIAL", Int),
        ("year", Int),
        ("tinyint", Int),
        ("tinyint(1)", Bool),
        ("tinyint(4)", Int),
        ("bit", Bool),
        ("bit(1)", Bool),
        ("bit(8)", String),
        ("BOOLEAN", Bool),
        ("bool", Bool),
        ("REAL", Float),
        ("double precision", Float),
        ("FLOAT", Float),
        ("money", Float),
        ("NUMERIC(10,2)", Float),
        ("numeric", Float),
        ("decimal(10)", Int),
        ("DECIMAL(10,0)", Int),
        ("VARCHAR(40)", String),
        ("character varying(160)", String),
        ("NVARCHAR(160)", String),
        ("char(2)", String),
        ("varchar(1000)", Text),
        ("TEXT", String),
        ("longtext", Text),
        ("clob", Text),
        ("jsonb", Text),
        ("uuid", String),
        ("enum('a','b')", String),
        ("date", Date),
        ("DATETIME", Datetime),
        ("timestamp with time zone", Datetime),
        ("timestamp(3)", Datetime),
        ("time", String),
        ("interval", String),
        ("point", String),
        ("mood", String),
        ("", String),
    ] {
        check(declared, Some(kind));
    }
    for bytes in ["BLOB", "bytea", "varbinary(16)"] {
        check(bytes, None);
    }
}

#[test]
fn keys_of_different_kinds_are_never_equal() {
    for (one, other, expect) in [
        ("INTEGER", "bigint", true),
        ("INTEGER", "VARCHAR(10)", false),
        ("uuid", "text", true),
        ("", "INTEGER", true),
        ("INTEGER", "NUMERIC", true),
        ("date", "timestamp", true),
        ("date", "int", false),
        ("mood", "int", true),
    ] {
        assert_eq!(comparable(one, other), expect, "{one} {other}");
        assert_eq!(comparable(other, one), expect, "{other} {one}");
    }
}
