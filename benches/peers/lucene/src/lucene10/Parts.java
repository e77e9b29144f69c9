import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.OrdinalMap;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.LongValues;
import org.apache.lucene.util.packed.PackedInts;

/**
 * Searches over the same documents in several segments: the workloads of examples/parts.rs.
 *
 * <p>Facets are counted in loops written by hand, as SortedSetDocValuesFacetCounts counts them: by the ords of a
 * segment if it has many hits, otherwise straight through the ordinal map.
 */
final class Parts {
  private static final String[] NUMBERS = {"ts", "size"};
  private static final int TOP = 10;

  private final Session session;
  private final int count;

  /** VERSION parts DOCS FOLDER MILLISECONDS COUNT */
  public static void main(String[] args) throws Exception {
    new Parts(new Session(args), Integer.parseInt(args[5])).run();
  }

  private Parts(Session session, int count) {
    this.session = session;
    this.count = count;
  }

  private void run() throws Exception {
    Path folder = session.folder.resolveSibling(session.folder.getFileName() + "-" + count);
    if (!Files.exists(folder)) {
      build(folder);
    }
    measure("opening and the first facet", () -> {
      try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(folder))) {
        return facet(reader, ordinals(reader), null);
      }
    });
    try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(folder))) {
      List<LeafReaderContext> leaves = reader.leaves();
      if (leaves.size() != count) {
        throw new AssertionError(leaves.size() + " segments");
      }
      measure("identities", () -> ordinals(reader).getValueCount());
      OrdinalMap ordinals = ordinals(reader);
      int[][] few = hits(leaves, 100);
      int[][] some = hits(leaves, 1_000);
      measure("facet host 1 %", () -> facet(reader, ordinals, few));
      measure("facet host 10 %", () -> facet(reader, ordinals, some));
      measure("facet host 100 %", () -> facet(reader, ordinals, null));
      IndexSearcher searcher = new IndexSearcher(reader);
      searcher.setQueryCache(null);
      Sort sort = new Sort(new SortField("size", SortField.Type.LONG, true));
      measure("top 20 size 100 %", () -> searcher.search(new MatchAllDocsQuery(), 20, sort).scoreDocs[19].doc);
      long[] ts = Data.numbers("ts", session.docs).values;
      long low = Arrays.stream(ts).min().getAsLong();
      long width = (Arrays.stream(ts).max().getAsLong() - low) / 100;
      Query range = NumericDocValuesField.newSlowRangeQuery("ts", low + 40 * width, low + 41 * width - 1);
      measure("count a range of ts 1 %", () -> searcher.count(range));
    }
  }

  private void measure(String work, Session.Body body) throws Exception {
    session.measureAny(work, "", 1, "answers", body);
  }

  private static OrdinalMap ordinals(DirectoryReader reader) throws IOException {
    List<LeafReaderContext> leaves = reader.leaves();
    SortedDocValues[] values = new SortedDocValues[leaves.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = leaves.get(i).reader().getSortedDocValues("host");
    }
    return OrdinalMap.build(null, values, PackedInts.DEFAULT);
  }

  /** The hits of each segment. */
  private int[][] hits(List<LeafReaderContext> leaves, int perTenThousand) {
    int[] all = Data.hits(session.docs, perTenThousand);
    int[][] hits = new int[leaves.size()][];
    for (LeafReaderContext leaf : leaves) {
      int end = leaf.docBase + leaf.reader().maxDoc();
      hits[leaf.ord] =
          Arrays.stream(all)
              .filter(doc -> doc >= leaf.docBase && doc < end)
              .map(doc -> doc - leaf.docBase)
              .toArray();
    }
    return hits;
  }

  /** The counts of the most frequent hosts among the hits of each segment; null for all documents. */
  private static long facet(DirectoryReader reader, OrdinalMap ordinals, int[][] hits) throws IOException {
    int[] counts = new int[(int) ordinals.getValueCount()];
    for (LeafReaderContext leaf : reader.leaves()) {
      SortedDocValues hosts = leaf.reader().getSortedDocValues("host");
      LongValues global = ordinals.getGlobalOrds(leaf.ord);
      int[] docs = hits == null ? null : hits[leaf.ord];
      int found = docs == null ? leaf.reader().maxDoc() : docs.length;
      if (found < hosts.getValueCount() / 10) {
        for (int doc : docs) {
          if (hosts.advanceExact(doc)) {
            counts[(int) global.get(hosts.ordValue())]++;
          }
        }
        continue;
      }
      int[] own = new int[hosts.getValueCount()];
      if (docs == null) {
        while (hosts.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
          own[hosts.ordValue()]++;
        }
      } else {
        for (int doc : docs) {
          if (hosts.advanceExact(doc)) {
            own[hosts.ordValue()]++;
          }
        }
      }
      for (int ord = 0; ord < own.length; ord++) {
        if (own[ord] > 0) {
          counts[(int) global.get(ord)] += own[ord];
        }
      }
    }
    int[] best = new int[TOP];
    for (int found : counts) {
      if (found > best[0]) {
        best[0] = found;
        Arrays.sort(best);
      }
    }
    return Arrays.stream(best).asLongStream().sum();
  }

  private void build(Path folder) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(2_000);
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setMergeScheduler(new SerialMergeScheduler());
    config.setUseCompoundFile(false);
    Path making = folder.resolveSibling(folder.getFileName() + ".tmp");
    long[][] numbers = new long[NUMBERS.length][];
    for (int i = 0; i < NUMBERS.length; i++) {
      numbers[i] = Data.numbers(NUMBERS[i], session.docs).values;
    }
    Data.Strings hosts = Data.hosts(session.docs);
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(making), config)) {
      for (int part = 0; part < count; part++) {
        writer.addDocuments(documents(numbers, hosts, start(part), start(part + 1)));
        // A segment for each part.
        writer.flush();
      }
      writer.commit();
    }
    Files.move(making, folder);
  }

  /** The first document of a part, as in examples/parts.rs. */
  private int start(int part) {
    long start = (long) session.docs * part / count;
    return part == count ? session.docs : (int) (start / 64 * 64);
  }

  private static Iterable<Document> documents(long[][] numbers, Data.Strings hosts, int start, int end) {
    Document document = new Document();
    Field[] fields = new Field[NUMBERS.length];
    for (int i = 0; i < NUMBERS.length; i++) {
      fields[i] = Version.skipIndexed(NUMBERS[i]);
      document.add(fields[i]);
    }
    BytesRef host = new BytesRef(hosts.bytes);
    document.add(new SortedDocValuesField("host", host));
    return () ->
        new Iterator<Document>() {
          private int next = start;

          @Override
          public boolean hasNext() {
            return next < end;
          }

          @Override
          public Document next() {
            for (int i = 0; i < fields.length; i++) {
              fields[i].setLongValue(numbers[i][next]);
            }
            host.offset = hosts.offsets[next];
            host.length = hosts.offsets[next + 1] - host.offset;
            next++;
            return document;
          }
        };
  }
}
