import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.SortedNumericSortField;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;

/**
 * Workloads of a search engine over an index of one segment: facets, top-k, groups, ranges and exports, in loops
 * written by hand.
 *
 * <p>Checksums equal those of src/workloads/checksum.rs.
 */
final class Workloads {
  private static final String[] NUMBERS = {"ts", "size", "uni24"};
  private static final int TOP = 10;
  private static final int SORTED = 20;
  private static final int EXPORTED = 52_653;
  /** Documents of a batch, for APIs that take many. */
  private static final int BATCH = 1_024;

  private final Session session;
  private final String row;
  private LeafReader leaf;

  /** VERSION workloads DOCS FOLDER MILLISECONDS ROW */
  static void main(String[] args) throws Exception {
    new Workloads(new Session(args), args[5]).run();
  }

  private Workloads(Session session, String row) {
    this.session = session;
    this.row = row;
  }

  private void run() throws Exception {
    if (row.equals("build")) {
      build();
      return;
    }
    try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(session.folder))) {
      leaf = reader.leaves().get(0).reader();
      String[] parts = row.split("-");
      switch (parts[0]) {
        case "facet":
          {
            int[] hits = hits(parts[1]);
            measure(hits == null ? "nextDoc" : "advanceExact", () -> facet(hits));
            break;
          }
        case "top":
          top(hits(parts[1]), reader);
          break;
        case "group":
          {
            int[] hits = hits(parts[1]);
            measure(hits == null ? "nextDoc" : "advanceExact", () -> group(hits, false));
            if (Version.hasBulk()) {
              measure("advanceExact, longValues", () -> group(hits, true));
            }
            break;
          }
        case "range":
          range(parts[1]);
          break;
        case "export":
          {
            int[] docs = Data.randomDocs(session.docs, EXPORTED);
            if (parts[1].equals("sorted")) {
              Arrays.sort(docs);
            }
            measure("one by one", () -> exportSingly(docs));
            measure("documents sorted, columns, ords sorted", () -> export(docs));
            break;
          }
        default:
          throw new IllegalArgumentException(row);
      }
    }
  }

  private void measure(String api, Session.Body body) throws Exception {
    session.measure(row, api, 1, "answers", body);
  }

  /** The hits of a query, a percentage of the documents; null for all. */
  private int[] hits(String percent) {
    return percent.equals("100") ? null : Data.hits(session.docs, 100 * Integer.parseInt(percent));
  }

  // Building.

  private void build() throws IOException {
    int docs = session.docs;
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(2_000);
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setMergeScheduler(new SerialMergeScheduler());
    config.setUseCompoundFile(false);
    Path making = session.folder.resolveSibling(session.folder.getFileName() + ".tmp");
    if (Files.exists(making)) {
      try (var files = Files.list(making)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Files.delete(file);
        }
      }
    }
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(making), config)) {
      writer.addDocuments(documents(docs));
      writer.commit();
    }
    try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(making))) {
      if (reader.leaves().size() != 1) {
        throw new AssertionError(reader.leaves().size() + " segments");
      }
    }
    Files.move(making, session.folder);
  }

  /** Adds all documents as one block, which becomes one segment. */
  private Iterable<Document> documents(int docs) {
    Document document = new Document();
    Field[] fields = new Field[NUMBERS.length];
    long[][] numbers = new long[NUMBERS.length][];
    for (int i = 0; i < NUMBERS.length; i++) {
      fields[i] = session.number(NUMBERS[i], true);
      numbers[i] = Data.numbers(NUMBERS[i], docs).values;
      document.add(fields[i]);
    }
    Data.Strings hosts = Data.hosts(docs);
    Data.Strings urls = Data.urls(docs);
    BytesRef host = new BytesRef(hosts.bytes);
    BytesRef url = new BytesRef(urls.bytes);
    document.add(session.term("host", host));
    document.add(new BinaryDocValuesField("url", url));
    return () ->
        new Iterator<Document>() {
          private int next = 0;

          @Override
          public boolean hasNext() {
            return next < docs;
          }

          @Override
          public Document next() {
            for (int i = 0; i < fields.length; i++) {
              fields[i].setLongValue(numbers[i][next]);
            }
            point(host, hosts, next);
            point(url, urls, next);
            next++;
            return document;
          }
        };
  }

  private static void point(BytesRef at, Data.Strings strings, int i) {
    at.offset = strings.offsets[i];
    at.length = strings.offsets[i + 1] - at.offset;
  }

  // Facets, top-k, groups.

  /** The top-k values and their owners. Of equal values, the first one wins. Values are above 0. */
  private static final class Best {
    private final long[] values;
    private final int[] owners;
    private int size;
    /** The greatest value that is not competitive. */
    long least;

    Best(int most) {
      values = new long[most];
      owners = new int[most];
    }

    void insert(long value, int whose) {
      int at = Math.min(size, values.length - 1);
      for (; at > 0 && values[at - 1] < value; at--) {
        values[at] = values[at - 1];
        owners[at] = owners[at - 1];
      }
      values[at] = value;
      owners[at] = whose;
      size = Math.min(size + 1, values.length);
      if (size == values.length) {
        least = values[size - 1];
      }
    }
  }

  private static long then(long sum, long next) {
    return sum * 31 + next;
  }

  /** The top-k ords, with their terms. */
  private static long named(Best best, SortedDocValues values) throws IOException {
    long sum = 0;
    for (int i = 0; i < best.size; i++) {
      sum = then(then(sum, Main.touch(values.lookupOrd(best.owners[i]))), best.values[i]);
    }
    return sum;
  }

  private long facet(int[] hits) throws IOException {
    SortedDocValues hosts = session.terms(leaf, "host");
    return named(most(hosts, hits), hosts);
  }

  /** The most frequent ords. */
  private static Best most(SortedDocValues values, int[] hits) throws IOException {
    int[] counts = new int[values.getValueCount()];
    if (hits == null) {
      while (values.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
        counts[values.ordValue()]++;
      }
    } else {
      for (int doc : hits) {
        if (values.advanceExact(doc)) {
          counts[values.ordValue()]++;
        }
      }
    }
    Best best = new Best(TOP);
    for (int ord = 0; ord < counts.length; ord++) {
      if (counts[ord] > best.least) {
        best.insert(counts[ord], ord);
      }
    }
    return best;
  }

  /** Prints the most frequent terms of a field, and their counts, for a process that does nothing else. */
  static void facetOf(String folder, String field) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(Paths.get(folder)))) {
      SortedDocValues values = reader.leaves().get(0).reader().getSortedDocValues(field);
      Best best = most(values, null);
      for (int i = 0; i < best.size; i++) {
        System.out.println(values.lookupOrd(best.owners[i]).utf8ToString() + "\t" + best.values[i]);
      }
    }
  }

  private void top(int[] hits, DirectoryReader reader) throws Exception {
    measure(hits == null ? "nextDoc" : "advanceExact", () -> top(hits));
    if (Version.hasBulk()) {
      measure("longValues", () -> topBulk(hits));
    }
    if (hits == null) {
      IndexSearcher searcher = new IndexSearcher(reader);
      SortField.Type type = SortField.Type.LONG;
      Sort sort =
          new Sort(
              session.lists
                  ? new SortedNumericSortField("size", type, true)
                  : new SortField("size", type, true));
      measure(
          "IndexSearcher.search",
          () -> {
            long sum = 0;
            for (ScoreDoc found : searcher.search(new MatchAllDocsQuery(), SORTED, sort).scoreDocs) {
              sum = then(sum, found.doc);
            }
            return sum;
          });
    }
  }

  private long top(int[] hits) throws IOException {
    NumericDocValues sizes = session.numbers(leaf, "size");
    Best best = new Best(SORTED);
    if (hits == null) {
      for (int doc = sizes.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = sizes.nextDoc()) {
        long size = sizes.longValue();
        if (size > best.least) {
          best.insert(size, doc);
        }
      }
    } else {
      for (int doc : hits) {
        if (sizes.advanceExact(doc)) {
          long size = sizes.longValue();
          if (size > best.least) {
            best.insert(size, doc);
          }
        }
      }
    }
    return owners(best);
  }

  private long topBulk(int[] hits) throws IOException {
    NumericDocValues sizes = session.numbers(leaf, "size");
    Best best = new Best(SORTED);
    int[] docs = new int[BATCH];
    long[] values = new long[BATCH];
    int all = hits == null ? session.docs : hits.length;
    for (int from = 0; from < all; from += BATCH) {
      int len = fill(docs, hits, from, all);
      Version.longValues(sizes, len, docs, values);
      for (int i = 0; i < len; i++) {
        if (values[i] > best.least) {
          best.insert(values[i], docs[i]);
        }
      }
    }
    return owners(best);
  }

  /** Reads the documents of a batch; returns their number. */
  private static int fill(int[] docs, int[] hits, int from, int all) {
    int len = Math.min(BATCH, all - from);
    if (hits == null) {
      for (int i = 0; i < len; i++) {
        docs[i] = from + i;
      }
    } else {
      System.arraycopy(hits, from, docs, 0, len);
    }
    return len;
  }

  private static long owners(Best best) {
    long sum = 0;
    for (int i = 0; i < best.size; i++) {
      sum = then(sum, best.owners[i]);
    }
    return sum;
  }

  private long group(int[] hits, boolean bulk) throws IOException {
    SortedDocValues hosts = session.terms(leaf, "host");
    NumericDocValues sizes = session.numbers(leaf, "size");
    long[] sums = new long[hosts.getValueCount()];
    if (bulk) {
      int[] docs = new int[BATCH];
      long[] values = new long[BATCH];
      int all = hits == null ? session.docs : hits.length;
      for (int from = 0; from < all; from += BATCH) {
        int len = fill(docs, hits, from, all);
        Version.longValues(sizes, len, docs, values);
        for (int i = 0; i < len; i++) {
          if (hosts.advanceExact(docs[i])) {
            sums[hosts.ordValue()] += values[i];
          }
        }
      }
    } else if (hits == null) {
      for (int doc = hosts.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = hosts.nextDoc()) {
        if (sizes.advanceExact(doc)) {
          sums[hosts.ordValue()] += sizes.longValue();
        }
      }
    } else {
      for (int doc : hits) {
        if (hosts.advanceExact(doc) && sizes.advanceExact(doc)) {
          sums[hosts.ordValue()] += sizes.longValue();
        }
      }
    }
    Best best = new Best(TOP);
    for (int ord = 0; ord < sums.length; ord++) {
      if (sums[ord] > best.least) {
        best.insert(sums[ord], ord);
      }
    }
    return named(best, hosts);
  }

  // Ranges.

  private void range(String column) throws Exception {
    int docs = session.docs;
    long low = Main.low(column, docs);
    long high = Main.high(column, docs);
    measure(
        "nextDoc",
        () -> {
          NumericDocValues values = session.numbers(leaf, column);
          long count = 0;
          while (values.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
            long value = values.longValue();
            if (value >= low && value <= high) {
              count++;
            }
          }
          return count;
        });
    Version.ranges(session, row, leaf, column, low, high, new FixedBitSet(docs));
    Version.counts(session, row, leaf, column, low, high);
  }

  // Exports.

  /** Row by row; a step back needs new iterators. */
  private long exportSingly(int[] docs) throws IOException {
    BinaryDocValues urls = null;
    SortedDocValues hosts = null;
    NumericDocValues times = null;
    NumericDocValues sizes = null;
    long url = 0;
    long host = 0;
    long time = 0;
    long size = 0;
    int last = Integer.MAX_VALUE;
    for (int doc : docs) {
      if (doc < last) {
        urls = leaf.getBinaryDocValues("url");
        hosts = session.terms(leaf, "host");
        times = session.numbers(leaf, "ts");
        sizes = session.numbers(leaf, "size");
      }
      last = doc;
      if (!urls.advanceExact(doc)
          || !hosts.advanceExact(doc)
          || !times.advanceExact(doc)
          || !sizes.advanceExact(doc)) {
        throw new AssertionError("no value");
      }
      url = then(url, Main.touch(urls.binaryValue()));
      host = then(host, Main.touch(hosts.lookupOrd(hosts.ordValue())));
      time = then(time, times.longValue());
      size = then(size, sizes.longValue());
    }
    return url + host + time + size;
  }

  /** Strings of rows. */
  private static final class Scattered {
    byte[] bytes = new byte[1 << 20];
    int end;
    final int[] starts;
    final int[] lengths;

    Scattered(int rows) {
      starts = new int[rows];
      lengths = new int[rows];
    }

    void add(BytesRef string, int row) {
      if (end + string.length > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + string.length));
      }
      System.arraycopy(string.bytes, string.offset, bytes, end, string.length);
      starts[row] = end;
      lengths[row] = string.length;
      end += string.length;
    }

    /** The sum of all rows, in order. */
    long sum() {
      BytesRef string = new BytesRef(bytes);
      long sum = 0;
      for (int row = 0; row < starts.length; row++) {
        string.offset = starts[row];
        string.length = lengths[row];
        sum = then(sum, Main.touch(string));
      }
      return sum;
    }
  }

  /** Column by column, in document and dictionary order; values are scattered to their rows. */
  private long export(int[] docs) throws IOException {
    // The document, and its row.
    long[] order = new long[docs.length];
    for (int row = 0; row < docs.length; row++) {
      order[row] = (long) docs[row] << 32 | row;
    }
    Arrays.sort(order);
    BinaryDocValues urls = leaf.getBinaryDocValues("url");
    Scattered found = new Scattered(docs.length);
    for (long entry : order) {
      if (!urls.advanceExact((int) (entry >>> 32))) {
        throw new AssertionError("no value");
      }
      found.add(urls.binaryValue(), (int) entry);
    }
    return found.sum() + hosts(order) + numbers(order, "ts") + numbers(order, "size");
  }

  private long hosts(long[] order) throws IOException {
    SortedDocValues hosts = session.terms(leaf, "host");
    // The ord, and its row.
    long[] ords = new long[order.length];
    for (int i = 0; i < order.length; i++) {
      if (!hosts.advanceExact((int) (order[i] >>> 32))) {
        throw new AssertionError("no value");
      }
      ords[i] = (long) hosts.ordValue() << 32 | order[i] & 0xFFFF_FFFFL;
    }
    Arrays.sort(ords);
    Scattered found = new Scattered(order.length);
    int last = -1;
    int lastRow = 0;
    for (long entry : ords) {
      int ord = (int) (entry >>> 32);
      int row = (int) entry;
      if (ord == last) {
        found.starts[row] = found.starts[lastRow];
        found.lengths[row] = found.lengths[lastRow];
      } else {
        found.add(hosts.lookupOrd(ord), row);
        last = ord;
        lastRow = row;
      }
    }
    return found.sum();
  }

  private long numbers(long[] order, String column) throws IOException {
    NumericDocValues values = session.numbers(leaf, column);
    long[] rows = new long[order.length];
    for (long entry : order) {
      if (!values.advanceExact((int) (entry >>> 32))) {
        throw new AssertionError("no value");
      }
      rows[(int) entry] = values.longValue();
    }
    long sum = 0;
    for (long value : rows) {
      sum = then(sum, value);
    }
    return sum;
  }
}
