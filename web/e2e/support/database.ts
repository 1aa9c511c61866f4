import { execFileSync } from "node:child_process";

const SHOP = `
create table categories (id integer primary key, name text not null);
create table products (id integer primary key, name text not null, price real not null, category_id integer not null references categories (id), in_stock boolean not null default 1, added date not null, note text);
insert into categories values (1, 'Tea'), (2, 'Coffee'), (3, 'Cups');
insert into products values
  (1, 'Assam', 4.5, 1, 1, '2025-01-12', null), (2, 'Darjeeling', 6.2, 1, 1, '2025-02-03', 'first flush'), (3, 'Sencha', 5.1, 1, 0, '2025-02-20', null),
  (4, 'Yirgacheffe', 9.9, 2, 1, '2025-03-01', null), (5, 'House blend', 7.0, 2, 1, '2025-03-09', '=1+1'), (6, 'Harbour cup', 12.0, 3, 1, '2025-04-15', null);
`;

/** A shop with three categories and six products, as a SQLite file. */
export function makeShop(file: string): void {
  execFileSync("python3", ["-c", "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()", file, SHOP]);
}

const PERMISSIONS = "  permission role:admin read, write, delete\n  permission role:viewer read\n";

/** Domains and a view of the shop, as somebody has refined them. */
export const SHOP_TEXT = `domain categories from categories@shop {
${PERMISSIONS}  field id : int readonly filterable
  field name : string filterable
  relation products : has_many products bind=id -> category_id
}
domain products from products@shop {
${PERMISSIONS}  field id : int readonly filterable
  field name : string filterable
  field price : float filterable
  field category_id : int filterable options=categories
  field in_stock : bool filterable
  field added : date filterable
  field note : text
  relation category : belongs_to categories bind=category_id -> id
  meta categories from categories id name order_by name
  ai "scope" "What the shop sells, with prices."
}
view products "Products" over products {
  toolbar {
    new "New"
    refresh "Reload"
    save "Save"
    delete "Delete"
  }
  table -> products.rows {
    column name "Name" width=20
    column price "Price" format=money:EUR
    column category_id "Category"
  }
  section "Product" {
    row {
      widget text bind=name
      widget number bind=price
    }
    row {
      widget select bind=category_id
      widget checkbox bind=in_stock
    }
  }
}
`;
