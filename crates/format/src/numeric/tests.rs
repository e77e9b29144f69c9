use super::*;
use crate::jump::JumpTables;
use crate::source::Owned;

fn open(values: &[i64], mode: JumpTables) -> NumericReader<Owned> {
    let options = NumericOptions { role: Role::Values, jump_tables: true, zones: true };
    let column = encode(values, &options);
    let column = column.try_map(&mut |section, bytes| Ok::<_, ()>(Owned::new(section, bytes))).unwrap();
    NumericReader::open(column, mode).unwrap()
}

#[test]
fn values_come_back() {
    let values: Vec<i64> = (0..3000_i64).map(|i| i * i * 7919 % 10_007 - 40).collect();
    for mode in JumpTables::ALL {
        let reader = open(&values, mode);
        let mut walk = NumericWalk::default();
        for (i, &value) in values.iter().enumerate() {
            assert_eq!(reader.get(i as u64, &mut walk), Ok(value));
        }
        reader.verify().unwrap();
    }
}
