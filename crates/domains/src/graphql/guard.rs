//! What a text may cost, decided before anything else looks at it: validation and introspection go over fragments again
//! and again, so their number counts as it is after they are put in.

use std::collections::HashMap;

use async_graphql::parser::types::{
    BaseType, ExecutableDocument, OperationType, Selection, SelectionSet, VariableDefinition,
};
use async_graphql::registry::Registry;
use async_graphql::{Name, Pos, Positioned};
use serde_json::{Map, Value};

use super::error::GraphQlError;

/// Bytes of a text.
pub const LONGEST: usize = 20_000;
/// Fields within fields.
pub const MOST_DEPTH: usize = 8;
/// Fields of the query itself, aliases included.
pub const MOST_ROOTS: usize = 20;
/// Fields of the whole text, each as often as its fragment is used.
const MOST_FIELDS: usize = 2_000;
/// Brackets within brackets.
const MOST_BRACKETS: usize = 40;
/// Bytes of the variables, as often as they are named.
const MOST_OF_VARIABLES: usize = 16 << 20;
/// Characters of a name.
const LONGEST_NAME: usize = 128;
/// Fields within fields of an introspection. The usual query has 15.
const MOST_DEPTH_OF_TYPES: usize = 20;
/// Lists of an introspection, and those in each other besides arguments: more would multiply the schema by itself.
const MOST_LISTS: usize = 16;
const MOST_NESTED_LISTS: usize = 2;

/// Looks at the text before it is parsed, since parsers recurse over brackets.
pub(super) fn text(text: &str) -> Result<(), GraphQlError> {
    if text.len() > LONGEST {
        let message = format!("the text has {} bytes; at most {LONGEST} can be asked at once", text.len());
        return Err(GraphQlError::new(message));
    }
    if text.trim().is_empty() {
        return Err(GraphQlError::new("the text is empty; write a query such as `{ _domains }`"));
    }
    let (mut open, mut name) = (0_usize, 0_usize);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '"' => length = string(rest),
            '#' => length = rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        name = if c.is_ascii_alphanumeric() || c == '_' { name + 1 } else { 0 };
        if name > LONGEST_NAME {
            return Err(GraphQlError::new(format!("a name has more than {LONGEST_NAME} characters; shorten it")));
        }
        if open > MOST_BRACKETS {
            let message = format!("brackets are nested more than {MOST_BRACKETS} levels; ask for less at once");
            return Err(GraphQlError::new(message));
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(())
}

/// Looks at the variables, which are copied to each place that names them.
pub(super) fn copied_variables(text: &str, variables: &Map<String, Value>) -> Result<(), GraphQlError> {
    let bytes = serde_json::to_string(variables).map_or(usize::MAX, |json| json.len());
    if bytes.saturating_mul(text.matches('$').count()) > MOST_OF_VARIABLES {
        let message = format!("{bytes} bytes of variables are named too often; send less, or ask in parts");
        return Err(GraphQlError::new(message));
    }
    Ok(())
}

/// Bytes of the string that the text begins with.
fn string(text: &str) -> usize {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let mut from = 0;
        while let Some(at) = block[from..].find("\"\"\"") {
            let end = from + at;
            if !block[..end].ends_with('\\') {
                return 3 + end + 3;
            }
            from = end + 3;
        }
        return text.len();
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\n' | '\r' => return at,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// What a selection comes to with its fragments put in.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    fields: usize,
    depth: usize,
    /// Fields of the selection itself.
    width: usize,
    /// Lists of an introspection.
    lists: usize,
    nested_lists: usize,
}

impl Extent {
    fn join(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.depth = self.depth.max(other.depth);
        self.width = self.width.saturating_add(other.width);
        self.lists = self.lists.saturating_add(other.lists);
        self.nested_lists = self.nested_lists.max(other.nested_lists);
    }
}

enum Fragment {
    Measuring,
    Measured(Extent),
}

struct Measure<'d> {
    document: &'d ExecutableDocument,
    fragments: HashMap<&'d str, Fragment>,
}

/// Looks at the document before it is validated.
pub(super) fn document(document: &ExecutableDocument, registry: &Registry) -> Result<(), GraphQlError> {
    let mut measure = Measure { document, fragments: HashMap::new() };
    let mut total = Extent::default();
    for (_, operation) in document.operations.iter() {
        if operation.node.ty != OperationType::Query {
            let message = "domains can only be read here; write a query. Changes of records are proposed and confirmed";
            return Err(GraphQlError::at(message, operation.pos));
        }
        variables(&operation.node.variable_definitions, registry)?;
        total.join(measure.root(&operation.node.selection_set, 0)?);
    }
    // In the same order at each time.
    let mut fragments: Vec<_> = document.fragments.iter().collect();
    fragments.sort_by_key(|(name, _)| *name);
    for (name, fragment) in fragments {
        let unused = Extent { width: 0, ..measure.fragment(name, fragment.pos)? };
        total.join(Extent { lists: 0, nested_lists: 0, depth: 0, ..unused });
    }
    let position = document.operations.iter().next().map(|(_, operation)| operation.pos).unwrap_or_default();
    let problem = if total.fields > MOST_FIELDS {
        format!("the text asks for more than {MOST_FIELDS} fields when its fragments are put in; ask for less at once")
    } else if total.width > MOST_ROOTS {
        format!("the query has {} fields side by side; at most {MOST_ROOTS} can be asked at once", total.width)
    } else if total.depth > MOST_DEPTH {
        format!("fields are nested more than {MOST_DEPTH} levels; ask the inner domain by a field of its own")
    } else {
        return Ok(());
    };
    Err(GraphQlError::at(problem, position))
}

/// The library takes null for a variable that may not be null.
pub(super) fn required_variables(
    document: &ExecutableDocument,
    operation: Option<&str>,
    variables: &Map<String, Value>,
) -> Result<(), GraphQlError> {
    let asked = document
        .operations
        .iter()
        .find(|(name, _)| name.is_none() || operation.is_none() || name.map(Name::as_str) == operation);
    for definition in asked.map_or(&[] as &[_], |(_, operation)| operation.node.variable_definitions.as_slice()) {
        let VariableDefinition { name, var_type, default_value, .. } = &definition.node;
        let is_given = variables.get(name.node.as_str()).is_some_and(|value| !value.is_null());
        if !var_type.node.nullable && default_value.is_none() && !is_given {
            let message =
                format!("the variable `${}` is of the type `{}` and has to be given", name.node, var_type.node);
            return Err(GraphQlError::at(message, definition.pos));
        }
    }
    Ok(())
}

/// A variable of an unknown type is refused here, as validation relies on its type.
fn variables(definitions: &[Positioned<VariableDefinition>], registry: &Registry) -> Result<(), GraphQlError> {
    for definition in definitions {
        let mut base = &definition.node.var_type.node.base;
        while let BaseType::List(inner) = base {
            base = &inner.base;
        }
        let BaseType::Named(name) = base else { continue };
        if !registry.types.get(name.as_str()).is_some_and(async_graphql::registry::MetaType::is_input) {
            let message = format!(
                "the variable `${}` has the unknown type `{}`; use Int, Float, String, Boolean, Date, DateTime or an \
                 input type of the schema",
                definition.node.name.node,
                crate::query::error::shown(name)
            );
            return Err(GraphQlError::at(message, definition.pos));
        }
    }
    Ok(())
}

impl<'d> Measure<'d> {
    /// The selection of an operation. What is asked about types has limits of its own.
    fn root(&mut self, set: &'d Positioned<SelectionSet>, level: usize) -> Result<Extent, GraphQlError> {
        let mut total = Extent::default();
        for item in &set.node.items {
            match &item.node {
                Selection::Field(field) if matches!(field.node.name.node.as_str(), "__schema" | "__type") => {
                    let inner = self.set(&field.node.selection_set)?;
                    let deep = inner.depth >= MOST_DEPTH_OF_TYPES;
                    let lists = total.lists.saturating_add(inner.lists);
                    if deep || lists > MOST_LISTS || inner.nested_lists > MOST_NESTED_LISTS {
                        let message = "too much is asked about types at once; ask for one type by `__type`, or read \
                                       the schema as a text";
                        return Err(GraphQlError::at(message, field.pos));
                    }
                    total.join(Extent { fields: inner.fields + 1, depth: 1, width: 1, ..inner });
                }
                Selection::InlineFragment(fragment) if level < MOST_BRACKETS => {
                    let inner = self.root(&fragment.node.selection_set, level + 1)?;
                    total.join(inner);
                }
                Selection::FragmentSpread(spread) if level < MOST_BRACKETS => {
                    let name = &spread.node.fragment_name.node;
                    // Finds cycles, and is small enough afterwards to be gone over.
                    let extent = self.fragment(name, spread.pos)?;
                    if extent.fields > MOST_FIELDS {
                        total.join(extent);
                    } else if let Some(fragment) = self.document.fragments.get(name) {
                        let inner = self.root(&fragment.node.selection_set, level + 1)?;
                        total.join(inner);
                    }
                }
                other => {
                    let inner = self.selection(other, item.pos)?;
                    total.join(inner);
                }
            }
            if total.fields > MOST_FIELDS {
                break;
            }
        }
        Ok(total)
    }

    fn set(&mut self, set: &'d Positioned<SelectionSet>) -> Result<Extent, GraphQlError> {
        let mut total = Extent::default();
        for item in &set.node.items {
            let inner = self.selection(&item.node, item.pos)?;
            total.join(inner);
        }
        Ok(total)
    }

    fn selection(&mut self, selection: &'d Selection, position: Pos) -> Result<Extent, GraphQlError> {
        match selection {
            Selection::Field(field) => {
                let inner = self.set(&field.node.selection_set)?;
                let list = is_list(&field.node.name.node);
                Ok(Extent {
                    fields: inner.fields.saturating_add(1),
                    depth: inner.depth + 1,
                    width: 1,
                    lists: inner.lists.saturating_add(usize::from(list)),
                    nested_lists: inner.nested_lists + usize::from(list && field.node.name.node != "args"),
                })
            }
            Selection::InlineFragment(fragment) => self.set(&fragment.node.selection_set),
            Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node, position),
        }
    }

    /// Each is measured once, however often it is used.
    fn fragment(&mut self, name: &Name, position: Pos) -> Result<Extent, GraphQlError> {
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else {
            // Validation says so.
            return Ok(Extent::default());
        };
        match self.fragments.get(name.as_str()) {
            Some(Fragment::Measured(extent)) => return Ok(*extent),
            Some(Fragment::Measuring) => {
                return Err(GraphQlError::at(format!("the fragment `{name}` contains itself"), position));
            }
            None => {}
        }
        self.fragments.insert(name, Fragment::Measuring);
        let extent = self.set(&fragment.node.selection_set)?;
        self.fragments.insert(name, Fragment::Measured(extent));
        Ok(extent)
    }
}

fn is_list(field: &str) -> bool {
    matches!(field, "types" | "fields" | "inputFields" | "enumValues" | "interfaces" | "possibleTypes" | "args")
}
