import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Bulks of id look-ups at a pace or as fast as they go, alone or beside an IndexWriter, as the lines of the standard input
 * ask: Lucene's part of `ids ingest`. benches/src/bin/ids/serve.rs does the same for other structures.
 */
final class IdsUnderIngest {
  private static final int BULK = 20;
  private static final int A_SECOND = 32;

  /** Bulks between two readings of the CPU clock, if they are not paced. */
  private static final int CHUNK = 50;

  private final String version;
  private final Path folder;
  private final String variant;
  private final Map<String, Shape> open = new HashMap<>();

  /** VERSION FOLDER plain|bloom|bloom-13|27 */
  public static void main(String[] args) throws Exception {
    IdsUnderIngest server = new IdsUnderIngest(args);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(server.answer(line.split(" ")));
      System.out.flush();
    }
  }

  private IdsUnderIngest(String[] args) {
    version = args[0];
    folder = Paths.get(args[1]);
    variant = args[2];
  }

  private Path index(String kind, int segments, int each) {
    String end = variant.equals("plain") ? "" : "-" + variant;
    return folder.resolve(kind + "-" + segments + "x" + each + ".lucene-" + version + end);
  }

  /** build KIND SEGMENTS EACH, or KIND SEGMENTS EACH warm|cold paced|unpaced alone|ingest MILLISECONDS DOCUMENTS */
  private String answer(String[] words) throws Exception {
    if (words[0].equals("build")) {
      int segments = Integer.parseInt(words[2]);
      int each = Integer.parseInt(words[3]);
      Ids.build(index(words[1], segments, each), words[1], segments, each, variant);
      return "built";
    }
    String key = words[0] + " " + words[1] + " " + words[2];
    Shape shape = open.get(key);
    boolean isNew = shape == null;
    if (isNew) {
      shape = new Shape(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]));
      open.put(key, shape);
    }
    boolean paced = words[4].equals("paced");
    Run run = new Run(shape, words[3].equals("cold"), paced, Long.parseLong(words[6]), Integer.parseInt(words[7]));
    if (!words[5].equals("ingest")) {
      run.run();
      return run.json(isNew, 0);
    }
    try (Beside beside = new Beside(Files.createTempDirectory(folder, "beside"), paced)) {
      long before = beside.count.get();
      run.run();
      return run.json(isNew, beside.count.get() - before);
    }
  }

  /** An open index, and the ids that were not looked up yet. */
  private final class Shape {
    final String kind;
    final String variant = IdsUnderIngest.this.variant;
    final int each;
    final Ids.Lookup lookup;
    final int[] present;
    final long openNanos;
    final long openFaults;
    int nextPresent;
    int nextAbsent;

    Shape(String kind, int segments, int each) throws IOException {
      this.kind = kind;
      this.each = each;
      long faults = majorFaults();
      long start = System.nanoTime();
      DirectoryReader reader = DirectoryReader.open(new MMapDirectory(index(kind, segments, each)));
      lookup = new Ids.Lookup(reader.leaves());
      openNanos = System.nanoTime() - start;
      openFaults = majorFaults() - faults;
      present = new int[segments * each];
      Ids.random(present.length, present);
      nextAbsent = present.length;
    }

    int next(boolean absent) {
      if (!absent && nextPresent == present.length) {
        throw new IllegalStateException("each existing id was looked up; take fewer rounds or more ids");
      }
      return absent ? nextAbsent++ : present[nextPresent++];
    }
  }

  /** New or existing ids. */
  private static final class Looked {
    long documents;
    double cpu;
    long faults;
    final List<Long> bulks = new ArrayList<>();

    String json() {
      return String.format(
          Locale.ROOT,
          "{\"documents\":%d,\"cpu_ns\":%f,\"faults\":%d,\"bulks_ns\":%s}",
          documents, cpu, faults, bulks);
    }
  }

  /** The look-ups of a request. */
  private static final class Run {
    private final Shape shape;
    private final boolean cold;
    private final boolean paced;
    private final long millis;
    private final int documents;
    private final Looked absent = new Looked();
    private final Looked present = new Looked();

    Run(Shape shape, boolean cold, boolean paced, long millis, int documents) {
      this.shape = shape;
      this.cold = cold;
      this.paced = paced;
      this.millis = millis;
      this.documents = documents;
    }

    void run() throws Exception {
      int bulks = paced ? 1 : CHUNK;
      long start = System.nanoTime();
      for (int turn = 0; ; turn++) {
        boolean isAbsent = turn % 2 == 0;
        Looked looked = isAbsent ? absent : present;
        if (looked.documents + bulks * BULK > documents) {
          return;
        }
        if (paced) {
          long due = start + turn * 1_000_000_000L / (2 * A_SECOND);
          TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
        }
        if (System.nanoTime() - start >= millis * 1_000_000) {
          return;
        }
        lookUp(isAbsent, bulks, looked);
      }
    }

    private void lookUp(boolean isAbsent, int bulks, Looked looked) throws Exception {
      int[] numbers = new int[bulks * BULK];
      BytesRef[] ids = new BytesRef[numbers.length];
      long[] found = new long[numbers.length];
      long[] took = new long[bulks];
      for (int i = 0; i < ids.length; i++) {
        numbers[i] = shape.next(isAbsent);
        ids[i] = Ids.id(shape.kind, numbers[i], shape.variant);
      }
      long faults = cold ? majorFaults() : 0;
      double before = Session.now()[0];
      for (int bulk = 0; bulk < bulks; bulk++) {
        long start = System.nanoTime();
        for (int i = bulk * BULK; i < (bulk + 1) * BULK; i++) {
          found[i] = shape.lookup.place(ids[i]);
        }
        took[bulk] = System.nanoTime() - start;
      }
      looked.cpu += Session.now()[0] - before;
      looked.faults += cold ? majorFaults() - faults : 0;
      looked.documents += ids.length;
      for (long time : took) {
        looked.bulks.add(time);
      }
      for (int i = 0; i < found.length; i++) {
        long expected = (long) (numbers[i] / shape.each) << 32 | numbers[i] % shape.each;
        if (found[i] != (isAbsent ? -1 : expected)) {
          throw new AssertionError("other documents than those written");
        }
      }
    }

    String json(boolean isNew, long ingested) {
      return String.format(
          Locale.ROOT,
          "{\"open_ns\":%d,\"open_faults\":%d,\"ingested\":%d,\"absent\":%s,\"present\":%s}",
          isNew ? shape.openNanos : 0, isNew ? shape.openFaults : 0, ingested, absent.json(), present.json());
    }
  }

  /** Page faults of this process that read the disk. */
  private static long majorFaults() throws IOException {
    String stat = new String(Files.readAllBytes(Paths.get("/proc/self/stat")), StandardCharsets.US_ASCII);
    return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[9]);
  }

  /** A thread that adds documents with new ids to an index, in bulks, and one that refreshes it each second. */
  private static final class Beside implements AutoCloseable {
    final AtomicLong count = new AtomicLong();
    private final Path folder;
    private final IngestIndex index;
    private final Ingest.Refresher refresher;
    private final Thread thread;
    private volatile boolean ended;
    private volatile Throwable failure;

    Beside(Path folder, boolean paced) throws Exception {
      this.folder = folder;
      index = new IngestIndex(folder, IngestIndex.tiered(0), false);
      refresher = new Ingest.Refresher(index);
      thread = new Thread(() -> add(paced));
      thread.start();
    }

    private void add(boolean paced) {
      try {
        IngestIndex.Worker worker = new IngestIndex.Worker(true);
        long start = System.nanoTime();
        for (int bulk = 0; !ended; bulk++) {
          if (paced) {
            TimeUnit.NANOSECONDS.sleep(start + bulk * 1_000_000_000L / A_SECOND - System.nanoTime());
          }
          IngestDocs docs = new IngestDocs(bulk * BULK, BULK);
          for (int at = 0; at < BULK; at++) {
            if (!index.upsert(worker, docs, at, bulk)) {
              throw new AssertionError("another outcome");
            }
          }
          count.addAndGet(BULK);
        }
      } catch (Exception | AssertionError e) {
        failure = e;
      }
    }

    @Override
    public void close() throws Exception {
      ended = true;
      thread.join();
      refresher.close();
      index.close();
      IngestIndex.remove(folder);
      if (failure != null) {
        throw new IllegalStateException(failure);
      }
    }
  }
}
