//! SQL conditions as queries.

use std::ops::Bound;

use datafusion_common::ScalarValue;
use datafusion_expr::expr::{InList, Like};
use datafusion_expr::{Between, BinaryExpr, Expr, Operator};
use docvalues::search::Query;
use docvalues::search::query::{Literal, MAX_DEPTH};
use docvalues::{Field, LogicalType};

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct TableField {
    pub(crate) field: Field,
    /// Whether doubles of the column may be NaN.
    pub(crate) may_be_nan: bool,
    /// Whether it is single-valued, and each part that has it has ords for it.
    pub(crate) has_ords: bool,
}

/// The query that finds exactly the documents for which `expr` is true. `None` if docvalues cannot do that, or if `and` and
/// `or` are nested too deeply for it.
pub(crate) fn query(expr: &Expr, fields: &[TableField]) -> Option<Query> {
    nested(expr, fields, MAX_DEPTH / 2)
}

/// As [`query`], with `left` more changes between `and` and `or`; a chain of one of them is one level.
fn nested(expr: &Expr, fields: &[TableField], left: usize) -> Option<Query> {
    let Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) = expr else {
        return condition(expr, fields);
    };
    let left = left.checked_sub(1)?;
    let operands = chain(expr, *op).into_iter().map(|operand| nested(operand, fields, left));
    let operands = operands.collect::<Option<Vec<_>>>()?;
    Some(if *op == Operator::And { Query::all_of(operands) } else { Query::any_of(operands) })
}

/// The operands of a chain of `and`, or of `or`, in order. Chains may be too long for recursion.
pub(crate) fn chain(expr: &Expr, op: Operator) -> Vec<&Expr> {
    let (mut operands, mut left) = (Vec::new(), vec![expr]);
    while let Some(expr) = left.pop() {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left: a, op: of_expr, right: b }) if *of_expr == op => {
                left.extend([&**b, &**a]);
            }
            operand => operands.push(operand),
        }
    }
    operands
}

/// The query of a condition on one column.
fn condition(expr: &Expr, fields: &[TableField]) -> Option<Query> {
    let column = |expr: &Expr| match expr {
        Expr::Column(column) => fields.iter().find(|field| field.field.name == column.name),
        _ => None,
    };
    let flag = |expr: &Expr| column(expr).filter(|column| is_single(column, LogicalType::Bool));
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (column(left), column(right)) {
            (Some(column), None) => compare(column, *op, value(right)?),
            (None, Some(column)) => compare(column, op.swap()?, value(left)?),
            _ => None,
        },
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let column = column(expr)?;
            let above = compare(column, Operator::GtEq, value(low)?)?;
            Some(above.and(compare(column, Operator::LtEq, value(high)?)?))
        }
        Expr::InList(InList { expr, list, negated }) => {
            let column = column(expr)?;
            // Nothing equals null, and nothing is known to differ from it.
            let some = list.iter().filter(|item| *negated || !value(item).is_some_and(ScalarValue::is_null));
            let literals = some.map(|item| literal(column, value(item)?));
            let literals = literals.collect::<Option<Vec<_>>>()?;
            let name = &column.field.name;
            Some(if *negated { Query::not_in(name, literals) } else { Query::is_in(name, literals) })
        }
        Expr::Like(Like { negated: false, expr, pattern, escape_char: None, case_insensitive: false }) => {
            let column = column(expr).filter(|column| is_single(column, LogicalType::Utf8))?;
            let prefix = text(value(pattern)?)?.strip_suffix('%')?;
            let is_plain = !prefix.is_empty() && !prefix.contains(['%', '_', '\\']);
            is_plain.then(|| Query::prefix(&column.field.name, prefix))
        }
        Expr::IsNull(expr) => Some(Query::missing(&column(expr)?.field.name)),
        Expr::IsNotNull(expr) => Some(Query::exists(&column(expr)?.field.name)),
        Expr::Not(expr) => Some(Query::eq(&flag(expr)?.field.name, false)),
        expr => Some(Query::eq(&flag(expr)?.field.name, true)),
    }
}

fn is_single(column: &TableField, logical: LogicalType) -> bool {
    !column.field.kind.is_multi_valued() && column.field.logical == logical
}

fn value(expr: &Expr) -> Option<&ScalarValue> {
    if let Expr::Literal(value, _) = expr { Some(value) } else { None }
}

fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_deref()
        }
        _ => None,
    }
}

fn compare(column: &TableField, op: Operator, value: &ScalarValue) -> Option<Query> {
    let (name, literal) = (&column.field.name, literal(column, value)?);
    let bounds = match op {
        Operator::Eq => return Some(Query::eq(name, literal)),
        Operator::NotEq => return Some(Query::ne(name, literal)),
        Operator::Lt => (Bound::Unbounded, Bound::Excluded(literal)),
        Operator::LtEq => (Bound::Unbounded, Bound::Included(literal)),
        Operator::Gt => (Bound::Excluded(literal), Bound::Unbounded),
        Operator::GtEq => (Bound::Included(literal), Bound::Unbounded),
        _ => return None,
    };
    (column.field.logical != LogicalType::Bool && !column.may_be_nan).then(|| Query::range(name, bounds))
}

/// A literal of exactly the column's type. There is none for null.
fn literal(column: &TableField, value: &ScalarValue) -> Option<Literal> {
    if column.field.kind.is_multi_valued() {
        return None;
    }
    match (column.field.logical, value) {
        (LogicalType::I64, ScalarValue::Int64(value))
        | (LogicalType::TimestampMillis, ScalarValue::TimestampMillisecond(value, _))
        | (LogicalType::TimestampMicros, ScalarValue::TimestampMicrosecond(value, _))
        | (LogicalType::TimestampNanos, ScalarValue::TimestampNanosecond(value, _)) => {
            value.map(Literal::from)
        }
        (LogicalType::U64, ScalarValue::UInt64(value)) => value.map(Literal::from),
        // Zeros have two signs, which are equal here and different there; so have NaNs.
        (LogicalType::F64, ScalarValue::Float64(value)) => {
            value.filter(|value| !value.is_nan() && *value != 0.0).map(Literal::from)
        }
        (LogicalType::Bool, ScalarValue::Boolean(value)) => value.map(Literal::from),
        (LogicalType::Date, ScalarValue::Date32(value)) => value.map(Literal::from),
        (LogicalType::Utf8, value) => text(value).map(Literal::from),
        (LogicalType::Bytes, ScalarValue::Binary(value) | ScalarValue::BinaryView(value)) => {
            value.clone().map(Literal::Bytes)
        }
        (LogicalType::Ip | LogicalType::Uuid, ScalarValue::FixedSizeBinary(16, value)) => {
            value.clone().map(Literal::Bytes)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion_expr::{col, lit};
    use docvalues::Kind;
    use docvalues::column::{PlainColumns, PlainSource};
    use docvalues::search::{MissingColumns, Search};

    use super::*;

    #[test]
    fn a_chain_is_one_level_of_nesting() {
        let field = Field::new("size", Kind::Numeric, LogicalType::I64);
        let fields = [TableField { field, may_be_nan: false, has_ords: false }];
        let is = |number: i64| col("size").eq(lit(number));
        let chain = (0..400).fold(is(-1), |chain, number| chain.or(is(number)));
        let alternating = |levels| {
            (0..levels).fold(is(-1), |inner, level| match level % 2 {
                0 => inner.or(is(level)),
                _ => inner.and(is(level)),
            })
        };
        let source = PlainSource::new(PlainColumns::new(3, Vec::new()).unwrap().into(), [].into());
        let search = Search::new(&source).missing_columns(MissingColumns::NoValues);
        let limit = i64::try_from(MAX_DEPTH / 2).unwrap();
        for expr in [chain, alternating(limit)] {
            search.bind(&query(&expr, &fields).unwrap()).unwrap();
        }
        assert_eq!(query(&alternating(limit + 1), &fields), None);
    }

    #[test]
    fn a_set_is_not_compared_with_a_value() {
        let field = |kind| Field::new("size", kind, LogicalType::I64);
        let fields = |kind| [TableField { field: field(kind), may_be_nan: false, has_ords: false }];
        let (equal, exists) = (col("size").eq(lit(7_i64)), col("size").is_not_null());
        assert_eq!(query(&equal, &fields(Kind::Numeric)), Some(Query::eq("size", 7)));
        assert_eq!(query(&equal, &fields(Kind::SortedNumeric)), None);
        assert_eq!(query(&exists, &fields(Kind::SortedNumeric)), Some(Query::exists("size")));
    }
}
