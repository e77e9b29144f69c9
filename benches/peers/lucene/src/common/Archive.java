import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.Stream;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.SentinelIntSet;

/**
 * The documents of the experiment on jump tables: an index of one segment, an export of it, pages of results, facets,
 * groups and production requests.
 *
 * <p>What is requests for, and how the documents come, stands in benches/src/bin/jump_tables/lucene.rs. Lookups go forward
 * with advanceExact; a step back takes new iterators, as Lucene wants it.
 */
final class Archive {
  /** Runs of each request that are timed. */
  private static final int RUNS = 5;

  /** Nanoseconds of runs before them, so that the compiler has had its time. */
  private static final long WARM = 3_000_000_000L;

  private static final byte NUMBER = 0;
  private static final byte SORTED = 1;

  /** VERSION archive FOLDER, with documents at the standard input; or VERSION archive FOLDER REQUESTS. */
  static void main(String[] args) throws Exception {
    Path folder = Paths.get(args[2]);
    if (args.length == 3) {
      build(folder, new DataInputStream(new BufferedInputStream(System.in, 1 << 20)));
      return;
    }
    try (InputStream file = Files.newInputStream(Paths.get(args[3]));
        DirectoryReader reader = DirectoryReader.open(new MMapDirectory(folder))) {
      DataInputStream requests = new DataInputStream(new BufferedInputStream(file, 1 << 20));
      LeafReader leaf = reader.leaves().get(0).reader();
      say(size(folder), 0);
      Cell[] exported = cells(leaf, requests);
      int[] docs = ints(requests);
      export(exported, docs);
      exportSorted(exported, docs);
      Cell[] retrieved = cells(leaf, requests);
      int[][] pages = lists(requests);
      retrieve(retrieved, pages);
      Facet[] facets = facets(leaf, requests);
      int numbers = requests.readInt();
      for (int i = 0; i < numbers; i++) {
        int[][] hits = lists(requests);
        measure(hits, request -> facet(facets, request));
        measure(hits, request -> group(leaf, request));
        measure(
            hits,
            request -> {
              long sum = add(0, facet(facets, request));
              sum = add(sum, group(leaf, request));
              sum = add(sum, distinct(leaf, request));
              return add(sum, page(retrieved, request));
            });
      }
      Cell[] alone = cells(leaf, requests);
      int[][] once = {ints(requests)};
      for (Cell cell : alone) {
        measure(once, request -> alone(cell, request));
      }
    }
  }

  /** The values of a field, in any order of documents. */
  private static long alone(Cell cell, int[] docs) throws IOException {
    int last = Integer.MAX_VALUE;
    long sum = 0;
    for (int doc : docs) {
      if (doc <= last) {
        cell.rewind();
      }
      last = doc;
      sum = add(sum, cell.sum(doc));
    }
    return sum;
  }

  private static void say(long number, long sum) {
    System.out.println(number + "\t" + Long.toUnsignedString(sum));
  }

  private static int[][] lists(DataInputStream in) throws IOException {
    int[][] lists = new int[in.readInt()][];
    for (int i = 0; i < lists.length; i++) {
      lists[i] = ints(in);
    }
    return lists;
  }

  private static int[] ints(DataInputStream in) throws IOException {
    int[] ints = new int[in.readInt()];
    for (int i = 0; i < ints.length; i++) {
      ints[i] = in.readInt();
    }
    return ints;
  }

  /** Bytes of doc values and their metadata, in a compound file or not. */
  private static long size(Path folder) throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        bytes += file.toString().matches(".*\\.(dv[dm]|cfs)") ? Files.size(file) : 0;
      }
    }
    return bytes;
  }

  // Building.

  private static void build(Path folder, DataInputStream in) throws IOException {
    Field[] fields = new Field[in.readInt()];
    for (int i = 0; i < fields.length; i++) {
      String name = in.readUTF();
      byte kind = in.readByte();
      BytesRef none = new BytesRef(BytesRef.EMPTY_BYTES);
      fields[i] =
          kind == NUMBER
              ? new NumericDocValuesField(name, 0L)
              : kind == SORTED ? new SortedDocValuesField(name, none) : new BinaryDocValuesField(name, none);
    }
    int docs = in.readInt();
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(1_000);
    // Merges segments side by side alone, so that documents stay in their order.
    config.setMergePolicy(new LogDocMergePolicy());
    config.setMergeScheduler(new SerialMergeScheduler());
    Document document = new Document();
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(folder), config)) {
      for (int doc = 0; doc < docs; doc++) {
        document.clear();
        for (Field field : fields) {
          if (read(in, field)) {
            document.add(field);
          }
        }
        writer.addDocument(document);
      }
      writer.forceMerge(1);
      writer.commit();
    }
  }

  /** Whether the next document has a value; and that. */
  private static boolean read(DataInputStream in, Field field) throws IOException {
    int length = in.readInt();
    if (length < 0) {
      return false;
    }
    if (field instanceof NumericDocValuesField) {
      field.setLongValue(in.readLong());
    } else {
      byte[] bytes = new byte[length];
      in.readFully(bytes);
      field.setBytesValue(new BytesRef(bytes));
    }
    return true;
  }

  // Asking.

  /** Rows of CSV. */
  private static final class Rows {
    private byte[] bytes = new byte[1 << 20];
    private int end;

    void clear() {
      end = 0;
    }

    void put(byte next) {
      room(1);
      bytes[end++] = next;
    }

    void put(BytesRef next) {
      put(next.bytes, next.offset, next.length);
    }

    void put(long number) {
      byte[] digits = Long.toString(number).getBytes(StandardCharsets.ISO_8859_1);
      put(digits, 0, digits.length);
    }

    void put(byte[] from, int offset, int length) {
      room(length);
      System.arraycopy(from, offset, bytes, end, length);
      end += length;
    }

    private void room(int more) {
      if (end + more > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + more));
      }
    }

    /** What all bytes come to. */
    long sum(long sum) {
      for (int i = 0; i < end; i++) {
        sum = 31 * sum + (bytes[i] & 0xFF);
      }
      return sum;
    }
  }

  /** A field, of which values are written in rows. */
  private abstract static class Cell {
    /** A new iterator. */
    abstract void rewind() throws IOException;

    abstract void write(int doc, Rows rows) throws IOException;

    /** A checksum of the value; 1 without one. */
    abstract long sum(int doc) throws IOException;

    static long sum(BytesRef bytes) {
      long sum = 0;
      for (int i = 0; i < bytes.length; i++) {
        sum = add(sum, bytes.bytes[bytes.offset + i] & 0xFF);
      }
      return sum;
    }

    static Cell of(LeafReader leaf, String name, byte kind) {
      if (kind == NUMBER) {
        return new Cell() {
          private NumericDocValues values;

          @Override
          void rewind() throws IOException {
            values = leaf.getNumericDocValues(name);
          }

          @Override
          void write(int doc, Rows rows) throws IOException {
            if (values.advanceExact(doc)) {
              rows.put(values.longValue());
            }
          }

          @Override
          long sum(int doc) throws IOException {
            return values.advanceExact(doc) ? values.longValue() : 1;
          }
        };
      }
      if (kind == SORTED) {
        return new Cell() {
          private SortedDocValues values;

          @Override
          void rewind() throws IOException {
            values = leaf.getSortedDocValues(name);
          }

          @Override
          void write(int doc, Rows rows) throws IOException {
            if (values.advanceExact(doc)) {
              rows.put(values.lookupOrd(values.ordValue()));
            }
          }

          @Override
          long sum(int doc) throws IOException {
            return values.advanceExact(doc) ? sum(values.lookupOrd(values.ordValue())) : 1;
          }
        };
      }
      return new Cell() {
        private BinaryDocValues values;

        @Override
        void rewind() throws IOException {
          values = leaf.getBinaryDocValues(name);
        }

        @Override
        void write(int doc, Rows rows) throws IOException {
          if (values.advanceExact(doc)) {
            rows.put(values.binaryValue());
          }
        }

        @Override
        long sum(int doc) throws IOException {
          return values.advanceExact(doc) ? sum(values.binaryValue()) : 1;
        }
      };
    }
  }

  private static Cell[] cells(LeafReader leaf, DataInputStream requests) throws IOException {
    Cell[] cells = new Cell[requests.readInt()];
    for (int i = 0; i < cells.length; i++) {
      cells[i] = Cell.of(leaf, requests.readUTF(), requests.readByte());
    }
    return cells;
  }

  /** Row by row, in the order of the request. */
  private static void write(Cell[] cells, int[] docs, Rows rows) throws IOException {
    int last = Integer.MAX_VALUE;
    for (int doc : docs) {
      if (doc <= last) {
        for (Cell cell : cells) {
          cell.rewind();
        }
      }
      last = doc;
      write(cells, doc, rows);
    }
  }

  /** A row. */
  private static void write(Cell[] cells, int doc, Rows rows) throws IOException {
    for (int i = 0; i < cells.length; i++) {
      if (i > 0) {
        rows.put((byte) ',');
      }
      cells[i].write(doc, rows);
    }
    rows.put((byte) '\n');
  }

  private static void export(Cell[] cells, int[] docs) throws IOException {
    Rows rows = new Rows();
    long time =
        median(
            1,
            request -> {
              rows.clear();
              write(cells, docs, rows);
            });
    say(time, rows.sum(0));
  }

  /** The same by documents in their order, each row then put in its place. */
  private static void exportSorted(Cell[] cells, int[] docs) throws IOException {
    Rows found = new Rows();
    Rows rows = new Rows();
    int[] starts = new int[docs.length];
    int[] lengths = new int[docs.length];
    long time =
        median(
            1,
            request -> {
              // The document, and its row.
              long[] order = new long[docs.length];
              for (int row = 0; row < docs.length; row++) {
                order[row] = (long) docs[row] << 32 | row;
              }
              Arrays.sort(order);
              for (Cell cell : cells) {
                cell.rewind();
              }
              found.clear();
              for (long entry : order) {
                int row = (int) entry;
                starts[row] = found.end;
                write(cells, (int) (entry >>> 32), found);
                lengths[row] = found.end - starts[row];
              }
              rows.clear();
              for (int row = 0; row < docs.length; row++) {
                rows.put(found.bytes, starts[row], lengths[row]);
              }
            });
    say(time, rows.sum(0));
  }

  private static void retrieve(Cell[] cells, int[][] pages) throws IOException {
    Rows rows = new Rows();
    long sum = 0;
    for (int[] page : pages) {
      rows.clear();
      write(cells, page, rows);
      sum = rows.sum(sum);
    }
    long time =
        median(
            pages.length,
            request -> {
              rows.clear();
              write(cells, pages[request], rows);
            });
    say(time, sum);
  }

  // Facets, groups and production requests: one iterator for each field of a request, forward.

  /** Results of facets, of groups and of a page. */
  private static final int TOP = 20;

  /** Keeps the answers. */
  private static long answers;

  /** A workload; gives a checksum of its results. */
  private interface Request {
    long run(int[] hits) throws IOException;
  }

  private static void measure(int[][] hits, Request request) throws IOException {
    long sum = 0;
    for (int[] each : hits) {
      sum = add(sum, request.run(each));
    }
    say(median(hits.length, at -> answers += request.run(hits[at])), sum);
  }

  private static long add(long sum, long next) {
    return 31 * sum + next;
  }

  /** A faceted field: ords are counted in an array, numbers in a hash table, as in Solr. */
  private interface Facet {
    /** The counts of the most frequent values, and their terms looked up. */
    long[] counts(int[] hits) throws IOException;
  }

  private static Facet[] facets(LeafReader leaf, DataInputStream requests) throws IOException {
    Facet[] facets = new Facet[requests.readInt()];
    for (int i = 0; i < facets.length; i++) {
      String name = requests.readUTF();
      facets[i] =
          requests.readByte() == NUMBER
              ? hits -> ofNumbers(leaf.getNumericDocValues(name), hits)
              : hits -> ofOrds(leaf.getSortedDocValues(name), hits);
    }
    return facets;
  }

  private static long[] ofNumbers(NumericDocValues values, int[] hits) throws IOException {
    LongCounts counts = new LongCounts();
    for (int doc : hits) {
      if (values.advanceExact(doc)) {
        counts.add(values.longValue());
      }
    }
    long[] all = Arrays.stream(counts.counts).filter(count -> count > 0).map(count -> -count).sorted().toArray();
    return Arrays.copyOf(all, Math.min(TOP, all.length));
  }

  /** Counts of numbers in an open-addressed table, at most half full. */
  private static final class LongCounts {
    private long[] values = new long[64];
    long[] counts = new long[64];
    private int taken;

    void add(long value) {
      int slot = slot(value);
      taken += counts[slot] == 0 ? 1 : 0;
      values[slot] = value;
      counts[slot]++;
      if (2 * taken > values.length) {
        grow();
      }
    }

    private int slot(long value) {
      int slot = (int) (value * 0x9E3779B97F4A7C15L >>> Long.numberOfLeadingZeros(values.length) + 1);
      while (counts[slot] > 0 && values[slot] != value) {
        slot = slot + 1 & values.length - 1;
      }
      return slot;
    }

    private void grow() {
      long[] before = values;
      long[] counted = counts;
      values = new long[2 * before.length];
      counts = new long[values.length];
      for (int at = 0; at < before.length; at++) {
        if (counted[at] > 0) {
          int slot = slot(before[at]);
          values[slot] = before[at];
          counts[slot] = counted[at];
        }
      }
    }
  }

  private static long[] ofOrds(SortedDocValues values, int[] hits) throws IOException {
    int[] counts = new int[values.getValueCount()];
    for (int doc : hits) {
      if (values.advanceExact(doc)) {
        counts[values.ordValue()]++;
      }
    }
    // The greatest counts, and the first ords of equal ones; the least of them is the head.
    PriorityQueue<long[]> best =
        new PriorityQueue<>((one, other) -> one[0] != other[0] ? Long.compare(one[0], other[0]) : Long.compare(other[1], one[1]));
    for (int ord = 0; ord < counts.length; ord++) {
      if (counts[ord] > 0 && (best.size() < TOP || counts[ord] > best.peek()[0])) {
        best.add(new long[] {counts[ord], ord});
        if (best.size() > TOP) {
          best.remove();
        }
      }
    }
    long[] top = new long[best.size()];
    for (int i = top.length; i-- > 0; ) {
      long[] next = best.remove();
      terms += values.lookupOrd((int) next[1]).length;
      top[i] = -next[0];
    }
    return top;
  }

  /** Keeps the look-ups of terms. */
  private static long terms;

  private static long facet(Facet[] facets, int[] hits) throws IOException {
    long sum = 0;
    for (Facet facet : facets) {
      for (long count : facet.counts(hits)) {
        sum = add(sum, -count);
      }
    }
    return sum;
  }

  /**
   * The first document of each of the first groups, and their numbers of documents: by ords, in two passes. The collectors
   * of the grouping module read the same, and look up the term of each new group.
   */
  private static long group(LeafReader leaf, int[] hits) throws IOException {
    SortedDocValues values = leaf.getSortedDocValues("url_norm");
    Map<Integer, Integer> groups = new LinkedHashMap<>();
    for (int doc : hits) {
      if (values.advanceExact(doc)) {
        int ord = values.ordValue();
        if (groups.size() < TOP) {
          groups.putIfAbsent(ord, doc);
        }
      }
    }
    SentinelIntSet ords = new SentinelIntSet(TOP, -1);
    for (int ord : groups.keySet()) {
      ords.put(ord);
    }
    long[] counts = new long[ords.keys.length];
    values = leaf.getSortedDocValues("url_norm");
    for (int doc : hits) {
      if (values.advanceExact(doc)) {
        int slot = ords.find(values.ordValue());
        if (slot >= 0) {
          counts[slot]++;
        }
      }
    }
    long sum = 0;
    for (Map.Entry<Integer, Integer> group : groups.entrySet()) {
      terms += values.lookupOrd(group.getKey()).length;
      sum = add(add(sum, group.getValue()), counts[ords.find(group.getKey())]);
    }
    return sum;
  }

  private static long distinct(LeafReader leaf, int[] hits) throws IOException {
    SortedDocValues values = leaf.getSortedDocValues("domain");
    FixedBitSet seen = new FixedBitSet(values.getValueCount());
    for (int doc : hits) {
      if (values.advanceExact(doc)) {
        seen.set(values.ordValue());
      }
    }
    return seen.cardinality();
  }

  /** The page of a production request: documents from all over the hits, the last one first. */
  private static long page(Cell[] cells, int[] hits) throws IOException {
    int step = Math.max(hits.length / TOP, 1);
    long sum = 0;
    for (int row = 0; row < TOP && hits.length - 1 - row * step >= 0; row++) {
      int doc = hits[hits.length - 1 - row * step];
      for (Cell cell : cells) {
        cell.rewind();
        sum = add(sum, cell.sum(doc));
      }
    }
    return sum;
  }

  /** A request of a number. */
  private interface Run {
    void run(int request) throws IOException;
  }

  /** The median time of requests, after those that do not count. */
  private static long median(int requests, Run run) throws IOException {
    long began = System.nanoTime();
    for (int at = 0; at < RUNS * requests || System.nanoTime() - began < WARM; at++) {
      run.run(at % requests);
    }
    long[] times = new long[RUNS * requests];
    for (int at = 0; at < times.length; at++) {
      long start = System.nanoTime();
      run.run(at % requests);
      times[at] = System.nanoTime() - start;
    }
    Arrays.sort(times);
    return times[times.length / 2];
  }
}
