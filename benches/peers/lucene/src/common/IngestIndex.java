import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.bloom.DefaultBloomFilterFactory;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;

/**
 * An index whose documents have ids and versions, kept as Elasticsearch keeps them: a map of the versions since the
 * last refresh, then a look-up in every segment.
 */
final class IngestIndex implements Closeable {
  private static final String ID = "_id";
  private static final String VERSION = "_version";
  private static final int STRIPES = 65_536;

  final IndexWriter writer;
  private final AtomicReference<DirectoryReader> reader = new AtomicReference<>();
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];
  private volatile Map<BytesRef, Long> recent = new ConcurrentHashMap<>();
  /** The versions that a running refresh makes visible. */
  private volatile Map<BytesRef, Long> refreshing = new ConcurrentHashMap<>();

  IngestIndex(Path folder, MergePolicy policy, boolean bloom) throws IOException {
    writer = new IndexWriter(new MMapDirectory(folder), config(64, policy, bloom));
    reader.set(DirectoryReader.open(writer));
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new ReentrantLock();
    }
  }

  private static IndexWriterConfig config(int bufferMb, MergePolicy policy, boolean bloom) {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(bufferMb);
    config.setMergePolicy(policy);
    config.setUseCompoundFile(false);
    if (bloom) {
      config.setCodec(Ids.withBloom(Codec.getDefault(), new DefaultBloomFilterFactory()));
    }
    return config;
  }

  /** The default policy, which leaves segments alone that have this many bytes or more. */
  static MergePolicy tiered(long largest) {
    TieredMergePolicy policy = new TieredMergePolicy();
    policy.setNoCFSRatio(0);
    if (largest > 0) {
      // Segments of more than half of the maximum are not merged.
      policy.setMaxMergedSegmentMB(1.9 * largest / (1 << 20));
    }
    return policy;
  }

  /** The newest reader, which the caller closes with decRef. */
  DirectoryReader acquire() {
    while (true) {
      DirectoryReader now = reader.get();
      if (now.tryIncRef()) {
        return now;
      }
    }
  }

  /** Makes documents visible. */
  synchronized void refresh() throws IOException {
    refreshing = recent;
    recent = new ConcurrentHashMap<>();
    DirectoryReader old = reader.get();
    DirectoryReader next = DirectoryReader.openIfChanged(old);
    if (next != null) {
      reader.set(next);
      old.decRef();
    }
    refreshing = new ConcurrentHashMap<>();
  }

  @Override
  public void close() throws IOException {
    reader.get().close();
    writer.close();
  }

  /** The version of the newest document with an id, or -1. */
  private long current(BytesRef id, Lookup lookup) throws IOException {
    Long found = recent.get(id);
    if (found == null) {
      found = refreshing.get(id);
    }
    if (found != null) {
      return found;
    }
    DirectoryReader now = acquire();
    try {
      return lookup.version(now, id);
    } finally {
      now.decRef();
    }
  }

  /** The document and the look-up of one thread. */
  static final class Worker {
    private final boolean withId;
    private final List<IndexableField> document = new ArrayList<>();
    private final Field[] numbers = new Field[IngestDocs.NUMBERS.length];
    private final SortedDocValuesField host = new SortedDocValuesField("host", new BytesRef());
    private final SortedDocValuesField status = new SortedDocValuesField("status", new BytesRef());
    private final BinaryDocValuesField paths = new BinaryDocValuesField("path", new BytesRef());
    private final NumericDocValuesField versions = new NumericDocValuesField(VERSION, 0);
    private final Lookup lookup = new Lookup();

    Worker(boolean withId) {
      this.withId = withId;
      for (int i = 0; i < numbers.length; i++) {
        String name = IngestDocs.NUMBERS[i];
        // Searches of the mixed load sort by it; the store has a skip index for each column of numbers.
        numbers[i] = name.equals("size") ? Version.skipIndexed(name) : new NumericDocValuesField(name, 0);
        document.add(numbers[i]);
      }
      document.add(host);
      document.add(status);
      document.add(paths);
      if (withId) {
        document.add(versions);
        // Before Lucene 10, the value of an indexed field of bytes cannot be set.
        document.add(null);
      }
    }

    private BytesRef set(IngestDocs docs, int at, long version) {
      for (int i = 0; i < numbers.length; i++) {
        numbers[i].setLongValue(docs.numbers[i][at]);
      }
      host.setBytesValue(docs.hosts[at]);
      status.setBytesValue(docs.statuses[at]);
      paths.setBytesValue(
          new BytesRef(docs.paths, at * IngestDocs.PATH_LEN, IngestDocs.PATH_LEN));
      if (!withId) {
        return null;
      }
      BytesRef id = new BytesRef(docs.ids, at * IngestDocs.ID_LEN, IngestDocs.ID_LEN);
      document.set(document.size() - 1, new StringField(ID, id, Field.Store.NO));
      versions.setLongValue(version);
      return id;
    }
  }

  void add(Worker worker, IngestDocs docs, int at, long version) throws IOException {
    worker.set(docs, at, version);
    writer.addDocument(worker.document);
  }

  void update(Worker worker, IngestDocs docs, int at, long version) throws IOException {
    BytesRef id = worker.set(docs, at, version);
    writer.updateDocument(new Term(ID, id), worker.document);
  }

  /** Adds or replaces a document if its version is newer. Returns whether it was. */
  boolean upsert(Worker worker, IngestDocs docs, int at, long version) throws IOException {
    BytesRef id = worker.set(docs, at, version);
    int hash = id.hashCode() * 0x9e3779b1;
    ReentrantLock stripe = stripes[hash >>> 16];
    stripe.lock();
    try {
      long current = current(id, worker.lookup);
      if (current >= version) {
        return false;
      }
      if (current < 0) {
        writer.addDocument(worker.document);
      } else {
        writer.updateDocument(new Term(ID, id), worker.document);
      }
      recent.put(id, version);
      return true;
    } finally {
      stripe.unlock();
    }
  }

  /** A TermsEnum for each segment, kept over refreshes: the state of one thread. */
  private static final class Lookup {
    private static final class Segment {
      TermsEnum terms;
      PostingsEnum postings;
    }

    private Map<Object, Segment> known = new HashMap<>();
    private DirectoryReader reader;
    private Segment[] segments;
    private LeafReader[] leaves;

    long version(DirectoryReader now, BytesRef id) throws IOException {
      if (now != reader) {
        open(now);
      }
      for (int i = segments.length - 1; i >= 0; i--) {
        Segment segment = segments[i];
        if (!segment.terms.seekExact(id)) {
          continue;
        }
        segment.postings = segment.terms.postings(segment.postings, PostingsEnum.NONE);
        Bits live = leaves[i].getLiveDocs();
        int doc = -1;
        for (int d = segment.postings.nextDoc(); d != PostingsEnum.NO_MORE_DOCS; d = segment.postings.nextDoc()) {
          doc = live == null || live.get(d) ? d : doc;
        }
        if (doc < 0) {
          continue;
        }
        NumericDocValues versions = leaves[i].getNumericDocValues(VERSION);
        if (versions.advanceExact(doc)) {
          return versions.longValue();
        }
      }
      return -1;
    }

    private void open(DirectoryReader now) throws IOException {
      List<LeafReaderContext> contexts = now.leaves();
      Map<Object, Segment> next = new HashMap<>();
      segments = new Segment[contexts.size()];
      leaves = new LeafReader[segments.length];
      for (int i = 0; i < segments.length; i++) {
        leaves[i] = contexts.get(i).reader();
        Object key = leaves[i].getCoreCacheHelper().getKey();
        segments[i] = known.get(key);
        if (segments[i] == null) {
          segments[i] = new Segment();
          segments[i].terms = leaves[i].terms(ID).iterator();
        }
        next.put(key, segments[i]);
      }
      known = next;
      reader = now;
    }
  }

  /** An index with the documents of the numbers below docs and their numbers plus 1 as versions. */
  static void build(Path folder, int docs, int segments, boolean bloom) throws IOException {
    if (Files.exists(folder)) {
      return;
    }
    Path making = folder.resolveSibling(folder.getFileName() + ".tmp");
    remove(making);
    IndexWriterConfig config = config(1_900, NoMergePolicy.INSTANCE, bloom);
    Worker worker = new Worker(true);
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(making), config)) {
      for (int segment = 0; segment < segments; segment++) {
        int end = (int) ((long) docs * (segment + 1) / segments);
        for (int first = (int) ((long) docs * segment / segments); first < end; first += 1_000) {
          IngestDocs some = new IngestDocs(first, Math.min(1_000, end - first));
          for (int at = 0; at < some.count; at++) {
            worker.set(some, at, first + at + 1L);
            writer.addDocument(worker.document);
          }
        }
        writer.flush();
      }
      writer.commit();
    }
    Files.move(making, folder);
  }

  /** A copy of an index: the files are never written again, so names for them are enough. */
  static void link(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from)) {
      for (Path file : files) {
        if (!file.endsWith("write.lock")) {
          Files.createLink(to.resolve(file.getFileName()), file);
        }
      }
    }
  }

  static void remove(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  static long bytes(Path folder) throws IOException {
    long bytes = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        bytes += Files.size(file);
      }
    }
    return bytes;
  }
}
