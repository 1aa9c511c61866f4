//! Names that do not exist, told with the ones that do: validation says only that they are unknown, or less.

use std::collections::HashSet;
use std::convert::Infallible;

use async_graphql::parser::types::{ExecutableDocument, Selection, SelectionSet};
use async_graphql::registry::{MetaField, MetaType, MetaTypeName, Registry};
use async_graphql::{Name, Pos, Positioned, Value, Variables};

use super::error::GraphQlError;
use crate::query::error::shown;
use crate::registry::suggestion;

struct Search<'d> {
    document: &'d ExecutableDocument,
    registry: &'d Registry,
    variables: &'d Variables,
    seen: HashSet<&'d Name>,
    errors: Vec<GraphQlError>,
}

/// Unknown fields, arguments and keys of input objects, and values that should be objects.
pub(super) fn unknown_names(
    document: &ExecutableDocument,
    registry: &Registry,
    variables: &Variables,
) -> Vec<GraphQlError> {
    let mut search = Search { document, registry, variables, seen: HashSet::new(), errors: Vec::new() };
    for (_, operation) in document.operations.iter() {
        search.selection(&operation.node.selection_set, &registry.query_type);
    }
    search.errors
}

impl<'d> Search<'d> {
    fn selection(&mut self, set: &'d Positioned<SelectionSet>, of: &str) {
        for item in &set.node.items {
            match &item.node {
                Selection::Field(field) => {
                    let Some(known) = self.field(of, &field.node.name.node, field.pos) else { continue };
                    for (name, value) in &field.node.arguments {
                        if let Some(argument) = known.args.get(name.node.as_str()) {
                            // A value that is not given has no names in it.
                            let given = value.node.clone().into_const_with(|name| {
                                Ok::<_, Infallible>(self.variables.get(&name).cloned().unwrap_or_default())
                            });
                            let Ok(given) = given;
                            self.value(&argument.ty, &given, &name.node, value.pos);
                        } else {
                            let hint = suggestion(&name.node, known.args.keys().map(String::as_str));
                            let field = &field.node.name.node;
                            let message = format!("`{field}` has no argument `{}`; {hint}", shown(&name.node));
                            self.errors.push(GraphQlError::at(message, name.pos));
                        }
                    }
                    self.selection(&field.node.selection_set, MetaTypeName::concrete_typename(&known.ty));
                }
                Selection::InlineFragment(fragment) => {
                    let on = fragment.node.type_condition.as_ref().map_or(of, |on| on.node.on.node.as_str());
                    self.selection(&fragment.node.selection_set, on);
                }
                Selection::FragmentSpread(spread) => {
                    let found = self.document.fragments.get_key_value(&spread.node.fragment_name.node);
                    if let Some((name, fragment)) = found.filter(|(name, _)| !self.seen.contains(name)) {
                        self.seen.insert(name);
                        self.selection(&fragment.node.selection_set, &fragment.node.type_condition.node.on.node);
                    }
                }
            }
        }
    }

    fn field(&mut self, of: &str, name: &str, at: Pos) -> Option<&'d MetaField> {
        let ty = self.registry.types.get(of)?;
        let found = ty.field_by_name(name);
        let fields = ty.fields().filter(|_| found.is_none() && !name.starts_with("__"));
        if let Some(fields) = fields {
            let of = if of == self.registry.query_type { "to ask for".to_owned() } else { format!("of `{of}`") };
            let hint = suggestion(name, fields.keys().map(String::as_str));
            let message = format!("there is no `{}` {of}; {hint}", shown(name));
            self.errors.push(GraphQlError::at(message, at));
        }
        found
    }

    fn value(&mut self, ty: &str, value: &Value, path: &str, at: Pos) {
        let name = MetaTypeName::concrete_typename(ty);
        let Some(MetaType::InputObject { input_fields, .. }) = self.registry.types.get(name) else { return };
        match value {
            Value::List(list) => {
                for (place, one) in list.iter().enumerate() {
                    self.value(name, one, &format!("{path}[{place}]"), at);
                }
            }
            Value::Object(map) => {
                for (key, value) in map {
                    let path = format!("{path}.{}", shown(key));
                    if let Some(field) = input_fields.get(key.as_str()) {
                        self.value(&field.ty, value, &path, at);
                    } else {
                        let hint = suggestion(key, input_fields.keys().map(String::as_str));
                        let message = format!("{path}: there is no `{}` in `{name}`; {hint}", shown(key));
                        self.errors.push(GraphQlError::at(message, at));
                    }
                }
            }
            Value::Null => {}
            _ => {
                let message = format!("{path}: it should be an object of `{name}`, such as `{{…}}`");
                self.errors.push(GraphQlError::at(message, at));
            }
        }
    }
}
