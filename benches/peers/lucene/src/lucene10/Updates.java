import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Bits;

/**
 * Updates of a value, shown at an interval, while threads search: a load of benches/src/bin/experiment.
 *
 * <p>Nothing is merged. From Lucene 10.6 on, updated doc values are up to eight overlays. The compiler warms up with a
 * small index. Prints a line of JSON.
 */
final class Updates {
  private static final String TENTH = "tenth";

  /** The most updates of a tick, and the milliseconds between ticks. */
  private static final int AT_ONCE = 10_000;
  private static final int TICK = 10;
  private static final int TOP = 20;
  /** The number of updated documents whose values are checked. */
  private static final int CHECKED = 1_000;

  private static final Query QUERY = new ConstantScoreQuery(new TermQuery(new Term(TENTH, "1")));
  private static final Sort SORT = new Sort(new SortField(UpdatedDocs.TIME, SortField.Type.LONG, true));
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** What is updated. */
  private enum Kind {
    NUMERIC,
    BINARY
  }

  private final Kind kind;
  private final int docs;
  /** The first document of each segment, and the number of documents. */
  private final int[] starts;
  /** Updates a second. */
  private final int rate;
  /** Nanoseconds between refreshes. */
  private final long every;
  private final double seconds;
  /** Seconds before these, which do not count. */
  private final double warm;
  private final int searchers;

  /** VERSION KIND DOCS SEGMENTS RATE EVERY SECONDS SEARCHERS FOLDER WARM, or "reads" TIMES in place of WARM */
  public static void main(String[] args) throws Exception {
    String version = org.apache.lucene.util.Version.LATEST.toString();
    if (!version.equals(args[0])) {
      throw new AssertionError("Lucene " + version + " instead of " + args[0]);
    }
    Kind kind = Kind.valueOf(args[1].toUpperCase(Locale.ROOT));
    int[] numbers = Arrays.stream(args, 2, 8).mapToInt(text -> (int) Double.parseDouble(text)).toArray();
    int docs = numbers[0];
    int segments = numbers[1];
    int searchers = numbers[5];
    long every = (long) (Double.parseDouble(args[5]) * 1e9);
    double seconds = Double.parseDouble(args[6]);
    Path folder = Path.of(args[8]);
    Files.createDirectories(folder);
    if (args[9].equals("reads")) {
      new Updates(kind, docs, segments, 0, 0, 0, 0, 0).measureReads(version, folder, Integer.parseInt(args[10]));
      return;
    }
    double warm = Double.parseDouble(args[9]);
    int few = Math.min(docs, 60_000);
    new Updates(kind, few, segments, 10_000, 20_000_000, 2, 0, searchers).measure(version, folder);
    System.out.println(
        new Updates(kind, docs, segments, numbers[2], every, seconds, warm, searchers)
            .measure(version, folder));
  }

  private Updates(
      Kind kind,
      int docs,
      int segments,
      int rate,
      long every,
      double seconds,
      double warm,
      int searchers) {
    this.kind = kind;
    this.docs = docs;
    this.rate = rate;
    this.every = every;
    this.seconds = seconds;
    this.warm = warm;
    this.searchers = searchers;
    starts = new int[segments + 1];
    for (int i = 0; i <= segments; i++) {
      starts[i] = UpdatedDocs.firstOf(i, segments, docs);
    }
  }

  /** Runs the load on a copy of the index. Returns its figures. */
  private String measure(String version, Path folder) throws Exception {
    Path base = folder.resolve("lucene-" + version + "-" + docs + "-" + (starts.length - 1));
    if (!Files.exists(base)) {
      build(base);
    }
    Path copy = folder.resolve("lucene-copy");
    IngestIndex.remove(copy);
    IngestIndex.link(base, copy);
    String figures;
    try (Counted directory = new Counted(copy)) {
      IndexWriter writer = new IndexWriter(directory, UpdatedDocs.config(64, NoMergePolicy.INSTANCE));
      Run run = new Run(directory, writer);
      figures = run.run();
      run.shown.get().reader.close();
      writer.rollback();
    }
    IngestIndex.remove(copy);
    return figures;
  }

  /** Prints how long reads take after 1,000 documents were updated some times. */
  private void measureReads(String version, Path folder, int times) throws Exception {
    Path base = folder.resolve("lucene-" + version + "-" + docs + "-" + (starts.length - 1));
    if (!Files.exists(base)) {
      build(base);
    }
    Path copy = folder.resolve("lucene-copy");
    IngestIndex.remove(copy);
    IngestIndex.link(base, copy);
    try (Counted directory = new Counted(copy)) {
      IndexWriter writer = new IndexWriter(directory, UpdatedDocs.config(64, NoMergePolicy.INSTANCE));
      Run run = new Run(directory, writer);
      UpdatedDocs.SplitMix random = new UpdatedDocs.SplitMix(5);
      for (int i = 0; i < times; i++) {
        for (int update = 0; update < 1_000; update++) {
          run.update(random.below(docs), random.next());
        }
        run.refresh();
      }
      Reads reads = new Reads(run.shown.get());
      System.out.println(
          String.format(
              Locale.ROOT,
              "| Lucene %s | %d | %.2f | %.1f | %.2f | %d |",
              version,
              times,
              reads.scan * 1e9 / docs,
              reads.gather * 1e9 / Reads.GATHERED / reads.segments,
              reads.top * 1e3,
              directory.listAll().length));
      run.shown.get().reader.close();
      writer.rollback();
    }
    IngestIndex.remove(copy);
  }

  /** The seconds of CPU time that reads take: medians of some rounds after others that do not count. */
  private static final class Reads {
    private static final int ROUNDS = 5;
    private static final int WARM = 10;
    /** Documents of a gather, and of all gathers of a segment. */
    private static final int BATCH = 1_024;
    private static final int GATHERED = 100 * BATCH;

    final int segments;
    final double scan;
    final double gather;
    final double top;

    Reads(Shown shown) throws IOException {
      List<LeafReaderContext> leaves = shown.reader.leaves();
      segments = leaves.size();
      UpdatedDocs.SplitMix random = new UpdatedDocs.SplitMix(9);
      double[][] all = new double[3][ROUNDS];
      long sum = 0;
      for (int round = -WARM; round < ROUNDS; round++) {
        long start = THREADS.getCurrentThreadCpuTime();
        for (LeafReaderContext leaf : leaves) {
          NumericDocValues times = leaf.reader().getNumericDocValues(UpdatedDocs.TIME);
          while (times.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
            sum += times.longValue();
          }
        }
        long stepped = THREADS.getCurrentThreadCpuTime();
        for (LeafReaderContext leaf : leaves) {
          sum += scan(leaf.reader());
        }
        long scanned = THREADS.getCurrentThreadCpuTime();
        for (LeafReaderContext leaf : leaves) {
          sum += gather(leaf.reader(), random);
        }
        long gathered = THREADS.getCurrentThreadCpuTime();
        if (shown.searcher.search(new MatchAllDocsQuery(), TOP, SORT).scoreDocs.length != TOP) {
          throw new AssertionError("too few documents");
        }
        long sorted = THREADS.getCurrentThreadCpuTime();
        if (round >= 0) {
          all[0][round] = Math.min(stepped - start, scanned - stepped) / 1e9;
          all[1][round] = (gathered - scanned) / 1e9;
          all[2][round] = (sorted - gathered) / 1e9;
        }
      }
      for (double[] rounds : all) {
        Arrays.sort(rounds);
      }
      scan = all[0][ROUNDS / 2];
      gather = all[1][ROUNDS / 2];
      top = all[2][ROUNDS / 2];
      if (sum == 0) {
        throw new AssertionError("all numbers are zero");
      }
    }

    /** Reads all values in batches. */
    private static long scan(LeafReader leaf) throws IOException {
      long sum = 0;
      int[] docs = new int[BATCH];
      long[] found = new long[BATCH];
      NumericDocValues times = leaf.getNumericDocValues(UpdatedDocs.TIME);
      for (int start = 0; start < leaf.maxDoc(); start += BATCH) {
        int count = Math.min(BATCH, leaf.maxDoc() - start);
        for (int i = 0; i < count; i++) {
          docs[i] = start + i;
        }
        times.longValues(count, docs, found, 0);
        for (int i = 0; i < count; i++) {
          sum += found[i];
        }
      }
      return sum;
    }

    /** Reads batches of documents in any order: sorted and each once for longValues, then put in their places. */
    private static long gather(LeafReader leaf, UpdatedDocs.SplitMix random) throws IOException {
      long sum = 0;
      long[] batch = new long[BATCH];
      int[] docs = new int[BATCH];
      int[] which = new int[BATCH];
      long[] found = new long[BATCH];
      long[] values = new long[BATCH];
      for (int done = 0; done < GATHERED; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
          batch[i] = (long) random.below(leaf.maxDoc()) << 32 | i;
        }
        Arrays.sort(batch);
        int count = 0;
        for (int i = 0; i < BATCH; i++) {
          int doc = (int) (batch[i] >>> 32);
          if (count == 0 || docs[count - 1] != doc) {
            docs[count++] = doc;
          }
          which[i] = count - 1;
        }
        leaf.getNumericDocValues(UpdatedDocs.TIME).longValues(count, docs, found, 0);
        for (int i = 0; i < BATCH; i++) {
          values[(int) batch[i]] = found[which[i]];
        }
        for (long value : values) {
          sum += value;
        }
      }
      return sum;
    }
  }

  /** Writes an index with all documents. */
  private void build(Path folder) throws IOException, ReflectiveOperationException {
    Path making = folder.resolveSibling(folder.getFileName() + ".tmp");
    IngestIndex.remove(making);
    Maker maker = new Maker();
    try (MMapDirectory directory = new MMapDirectory(making)) {
      try (IndexWriter writer = new IndexWriter(directory, UpdatedDocs.config(1_900, NoMergePolicy.INSTANCE))) {
        for (int segment = 0; segment + 1 < starts.length; segment++) {
          for (int number = starts[segment]; number < starts[segment + 1]; number++) {
            writer.addDocument(maker.document(number, UpdatedDocs.firstSeed(number)));
          }
          writer.commit();
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        check(reader);
      }
    }
    Files.move(making, folder);
  }

  private void check(DirectoryReader reader) {
    List<LeafReaderContext> leaves = reader.leaves();
    int count = starts.length - 1;
    if (leaves.size() != count) {
      throw new AssertionError(leaves.size() + " segments instead of " + count);
    }
    for (int i = 0; i < count; i++) {
      if (leaves.get(i).reader().numDocs() != starts[i + 1] - starts[i]) {
        throw new AssertionError("segment " + i + " has " + leaves.get(i).reader().numDocs() + " documents");
      }
    }
  }

  /** A reader, and what searches it. */
  private static final class Shown {
    final DirectoryReader reader;
    final IndexSearcher searcher;

    Shown(DirectoryReader reader) {
      this.reader = reader;
      searcher = new IndexSearcher(reader);
      searcher.setQueryCache(null);
    }
  }

  /** One run of the load. */
  private final class Run {
    private final Counted directory;
    private final IndexWriter writer;
    private final AtomicReference<Shown> shown = new AtomicReference<>();
    private volatile boolean ended;
    /** The last seed of each updated document. */
    private final Map<Integer, Long> last = new HashMap<>();
    /** Of updates: their number, and the nanoseconds of time and of CPU time. */
    private final AtomicLong updates = new AtomicLong();
    private final AtomicLong updateNanos = new AtomicLong();
    private final AtomicLong updateCpu = new AtomicLong();
    private final AtomicLong queries = new AtomicLong();

    private int refreshes;
    private long refreshNanos;
    private long refreshCpu;
    private long longest;
    private double queriesPerSecond;

    Run(Counted directory, IndexWriter writer) throws IOException {
      this.directory = directory;
      this.writer = writer;
      DirectoryReader reader = DirectoryReader.open(writer);
      check(reader);
      shown.set(new Shown(reader));
    }

    String run() throws Exception {
      search();
      List<Thread> threads = new ArrayList<>();
      threads.add(Ingest.start(this::update));
      for (int i = 0; i < searchers; i++) {
        threads.add(
            Ingest.start(
                () -> {
                  while (!ended) {
                    search();
                    queries.incrementAndGet();
                  }
                }));
      }
      refreshAtIntervals();
      for (Thread thread : threads) {
        thread.join();
      }
      long written = directory.written();
      int files = directory.listAll().length;
      checkValues();
      double each = 1e6 * Math.max(1, refreshes);
      return String.format(
          Locale.ROOT,
          "{\"refresh_ms\":%.4f,\"refresh_cpu_ms\":%.4f,\"longest_ms\":%.4f,\"update_ms\":%.4f,"
              + "\"update_cpu_ms\":%.4f,\"queries_s\":%.3f,\"refreshes\":%d,\"updates\":%d,"
              + "\"written\":%d,\"files\":%d}",
          refreshNanos / each,
          refreshCpu / each,
          longest / 1e6,
          updateNanos.get() / each,
          updateCpu.get() / each,
          queriesPerSecond,
          refreshes,
          updates.get(),
          written,
          files);
    }

    private void update() throws Exception {
      UpdatedDocs.SplitMix random = new UpdatedDocs.SplitMix(7);
      long began = System.nanoTime();
      long done = 0;
      while (!ended) {
        long due = (long) ((System.nanoTime() - began) / 1e9 * rate);
        if (due == done) {
          Thread.sleep(TICK);
          continue;
        }
        int count = (int) Math.min(due - done, AT_ONCE);
        int[] numbers = new int[count];
        long[] seeds = new long[count];
        for (int i = 0; i < count; i++) {
          numbers[i] = random.below(docs);
          seeds[i] = random.next();
        }
        done += count;
        long start = System.nanoTime();
        long cpu = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < count; i++) {
          update(numbers[i], seeds[i]);
        }
        updates.addAndGet(count);
        updateNanos.addAndGet(System.nanoTime() - start);
        updateCpu.addAndGet(THREADS.getCurrentThreadCpuTime() - cpu);
        synchronized (last) {
          for (int i = 0; i < count; i++) {
            last.put(numbers[i], seeds[i]);
          }
        }
      }
    }

    private void update(int number, long seed) throws IOException {
      Term id = new Term(UpdatedDocs.ID, UpdatedDocs.id(number));
      switch (kind) {
        case NUMERIC:
          writer.updateNumericDocValue(id, UpdatedDocs.TIME, UpdatedDocs.time(seed));
          break;
        case BINARY:
          writer.updateBinaryDocValue(id, UpdatedDocs.TITLE, UpdatedDocs.title(seed));
          break;
      }
    }

    private void refreshAtIntervals() throws Exception {
      long began = System.nanoTime();
      long counted = began;
      boolean isWarm = false;
      long end = (long) ((warm + seconds) * 1e9);
      for (long next = every; next <= end; next = ((System.nanoTime() - began) / every + 1) * every) {
        long left = next - (System.nanoTime() - began);
        if (left >= 0) {
          TimeUnit.NANOSECONDS.sleep(left);
        }
        if (!isWarm && next > warm * 1e9) {
          isWarm = true;
          counted = System.nanoTime();
          refreshes = 0;
          refreshNanos = refreshCpu = longest = 0;
          for (AtomicLong count : List.of(updates, updateNanos, updateCpu, queries)) {
            count.set(0);
          }
        }
        long start = System.nanoTime();
        long cpu = THREADS.getCurrentThreadCpuTime();
        refresh();
        long took = System.nanoTime() - start;
        refreshNanos += took;
        longest = Math.max(longest, took);
        refreshCpu += THREADS.getCurrentThreadCpuTime() - cpu;
        refreshes++;
      }
      ended = true;
      queriesPerSecond = queries.get() / ((System.nanoTime() - counted) / 1e9);
    }

    /** Shows the updates so far. */
    private void refresh() throws IOException {
      Shown old = shown.get();
      DirectoryReader next = DirectoryReader.openIfChanged(old.reader, writer);
      if (next == null) {
        return;
      }
      for (LeafReaderContext leaf : next.leaves()) {
        if (kind == Kind.BINARY) {
          leaf.reader().getBinaryDocValues(UpdatedDocs.TITLE);
        } else {
          leaf.reader().getNumericDocValues(UpdatedDocs.TIME);
        }
      }
      shown.set(new Shown(next));
      // Running searches still have it.
      old.reader.decRef();
    }

    /** The newest of a tenth of the documents. */
    private void search() throws IOException {
      Shown now = shown.get();
      while (!now.reader.tryIncRef()) {
        now = shown.get();
      }
      try {
        if (now.searcher.search(QUERY, TOP, SORT).scoreDocs.length != TOP) {
          throw new AssertionError("too few documents");
        }
      } finally {
        now.reader.decRef();
      }
    }

    /** Reads the last values of updated documents. */
    private void checkValues() throws IOException {
      refresh();
      DirectoryReader reader = shown.get().reader;
      if (reader.numDocs() != docs) {
        throw new AssertionError(reader.numDocs() + " documents");
      }
      int left = CHECKED;
      for (Map.Entry<Integer, Long> update : last.entrySet()) {
        if (left-- == 0) {
          break;
        }
        int found = 0;
        for (LeafReaderContext leaf : reader.leaves()) {
          found += checkValue(leaf.reader(), update.getKey(), update.getValue());
        }
        if (found != 1) {
          throw new AssertionError(found + " documents with the number " + update.getKey());
        }
      }
    }

    /** Checks the value of a document. Returns how many there are in this segment. */
    private int checkValue(LeafReader leaf, int number, long seed) throws IOException {
      TermsEnum terms = leaf.terms(UpdatedDocs.ID).iterator();
      if (!terms.seekExact(UpdatedDocs.id(number))) {
        return 0;
      }
      Bits live = leaf.getLiveDocs();
      PostingsEnum postings = terms.postings(null, PostingsEnum.NONE);
      int found = 0;
      for (int doc = postings.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = postings.nextDoc()) {
        if (live != null && !live.get(doc)) {
          continue;
        }
        found++;
        boolean right;
        if (kind == Kind.BINARY) {
          BinaryDocValues titles = leaf.getBinaryDocValues(UpdatedDocs.TITLE);
          right = titles.advanceExact(doc) && titles.binaryValue().equals(UpdatedDocs.title(seed));
        } else {
          NumericDocValues times = leaf.getNumericDocValues(UpdatedDocs.TIME);
          right = times.advanceExact(doc) && times.longValue() == UpdatedDocs.time(seed);
        }
        if (!right) {
          throw new AssertionError("document " + number + " has another value");
        }
      }
      return found;
    }
  }

  /** A directory that counts the bytes of files that were not there at first. */
  private static final class Counted extends MMapDirectory {
    private final Set<String> first;
    /** The bytes of those that are deleted again. */
    private final AtomicLong deleted = new AtomicLong();

    Counted(Path folder) throws IOException {
      super(folder);
      first = Set.of(listAll());
    }

    @Override
    public void deleteFile(String name) throws IOException {
      long bytes = first.contains(name) ? 0 : fileLength(name);
      super.deleteFile(name);
      deleted.addAndGet(bytes);
    }

    long written() throws IOException {
      long bytes = deleted.get();
      for (String name : listAll()) {
        bytes += first.contains(name) ? 0 : fileLength(name);
      }
      return bytes;
    }
  }

  /** The document of one thread. */
  private final class Maker {
    private final UpdatedDocs.Columns columns = new UpdatedDocs.Columns();
    private final Document document = new Document();
    /** With the field that is searched, too. */
    private final Document tenth = new Document();

    Maker() {
      for (Field field : columns.fields) {
        document.add(field);
        tenth.add(field);
      }
      tenth.add(new StringField(TENTH, "1", Field.Store.NO));
    }

    Document document(int number, long seed) {
      columns.set(number, UpdatedDocs.time(seed), seed);
      int segment = Arrays.binarySearch(starts, number);
      int start = starts[segment < 0 ? -segment - 2 : segment];
      return (number - start) % 10 == 0 ? tenth : document;
    }
  }
}
