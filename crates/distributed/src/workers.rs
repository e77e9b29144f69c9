//! [`Workers`]: a session whose queries run on workers.

use std::fmt;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use datafusion_distributed::{
    DesiredTaskCountEvent, DesiredTaskCountEventResponse, DistributedExt as _, RouteTasksEvent,
    ScaleUpLeafNodeEvent, SessionStateBuilderExt as _, WorkerResolver,
};
use docvalues_datafusion::{ScanParts, functions};
use url::Url;

use crate::codec;
use crate::tasks::{TablePart, Tasks};

/// The workers of a program, and which of them reads which files.
///
/// # Examples
///
/// See the [crate](crate).
#[derive(Clone)]
pub struct Workers {
    tasks: Tasks,
}

impl Workers {
    /// The workers at URLs such as `http://host:port`. They take turns to read the files of a table.
    ///
    /// # Errors
    ///
    /// If there are none, or one is not a URL. A worker that does not run is an error of the first query, not of this call.
    pub fn new(urls: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Workers> {
        let url = |url: &str| {
            let expected = |error| format!("expected the URL of a worker, found {url}: {error}");
            Url::parse(url).map_err(|error| DataFusionError::Configuration(expected(error)))
        };
        let urls = urls.into_iter().map(|one| url(one.as_ref())).collect::<Result<Vec<Url>>>()?;
        if urls.is_empty() {
            let none = "expected at least one worker, found none";
            return Err(DataFusionError::Configuration(none.to_owned()));
        }
        let turns: fn(&TablePart<'_>, usize) -> usize = |part, workers| part.number % workers;
        Ok(Workers { tasks: Tasks { urls: urls.into(), place: Arc::new(turns) } })
    }

    /// These workers, with a function that returns the worker of each part, by its index: the one that has the values of the
    /// file in its memory, or on its disk. The second argument is the number of workers.
    ///
    /// A query runs one task on each worker. If it has fewer, as other tables of a join may demand, some tasks read the files
    /// of several workers.
    pub fn with_place(
        self,
        place: impl Fn(&TablePart<'_>, usize) -> usize + Send + Sync + 'static,
    ) -> Workers {
        Workers { tasks: Tasks { place: Arc::new(place), ..self.tasks } }
    }

    /// A session whose queries run on the workers.
    ///
    /// # Errors
    ///
    /// As [`session_with`](Self::session_with).
    pub fn session(&self) -> Result<SessionContext> {
        self.session_with(SessionStateBuilder::new().with_default_features())
    }

    /// The same, with the configuration, functions and rules of `session`.
    ///
    /// # Errors
    ///
    /// If the session cannot be configured.
    pub fn session_with(&self, session: SessionStateBuilder) -> Result<SessionContext> {
        let urls = self.tasks.urls.len();
        let count = move |event: DesiredTaskCountEvent<'_>| {
            ScanParts::of(event.plan).map(|_| Ok(DesiredTaskCountEventResponse::desired(urls)))
        };
        let (leaves, routes) = (self.tasks.clone(), self.tasks.clone());
        let state = session
            .with_distributed_worker_resolver(self.tasks.clone())
            .with_distributed_planner()
            .with_distributed_user_codec_arc(codec())
            // Each task of a union would read one of its tables, wherever the files are.
            .with_distributed_children_isolator_unions(false)?
            .with_distributed_desired_task_count_handler(count)
            .with_distributed_scale_up_leaf_node_handler(move |event: ScaleUpLeafNodeEvent<'_>| {
                leaves.scale_up(event)
            })
            .with_distributed_route_tasks_handler(move |event: RouteTasksEvent<'_>| routes.route(&event));
        let context = SessionContext::new_with_state(state.build());
        functions().into_iter().for_each(|function| context.register_udf(function));
        Ok(context)
    }
}

impl WorkerResolver for Tasks {
    fn get_urls(&self) -> Result<Vec<Url>> {
        Ok(self.urls.to_vec())
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tasks.urls.iter().map(Url::as_str)).finish()
    }
}
