//! The kinds of tokens and nodes, and trees of them. A tree holds every byte of its text.

pub(crate) mod lexer;
pub(crate) mod quoting;

/// Tokens first, then nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::FromRepr)]
#[repr(u16)]
pub enum SyntaxKind {
    Whitespace,
    Newline,
    Comment,
    Ident,
    /// An identifier that is a word of the language where it stands.
    Keyword,
    /// What begins with a digit: a number, a date, a time.
    Literal,
    String,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Colon,
    Equals,
    Comma,
    Semicolon,
    Dot,
    At,
    Arrow,
    Star,
    /// A character that no token begins with.
    Unknown,

    /// Text that was skipped after an error.
    Error,
    File,
    Domain,
    View,
    /// `table@datasource`.
    Source,
    /// From `{` to `}`.
    Block,
    Permission,
    Field,
    /// `readonly`, `filterable`, `trusted` or `untrusted`.
    Flag,
    /// `options=<meta>`.
    Options,
    Example,
    Relation,
    Pair,
    Meta,
    OrderBy,
    Note,
    Aliases,
    Toolbar,
    Button,
    Target,
    /// `bind=<field>` of a target.
    TargetBind,
    TablePart,
    OnSelect,
    Column,
    Width,
    Format,
    Section,
    Row,
    Widget,

    /// The name that a domain, view, field, relation or meta gets.
    Name,
    TableName,
    DatasourceName,
    /// The kind of a field or relation.
    KindName,
    RoleName,
    RightName,
    OperatorName,
    Value,
    /// A label, title or sentence.
    Text,
    /// What an `ai` line is about.
    Tag,
    DomainRef,
    ViewRef,
    MetaRef,
    FieldRef,
    /// A field of the domain that a relation leads to.
    ForeignRef,
    /// A column of the table of a meta.
    ColumnRef,
    ActionName,
    WidgetName,
    WidthValue,
    FormatValue,
}

impl SyntaxKind {
    /// Whether it carries no meaning but for a newline that ends a statement.
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::Whitespace | Self::Newline | Self::Comment)
    }
}

impl From<SyntaxKind> for rowan::SyntaxKind {
    fn from(kind: SyntaxKind) -> Self {
        Self(kind as u16)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DomainLanguage {}

impl rowan::Language for DomainLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::from_repr(raw.0).unwrap_or(SyntaxKind::Error)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        kind.into()
    }
}

pub type SyntaxNode = rowan::SyntaxNode<DomainLanguage>;
pub type SyntaxToken = rowan::SyntaxToken<DomainLanguage>;
pub type SyntaxElement = rowan::SyntaxElement<DomainLanguage>;

/// Byte offsets of the beginning and the end in the text.
pub type Range = (usize, usize);

pub(crate) fn range_of(node: &SyntaxNode) -> Range {
    bytes_of(node.text_range())
}

pub(crate) fn bytes_of(range: rowan::TextRange) -> Range {
    (range.start().into(), range.end().into())
}
