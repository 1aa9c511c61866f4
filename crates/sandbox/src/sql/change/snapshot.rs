use serde::{Deserialize, Serialize};

/// Rows before and after a write, in the order in which they were changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The tables of the rows.
    pub tables: Vec<Table>,
    /// Each change of a row; on `SQLite` a row may stand here more than once.
    pub rows: Vec<RowChange>,
}

/// A table as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Schema and name; on `SQLite` the name alone.
    pub name: Vec<String>,
    /// What is kept of each row. Generated columns follow from the others and are left out.
    pub columns: Vec<Column>,
    /// Which columns name a row; empty where none do.
    pub key: Vec<usize>,
}

/// A column of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type in the server's words, and how its values are kept; empty on `SQLite`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// A row before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowChange {
    /// Which of [`Snapshot::tables`].
    pub table: usize,
    /// None: it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<Cell>>,
    /// None: it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<Cell>>,
}

/// A value, kept so that it comes back bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Cell {
    /// NULL.
    #[serde(rename = "n")]
    Null,
    /// Text. On servers also numbers, times and whatever else has an exact text.
    #[serde(rename = "t")]
    Text(String),
    /// A whole number.
    #[serde(rename = "i")]
    Integer(i64),
    /// The bits of a floating point number, in hexadecimal.
    #[serde(rename = "r")]
    Real(String),
    /// Bytes, in hexadecimal.
    #[serde(rename = "b")]
    Blob(String),
    /// The bytes of a text, in hexadecimal: in another character set, with a NUL, or broken.
    #[serde(rename = "u")]
    Raw(String),
}

impl Cell {
    /// A floating point number.
    pub fn real(value: f64) -> Self {
        Self::Real(format!("{:016x}", value.to_bits()))
    }

    /// The floating point number that it holds.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Self::Real(bits) => u64::from_str_radix(bits, 16).ok().map(f64::from_bits),
            _ => None,
        }
    }

    /// Bytes that it takes in a record.
    pub(crate) fn size(&self) -> usize {
        8 + match self {
            Self::Null => 0,
            Self::Integer(_) => 8,
            Self::Text(text) | Self::Real(text) | Self::Blob(text) | Self::Raw(text) => text.len(),
        }
    }
}

/// Zero is zero: a column of whole and broken numbers may give -0.0 back as 0.0.
impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) | (Self::Raw(a), Self::Raw(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => a == b || (self.as_real() == Some(0.0) && other.as_real() == Some(0.0)),
            _ => false,
        }
    }
}

impl Eq for Cell {}

impl Table {
    /// The name for people.
    pub fn shown(&self) -> String {
        self.name.last().cloned().unwrap_or_default()
    }

    /// The values that name `row`.
    pub(crate) fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        let found = self.key.iter().filter_map(|at| row.get(*at));
        found.cloned().collect()
    }
}

impl Snapshot {
    /// Whether it fits together: rows as long as their tables, keys within them.
    pub(crate) fn is_sound(&self) -> bool {
        let keys = |table: &Table| !table.key.is_empty() && table.key.iter().all(|at| *at < table.columns.len());
        let fits = |row: &RowChange| {
            let Some(table) = self.tables.get(row.table) else {
                return false;
            };
            let long = |cells: &Vec<Cell>| cells.len() == table.columns.len();
            (row.before.is_some() || row.after.is_some()) && row.before.iter().chain(&row.after).all(long)
        };
        self.tables.iter().all(keys) && self.rows.iter().all(fits)
    }
}

impl RowChange {
    /// Bytes that it takes in a record.
    pub(crate) fn size(&self) -> usize {
        let cells = self.before.iter().chain(&self.after).flatten();
        cells.map(Cell::size).sum()
    }
}
