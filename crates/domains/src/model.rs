//! Domains and views as data: what a checked text says.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use steward_core::ports::Role;

/// A described table of a datasource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub name: String,
    /// As the database spells it; a schema before a dot on servers that have them.
    pub table: String,
    pub datasource: String,
    /// Nobody has a right that stands in no permission.
    pub permissions: Vec<Permission>,
    pub fields: Vec<Field>,
    pub relations: Vec<Relation>,
    pub metas: Vec<Meta>,
    pub notes: Vec<Note>,
    /// Other words for what a row is.
    pub aliases: Vec<String>,
}

/// Whom a permission is for. In texts, `*`, `role:admin` or `group:sales`; a bare name is a role. What a name means is
/// looked up once, when the text is saved: where rights are judged, a group is its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Grantee {
    Everybody,
    Role(Role),
    Group(String),
}

impl fmt::Display for Grantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everybody => f.write_str("*"),
            Self::Role(role) => write!(f, "role:{}", role.as_str()),
            Self::Group(name) => write!(f, "group:{name}"),
        }
    }
}

impl From<Grantee> for String {
    fn from(grantee: Grantee) -> Self {
        grantee.to_string()
    }
}

/// It is neither everybody, nor a role, nor marked as a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no role")]
pub struct NoGrantee(pub String);

impl FromStr for Grantee {
    type Err = NoGrantee;

    fn from_str(text: &str) -> Result<Self, NoGrantee> {
        if text == "*" {
            return Ok(Self::Everybody);
        }
        if let Some(name) = text.strip_prefix("group:").filter(|name| !name.is_empty()) {
            return Ok(Self::Group(name.to_owned()));
        }
        let role = text.strip_prefix("role:").unwrap_or(text);
        role.parse().map(Self::Role).map_err(|_| NoGrantee(role.to_owned()))
    }
}

impl TryFrom<String> for Grantee {
    type Error = NoGrantee;

    fn try_from(text: String) -> Result<Self, NoGrantee> {
        text.parse()
    }
}

/// What somebody may do with the rows of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    pub to: Grantee,
    pub read: bool,
    pub write: bool,
    pub delete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The column's name.
    pub name: String,
    pub kind: FieldKind,
    pub readonly: bool,
    /// Whether conditions may stand on it.
    pub filterable: bool,
    /// Whether the house alone writes its texts; `None`: as its datasource says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// The meta that lists the values it can take.
    pub options: Option<String>,
    pub examples: Vec<Example>,
    /// Other words for it.
    #[serde(default)]
    pub aliases: Vec<String>,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FieldKind {
    Int,
    Float,
    /// A short text: names, codes.
    String,
    /// A long text.
    Text,
    Bool,
    Date,
    Datetime,
}

impl FieldKind {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    pub fn is_text(self) -> bool {
        matches!(self, Self::String | Self::Text)
    }

    pub fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::Datetime)
    }
}

/// A comparison with the words in which people ask for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    pub op: String,
    /// As written, without quotes.
    pub value: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    pub name: String,
    pub kind: RelationKind,
    /// The name of the other domain, of the same datasource.
    pub domain: String,
    /// Pairs of a field of this domain and one of the other.
    pub bind: Vec<(String, String)>,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RelationKind {
    HasMany,
    BelongsTo,
    HasOne,
}

impl RelationKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A list of values with their labels, for choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub name: String,
    /// A table of the same datasource.
    pub table: String,
    pub key: String,
    pub label: String,
    pub order_by: Option<String>,
}

/// A line for the model: `scope`, `edit_behavior`, `format_hint`, `list_behavior`, `navigation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub tag: String,
    pub text: String,
}

/// How the rows of a domain are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    pub name: String,
    pub title: String,
    pub domain: String,
    pub toolbar: Vec<Button>,
    pub tables: Vec<TablePart>,
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub action: ButtonAction,
    pub label: String,
    /// Where `new` leads.
    pub target: Option<Target>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ButtonAction {
    New,
    Refresh,
    Save,
    Delete,
}

/// A view that opens, `as tab` or in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub view: String,
    /// The field that picks the row.
    pub bind: Option<String>,
    pub tab: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablePart {
    /// The domain whose rows are listed: the view's own, or one that it has a relation to.
    pub domain: String,
    pub on_select: Option<Target>,
    /// Empty: every field.
    pub columns: Vec<ColumnPart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnPart {
    pub field: String,
    pub label: String,
    /// In characters.
    pub width: Option<u32>,
    /// As written: `number:0`, `date:short`, `money:EUR`.
    pub format: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    pub title: String,
    pub rows: Vec<Vec<Widget>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Widget {
    pub kind: WidgetKind,
    pub field: String,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum WidgetKind {
    Text,
    Textarea,
    Select,
    Checkbox,
    Number,
    Date,
}
