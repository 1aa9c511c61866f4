//! What a caller finds out by GraphQL, and what a request may cost.

use std::time::{Duration, Instant};

use serde_json::json;
use steward_domains::graphql::{GraphQlRequest, GraphQlSchema};
use steward_domains::model::{Domain, Field, FieldKind, Relation, RelationKind};
use steward_domains::registry::Domains;

use crate::graphql::{answer, everybody, planned, run};
use crate::music::{Music, roles};

const INTROSPECTION: &str = "query IntrospectionQuery { __schema { queryType { name } mutationType { name }
    subscriptionType { name } types { ...FullType } directives { name description locations args { ...InputValue } } } }
    fragment FullType on __Type { kind name description fields(includeDeprecated: true) { name description
      args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } inputFields { ...InputValue }
      interfaces { ...TypeRef } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { ...TypeRef } }
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
    fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
      ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } } }";

#[test]
fn introspection_shows_what_the_caller_may_read() {
    let music = Music::open();
    let names = |who: &[&str]| -> Vec<String> {
        let found = answer(&music, who, &GraphQlRequest::new(INTROSPECTION));
        assert!(found.get("errors").is_none(), "{found}");
        let types = found["data"]["__schema"]["types"].as_array().expect("types");
        types.iter().map(|ty| ty["name"].as_str().expect("a name").to_owned()).collect()
    };
    let (viewer, hr) = (names(&["viewer"]), names(&["hr"]));
    assert!(viewer.contains(&"album".to_owned()) && !viewer.iter().any(|name| name.contains("salar")), "{viewer:?}");
    assert!(hr.contains(&"salary".to_owned()) && hr.contains(&"salary_filter".to_owned()), "{hr:?}");
    let sdl = |who: &[&str]| {
        let roles = roles(who);
        GraphQlSchema::new(&music.domains.seen_by(&roles)).expect("a schema").sdl()
    };
    assert!(!sdl(&["viewer"]).contains("salar"));
    assert!(sdl(&["hr"]).contains("salaries("));
    for text in [
        "{ salary { id } }",
        "{ customer { salaries { amount } } }",
        "{ customer(where: {salaries: {amount: {gt: 1}}}) { id } }",
        "{ salary_aggregate { count } }",
        "{ customer { ... on salary { id } } }",
        "{ customer { ...f } } fragment f on salary { id }",
        "query($f: salary_filter) { customer { id } }",
        "{ __type(name: \"salary\") { name } salarx }",
    ] {
        let said = answer(&music, &["viewer"], &GraphQlRequest::new(text));
        assert!(said.get("errors").is_some(), "{text}: {said}");
        let said = said.to_string().replace("salary_aggregate", "").replace("salary_filter", "");
        let said =
            said.replace("\\\"salary\\\"", "").replace("`salary`", "").replace("salaries", "").replace("salarx", "");
        assert!(!said.contains("salar"), "{text}: {said}");
    }
    let hidden = answer(&music, &["viewer"], &GraphQlRequest::new("{ __type(name: \"salary\") { name } }"));
    assert_eq!(hidden, json!({"data": {"__type": null}}));
}

#[test]
fn who_may_read_nothing_sees_nothing() {
    let closed: Vec<Domain> =
        Music::open().domains.iter().cloned().map(|domain| Domain { permissions: Vec::new(), ..domain }).collect();
    let domains = Domains::new(closed);
    let ask = |text: &str| match planned(&domains, &["viewer"], &GraphQlRequest::new(text)) {
        Ok(plan) => plan.answer(Vec::new()),
        Err(errors) => errors.response(),
    };
    assert_eq!(ask("{ _domains }"), json!({"data": {"_domains": []}}));
    let types = ask(INTROSPECTION).to_string();
    for name in ["album", "artist", "salary", "customer"] {
        assert!(!types.contains(name), "{name}");
        assert!(ask(&format!("{{ {name} {{ id }} }}"))["errors"][0]["message"].to_string().contains("there is no"));
    }
}

#[test]
fn the_schema_as_a_text() {
    let music = Music::open();
    let few: Vec<Domain> =
        music.domains.iter().filter(|domain| ["album", "artist"].contains(&domain.name.as_str())).cloned().collect();
    let domains = Domains::new(few);
    insta::assert_snapshot!(GraphQlSchema::new(&domains.seen_by(&[])).expect("a schema").sdl());
}

/// Texts that ask for too much, or for what is not to be had, with what becomes of them.
#[test]
fn attacks() {
    let deep =
        |levels: usize| format!("{{ customer {{ {} id {} }} }}", "referrer { ".repeat(levels), "} ".repeat(levels));
    let doubling: String =
        (0..60).map(|at| format!("fragment f{at} on album {{ ...f{0} ...f{0} }} ", at + 1)).collect();
    let chain: String = (0..400).map(|at| format!("fragment f{at} on album {{ ...f{} }} ", at + 1)).collect();
    let aliases = |count: usize| (0..count).map(|at| format!("a{at}: album {{ id }} ")).collect::<String>();
    let attacks: Vec<(&str, String)> = vec![
        ("nine levels", deep(8)),
        ("a thousand levels", deep(1000)),
        ("brackets of a list", format!("{{ album(where: {{any: {}1{}}}) {{ id }} }}", "[".repeat(5000), "]".repeat(5000))),
        ("brackets that stay open", "{".repeat(19_000)),
        ("brackets in a string", format!("{{ album(where: {{title: {{eq: \"{}\"}}}}) {{ id }} }}", "[".repeat(400))),
        ("brackets in a comment", format!("# {}\n{{ album {{ id }} }}", "{".repeat(400))),
        ("nested filters", format!("{{ album(where: {}{{}}{}) {{ id }} }}", "{any: [".repeat(5), "]}".repeat(5))),
        ("filters around in circles", format!("{{ album(where: {}{{id: {{eq: 1}}}}{}) {{ id }} }}",
            "{artist: {albums: ".repeat(6), "}}".repeat(6))),
        ("21 aliases", format!("{{ {} }}", aliases(21))),
        ("20 aliases", format!("{{ {} }}", aliases(20))),
        ("a thousand aliases", format!("{{ {} }}", aliases(900))),
        ("aliases by fragments", format!("{{ ...f ...g }} fragment f on Query {{ {} }} fragment g on Query {{ {} }}",
            aliases(11), (20..31).map(|at| format!("a{at}: album {{ id }} ")).collect::<String>())),
        ("aliases over operations", (0..30).map(|at| format!("query q{at} {{ album {{ id }} }} ")).collect()),
        ("many aliases of a field", format!("{{ album {{ {} }} }}", (0..1500).map(|at| format!("a{at}:id ")).collect::<String>())),
        ("three thousand fields", format!("{{ album {{ {} }} }}", "id ".repeat(3000))),
        ("a fragment in itself", "{ album { ...f } } fragment f on album { ...f }".to_owned()),
        ("fragments in a circle", "{ album { ...f } } fragment f on album { ...g } fragment g on album { id ...f }".to_owned()),
        ("a circle that is not used", "{ album { id } } fragment f on album { ...g } fragment g on album { ...f }".to_owned()),
        ("doubling fragments", format!("{{ album {{ ...f0 }} }} {doubling} fragment f60 on album {{ id }}")),
        ("doubling fragments of the query", format!("{{ ...f0 }} {} fragment f60 on Query {{ album {{ id }} }}", doubling.replace("album", "Query"))),
        ("a long chain of fragments", format!("{{ album {{ ...f0 }} }} {chain} fragment f400 on album {{ id }}")),
        ("too many rows", "{ album(limit: 5000) { id } }".to_owned()),
        ("too many rows with relations", "{ album(limit: 1000) { tracks { id } } }".to_owned()),
        ("too many rows of a relation", "{ album { tracks(limit: 5000) { id } } }".to_owned()),
        ("rows times rows", "{ album(limit: 100) { tracks(limit: 100) { id } } }".to_owned()),
        ("rows of many fields", format!("{{ {} }}", (0..20).map(|at| format!("a{at}: album(limit: 100) {{ tracks(limit: 10) {{ id }} }} ")).collect::<String>())),
        ("a huge list", format!("{{ album(where: {{id: {{in: [{}]}}}}) {{ id }} }}", "1,".repeat(5000))),
        ("a list over the limit", format!("{{ album(where: {{id: {{in: [{}]}}}}) {{ id }} }}", "1,".repeat(101))),
        ("a huge text", format!("{{ album(where: {{title: {{eq: \"{}\"}}}}) {{ id }} }}", "x".repeat(30_000))),
        ("a long value", format!("{{ album(where: {{title: {{eq: \"{}\"}}}}) {{ id }} }}", "x".repeat(1_000))),
        ("a long name", format!("{{ {} {{ id }} }}", "x".repeat(5_000))),
        ("a thousand directives", format!("{{ album {{ id {} }} }}", "@skip(if: false) ".repeat(1000))),
        ("introspection", INTROSPECTION.to_owned()),
        ("introspection twenty times", format!("{{ {} }}", (0..20).map(|at| format!("a{at}: __schema {{ types {{ fields {{ name }} }} }} ")).collect::<String>())),
        ("types of types of types", format!("{{ __schema {{ types {{ {} name {} }} }} }}", "fields { type { ".repeat(6), "} } ".repeat(6))),
        ("types by fragments", "{ __schema { types { ...t } } } fragment t on __Type { fields { type { ...u } } } fragment u on __Type { fields { name } }".to_owned()),
        ("introspection with aliases", format!("{{ __schema {{ {} }} }}", (0..200).map(|at| format!("a{at}: types {{ name }} ")).collect::<String>())),
        ("a number without end", "{ album(where: {id: {eq: 99999999999999999999999999}}) { id } }".to_owned()),
        ("a float for a whole number", "{ album(where: {id: {eq: 1.5}}) { id } }".to_owned()),
        ("a NUL", "{ album(where: {title: {eq: \"a\\u0000b\"}}) { id } }".to_owned()),
        ("a name over SQL", "{ album(where: {title: {eq: \"x\"}}, order: {title__DROP: ASC}) { id } }".to_owned()),
        ("half a surrogate", "{ album(where: {title: {eq: \"\\ud800\"}}) { id } }".to_owned()),
        ("letters that only look alike", "{ аlbum { id } }".to_owned()),
        ("a byte order mark", "\u{feff}{ album { id } }".to_owned()),
        ("an invisible character", "{ album { id\u{200b} } }".to_owned()),
        ("a string that stays open", "{ album(where: {title: {eq: \"x".to_owned()),
        ("a block that stays open", "{ album(where: {title: {eq: \"\"\"x".to_owned()),
        ("two operations without names", "{ album { id } } { artist { id } }".to_owned()),
        ("an upload", "query($f: Upload) { album { id } }".to_owned()),
    ];
    let music = Music::open();
    let schema = GraphQlSchema::new(&music.domains.seen_by(&[])).expect("a schema");
    let mut table = String::new();
    for (name, text) in attacks {
        let begun = Instant::now();
        let outcome = match schema.plan(&GraphQlRequest::new(text.as_str()), &music.domains.seen_by(&[])) {
            Ok(plan) => format!("{} queries", plan.roots().len()),
            Err(errors) => {
                let message = errors.0[0].message.lines().map(str::trim).filter(|line| !line.is_empty());
                let message: String = message.collect::<Vec<_>>().join(" ").chars().take(150).collect();
                format!("refused ({}): {message}", errors.0.len())
            }
        };
        assert!(begun.elapsed() < Duration::from_mins(1), "{name} took {:?}", begun.elapsed());
        table.push_str(&format!("{name}: {outcome}\n"));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn variables_are_not_multiplied() {
    let music = Music::open();
    let asked = |uses: usize, bytes: usize| {
        let text = format!("{{ __type(name: [{}]) {{ name }} }}", "$v".repeat(uses));
        let variables = json!({"v": "x".repeat(bytes)}).as_object().expect("an object").clone();
        answer(&music, &["viewer"], &GraphQlRequest { variables, ..GraphQlRequest::new(text) })
    };
    let said = asked(9_000, 4_000_000);
    assert!(said["errors"][0]["message"].as_str().expect("why").contains("are named too often"), "{said}");
    let said = asked(2, 1_000_000).to_string();
    assert!(!said.contains("are named too often"), "{}", &said[..500.min(said.len())]);
}

/// A schema of many tables is made in a time that one can wait for, and a request is planned at once.
#[test]
fn a_thousand_domains() {
    let field = |at: usize| Field {
        name: format!("field_{at}"),
        kind: if at.is_multiple_of(3) { FieldKind::Int } else { FieldKind::String },
        readonly: false,
        filterable: true,
        trusted: None,
        options: None,
        examples: Vec::new(),
        aliases: Vec::new(),
    };
    let list = (0..1000).map(|at| Domain {
        name: format!("table_{at}"),
        table: format!("table_{at}"),
        datasource: "shop".to_owned(),
        permissions: everybody(),
        fields: (0..12).map(field).collect(),
        relations: vec![Relation {
            name: "next".to_owned(),
            kind: RelationKind::BelongsTo,
            domain: format!("table_{}", (at + 1) % 1000),
            bind: vec![("field_0".to_owned(), "field_0".to_owned())],
        }],
        metas: Vec::new(),
        notes: Vec::new(),
        aliases: Vec::new(),
    });
    let domains = Domains::new(list.collect());
    let visible = domains.seen_by(&[]);
    let begun = Instant::now();
    let schema = GraphQlSchema::new(&visible).expect("a schema");
    let made = begun.elapsed();
    let request =
        GraphQlRequest::new("{ table_500(where: {next: {field_1: {eq: \"x\"}}}) { field_1 next { field_2 } } }");
    let begun = Instant::now();
    let times = 50;
    for _ in 0..times {
        assert_eq!(schema.plan(&request, &visible).expect("a plan").roots().len(), 1);
    }
    let planned = begun.elapsed() / times;
    println!("made in {made:?}, planned in {planned:?}");
    assert!(made < Duration::from_secs(20), "made in {made:?}");
    assert!(planned < Duration::from_millis(20), "planned in {planned:?}");
}

#[test]
fn odd_names_have_names_of_graphql() {
    let music = Music::open();
    let text = "{ odd(where: {a_b: {eq: \"x\"}, own_kind: {the_key: {gt: 1}}}, order: {c_d_e_f: ASC}) { the_key select na_ve own_kind { a_b } } }";
    let plan = planned(&music.domains, &[], &GraphQlRequest::new(text)).expect("a plan");
    let query = &plan.roots()[0].query;
    assert_eq!(query.fields, ["the \"key\"", "select", "naïve ☃", "own \"kind\".a.b", "own \"kind\".the \"key\""]);
    assert_eq!(query.order[0].field, "c;d -- e'f");
    let found = run(&music, &[], query).expect("rows");
    assert!(found.rows.iter().all(|row| row.contains_key("naïve ☃")), "{found:?}");
}
