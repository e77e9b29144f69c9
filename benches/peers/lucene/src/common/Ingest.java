import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;

/**
 * Ingest of documents with ids and versions: the workloads of benches/src/bin/ingest.rs.
 *
 * <p>The CPU time is that of the process: of its merges and its collector, too. Prints a line of JSON for each case.
 */
final class Ingest {
  static final int ROUNDS = 3;
  private static final int THREADS = 2;
  private static final int BATCH = 1_000;
  /** Refreshes of which the median counts. */
  private static final int REFRESHES = 15;

  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  final String version;
  final int docs;
  final int segments;
  /** The number of threads that search in the mixed load. */
  final int searchers;
  private final int ops;
  private final Path folder;
  /** Whether the ids have a Bloom filter. */
  private final boolean bloom;
  /** Whether throttled merges are measured, too. */
  final boolean throttle;
  /** The program that drops files from the page cache, if rounds of the mixed load are cold. */
  private final Optional<String> forget;

  /** What a thread does with a document. */
  interface Operation {
    void run(IngestIndex index, IngestIndex.Worker worker, IngestDocs docs, int at) throws IOException;
  }

  /** VERSION WORK DOCS FOLDER OPERATIONS SECONDS SEGMENTS SEARCHERS [bloom] [throttle] [cold=PROGRAM] */
  public static void main(String[] args) throws Exception {
    Ingest ingest = new Ingest(args);
    switch (args[1]) {
      case "adds":
        ingest.documents();
        ingest.adds(false);
        ingest.adds(true);
        break;
      case "upserts":
        ingest.upserts();
        break;
      case "refresh":
        ingest.refreshes(false);
        ingest.refreshes(true);
        break;
      case "mixed":
        new IngestMixed(ingest, Double.parseDouble(args[5])).run();
        break;
      case "million":
        new IngestMillion(ingest, ingest.ops).run();
        break;
      default:
        throw new IllegalArgumentException(args[1]);
    }
  }

  private Ingest(String[] args) {
    version = args[0];
    docs = Integer.parseInt(args[2]);
    folder = Path.of(args[3]);
    ops = Integer.parseInt(args[4]);
    segments = Integer.parseInt(args[6]);
    searchers = Integer.parseInt(args[7]);
    List<String> options = Arrays.asList(args).subList(8, args.length);
    bloom = options.contains("bloom");
    throttle = options.contains("throttle");
    forget = options.stream().filter(option -> option.startsWith("cold=")).map(option -> option.substring(5)).findAny();
  }

  /** Shows that both programs generate the same documents. */
  private void documents() {
    tell("documents", "checksum", "checksum", (double) (new IngestDocs(12_345, 1_000).checksum() & 0xffffffffffffL));
  }

  private void adds(boolean withId) throws Exception {
    IngestDocs some = new IngestDocs(0, ops);
    double[] rates = new double[ROUNDS];
    double[] cpu = new double[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
      Path path = path("adds");
      IngestIndex.remove(path);
      long wall = System.nanoTime();
      double start = cpu();
      IngestIndex index = new IngestIndex(path, IngestIndex.tiered(0), bloom);
      parallel(index, some, withId, (to, worker, docs, at) -> to.add(worker, docs, at, at + 1L));
      index.writer.flush();
      wall = System.nanoTime() - wall;
      // Waits for the merges.
      index.close();
      if (round >= 0) {
        rates[round] = some.count / (wall / 1e9);
        cpu[round] = (cpu() - start) / some.count;
      }
      IngestIndex.remove(path);
    }
    tell("adds", withId ? "with ids" : "without ids", "docs_s", median(rates), "ns_cpu", median(cpu));
  }

  private void upserts() throws Exception {
    int[] random = new int[Math.min(ops, docs)];
    Ids.random(docs, random);
    IngestDocs present = new IngestDocs(random);
    IngestDocs absent = new IngestDocs(docs, ops);
    long above = 2L * docs + ops;
    upserts("new ids, no check, add", absent, (to, worker, docs, at) -> to.add(worker, docs, at, above + at));
    upserts("new ids, no check, update", absent, (to, worker, docs, at) -> to.update(worker, docs, at, above + at));
    upserts("new ids", absent, (to, worker, docs, at) -> check(to.upsert(worker, docs, at, above + at)));
    upserts("ids that are there", present, (to, worker, docs, at) -> check(to.upsert(worker, docs, at, above + at)));
    upserts("stale versions", present, (to, worker, docs, at) -> check(!to.upsert(worker, docs, at, 1)));
  }

  private void upserts(String name, IngestDocs some, Operation operation) throws Exception {
    double[] rates = new double[ROUNDS];
    double[] cpu = new double[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
      try (IngestIndex index = open()) {
        long wall = System.nanoTime();
        double start = cpu();
        try (Refresher refresher = new Refresher(index)) {
          parallel(index, some, true, operation);
        }
        index.refresh();
        wall = System.nanoTime() - wall;
        index.writer.commit();
        if (round >= 0) {
          rates[round] = some.count / (wall / 1e9);
          cpu[round] = (cpu() - start) / some.count;
        }
      }
    }
    tell("upserts", name, "docs_s", median(rates), "ns_cpu", median(cpu));
  }

  private void refreshes(boolean withPresent) throws Exception {
    try (IngestIndex index = open()) {
      IngestIndex.Worker worker = new IngestIndex.Worker(true);
      int first = docs;
      int[] random = new int[Math.min(docs, 3 * REFRESHES * 10_000)];
      Ids.random(docs, random);
      int used = 0;
      for (int count : segments > 100 ? new int[] {20} : new int[] {20, 1_000, 10_000}) {
        double[] wall = new double[REFRESHES];
        // The clock of the process has steps of 10 ms, so that only the sum counts.
        double cpu = 0;
        for (int round = -REFRESHES; round < REFRESHES; round++) {
          int[] numbers = new int[count];
          for (int i = 0; i < count; i++) {
            numbers[i] = withPresent && i % 2 == 0 ? random[used++ % random.length] : first++;
          }
          IngestDocs some = new IngestDocs(numbers);
          for (int at = 0; at < count; at++) {
            check(index.upsert(worker, some, at, 4L * docs + first));
          }
          long nanos = System.nanoTime();
          double start = cpu();
          index.refresh();
          if (round >= 0) {
            wall[round] = (System.nanoTime() - nanos) / 1e6;
            cpu += (cpu() - start) / 1e6;
          }
        }
        String name = count + " documents, " + (withPresent ? "half of them there" : "new");
        tell("refresh", name, "ms_wall", median(wall), "ms_cpu", cpu / REFRESHES);
      }
    }
  }

  /** A copy of the index with all documents, whose segments stay as many as they are. */
  IngestIndex open() throws IOException {
    MergePolicy policy =
        segments > 100 ? NoMergePolicy.INSTANCE : IngestIndex.tiered(IngestIndex.bytes(base()) / segments);
    IngestIndex index = open(policy);
    DirectoryReader reader = index.acquire();
    check(reader.leaves().size() == segments);
    reader.decRef();
    return index;
  }

  /** Drops the files of the index with all documents from the page cache, if rounds are cold. */
  void forget() throws Exception {
    if (forget.isPresent()) {
      ProcessBuilder program = new ProcessBuilder(forget.get(), "--forget", base().toString());
      check(program.inheritIO().start().waitFor() == 0);
    }
  }

  private Path base() throws IOException {
    Path built = path("base-" + docs + "-" + segments);
    IngestIndex.build(built, docs, segments, bloom);
    return built;
  }

  /** A copy of the index with all documents; an empty one for no segments. */
  IngestIndex open(MergePolicy policy) throws IOException {
    Path copy = path("copy");
    IngestIndex.remove(copy);
    if (segments == 0) {
      return new IngestIndex(copy, policy, bloom);
    }
    IngestIndex.link(base(), copy);
    IngestIndex index = new IngestIndex(copy, policy, bloom);
    DirectoryReader reader = index.acquire();
    check(reader.numDocs() == docs);
    reader.decRef();
    return index;
  }

  private Path path(String name) {
    return folder.resolve(name + ".lucene-" + version + (bloom ? "-bloom" : ""));
  }

  /** Runs an operation for each document, in batches taken by two threads in turn. */
  private static void parallel(IngestIndex index, IngestDocs docs, boolean withId, Operation operation)
      throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] =
          start(
              () -> {
                IngestIndex.Worker worker = new IngestIndex.Worker(withId);
                for (int at = next.getAndAdd(BATCH); at < docs.count; at = next.getAndAdd(BATCH)) {
                  int end = Math.min(docs.count, at + BATCH);
                  for (int doc = at; doc < end; doc++) {
                    operation.run(index, worker, docs, doc);
                  }
                }
              });
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  interface Task {
    void run() throws Exception;
  }

  /** A thread that ends the process if it fails. */
  static Thread start(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (Throwable failure) {
                failure.printStackTrace();
                System.exit(1);
              }
            });
    thread.start();
    return thread;
  }

  /** Refreshes each second, in a thread of its own, until it is closed. */
  static final class Refresher implements AutoCloseable {
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    Refresher(IngestIndex index) {
      thread =
          start(
              () -> {
                while (!closed.await(1, TimeUnit.SECONDS)) {
                  index.refresh();
                }
              });
    }

    @Override
    public void close() throws InterruptedException {
      closed.countDown();
      thread.join();
    }
  }

  static void check(boolean held) {
    if (!held) {
      throw new AssertionError("another outcome");
    }
  }

  static double cpu() {
    return PROCESS.getProcessCpuTime();
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Prints a case with names and values in turn. */
  void tell(String work, String name, Object... values) {
    Map<String, String> line = new LinkedHashMap<>();
    line.put("peer", bloom ? "\"lucene-bloom\"" : "\"lucene\"");
    line.put("version", '"' + version + '"');
    line.put("work", '"' + work + '"');
    line.put("case", '"' + name + '"');
    line.put("docs", Integer.toString(docs));
    line.put("segments", Integer.toString(segments));
    for (int i = 0; i < values.length; i += 2) {
      Object value = values[i + 1];
      boolean text = value instanceof String;
      line.put((String) values[i], text ? "\"" + value + '"' : String.format(Locale.ROOT, "%.3f", value));
    }
    StringBuilder json = new StringBuilder();
    line.forEach((key, value) -> json.append(json.length() == 0 ? "{" : ",").append('"' + key + "\":" + value));
    System.out.println(json.append('}'));
  }
}
