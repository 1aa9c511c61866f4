//! Numbers over rows that a query would repeat.

use crate::base::Base;
use serde_json::{Value, json};

const WORKS: &str = include_str!("../data/problems/works.sql");

const SHOP: &str = "
create table customer(id integer primary key, name text, credit integer);
create table product(id integer primary key, name text, price integer);
create table purchase(id integer primary key, customer_id integer references customer(id), shipping integer);
create table line(id integer primary key, purchase_id integer references purchase(id),
  product_id integer references product(id), quantity integer);
create table review(id integer primary key, product_id integer references product(id), stars integer);
insert into customer values (1,'Ann',100),(2,'Bo',50),(3,'Cy',70);
insert into product values (1,'Pen',3),(2,'Cup',10);
insert into purchase values (1,1,5),(2,1,7),(3,2,5),(4,null,9);
insert into line values (1,1,1,2),(2,1,1,1),(3,2,2,1),(4,3,1,4),(5,3,2,1),(6,4,2,2);
insert into review values (1,1,5),(2,1,3),(3,2,4);
create table student(id integer primary key, name text);
create table course(id integer primary key, title text, credits integer);
create table enrolment(student_id integer references student(id), course_id integer references course(id),
  primary key(student_id, course_id));
insert into student values (1,'Kim'),(2,'Lee'),(3,'Kim');
insert into course values (1,'Law',6),(2,'Art',4);
insert into enrolment values (1,1),(1,2),(2,1),(3,1);
create table passport(customer_id integer primary key references customer(id), number text);
insert into passport values (1,'A1'),(2,'B2');
";

fn sum(field: &str) -> Value {
    json!([{"fn": "sum", "field": field, "as": "n"}])
}

fn check(base: &Base, query: &Value, expect: &Value) {
    let found = base.query(query).unwrap_or_else(|why| panic!("{query}: {why}"));
    assert_eq!(json!(found), *expect, "{query}");
}

#[test]
fn a_value_of_a_parent_counts_once() {
    let base = Base::of(WORKS);
    let of = |aggregate: Value, expect: Value| {
        check(&base, &json!({"domain": "invoice", "aggregate": aggregate}), &expect);
    };
    of(sum("project.budget"), json!([[1700]]));
    of(json!([{"fn": "avg", "field": "project.budget"}]), json!([[1700.0 / 3.0]]));
    of(json!([{"fn": "count", "field": "project.name"}]), json!([[3]]));
    of(
        json!([{"fn": "count"}, {"fn": "sum", "field": "project.budget"}, {"fn": "sum", "field": "amount"}]),
        json!([[4, 1700, 700]]),
    );
    of(sum("project.budget * 2"), json!([[3400]]));
    // The least and the greatest are the same however often they come, and a formula over both is of the invoice.
    of(
        json!([{"fn": "max", "field": "project.budget"}, {"fn": "min", "field": "project.budget"}]),
        json!([[1000, 200]]),
    );
    of(sum("amount * project.budget"), json!([[535_000]]));
    of(json!([{"fn": "count", "field": "project.budget", "distinct": true}]), json!([[3]]));
}

#[test]
fn each_group_counts_it_once() {
    let base = Base::of(WORKS);
    let of = |group: &str, more: Value, expect: Value| {
        let mut query = json!({"domain": "invoice", "group": [group], "aggregate": sum("project.budget")});
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        check(&base, &query, &expect);
    };
    of("project.name", json!({}), json!([["Bridge", 1000], ["Tower", 500], ["Well", 200]]));
    of("paid", json!({}), json!([[0, 1000], [1, 1700]]));
    of("project.name", json!({"order": "n", "limit": 2}), json!([["Well", 200], ["Tower", 500]]));
    of("project.name", json!({"where": [{"field": "n", "op": "gt", "value": 900}]}), json!([["Bridge", 1000]]));
    of(
        "project.name",
        json!({"where": [{"field": "paid", "op": "eq", "value": 1}]}),
        json!([["Bridge", 1000], ["Tower", 500], ["Well", 200]]),
    );
    // One row in each group: nothing comes twice.
    of("id", json!({}), json!([[1, 1000], [2, 1000], [3, 500], [4, 200]]));
}

#[test]
fn lists_of_a_parent_and_two_lists_count_once() {
    let base = Base::of(WORKS);
    check(&base, &json!({"domain": "invoice", "aggregate": sum("project.task.hours")}), &json!([[28]]));
    check(&base, &json!({"domain": "invoice", "aggregate": [{"fn": "count", "field": "project.task"}]}), &json!([[5]]));
    check(
        &base,
        &json!({"domain": "invoice", "aggregate": [{"fn": "avg", "field": "project.task.hours"}]}),
        &json!([[28.0 / 5.0]]),
    );
    check(
        &base,
        &json!({"domain": "invoice", "group": ["paid"], "aggregate": sum("project.task.hours")}),
        &json!([[0, 15], [1, 28]]),
    );
    let both = json!({"domain": "project", "group": ["name"], "aggregate": [
        {"fn": "sum", "field": "task.hours"}, {"fn": "sum", "field": "invoice.amount"}, {"fn": "count"}, {"fn": "sum", "field": "budget"}]});
    check(&base, &both, &json!([["Bridge", 15, 400, 1, 1000], ["Tower", 13, 250, 1, 500], ["Well", null, 50, 1, 200]]));
}

#[test]
fn it_holds_over_several_relations() {
    let base = Base::of(SHOP);
    check(&base, &json!({"domain": "line", "aggregate": sum("purchase.shipping")}), &json!([[26]]));
    check(&base, &json!({"domain": "line", "aggregate": sum("purchase.customer.credit")}), &json!([[150]]));
    check(
        &base,
        &json!({"domain": "line", "group": ["product.name"], "aggregate": sum("purchase.shipping")}),
        &json!([["Cup", 21], ["Pen", 10]]),
    );
    check(
        &base,
        &json!({"domain": "line", "aggregate": sum("purchase.shipping * purchase.customer.credit")}),
        &json!([[1450]]),
    );
    check(&base, &json!({"domain": "line", "aggregate": sum("quantity * product.price")}), &json!([[61]]));
    check(
        &base,
        &json!({"domain": "enrolment", "group": ["student.name"], "aggregate": sum("course.credits")}),
        &json!([["Kim", 10], ["Lee", 6]]),
    );
    // Each has one of the other.
    check(&base, &json!({"domain": "passport", "aggregate": sum("customer.credit")}), &json!([[150]]));
    check(
        &base,
        &json!({"domain": "customer", "aggregate": [{"fn": "count", "field": "passport.number"}]}),
        &json!([[2]]),
    );
}

#[test]
fn what_can_t_be_counted_once_is_refused_with_the_reason() {
    let base = Base::of(SHOP);
    for (domain, field) in [
        ("purchase", "line.product.price"),
        ("customer", "purchase.line.product.price"),
        ("purchase", "line.product.review.stars"),
        ("student", "enrolment.course.credits"),
    ] {
        for function in ["sum", "avg", "count"] {
            let query = json!({"domain": domain, "aggregate": [{"fn": function, "field": field}]});
            let why = base.query(&query).unwrap_err();
            assert!(why.contains("may lead to the same") && why.contains("itself"), "{query}: {why}");
        }
        base.query(&json!({"domain": domain, "aggregate": [{"fn": "max", "field": field}]})).unwrap();
    }
    // A student takes a course once.
    let one = json!({"domain": "student", "group": ["id"], "aggregate": sum("enrolment.course.credits")});
    check(&base, &one, &json!([[1, 10], [2, 6], [3, 6]]));
    let lines = json!({"domain": "purchase", "group": ["id"], "aggregate": sum("line.product.price")});
    assert!(base.query(&lines).is_err(), "a purchase may have two lines of a product");
}
