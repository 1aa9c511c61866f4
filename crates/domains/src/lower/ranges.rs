//! Where the parts of a domain or view stand in the text, in the shape of the model.

use crate::syntax::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainRanges {
    pub whole: Range,
    pub name: Range,
    pub table: Range,
    pub datasource: Range,
    pub fields: Vec<FieldRanges>,
    pub relations: Vec<RelationRanges>,
    pub metas: Vec<MetaRanges>,
    /// The tags of the notes.
    pub notes: Vec<Range>,
    /// The roles of the permissions.
    pub permissions: Vec<Range>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRanges {
    pub name: Range,
    pub kind: Range,
    pub options: Option<Range>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationRanges {
    pub name: Range,
    pub domain: Range,
    pub bind: Vec<(Range, Range)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaRanges {
    pub name: Range,
    pub table: Range,
    pub key: Range,
    pub label: Range,
    pub order_by: Option<Range>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewRanges {
    pub whole: Range,
    pub name: Range,
    pub domain: Range,
    /// The targets of the buttons.
    pub toolbar: Vec<Option<TargetRanges>>,
    pub tables: Vec<TableRanges>,
    /// By section and row.
    pub sections: Vec<Vec<Vec<WidgetRanges>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetRanges {
    pub view: Range,
    pub bind: Option<Range>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRanges {
    pub domain: Range,
    pub on_select: Option<TargetRanges>,
    /// The fields of the columns.
    pub columns: Vec<Range>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WidgetRanges {
    pub kind: Range,
    pub field: Range,
}
