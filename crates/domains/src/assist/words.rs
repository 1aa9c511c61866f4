//! What the words of the language mean, for explanations and completions.

/// A word of the language.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    pub word: &'static str,
    pub meaning: &'static str,
    /// How it is written.
    pub form: &'static str,
}

const fn word(word: &'static str, meaning: &'static str, form: &'static str) -> Word {
    Word { word, meaning, form }
}

pub const WORDS: &[Word] = &[
    word("domain", "Describes a table of a datasource.", "domain <name> from <table>@<datasource> { … }"),
    word("from", "Names the table.", "domain <name> from <table>@<datasource> { … }"),
    word("view", "Shows the rows of a domain.", "view <name> \"<title>\" over <domain> { … }"),
    word("over", "Names the domain that a view shows.", "view <name> \"<title>\" over <domain> { … }"),
    word(
        "permission",
        "What a role or group may do with the rows. A right that stands in no permission is denied.",
        "permission role:<role> | group:<group> | * read, write, delete",
    ),
    word("role", "The right is for everybody of a role.", "permission role:<role> read, write, delete"),
    word("group", "The right is for the members of a group.", "permission group:<group> read, write, delete"),
    word(
        "field",
        "Describes a column.",
        "field <column> : <kind> [readonly] [filterable] [trusted | untrusted] [options=<meta>] [{ example … }]",
    ),
    word("readonly", "The field can't be changed.", "field <column> : <kind> readonly"),
    word("filterable", "Conditions may stand on the field.", "field <column> : <kind> filterable"),
    word(
        "trusted",
        "The house alone writes the texts of the field: an agent that reads them isn't held back.",
        "field <column> : <kind> trusted",
    ),
    word(
        "untrusted",
        "Strangers may write the texts of the field: after reading them, an agent asks before it acts.",
        "field <column> : <kind> untrusted",
    ),
    word("options", "The meta that lists the values of the field.", "field <column> : <kind> options=<meta>"),
    word("example", "A condition with the words in which people ask for it.", "example <operator> <value> \"<words>\""),
    word(
        "relation",
        "Leads to the rows of another domain.",
        "relation <name> : <kind> <domain> bind=<field> -> <its field>",
    ),
    word("bind", "The fields that are equal, or the field that is shown or picks the row.", "bind=<field>"),
    word(
        "meta",
        "A list of values with their labels, for choices.",
        "meta <name> from <table> <key> <label> [order_by <column>]",
    ),
    word(
        "order_by",
        "The column that orders the values of a meta.",
        "meta <name> from <table> <key> <label> order_by <column>",
    ),
    word("ai", "A line that a model is told about the domain.", "ai \"<tag>\" \"<text>\""),
    word("aliases", "Other words for what a row, or a field, is.", "aliases [\"<word>\", …]"),
    word(
        "toolbar",
        "The buttons of a view.",
        "toolbar { new \"New\" -> <view>; refresh \"Reload\"; save \"Save\"; delete \"Delete\" }",
    ),
    word("new", "A button that begins a new row.", "new \"<label>\" [-> <view> [as tab]]"),
    word("refresh", "A button that reads the rows again.", "refresh \"<label>\""),
    word("save", "A button that saves the changes of a row.", "save \"<label>\""),
    word("delete", "A button that deletes the row.", "delete \"<label>\""),
    word("table", "A table of rows.", "table -> <domain>.rows { on_select …; column … }"),
    word("rows", "The rows of a domain.", "table -> <domain>.rows { … }"),
    word("on_select", "The view that a row leads to.", "on_select -> <view> [bind=<field>] [as tab]"),
    word("as", "Opens the view in a tab.", "-> <view> as tab"),
    word("tab", "Opens the view in a tab.", "-> <view> as tab"),
    word("column", "A column of a table.", "column <field> \"<label>\" [width=<characters>] [format=<format>]"),
    word("width", "The width of a column in characters.", "width=<characters>"),
    word("format", "How the values of a column are written.", "format=number:0"),
    word("section", "A titled part of a form.", "section \"<title>\" { row { … } }"),
    word("row", "Widgets side by side.", "row { widget <kind> bind=<field>; … }"),
    word("widget", "An input for a field.", "widget text|textarea|select|checkbox|number|date bind=<field>"),
];

pub(super) fn find(word: &str) -> Option<&'static Word> {
    WORDS.iter().find(|known| known.word == word)
}

/// What the notes of a domain are about.
pub(super) const TAG_MEANINGS: [(&str, &str); 5] = [
    ("scope", "What the rows are, in one sentence. Stands in the index of domains."),
    ("edit_behavior", "What to mind when rows are changed."),
    ("format_hint", "How values are to be written in answers."),
    ("list_behavior", "What to show and how to sort in lists."),
    ("navigation", "Where to go on from a row."),
];

pub(super) const KIND_MEANINGS: [(&str, &str); 10] = [
    ("int", "A whole number."),
    ("float", "A number with decimals."),
    ("string", "A short text: a name, a code."),
    ("text", "A long text."),
    ("bool", "True or false."),
    ("date", "A day."),
    ("datetime", "A day with a time."),
    ("has_many", "Each row has any number of rows of the other domain."),
    ("belongs_to", "Each row points to one row of the other domain."),
    ("has_one", "Each row has at most one row of the other domain."),
];

pub(super) const WIDGET_MEANINGS: [(&str, &str); 6] = [
    ("text", "One line of text."),
    ("textarea", "Several lines of text."),
    ("select", "A choice among the options of the field."),
    ("checkbox", "Yes or no."),
    ("number", "A number."),
    ("date", "A day, with a time for datetime fields."),
];

pub(super) const RIGHT_MEANINGS: [(&str, &str); 3] = [
    ("read", "May see rows."),
    ("write", "May add and change rows, each after a confirmation."),
    ("delete", "May delete rows, each after a confirmation."),
];

pub(super) const ROLES: [(&str, &str); 5] = [
    ("admin", "Administrators."),
    ("operator", "Operators."),
    ("developer", "Developers."),
    ("viewer", "Viewers."),
    ("*", "Everybody who can log in."),
];

pub(super) const FORMATS: [(&str, &str); 5] = [
    ("number:0", "A number without decimals."),
    ("number:2", "A number with two decimals."),
    ("money:EUR", "An amount of money with its currency."),
    ("date:short", "A day with figures."),
    ("date:long", "A day with the name of the month."),
];
