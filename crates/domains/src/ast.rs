//! Typed views of the nodes of a tree. Each part may be missing, since texts may be broken.

use crate::syntax::{Range, SyntaxKind, SyntaxNode, quoting, range_of};

/// A name, word or text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Without quotes.
    pub text: String,
    pub range: Range,
}

impl Leaf {
    pub(crate) fn of(node: &SyntaxNode) -> Self {
        let mut text = String::new();
        for token in node.children_with_tokens().filter_map(rowan::NodeOrToken::into_token) {
            match token.kind() {
                SyntaxKind::String => text.push_str(&quoting::unquote(token.text())),
                kind if kind.is_trivia() => {}
                _ => text.push_str(token.text()),
            }
        }
        Self { text, range: range_of(node) }
    }
}

pub(crate) fn leaf(node: &SyntaxNode, kind: SyntaxKind) -> Option<Leaf> {
    child(node, kind).as_ref().map(Leaf::of)
}

fn leaves(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = Leaf> {
    node.children().filter(move |child| child.kind() == kind).map(|child| Leaf::of(&child))
}

pub(crate) fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.children().find(|child| child.kind() == kind)
}

/// The statements of a kind in the block of a node.
fn statements<T: AstNode>(node: &SyntaxNode) -> impl Iterator<Item = T> + use<T> {
    child(node, SyntaxKind::Block).into_iter().flat_map(|block| block.children()).filter_map(T::cast)
}

fn nodes<T: AstNode>(node: &SyntaxNode) -> impl Iterator<Item = T> + use<T> {
    node.children().filter_map(T::cast)
}

pub(crate) trait AstNode: Sized {
    fn cast(node: SyntaxNode) -> Option<Self>;
    fn syntax(&self) -> &SyntaxNode;

    fn range(&self) -> Range {
        range_of(self.syntax())
    }
}

macro_rules! ast_nodes {
    ($($name:ident)*) => { $(
        #[derive(Debug, Clone)]
        pub(crate) struct $name(SyntaxNode);

        impl AstNode for $name {
            fn cast(node: SyntaxNode) -> Option<Self> {
                (node.kind() == SyntaxKind::$name).then_some(Self(node))
            }

            fn syntax(&self) -> &SyntaxNode {
                &self.0
            }
        }
    )* };
}

macro_rules! leaves {
    ($($name:ident: $($method:ident = $kind:ident),*;)*) => { $(
        impl $name {
            $(pub(crate) fn $method(&self) -> Option<Leaf> {
                leaf(&self.0, SyntaxKind::$kind)
            })*
        }
    )* };
}

ast_nodes!(Domain View Permission Field Flag Example Relation Pair Meta Note Aliases Toolbar Button Target TablePart OnSelect Column Section Row Widget);

leaves! {
    Domain: name = Name;
    View: name = Name, title = Text, domain = DomainRef;
    Permission: role = RoleName;
    Field: name = Name, kind = KindName;
    Example: operator = OperatorName, value = Value, text = Text;
    Relation: name = Name, kind = KindName, domain = DomainRef;
    Pair: local = FieldRef, foreign = ForeignRef;
    Meta: name = Name, table = TableName;
    Note: tag = Tag, text = Text;
    Button: action = ActionName, label = Text;
    Target: view = ViewRef;
    TablePart: domain = DomainRef;
    Column: field = FieldRef, label = Text;
    Section: title = Text;
    Widget: kind = WidgetName, field = FieldRef;
}

/// The domains and views of a file.
pub(crate) fn domains(file: &SyntaxNode) -> impl Iterator<Item = Domain> + use<> {
    nodes(file)
}

pub(crate) fn views(file: &SyntaxNode) -> impl Iterator<Item = View> + use<> {
    nodes(file)
}

impl Domain {
    pub(crate) fn table(&self) -> Option<Leaf> {
        leaf(&child(&self.0, SyntaxKind::Source)?, SyntaxKind::TableName)
    }

    pub(crate) fn datasource(&self) -> Option<Leaf> {
        leaf(&child(&self.0, SyntaxKind::Source)?, SyntaxKind::DatasourceName)
    }

    pub(crate) fn statements<T: AstNode>(&self) -> impl Iterator<Item = T> + use<T> {
        statements(&self.0)
    }
}

impl Permission {
    pub(crate) fn rights(&self) -> impl Iterator<Item = Leaf> {
        leaves(&self.0, SyntaxKind::RightName)
    }
}

impl Field {
    pub(crate) fn flags(&self) -> impl Iterator<Item = Flag> {
        nodes(&self.0)
    }

    pub(crate) fn options(&self) -> impl Iterator<Item = Leaf> {
        self.0
            .children()
            .filter(|child| child.kind() == SyntaxKind::Options)
            .filter_map(|options| leaf(&options, SyntaxKind::MetaRef))
    }

    pub(crate) fn examples(&self) -> impl Iterator<Item = Example> {
        statements(&self.0)
    }

    pub(crate) fn aliases(&self) -> impl Iterator<Item = Aliases> {
        statements(&self.0)
    }
}

impl Flag {
    pub(crate) fn word(&self) -> Leaf {
        Leaf::of(&self.0)
    }
}

impl Relation {
    pub(crate) fn pairs(&self) -> impl Iterator<Item = Pair> {
        nodes(&self.0)
    }
}

impl Meta {
    /// Key and label.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Leaf> {
        leaves(&self.0, SyntaxKind::ColumnRef)
    }

    pub(crate) fn order_by(&self) -> Option<Leaf> {
        leaf(&child(&self.0, SyntaxKind::OrderBy)?, SyntaxKind::ColumnRef)
    }
}

impl Aliases {
    pub(crate) fn texts(&self) -> impl Iterator<Item = Leaf> {
        leaves(&self.0, SyntaxKind::Text)
    }
}

impl View {
    pub(crate) fn statements<T: AstNode>(&self) -> impl Iterator<Item = T> + use<T> {
        statements(&self.0)
    }
}

impl Toolbar {
    pub(crate) fn buttons(&self) -> impl Iterator<Item = Button> {
        statements(&self.0)
    }
}

impl Button {
    pub(crate) fn target(&self) -> Option<Target> {
        nodes(&self.0).next()
    }
}

impl Target {
    pub(crate) fn bind(&self) -> Option<Leaf> {
        leaf(&child(&self.0, SyntaxKind::TargetBind)?, SyntaxKind::FieldRef)
    }

    /// Whether it opens in a tab.
    pub(crate) fn tab(&self) -> bool {
        self.0.children_with_tokens().any(|element| {
            matches!(element, rowan::NodeOrToken::Token(token) if token.kind() == SyntaxKind::Keyword && token.text() == "tab")
        })
    }
}

impl TablePart {
    pub(crate) fn on_select(&self) -> impl Iterator<Item = OnSelect> {
        statements(&self.0)
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = Column> {
        statements(&self.0)
    }
}

impl OnSelect {
    pub(crate) fn target(&self) -> Option<Target> {
        nodes(&self.0).next()
    }
}

impl Column {
    pub(crate) fn width(&self) -> Option<Leaf> {
        leaf(&child(&self.0, SyntaxKind::Width)?, SyntaxKind::WidthValue)
    }

    pub(crate) fn format(&self) -> Option<Leaf> {
        leaf(&child(&self.0, SyntaxKind::Format)?, SyntaxKind::FormatValue)
    }
}

impl Section {
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> {
        statements(&self.0)
    }
}

impl Row {
    pub(crate) fn widgets(&self) -> impl Iterator<Item = Widget> {
        statements(&self.0)
    }
}
