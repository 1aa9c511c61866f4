//! Explanations.

use crate::support::{catalog, cursor};
use steward_domains::assist::hover;

/// What is explained at the cursor begins with `expect`; an empty one means nothing is.
fn check(text: &str, expect: &str) {
    let (text, offset) = cursor(text);
    let found = hover(&text, offset, &catalog()).map(|hover| hover.markdown).unwrap_or_default();
    assert!(found.starts_with(expect) && found.is_empty() == expect.is_empty(), "{text}: {found}");
}

#[test]
fn things_are_explained() {
    for (text, expect) in [
        ("dom|ain a from customer@shop { }", "**domain**: Describes a table"),
        ("domain a from cust|omer@shop { }", "Table `customer` with about 1000 rows."),
        ("domain a from customer@sh|op { }", "Datasource `shop` with 5 tables."),
        ("domain a| from customer@shop { ai \"scope\" \"People.\" }", "Domain `a` from `customer@shop`. People."),
        (
            "domain a from customer@shop { field na|me : string filterable }",
            "Field `name` of `a`: string, filterable.\n\nColumn `customer.name` VARCHAR(40), not null.",
        ),
        (
            "domain a from customer@shop { field country_id| : int }",
            "Field `country_id` of `a`: int.\n\nColumn `customer.country_id` INTEGER, refers to `country`.",
        ),
        ("domain a from customer@shop { field born : da|te }", "**date**: A day.\n\nOperators: `eq`, `gt`, `lt`"),
        (
            "domain a from customer@shop { field id : int { example g|te 5 \"t\" } }",
            "**gte**: the value is at least what follows.",
        ),
        (
            "domain a from customer@shop { field name : string { example li|ke x \"t\" } }",
            "**contains**: the value has the text in it what follows.",
        ),
        (
            "domain a from customer@shop { relation r| : belongs_to country bind=country_id -> id }",
            "Relation `r`: belongs_to `country`, where `country_id` = `id`.",
        ),
        ("domain a from customer@shop { relation r : belongs_to coun|try bind=country_id -> id }", "Domain `country`"),
        (
            "domain a from customer@shop { relation r : belongs_to country bind=country_id -> i|d }",
            "Field `id` of `country`: int.",
        ),
        (
            "domain a from customer@shop { meta m| from country id name }",
            "Meta `m`: the values of `country.id`, shown as `name`.",
        ),
        ("domain a from customer@shop { meta m from country i|d name }", "Column `country.id` INTEGER, primary key."),
        ("domain a from customer@shop { permission view|er read }", "**viewer**: Viewers."),
        ("domain a from customer@shop { permission group:\"sales| team\" read }", "The group `sales team`."),
        ("domain a from customer@shop { permission role:view|er read }", "**viewer**: Viewers."),
        ("domain a from customer@shop { permission viewer re|ad }", "**read**: May see rows."),
        ("domain a from customer@shop { ai \"sco|pe\" \"t\" }", "**scope**"),
        ("view v| \"V\" over event { }", "View `v` \"V\" over the domain `event`."),
        ("view v \"V\" over ev|ent { }", "Domain `event` from `event@archive`. What happened."),
        ("view v \"V\" over event { table -> event.rows { column no|te \"N\" } }", "Field `note` of `event`: text."),
        ("view v \"V\" over event { section \"S\" { row { widget date| bind=id } } }", "**date**: A day, with a time"),
        ("view v \"V\" over no|thing { }", ""),
        ("view v \"V| \" over event { }", ""),
        ("domain a from customer@shop { | }", ""),
    ] {
        check(text, expect);
    }
}
