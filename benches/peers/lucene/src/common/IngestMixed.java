import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;

/** Upserts of new ids in small batches while threads search and another one refreshes each second. */
final class IngestMixed {
  static final int BATCH = 20;
  private static final double BATCHES_A_SECOND = 32;
  static final int THREADS = 2;
  static final Sort SORT = new Sort(new SortField("size", SortField.Type.LONG, true));

  private final Ingest ingest;
  private final double seconds;

  IngestMixed(Ingest ingest, double seconds) {
    this.ingest = ingest;
    this.seconds = seconds;
  }

  void run() throws Exception {
    // The compiler warms up.
    new Run(Double.MAX_VALUE, true).run();
    phase("queries alone", 0, true);
    phase("32 batches a second", BATCHES_A_SECOND, true);
    phase("as fast as it goes", Double.MAX_VALUE, true);
    phase("as fast as it goes, no queries", Double.MAX_VALUE, false);
  }

  private void phase(String name, double rate, boolean queries) throws Exception {
    double[][] of = new double[7][Ingest.ROUNDS];
    String overTime = "";
    for (int round = 0; round < Ingest.ROUNDS; round++) {
      Run run = new Run(rate, queries);
      run.run();
      of[0][round] = run.batches.count * BATCH / seconds;
      of[1][round] = run.batches.quantile(0.5);
      of[2][round] = run.batches.quantile(0.99);
      of[3][round] = run.batches.quantile(1);
      of[4][round] = run.queries.quantile(0.5);
      of[5][round] = run.queries.quantile(0.99);
      of[6][round] = run.queries.quantile(1);
      overTime = run.overTime();
    }
    ingest.tell(
        "mixed", name,
        "docs_s", Ingest.median(of[0]),
        "batch_p50_ms", Ingest.median(of[1]),
        "batch_p99_ms", Ingest.median(of[2]),
        "batch_longest_ms", Ingest.median(of[3]),
        "query_p50_ms", Ingest.median(of[4]),
        "query_p99_ms", Ingest.median(of[5]),
        "query_longest_ms", Ingest.median(of[6]),
        "docs_s_over_time", overTime);
  }

  /** Times in milliseconds. */
  private static final class Times {
    private double[] all = new double[1 << 16];
    private int count;

    synchronized void add(long nanos) {
      if (count == all.length) {
        all = Arrays.copyOf(all, 2 * count);
      }
      all[count++] = nanos / 1e6;
    }

    double quantile(double of) {
      if (count == 0) {
        return 0;
      }
      double[] sorted = Arrays.copyOf(all, count);
      Arrays.sort(sorted);
      return sorted[(int) Math.min(count - 1, of * count)];
    }
  }

  /** One run of a load. */
  private final class Run {
    private final double rate;
    private final boolean withQueries;
    private final Times batches = new Times();
    private final Times queries = new Times();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicInteger next = new AtomicInteger();
    /** Documents in each second. */
    private final AtomicIntegerArray perSecond = new AtomicIntegerArray((int) Math.ceil(seconds));
    private long start;

    Run(double rate, boolean withQueries) {
      this.rate = rate;
      this.withQueries = withQueries;
    }

    void run() throws Exception {
      ingest.forget();
      try (IngestIndex index = ingest.open();
          Ingest.Refresher refresher = new Ingest.Refresher(index)) {
        start = System.nanoTime();
        Thread[] threads = new Thread[THREADS + ingest.searchers];
        Arrays.setAll(threads, i -> Ingest.start(i < THREADS ? () -> write(index) : () -> query(index)));
        Thread.sleep((long) (seconds * 1e3));
        ended.set(true);
        for (Thread thread : threads) {
          thread.join();
        }
      }
    }

    private void write(IngestIndex index) throws Exception {
      IngestIndex.Worker worker = new IngestIndex.Worker(true);
      while (!ended.get() && rate > 0) {
        int batch = next.getAndIncrement();
        IngestDocs docs = new IngestDocs(ingest.docs + batch * BATCH, BATCH);
        long due = System.nanoTime();
        if (rate < Double.MAX_VALUE) {
          due = start + (long) (batch / rate * 1e9);
          long wait = due - System.nanoTime();
          if (wait > 0) {
            TimeUnit.NANOSECONDS.sleep(wait);
          }
        }
        for (int at = 0; at < BATCH; at++) {
          Ingest.check(index.upsert(worker, docs, at, 2L * ingest.docs + batch));
        }
        long now = System.nanoTime();
        batches.add(now - due);
        int second = (int) ((now - start) / 1_000_000_000L);
        if (second < perSecond.length()) {
          perSecond.addAndGet(second, BATCH);
        }
      }
    }

    private void query(IngestIndex index) throws IOException {
      long sum = 0;
      while (!ended.get() && withQueries) {
        long from = System.nanoTime();
        DirectoryReader reader = index.acquire();
        try {
          IndexSearcher searcher = new IndexSearcher(reader);
          searcher.setQueryCache(null);
          for (ScoreDoc found : searcher.search(new MatchAllDocsQuery(), 20, SORT).scoreDocs) {
            sum += found.doc;
          }
        } finally {
          reader.decRef();
        }
        queries.add(System.nanoTime() - from);
      }
      Ingest.check(sum >= 0);
    }

    String overTime() {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < perSecond.length(); i++) {
        text.append(String.format(Locale.ROOT, i == 0 ? "%d" : " %d", perSecond.get(i)));
      }
      return text.toString();
    }
  }
}
