//! Parquet files as tables of a database in memory. Lists and structures become JSON; moments are in UTC.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use bytes::Bytes;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value};

use super::error::SqlError;
use super::open::COLUMNS;
use super::table_file::{Room, TableFile, create, insertion, real, remove, too_large, unreadable};

/// Bytes that all rows of a file may have once they are unpacked, as the file says.
const UNPACKED: i64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Integer,
    Real,
    Date,
    Moment,
    /// A number of nanoseconds, which the library leaves as it is.
    Nanoseconds,
    Text,
}

impl Kind {
    fn of(column: &Type) -> Self {
        if !column.is_primitive() {
            return Self::Text;
        }
        let basic = column.get_basic_info();
        match (basic.converted_type(), column.get_physical_type()) {
            _ if matches!(basic.logical_type_ref(), Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS) => {
                Self::Nanoseconds
            }
            (ConvertedType::DATE, _) => Self::Date,
            (ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS, _) | (_, Physical::INT96) => {
                Self::Moment
            }
            (ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS, _) => Self::Text,
            (ConvertedType::DECIMAL, _) | (_, Physical::FLOAT | Physical::DOUBLE) => Self::Real,
            (_, Physical::BOOLEAN) => Self::Bool,
            (_, Physical::INT32 | Physical::INT64) => Self::Integer,
            (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => Self::Text,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Bool => "BOOLEAN",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Date => "DATE",
            Self::Moment | Self::Nanoseconds => "DATETIME",
            Self::Text => "TEXT",
        }
    }

    fn value(self, field: Field) -> SqlValue {
        match (self, field) {
            (Self::Text, Field::ULong(number)) => SqlValue::Text(number.to_string()),
            (Self::Text, decimal @ Field::Decimal(_)) => SqlValue::Text(decimal.to_string()),
            (Self::Nanoseconds, Field::Long(nanoseconds)) => {
                moment(Timestamp::from_nanosecond(nanoseconds.into()), nanoseconds)
            }
            (_, field) => value(field),
        }
    }
}

/// Makes a table of a file and fills it.
pub(super) fn load(
    conn: &Connection,
    name: &str,
    file: &TableFile<'_>,
    bytes: Bytes,
    room: &mut Room,
) -> Result<(), SqlError> {
    // The library gives up on what it does not know by a panic.
    let loaded = catch_unwind(AssertUnwindSafe(|| fill(conn, name, file, bytes, room)));
    loaded.unwrap_or_else(|_| Err(unreadable(file, "its columns are of a kind that is not read")))
}

fn fill(conn: &Connection, name: &str, file: &TableFile<'_>, bytes: Bytes, room: &mut Room) -> Result<(), SqlError> {
    let bad = |error: ParquetError| unreadable(file, &error.to_string());
    let reader = SerializedFileReader::new(bytes).map_err(bad)?;
    let meta = reader.metadata();
    let unpacked = meta.row_groups().iter().map(RowGroupMetaData::total_byte_size).fold(0, i64::saturating_add);
    if unpacked > UNPACKED {
        return Err(too_large(
            file,
            &format!("has {} MB of rows, and {} MB can be held", unpacked >> 20, UNPACKED >> 20),
        ));
    }
    let columns = meta.file_metadata().schema().get_fields();
    if columns.is_empty() {
        return Err(unreadable(file, "it has no columns"));
    }
    if columns.len() > COLUMNS {
        return Err(too_large(file, &format!("has {} columns, and a table at most {COLUMNS}", columns.len())));
    }
    let mut kinds: Vec<Kind> = columns.iter().map(|column| Kind::of(column)).collect();
    let rows = room.rows;
    loop {
        let defined = columns.iter().zip(&kinds).map(|(column, kind)| (column.name(), kind.word()));
        create(conn, name, defined)?;
        let all = reader.get_row_iter(None).map_err(bad)?;
        match insert(conn, name, file, &kinds, all, room)? {
            None => return Ok(()),
            // All of it again, with its digits as they are.
            Some(column) => kinds[column] = Kind::Text,
        }
        room.rows = rows;
        remove(conn, name)?;
    }
}

/// Returns a column of numbers in which one would lose digits, if there is one.
fn insert(
    conn: &Connection,
    name: &str,
    file: &TableFile<'_>,
    kinds: &[Kind],
    rows: RowIter<'_>,
    room: &mut Room,
) -> Result<Option<usize>, SqlError> {
    let mut insert = insertion(conn, name, kinds.len())?;
    for row in rows {
        room.take(file, Instant::now())?;
        let row = row.map_err(|error| unreadable(file, &error.to_string()))?;
        let fields = row.into_columns().into_iter().map(|(_, field)| field);
        let values: Vec<SqlValue> = fields.zip(kinds).map(|(field, kind)| kind.value(field)).collect();
        let inexact = |(value, kind): (&SqlValue, &Kind)| {
            matches!(value, SqlValue::Text(_)) && matches!(kind, Kind::Integer | Kind::Real)
        };
        if let Some(column) = values.iter().zip(kinds).position(inexact) {
            return Ok(Some(column));
        }
        insert.execute(params_from_iter(values)).map_err(SqlError::Sqlite)?;
    }
    Ok(None)
}

fn value(field: Field) -> SqlValue {
    match field {
        Field::Null => SqlValue::Null,
        Field::Bool(value) => SqlValue::Integer(value.into()),
        Field::Byte(value) => SqlValue::Integer(value.into()),
        Field::Short(value) => SqlValue::Integer(value.into()),
        Field::Int(value) => SqlValue::Integer(value.into()),
        Field::Long(value) => SqlValue::Integer(value),
        Field::UByte(value) => SqlValue::Integer(value.into()),
        Field::UShort(value) => SqlValue::Integer(value.into()),
        Field::UInt(value) => SqlValue::Integer(value.into()),
        Field::ULong(value) => {
            i64::try_from(value).map_or_else(|_| SqlValue::Text(value.to_string()), SqlValue::Integer)
        }
        // The digits that it stands for, not those that a wider number would have.
        Field::Float16(value) => number(&value.to_string()),
        Field::Float(value) => number(&value.to_string()),
        Field::Double(value) => SqlValue::Real(value),
        // No digit is lost.
        decimal @ Field::Decimal(_) => {
            let text = decimal.to_string();
            real(&text).map_or(SqlValue::Text(text), SqlValue::Real)
        }
        Field::Str(text) => SqlValue::Text(text),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => SqlValue::Text(text.to_owned()),
            Err(_) => SqlValue::Blob(bytes.data().to_vec()),
        },
        Field::Date(days) => Date::constant(1970, 1, 1)
            .checked_add(days.days())
            .map_or(SqlValue::Integer(days.into()), |date| SqlValue::Text(date.to_string())),
        Field::TimestampMillis(milliseconds) => moment(Timestamp::from_millisecond(milliseconds), milliseconds),
        Field::TimestampMicros(microseconds) => moment(Timestamp::from_microsecond(microseconds), microseconds),
        time @ (Field::TimeMillis(_) | Field::TimeMicros(_)) => SqlValue::Text(time.to_string()),
        nested @ (Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_)) => {
            SqlValue::Text(json(nested).to_string())
        }
    }
}

fn number(text: &str) -> SqlValue {
    text.parse().map_or(SqlValue::Null, SqlValue::Real)
}

fn moment(at: Result<Timestamp, jiff::Error>, number: i64) -> SqlValue {
    at.map_or(SqlValue::Integer(number), |at| SqlValue::Text(at.strftime("%Y-%m-%d %H:%M:%S%.f").to_string()))
}

fn json(field: Field) -> Value {
    match field {
        Field::Group(row) => of_group(row),
        Field::ListInternal(list) => list.elements().iter().cloned().map(json).collect(),
        Field::MapInternal(map) => {
            let entry = |(key, value): &(Field, Field)| {
                let key = json(key.clone());
                (key.as_str().map_or_else(|| key.to_string(), str::to_owned), json(value.clone()))
            };
            map.entries().iter().map(entry).collect::<Map<_, _>>().into()
        }
        Field::Bool(value) => value.into(),
        other => match value(other) {
            SqlValue::Null => Value::Null,
            SqlValue::Integer(number) => number.into(),
            SqlValue::Real(number) => number.into(),
            SqlValue::Text(text) => text.into(),
            SqlValue::Blob(bytes) => hex::encode(bytes).into(),
        },
    }
}

fn of_group(row: Row) -> Value {
    row.into_columns().into_iter().map(|(name, field)| (name, json(field))).collect::<Map<_, _>>().into()
}
