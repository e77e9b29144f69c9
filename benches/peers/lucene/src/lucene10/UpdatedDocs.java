import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.Version;

/** The documents of benches/src/updated_docs.rs, and the configuration of the writers that update them. */
final class UpdatedDocs {
  static final String ID = "_id";
  static final String TIME = "time";
  static final String TITLE = "title";
  private static final String[] NUMBERS = {"n1", "n2", "n3", "n4"};
  /** The most overlays of a column, from Lucene 10.6 on. */
  private static final int OVERLAYS = 8;

  static IndexWriterConfig config(int bufferMb, MergePolicy merges) throws ReflectiveOperationException {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(bufferMb);
    config.setMergePolicy(merges);
    config.setUseCompoundFile(false);
    if (Version.LATEST.onOrAfter(Version.fromBits(10, 6, 0))) {
      // Lucene 10.5 has no such method. It is off by default.
      IndexWriterConfig.class.getMethod("setMaxDocValuesOverlays", int.class).invoke(config, OVERLAYS);
    }
    return config;
  }

  /** The first document of a segment, of so many. */
  static int firstOf(int segment, int segments, int docs) {
    return (int) ((long) segment * docs / segments);
  }

  /** The fields of the document of one thread. */
  static final class Columns {
    final List<Field> fields;
    private final StringField id = new StringField(ID, new BytesRef(), Field.Store.NO);
    private final NumericDocValuesField time = new NumericDocValuesField(TIME, 0);
    private final BinaryDocValuesField title = new BinaryDocValuesField(TITLE, new BytesRef());
    private final SortedDocValuesField host = new SortedDocValuesField("host", new BytesRef());
    private final NumericDocValuesField[] numbers = new NumericDocValuesField[NUMBERS.length];

    Columns() {
      fields = new ArrayList<>(List.of(id, time, title, host));
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = new NumericDocValuesField(NUMBERS[i], 0);
        fields.add(numbers[i]);
      }
    }

    /** Sets all values: the time, and others by a seed. */
    void set(int number, long newTime, long seed) {
      id.setBytesValue(id(number));
      time.setLongValue(newTime);
      title.setBytesValue(title(seed));
      host.setBytesValue(HOSTS[(int) Long.remainderUnsigned(mix(seed ^ 2), HOSTS.length)]);
      for (int i = 0; i < numbers.length; i++) {
        numbers[i].setLongValue(mix(seed + 3 + i) >>> 44);
      }
    }
  }

  private static final String WORDS = "saltroadmoonrainfishgoldwindfirelakebirdroseironsnowleafstarmilk";
  private static final BytesRef[] HOSTS = new BytesRef[200];

  static {
    for (int i = 0; i < HOSTS.length; i++) {
      HOSTS[i] = new BytesRef(String.format(Locale.ROOT, "host-%03d.example.com", i));
    }
  }

  private static long mix(long seed) {
    return Ids.mix(seed * Ids.GAMMA);
  }

  /** The seed of the values that a document has at first. */
  static long firstSeed(int number) {
    return 16L * number + 3;
  }

  static BytesRef id(int number) {
    ByteBuffer id = ByteBuffer.allocate(16);
    id.putLong(mix(16L * number + 1)).putLong(mix(16L * number + 2));
    return new BytesRef(id.array());
  }

  static long time(long seed) {
    return mix(seed) >>> 25;
  }

  /** A title of 25 bytes: four words and five digits. */
  static BytesRef title(long seed) {
    long mixed = mix(seed ^ 1);
    byte[] title = new byte[25];
    for (int i = 0; i < 4; i++) {
      int word = (int) (mixed >>> (4 * i) & 15);
      for (int at = 0; at < 4; at++) {
        title[5 * i + at] = (byte) WORDS.charAt(4 * word + at);
      }
      title[5 * i + 4] = ' ';
    }
    long digits = (mixed >>> 32) % 100_000;
    for (int at = 24; at >= 20; at--) {
      title[at] = (byte) ('0' + digits % 10);
      digits /= 10;
    }
    return new BytesRef(title);
  }

  /** 20 to most words, or none if most is 0. */
  static void text(int number, int most, StringBuilder text) {
    text.setLength(0);
    if (most == 0) {
      return;
    }
    SplitMix random = new SplitMix(number ^ 0x5eedL << 32);
    int count = 20 + random.below(most - 19);
    for (int i = 0; i < count; i++) {
      if (i > 0) {
        text.append(' ');
      }
      long word = random.next();
      long one = 1L << (word >>> 60);
      for (long rank = one | word & one - 1; rank > 0; rank >>= 6) {
        text.append("bdfghjklmnprstvz".charAt((int) (rank >> 2 & 15))).append("aeio".charAt((int) (rank & 3)));
      }
    }
  }

  /** The random numbers of docvalues-testkit. */
  static final class SplitMix {
    private long state;

    SplitMix(long seed) {
      state = seed;
    }

    long next() {
      state += Ids.GAMMA;
      return Ids.mix(state);
    }

    int below(int end) {
      return (int) Math.unsignedMultiplyHigh(next(), end);
    }
  }
}
