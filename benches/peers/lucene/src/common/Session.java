import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.SortedNumericDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.util.BytesRef;

/** The arguments of a measuring process. Prints a line of JSON for each measurement. */
final class Session {
  /** Work that adds up what it got. */
  interface Body {
    long run() throws Exception;
  }

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  /** Nanoseconds of a sample. */
  private static final double SAMPLE = 1e6;

  final String version;
  /** Whether fields are lists of one value without a skip index, as Elasticsearch writes them: versions such as 10.5.0-lists. */
  final boolean lists;
  final String column;
  final int docs;
  final Path folder;
  private final double budget;
  private final double warmUp;
  private final Set<String> workloads;

  /** VERSION COLUMN DOCS FOLDER MILLISECONDS WORK,WORK... */
  Session(String[] args) {
    version = args[0];
    lists = version.endsWith("-lists");
    column = args[1];
    docs = Integer.parseInt(args[2]);
    folder = Paths.get(args[3]).resolve(column + ".lucene-" + version);
    budget = Double.parseDouble(args[4]) * 1e6;
    warmUp = Math.max(4 * budget, 2.5e8);
    workloads = new HashSet<>(Arrays.asList(args[5].split(",")));
  }

  Field number(String name, boolean filtered) {
    if (lists) {
      return new SortedNumericDocValuesField(name, 0L);
    }
    return filtered ? Version.skipIndexed(name) : new NumericDocValuesField(name, 0L);
  }

  Field term(String name, BytesRef value) {
    return lists ? new SortedSetDocValuesField(name, value) : new SortedDocValuesField(name, value);
  }

  NumericDocValues numbers(LeafReader leaf, String field) throws IOException {
    return lists
        ? DocValues.unwrapSingleton(leaf.getSortedNumericDocValues(field))
        : leaf.getNumericDocValues(field);
  }

  SortedDocValues terms(LeafReader leaf, String field) throws IOException {
    return lists ? DocValues.unwrapSingleton(leaf.getSortedSetDocValues(field)) : leaf.getSortedDocValues(field);
  }

  boolean wants(String work) {
    return workloads.contains(work);
  }

  /** Measures body, which does so many units, after the compiler had its time. */
  void measure(String work, String api, long units, String of, Body body) throws Exception {
    if (wants(work) && units > 0) {
      measureAny(work, api, units, of, body);
    }
  }

  /** As measure, whether the work was asked for or not. */
  void measureAny(String work, String api, long units, String of, Body body) throws Exception {
    long checksum = body.run();
    int runs = 1;
    for (double spent = 0, count = 0; spent < warmUp || count < 5 && spent < 10 * warmUp; count++) {
      double took = time(body, runs, checksum)[0];
      spent += took;
      runs = (int) Math.max(1, Math.min(1e6, Math.ceil(SAMPLE / Math.max(1, took / runs))));
    }
    double[] cpu = new double[1000];
    double[] wall = new double[1000];
    int samples = 0;
    for (double spent = 0;
        samples < 1000 && spent < budget || samples < 3 && spent < 10 * budget;
        samples++) {
      double[] took = time(body, runs, checksum);
      spent += took[0];
      cpu[samples] = took[0] / runs;
      wall[samples] = took[1] / runs;
    }
    Arrays.sort(cpu, 0, samples);
    Arrays.sort(wall, 0, samples);
    tell(work, api, units, cpu[samples / 2], wall[samples / 2], checksum, of);
  }

  static double[] now() {
    return new double[] {THREADS.getCurrentThreadCpuTime(), System.nanoTime()};
  }

  private static double[] time(Body body, int runs, long checksum) throws Exception {
    double[] start = now();
    for (int run = 0; run < runs; run++) {
      if (body.run() != checksum) {
        throw new AssertionError("another answer than before");
      }
    }
    double[] end = now();
    return new double[] {end[0] - start[0], end[1] - start[1]};
  }

  void tell(String work, String api, long units, double cpu, double wall, long checksum, String of) {
    System.out.println(
        String.format(
            Locale.ROOT,
            "{\"peer\":\"lucene\",\"version\":\"%s\",\"work\":\"%s\",\"column\":\"%s\",\"api\":\"%s\","
                + "\"docs\":%d,\"units\":%d,\"ns_cpu\":%f,\"ns_wall\":%f,\"checksum\":%d,\"of\":\"%s\"}",
            version, work, column, api, docs, units, cpu, wall, checksum, of));
  }
}
