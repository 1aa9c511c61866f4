create table categories (id integer primary key, name text not null);
create table products (id integer primary key, name text not null, price real not null, category_id integer not null references categories (id), added date);
insert into categories values (1, 'Tea'), (2, 'Coffee');
insert into products values (1, 'Assam', 4.5, 1, '2025-01-12'), (2, 'Sencha', 5.1, 1, null), (3, 'House blend', 7.0, 2, '2025-03-09');
