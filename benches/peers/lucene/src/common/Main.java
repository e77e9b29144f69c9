import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;

/**
 * One column of Lucene: an index of one segment, mapped.
 *
 * <p>Lookups advance with advanceExact; a step back needs a new iterator.
 */
public final class Main {
  private static final String FIELD = "field";
  private static final int LOOKUPS = 1_000_000;
  /** Documents of a call of {@code take}. */
  private static final int TAKEN = 20;
  /** Documents of a batch, for APIs that take many. */
  private static final int BATCH = 1_024;

  private final Session session;
  private LeafReader leaf;
  /** The first document from the middle on with a value. */
  private int middle;
  /** Values of all documents. */
  private long count;

  public static void main(String[] args) throws Exception {
    if (args[1].equals("workloads")) {
      Workloads.main(args);
      return;
    }
    if (args[1].equals("facet")) {
      Workloads.facetOf(args[2], args[3]);
      return;
    }
    if (args[1].equals("archive")) {
      Archive.main(args);
      return;
    }
    if (args[1].startsWith("three")) {
      three(args);
      return;
    }
    Main main = new Main(new Session(args));
    main.prepare();
    DirectoryReader reader = main.open();
    main.leaf = reader.leaves().get(0).reader();
    switch (main.session.column) {
      case "host":
        main.host();
        break;
      case "url":
        main.url();
        break;
      case "tags":
        main.tags();
        break;
      default:
        main.numbers();
    }
    reader.close();
  }

  private Main(Session session) {
    this.session = session;
  }

  private DirectoryReader open() throws IOException {
    return DirectoryReader.open(new MMapDirectory(session.folder));
  }

  // Building.

  /** Generates the values, reports their sum, and builds the index if it is missing. */
  private void prepare() throws Exception {
    int docs = session.docs;
    long sum = 0;
    count = docs;
    middle = docs / 2;
    IntFunction<Document> made;
    Document document = new Document();
    Document empty = new Document();
    switch (session.column) {
      case "host":
      case "url":
        {
          boolean sorted = session.column.equals("host");
          Data.Strings strings = sorted ? Data.hosts(docs) : Data.urls(docs);
          for (int i = 0; i < strings.offsets[docs]; i++) {
            sum = sum * 31 + strings.bytes[i];
          }
          BytesRef value = new BytesRef(strings.bytes);
          document.add(sorted ? session.term(FIELD, value) : new BinaryDocValuesField(FIELD, value));
          made =
              doc -> {
                value.offset = strings.offsets[doc];
                value.length = strings.offsets[doc + 1] - value.offset;
                return document;
              };
          break;
        }
      case "tags":
        {
          int[][] ids = Data.tagIds(docs);
          BytesRef[] names = new BytesRef[1000];
          for (int id = 0; id < names.length; id++) {
            names[id] = new BytesRef(Data.tagName(id));
          }
          Document[] documents = new Document[6];
          Field[][] fields = new Field[6][];
          for (int many = 0; many < 6; many++) {
            documents[many] = new Document();
            fields[many] = new Field[many];
            for (int i = 0; i < many; i++) {
              fields[many][i] = new SortedSetDocValuesField(FIELD, names[0]);
              documents[many].add(fields[many][i]);
            }
          }
          count = 0;
          for (int[] some : ids) {
            for (int id : some) {
              sum = sum * 31 + id;
            }
            count += some.length;
          }
          while (ids[middle].length == 0) {
            middle++;
          }
          made =
              doc -> {
                int[] some = ids[doc];
                for (int i = 0; i < some.length; i++) {
                  fields[some.length][i].setBytesValue(names[some[i]]);
                }
                return documents[some.length];
              };
          break;
        }
      default:
        {
          Data.Numbers numbers = Data.numbers(session.column, docs);
          for (long value : numbers.values) {
            sum += value;
          }
          BitSet present = numbers.present;
          Field field = session.number(FIELD, Version.filtered(session.column));
          document.add(field);
          if (present != null) {
            count = present.cardinality();
            middle = present.nextSetBit(middle);
          }
          made =
              doc -> {
                if (present != null && !present.get(doc)) {
                  return empty;
                }
                field.setLongValue(numbers.values[doc]);
                return document;
              };
        }
    }
    session.tell("data", "", 1, 0, 0, sum, "data");
    if (session.wants("build") || !Files.exists(session.folder)) {
      if (session.wants("build")) {
        // The JIT compiler warms up on fewer documents.
        for (int round = 0; round < 2; round++) {
          build(made, Math.min(docs, 200_000));
        }
      }
      double[] start = Session.now();
      build(made, docs);
      double[] end = Session.now();
      if (session.wants("build")) {
        session.tell("build", "", docs, end[0] - start[0], end[1] - start[1], 0, "nothing");
      }
    }
    long bytes = 0;
    try (Stream<Path> files = Files.list(session.folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        // Doc values, their metadata, skip index and presence; other files do not depend on the column.
        if (file.toString().matches(".*\\.dv[dmsp]")) {
          bytes += Files.size(file);
        }
      }
    }
    if (session.wants("bytes")) {
      session.tell("bytes", "", bytes, 0, 0, 0, "nothing");
    }
  }

  /** One segment, written by this thread alone, closed and synced. */
  private void build(IntFunction<Document> made, int docs) throws IOException {
    if (Files.exists(session.folder)) {
      try (Stream<Path> files = Files.list(session.folder)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Files.delete(file);
        }
      }
    }
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(2_000);
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setMergeScheduler(new SerialMergeScheduler());
    config.setUseCompoundFile(false);
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(session.folder), config)) {
      Iterable<Document> all =
          () ->
              new Iterator<Document>() {
                private int next = 0;

                @Override
                public boolean hasNext() {
                  return next < docs;
                }

                @Override
                public Document next() {
                  return made.apply(next++);
                }
              };
      writer.addDocuments(all);
      writer.commit();
    }
    try (DirectoryReader reader = open()) {
      if (reader.leaves().size() != 1) {
        throw new AssertionError(reader.leaves().size() + " segments");
      }
    }
  }

  // Reading.

  /** An iterator over ascending documents, which is replaced for a step back. */
  private interface Lookup {
    void rewind() throws IOException;

    long look(int doc) throws IOException;
  }

  private void gathers(String api, String of, Lookup lookup) throws Exception {
    ascending("get-1", api, of, Data.hits(session.docs, 100), lookup);
    ascending("gather-0.01", api, of, Data.hits(session.docs, 1), lookup);
    int[] random = Data.randomDocs(session.docs, LOOKUPS);
    session.measure(
        "random-single",
        api,
        random.length,
        of,
        () -> {
          long total = 0;
          int last = Integer.MAX_VALUE;
          for (int doc : random) {
            if (doc < last) {
              lookup.rewind();
            }
            total += lookup.look(doc);
            last = doc;
          }
          return total;
        });
    take(api, of, random, lookup, false);
    take("sort, " + api, of, random, lookup, true);
  }

  /** Calls of {@code take}, each with a new iterator; documents in the order of the request, or sorted. */
  private void take(String api, String of, int[] random, Lookup lookup, boolean sorted) throws Exception {
    int calls = random.length / TAKEN;
    int[] wanted = new int[TAKEN];
    session.measure(
        "take",
        api,
        calls,
        of,
        () -> {
          long total = 0;
          for (int call = 0; call < calls; call++) {
            System.arraycopy(random, call * TAKEN, wanted, 0, TAKEN);
            if (sorted) {
              Arrays.sort(wanted);
            }
            int last = Integer.MAX_VALUE;
            for (int doc : wanted) {
              if (doc < last) {
                lookup.rewind();
              }
              total += lookup.look(doc);
              last = doc;
            }
          }
          return total;
        });
  }

  /** Three columns in an index each, one document at a time. */
  private static void three(String[] args) throws Exception {
    Session session = new Session(args);
    String[] columns = {"ts", session.column.equals("three") ? "size" : "price60", "host"};
    LeafReader[] leaves = new LeafReader[3];
    for (int i = 0; i < 3; i++) {
      String[] part = args.clone();
      part[1] = columns[i];
      part[5] = "";
      Main main = new Main(new Session(part));
      main.prepare();
      leaves[i] = main.open().leaves().get(0).reader();
    }
    int[] hits = Data.hits(session.docs, 100);
    session.measure(
        "three-columns",
        "advanceExact",
        hits.length,
        "values",
        () -> {
          NumericDocValues first = leaves[0].getNumericDocValues(FIELD);
          NumericDocValues second = leaves[1].getNumericDocValues(FIELD);
          SortedDocValues third = leaves[2].getSortedDocValues(FIELD);
          long total = 0;
          for (int doc : hits) {
            total += first.advanceExact(doc) ? first.longValue() + 1 : 0;
            total += second.advanceExact(doc) ? second.longValue() + 1 : 0;
            total += third.advanceExact(doc) ? third.ordValue() + 1 : 0;
          }
          return total;
        });
  }

  private void ascending(String work, String api, String of, int[] docs, Lookup lookup) throws Exception {
    session.measure(
        work,
        api,
        docs.length,
        of,
        () -> {
          lookup.rewind();
          long total = 0;
          for (int doc : docs) {
            total += lookup.look(doc);
          }
          return total;
        });
  }

  private void numbers() throws Exception {
    int docs = session.docs;
    session.measure(
        "open",
        "open, advanceExact",
        1,
        "values",
        () -> {
          try (DirectoryReader reader = open()) {
            NumericDocValues values = session.numbers(reader.leaves().get(0).reader(), FIELD);
            values.advanceExact(middle);
            return values.longValue();
          }
        });
    boolean dense = count == docs;
    if (dense) {
      session.measure("scan", "advanceExact", count, "values", this::scanExactly);
      session.measure("scan", "nextDoc", count, "values", this::scanDense);
      if (Version.hasBulk()) {
        int[] wanted = new int[BATCH];
        long[] out = new long[BATCH];
        session.measure(
            "scan",
            "longValues",
            count,
            "values",
            () -> {
              NumericDocValues values = session.numbers(leaf, FIELD);
              long total = 0;
              for (int start = 0; start < docs; start += BATCH) {
                int len = Math.min(BATCH, docs - start);
                for (int i = 0; i < len; i++) {
                  wanted[i] = start + i;
                }
                Version.longValues(values, len, wanted, out);
                for (int i = 0; i < len; i++) {
                  total += out[i];
                }
              }
              return total;
            });
      }
    } else {
      session.measure("scan", "nextDoc", count, "values", this::scanSparse);
    }
    if (dense && Version.hasBulk()) {
      bulk("gather-1", Data.hits(docs, 100));
      bulk("gather-0.01", Data.hits(docs, 1));
      takeBulk();
    }
    gathers(
        "advanceExact",
        "values",
        new Lookup() {
          private NumericDocValues values;

          @Override
          public void rewind() throws IOException {
            values = session.numbers(leaf, FIELD);
          }

          @Override
          public long look(int doc) throws IOException {
            return values.advanceExact(doc) ? values.longValue() + 1 : 0;
          }
        });
    if (Version.filtered(session.column)) {
      range();
    }
  }

  private long scanExactly() throws IOException {
    NumericDocValues values = session.numbers(leaf, FIELD);
    long total = 0;
    for (int doc = 0, docs = session.docs; doc < docs; doc++) {
      values.advanceExact(doc);
      total += values.longValue();
    }
    return total;
  }

  private long scanDense() throws IOException {
    NumericDocValues values = session.numbers(leaf, FIELD);
    long total = 0;
    while (values.nextDoc() != NumericDocValues.NO_MORE_DOCS) {
      total += values.longValue();
    }
    return total;
  }

  private long scanSparse() throws IOException {
    NumericDocValues values = session.numbers(leaf, FIELD);
    long total = 0;
    for (int doc = values.nextDoc(); doc != NumericDocValues.NO_MORE_DOCS; doc = values.nextDoc()) {
      total += values.longValue() + doc;
    }
    return total;
  }

  private void bulk(String work, int[] docs) throws Exception {
    int[] wanted = new int[BATCH];
    long[] out = new long[BATCH];
    session.measure(
        work,
        "longValues",
        docs.length,
        "values",
        () -> {
          NumericDocValues values = session.numbers(leaf, FIELD);
          long total = docs.length;
          for (int start = 0; start < docs.length; start += BATCH) {
            int len = Math.min(BATCH, docs.length - start);
            System.arraycopy(docs, start, wanted, 0, len);
            Version.longValues(values, len, wanted, out);
            for (int i = 0; i < len; i++) {
              total += out[i];
            }
          }
          return total;
        });
  }

  /** Calls of {@code take} through the batch API, whose documents must ascend. */
  private void takeBulk() throws Exception {
    int[] random = Data.randomDocs(session.docs, LOOKUPS);
    int calls = random.length / TAKEN;
    int[] wanted = new int[TAKEN];
    long[] out = new long[TAKEN];
    session.measure(
        "take",
        "sort, longValues",
        calls,
        "values",
        () -> {
          long total = (long) calls * TAKEN;
          for (int call = 0; call < calls; call++) {
            System.arraycopy(random, call * TAKEN, wanted, 0, TAKEN);
            Arrays.sort(wanted);
            Version.longValues(session.numbers(leaf, FIELD), TAKEN, wanted, out);
            for (long value : out) {
              total += value;
            }
          }
          return total;
        });
  }

  /** The start of a range that matches 1 % of the documents. */
  static long low(String column, int docs) {
    switch (column) {
      case "ts":
        return 1_500_000_000_000L + docs * 500L;
      case "uni24":
        return 0;
      default:
        return 1 << 19;
    }
  }

  /** The greatest value of the range. */
  static long high(String column, int docs) {
    switch (column) {
      case "ts":
        return low(column, docs) + docs * 10L;
      case "uni24":
        return 167_771;
      default:
        return low(column, docs) + (1 << 17) - 1;
    }
  }

  private void range() throws Exception {
    int docs = session.docs;
    long low = low(session.column, docs);
    long high = high(session.column, docs);
    FixedBitSet bits = new FixedBitSet(docs);
    session.measure(
        "range",
        "advanceExact into a bitset",
        docs,
        "values",
        () -> {
          bits.clear(0, docs);
          NumericDocValues values = session.numbers(leaf, FIELD);
          for (int doc = 0; doc < docs; doc++) {
            values.advanceExact(doc);
            long value = values.longValue();
            if (value >= low && value <= high) {
              bits.set(doc);
            }
          }
          return bits.cardinality();
        });
    Version.ranges(session, "range", leaf, FIELD, low, high, bits);
  }

  /** The sum of a string: its length and two of its bytes, so that they are really read. */
  static long touch(BytesRef bytes) {
    byte[] all = bytes.bytes;
    int start = bytes.offset;
    int len = bytes.length;
    return len + 3L * all[start + len / 3] + 7L * all[start + len - 1];
  }

  private void host() throws Exception {
    session.measure(
        "open",
        "open, advanceExact, lookupOrd",
        1,
        "strings",
        () -> {
          try (DirectoryReader reader = open()) {
            SortedDocValues values = session.terms(reader.leaves().get(0).reader(), FIELD);
            values.advanceExact(middle);
            return touch(values.lookupOrd(values.ordValue()));
          }
        });
    session.measure(
        "scan",
        "nextDoc",
        count,
        "values",
        () -> {
          SortedDocValues values = session.terms(leaf, FIELD);
          long total = 0;
          while (values.nextDoc() != SortedDocValues.NO_MORE_DOCS) {
            total += values.ordValue();
          }
          return total;
        });
    gathers(
        "advanceExact",
        "values",
        new Lookup() {
          private SortedDocValues values;

          @Override
          public void rewind() throws IOException {
            values = session.terms(leaf, FIELD);
          }

          @Override
          public long look(int doc) throws IOException {
            return values.advanceExact(doc) ? values.ordValue() + 1 : 0;
          }
        });

    int[] ids = Arrays.stream(Data.hostIds(session.docs)).sorted().distinct().toArray();
    int[] ords = Data.randomDocs(ids.length, LOOKUPS);
    BytesRef[] names = new BytesRef[ids.length];
    for (int i = 0; i < ids.length; i++) {
      names[i] = new BytesRef(Data.hostName(ids[i]));
    }
    SortedDocValues values = session.terms(leaf, FIELD);
    session.measure(
        "terms",
        "lookupOrd",
        ords.length,
        "strings",
        () -> {
          long total = 0;
          for (int ord : ords) {
            total += touch(values.lookupOrd(ord));
          }
          return total;
        });
    session.measure(
        "terms-batch",
        "sort, lookupOrd",
        ords.length,
        "strings",
        () -> {
          int[] sorted = ords.clone();
          Arrays.sort(sorted);
          long total = 0;
          int last = -1;
          BytesRef term = null;
          for (int ord : sorted) {
            if (ord != last) {
              term = values.lookupOrd(ord);
              last = ord;
            }
            total += touch(term);
          }
          return total;
        });
    session.measure(
        "seek",
        "lookupTerm",
        ords.length,
        "values",
        () -> {
          long total = 0;
          for (int ord : ords) {
            total += values.lookupTerm(names[ord]);
          }
          return total;
        });
  }

  private void url() throws Exception {
    session.measure(
        "open",
        "open, advanceExact",
        1,
        "strings",
        () -> {
          try (DirectoryReader reader = open()) {
            BinaryDocValues values = reader.leaves().get(0).reader().getBinaryDocValues(FIELD);
            values.advanceExact(middle);
            return touch(values.binaryValue());
          }
        });
    session.measure(
        "scan",
        "nextDoc",
        count,
        "strings",
        () -> {
          BinaryDocValues values = leaf.getBinaryDocValues(FIELD);
          long total = 0;
          while (values.nextDoc() != BinaryDocValues.NO_MORE_DOCS) {
            total += touch(values.binaryValue());
          }
          return total;
        });
    gathers(
        "advanceExact",
        "strings",
        new Lookup() {
          private BinaryDocValues values;

          @Override
          public void rewind() throws IOException {
            values = leaf.getBinaryDocValues(FIELD);
          }

          @Override
          public long look(int doc) throws IOException {
            return values.advanceExact(doc) ? touch(values.binaryValue()) : 0;
          }
        });
  }

  private void tags() throws Exception {
    session.measure(
        "open",
        "open, advanceExact",
        1,
        "values",
        () -> {
          try (DirectoryReader reader = open()) {
            SortedSetDocValues values = reader.leaves().get(0).reader().getSortedSetDocValues(FIELD);
            values.advanceExact(middle);
            return Version.ords(values, 0);
          }
        });
    session.measure(
        "scan",
        "nextDoc",
        count,
        "values",
        () -> {
          SortedSetDocValues values = leaf.getSortedSetDocValues(FIELD);
          long total = 0;
          for (int doc = values.nextDoc(); doc != NumericDocValues.NO_MORE_DOCS; doc = values.nextDoc()) {
            total += Version.ords(values, doc);
          }
          return total;
        });
    gathers(
        "advanceExact",
        "values",
        new Lookup() {
          private SortedSetDocValues values;

          @Override
          public void rewind() throws IOException {
            values = leaf.getSortedSetDocValues(FIELD);
          }

          @Override
          public long look(int doc) throws IOException {
            return values.advanceExact(doc) ? Version.ords(values, 1) : 0;
          }
        });
  }
}
