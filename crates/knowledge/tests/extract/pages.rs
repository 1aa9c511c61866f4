//! Pages: tables with wide and high cells, raised text, formulas, drawings and forms.

use super::check;

#[track_caller]
fn check_page(page: &str, expected: &str) {
    check(format!("<html><body>{page}</body></html>").as_bytes(), "a.html", "html", expected);
}

#[test]
fn values_stand_below_their_columns() {
    check_page(
        "<table><tr><th rowspan='2'>Line</th><th colspan='2'>Peak</th></tr><tr><th>Up</th><th>Down</th></tr>\
         <tr><td rowspan='2'>Red</td><td>11</td><td>22</td></tr><tr><td>33</td><td>44</td></tr></table>",
        "| Line | Peak |  |\n| --- | --- | --- |\n|  | Up | Down |\n| Red | 11 | 22 |\n|  | 33 | 44 |\n",
    );
    check_page(
        "<table><tr><th>Item<th>Net<th>Gross</tr><tr><td colspan=2>Subtotal<td>595</tr></table>",
        "| Item | Net | Gross |\n| --- | --- | --- |\n| Subtotal |  | 595 |\n",
    );
    // To the end of its part of the table, and no further.
    check_page(
        "<table><tbody><tr><td rowspan=0>a<td>1<tr><td>2</tbody><tbody><tr><td>b<td>3</tbody></table>",
        "| a | 1 |\n| --- | --- |\n|  | 2 |\n| b | 3 |\n",
    );
    check_page(
        "<table><tr><td colspan=x>a<td colspan=-1>b<tr><td colspan=99999999999>c</table>",
        "| a | b |\n| --- | --- |\n| c |  |\n",
    );
}

#[test]
fn raised_and_struck_text_is_told_apart() {
    check_page(
        "<p>Dose 10<sup>6</sup> units; mark 2024<sup>1</sup>. CO<sub>2</sub> 1<sup>st</sup></p>",
        "Dose 10⁶ units; mark 2024¹. CO₂ 1st\n",
    );
    check_page("<p>Old <del>100</del> new 80, <s>50</s></p>", "Old ~~100~~ new 80, ~~50~~\n");
    check_page("<del><p>one</p><p>two</p></del><p>three", "~~one~~\n~~two~~\nthree\n");
    check_page("<p>not closed 10<sup>2<p>next 3", "not closed 10²\nnext 3\n");
    check_page("<table><tr><td>m<sup>2</sup><td>x<tr><td>3<td>4</table>", "| m² | x |\n| --- | --- |\n| 3 | 4 |\n");
    check_page(
        "<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby> <ruby>本<rt>ほん</ruby>",
        "漢字(かんじ) 本(ほん)\n",
    );
}

#[test]
fn formulas_and_drawings_are_read() {
    check_page(
        "<p>x = <math><mfrac><mn>7</mn><mn>8</mn></mfrac></math> and <math><msup><mn>2</mn><mn>9</mn></msup></math></p>",
        "x = 7/8 and 2⁹\n",
    );
    check_page("<p>a <math><mn>1<p>next", "a 1\nnext\n");
    check_page(
        "<p>before</p><svg><title>icon</title><style>text{}</style><text x=1>Svg <tspan>text</tspan></text><path d='M'/><text>3131</text></svg><p>after",
        "before\nSvg text 3131\nafter\n",
    );
}

#[test]
fn forms_show_what_is_in_them() {
    check_page(
        "<p>Zone <select><option>Zone A<option selected>Zone B</select> Name <input value='typed 416'><input type=hidden value=no> \
         <textarea>area 417</textarea></p><p><input type=checkbox checked> yes <input type=radio> no</p>",
        "Zone Zone B (choice of Zone A, Zone B) Name typed 416 area 417\n☒ yes ☐ no\n",
    );
}
