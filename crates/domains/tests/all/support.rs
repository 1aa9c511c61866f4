//! Databases and texts that the tests share.

use std::collections::BTreeMap;
use steward_core::tables::{Column, ForeignKey, Schema, Table};
use steward_domains::{Catalog, Diagnostic};

/// A table from its columns: `id INTEGER pk | name TEXT not null | artist_id INTEGER -> artist.id`.
pub fn table(name: &str, columns: &str) -> Table {
    let mut foreign_keys = Vec::new();
    let columns = columns.split('|').map(str::trim).map(|column| {
        let (column, key) = column.split_once("->").map_or((column, None), |(column, key)| (column, Some(key.trim())));
        let not_null = column.contains(" not null");
        let column = column.replace(" not null", "");
        let pk = column.trim().ends_with(" pk");
        let column = column.trim().trim_end_matches(" pk");
        let (name, kind) = match column.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some((name, kind)) => (name, kind),
            None => column.split_once(' ').unwrap_or((column, "")),
        };
        if let Some(key) = key {
            let (table, references) = key.rsplit_once('.').unwrap_or((key, ""));
            foreign_keys.push(ForeignKey {
                column: name.to_owned(),
                table: table.to_owned(),
                references: references.to_owned(),
            });
        }
        Column { name: name.to_owned(), kind: kind.trim().to_owned(), pk, not_null }
    });
    let columns = columns.collect();
    Table { name: name.to_owned(), view: false, columns, foreign_keys, row_estimate: Some(1_000) }
}

pub fn schema(tables: &[(&str, &str)]) -> Schema {
    Schema { tables: tables.iter().map(|(name, columns)| table(name, columns)).collect() }
}

/// Two datasources, with a saved domain and view.
pub fn catalog() -> Catalog {
    let shop = schema(&[
        (
            "customer",
            "id INTEGER pk | name VARCHAR(40) not null | email VARCHAR(80) | bio CLOB | active BOOLEAN | born DATE | \
             seen TIMESTAMP | credit NUMERIC(10,2) | country_id INTEGER -> country.id | photo BLOB",
        ),
        (
            "order",
            "id INTEGER pk | customer_id INTEGER -> customer.id | \"Total Price\" REAL | code TEXT | line INTEGER",
        ),
        ("order line", "order_id INTEGER pk -> order.id | line INTEGER pk | text TEXT"),
        ("country", "id INTEGER pk | name TEXT"),
        ("sales.region", "id INTEGER pk | name TEXT"),
    ]);
    let archive = schema(&[("event", "id BIGINT pk | at TIMESTAMP | note TEXT")]);
    let saved =
        "domain event from event@archive { permission role:viewer read; field id : int readonly; field note : text
        ai \"scope\" \"What happened.\" }
        domain country from country@shop { permission role:viewer read; field id : int; field name : string }
        view event_list \"Events\" over event { table -> event.rows { column id \"Id\" } }";
    let analysis =
        steward_domains::analyze(saved, &Catalog { schemas: schemas(&shop, &archive), ..Catalog::default() });
    assert!(!analysis.has_errors(), "{:?}", analysis.diagnostics);
    Catalog {
        schemas: schemas(&shop, &archive),
        domains: analysis.domains.into_iter().map(|source| source.domain).collect(),
        views: analysis.views.into_iter().map(|source| source.view).collect(),
        groups: vec!["sales team".to_owned()],
    }
}

fn schemas(shop: &Schema, archive: &Schema) -> BTreeMap<String, Schema> {
    [("shop".to_owned(), shop.clone()), ("archive".to_owned(), archive.clone())].into()
}

/// A text that says nothing wrong, with every statement of the language.
pub const SHOP: &str = r##"# Customers and what they order.
domain customer from customer@shop {
  permission role:admin read, write, delete
  permission group:"sales team" read, write
  permission * read

  field id : int readonly filterable
  field name : string filterable { example contains "Smith" "called Smith" }
  field email : string
  field bio : text
  field active : bool filterable { example eq true "active ones" }
  field born : date filterable {
    example gt 1990-01-01 "born after 1990"
    example lt 1950-01-01 "older people" # by birth
  }
  field seen : datetime
  field credit : float filterable { example gte 10.5 "with a credit" }
  field country_id : int options=countries

  relation orders : has_many order bind=id -> customer_id
  relation country : belongs_to country bind=country_id -> id

  meta countries from country id name order_by name

  ai "scope" "Customers with their \"credit\".\nOne row each."
  aliases ["client", "buyer"]
}

domain order from order@shop {
  permission role:viewer read
  field id : int
  field customer_id : int
  field "Total Price" : float
  field code : string
  relation customer : belongs_to customer bind=customer_id -> id
  relation lines : has_many "order line" bind=id -> order_id, line -> line
}

domain "order line" from "order line"@shop {
  permission role:viewer read
  field order_id : int
  field line : int
}

view customers "Customers" over customer {
  toolbar {
    new "New" -> customer_form as tab
    refresh "Reload"
  }
  table -> customer.rows {
    on_select -> customer_form bind=id as tab
    column id "No" width=10 format=number:0
    column name "Name" width=60
    column born "Born" format=date:short
  }
}

view customer_form "Customer" over customer {
  toolbar {
    save "Save"
    delete "Delete"
  }
  section "Person" {
    row { widget text bind=name; widget date bind=born }
    row { widget textarea bind=bio; widget checkbox bind=active }
    row { widget select bind=country_id; widget number bind=credit }
  }
  table -> order.rows {
    column "Total Price" "Total" format="#,##0.00"
  }
}
"##;

/// The text without `|`, and where that stood.
pub fn cursor(text: &str) -> (String, usize) {
    let offset = text.find('|').expect("a cursor");
    (text.replacen('|', "", 1), offset)
}

/// Each diagnostic as its code and the text that it stands at.
pub fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics
        .iter()
        .map(|diagnostic| {
            assert!(diagnostic.message.ends_with('.'), "{diagnostic:?} is no sentence");
            let (start, end) = diagnostic.range;
            let place = text.get(start..end).unwrap_or_else(|| panic!("{diagnostic:?} is outside of {text:?}"));
            format!("{} {place}", diagnostic.code).trim_end().to_owned()
        })
        .collect()
}
