import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
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

/**
 * The documents of the experiment on jump tables: an index of one segment, an export of it, and pages of results.
 *
 * <p>What is requests for, and how the documents come, stands in benches/src/bin/jump_tables/lucene.rs. Lookups go forward
 * with advanceExact; a step back takes new iterators, as Lucene wants it.
 */
final class Archive {
  /** Runs before the clock runs, so that the compiler had its time, and runs that are timed. */
  private static final int RUNS = 5;

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
      say("bytes", size(folder), "");
      Cell[] exported = cells(leaf, requests);
      int[] docs = ints(requests);
      export(exported, docs);
      exportSorted(exported, docs);
      Cell[] retrieved = cells(leaf, requests);
      int[][] pages = new int[requests.readInt()][];
      for (int i = 0; i < pages.length; i++) {
        pages[i] = ints(requests);
      }
      retrieve(retrieved, pages);
    }
  }

  private static void say(String what, long number, String sum) {
    System.out.println(what + "\t" + number + "\t" + sum);
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
    long[] times = new long[2 * RUNS];
    for (int run = 0; run < times.length; run++) {
      long began = System.nanoTime();
      rows.clear();
      write(cells, docs, rows);
      times[run] = System.nanoTime() - began;
    }
    say("export", median(times, RUNS), Long.toUnsignedString(rows.sum(0)));
  }

  /** The same by documents in their order, each row then put in its place. */
  private static void exportSorted(Cell[] cells, int[] docs) throws IOException {
    Rows found = new Rows();
    Rows rows = new Rows();
    int[] starts = new int[docs.length];
    int[] lengths = new int[docs.length];
    long[] times = new long[2 * RUNS];
    for (int run = 0; run < times.length; run++) {
      long began = System.nanoTime();
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
      times[run] = System.nanoTime() - began;
    }
    say("sorted", median(times, RUNS), Long.toUnsignedString(rows.sum(0)));
  }

  private static void retrieve(Cell[] cells, int[][] pages) throws IOException {
    Rows rows = new Rows();
    long[] times = new long[2 * RUNS * pages.length];
    long sum = 0;
    for (int run = 0; run < times.length; run++) {
      long began = System.nanoTime();
      rows.clear();
      write(cells, pages[run % pages.length], rows);
      times[run] = System.nanoTime() - began;
      sum = run < pages.length ? rows.sum(sum) : sum;
    }
    say("retrieval", median(times, RUNS * pages.length), Long.toUnsignedString(sum));
  }

  /** Without the first ones. */
  private static long median(long[] times, int without) {
    long[] counted = Arrays.copyOfRange(times, without, times.length);
    Arrays.sort(counted);
    return counted[counted.length / 2];
  }
}
