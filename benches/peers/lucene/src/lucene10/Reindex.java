import com.sun.management.OperatingSystemMXBean;
import java.io.Closeable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.MergeTrigger;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NRTCachingDirectory;

/**
 * A new value for a document beside the document written again: Lucene's part of benches/reindex.
 *
 * <p>Text is analysed by the StandardAnalyzer. Cycles merge nothing. The compiler warms up with small indexes, then with a
 * copy of the real one, until it has nothing left to do. A cell beside which it still works is measured again. Prints a
 * line of JSON.
 */
final class Reindex {
  private static final String TEXT = "text";
  private static final int TOP = 20;
  private static final Sort SORT = new Sort(new SortField(UpdatedDocs.TIME, SortField.Type.LONG, true));
  /** Greater than all times that documents have at first. */
  private static final long NEW = 1L << 40;
  /** One document of so many is in a checksum. */
  private static final int CHECKED = 1_000;
  /** Nanoseconds from which on a wait spins. */
  private static final long SPIN = 100_000;
  /** Nanoseconds of CPU time of the warm-up, and the documents, cycles and changes of its indexes. */
  private static final long WARM = 4_000_000_000L;
  private static final Shape SMALL = new Shape(20_000, 0, 2);
  private static final int WARM_CYCLES = 20;
  private static final int WARM_CHANGED = 500;
  /** CPU time of the process in elapsed time, from which on the compiler is idle: all work is that of one thread. */
  private static final double IDLE = 1.15;
  /** Nanoseconds of time after which a cell begins in any case. */
  private static final long LONGEST_WARM = 60_000_000_000L;
  /** The most measurements of a cell, if the compiler is never idle. */
  private static final int MOST = 5;
  /** The size of the largest files that an NRTCachingDirectory keeps, and of all of them: those of Solr are 4 and 48. */
  private static final double CACHED_MB = 5;
  private static final double ALL_CACHED_MB = 60;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private record Shape(int docs, int words, int segments) {}

  /**
   * VERSION build FOLDER DOCS WORDS SEGMENTS, or VERSION update|reindex FOLDER DOCS WORDS SEGMENTS WAIT CYCLES CHANGED
   * [nrt] [cold]
   */
  public static void main(String[] args) throws Exception {
    String version = org.apache.lucene.util.Version.LATEST.toString();
    if (!version.equals(args[0])) {
      throw new AssertionError("Lucene " + version + " instead of " + args[0]);
    }
    Path built = Path.of(args[2]);
    Shape shape = new Shape(Integer.parseInt(args[3]), Integer.parseInt(args[4]), Integer.parseInt(args[5]));
    if (args[1].equals("build")) {
      System.out.println(build(built, shape));
      return;
    }
    boolean isUpdate = args[1].equals("update");
    List<String> options = List.of(args).subList(Math.min(9, args.length), args.length);
    boolean isCached = options.contains("nrt");
    // The files are not in the page cache: only the first cycle counts.
    boolean isCold = options.contains("cold");
    Path small = built.resolveSibling("small");
    Shape warm = new Shape(SMALL.docs, shape.words, SMALL.segments);
    while (THREADS.getCurrentThreadCpuTime() < WARM) {
      IngestIndex.remove(small);
      build(small, warm);
      run(small, warm, new Cell(isUpdate, isCached, false, 0, WARM_CYCLES, WARM_CHANGED));
    }
    IngestIndex.remove(small);
    int cycles = Integer.parseInt(args[7]);
    int changed = Integer.parseInt(args[8]);
    long wait = (long) (Double.parseDouble(args[6]) * 1e6);
    long warmed = System.nanoTime();
    double busy = Double.MAX_VALUE;
    while (!isCold && busy > IDLE && System.nanoTime() - warmed < LONGEST_WARM) {
      busy = busy(runOnCopy(built, shape, new Cell(isUpdate, isCached, false, 0, cycles, changed)));
    }
    Cell cell = new Cell(isUpdate, isCached, isCold, wait, cycles, changed);
    Map<String, Double> idlest = runOnCopy(built, shape, cell);
    for (int i = 1; !isCold && i < MOST && busy(idlest) > IDLE; i++) {
      Map<String, Double> figures = runOnCopy(built, shape, cell);
      idlest = busy(figures) < busy(idlest) ? figures : idlest;
    }
    System.out.println(json(idlest));
  }

  private static Map<String, Double> runOnCopy(Path built, Shape shape, Cell cell) throws Exception {
    Path copy = built.resolveSibling("copy");
    IngestIndex.remove(copy);
    IngestIndex.link(built, copy);
    Map<String, Double> figures = run(copy, shape, cell);
    IngestIndex.remove(copy);
    return figures;
  }

  /** The CPU time of the process in the time that its thread worked. */
  private static double busy(Map<String, Double> figures) {
    return figures.get("cpu_ms") / (figures.get("ms") - figures.get("waited_ms"));
  }

  private static String json(Map<String, Double> figures) {
    List<String> fields = new ArrayList<>();
    figures.forEach((name, value) -> fields.add(String.format(Locale.ROOT, "\"%s\":%.6f", name, value)));
    return "{" + String.join(",", fields) + "}";
  }

  // Building.

  private static String build(Path folder, Shape shape) throws Exception {
    long[] start = now();
    Maker maker = new Maker();
    Portions portions = new Portions();
    long textBytes = 0;
    int checksum = 0;
    try (MMapDirectory directory = new MMapDirectory(folder);
        IndexWriter writer = new IndexWriter(directory, UpdatedDocs.config(1_900, portions))) {
      StringBuilder text = new StringBuilder();
      for (int segment = 0; segment < shape.segments; segment++) {
        int end = UpdatedDocs.firstOf(segment + 1, shape.segments, shape.docs);
        for (int number = UpdatedDocs.firstOf(segment, shape.segments, shape.docs); number < end; number++) {
          UpdatedDocs.text(number, shape.words, text);
          long seed = UpdatedDocs.firstSeed(number);
          writer.addDocument(maker.document(number, UpdatedDocs.time(seed), text.toString()));
          textBytes += text.length();
          if (number % CHECKED == 0) {
            checksum = checksum(checksum, UpdatedDocs.title(seed).utf8ToString() + text);
          }
        }
        writer.forceMerge(1);
        writer.commit();
        portions.finish();
      }
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        if (reader.leaves().size() != shape.segments || reader.numDocs() != shape.docs) {
          throw new AssertionError(reader);
        }
      }
    }
    long[] built = now();
    return String.format(
        Locale.ROOT,
        "{\"seconds\":%.3f,\"cpu_seconds\":%.3f,\"bytes\":%d,\"text_bytes\":%d,\"checksum\":%d}",
        (built[0] - start[0]) / 1e9,
        (built[1] - start[1]) / 1e9,
        IngestIndex.bytes(folder),
        textBytes,
        Integer.toUnsignedLong(checksum));
  }

  private static int checksum(int sum, String text) {
    for (int i = 0; i < text.length(); i++) {
      sum = sum * 31 + text.charAt(i);
    }
    return sum;
  }

  /** Merges the segments of each portion of the documents to one. */
  private static final class Portions extends MergePolicy {
    private final Set<String> finished = new HashSet<>();
    private final Set<String> now = new HashSet<>();

    /** The merged portion is not merged with the next ones. */
    synchronized void finish() {
      finished.addAll(now);
    }

    @Override
    public synchronized MergeSpecification findForcedMerges(
        SegmentInfos infos, int most, Map<SegmentCommitInfo, Boolean> segments, MergeContext context) {
      List<SegmentCommitInfo> merged = new ArrayList<>();
      now.clear();
      for (SegmentCommitInfo info : infos) {
        now.add(info.info.name);
        if (!finished.contains(info.info.name)) {
          merged.add(info);
        }
      }
      if (merged.size() < 2) {
        return null;
      }
      MergeSpecification all = new MergeSpecification();
      all.add(new OneMerge(merged));
      return all;
    }

    @Override
    public MergeSpecification findMerges(MergeTrigger trigger, SegmentInfos infos, MergeContext context) {
      return null;
    }

    @Override
    public MergeSpecification findForcedDeletesMerges(SegmentInfos infos, MergeContext context) {
      return null;
    }
  }

  /** The document of one thread. */
  private static final class Maker {
    private final UpdatedDocs.Columns columns = new UpdatedDocs.Columns();
    private final TextField text = new TextField(TEXT, "", Field.Store.NO);
    private final Document document = new Document();

    Document document(int number, long time, String value) {
      if (document.getFields().isEmpty()) {
        columns.fields.forEach(document::add);
        if (!value.isEmpty()) {
          document.add(text);
        }
      }
      columns.set(number, time, UpdatedDocs.firstSeed(number));
      text.setStringValue(value);
      return document;
    }
  }

  // Cells.

  private record Cell(
      boolean isUpdate, boolean isCached, boolean isCold, long waitNanos, int cycles, int changed) {}

  /** The documents that a cycle changes, their new times and texts: those of benches/reindex/src/changes.rs. */
  private static final class Changes {
    final int[] numbers;
    final long[] times;
    final String[] texts;

    Changes(Shape shape, int cycle, int changed) {
      int first = cycle * changed;
      int[] all = new int[first + changed];
      Ids.random(shape.docs, all);
      numbers = new int[changed];
      times = new long[changed];
      texts = new String[changed];
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < changed; i++) {
        numbers[i] = all[first + i];
        times[i] = NEW + first + i;
        UpdatedDocs.text(numbers[i], shape.words, text);
        texts[i] = text.toString();
      }
    }
  }

  /** Runs the cycles. Returns averages by name. */
  private static Map<String, Double> run(Path folder, Shape shape, Cell cell) throws Exception {
    try (Changing index = new Changing(folder, cell.isCached)) {
      double[] sums = new double[6];
      double longest = 0;
      // The first cycle reads pages for the first time.
      int first = cell.isCold ? 0 : 1;
      for (int cycle = 0; cycle < cell.cycles + first; cycle++) {
        Changes changes = new Changes(shape, cycle, cell.changed);
        long written = written();
        index.waited = index.waitedCpu = 0;
        long[] start = now();
        index.change(cell, changes);
        long[] changed = now();
        index.refresh();
        long[] shown = now();
        ScoreDoc[] newest = index.searcher.search(new MatchAllDocsQuery(), TOP, SORT).scoreDocs;
        long[] found = now();
        index.check(shape, changes, newest);
        if (cycle >= first) {
          double[] cycleSums = {
            shown[0] - start[0],
            shown[1] - start[1] - index.waitedCpu,
            shown[0] - changed[0],
            index.waited,
            found[0] - shown[0],
            written() - written
          };
          for (int i = 0; i < cycleSums.length; i++) {
            sums[i] += cycleSums[i];
          }
          longest = Math.max(longest, cycleSums[0]);
        }
      }
      long written = written();
      long start = System.nanoTime();
      index.writer.commit();
      double commitMs = (System.nanoTime() - start) / 1e6;
      double all = 1e6 * cell.cycles * cell.changed;
      return Map.of(
          "ms", sums[0] / all,
          "cpu_ms", sums[1] / all,
          "refresh_ms", sums[2] / 1e6 / cell.cycles,
          "longest_ms", longest / 1e6 / cell.changed,
          "waited_ms", sums[3] / all,
          "query_ms", sums[4] / 1e6 / cell.cycles,
          "written", sums[5] / cell.cycles / cell.changed,
          "commit_ms", commitMs,
          "commit_written", (double) (written() - written));
    }
  }

  /** Nanoseconds of time, and of CPU time of all threads. */
  private static long[] now() {
    return new long[] {System.nanoTime(), PROCESS.getProcessCpuTime()};
  }

  /** The bytes that this process has written to files. */
  private static long written() throws IOException {
    Path counts = Path.of("/proc/self/io");
    if (Files.exists(counts)) {
      for (String line : Files.readAllLines(counts)) {
        if (line.startsWith("wchar: ")) {
          return Long.parseLong(line.substring(7));
        }
      }
    }
    return 0;
  }

  /** An index that changes, and what searches it. */
  private static final class Changing implements Closeable {
    private final Directory directory;
    private final Maker maker = new Maker();
    final IndexWriter writer;
    private DirectoryReader reader;
    IndexSearcher searcher;
    /** Nanoseconds that the source took, and those of CPU time. */
    long waited;
    long waitedCpu;

    Changing(Path folder, boolean isCached) throws Exception {
      Directory files = new MMapDirectory(folder);
      directory = isCached ? new NRTCachingDirectory(files, CACHED_MB, ALL_CACHED_MB) : files;
      writer = new IndexWriter(directory, UpdatedDocs.config(64, NoMergePolicy.INSTANCE));
      reader = DirectoryReader.open(writer);
    }

    void change(Cell cell, Changes changes) throws IOException {
      for (int i = 0; i < changes.numbers.length; i++) {
        Term id = new Term(UpdatedDocs.ID, UpdatedDocs.id(changes.numbers[i]));
        if (cell.isUpdate) {
          writer.updateNumericDocValue(id, UpdatedDocs.TIME, changes.times[i]);
        } else {
          await(cell.waitNanos);
          writer.updateDocument(id, maker.document(changes.numbers[i], changes.times[i], changes.texts[i]));
        }
      }
    }

    /** Waits as long as the source takes to give a document: sleeps until shortly before, then spins. */
    private void await(long wait) {
      if (wait == 0) {
        return;
      }
      long start = System.nanoTime();
      long cpu = THREADS.getCurrentThreadCpuTime();
      if (wait > 2 * SPIN) {
        LockSupport.parkNanos(wait - SPIN);
      }
      while (System.nanoTime() - start < wait) {
        Thread.onSpinWait();
      }
      waitedCpu += THREADS.getCurrentThreadCpuTime() - cpu;
      waited += System.nanoTime() - start;
    }

    void refresh() throws IOException {
      DirectoryReader next = DirectoryReader.openIfChanged(reader, writer);
      reader.close();
      reader = next;
      for (LeafReaderContext leaf : reader.leaves()) {
        leaf.reader().getNumericDocValues(UpdatedDocs.TIME);
      }
      searcher = new IndexSearcher(reader);
      searcher.setQueryCache(null);
    }

    /** Checks that the newest documents are the last changes, from the last one, and that their text is found. */
    void check(Shape shape, Changes changes, ScoreDoc[] newest) throws IOException {
      if (reader.numDocs() != shape.docs) {
        throw new AssertionError(reader.numDocs() + " documents");
      }
      for (int i = 0; i < Math.min(TOP, changes.numbers.length); i++) {
        int change = changes.numbers.length - 1 - i;
        Object time = ((FieldDoc) newest[i]).fields[0];
        Query id = new TermQuery(new Term(UpdatedDocs.ID, UpdatedDocs.id(changes.numbers[change])));
        ScoreDoc[] found = searcher.search(id, 2).scoreDocs;
        if (!time.equals(changes.times[change]) || found.length != 1 || found[0].doc != newest[i].doc) {
          throw new AssertionError("document " + changes.numbers[change] + " has another time: " + time);
        }
        if (shape.words > 0) {
          Query word = new TermQuery(new Term(TEXT, changes.texts[change].split(" ", 2)[0]));
          BooleanQuery.Builder both = new BooleanQuery.Builder();
          both.add(id, BooleanClause.Occur.MUST).add(word, BooleanClause.Occur.MUST);
          if (searcher.count(both.build()) != 1) {
            throw new AssertionError("document " + changes.numbers[change] + " has no " + word);
          }
        }
      }
    }

    @Override
    public void close() throws IOException {
      reader.close();
      writer.rollback();
      directory.close();
    }
  }
}
