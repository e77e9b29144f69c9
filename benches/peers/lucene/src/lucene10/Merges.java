import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Merges the segments of an index into one: the workload of src/bin/merges.rs.
 *
 * <p>The CPU time is that of the process, so that it includes the collector.
 */
final class Merges {
  private static final String[] NUMBERS = {
    "ts", "size", "status", "price60", "rare1", "uni24", "price60"
  };
  private static final int WARM_UP = 3;
  private static final int ROUNDS = 5;

  private final Session session;
  private final int count;

  /** VERSION merges DOCS FOLDER MILLISECONDS COUNT */
  public static void main(String[] args) throws Exception {
    new Merges(new Session(args), Integer.parseInt(args[5])).run();
  }

  private Merges(Session session, int count) {
    this.session = session;
    this.count = count;
  }

  private void run() throws Exception {
    Path folder =
        session.folder.resolveSibling(session.folder.getFileName() + "-" + session.docs + "-" + count);
    if (!Files.exists(folder)) {
      build(folder);
    }
    double[] took = new double[ROUNDS];
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      Path copy = folder.resolveSibling("merged");
      copy(folder, copy);
      double cpu = merge(copy);
      if (round >= 0) {
        took[round] = cpu;
      }
      remove(copy);
    }
    Arrays.sort(took);
    session.tell("merge", "forceMerge", session.docs, took[ROUNDS / 2], 0, 1, "documents");
  }

  /** Merges an index into one segment. Returns the CPU time of the process in nanoseconds. */
  private double merge(Path folder) throws IOException {
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    IndexWriterConfig config = new IndexWriterConfig();
    TieredMergePolicy policy = new TieredMergePolicy();
    policy.setNoCFSRatio(0);
    config.setMergePolicy(policy);
    config.setMergeScheduler(new SerialMergeScheduler());
    config.setUseCompoundFile(false);
    double cpu;
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(folder), config)) {
      long start = process.getProcessCpuTime();
      writer.forceMerge(1);
      cpu = process.getProcessCpuTime() - start;
      writer.commit();
    }
    try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(folder))) {
      if (reader.leaves().size() != 1 || reader.maxDoc() != session.docs) {
        throw new AssertionError("not merged");
      }
    }
    return cpu;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from)) {
      for (Path file : files) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static void remove(Path folder) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  private void build(Path folder) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(2_000);
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setUseCompoundFile(false);
    Path making = folder.resolveSibling(folder.getFileName() + ".tmp");
    int docs = session.docs;
    Data.Numbers[] numbers = new Data.Numbers[NUMBERS.length];
    for (int i = 0; i < NUMBERS.length; i++) {
      numbers[i] = Data.numbers(NUMBERS[i], docs);
    }
    Data.Strings hosts = Data.hosts(docs);
    Data.Strings urls = Data.urls(docs);
    int[][] tags = Data.tagIds(docs);
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(making), config)) {
      for (int part = 0; part < count; part++) {
        for (int doc = start(part); doc < start(part + 1); doc++) {
          Document document = new Document();
          for (int i = 0; i < numbers.length; i++) {
            if (numbers[i].present == null || numbers[i].present.get(doc)) {
              document.add(new NumericDocValuesField("n" + i, numbers[i].values[doc]));
            }
          }
          document.add(new SortedDocValuesField("host", string(hosts, doc)));
          document.add(new BinaryDocValuesField("url", string(urls, doc)));
          for (int tag : tags[doc]) {
            document.add(new SortedSetDocValuesField("tags", new BytesRef(Data.tagName(tag))));
          }
          writer.addDocument(document);
        }
        // A segment for each part.
        writer.flush();
      }
      writer.commit();
    }
    Files.move(making, folder);
  }

  private static BytesRef string(Data.Strings strings, int doc) {
    int start = strings.offsets[doc];
    return new BytesRef(strings.bytes, start, strings.offsets[doc + 1] - start);
  }

  /** The first document of a part, as in src/bin/merges.rs. */
  private int start(int part) {
    long start = (long) session.docs * part / count;
    return part == count ? session.docs : (int) (start / 64 * 64);
  }
}
