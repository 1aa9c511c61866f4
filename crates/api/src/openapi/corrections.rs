//! What the schemas of types say that is not so: defaults that the type itself forbids, and pairs without a type of their items.

use serde_json::Value;
use utoipa::openapi::schema::{Array, ArrayItems, Object, Schema, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr};

/// Takes them out of the document.
pub(super) fn correct(document: &mut OpenApi) {
    for schema in document.components.iter_mut().flat_map(|components| components.schemas.values_mut()) {
        correct_one(schema);
    }
}

fn correct_one(schema: &mut RefOr<Schema>) {
    match schema {
        // Types that may be null are said as one of two.
        RefOr::Ref(reference) => reference.default = reference.default.take().filter(|default| !default.is_null()),
        RefOr::T(Schema::Object(object)) => {
            if object.default.as_ref().is_some_and(|default| is_forbidden(object, default)) {
                object.default = None;
            }
            object.properties.values_mut().for_each(correct_one);
        }
        RefOr::T(Schema::Array(array)) => correct_array(array),
        RefOr::T(Schema::OneOf(one)) => one.items.iter_mut().for_each(correct_one),
        RefOr::T(Schema::AllOf(all)) => all.items.iter_mut().for_each(correct_one),
        RefOr::T(_) => {}
    }
}

fn is_forbidden(object: &Object, default: &Value) -> bool {
    match default {
        Value::Null => !may_be_null(&object.schema_type),
        Value::String(text) => object.min_length.is_some_and(|least| text.chars().count() < least),
        _ => false,
    }
}

fn may_be_null(schema_type: &SchemaType) -> bool {
    match schema_type {
        SchemaType::Type(one) => *one == Type::Null,
        SchemaType::Array(all) => all.contains(&Type::Null),
        SchemaType::AnyValue => true,
    }
}

/// A tuple has as many items as it lists; a reader that doesn't know `prefixItems` is told what they are like.
fn correct_array(array: &mut Array) {
    if array.default.as_ref().is_some_and(Value::is_null) && !may_be_null(&array.schema_type) {
        array.default = None;
    }
    if let ArrayItems::RefOrSchema(items) = &mut array.items {
        return correct_one(items);
    }
    let count = array.prefix_items.len();
    if let Some(first) = array.prefix_items.first().filter(|first| array.prefix_items.iter().all(|one| one == *first)) {
        array.items = ArrayItems::RefOrSchema(Box::new(RefOr::T(first.clone())));
        (array.min_items, array.max_items) = (Some(count), Some(count));
    }
}
