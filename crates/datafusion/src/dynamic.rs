//! [`DynamicFilters`]: conditions that become known while a query runs.

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::expr::InList;
use datafusion_expr::{Expr, Operator};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal,
};
use datafusion_physical_expr_common::physical_expr::{snapshot_generation, snapshot_physical_expr};
use docvalues::search::Query;

use crate::filter::{self, TableField};

/// Conditions that a sort with a limit, or a join, narrows while the scan runs. Rows for which they are false need not be
/// returned.
#[derive(Clone, Debug, Default)]
pub(crate) struct DynamicFilters(pub(crate) Vec<Arc<dyn PhysicalExpr>>);

impl DynamicFilters {
    /// A number that changes when the conditions do.
    pub(crate) fn generation(&self) -> u64 {
        self.0.iter().map(snapshot_generation).fold(0, u64::wrapping_add)
    }

    /// A query that finds all documents that the conditions are true for now, and perhaps others. `None` if that is no
    /// narrower than all documents.
    pub(crate) fn query(&self, fields: &[TableField]) -> Result<Option<Query>> {
        let mut all = Vec::new();
        for condition in &self.0 {
            all.extend(wider(&snapshot_physical_expr(Arc::clone(condition))?, fields));
        }
        Ok((!all.is_empty()).then(|| Query::all_of(all)))
    }
}

/// A query for all documents that `expr` is true for, and perhaps others.
fn wider(expr: &Arc<dyn PhysicalExpr>, fields: &[TableField]) -> Option<Query> {
    let Some(binary) = expr.downcast_ref::<BinaryExpr>() else {
        return filter::query(&logical(expr)?, fields);
    };
    match binary.op() {
        Operator::And => match (wider(binary.left(), fields), wider(binary.right(), fields)) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        },
        Operator::Or => Some(wider(binary.left(), fields)?.or(wider(binary.right(), fields)?)),
        _ => filter::query(&logical(expr)?, fields),
    }
}

/// A condition on one column as an expression of a plan.
fn logical(expr: &Arc<dyn PhysicalExpr>) -> Option<Expr> {
    if let Some(column) = expr.downcast_ref::<Column>() {
        // A name as it is: `into` would parse it as SQL.
        return Some(Expr::Column(datafusion_common::Column::new_unqualified(column.name())));
    }
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        return Some(Expr::Literal(literal.value().clone(), None));
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let (left, right) = (logical(binary.left())?, logical(binary.right())?);
        return Some(datafusion_expr::binary_expr(left, *binary.op(), right));
    }
    if let Some(null) = expr.downcast_ref::<IsNullExpr>() {
        return Some(logical(null.arg())?.is_null());
    }
    if let Some(value) = expr.downcast_ref::<IsNotNullExpr>() {
        return Some(logical(value.arg())?.is_not_null());
    }
    let list = expr.downcast_ref::<InListExpr>()?;
    let values = list.list().iter().map(logical).collect::<Option<Vec<_>>>()?;
    Some(Expr::InList(InList::new(Box::new(logical(list.expr())?), values, list.negated())))
}
