//! Workers.

use std::net::SocketAddr;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion_distributed::{DistributedExt as _, Worker, WorkerQueryContext};
use docvalues_datafusion::functions;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

use crate::codec;

/// A worker that runs scans of docvalues. `session` adds to the session of each query, such as functions and codecs; give
/// [`Workers::session_with`](crate::Workers::session_with) the same.
pub fn worker(
    session: impl Fn(SessionStateBuilder) -> SessionStateBuilder + Send + Sync + 'static,
) -> Worker {
    let codec = codec();
    Worker::from_session_builder(move |query: WorkerQueryContext| {
        let builder = query.builder.with_distributed_user_codec_arc(Arc::clone(&codec));
        let mut state = session(builder).build();
        let added = functions().into_iter().try_for_each(|function| {
            datafusion::execution::FunctionRegistry::register_udf(&mut state, Arc::new(function)).map(drop)
        });
        std::future::ready(added.map(|()| state))
    })
}

/// Serves `worker` at the address of `listener`, until the process ends or the future is dropped.
///
/// # Errors
///
/// If the server fails.
pub async fn serve(listener: TcpListener, worker: Worker) -> Result<()> {
    let server = Server::builder().add_service(worker.into_worker_server());
    let served = server.serve_with_incoming(TcpListenerStream::new(listener)).await;
    served.map_err(|error| DataFusionError::External(Box::new(error)))
}

/// Serves a worker at `address`, until the process ends or the future is dropped.
///
/// # Errors
///
/// If the address is taken, or the server fails.
pub async fn run_worker(address: SocketAddr) -> Result<()> {
    serve(TcpListener::bind(address).await?, worker(|session| session)).await
}
