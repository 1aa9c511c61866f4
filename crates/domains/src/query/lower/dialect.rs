//! What the databases write differently.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::FieldKind;
use crate::query::DatePart;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Dialect {
    Sqlite,
    Postgres,
    /// MariaDB too.
    MySql,
}

impl Dialect {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// A name of the database in its quotation marks.
    pub(crate) fn quote(self, name: &str) -> String {
        match self {
            Self::MySql => format!("`{}`", name.replace('`', "``")),
            Self::Sqlite | Self::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// On servers a schema may stand before a dot.
    pub(crate) fn table(self, name: &str) -> String {
        match (self, name.split_once('.')) {
            (Self::Postgres | Self::MySql, Some((schema, table))) => {
                format!("{}.{}", self.quote(schema), self.quote(table))
            }
            _ => self.quote(name),
        }
    }

    pub(crate) fn placeholder(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres => format!("${number}"),
            Self::MySql => "?".to_owned(),
        }
    }

    pub(crate) fn double(self) -> &'static str {
        match self {
            Self::Sqlite => "REAL",
            Self::Postgres => "DOUBLE PRECISION",
            Self::MySql => "DOUBLE",
        }
    }

    pub(crate) fn integer(self) -> &'static str {
        match self {
            Self::Sqlite => "INTEGER",
            Self::Postgres => "BIGINT",
            Self::MySql => "SIGNED",
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "TEXT",
            Self::MySql => "CHAR",
        }
    }

    /// The type that a bound text or number must be given before it can be compared; servers don't guess.
    pub(crate) fn cast_of(self, kind: FieldKind) -> Option<&'static str> {
        match (self, kind) {
            (Self::Postgres, FieldKind::Float) => Some("NUMERIC"),
            (Self::Postgres | Self::MySql, FieldKind::Date) => Some("DATE"),
            (Self::Postgres, FieldKind::Datetime) => Some("TIMESTAMP"),
            (Self::MySql, FieldKind::Datetime) => Some("DATETIME(6)"),
            _ => None,
        }
    }

    /// A date without its smaller parts, as text.
    pub(crate) fn part(self, column: &str, part: DatePart) -> String {
        match (self, part) {
            (Self::Sqlite, DatePart::Year) => format!("strftime('%Y', {column})"),
            (Self::Sqlite, DatePart::Month) => format!("strftime('%Y-%m', {column})"),
            (Self::Sqlite, DatePart::Day) => format!("strftime('%Y-%m-%d', {column})"),
            (Self::Postgres, DatePart::Year) => format!("to_char({column}, 'YYYY')"),
            (Self::Postgres, DatePart::Month) => format!("to_char({column}, 'YYYY-MM')"),
            (Self::Postgres, DatePart::Day) => format!("to_char({column}, 'YYYY-MM-DD')"),
            (Self::MySql, DatePart::Year) => format!("date_format({column}, '%Y')"),
            (Self::MySql, DatePart::Month) => format!("date_format({column}, '%Y-%m')"),
            (Self::MySql, DatePart::Day) => format!("date_format({column}, '%Y-%m-%d')"),
        }
    }
}

/// A value as SQLite reads it.
pub(super) fn spelled(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(flag) => i32::from(*flag).to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => format!("'{}'", other.to_string().replace('\'', "''")),
    }
}
