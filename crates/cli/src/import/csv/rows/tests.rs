use std::cell::Cell;
use std::io::Cursor;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::import::tests::PausingReader;

const COMMA: Dialect = Dialect {
    delimiter: b',',
    quotes: true,
    header: Header::FirstRow,
    extras: Extras { skip_lines: 0, comment: None, escape: None, trim: false },
};

/// A backslash escapes.
fn escaped() -> Dialect {
    Dialect { extras: Extras { escape: Some(b'\\'), ..COMMA.extras }, ..COMMA }
}

fn open(text: &[u8], dialect: Dialect) -> Result<(CsvRows, Fields)> {
    let mut fields = Fields::default();
    let reader = Box::new(Cursor::new(text.to_vec()));
    let rows = CsvRows::open(&"a.csv".into(), reader, dialect, &mut fields)?;
    Ok((rows, fields))
}

/// Every row as texts, or its error.
fn rows_of(text: &[u8], dialect: Dialect) -> Vec<Result<Vec<String>, String>> {
    rest_of(open(text, dialect).unwrap().0)
}

fn rest_of(mut rows: CsvRows) -> Vec<Result<Vec<String>, String>> {
    let mut row = Row::default();
    let mut out = Vec::new();
    loop {
        match rows.next(&mut row) {
            Ok(false) => return out,
            Ok(true) => out.push(Ok(row.cells.iter().map(|cell| row.text(cell).to_owned()).collect())),
            Err(error) if error.is_pause() => continue,
            Err(error) => out.push(Err(error.to_string())),
        }
        assert!(out.len() < 1000, "the reader does not end");
    }
}

/// The rows of a text whose reader pauses before each byte after the header.
fn rows_after_pauses(text: &[u8]) -> Vec<Result<Vec<String>, String>> {
    let (mut fields, reports_pauses) = (Fields::default(), Rc::new(Cell::new(false)));
    let reader = Box::new(PausingReader::new(text, reports_pauses.clone()));
    let rows = CsvRows::open(&"a.csv".into(), reader, COMMA, &mut fields).unwrap();
    reports_pauses.set(true);
    rest_of(rows)
}

#[test]
fn a_pause_within_a_row_loses_nothing() {
    for text in
        ["a,b\n1,\"x\ny\"\"\n\n\"\r\n\n2,3\r4,5\n6\n\"7\"8,9\n10,11", "a,b\n1,\"2\n3\n4,5\n6,7\n", "a\n\n1\n"]
    {
        assert_eq!(rows_after_pauses(text.as_bytes()), rows_of(text.as_bytes(), COMMA), "{text}");
    }
}

fn row(cells: &[&str]) -> Result<Vec<String>, String> {
    Ok(cells.iter().map(|&c| c.to_owned()).collect())
}

#[test]
fn cells_know_where_they_stand_and_whether_they_were_quoted() {
    let (mut rows, fields) = open(b"a,b c,d\n1,\"x\ny\"\"z\",\"\"\r\n,2,3", COMMA).unwrap();
    assert_eq!(fields.names().collect::<Vec<_>>(), ["a", "b c", "d"]);
    let mut row = Row::default();
    assert!(rows.next(&mut row).unwrap());
    let cells: Vec<_> = row.cells.iter().map(|c| (row.text(c), c.form, row.place(c))).collect();
    let expected = [("1", Form::Bare, (2, 1)), ("x\ny\"z", Form::Quoted, (2, 3)), ("", Form::Quoted, (3, 7))];
    assert_eq!(cells, expected);
    assert!(rows.next(&mut row).unwrap());
    let places: Vec<_> = row.cells.iter().map(|c| row.place(c)).collect();
    assert_eq!(places, [(4, 1), (4, 2), (4, 4)]);
    assert!(!rows.next(&mut row).unwrap());
    assert!(!rows.next(&mut row).unwrap());
}

#[test]
fn blank_lines_are_no_rows_except_in_a_file_of_one_column() {
    assert_eq!(rows_of(b"a,b\n\n1,2\r\n\r\n", COMMA), [row(&["1", "2"])]);
    assert_eq!(rows_of(b"a\n\n1\n\r\n", COMMA), [row(&[""]), row(&["1"]), row(&[""])]);
    assert_eq!(rows_of(b"a\n1", COMMA), [row(&["1"])]);
    assert_eq!(rows_of(b"", COMMA), []);
    assert_eq!(rows_of(b"\n\na,b\n1,2", COMMA), [row(&["1", "2"])]);
}

#[test]
fn a_carriage_return_ends_a_line_as_well() {
    assert_eq!(rows_of(b"a,b\r1,2\r\r\"3\r\",4", COMMA), [row(&["1", "2"]), row(&["3\r", "4"])]);
    let stray = b"a,b\r1,\"2\"x\r3,4\r";
    assert_eq!(rows_of(stray, COMMA)[1..], [row(&["3", "4"])]);
    assert_eq!(rows_of(b"a\r\n\"1\"x\r\n2\r\n", COMMA)[1..], [row(&["2"])]);
    assert_eq!(rows_of(b"a,b\r\n1,2\r\r\n3\r\n", COMMA)[1].as_ref().unwrap_err()[..10], *"a.csv:3:1:");
}

#[test]
fn the_last_row_needs_no_line_end() {
    let rows = |text: &str| rows_of(format!("a,b\n{text}").as_bytes(), COMMA);
    for end in ["", "\n", "\r", "\r\n"] {
        assert_eq!(rows(&format!("1,2{end}")), [row(&["1", "2"])]);
        assert_eq!(rows(&format!("1,{end}")), [row(&["1", ""])]);
        assert_eq!(rows(&format!("1,\"2\"{end}")), [row(&["1", "2"])]);
        assert_eq!(rows(&format!("1,\"\"{end}")), [row(&["1", ""])]);
        assert_eq!(rows(&format!("1,\"\"\"\"{end}")), [row(&["1", "\""])]);
        for open in ["\"", "\"2", "\"\"\"", "\"2\"\""] {
            let expected = Err(format!("a.csv:2:3: unclosed quote: \"{open}\""));
            assert_eq!(rows(&format!("1,{open}{end}")), [expected], "{end:?}");
        }
    }
}

#[test]
fn a_quoted_cell_has_any_number_of_lines() {
    for (dialect, quote) in [(COMMA, "\"\""), (escaped(), "\\\"")] {
        // More bytes than the reader keeps, in more lines than it could search again for each line.
        let cell = format!("x{quote}y\n").repeat(250_000);
        let text = format!("a,b\n1,\"{cell}\"\n2,z\n3\n");
        let rows = rows_of(text.as_bytes(), dialect);
        assert!(rows[0] == row(&["1", &cell.replace(quote, "\"")]));
        assert_eq!(rows[1], row(&["2", "z"]));
        assert_eq!(rows[2], Err("a.csv:250004:1: expected 2 cells, found 1: \"3\"".to_owned()));
    }
}

#[test]
fn an_escape_takes_the_next_byte_of_a_quoted_cell_as_text() {
    let text = "a,b\n\"x\\\"y\",\"\\\\\"\n\"x\\\ny\",2\r\n\"\\é\"\"\",x\\y\n\"\\,\",\"\\\"\"";
    let expected = [row(&["x\"y", "\\"]), row(&["x\ny", "2"]), row(&["é\"", "x\\y"]), row(&[",", "\""])];
    assert_eq!(rows_of(text.as_bytes(), escaped()), expected);
    for open in ["\"2\\\"", "\"2\\"] {
        let rows = rows_of(format!("a,b\n1,{open}").as_bytes(), escaped());
        assert_eq!(rows, [Err(format!("a.csv:2:3: unclosed quote: \"{open}\""))]);
    }
}

#[test]
fn comments_and_blanks_within_quotes_are_text() {
    let extras = Extras { comment: Some(b'#'), trim: true, ..escaped().extras };
    let text = "a , b\n#x \"\n 1\t,\" 2\n#3 \"\n#y\r \"4\" ,\"\\\" \" \n#z";
    let rows = rows_of(text.as_bytes(), Dialect { extras, ..COMMA });
    assert_eq!(rows[0], row(&["1", " 2\n#3 "]));
    // A blank after a closing quote is text.
    assert_eq!(rows[1], Err("a.csv:5:12: text after a closing quote: \" \"".to_owned()));
    assert_eq!(rows.len(), 2);
    let rows = rows_of(b"a,b\n \"4\" , \n\" \",\n#", Dialect { extras, ..COMMA });
    assert_eq!(rows, [row(&["\"4\"", ""]), row(&[" ", ""])]);
}

#[test]
fn without_a_header_columns_are_numbered_and_no_row_is_lost() {
    let numbered = || Dialect { header: Header::Numbered, ..COMMA };
    let (_, fields) = open(b"1,2\n3,4\n", numbered()).unwrap();
    assert_eq!(fields.names().collect::<Vec<_>>(), ["c1", "c2"]);
    let rows = rows_of(b"1,\"2\"\"\"\n3,4\n", numbered());
    assert_eq!(rows, [row(&["1", "2\""]), row(&["3", "4"])]);
}

#[test]
fn given_names_take_the_place_of_a_header() {
    let named = |names| Dialect { header: Header::parse(names).unwrap(), ..COMMA };
    let (rows, fields) = open(b"1,2\n3,4\n", named("b,a")).unwrap();
    assert_eq!(fields.names().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(rest_of(rows), [row(&["1", "2"]), row(&["3", "4"])]);
    let (rows, fields) = open(b"", named("b,a")).unwrap();
    assert_eq!((fields.names().count(), rest_of(rows)), (2, vec![]));
    for (names, message) in [
        ("a,b,c", "a.csv:1: expected 3 columns, as --header names, found 2 cells"),
        ("a", "a.csv:1: expected 1 column, as --header names, found 2 cells"),
    ] {
        assert_eq!(open(b"1,2\n3\n", named(names)).err().unwrap().to_string(), message);
    }
}

#[test]
fn tabs_and_no_quotes() {
    let tabs = Dialect { delimiter: b'\t', quotes: false, ..COMMA };
    assert_eq!(rows_of(b"a\tb\n5\"\t\"x\n", tabs), [row(&["5\"", "\"x"])]);
    assert_eq!(rows_of(b"a,b\n5\",x\"y\n", COMMA), [row(&["5\"", "x\"y"])]);
}

#[test]
fn bad_rows_say_where_and_the_next_row_is_read() {
    let text = b"a,b\n1\n1,2,3\n1,2\n\"x\"y,2\n3,\"\xff\"\n4,5\n\"6,7\n8,9\n";
    let expected = [
        Err("a.csv:2:1: expected 2 cells, found 1: \"1\"".to_owned()),
        Err("a.csv:3:5: expected 2 cells, found 3: \"1,2,3\"".to_owned()),
        row(&["1", "2"]),
        Err("a.csv:5:4: text after a closing quote: \"y,2\"".to_owned()),
        Err("a.csv:6:4: the text is not UTF-8: \"\u{fffd}\"\"".to_owned()),
        row(&["4", "5"]),
        Err("a.csv:8:1: unclosed quote: \"\"6,7\"".to_owned()),
        row(&["8", "9"]),
    ];
    assert_eq!(rows_of(text, COMMA), expected);
}

#[test]
fn a_stray_quote_costs_its_own_line_only() {
    // The quote of line 2 closes on line 4, in the middle of a cell.
    let text = b"a,b\n1,\"x\n2,y\n3,\"z\"\n4,w\n";
    let rows = rows_of(text, COMMA);
    assert!(rows[0].as_ref().unwrap_err().starts_with("a.csv:4:4: text after a closing quote"));
    assert_eq!(rows[1..], [row(&["2", "y"]), row(&["3", "z"]), row(&["4", "w"])]);
}

proptest! {
    #[test]
    fn what_the_csv_crate_writes_is_read(
        rows in prop::collection::vec(prop::collection::vec("[a\",\r\n é]{0,5}", 3), 1..8),
        always: bool,
    ) {
        let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
        writer.write_record(["x", "y", "z"]).unwrap();
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let read: Vec<_> = rows_of(&writer.into_inner().unwrap(), COMMA);
        let expected: Vec<_> = rows.into_iter().map(Ok).collect();
        prop_assert_eq!(read, expected);
    }

    /// Up to the first mistake.
    #[test]
    fn cells_are_those_that_the_csv_crate_reads(text in "[a\",\r\n\\\\ é]{0,40}", escapes: bool) {
        let text = format!("a,b\n{text}");
        let (dialect, escape) = if escapes { (escaped(), Some(b'\\')) } else { (COMMA, None) };
        let mut reader = csv::ReaderBuilder::new().flexible(true).escape(escape).from_reader(text.as_bytes());
        let expected = reader.records().map(|record| Ok(record.unwrap().iter().map(str::to_owned).collect()));
        let expected: Vec<Result<Vec<String>, String>> = expected.collect();
        let read = rows_of(text.as_bytes(), dialect);
        let good = read.iter().take_while(|row| row.is_ok()).count();
        let end = if good == read.len() { expected.len() } else { good };
        prop_assert_eq!(&read[..good], &expected[..end]);
    }

    #[test]
    fn pauses_change_nothing(text in prop::collection::vec(prop::sample::select(b"a\",\r\n".to_vec()), 0..60)) {
        let text = [b"a,b\n", text.as_slice()].concat();
        prop_assert_eq!(rows_after_pauses(&text), rows_of(&text, COMMA));
    }

    #[test]
    fn any_bytes_end_without_a_panic(text in prop::collection::vec(prop::sample::select(b"a\",\r\n\xff ".to_vec()), 0..60)) {
        if open(&text, COMMA).is_ok() {
            rows_of(&text, COMMA);
        }
    }
}
