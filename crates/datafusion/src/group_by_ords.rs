//! [`GroupByOrds`]: groups by the ords of strings instead of the strings.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion_common::Result;
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_expr::utils::collect_columns;
use datafusion_physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion_physical_plan::coop::CooperativeExec;
use datafusion_physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion_physical_plan::repartition::RepartitionExec;
use datafusion_physical_plan::{ExecutionPlan, Partitioning};
use datafusion_session::PhysicalOptimizerRule;

use crate::scan::DocvaluesScan;
use crate::terms::TermsExec;

/// An optimizer rule of DataFusion that groups by the ords of strings, which are numbers, and reads only the strings of the
/// groups. Register it with the session; a table does not.
///
/// ```text
/// Aggregate Final    host, sum(size)           Aggregate Final    host, sum(size)
///   …                                   ->       …
///     Aggregate Partial                             Terms              ords of host to strings
///       DocvaluesScan  host, size                     Aggregate Partial
///                                                       DocvaluesScan  ords of host, size
/// ```
///
/// It applies to single-valued strings with a dictionary (`Kind::Sorted`) in every segment that has them, if no aggregate
/// function reads the column and docvalues evaluates all conditions. `rollup`, `cube` and groups with a limit stay as they
/// are. Segments have different ords for the same string; the final step merges these groups.
///
/// A codec refuses a plan with ords: leave out the rule if plans are sent to other processes.
///
/// ```
/// # use std::sync::Arc;
/// # use datafusion::execution::SessionStateBuilder;
/// # use datafusion::prelude::SessionContext;
/// use docvalues_datafusion::GroupByOrds;
///
/// let state = SessionStateBuilder::new().with_default_features();
/// let state = state.with_physical_optimizer_rule(Arc::new(GroupByOrds)).build();
/// let context = SessionContext::new_with_state(state);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GroupByOrds;

impl PhysicalOptimizerRule for GroupByOrds {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let rewrite = |plan: Arc<dyn ExecutionPlan>| {
            let rewritten = match plan.downcast_ref::<AggregateExec>() {
                Some(aggregate) => rewritten(aggregate)?,
                None => None,
            };
            Ok(rewritten.map_or_else(|| Transformed::no(plan), Transformed::yes))
        };
        plan.transform_up(rewrite).data()
    }

    fn name(&self) -> &str {
        "docvalues_group_by_ords"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The same groups by ords, if the rule applies.
fn rewritten(aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let groups = aggregate.group_expr();
    let is_single = matches!(aggregate.mode(), AggregateMode::Single | AggregateMode::SinglePartitioned);
    let is_simple = groups.is_single() && aggregate.limit_options().is_none();
    if !is_simple || !(is_single || *aggregate.mode() == AggregateMode::Partial) {
        return Ok(None);
    }
    let (between, below) = below(aggregate.input());
    let Some(scan) = below.downcast_ref::<DocvaluesScan>() else { return Ok(None) };
    let (data, columns) = (&scan.selection.data, &scan.selection.columns);
    let read = read_by_functions(aggregate);
    // The place of each group that has ords in the output, and its column of the table.
    let with_ords = groups.expr().iter().enumerate().filter_map(|(place, (expr, _))| {
        let column = expr.downcast_ref::<Column>()?.index();
        let of_table = *columns.get(column)?;
        (data.fields.get(of_table)?.has_ords && !read.contains(&column)).then_some((place, of_table))
    });
    let with_ords: Vec<(usize, usize)> = with_ords.collect();
    if with_ords.is_empty() {
        return Ok(None);
    }
    let ords = with_ords.iter().map(|(_, column)| *column).collect();
    let scan_of_ords: Arc<dyn ExecutionPlan> = Arc::new(scan.with_ords(ords));
    let input = between.into_iter().rev().try_fold(scan_of_ords, |below, node| {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Arc::clone(node).replace_children(vec![below], options)
    })?;
    let of = |mode, groups, input: Arc<dyn ExecutionPlan>| {
        let (functions, filters) = (aggregate.aggr_expr().to_vec(), aggregate.filter_expr().to_vec());
        let schema = if mode == AggregateMode::Partial { input.schema() } else { aggregate.input_schema() };
        AggregateExec::try_new(mode, groups, functions, filters, input, schema)
    };
    let partial = Arc::new(of(AggregateMode::Partial, groups.clone(), input)?);
    let terms = Arc::new(TermsExec::new(partial, Arc::clone(data), with_ords));
    if !is_single {
        return Ok(Some(terms));
    }
    let mode = if *aggregate.mode() == AggregateMode::Single {
        AggregateMode::Final
    } else {
        AggregateMode::FinalPartitioned
    };
    Ok(Some(Arc::new(of(mode, groups.as_final(), terms)?)))
}

/// The nodes of a chain that pass rows on as they are, and the first other one.
fn below(mut node: &Arc<dyn ExecutionPlan>) -> (Vec<&Arc<dyn ExecutionPlan>>, &Arc<dyn ExecutionPlan>) {
    let mut between = Vec::new();
    loop {
        let input = match (node.downcast_ref::<CooperativeExec>(), node.downcast_ref::<RepartitionExec>()) {
            (Some(cooperative), _) => cooperative.input(),
            (_, Some(dealt)) if matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_)) => {
                dealt.input()
            }
            _ => return (between, node),
        };
        between.push(node);
        node = input;
    }
}

/// The columns of the input that functions read.
fn read_by_functions(aggregate: &AggregateExec) -> HashSet<usize> {
    let functions = aggregate.aggr_expr().iter().map(|function| function.all_expressions());
    let of_functions = functions.flat_map(|all| [all.args, all.order_by_exprs].concat());
    let all = of_functions.chain(aggregate.filter_expr().iter().flatten().cloned());
    all.flat_map(|expr| collect_columns(&expr)).map(|column| column.index()).collect()
}
