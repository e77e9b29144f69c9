//! Rows for `dv build`, with options.

/// Bytes that choose a format and options, then rows: see `docvalues_fuzz::input`.
pub fn rows() -> Vec<Vec<u8>> {
    let plain = |format: u8, rows: &str| [&[format, 0, 0], rows.as_bytes()].concat();
    let described = |format: u8, schema: &str, rows: &str| {
        let len = u16::try_from(schema.len()).expect("a short schema file");
        [&[format, 128, 0], &len.to_le_bytes()[..], schema.as_bytes(), rows.as_bytes()].concat()
    };
    let schema = "[columns.d]\ntype=\"date\"\nformat=\"%d.%m.%Y\"\n[columns.t]\ntype=\"string[]\"\nseparator=\"|\"\n\
                  [columns.e]\ntype=\"timestamp[ms]\"\nformat=\"epoch\"\n[columns.s]\ntype=\"string\"\nkind=\"onpair\"\n";
    let types = "[columns.ip]\ntype=\"ip\"\n[columns.id]\ntype=\"uuid\"\n[columns.x]\ntype=\"bytes\"\n\
                 [columns.n]\ntype=\"i64[]\"\n[columns.f]\ntype=\"f64\"\n";
    vec![
        plain(
            0,
            "i,u,f,b,d,t,s\n-1,18446744073709551615,1.5,true,2013-01-31,2013-01-31T06:00:00.120+02:00,x\n,,,,,,\n\
                  7,0,1e300,false,0001-01-01,1969-12-31T23:59:59.999+02:00,\"a\"\"b\"\n",
        ),
        plain(0, "price,t\n1.50,2013-01-01 00:00:00.000000Z\nNA,2013-01-01 00:00:00.000001Z\n"),
        plain(0, "a;b\r\n1;NaN\r\n2;-inf\r\n"),
        plain(1, "a b\tc\n\"x\ty\"\t\"\"\"q\"\"\"\n\t\"NA\"\n"),
        plain(
            2,
            "{\"i\":-1,\"u\":18446744073709551615,\"f\":1.5,\"b\":true,\"d\":\"2013-01-31\",\"tags\":[\"a\",\"b\"],\
                  \"n\":[1,1,2],\"o\":{\"p\":[-0.5,2.0]}}\n{\"i\":9007199254740993,\"s\":\"\\u00e9\\n\",\"n\":null,\"tags\":[]}\n{}\n",
        ),
        plain(3, "{\"at\":\"2013-01-31 06:00:00Z\"}\n{\"at\":\"1600-01-01T00:00:00.000001Z\"}\n"),
        described(0, schema, "d,t,e,s\n31.01.2013,a|b,1700000000,x\n01.02.2013,c,-1,yyyyyyyy\n"),
        described(
            0,
            types,
            "ip,id,x,n,f\n10.0.0.1,f81d4fae-7dec-11d0-a765-00a0c91e6bf6,00ff,\"[-1,-1,5]\",+7\n\
                             ::1,F81D4FAE7DEC11D0A76500A0C91E6BF6,,[7],1e3\n",
        ),
    ]
}
