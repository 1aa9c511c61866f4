//! The schema that a caller sees: types of the domains that the caller may read, and nothing else.

use std::sync::Arc;

use async_graphql::dynamic::{
    Enum, Field, FieldFuture, InputObject, InputValue, Object, Scalar, Schema, SchemaBuilder, SchemaError, TypeRef,
};
use async_graphql::{Number, Value};

use super::names::{ALL, ANY, DOMAINS, DomainNames, EXISTS, Member, Names, What};
use super::numbers::type_of;
use super::plan;
use super::recorder::Recorder;
use crate::model::{FieldKind, RelationKind};
use crate::query::{Op, ops_of};

const KINDS: &[FieldKind] =
    &[FieldKind::Int, FieldKind::Float, FieldKind::String, FieldKind::Bool, FieldKind::Date, FieldKind::Datetime];

pub(super) fn schema(names: &Arc<Names>) -> Result<Schema, SchemaError> {
    let mut builder = shared(Schema::build("Query", None, None));
    let mut by_name: Vec<(usize, &DomainNames)> = names.domains.iter().enumerate().collect();
    by_name.sort_by_key(|(_, of)| &of.graphql);
    let list: Vec<Value> = by_name.iter().map(|(_, of)| Value::from(of.graphql.as_str())).collect();
    let mut query = Object::new("Query").field(
        Field::new(DOMAINS, TypeRef::named_nn_list_nn(TypeRef::STRING), move |_| {
            FieldFuture::from_value(Some(Value::List(list.clone())))
        })
        .description("The domains that you may ask, each a field of its own."),
    );
    for (at, of) in by_name {
        query = query.field(rows_field(names, at)).field(numbers_field(names, at));
        builder = register(builder, names, of);
    }
    builder.register(query).finish()
}

/// Results are put in once the rows are there; a field that is resolved says only what it asks for.
fn nothing(_: async_graphql::dynamic::ResolverContext<'_>) -> FieldFuture<'_> {
    FieldFuture::from_value(None)
}

fn rows_field(names: &Arc<Names>, at: usize) -> Field {
    let of = &names.domains[at];
    let resolver_names = Arc::clone(names);
    let field = Field::new(of.graphql.as_str(), TypeRef::named_nn_list(of.graphql.as_str()), move |context| {
        Recorder::record(&context, |field| plan::rows(&resolver_names, at, field));
        FieldFuture::from_value(None)
    });
    let about = of.scope.as_deref().unwrap_or("Rows.");
    list_arguments(field, of)
        .argument(
            InputValue::new("after", TypeRef::named(TypeRef::STRING))
                .description("Where the last page ended, from `next` among the extensions of its answer."),
        )
        .description(format!("{about} 50 rows, or as many as `limit` says, 1000 at most."))
}

fn list_arguments(field: Field, of: &DomainNames) -> Field {
    field
        .argument(InputValue::new("where", TypeRef::named(of.named("_filter"))))
        .argument(
            InputValue::new("order", TypeRef::named_nn_list(of.named("_order")))
                .description("The first one counts first."),
        )
        .argument(InputValue::new("limit", TypeRef::named(TypeRef::INT)))
}

fn numbers_field(names: &Arc<Names>, at: usize) -> Field {
    let of = &names.domains[at];
    let resolver_names = Arc::clone(names);
    let ty = TypeRef::named_nn_list(of.named("_numbers"));
    Field::new(of.named("_aggregate"), ty, move |context| {
        Recorder::record(&context, |field| plan::numbers(&resolver_names, at, field));
        FieldFuture::from_value(None)
    })
    .argument(InputValue::new("where", TypeRef::named(of.named("_filter"))).description("Which rows count."))
    .argument(
        InputValue::new("groupBy", TypeRef::named_nn_list(of.named("_group")))
            .description("One element for each value of these; left out: one for all rows."),
    )
    .argument(InputValue::new("having", TypeRef::named(of.named("_having"))).description("Which groups count."))
    .argument(InputValue::new("order", TypeRef::named_nn_list(of.named("_numbers_order"))))
    .argument(InputValue::new("limit", TypeRef::named(TypeRef::INT)))
    .description(format!("Counts, sums and the like over the rows of `{}`.", of.domain))
}

fn scalar_of(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Int => TypeRef::INT,
        FieldKind::Float => TypeRef::FLOAT,
        FieldKind::String | FieldKind::Text => TypeRef::STRING,
        FieldKind::Bool => TypeRef::BOOLEAN,
        FieldKind::Date => "Date",
        FieldKind::Datetime => "DateTime",
    }
}

fn filter_of(kind: FieldKind) -> String {
    format!("{}Filter", scalar_of(kind))
}

/// Types that belong to no domain.
fn shared(mut builder: SchemaBuilder) -> SchemaBuilder {
    let time = |name: &str, text: &str| {
        Scalar::new(name).description(text).validator(|value| {
            matches!(value, Value::String(_)) || matches!(value, Value::Number(year) if Number::is_i64(year))
        })
    };
    builder = builder
        .register(time("Date", "A day such as \"2024-01-31\"; in a filter also a month or a year, for all its days."))
        .register(time(
            "DateTime",
            "A moment such as \"2024-01-31T10:30:00\"; in a filter also a day, a month or a year, for all its moments.",
        ))
        .register(Scalar::new("JSON").description("The values of a group, by the names of `groupBy`."))
        .register(Enum::new("Direction").item("ASC").item("DESC").description("Rows without a value come last."))
        .register(Enum::new("Group").item("VALUE").description("One group for each value."))
        .register(
            Enum::new("GroupTime")
                .items(["VALUE", "YEAR", "MONTH", "DAY"])
                .description("One group for each value, or for each year, month or day."),
        );
    for kind in KINDS {
        let scalar = scalar_of(*kind);
        let mut filter = InputObject::new(filter_of(*kind)).description("All that is given must hold.");
        for op in ops_of(*kind) {
            filter = filter.field(comparison(op, scalar));
        }
        builder = builder.register(filter);
    }
    builder
}

fn comparison(op: &'static str, scalar: &str) -> InputValue {
    let list = || TypeRef::named_nn_list(scalar);
    match op.parse::<Op>() {
        Ok(Op::In) => InputValue::new(op, list()).description("One of these."),
        Ok(Op::Between) => InputValue::new(op, list()).description("From the first to the second, both included."),
        Ok(Op::IsNull | Op::NotNull) => InputValue::new(op, TypeRef::named(TypeRef::BOOLEAN)),
        Ok(Op::Contains) => InputValue::new(op, TypeRef::named(scalar)).description("Has this in it; case is ignored."),
        _ => InputValue::new(op, TypeRef::named(scalar)),
    }
}

fn register(builder: SchemaBuilder, names: &Names, of: &DomainNames) -> SchemaBuilder {
    let builder = builder
        .register(row_type(names, of))
        .register(filter_type(names, of))
        .register(tree_type(names, of, "_order", |_| "Direction"))
        .register(tree_type(names, of, "_group", |kind| match kind {
            FieldKind::Date | FieldKind::Datetime => "GroupTime",
            _ => "Group",
        }));
    number_types(builder, of)
}

fn row_type(names: &Names, of: &DomainNames) -> Object {
    let mut object = Object::new(of.graphql.as_str());
    if let Some(scope) = &of.scope {
        object = object.description(scope.as_str());
    }
    for member in &of.members {
        let name = member.graphql.as_str();
        object = object.field(match &member.what {
            What::Field { kind, .. } => {
                let field = Field::new(name, TypeRef::named(scalar_of(*kind)), nothing);
                if name == member.name { field } else { field.description(format!("The field `{}`.", member.name)) }
            }
            What::Relation { kind, to, .. } => {
                let to = &names.domains[*to];
                if *kind == RelationKind::HasMany {
                    let field = Field::new(name, TypeRef::named_nn_list_nn(to.graphql.as_str()), nothing);
                    list_arguments(field, to)
                        .description("20 rows of each, or fewer where many are asked for, or as many as `limit` says.")
                } else {
                    Field::new(name, TypeRef::named(to.graphql.as_str()), nothing)
                }
            }
        });
    }
    object
}

fn filter_type(names: &Names, of: &DomainNames) -> InputObject {
    let own = of.named("_filter");
    let mut filter = InputObject::new(own.as_str())
        .description("All that is given must hold.")
        .field(InputValue::new(ANY, TypeRef::named_nn_list(own.as_str())).description("One of these must hold."))
        .field(InputValue::new(ALL, TypeRef::named_nn_list(own.as_str())))
        .field(
            InputValue::new(EXISTS, TypeRef::named(TypeRef::BOOLEAN))
                .description("Within a relation: whether there are rows of it."),
        );
    for member in &of.members {
        match &member.what {
            What::Field { kind, filterable: true, .. } => {
                filter = filter.field(InputValue::new(member.graphql.as_str(), TypeRef::named(filter_of(*kind))));
            }
            What::Field { .. } => {}
            What::Relation { to, .. } => {
                let to = names.domains[*to].named("_filter");
                filter = filter.field(InputValue::new(member.graphql.as_str(), TypeRef::named(to)));
            }
        }
    }
    filter
}

/// An input over fields and over relations to one row.
fn tree_type(names: &Names, of: &DomainNames, suffix: &str, leaf: impl Fn(FieldKind) -> &'static str) -> InputObject {
    let mut input = InputObject::new(of.named(suffix));
    for member in &of.members {
        let ty = match &member.what {
            What::Field { kind, .. } => leaf(*kind).to_owned(),
            What::Relation { kind: RelationKind::HasMany, .. } => continue,
            What::Relation { to, .. } => names.domains[*to].named(suffix),
        };
        input = input.field(InputValue::new(member.graphql.as_str(), TypeRef::named(ty)));
    }
    input
}

fn number_types(mut builder: SchemaBuilder, of: &DomainNames) -> SchemaBuilder {
    let numbers: Vec<_> = of.fields().filter(|(_, kind)| kind.is_number()).collect();
    let ordered: Vec<_> = of.fields().filter(|(_, kind)| *kind != FieldKind::Bool).collect();
    let all: Vec<_> = of.fields().collect();
    let mut object = Object::new(of.named("_numbers"))
        .field(
            Field::new("group", TypeRef::named("JSON"), nothing)
                .description("The values that the rows have in common, in the form of `groupBy`."),
        )
        .field(Field::new("count", TypeRef::named_nn(TypeRef::INT), nothing).description("How many rows."));
    let mut order = InputObject::new(of.named("_numbers_order"))
        .field(InputValue::new("count", TypeRef::named("Direction")))
        .field(InputValue::new("group", TypeRef::named(of.named("_order"))));
    let mut having = InputObject::new(of.named("_having"))
        .description("All that is given must hold.")
        .field(InputValue::new("count", TypeRef::named(filter_of(FieldKind::Int))));
    let same: fn(FieldKind) -> FieldKind = |kind| kind;
    for (part, fields, kind) in [
        ("distinct", &all, (|_| FieldKind::Int) as fn(FieldKind) -> FieldKind),
        ("sum", &numbers, same),
        ("avg", &numbers, |_| FieldKind::Float),
        ("min", &ordered, same),
        ("max", &ordered, same),
    ] {
        if fields.is_empty() {
            continue;
        }
        let ty = of.named(type_of(part));
        object = object.field(Field::new(part, TypeRef::named(ty.as_str()), nothing));
        order = order.field(InputValue::new(part, TypeRef::named(of.named("_field_order"))));
        if matches!(part, "sum" | "avg") {
            having = having.field(InputValue::new(part, TypeRef::named(of.named("_number_having"))));
        }
        if part != "max" {
            let mut values = Object::new(ty);
            for (member, of_field) in fields {
                let ty = TypeRef::named(scalar_of(kind(*of_field)));
                values = values.field(Field::new(member.graphql.as_str(), ty, nothing));
            }
            builder = builder.register(values);
        }
    }
    if !numbers.is_empty() {
        builder = builder.register(over_fields(of.named("_number_having"), &numbers, &filter_of(FieldKind::Float)));
    }
    let field_order = over_fields(of.named("_field_order"), &all, "Direction");
    builder.register(object).register(order).register(having).register(field_order)
}

/// An input with the same type for each of the fields.
fn over_fields(name: String, fields: &[(&Member, FieldKind)], ty: &str) -> InputObject {
    let field = |(member, _): &(&Member, FieldKind)| InputValue::new(member.graphql.as_str(), TypeRef::named(ty));
    fields.iter().map(field).fold(InputObject::new(name), InputObject::field)
}
