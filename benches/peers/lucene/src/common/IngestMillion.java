import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.ConcurrentMergeScheduler;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;

/**
 * Documents a second over time: upserts of new ids in small batches while one thread searches and another refreshes each
 * second, with merges and without.
 */
final class IngestMillion {
  private static final int STEPS = 20;

  private final Ingest ingest;
  /** The number of documents of a step. */
  private final int step;

  IngestMillion(Ingest ingest, int operations) {
    this.ingest = ingest;
    step = Math.max(1, operations / STEPS / IngestMixed.BATCH) * IngestMixed.BATCH;
  }

  void run() throws Exception {
    // The compiler warms up.
    new Run(NoMergePolicy.INSTANCE, false, 2).run();
    tell("merges", new Run(IngestIndex.tiered(0), false, STEPS).run());
    if (ingest.throttle) {
      tell("throttled merges", new Run(IngestIndex.tiered(0), true, STEPS).run());
    }
    tell("no merges", new Run(NoMergePolicy.INSTANCE, false, STEPS).run());
  }

  private void tell(String name, Run run) {
    double wall = (run.steps[STEPS] - run.steps[0]) / 1e9;
    double least = Double.MAX_VALUE;
    StringBuilder rates = new StringBuilder();
    for (int i = 0; i < STEPS; i++) {
      double rate = step / ((run.steps[i + 1] - run.steps[i]) / 1e9);
      least = Math.min(least, rate);
      rates.append(String.format(Locale.ROOT, i == 0 ? "%.0f" : " %.0f", rate));
    }
    ingest.tell(
        "million", name,
        "docs_s", STEPS * step / wall,
        "docs_s_by_step", rates.toString(),
        "docs_s_least", least,
        "searches_s", run.searches / wall,
        "segments_after", (double) run.segments);
  }

  /** One run of the load. */
  private final class Run {
    private final MergePolicy policy;
    private final boolean throttled;
    /** The number of steps. */
    private final int count;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicBoolean ended = new AtomicBoolean();
    /** The end of each step. */
    private final long[] steps;
    private int done;
    private int searches;
    /** The number of segments at the end. */
    private int segments;

    Run(MergePolicy policy, boolean throttled, int count) {
      this.policy = policy;
      this.throttled = throttled;
      this.count = count;
      steps = new long[count + 1];
    }

    Run run() throws Exception {
      try (IngestIndex index = ingest.open(policy)) {
        if (throttled) {
          ((ConcurrentMergeScheduler) index.writer.getConfig().getMergeScheduler()).enableAutoIOThrottle();
        }
        try (Ingest.Refresher refresher = new Ingest.Refresher(index)) {
          steps[0] = System.nanoTime();
          Thread[] writers = new Thread[IngestMixed.THREADS];
          Arrays.setAll(writers, i -> Ingest.start(() -> write(index)));
          Thread searcher = Ingest.start(() -> search(index));
          for (Thread writer : writers) {
            writer.join();
          }
          ended.set(true);
          searcher.join();
        }
        index.refresh();
        DirectoryReader reader = index.acquire();
        segments = reader.leaves().size();
        reader.decRef();
      }
      return this;
    }

    private void write(IngestIndex index) throws Exception {
      IngestIndex.Worker worker = new IngestIndex.Worker(true);
      int batch = IngestMixed.BATCH;
      for (int first = next.getAndAdd(batch); first < count * step; first = next.getAndAdd(batch)) {
        IngestDocs docs = new IngestDocs(ingest.docs + first, batch);
        for (int at = 0; at < batch; at++) {
          Ingest.check(index.upsert(worker, docs, at, 2L * ingest.docs + first));
        }
        add(batch);
      }
    }

    private synchronized void add(int docs) {
      done += docs;
      if (done % step == 0) {
        steps[done / step] = System.nanoTime();
      }
    }

    private void search(IngestIndex index) throws Exception {
      while (!ended.get()) {
        DirectoryReader reader = index.acquire();
        try {
          if (reader.numDocs() == 0) {
            Thread.sleep(1);
            continue;
          }
          IndexSearcher searcher = new IndexSearcher(reader);
          searcher.setQueryCache(null);
          searcher.search(new MatchAllDocsQuery(), 20, IngestMixed.SORT);
        } finally {
          reader.decRef();
        }
        searches++;
      }
    }
  }
}
